#include "core/files/picture_size.h"

#include <string>

#include "core/error.h"

namespace attnscope {

void require_bearable_picture(std::string_view source, std::int64_t width, std::int64_t height,
                              std::int64_t most) {
    if (width == 0 || height <= most / width) return;
    throw Error(ErrorKind::too_large, std::string(source) + " has " + std::to_string(width) + " × " +
                                          std::to_string(height) + " pixels and the limit is " +
                                          std::to_string(most) + " in total: make it smaller");
}

}  // namespace attnscope
