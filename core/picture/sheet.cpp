#include "core/picture/sheet.h"

#include <cairo.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/picture/figure_cells.h"

namespace attnscope {
namespace {

/// All type on paper is this high, in units, so that a unit is a twelfth of the font size.
constexpr double k_type_units = 12;
constexpr double k_points_per_millimeter = 72 / 25.4;
constexpr int k_margin = 4;  ///< as FigureType::sheet has it
constexpr int k_gap = 14;
constexpr double k_highest = 297.0 / 210.0;  ///< of its width, as an A4 page
constexpr double k_any_height = 1e9;
constexpr int k_largest_cell = 512;

double points_of(const Sheet& sheet) { return sheet.paper ? sheet.paper->font_size / k_type_units : 0.75; }

/// The width of the paper in units.
double paper_width(const Sheet& sheet) {
    return sheet.paper->width * k_points_per_millimeter / points_of(sheet);
}

/// How far a row or a column of panels reaches to both sides of its matrices' edges, and the widest of these.
struct Band {
    int before = 0, matrix = 0, after = 0;
    int start = 0;  ///< of the matrices

    void take(int front, int size, int whole) {
        before = std::max(before, front);
        matrix = std::max(matrix, size);
        after = std::max(after, whole - front - size);
    }
    int end() const { return start + matrix + after; }
};

/// Places the panels by their rows and columns from the corner; returns the bottom right corner of them all.
Size place_in_grid(const Sheet& sheet, SheetLayout& layout, Size corner) {
    std::vector<Band> rows, columns;
    for (std::size_t i = 0; i < sheet.panels.size(); ++i) {
        const auto row = static_cast<std::size_t>(sheet.panels[i].row);
        const auto column = static_cast<std::size_t>(sheet.panels[i].column);
        rows.resize(std::max(rows.size(), row + 1));
        columns.resize(std::max(columns.size(), column + 1));
        const FigureLayout& panel = layout.panels[i].layout;
        columns[column].take(panel.matrix.x, panel.matrix.width, panel.size.width);
        rows[row].take(panel.matrix.y, panel.matrix.height, panel.size.height);
    }
    int x = corner.width, y = corner.height;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        columns[c].start = x + (c > 0 ? k_gap : 0) + columns[c].before;
        x = columns[c].end();
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
        rows[r].start = y + (r > 0 ? k_gap : 0) + rows[r].before;
        y = rows[r].end();
    }
    for (std::size_t i = 0; i < sheet.panels.size(); ++i) {
        SheetLayout::Panel& panel = layout.panels[i];
        panel.x = columns[static_cast<std::size_t>(sheet.panels[i].column)].start - panel.layout.matrix.x;
        panel.y = rows[static_cast<std::size_t>(sheet.panels[i].row)].start - panel.layout.matrix.y;
    }
    return {x, y};
}

/// Places the panels one after the other in lines up to `width`; the matrices of a line are aligned at the
/// top.
Size place_in_lines(const Sheet& sheet, SheetLayout& layout, Size corner, double width,
                    const TextFace& face) {
    Size end = corner;
    std::size_t first = 0;
    while (first < layout.panels.size()) {
        std::size_t last = first;
        int x = corner.width, above = 0;
        for (; last < layout.panels.size(); ++last) {
            const SheetPanel& panel = sheet.panels[last];
            const bool starts = last == first;
            const FigureLayout inside = lay_out(panel.figure, face, starts || !panel.repeats_rows);
            const int left = starts ? x : x + k_gap;
            if (!starts && left + inside.size.width > width) break;
            layout.panels[last] = {inside, left, 0};
            x = left + inside.size.width;
            above = std::max(above, inside.matrix.y);
        }
        const int top = first == 0 ? corner.height : end.height + k_gap;
        for (; first < last; ++first) {
            SheetLayout::Panel& panel = layout.panels[first];
            panel.y = top + above - panel.layout.matrix.y;
            end.height = std::max(end.height, panel.y + panel.layout.size.height);
        }
        end.width = std::max(end.width, x);
    }
    return end;
}

/// Without paper, lines are as long as makes the sheet about as wide as a screen.
double line_width(const SheetLayout& layout) {
    double area = 0, widest = 0;
    for (const SheetLayout::Panel& panel : layout.panels) {
        const Size& size = panel.layout.size;
        area += static_cast<double>(size.width + k_gap) * (size.height + k_gap);
        widest = std::max<double>(widest, size.width);
    }
    return std::max(widest, std::sqrt(area * 1.6)) + k_margin;
}

/// What the panels' marks mean, each once.
std::vector<LegendItem> legend_of(const Sheet& sheet) {
    std::vector<LegendItem> all;
    for (const SheetPanel& panel : sheet.panels)
        for (const LegendItem& item : legend_items(panel.figure)) {
            const bool known = std::ranges::any_of(all, [&](const LegendItem& other) {
                return other.swatch == item.swatch && other.mark == item.mark;
            });
            if (!known) all.push_back(item);
        }
    return all;
}

/// The figure whose color bar and legend the sheet draws, with the sheet's title.
Figure frame_of(const Sheet& sheet) {
    const Figure& first = sheet.panels.front().figure;
    Figure frame;
    frame.title = sheet.title;
    frame.subtitle = sheet.subtitle;
    frame.range_caption = first.range_caption;
    frame.unit = first.unit;
    frame.scale = first.scale;
    frame.clipped_above = frame.clipped_below = false;
    for (const SheetPanel& panel : sheet.panels) {
        frame.clipped_above |= panel.figure.clipped_above;
        frame.clipped_below |= panel.figure.clipped_below;
    }
    frame.theme = sheet.theme;
    frame.type = FigureType::sheet;
    frame.bar = sheet.one_scale;
    return frame;
}

void set_cells(Sheet& sheet, int size) {
    for (SheetPanel& panel : sheet.panels) panel.figure.cell_size = size;
}

/// The largest cell size with which the sheet is no wider than its paper, and no higher than `highest` times
/// its width; 0 if there is none.
int largest_cell(Sheet& sheet, const TextFace& face, double highest) {
    int fits = 0, too_large = k_largest_cell + 1;
    while (too_large - fits > 1) {
        const int size = (fits + too_large) / 2;
        set_cells(sheet, size);
        const SheetLayout layout = lay_out(sheet, face);
        const double width = paper_width(sheet);
        (layout.needed <= width && layout.size.height <= highest * width ? fits : too_large) = size;
    }
    return fits;
}

/// A whole width that the smallest cells fit. A title's lines may be longer on wider paper, so that the width
/// needed here may not be enough there.
double enough_millimeters(Sheet& sheet, const TextFace& face) {
    set_cells(sheet, 1);
    for (int tries = 0;; ++tries) {
        const SheetLayout layout = lay_out(sheet, face);
        const double needed = std::ceil(layout.needed * layout.points / k_points_per_millimeter);
        if (needed <= sheet.paper->width || tries == 20) return sheet.paper->width;
        sheet.paper->width = needed;
    }
}

}  // namespace

