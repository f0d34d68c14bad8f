#include "core/picture/text_drawing.h"

#include <cairo.h>
#include <fontconfig/fontconfig.h>
#include <pango/pangocairo.h>
#include <pango/pangofc-font.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/picture/cairo_handle.h"

namespace attnscope {
namespace {

/// Whether the glyphs of a font have colors of their own.
bool has_colors(PangoFont* font) {
    FcPattern* pattern = pango_fc_font_get_pattern(PANGO_FC_FONT(font));
    FcBool colors = FcFalse;
    return pattern && FcPatternGetBool(pattern, FC_COLOR, 0, &colors) == FcResultMatch && colors;
}

/// Calls `see` with each run of a layout, the left end of its baseline, in pixels from the layout's origin,
/// and its box.
template <typename See>
void each_run(PangoLayout* layout, const See& see) {
    PangoLayoutIter* at = pango_layout_get_iter(layout);
    do {
        const PangoGlyphItem* run = pango_layout_iter_get_run_readonly(at);
        if (!run) continue;  // the end of a line
        PangoRectangle box;
        pango_layout_iter_get_run_extents(at, nullptr, &box);
        const double unit = PANGO_SCALE, baseline = pango_layout_iter_get_baseline(at) / unit;
        see(*run, box.x / unit, baseline,
            TextExtent{box.width / unit, box.height / unit, baseline - box.y / unit});
    } while (pango_layout_iter_next_run(at));
    pango_layout_iter_free(at);
}

bool has_runs_in_color(PangoLayout* layout) {
    bool found = false;
    each_run(layout, [&](const PangoGlyphItem& run, double, double, const TextExtent&) {
        found |= has_colors(run.item->analysis.font);
    });
    return found;
}

/// Draws a run whose glyphs have colors from the point where cairo is. Files of shapes hold it as a picture
/// that is finer than it is shown.
void draw_in_color(cairo_t* cairo, const PangoGlyphItem& run, const TextExtent& box) {
    if (cairo_surface_get_type(cairo_get_target(cairo)) == CAIRO_SURFACE_TYPE_IMAGE)
        return pango_cairo_show_glyph_string(cairo, run.item->analysis.font, run.glyphs);
    constexpr double k_finer = 6, k_rim = 1;
    const auto side = [&](double length) {
        return static_cast<int>(std::ceil(k_finer * (length + 2 * k_rim)));
    };
    const CairoSurface picture(
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, side(box.width), side(box.height)));
    const CairoContext own(cairo_create(picture.get()));
    cairo_scale(own.get(), k_finer, k_finer);
    cairo_move_to(own.get(), k_rim, k_rim + box.ascent);
    pango_cairo_show_glyph_string(own.get(), run.item->analysis.font, run.glyphs);
    double x = 0, y = 0;
    cairo_get_current_point(cairo, &x, &y);
    cairo_save(cairo);
    cairo_translate(cairo, x - k_rim, y - k_rim - box.ascent);
    cairo_scale(cairo, 1 / k_finer, 1 / k_finer);
    cairo_set_source_surface(cairo, picture.get(), 0, 0);
    cairo_paint(cairo);
    cairo_restore(cairo);
}

enum class Runs { in_one_color, in_color, all };

/// Draws a layout whose runs are of both kinds, from its upper left corner.
void draw_runs(cairo_t* cairo, PangoLayout* layout, double left, double top, TextMode mode, Runs which) {
    each_run(layout, [&](const PangoGlyphItem& run, double x, double baseline, const TextExtent& box) {
        const bool in_color = has_colors(run.item->analysis.font);
        if (which != Runs::all && in_color != (which == Runs::in_color)) return;
        cairo_new_path(cairo);
        cairo_move_to(cairo, left + x, top + baseline);
        if (in_color) {
            draw_in_color(cairo, run, box);
        } else if (mode == TextMode::outlines) {
            pango_cairo_glyph_string_path(cairo, run.item->analysis.font, run.glyphs);
            cairo_fill(cairo);
        } else {
            pango_cairo_show_glyph_string(cairo, run.item->analysis.font, run.glyphs);
        }
        cairo_new_path(cairo);
    });
}

/// Adds the red, green, blue and alpha of a pixel of CAIRO_FORMAT_ARGB32.
void add_unmultiplied(std::vector<std::uint8_t>& rgba, const unsigned char* pixel) {
    std::uint32_t argb = 0;
    std::memcpy(&argb, pixel, sizeof argb);
    const std::uint32_t alpha = argb >> 24;
    for (const int shift : {16, 8, 0}) {
        const std::uint32_t part = argb >> shift & 0xff;
        rgba.push_back(alpha == 0 ? 0 : static_cast<std::uint8_t>(std::min(part * 255 / alpha, 255u)));
    }
    rgba.push_back(static_cast<std::uint8_t>(alpha));
}

}  // namespace

