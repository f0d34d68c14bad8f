// What an SVG file says beside its drawing: a title, and the session of the picture.
#pragma once

#include <string>
#include <string_view>

#include "core/limits.h"

namespace attnscope {

/// The identifier of the <metadata> element that holds the session.
inline constexpr std::string_view k_svg_session_id = "attnscope-session";

/// `svg` with a <title>, which viewers show and read aloud, and <metadata> with the session (each left out if
/// empty) as the first children of its root.
std::string with_svg_texts(std::string_view svg, std::string_view title, std::string_view session_json);

/// Whether the bytes begin as an SVG file does.
bool is_svg(std::string_view bytes);

/// The session inside a picture that attnscope exported, even if another program has saved it since and kept
/// its metadata. Throws Error(bad_input), one line naming `source`, for one without a session or that is cut
/// off; Error(too_large) for more than `most` bytes.
std::string read_svg_session(std::string_view bytes, std::string_view source,
                             std::size_t most = k_max_picture_session_bytes);

}  // namespace attnscope
