// The picture in Python: its bytes, or the pixels that attention uses, cut into patches.
#include <glib.h>
#include <zlib.h>

#include <limits>
#include <memory>
#include <stdexcept>

#include "core/image/patches.h"
#include "core/op/sources.h"

namespace attnscope::op {
namespace {

constexpr std::size_t k_line = 92;  ///< characters of the packed picture per line
constexpr int k_closest = 9;        ///< zlib's best compression level

/// Each row as its difference from the row above, which compresses better.
std::string row_differences(const Image& image) {
    const std::size_t row = 3 * static_cast<std::size_t>(image.width);
    std::string bytes;
    for (std::size_t i = 0; i < image.rgb.size(); ++i)
        bytes += static_cast<char>(image.rgb[i] - (i < row ? 0 : image.rgb[i - row]));
    return bytes;
}

std::string packed(const std::string& bytes) {
    uLongf size = compressBound(bytes.size());
    std::vector<Bytef> data(size);
    if (compress2(data.data(), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
                  k_closest) != Z_OK)
        throw std::runtime_error("zlib ran out of memory");
    const std::unique_ptr<char, decltype(&g_free)> text(g_base64_encode(data.data(), size), g_free);
    return text.get();
}

void write_packed(TorchLines& py, const std::string& text, const char* dtype, const char* name, int side) {
    py.line("packed = (");
    for (std::size_t i = 0; i < text.size(); i += k_line) py.line("    \"{}\"", text.substr(i, k_line));
    py.line(")");
    py.line("unpacked = bytearray(zlib.decompress(base64.b64decode(packed)))");
    py.line("{0} = torch.frombuffer(unpacked, dtype=torch.{1}).view({2}, {2}, 3)", name, dtype, side);
}

/// Writes the bytes, and how they are resampled to the pixels that attention uses.
void write_picture(TorchLines& py, const std::string& text, int side, int small) {
    py.section = fmt::format(
        "The picture, {0} × {0} pixels of red, green and blue, one byte each; each row is stored as its "
        "difference from the row above.",
        side);
    write_packed(py, text, "uint8", "differences", side);
    py.line("picture = differences.cumsum(0) % 256\n");
    py.comment(fmt::format(
        "Resampled to {0} × {0} pixels: each is the mean over the area that it covers, 0 … 1.", small));
    py.line("old, new = {}, {}", side, small);
    py.line("i, j = torch.arange(new)[:, None], torch.arange(old)");
    py.line("overlap = torch.minimum((i + 1) * old, (j + 1) * new) - torch.maximum(i * old, j * new)");
    py.line("overlap = overlap.clamp(min=0).double()  # of new pixel i and old pixel j, in units of 1/new");
    py.line("sums = torch.einsum(\"yr,xc,rck->yxk\", overlap, overlap, picture.double())");
    py.line("pixels = (sums / (255 * old**2)).float()");
}

/// side × side × 3 float32, as image_patches() computes them before cutting.
std::string small_pixels(const Image& image, int side) {
    std::string bytes;
    resample(image, side, [&](int, const float* row) {
        bytes.append(reinterpret_cast<const char*>(row), 3 * static_cast<std::size_t>(side) * sizeof(float));
    });
    return bytes;
}

}  // namespace

void Patches::torch(TorchLines& py) const {
    const Image square = central_square(*image, std::numeric_limits<int>::max());
    const int small = grid * patch_size;
    // For a photograph, the few pixels that attention uses are the shorter text.
    const std::string bytes = packed(row_differences(square));
    const std::string pixels = packed(small_pixels(square, small));
    py.modules = {"base64", "zlib"};
    if (bytes.size() <= pixels.size()) {
        write_picture(py, bytes, square.width, small);
    } else {
        py.section = fmt::format(
            "The picture, resampled to {0} × {0} pixels: red, green and blue, each the mean over the area "
            "that it covers, 0 … 1.",
            small);
        write_packed(py, pixels, "float32", "pixels", small);
    }
    py.code += "\n";
    py.comment(fmt::format("Cut into {0} × {0} patches; each row is a patch, pixel by pixel.", grid));
    py.line("{0} = pixels.view({1}, {2}, {1}, {2}, 3).transpose(1, 2).reshape({3}, {4})", py.out(), grid,
            patch_size, grid * grid, 3 * patch_size * patch_size);
}

}  // namespace attnscope::op
