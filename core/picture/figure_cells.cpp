#include "core/picture/figure_cells.h"

#include <cairo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <new>
#include <numbers>
#include <vector>

#include "core/cpu/row_blocks.h"
#include "core/picture/cairo_handle.h"

namespace attnscope {
namespace {

constexpr int k_hatch_spacing = 6;
/// Minimum size of a mark's shape; a smaller cell has only its color.
constexpr int k_smallest_mark = 8;

/// The marks whose cells are hatched.
constexpr std::array k_hatched = {CellMark::masked, CellMark::not_compared};

bool is_hatched(CellMark mark) { return std::ranges::find(k_hatched, mark) != k_hatched.end(); }

/// Whether the hatching of a mark has a line through a point: rising to the right for what is masked, falling
/// for what is not compared. It depends on the place alone, so that it continues from cell to cell.
bool has_line(CellMark mark, int x, int y) {
    return (mark == CellMark::masked ? x + y : x - y) % k_hatch_spacing == 0;
}

/// The lines on which has_line() holds.
void hatch(cairo_t* cairo, const Box& box, Rgb8 color, CellMark mark) {
    set_source(cairo, color);
    cairo_set_line_width(cairo, 1);
    const auto up_to_spacing = [](int at) { return at / k_hatch_spacing * k_hatch_spacing; };
    if (mark == CellMark::masked)
        for (int sum = up_to_spacing(box.x + box.y); sum <= box.right() + box.bottom();
             sum += k_hatch_spacing) {
            cairo_move_to(cairo, sum - box.y, box.y);
            cairo_line_to(cairo, sum - box.bottom(), box.bottom());
        }
    else
        for (int gap = up_to_spacing(box.x - box.bottom()); gap <= box.right() - box.y;
             gap += k_hatch_spacing) {
            cairo_move_to(cairo, gap + box.y, box.y);
            cairo_line_to(cairo, gap + box.bottom(), box.bottom());
        }
    cairo_stroke(cairo);
}

std::vector<Box> cells_with(CellMark mark, const Figure& figure, const FigureLayout& layout) {
    std::vector<Box> boxes;
    for (int r = 0; r < figure.rows; ++r) {
        for (int c = 0; c < figure.columns; ++c) {
            if (figure.marks[figure.cell(r, c)] == mark) boxes.push_back(layout.cell(figure, r, c));
        }
    }
    return boxes;
}

/// Merges neighboring cells with a mark in a row, with the lines between them, into one box.
std::vector<Box> runs_with(CellMark mark, const Figure& figure, const FigureLayout& layout) {
    std::vector<Box> runs;
    int row = -1, column = -1;
    for (int r = 0; r < figure.rows; ++r) {
        for (int c = 0; c < figure.columns; ++c) {
            if (figure.marks[figure.cell(r, c)] != mark) continue;
            const Box cell = layout.cell(figure, r, c);
            if (r == row && c == column + 1)
                runs.back().width = cell.right() - runs.back().x;
            else
                runs.push_back(cell);
            row = r;
            column = c;
        }
    }
    return runs;
}

void hatch_boxes(const std::vector<Box>& boxes, CellMark mark, const Figure& figure,
                 const FigureLayout& layout, cairo_t* cairo) {
    if (boxes.empty()) return;
    cairo_save(cairo);
    cairo_new_path(cairo);
    for (const Box& box : boxes) cairo_rectangle(cairo, box.x, box.y, box.width, box.height);
    cairo_clip(cairo);
    hatch(cairo, layout.matrix, figure.theme->hatch, mark);
    cairo_restore(cairo);
}

void hatch_cells(const Figure& figure, const FigureLayout& layout, cairo_t* cairo) {
    for (const CellMark mark : k_hatched)
        if (figure.hatches) hatch_boxes(cells_with(mark, figure, layout), mark, figure, layout, cairo);
}

void draw_cross(cairo_t* cairo, double x, double y, double reach) {
    cairo_move_to(cairo, x - reach, y - reach);
    cairo_line_to(cairo, x + reach, y + reach);
    cairo_move_to(cairo, x - reach, y + reach);
    cairo_line_to(cairo, x + reach, y - reach);
    cairo_stroke(cairo);
}

/// `up` is 1 or −1.
void draw_triangle(cairo_t* cairo, double x, double y, double reach, int up) {
    cairo_move_to(cairo, x - reach, y + up * reach * 0.8);
    cairo_line_to(cairo, x + reach, y + up * reach * 0.8);
    cairo_line_to(cairo, x, y - up * reach * 0.8);
    cairo_close_path(cairo);
    cairo_fill(cairo);
}

/// The inner edges of a box.
void draw_frame(const Figure& figure, const Box& box, cairo_t* cairo) {
    const double width = std::clamp(box.width / 12.0, 1.0, 4.0);
    set_source(cairo, figure.theme->accent);
    cairo_set_line_width(cairo, width);
    cairo_rectangle(cairo, box.x + width / 2, box.y + width / 2, box.width - width, box.height - width);
    cairo_stroke(cairo);
}

void draw_mark(const Figure& figure, CellMark mark, const Box& box, cairo_t* cairo) {
    const double x = box.x + box.width / 2.0;
    const double y = box.y + box.height / 2.0;
    const double side = std::min({box.width, box.height, 48});
    if (mark == CellMark::open) {
        set_source(cairo, figure.theme->secondary);
        cairo_new_sub_path(cairo);
        cairo_arc(cairo, x, y, std::max(1.5, side / 10), 0, 2 * std::numbers::pi);
        cairo_fill(cairo);
        return;
    }
    if (mark == CellMark::chosen) return draw_frame(figure, box, cairo);
    set_source(cairo, figure.theme->on_light);
    cairo_set_line_width(cairo, std::max(1.25, side / 16));
    if (mark == CellMark::nan) draw_cross(cairo, x, y, side * 0.22);
    if (mark == CellMark::plus_infinity) draw_triangle(cairo, x, y, side * 0.24, 1);
    if (mark == CellMark::minus_infinity) draw_triangle(cairo, x, y, side * 0.24, -1);
}

int smallest_side(const Figure& figure) { return std::min(figure.cell_width(), figure.cell_height()); }

bool has_shape(const Figure& figure, CellMark mark, bool with_text) {
    if (mark == CellMark::chosen) return true;
    if (mark == CellMark::open) return smallest_side(figure) >= k_smallest_mark;
    const bool special =
        mark == CellMark::nan || mark == CellMark::plus_infinity || mark == CellMark::minus_infinity;
    return special && !with_text && smallest_side(figure) >= k_smallest_mark;
}

/// Whether a cell is open and too small for a dot: it is tinted instead, neither gray as a closed one is nor
/// dark.
bool is_tinted(const Figure& figure, CellMark mark) {
    return mark == CellMark::open && smallest_side(figure) < k_smallest_mark;
}
Rgb8 tint(const Theme& theme) { return mixed(theme.raised, theme.accent, 0.45); }

Rgb8 surface_color(const Figure& figure, std::size_t cell) {
    return is_tinted(figure, figure.marks[cell]) ? tint(*figure.theme) : figure.fill(cell);
}

void draw_cell_shapes(const Figure& figure, const FigureLayout& layout, cairo_t* cairo) {
    for (int r = 0; r < figure.rows; ++r) {
        for (int c = 0; c < figure.columns; ++c) {
            set_source(cairo, surface_color(figure, figure.cell(r, c)));
            fill_box(cairo, layout.cell(figure, r, c));
        }
    }
    hatch_cells(figure, layout, cairo);
}

std::uint32_t argb(Rgb8 color) {
    return 0xff000000u | static_cast<std::uint32_t>(color.red) << 16 |
           static_cast<std::uint32_t>(color.green) << 8 | color.blue;
}

/// Draws a row of cells, and the line below it, whose first pixel is at (x, y) of the picture, `stride` bytes
/// from one row of pixels to the next.
void write_row(const Figure& figure, int row, int x, int y, std::uint8_t* pixels, std::ptrdiff_t stride) {
    const int width = figure.cell_width() - figure.gap(), height = figure.cell_height() - figure.gap();
    const std::uint32_t gap = argb(figure.theme->background);
    const std::uint32_t line = argb(figure.theme->hatch);
    const auto pixel_row = [&](int down) { return reinterpret_cast<std::uint32_t*>(pixels + down * stride); };
    std::uint32_t* const first = pixel_row(0);
    const std::size_t start = figure.cell(row, 0);
    std::vector<std::uint8_t> entries(static_cast<std::size_t>(figure.columns));
    figure.scale.index_all({figure.values.data() + start, entries.size()}, entries);
    std::uint32_t* to = first;
    for (std::size_t c = 0; c < entries.size(); ++c) {
        const bool by_value = figure.marks[start + c] == CellMark::value;
        const std::uint32_t color =
            argb(by_value ? figure.scale.map->colors[entries[c]] : surface_color(figure, start + c));
        *to++ = color;
        for (int repeated = 1; repeated < width; ++repeated) *to++ = color;
        if (figure.gap() > 0 && c + 1 < entries.size()) *to++ = gap;
    }
    const int end = figure.columns * figure.cell_width() - figure.gap();
    for (int down = 1; down < height; ++down) std::copy_n(first, end, pixel_row(down));
    if (figure.gap() > 0 && row + 1 < figure.rows) std::fill_n(pixel_row(height), end, gap);
    if (!figure.hatches) return;
    for (int c = 0; c < figure.columns; ++c) {
        const CellMark mark = figure.marks[figure.cell(row, c)];
        if (mark == CellMark::value || !is_hatched(mark)) continue;
        const int left = c * figure.cell_width();
        for (int down = 0; down < height; ++down)
            for (int across = left; across < left + width; ++across)
                if (has_line(mark, x + across, y + down)) pixel_row(down)[across] = line;
    }
}

CairoSurface make_image(int width, int height) {
    CairoSurface image(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height));
    if (cairo_surface_status(image.get()) != CAIRO_STATUS_SUCCESS) throw std::bad_alloc();
    cairo_surface_flush(image.get());
    return image;
}

/// Draws the image in place of the matrix, whose width and height it fills.
void paint_image(cairo_surface_t* image, const Box& matrix, cairo_t* cairo) {
    cairo_surface_mark_dirty(image);
    cairo_save(cairo);
    cairo_translate(cairo, matrix.x, matrix.y);
    cairo_scale(cairo, static_cast<double>(matrix.width) / cairo_image_surface_get_width(image),
                static_cast<double>(matrix.height) / cairo_image_surface_get_height(image));
    cairo_set_source_surface(cairo, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_NEAREST);
    // Filled as a pattern, it would be a tile in an SVG, which viewers smooth.
    cairo_paint(cairo);
    cairo_restore(cairo);
}

/// Draws the matrix in bands of rows, so that no second picture of its size is needed.
void draw_cell_image(const Figure& figure, const FigureLayout& layout, cairo_t* cairo) {
    constexpr int k_pixels_per_band = 1 << 20, k_many_pixels = 1 << 16;
    const Box& matrix = layout.matrix;
    const int height = figure.cell_height();
    const int rows_per_band = std::max(1, k_pixels_per_band / (matrix.width * height));
    for (int first = 0; first < figure.rows; first += rows_per_band) {
        const int rows = std::min(rows_per_band, figure.rows - first);
        const int top = matrix.y + first * height;
        const Box band{matrix.x, top, matrix.width, std::min(rows * height, matrix.bottom() - top)};
        const CairoSurface image = make_image(band.width, band.height);
        std::uint8_t* pixels = cairo_image_surface_get_data(image.get());
        const std::ptrdiff_t stride = cairo_image_surface_get_stride(image.get());
        const auto draw = [&](std::ptrdiff_t index) {
            const auto r = static_cast<int>(index);
            write_row(figure, first + r, band.x, top + r * height, pixels + index * height * stride, stride);
        };
        if (band.width * band.height >= k_many_pixels)
            run_parallel(rows, draw);
        else
            for (int r = 0; r < rows; ++r) draw(r);
        paint_image(image.get(), band, cairo);
    }
}

void draw_marks(const Figure& figure, const FigureLayout& layout, cairo_t* cairo) {
    for (std::size_t cell = 0; cell < figure.marks.size(); ++cell) {
        const CellMark mark = figure.marks[cell];
        if (mark == CellMark::value || !has_shape(figure, mark, layout.value_size > 0)) continue;
        const int row = static_cast<int>(cell) / figure.columns,
                  column = static_cast<int>(cell) % figure.columns;
        draw_mark(figure, mark, layout.cell(figure, row, column), cairo);
    }
}

/// The lines between the cells of an image without them; a picture shows through them.
void draw_gaps(const Figure& figure, const Box& matrix, cairo_t* cairo) {
    const int gap = figure.gap();
    if (gap == 0) return;
    set_source(cairo, figure.theme->background, figure.image ? 0.5 : 1);
    for (int c = 1; c <= figure.columns; ++c)
        cairo_rectangle(cairo, matrix.x + c * figure.cell_width() - gap, matrix.y, gap,
                        figure.rows * figure.cell_height());
    for (int r = 1; r <= figure.rows; ++r)
        cairo_rectangle(cairo, matrix.x, matrix.y + r * figure.cell_height() - gap,
                        figure.columns * figure.cell_width(), gap);
    cairo_fill(cairo);
}

/// The picture behind the cells, `scale` pixels per unit, so that viewers need not smooth it.
void draw_picture(const Figure& figure, const Box& matrix, int scale, cairo_t* cairo) {
    const Image& picture = figure.image->image.image();
    const CairoSurface pixels = make_image(picture.width, picture.height);
    std::uint8_t* data = cairo_image_surface_get_data(pixels.get());
    const std::ptrdiff_t stride = cairo_image_surface_get_stride(pixels.get());
    for (int y = 0; y < picture.height; ++y) {
        auto* to = reinterpret_cast<std::uint32_t*>(data + y * stride);
        for (int x = 0; x < picture.width; ++x) {
            const std::uint8_t* from = picture.pixel(x, y);
            to[x] = argb({from[0], from[1], from[2]});
        }
    }
    cairo_surface_mark_dirty(pixels.get());
    const CairoSurface resized = make_image(matrix.width * scale, matrix.height * scale);
    const CairoContext drawing(cairo_create(resized.get()));
    cairo_scale(drawing.get(), static_cast<double>(matrix.width * scale) / picture.width,
                static_cast<double>(matrix.height * scale) / picture.height);
    cairo_set_source_surface(drawing.get(), pixels.get(), 0, 0);
    cairo_pattern_set_extend(cairo_get_source(drawing.get()), CAIRO_EXTEND_PAD);
    cairo_paint(drawing.get());
    cairo_surface_flush(resized.get());
    paint_image(resized.get(), matrix, cairo);
}

void draw_cells_over_picture(const Figure& figure, const FigureLayout& layout, cairo_t* cairo,
                             Medium medium) {
    draw_picture(figure, layout.matrix, medium == Medium::document ? 2 : 1, cairo);
    for (std::size_t i = 0; i < figure.values.size(); ++i) {
        const int row = static_cast<int>(i) / figure.columns, column = static_cast<int>(i) % figure.columns;
        set_source(cairo, figure.fill(i), figure.cover(i));
        if (figure.cover(i) > 0) fill_box(cairo, layout.cell(figure, row, column));
    }
    hatch_cells(figure, layout, cairo);
    draw_gaps(figure, layout.matrix, cairo);
    draw_marks(figure, layout, cairo);
}

/// Pixels per side of a cell in the image of a vector file, at most `largest`. Some viewers smooth an image
/// regardless of its attributes: this affects half a pixel at a cell's edge, which is not visible if the cell
/// has several.
int block_side(const Figure& figure, int largest) {
    constexpr double k_pixels = 1 << 22;
    const double side = std::sqrt(k_pixels / static_cast<double>(figure.values.size()));
    return std::clamp(static_cast<int>(side), 1, largest);
}

void draw_cell_blocks(const Figure& figure, const Box& matrix, cairo_t* cairo) {
    const int width = block_side(figure, figure.cell_width()),
              height = block_side(figure, figure.cell_height());
    const CairoSurface image = make_image(figure.columns * width, figure.rows * height);
    std::uint8_t* pixels = cairo_image_surface_get_data(image.get());
    const std::ptrdiff_t stride = cairo_image_surface_get_stride(image.get());
    for (int r = 0; r < figure.rows; ++r) {
        std::uint8_t* first = pixels + static_cast<std::ptrdiff_t>(r) * height * stride;
        auto* to = reinterpret_cast<std::uint32_t*>(first);
        for (int c = 0; c < figure.columns; ++c)
            to = std::fill_n(to, width, argb(surface_color(figure, figure.cell(r, c))));
        for (int y = 1; y < height; ++y)
            std::memcpy(first + y * stride, first, static_cast<std::size_t>(stride));
    }
    // The line after the last cell is part of it, so that all cells are equally large.
    paint_image(
        image.get(),
        {matrix.x, matrix.y, figure.columns * figure.cell_width(), figure.rows * figure.cell_height()},
        cairo);
}

/// Hatching and marks as shapes; if there are too many of them, the whole matrix is pixels.
void draw_cell_image_in_document(const Figure& figure, const FigureLayout& layout, cairo_t* cairo) {
    std::array<std::vector<Box>, k_hatched.size()> runs;
    std::size_t run_count = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        runs[i] = runs_with(k_hatched[i], figure, layout);
        run_count += runs[i].size();
    }
    const auto shapes = std::ranges::count_if(
        figure.marks, [&](CellMark mark) { return has_shape(figure, mark, layout.value_size > 0); });
    if (run_count + static_cast<std::size_t>(shapes) > k_max_cell_shapes) {
        const CairoSurface image = make_image(layout.matrix.width, layout.matrix.height);
        const CairoContext pixels(cairo_create(image.get()));
        cairo_translate(pixels.get(), -layout.matrix.x, -layout.matrix.y);
        draw_cell_image(figure, layout, pixels.get());
        draw_marks(figure, layout, pixels.get());
        cairo_surface_flush(image.get());
        return paint_image(image.get(), layout.matrix, cairo);
    }
    draw_cell_blocks(figure, layout.matrix, cairo);
    for (std::size_t i = 0; i < runs.size() && figure.hatches; ++i)
        hatch_boxes(runs[i], k_hatched[i], figure, layout, cairo);
    draw_gaps(figure, layout.matrix, cairo);
    draw_marks(figure, layout, cairo);
}

}  // namespace

