// A figure as a PNG file.
#pragma once

#include <string>
#include <string_view>

#include "core/files/byte_sink.h"
#include "core/files/png.h"
#include "core/picture/page.h"

namespace attnscope {

/// RGB pixels of a page; of one with a width on paper, at its resolution. Throws Error(too_large)
/// beyond the limits of cairo or of this machine's memory, Canceled.
Pixels render_pixels(const Page& page, const Progress& progress = {});
/// Writes a PNG file with the session embedded (none if `session_json` is empty), and with its resolution if
/// it has a width on paper. The same page gives the same bytes in every process. Throws as render_pixels()
/// and what `to` throws.
void write_png(const Page& page, std::string_view session_json, const ByteSink& to,
               const Progress& progress = {});

/// The pixels of a figure's own page, measure(figure) in size.
Pixels render_pixels(const Figure& figure, const TextFace& face, const Progress& progress = {});

/// The bytes of a figure's own page, as write_png() writes it.
std::string render_png(const Figure& figure, std::string_view session_json);

}  // namespace attnscope
