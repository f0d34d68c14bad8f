// A figure as an SVG or PDF file: the drawing of the PNG, on a vector surface.
#pragma once

#include <string>
#include <string_view>

#include "core/files/byte_sink.h"
#include "core/picture/page.h"

namespace attnscope {

// The same figure gives the same bytes in every process, however many files were made before: the elements of
// an SVG are numbered from 0 in each file, and a PDF has no date. Both have the figure's title. Up to
// k_max_cell_shapes cells are shapes filled with exactly figure.fill(); beyond, they are one image.

/// An SVG file, one unit per pixel of the PNG, or with the width on paper in millimeters, with the session
/// embedded (none if `session_json` is empty). Letters are shapes, each stored once and referenced: <text>
/// would be set in whatever font the viewer's machine has, with other widths and without ᵀ or √. Throws
/// Error(too_large) as require_picture_size() if needs_pixels(), Canceled.
std::string render_svg(const Page& page, std::string_view session_json, const Progress& progress = {});
std::string render_svg(const Figure& figure, const TextFace& face, std::string_view session_json,
                       const Progress& progress = {});

/// Writes a PDF file of one page, with the width on paper, or at 96 pixels of the PNG per inch, or more if
/// the page would exceed the 200 inches that viewers show. Letters are text, with embedded fonts. It holds no
/// session, because cairo attaches no files. Throws as render_svg() and what `to` throws.
void write_pdf(const Page& page, const ByteSink& to, const Progress& progress = {});
/// The bytes of a figure's own page, as write_pdf() writes it.
std::string render_pdf(const Figure& figure, const TextFace& face, const Progress& progress = {});

/// `svg` as written by cairo, made reproducible and easier to read: identifiers numbered from 0 for each
/// kind, colors as #rrggbb, images shown without smoothing.
std::string normalized_svg(std::string_view svg);

}  // namespace attnscope