bool needs_pixels(const Figure& figure) { return figure.image || figure.values.size() > k_max_cell_shapes; }

void set_source(cairo_t* cairo, Rgb8 color, double opacity) {
    cairo_set_source_rgba(cairo, color.red / 255.0, color.green / 255.0, color.blue / 255.0, opacity);
}

void fill_box(cairo_t* cairo, const Box& box) {
    cairo_rectangle(cairo, box.x, box.y, box.width, box.height);
    cairo_fill(cairo);
}

void draw_swatch(const Figure& figure, CellMark mark, const Box& box, cairo_t* cairo) {
    const Theme& theme = *figure.theme;
    const bool tinted = is_tinted(figure, mark);
    set_source(cairo, tinted                             ? tint(theme)
                      : mark == CellMark::open           ? theme.raised
                      : mark == CellMark::nan            ? theme.nan
                      : mark == CellMark::plus_infinity  ? theme.plus_infinity
                      : mark == CellMark::minus_infinity ? theme.minus_infinity
                      : mark == CellMark::chosen         ? theme.background
                      : figure.hatches                   ? theme.masked
                                                         : theme.line);
    fill_box(cairo, box);
    if (tinted || (is_hatched(mark) && !figure.hatches)) return;
    if (!is_hatched(mark)) return draw_mark(figure, mark, box, cairo);
    cairo_save(cairo);
    cairo_rectangle(cairo, box.x, box.y, box.width, box.height);
    cairo_clip(cairo);
    hatch(cairo, box, theme.hatch, mark);
    cairo_restore(cairo);
}

