// Pictures of the window that are stored, and compared with what it looks like now.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/file.h"
#include "core/files/png.h"
#include "core/gpu/gl.h"

namespace attnscope::test {

/// The tolerance of a channel, in its 256 steps, and the share of a picture's pixels that may differ by more.
inline constexpr int k_step_tolerance = 24;
inline constexpr double k_pixel_tolerance = 0.02;

/// A pixel that has to be the same to the bit.
struct ExactPixel {
    int x, y;
    std::string name;
};

inline Pixels without_alpha(const gl::Pixels& pixels) {
    Pixels rgb{pixels.width, pixels.height, 3, {}};
    rgb.bytes.reserve(static_cast<std::size_t>(pixels.width) * static_cast<std::size_t>(pixels.height) * 3);
    for (std::size_t i = 0; i < pixels.rgba.size(); i += 4)
        rgb.bytes.insert(rgb.bytes.end(), {pixels.rgba[i], pixels.rgba[i + 1], pixels.rgba[i + 2]});
    return rgb;
}

inline const std::uint8_t* first_byte_of(const Pixels& pixels, int x, int y) {
    return pixels.bytes.data() + 3 * (static_cast<std::ptrdiff_t>(y) * pixels.width + x);
}

/// Why the pictures are not the same; empty if they are.
inline std::string difference(const Pixels& seen, const Pixels& stored,
                              const std::vector<ExactPixel>& exact) {
    if (seen.width != stored.width || seen.height != stored.height || stored.channels != 3)
        return "the sizes differ";
    for (const ExactPixel& point : exact)
        if (!std::equal(first_byte_of(seen, point.x, point.y), first_byte_of(seen, point.x, point.y) + 3,
                        first_byte_of(stored, point.x, point.y)))
            return point.name + " has another color at " + std::to_string(point.x) + ", " +
                   std::to_string(point.y);
    std::size_t different = 0;
    for (std::size_t i = 0; i < seen.bytes.size(); i += 3) {
        bool far = false;
        for (std::size_t c = 0; c < 3; ++c)
            far |= std::abs(int{seen.bytes[i + c]} - int{stored.bytes[i + c]}) > k_step_tolerance;
        different += far;
    }
    const double share = static_cast<double>(different) / (static_cast<double>(seen.bytes.size()) / 3);
    if (share <= k_pixel_tolerance) return "";
    return std::to_string(100 * share) + " % of the pixels differ";
}

/// Compares with a stored picture: `exact` pixels to the bit, the rest with a tolerance. ATTNSCOPE_UPDATE=1
/// stores the picture instead.
inline void expect_stored_picture(const std::filesystem::path& file, const Pixels& seen,
                                  const std::vector<ExactPixel>& exact) {
    if (const char* update = std::getenv("ATTNSCOPE_UPDATE"); update && *update == '1') {
        std::filesystem::create_directories(file.parent_path());
        write_file(file.string(), encode_png(seen, {}));
        return;
    }
    const std::string name = file.filename().string();
    const std::string problem = difference(seen, decode_png(read_file(file.string()), name), exact);
    if (problem.empty()) return;
    const std::string now = (std::filesystem::temp_directory_path() / ("attnscope-" + name)).string();
    write_file(now, encode_png(seen, {}));
    ADD_FAILURE() << name << ": " << problem << "; it looks like " << now
                  << " now: where that is right, run this test with ATTNSCOPE_UPDATE=1";
}

}  // namespace attnscope::test