TextExtent extent_of(PangoLayout* layout) {
    PangoRectangle logical;
    pango_layout_get_extents(layout, nullptr, &logical);
    const double unit = PANGO_SCALE;
    return {logical.width / unit, logical.height / unit, pango_layout_get_baseline(layout) / unit};
}

void draw_layout(cairo_t* cairo, PangoLayout* layout, double align, double x, double baseline,
                 TextMode mode) {
    PangoRectangle logical;
    pango_layout_get_extents(layout, nullptr, &logical);
    const double unit = PANGO_SCALE;
    const double left = x - (logical.x + align * logical.width) / unit,
                 top = baseline - pango_layout_get_baseline(layout) / unit;
    if (has_runs_in_color(layout)) return draw_runs(cairo, layout, left, top, mode, Runs::all);
    cairo_new_path(cairo);
    cairo_move_to(cairo, left, top);
    if (mode == TextMode::outlines) {
        pango_cairo_layout_path(cairo, layout);
        cairo_fill(cairo);
    } else {
        pango_cairo_show_layout(cairo, layout);
        cairo_new_path(cairo);
    }
}

TextShades shades_of(PangoLayout* layout, double left, double width) {
    constexpr int k_longest = 8192;
    const auto side = [](double length) {
        return static_cast<int>(std::min(std::ceil(length) + 2 * TextShades::k_margin, double(k_longest)));
    };
    const TextExtent box = extent_of(layout);
    TextShades shades{.width = side(width),
                      .height = side(box.height),
                      .baseline = static_cast<int>(std::ceil(box.ascent)) + TextShades::k_margin};
    const double x = TextShades::k_margin - left, top = shades.baseline - box.ascent;
    const auto drawn = [&](cairo_format_t format, Runs which) {
        CairoSurface surface(cairo_image_surface_create(format, shades.width, shades.height));
        const CairoContext cairo(cairo_create(surface.get()));
        if (which == Runs::all)
            draw_layout(cairo.get(), layout, 0, x, shades.baseline, TextMode::glyphs);
        else
            draw_runs(cairo.get(), layout, x, top, TextMode::glyphs, which);
        cairo_surface_flush(surface.get());
        return surface;
    };
    const auto row_of = [](const CairoSurface& surface, int y) {
        return cairo_image_surface_get_data(surface.get()) +
               std::ptrdiff_t{y} * cairo_image_surface_get_stride(surface.get());
    };
    const bool has_color = has_runs_in_color(layout);
    const CairoSurface text = drawn(CAIRO_FORMAT_A8, has_color ? Runs::in_one_color : Runs::all);
    for (int y = 0; y < shades.height; ++y)
        shades.alpha.insert(shades.alpha.end(), row_of(text, y), row_of(text, y) + shades.width);
    if (!has_color) return shades;
    const CairoSurface colors = drawn(CAIRO_FORMAT_ARGB32, Runs::in_color);
    for (int y = 0; y < shades.height; ++y)
        for (int i = 0; i < shades.width; ++i)
            add_unmultiplied(shades.rgba, row_of(colors, y) + std::ptrdiff_t{4} * i);
    return shades;
}

}  // namespace attnscope