SheetLayout lay_out(const Sheet& sheet, const TextFace& face) {
    SheetLayout layout;
    layout.points = points_of(sheet);
    for (const SheetPanel& panel : sheet.panels) layout.panels.push_back({lay_out(panel.figure, face), 0, 0});
    const double width = sheet.paper ? paper_width(sheet) : line_width(layout);
    const auto place = [&](Size corner) {
        return sheet.flows ? place_in_lines(sheet, layout, corner, width - k_margin, face)
                           : place_in_grid(sheet, layout, corner);
    };
    const Size panels = place({k_margin, k_margin});

    const Figure frame = frame_of(sheet);
    place_title(frame, face, layout.frame,
                sheet.paper ? width - 2 * k_margin : std::max(panels.width - k_margin, 360));
    const bool titled = layout.frame.subtitle.bottom() > k_margin;
    const Size end = place({k_margin, titled ? layout.frame.subtitle.bottom() + 10 : k_margin});

    int top = end.height, bottom = 0;
    for (const SheetLayout::Panel& panel : layout.panels) {
        top = std::min(top, panel.y + panel.layout.matrix.y);
        bottom = std::max(bottom, panel.y + panel.layout.matrix.bottom());
    }
    layout.frame.matrix = {k_margin, top, end.width - k_margin, bottom - top};
    Size content = end;
    if (frame.bar) {
        const Size bar = place_bar(frame, face, layout.frame);
        content = {std::max(content.width, bar.width), std::max(content.height, bar.height)};
    }
    content = place_legend(legend_of(sheet), face, layout.frame, content, k_margin, 0);
    layout.needed =
        std::max({content.width, layout.frame.title.right(), layout.frame.subtitle.right()}) + k_margin;
    layout.size = {sheet.paper ? static_cast<int>(std::floor(width)) : layout.needed,
                   content.height + k_margin};
    return layout;
}

void fit_cells(Sheet& sheet, const TextFace& face) {
    if (!sheet.paper) return;
    int size = largest_cell(sheet, face, k_highest);
    if (size == 0 && largest_cell(sheet, face, k_any_height) > 0) size = 1;  // many small ones: a long page
    set_cells(sheet, std::max(size, 1));
    if (size > 0) return;
    const double width = sheet.paper->width;
    throw Error(
        ErrorKind::bad_input,
        fmt::format("the picture does not fit a width of {} mm: use at least {:.0f} mm or a smaller font "
                    "size",
                    width, enough_millimeters(sheet, face)));
}

void draw(const Sheet& sheet, const SheetLayout& layout, const TextFace& face, cairo_t* cairo,
          const DrawOptions& options) {
    cairo_save(cairo);
    set_source(cairo, sheet.theme->background);
    fill_box(cairo, {0, 0, layout.size.width, layout.size.height});
    draw_surroundings(frame_of(sheet), layout.frame, face, cairo, options);
    for (std::size_t i = 0; i < sheet.panels.size(); ++i) {
        const SheetPanel& panel = sheet.panels[i];
        const SheetLayout::Panel& place = layout.panels[i];
        cairo_save(cairo);
        cairo_translate(cairo, place.x, place.y);
        draw_matrix(panel.figure, place.layout, face, cairo, options);
        draw_surroundings(panel.figure, place.layout, face, cairo, options);
        cairo_restore(cairo);
        report(options.progress, static_cast<double>(i + 1) / static_cast<double>(sheet.panels.size()));
    }
    cairo_restore(cairo);
}

}  // namespace attnscope
