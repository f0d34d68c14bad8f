#include <glib.h>
#include <zlib.h>

#include <limits>
#include <memory>
#include <stdexcept>

#include "core/attention/patches.h"
#include "core/io/recipe_script.h"

namespace attnscope {
namespace {

constexpr std::size_t k_line = 92;  ///< characters of the packed picture in a line
constexpr int k_closest = 9;        ///< zlib's level

/// Each row as its difference from the one above, which packs closer.
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
        throw std::runtime_error("zlib has no memory");
    const std::unique_ptr<char, decltype(&g_free)> text(g_base64_encode(data.data(), size), g_free);
    return text.get();
}

}  // namespace

void write_patches(Script& script, const Experiment& e) {
    const Image square = central_square(e.image->image(), std::numeric_limits<int>::max());
    const std::string side = std::to_string(square.width), grid = std::to_string(e.grid);
    const std::string patch = std::to_string(e.patch_size), small = std::to_string(e.grid * e.patch_size);

    script.section("The picture, " + side + " × " + side +
                   " pixels of red, green and blue: bytes, each row as its difference from the one above.");
    script.line("packed = (");
    const std::string text = packed(row_differences(square));
    for (std::size_t i = 0; i < text.size(); i += k_line)
        script.line("    \"" + text.substr(i, k_line) + "\"");
    script.line(")");
    script.line("unpacked = bytearray(zlib.decompress(base64.b64decode(packed)))");
    script.line("differences = torch.frombuffer(unpacked, dtype=torch.uint8).view(" + side + ", " + side +
                ", 3)");
    script.line("picture = differences.cumsum(0) % 256");

    script.section("Made " + small + " × " + small +
                   " pixels: each is the mean of the area that it covers, 0 … 1.");
    script.line("old, new = " + side + ", " + small);
    script.line("i, j = torch.arange(new)[:, None], torch.arange(old)");
    script.line("overlap = torch.minimum((i + 1) * old, (j + 1) * new) - torch.maximum(i * old, j * new)");
    script.line(
        "overlap = overlap.clamp(min=0).double()  # of new pixel i and old pixel j, in units of 1/new");
    script.line("sums = torch.einsum(\"yr,xc,rck->yxk\", overlap, overlap, picture.double())");
    script.line("pixels = (sums / (255 * old**2)).float()");

    script.section("Cut into " + grid + " × " + grid + " patches; a patch is a row, pixel by pixel.");
    script.line("patches = pixels.view(" + grid + ", " + patch + ", " + grid + ", " + patch +
                ", 3).transpose(1, 2).reshape(" + std::to_string(e.grid * e.grid) + ", " +
                std::to_string(e.patch_columns()) + ")");
}

}  // namespace attnscope
