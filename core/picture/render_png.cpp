#include "core/picture/render_png.h"

#include <fmt/format.h>

#include <cairo.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include "core/error.h"
#include "core/picture/cairo_handle.h"
#include "core/tensor/memory.h"

namespace attnscope {
namespace {

void require_status(cairo_status_t status, Size size) {
    if (status == CAIRO_STATUS_SUCCESS) return;
    throw Error(ErrorKind::too_large,
                fmt::format("cannot draw a picture of {} × {} pixels ({}): use a smaller cell size",
                            size.width, size.height, cairo_status_to_string(status)));
}

/// A drawn page. Its memory is that of tensors, whose pages are large.
class Drawing {
public:
    Drawing(const Page& page, const Progress& progress) : size_(size_of(page)) {
        require_picture_size(size_);
        pixels_ = {static_cast<std::uint32_t*>(static_cast<void*>(allocate_floats(count()))), Free{count()}};
        std::memset(pixels_.get(), 0, count() * sizeof(std::uint32_t));
        const CairoSurface surface(cairo_image_surface_create_for_data(
            reinterpret_cast<unsigned char*>(pixels_.get()), CAIRO_FORMAT_RGB24, size_.width, size_.height,
            size_.width * 4));
        require_status(cairo_surface_status(surface.get()), size_);
        const CairoContext cairo(cairo_create(surface.get()));
        // Where a cell is not a whole number of pixels wide, it is drawn as in a document.
        const bool scaled = page.pixels != 1;
        if (scaled)
            cairo_scale(cairo.get(), static_cast<double>(size_.width) / page.size.width,
                        static_cast<double>(size_.height) / page.size.height);
        page.draw(
            cairo.get(),
            {.medium = scaled ? Medium::document : Medium::pixels, .outlines = true, .progress = progress});
        require_status(cairo_status(cairo.get()), size_);
        cairo_surface_flush(surface.get());
        if (page.paper) dpi_ = page.paper->dpi;
    }

    /// The pixels, which are read from this drawing.
    PixelRows rows() const {
        return {.width = size_.width,
                .height = size_.height,
                .channels = 3,
                .dpi = dpi_,
                .read = [this](int y, std::uint8_t* row) { read(y, row); }};
    }
    /// A copy of the pixels.
    Pixels pixels() const {
        Pixels copy{.width = size_.width, .height = size_.height, .channels = 3, .bytes = {}, .dpi = dpi_};
        copy.bytes.resize(count() * 3);
        for (int y = 0; y < size_.height; ++y)
            read(y,
                 copy.bytes.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(size_.width) * 3);
        return copy;
    }

private:
    struct Free {
        std::size_t count;
        void operator()(std::uint32_t* pixels) const {
            free_floats(static_cast<float*>(static_cast<void*>(pixels)), count);
        }
    };

    static Size size_of(const Page& page) {
        const auto pixels = [&](int units) { return static_cast<int>(std::lround(units * page.pixels)); };
        return {pixels(page.size.width), pixels(page.size.height)};
    }
    std::size_t count() const {
        return static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height);
    }
    /// cairo stores a pixel as one native 32-bit number, 0x??rrggbb.
    void read(int y, std::uint8_t* to) const {
        const std::uint32_t* from =
            pixels_.get() + static_cast<std::size_t>(y) * static_cast<std::size_t>(size_.width);
        for (int x = 0; x < size_.width; ++x) {
            const Rgb8 color = rgb8(from[x]);
            *to++ = color.red;
            *to++ = color.green;
            *to++ = color.blue;
        }
    }

    Size size_;
    std::unique_ptr<std::uint32_t, Free> pixels_{nullptr, Free{0}};
    std::optional<double> dpi_;
};

}  // namespace

Pixels render_pixels(const Page& page, const Progress& progress) { return Drawing(page, progress).pixels(); }

void write_png(const Page& page, std::string_view session_json, const ByteSink& to,
               const Progress& progress) {
    const Drawing drawing(page, step_of(progress, 0, 0.5));
    const Progress encoding = step_of(progress, 0.5, 1);
    if (session_json.empty()) return write_png(drawing.rows(), {}, to, encoding);
    const PngText session{std::string(k_png_session_key), std::string(session_json)};
    write_png(drawing.rows(), {&session, 1}, to, encoding);
}

Pixels render_pixels(const Figure& figure, const TextFace& face, const Progress& progress) {
    return render_pixels(page_of(figure, face), progress);
}

std::string render_png(const Figure& figure, std::string_view session_json) {
    const TextFace face;
    return collected([&](const ByteSink& to) { write_png(page_of(figure, face), session_json, to); });
}

}  // namespace attnscope
