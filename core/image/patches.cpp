#include "core/image/patches.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace attnscope {
namespace {

/// The position of a square in an image.
struct Square {
    int left, top, side;
};

Square square_of(const Image& image) {
    const int side = std::min(image.width, image.height);
    return {(image.width - side) / 2, (image.height - side) / 2, side};
}

/// The old pixels that a new pixel covers when `from` pixels become `to`, and how much of each: in units of 1
/// ÷ `to` of an old pixel, so that all overlaps are whole numbers and those of one new pixel sum to `from`.
struct Overlaps {
    int first;
    std::vector<std::int64_t> parts;
};

std::vector<Overlaps> overlaps(std::int64_t from, std::int64_t to) {
    std::vector<Overlaps> all;
    for (std::int64_t i = 0; i < to; ++i) {
        const std::int64_t begin = i * from, end = begin + from;
        Overlaps one{static_cast<int>(begin / to), {}};
        for (std::int64_t old = one.first; old * to < end; ++old)
            one.parts.push_back(std::min(end, (old + 1) * to) - std::max(begin, old * to));
        all.push_back(std::move(one));
    }
    return all;
}

/// One row of pixels of the square, resampled to `across.size()` pixels.
void narrow(const Image& image, const Square& square, int y, const std::vector<Overlaps>& across,
            std::vector<std::int64_t>& sums) {
    std::fill(sums.begin(), sums.end(), 0);
    for (std::size_t x = 0; x < across.size(); ++x)
        for (std::size_t k = 0; k < across[x].parts.size(); ++k) {
            const std::uint8_t* pixel =
                image.pixel(square.left + across[x].first + static_cast<int>(k), square.top + y);
            for (std::size_t c = 0; c < 3; ++c) sums[3 * x + c] += across[x].parts[k] * pixel[c];
        }
}

/// Calls `row(y, sums)` with Σ overlap · byte of each new pixel and channel; the overlaps sum to side².
template <typename Row>
void area_sums(const Image& image, const Square& square, int side, const Row& row) {
    const std::vector<Overlaps> lines = overlaps(square.side, side);
    std::vector<std::int64_t> narrowed(3 * lines.size()), sums(3 * lines.size());
    int in_hand = -1;
    for (int y = 0; y < side; ++y) {
        const Overlaps& line = lines[static_cast<std::size_t>(y)];
        std::fill(sums.begin(), sums.end(), 0);
        for (std::size_t k = 0; k < line.parts.size(); ++k) {
            const int old = line.first + static_cast<int>(k);
            if (old != in_hand) narrow(image, square, in_hand = old, lines, narrowed);
            for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += line.parts[k] * narrowed[i];
        }
        row(y, sums);
    }
}

}  // namespace

Image central_square(const Image& image, int largest) {
    const Square square = square_of(image);
    if (square.side == image.width && square.side == image.height && square.side <= largest) return image;
    const int side = std::min(square.side, largest);
    const std::int64_t area = std::int64_t{square.side} * square.side;
    Image small{side, side, {}};
    small.rgb.reserve(3 * static_cast<std::size_t>(side) * static_cast<std::size_t>(side));
    area_sums(image, square, side, [&](int, const std::vector<std::int64_t>& sums) {
        for (const std::int64_t sum : sums)
            small.rgb.push_back(static_cast<std::uint8_t>((sum + area / 2) / area));
    });
    return small;
}

void resample(const Image& image, int side, const std::function<void(int y, const float* pixels)>& row) {
    const Square square = square_of(image);
    const double white = 255.0 * square.side * square.side;
    std::vector<float> pixels(3 * static_cast<std::size_t>(side));
    area_sums(image, square, side, [&](int y, const std::vector<std::int64_t>& sums) {
        for (std::size_t i = 0; i < sums.size(); ++i)
            pixels[i] = static_cast<float>(static_cast<double>(sums[i]) / white);
        row(y, pixels.data());
    });
}

Tensor image_patches(const Image& image, int grid, int patch_size) {
    const int line = 3 * patch_size;
    Tensor patches({.heads = 1, .rows = grid * grid, .columns = line * patch_size});
    resample(image, grid * patch_size, [&](int y, const float* pixels) {
        for (int column = 0; column < grid; ++column)
            std::copy_n(pixels + std::ptrdiff_t{column} * line, line,
                        &patches.head(0)(Eigen::Index{y / patch_size} * grid + column,
                                         Eigen::Index{y % patch_size} * line));
    });
    return patches;
}

std::string patch_label(int patch, int grid) {
    return fmt::format("{},{}", patch / grid + 1, patch % grid + 1);
}

std::string pixel_label(int index, int patch_size) {
    constexpr const char* k_channels[] = {" red", " green", " blue"};
    const int pixel = index / 3;
    return fmt::format("{},{}{}", pixel / patch_size + 1, pixel % patch_size + 1, k_channels[index % 3]);
}

}  // namespace attnscope
