// The size limit of input pictures.
#pragma once

#include <cstdint>
#include <string_view>

namespace attnscope {

/// Throws Error(too_large), starting with `source` and naming size and limit, for a picture of more than
/// `most` pixels. Width and height from 0 to 2³².
void require_bearable_picture(std::string_view source, std::int64_t width, std::int64_t height,
                              std::int64_t most);

}  // namespace attnscope
