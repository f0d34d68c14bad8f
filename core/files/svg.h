// The metadata of an SVG file: its title, and the picture's session.
#pragma once

#include <string>
#include <string_view>

#include "core/limits.h"

namespace attnscope {

/// The identifier of the <metadata> element that holds the session.
inline constexpr std::string_view k_svg_session_id = "attnscope-session";

/// Adds to `svg` a <title>, which viewers show and read aloud, and <metadata> with the session (each left out
/// if empty) as the first children of its root.
std::string with_svg_texts(std::string_view svg, std::string_view title, std::string_view session_json);

/// Whether the bytes start like an SVG file.
bool is_svg(std::string_view bytes);

/// The session embedded in an exported picture, even if another program has since saved it and kept its
/// metadata. Throws Error(bad_input), one line naming `source`, for a file without one or a truncated one;
/// Error(too_large) for more than `most` bytes.
std::string read_svg_session(std::string_view bytes, std::string_view source,
                             std::size_t most = k_max_picture_session_bytes);

}  // namespace attnscope
