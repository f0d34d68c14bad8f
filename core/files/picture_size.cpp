#include "core/files/picture_size.h"

#include <fmt/format.h>

#include <string>

#include "core/error.h"

namespace attnscope {

void require_bearable_picture(std::string_view source, std::int64_t width, std::int64_t height,
                              std::int64_t most) {
    if (width == 0 || height <= most / width) return;
    throw Error(ErrorKind::too_large,
                fmt::format("{} has {} × {} pixels and the limit is {} in total: make it smaller", source,
                            width, height, most));
}

}  // namespace attnscope
