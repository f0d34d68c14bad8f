// A figure as an SVG or a PDF file: the drawing of the PNG, on a surface without pixels.
#pragma once

#include <string>
#include <string_view>

#include "core/picture/figure_layout.h"

namespace attnscope {

// The same figure gives the same bytes in every process and however many files were made before: elements of
// an SVG are numbered from 0 in each file, a PDF has no date. Both have the figure's title as theirs. A cell
// is a shape up to k_max_cell_shapes of them, in exactly figure.fill(); then the cells are one image.

/// An SVG file, a unit being a pixel of the PNG, with the session inside (none if `session_json` is empty).
/// Letters are shapes, each kept once and used where it stands: <text> would be set in whatever font the
/// viewer's machine has, with other widths and without ᵀ or √. Throws Error(too_large) as
/// require_picture_size() where it needs_pixels(), Cancelled.
std::string render_svg(const Figure& figure, const TextFace& face, std::string_view session_json,
                       const Progress& progress = {});

/// A PDF file of one page, 96 pixels of the PNG being an inch, or less where a page would be longer than the
/// 200 inches that viewers show. Letters are text, their fonts inside. It carries no session: cairo attaches
/// no files. Throws as render_svg().
std::string render_pdf(const Figure& figure, const TextFace& face, const Progress& progress = {});

/// `svg` as cairo writes it, made the same on every run and easier to read: identifiers counted from 0 for
/// each kind, colours as #rrggbb, images to be shown without smoothing.
std::string normalized_svg(std::string_view svg);

}  // namespace attnscope
