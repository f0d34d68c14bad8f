#include "core/picture/curve_picture.h"

#include <fmt/format.h>

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/files/png.h"
#include "core/files/svg.h"
#include "core/picture/cairo_handle.h"
#include "core/picture/figure_cells.h"
#include "core/picture/render_vector.h"

namespace attnscope {
namespace {

constexpr int k_width = 960, k_height = 420;
constexpr double k_left = 72, k_right = 72, k_top = 84, k_bottom = 48;
constexpr double k_points_per_pixel = 0.75;
constexpr int k_fewest_for_fall = 40;

constexpr TextStyle k_title{.font = Font::sans_semibold, .size = 18}, k_caption{.size = 12},
    k_numbers{.font = Font::mono, .size = 11};

/// Draws with an origin at the upper left.
class Plot {
public:
    Plot(const CurvePicture& picture, const TextFace& face, cairo_t* cairo, TextMode mode)
        : picture_(picture), face_(face), cairo_(cairo), mode_(mode), theme_(theme_of(picture.theme)) {}

    void draw() {
        set_source(cairo_, theme_.background);
        cairo_paint(cairo_);
        text(picture_.title, k_title, theme_.text, k_left, 34);
        text(picture_.subtitle, k_caption, theme_.secondary, k_left, 54);
        if (picture_.curves.empty()) return;
        const Curve& first = picture_.curves.front();
        last_ = last_step(picture_.curves);
        decades_ = decades_of(picture_.curves);
        draw_scales();
        draw_fall(first);
        for (const Curve& curve : picture_.curves) draw_curve(curve);
        draw_legend();
    }

private:
    double x(double share) const { return k_left + share * (k_width - k_left - k_right); }
    double y(double share) const { return k_height - k_bottom - share * (k_height - k_top - k_bottom); }
    void text(const std::string& words, TextStyle style, Rgb8 color, double at, double baseline,
              double align = 0) {
        style.align = align;
        set_source(cairo_, color);
        face_.draw(cairo_, words, style, at, baseline, mode_);
    }
    void line(double x0, double y0, double x1, double y1, Rgb8 color, double width) {
        set_source(cairo_, color);
        cairo_set_line_width(cairo_, width);
        cairo_move_to(cairo_, x0, y0);
        cairo_line_to(cairo_, x1, y1);
        cairo_stroke(cairo_);
    }

    void draw_scales() {
        for (int decade = decades_.low; decade <= decades_.high; ++decade) {
            const double at = y(static_cast<double>(decade - decades_.low) / (decades_.high - decades_.low));
            line(x(0), at, x(1), at, theme_.line, 1);
            text(fmt::format("{:g}", std::pow(10, decade)), k_numbers, theme_.secondary, k_left - 8, at + 4,
                 1);
        }
        for (const int percent : {0, 50, 100})
            text(fmt::format("{} %", percent), k_numbers, theme_.secondary, x(1) + 8, y(percent / 100.0) + 4);
        for (const int step : step_ticks(last_))
            text(std::to_string(step), k_numbers, theme_.secondary, x(static_cast<double>(step) / last_),
                 y(0) + 18, 0.5);
        text("step", k_caption, theme_.secondary, x(0.5), y(0) + 36, 0.5);
    }

    void draw_fall(const Curve& curve) {
        const std::optional<int> fall = steepest_fall(curve.values);
        if (!fall) return;
        const double at = x(static_cast<double>(*fall) / last_);
        constexpr double k_dashes[] = {3, 3};
        cairo_set_dash(cairo_, k_dashes, 2, 0);
        line(at, y(0), at, y(1), theme_.secondary, 1);
        cairo_set_dash(cairo_, nullptr, 0, 0);
        text(fmt::format("falls fastest: step {}", *fall), k_caption, theme_.secondary, at + 6, y(1) + 14);
    }

    void draw_curve(const Curve& curve) {
        set_source(cairo_, curve.color);
        cairo_set_line_width(cairo_, 1.6);
        cairo_set_line_join(cairo_, CAIRO_LINE_JOIN_ROUND);
        const double width = static_cast<double>(curve.values.size()) / last_;
        set_dashes(curve);
        for (const CurvePoint& point : points_of(curve, decades_, k_width))
            cairo_line_to(cairo_, x(width * point.x), y(point.y));
        cairo_stroke(cairo_);
        cairo_set_dash(cairo_, nullptr, 0, 0);
    }

    void set_dashes(const Curve& curve) {
        constexpr double k_dashes[] = {4, 3};
        if (curve.is_dashed) cairo_set_dash(cairo_, k_dashes, 2, 0);
    }

    void draw_legend() {
        double right = x(1);
        // NOLINTNEXTLINE(modernize-loop-convert): std::views::reverse does not compile with clang 14
        for (auto at = picture_.curves.rbegin(); at != picture_.curves.rend(); ++at) {
            const auto& curve = *at;
            if (curve.name.empty()) continue;
            text(curve.name, k_caption, theme_.secondary, right, y(1) - 12, 1);
            right -= face_.extent(curve.name, k_caption).width + 6;
            set_dashes(curve);
            line(right - 16, y(1) - 16, right, y(1) - 16, curve.color, 2);
            cairo_set_dash(cairo_, nullptr, 0, 0);
            right -= 34;
        }
    }

