// A figure as a PNG file.
#pragma once

#include <string>
#include <string_view>

#include "core/files/png.h"
#include "core/picture/figure_layout.h"

namespace attnscope {

/// RGB pixels of measure(figure). Throws Error(too_large) beyond the limits of cairo or of this machine's
/// memory, Cancelled.
Pixels render_pixels(const Figure& figure, const TextFace& face, const Progress& progress = {});

/// The bytes of a PNG file with the session embedded (none if `session_json` is empty). The same figure gives
/// the same bytes in every process. Throws as render_pixels().
std::string render_png(const Figure& figure, const TextFace& face, std::string_view session_json,
                       const Progress& progress = {});
std::string render_png(const Figure& figure, std::string_view session_json);

}  // namespace attnscope