void draw_cells(const Figure& figure, const FigureLayout& layout, cairo_t* cairo, Medium medium) {
    if (figure.values.empty()) return;
    if (figure.image) return draw_cells_over_picture(figure, layout, cairo, medium);
    const bool as_image = figure.gap() == 0 || figure.values.size() > k_max_cell_shapes;
    if (as_image && medium == Medium::document) return draw_cell_image_in_document(figure, layout, cairo);
    as_image ? draw_cell_image(figure, layout, cairo) : draw_cell_shapes(figure, layout, cairo);
    draw_marks(figure, layout, cairo);
}

TextMode text_mode(const DrawOptions& options) {
    return options.medium == Medium::pixels || options.outlines ? TextMode::outlines : TextMode::glyphs;
}

void draw_values(const Figure& figure, const FigureLayout& layout, const TextFace& face, cairo_t* cairo,
                 const DrawOptions& options) {
    if (layout.value_size <= 0) return;
    const TextStyle style{.font = Font::mono, .size = layout.value_size, .align = 0.5};
    for (int r = 0; r < figure.rows; ++r) {
        report(options.progress, static_cast<double>(r) / figure.rows);
        for (int c = 0; c < figure.columns; ++c) {
            const std::size_t cell = figure.cell(r, c);
            const std::string text = figure.text(cell);
            if (text.empty()) continue;
            const Box box = layout.cell(figure, r, c);
            set_source(cairo,
                       contrasting(figure.surface(cell), figure.theme->on_light, figure.theme->on_dark));
            // Digits are about 0.73 em high.
            face.draw(cairo, text, style, box.x + box.width / 2.0,
                      box.y + box.height / 2.0 + 0.365 * style.size, text_mode(options));
        }
    }
}

}  // namespace attnscope