    const CurvePicture& picture_;
    const TextFace& face_;
    cairo_t* cairo_;
    TextMode mode_;
    const Theme& theme_;
    Decades decades_{};
    int last_ = 0;
};

void require_status(cairo_status_t status) {
    if (status == CAIRO_STATUS_SUCCESS) return;
    throw Error(ErrorKind::backend,
                std::string("cairo cannot draw the curves: ") + cairo_status_to_string(status));
}

void draw_on(cairo_surface_t* surface, const CurvePicture& picture, const TextFace& face, double scale,
             TextMode mode) {
    require_status(cairo_surface_status(surface));
    const CairoContext cairo(cairo_create(surface));
    cairo_scale(cairo.get(), scale, scale);
    Plot(picture, face, cairo.get(), mode).draw();
    require_status(cairo_status(cairo.get()));
}

cairo_status_t append(void* bytes, const unsigned char* data, unsigned size) {
    try {
        static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), size);
    } catch (...) {
        return CAIRO_STATUS_NO_MEMORY;  // an exception must not pass through cairo
    }
    return CAIRO_STATUS_SUCCESS;
}

}  // namespace

Decades decades_of(const std::vector<Curve>& curves) {
    double least = INFINITY, most = 0;
    for (const Curve& curve : curves)
        for (const double value : curve.values)
            if (curve.is_logarithmic && value > 0 && std::isfinite(value)) {
                least = std::min(least, value);
                most = std::max(most, value);
            }
    if (most == 0) return {-1, 0};
    const int low = static_cast<int>(std::floor(std::log10(least)));
    return {low, std::max(static_cast<int>(std::ceil(std::log10(most))), low + 1)};
}

int last_step(const std::vector<Curve>& curves) {
    std::size_t last = 0;
    for (const Curve& curve : curves) last = std::max(last, curve.values.size());
    return static_cast<int>(last);
}

double height_of(const Curve& curve, Decades decades, double value) {
    if (!curve.is_logarithmic) return std::clamp(value, 0.0, 1.0);
    constexpr double k_tiny = 1e-30;
    return std::clamp((std::log10(std::max(value, k_tiny)) - decades.low) / (decades.high - decades.low), 0.0,
                      1.0);
}

std::vector<CurvePoint> points_of(const Curve& curve, Decades decades, int most) {
    const auto last = static_cast<int>(curve.values.size());
    const int per_point = (last + most - 1) / std::max(1, most);
    std::vector<CurvePoint> points;
    for (int first = 0; first < last; first += per_point) {
        const int end = std::min(first + per_point, last);
        double sum = 0;
        for (int i = first; i < end; ++i) sum += curve.values[static_cast<std::size_t>(i)];
        points.push_back({(first + 1 + end) / 2.0 / last, height_of(curve, decades, sum / (end - first))});
    }
    return points;
}

std::vector<int> step_ticks(int last) {
    const double rough = last / 8.0, power = std::pow(10, std::floor(std::log10(std::max(rough, 1.0))));
    const int factor = rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10;
    std::vector<int> ticks;
    for (int step = 0; step <= last; step += std::max(1, static_cast<int>(factor * power)))
        ticks.push_back(step);
    return ticks;
}

std::optional<int> steepest_fall(const std::vector<double>& values) {
    const auto count = static_cast<int>(values.size());
    if (count < k_fewest_for_fall) return std::nullopt;
    const int window = std::max(5, count / 20);
    std::vector<double> sums{0};  // of the logarithms up to each step
    for (const double value : values) sums.push_back(sums.back() + std::log(std::max(value, 1e-30)));
    const auto mean = [&](int first) {
        return (sums[static_cast<std::size_t>(first) + static_cast<std::size_t>(window)] -
                sums[static_cast<std::size_t>(first)]) /
               window;
    };
    std::optional<int> at;
    double most = std::log(2.0);
    for (int first = 0; first + 2 * window <= count; ++first) {
        const double fall = mean(first) - mean(first + window);
        if (fall <= most) continue;
        most = fall;
        at = first + window;
    }
    return at;
}

std::string curve_svg(const CurvePicture& picture, const TextFace& face) {
    std::string bytes;
    const CairoSurface surface(cairo_svg_surface_create_for_stream(append, &bytes, k_width, k_height));
    cairo_svg_surface_set_document_unit(surface.get(), CAIRO_SVG_UNIT_PX);
    draw_on(surface.get(), picture, face, 1, TextMode::outlines);
    cairo_surface_finish(surface.get());
    require_status(cairo_surface_status(surface.get()));
    return with_svg_texts(normalized_svg(bytes), picture.title, "");
}

std::string curve_pdf(const CurvePicture& picture, const TextFace& face) {
    std::string bytes;
    const CairoSurface surface(cairo_pdf_surface_create_for_stream(
        append, &bytes, k_width * k_points_per_pixel, k_height * k_points_per_pixel));
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, picture.title.c_str());
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATOR, "attnscope");
    // Empty leaves the date out; otherwise cairo writes the current time.
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, "");
    draw_on(surface.get(), picture, face, k_points_per_pixel, TextMode::glyphs);
    cairo_surface_finish(surface.get());
    require_status(cairo_surface_status(surface.get()));
    return bytes;
}

std::string curve_png(const CurvePicture& picture, const TextFace& face) {
    const CairoSurface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, k_width, k_height));
    draw_on(surface.get(), picture, face, 1, TextMode::outlines);
    cairo_surface_flush(surface.get());
    Pixels pixels{.width = k_width, .height = k_height, .channels = 3, .bytes = {}};
    const std::uint8_t* data = cairo_image_surface_get_data(surface.get());
    const std::ptrdiff_t stride = cairo_image_surface_get_stride(surface.get());
    for (int row = 0; row < k_height; ++row)
        for (int column = 0; column < k_width; ++column) {
            const Rgb8 color = rgb8(reinterpret_cast<const std::uint32_t*>(data + row * stride)[column]);
            pixels.bytes.insert(pixels.bytes.end(), {color.red, color.green, color.blue});
        }
    return encode_png(pixels, {}, {});
}

}  // namespace attnscope
