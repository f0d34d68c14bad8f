#include "core/picture/render_png.h"

#include <fmt/format.h>

#include <cairo.h>

#include <cmath>
#include <cstdint>

#include "core/error.h"
#include "core/picture/cairo_handle.h"

namespace attnscope {
namespace {

void require_status(cairo_status_t status, Size size) {
    if (status == CAIRO_STATUS_SUCCESS) return;
    throw Error(ErrorKind::too_large,
                fmt::format("cannot draw a picture of {} × {} pixels ({}): use a smaller cell size",
                            size.width, size.height, cairo_status_to_string(status)));
}

/// cairo stores a pixel as one native 32-bit number, 0x??rrggbb.
Pixels pixels_of(cairo_surface_t* surface, Size size) {
    Pixels pixels{.width = size.width, .height = size.height, .channels = 3, .bytes = {}};
    pixels.bytes.resize(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * 3);
    cairo_surface_flush(surface);
    const std::uint8_t* data = cairo_image_surface_get_data(surface);
    const std::ptrdiff_t stride = cairo_image_surface_get_stride(surface);
    std::uint8_t* to = pixels.bytes.data();
    for (int y = 0; y < size.height; ++y) {
        const auto* row = reinterpret_cast<const std::uint32_t*>(data + y * stride);
        for (int x = 0; x < size.width; ++x) {
            const Rgb8 color = rgb8(row[x]);
            *to++ = color.red;
            *to++ = color.green;
            *to++ = color.blue;
        }
    }
    return pixels;
}

}  // namespace

Pixels render_pixels(const Page& page, const Progress& progress) {
    const auto pixels_of_units = [&](int units) {
        return static_cast<int>(std::lround(units * page.pixels));
    };
    const Size size{pixels_of_units(page.size.width), pixels_of_units(page.size.height)};
    require_picture_size(size);
    const CairoSurface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, size.width, size.height));
    require_status(cairo_surface_status(surface.get()), size);
    const CairoContext cairo(cairo_create(surface.get()));
    // Where a cell is not a whole number of pixels wide, it is drawn as in a document.
    const bool scaled = page.pixels != 1;
    if (scaled)
        cairo_scale(cairo.get(), static_cast<double>(size.width) / page.size.width,
                    static_cast<double>(size.height) / page.size.height);
    page.draw(cairo.get(),
              {.medium = scaled ? Medium::document : Medium::pixels, .outlines = true, .progress = progress});
    require_status(cairo_status(cairo.get()), size);
    Pixels pixels = pixels_of(surface.get(), size);
    if (page.paper) pixels.dpi = page.paper->dpi;
    return pixels;
}

std::string render_png(const Page& page, std::string_view session_json, const Progress& progress) {
    const Pixels pixels = render_pixels(page, step_of(progress, 0, 0.5));
    const Progress encoding = step_of(progress, 0.5, 1);
    if (session_json.empty()) return encode_png(pixels, {}, encoding);
    const PngText session{std::string(k_png_session_key), std::string(session_json)};
    return encode_png(pixels, {&session, 1}, encoding);
}

Pixels render_pixels(const Figure& figure, const TextFace& face, const Progress& progress) {
    return render_pixels(page_of(figure, face), progress);
}

std::string render_png(const Figure& figure, const TextFace& face, std::string_view session_json,
                       const Progress& progress) {
    return render_png(page_of(figure, face), session_json, progress);
}

std::string render_png(const Figure& figure, std::string_view session_json) {
    return render_png(figure, TextFace(), session_json);
}

}  // namespace attnscope
