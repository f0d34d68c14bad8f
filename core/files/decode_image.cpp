#include "core/files/decode_image.h"

#include <glib.h>

#include <cstdint>
#include <memory>

#include "core/error.h"
#include "core/files/bad_file.h"
#include "core/files/file.h"
#include "core/files/jpeg.h"
#include "core/files/picture_size.h"
#include "core/files/png.h"
#include "core/image/patches.h"

namespace attnscope {
namespace {

constexpr std::string_view k_png_url = "data:image/png;base64,", k_jpeg_url = "data:image/jpeg;base64,";

/// Reads the size from the header, which is the first chunk: length, "IHDR", width, height.
void require_bearable_png(std::string_view bytes, std::string_view source) {
    constexpr std::size_t k_width = 16, k_height = 20, k_end = 24;
    if (bytes.size() < k_end) throw_bad(source, "is cut off: copy it again");
    require_bearable_picture(source, big_endian(bytes.substr(k_width)), big_endian(bytes.substr(k_height)),
                             k_max_image_pixels);
}

Image over_white(const Pixels& pixels) {
    Image image{pixels.width, pixels.height, {}};
    if (pixels.channels == 3) {
        image.rgb = pixels.bytes;
        return image;
    }
    image.rgb.reserve(pixels.bytes.size() / 4 * 3);
    for (std::size_t i = 0; i < pixels.bytes.size(); i += 4) {
        const int alpha = pixels.bytes[i + 3];
        for (std::size_t c = 0; c < 3; ++c)
            image.rgb.push_back(
                static_cast<std::uint8_t>((pixels.bytes[i + c] * alpha + 255 * (255 - alpha) + 127) / 255));
    }
    return image;
}

struct FreeGlib {
    void operator()(void* memory) const { g_free(memory); }
};

void require_image(std::string_view bytes, std::string_view source) {
    if (!is_image(bytes)) throw_bad(source, "is not a supported picture: use a PNG or a JPEG");
}

}  // namespace

bool is_image(std::string_view bytes) { return is_png(bytes) || is_jpeg(bytes); }

Image decode_image(std::string_view bytes, std::string_view source) {
    require_image(bytes, source);
    if (is_jpeg(bytes)) return decode_jpeg(bytes, source, k_max_image_pixels);
    require_bearable_png(bytes, source);
    return over_white(decode_png(bytes, source));
}

CustomImage read_image(const std::string& path) {
    const auto read = [](const std::string& bytes, const std::string& source) {
        return CustomImage(central_square(decode_image(bytes, source)));
    };
    return opened(path, read, k_max_file_bytes, require_image);
}

std::string image_to_data_url(const Image& image) {
    const std::string png =
        encode_png({.width = image.width, .height = image.height, .channels = 3, .bytes = image.rgb}, {});
    const std::unique_ptr<char, FreeGlib> text(
        g_base64_encode(reinterpret_cast<const guchar*>(png.data()), png.size()));
    return std::string(k_png_url) + text.get();
}

CustomImage image_from_data_url(std::string_view url) {
    const std::string_view prefix = url.starts_with(k_jpeg_url) ? k_jpeg_url : k_png_url;
    if (!url.starts_with(prefix))
        throw Error(ErrorKind::bad_input, "the picture does not start with \"" + std::string(k_png_url) +
                                              "…\": write a PNG or a JPEG as such a URL");
    const std::string text(url.substr(prefix.size()));
    gsize size = 0;
    const std::unique_ptr<guchar, FreeGlib> bytes(g_base64_decode(text.c_str(), &size));
    return CustomImage(
        central_square(decode_image({reinterpret_cast<const char*>(bytes.get()), size}, "the picture")));
}

}  // namespace attnscope
