// Pictures for tests.
#pragma once

#include <cstdint>
#include <string>

#include "core/files/png.h"
#include "core/image/image.h"

namespace attnscope {

/// A picture whose three channels go different ways.
inline Image gradient(int width, int height) {
    Image image{width, height, {}};
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (const int value : {x * 20 + y, y * 30 + x, 200 - x * y})
                image.rgb.push_back(static_cast<std::uint8_t>(value));
    return image;
}

inline std::string png_of(const Image& image) {
    return encode_png({.width = image.width, .height = image.height, .channels = 3, .bytes = image.rgb}, {});
}

}  // namespace attnscope
