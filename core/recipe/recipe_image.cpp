#include <glib.h>
#include <zlib.h>

#include <limits>
#include <memory>
#include <stdexcept>

#include "core/image/patches.h"
#include "core/recipe/recipe_script.h"

namespace attnscope {
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

void write_packed(Script& script, const std::string& text, const char* dtype, const std::string& name,
                  const std::string& side) {
    script.line("packed = (");
    for (std::size_t i = 0; i < text.size(); i += k_line)
        script.line("    \"" + text.substr(i, k_line) + "\"");
    script.line(")");
    script.line("unpacked = bytearray(zlib.decompress(base64.b64decode(packed)))");
    script.line(name + " = torch.frombuffer(unpacked, dtype=torch." + dtype + ").view(" + side + ", " + side +
                ", 3)");
}

/// Writes the bytes, and how they are resampled to the pixels that attention uses.
void write_picture(Script& script, const std::string& text, const std::string& side,
                   const std::string& small) {
    script.section("The picture, " + side + " × " + side +
                   " pixels of red, green and blue, one byte each; each row is stored as its difference from "
                   "the row above.");
    write_packed(script, text, "uint8", "differences", side);
    script.line("picture = differences.cumsum(0) % 256");
    script.section("Resampled to " + small + " × " + small +
                   " pixels: each is the mean over the area that it covers, 0 … 1.");
    script.line("old, new = " + side + ", " + small);
    script.line("i, j = torch.arange(new)[:, None], torch.arange(old)");
    script.line("overlap = torch.minimum((i + 1) * old, (j + 1) * new) - torch.maximum(i * old, j * new)");
    script.line(
        "overlap = overlap.clamp(min=0).double()  # of new pixel i and old pixel j, in units of 1/new");
    script.line("sums = torch.einsum(\"yr,xc,rck->yxk\", overlap, overlap, picture.double())");
    script.line("pixels = (sums / (255 * old**2)).float()");
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

void write_patches(Script& script, const Experiment& e) {
    const Image square = central_square(e.input.image->image(), std::numeric_limits<int>::max());
    const std::string grid = std::to_string(e.input.grid), patch = std::to_string(e.input.patch_size);
    const std::string small = std::to_string(e.input.grid * e.input.patch_size);
    // For a photograph, the few pixels that attention uses are the shorter text.
    const std::string bytes = packed(row_differences(square));
    const std::string pixels = packed(small_pixels(square, e.input.grid * e.input.patch_size));
    if (bytes.size() <= pixels.size()) {
        write_picture(script, bytes, std::to_string(square.width), small);
    } else {
        script.section("The picture, resampled to " + small + " × " + small +
                       " pixels: red, green and blue, each the mean over the area that it covers, 0 … 1.");
        write_packed(script, pixels, "float32", "pixels", small);
    }

    script.section("Cut into " + grid + " × " + grid + " patches; each row is a patch, pixel by pixel.");
    script.line("patches = pixels.view(" + grid + ", " + patch + ", " + grid + ", " + patch +
                ", 3).transpose(1, 2).reshape(" + std::to_string(e.input.grid * e.input.grid) + ", " +
                std::to_string(e.input.patch_columns()) + ")");
}

}  // namespace attnscope
