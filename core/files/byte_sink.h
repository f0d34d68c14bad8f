// How the bytes of a file go from what makes them to what takes them, a part at a time.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace attnscope {

/// Takes the next bytes of a file; may throw.
using ByteSink = std::function<void(std::string_view bytes)>;

/// Makes the bytes of a file, from the first to the last; may throw, and throws what the sink throws.
using ByteSource = std::function<void(const ByteSink& to)>;

/// All bytes of a source.
inline std::string collected(const ByteSource& source) {
    std::string all;
    source([&](std::string_view bytes) { all += bytes; });
    return all;
}

}  // namespace attnscope
