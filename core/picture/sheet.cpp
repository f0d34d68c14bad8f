#include "core/picture/sheet.h"

#include <cairo.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/error.h"
#include "core/picture/figure_cells.h"

namespace attnscope {
namespace {

/// All type on paper is this high, in units, so that a unit is a twelfth of the font size.
constexpr double k_type_units = 12;
constexpr double k_points_per_millimeter = 72 / 25.4;
constexpr int k_margin = 4;  ///< as FigureType::sheet has it
constexpr int k_dense_gap = 3;
constexpr int k_spaced_cell = 24;            ///< as Figure::gap() has it
constexpr double k_highest = 297.0 / 210.0;  ///< of its width, as an A4 page
constexpr double k_column_height = 240;      ///< millimeters, of a column on that page
constexpr double k_any_height = 1e9;
constexpr int k_largest_cell = 512;
constexpr int k_least_pitch = 14, k_largest_pitch = 20;  ///< between words with lines
constexpr int k_heading = 20;                            ///< height of a line of headings

bool has_row_labels(const SheetPanel& panel) { return panel.column == 0 || !panel.repeats_rows; }

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

const TextStyle k_name_style{.font = Font::sans_semibold, .size = k_type_units};
const TextStyle k_axis_style{.font = Font::sans, .size = k_type_units};

/// The room that the sheet's axes take beside and above its panels.
struct HeadingRoom {
    int left = 0, above = 0;
};

HeadingRoom heading_room(const Sheet& sheet, const TextFace& face) {
    HeadingRoom room;
    double widest = 0;
    for (const std::string& name : sheet.row_axis.names)
        widest = std::max(widest, face.extent(name, k_name_style).width);
    if (widest > 0) room.left += static_cast<int>(std::ceil(widest)) + 8;
    if (!sheet.row_axis.title.empty()) room.left += k_heading;
    if (!sheet.column_axis.names.empty()) room.above += k_heading;
    if (!sheet.column_axis.title.empty()) room.above += k_heading;
    return room;
}

/// The names in the middle of their bands, and the titles in the middle of all.
std::vector<SheetLayout::Heading> headings(const Sheet& sheet, Size corner, HeadingRoom room,
                                           const std::vector<Band>& rows, const std::vector<Band>& columns) {
    std::vector<SheetLayout::Heading> all;
    const auto middle = [](const Band& band) { return band.start + band.matrix / 2.0; };
    const double down = 0.36 * k_type_units;  // half the height of a capital letter
    for (std::size_t r = 0; r < std::min(rows.size(), sheet.row_axis.names.size()); ++r)
        all.push_back({sheet.row_axis.names[r], static_cast<double>(corner.width + room.left - 8),
                       middle(rows[r]) + down, 1, false, false});
    for (std::size_t c = 0; c < std::min(columns.size(), sheet.column_axis.names.size()); ++c)
        all.push_back({sheet.column_axis.names[c], middle(columns[c]),
                       static_cast<double>(corner.height + room.above - 7), 0.5, false, false});
    if (!sheet.row_axis.title.empty())
        all.push_back({sheet.row_axis.title, corner.width + k_type_units,
                       (rows.front().start + rows.back().start + rows.back().matrix) / 2.0, 0.5, true, true});
    if (!sheet.column_axis.title.empty())
        all.push_back({sheet.column_axis.title,
                       (columns.front().start + columns.back().start + columns.back().matrix) / 2.0,
                       corner.height + k_type_units, 0.5, false, true});
    return all;
}

/// The panels of a column with their places.
std::vector<std::pair<const SheetPanel*, const SheetLayout::Panel*>> panels_of_column(
    const Sheet& sheet, const SheetLayout& layout, std::size_t column) {
    std::vector<std::pair<const SheetPanel*, const SheetLayout::Panel*>> found;
    for (std::size_t i = 0; i < sheet.panels.size(); ++i)
        if (static_cast<std::size_t>(sheet.panels[i].column) == column)
            found.emplace_back(&sheet.panels[i], &layout.panels[i]);
    return found;
}

/// Places the panels by their rows and columns from the corner; returns the bottom right corner of them all.
Size place_in_grid(const Sheet& sheet, SheetLayout& layout, Size corner, const TextFace& face) {
    std::vector<Band> rows, columns;
    std::vector<int> ends;  // of the panels so far in each row
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
    const HeadingRoom room = heading_room(sheet, face);
    x += room.left;
    y += room.above;
    // What is left of a matrix may reach below or above the panels of the columns before it.
    ends.assign(rows.size(), x);
    for (std::size_t c = 0; c < columns.size(); ++c) {
        for (const auto& [panel, place] : panels_of_column(sheet, layout, c))
            columns[c].start =
                std::max(columns[c].start, ends[static_cast<std::size_t>(panel->row)] +
                                               (c > 0 ? sheet.gap : 0) + place->layout.matrix.x);
        for (const auto& [panel, place] : panels_of_column(sheet, layout, c)) {
            const FigureLayout& inside = place->layout;
            int& end = ends[static_cast<std::size_t>(panel->row)];
            end = columns[c].start + std::max(columns[c].matrix, inside.size.width - inside.matrix.x);
            x = std::max(x, end);
        }
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
        rows[r].start = y + (r > 0 ? sheet.gap : 0) + rows[r].before;
        y = rows[r].end();
    }
    layout.headings = headings(sheet, corner, room, rows, columns);
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
            const int left = starts ? x : x + sheet.gap;
            if (!starts && left + inside.size.width > width) break;
            layout.panels[last] = {inside, left, 0};
            x = left + inside.size.width;
            above = std::max(above, inside.matrix.y);
        }
        const int top = first == 0 ? corner.height : end.height + sheet.gap;
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
double line_width(const Sheet& sheet, const SheetLayout& layout) {
    double area = 0, widest = 0;
    for (const SheetLayout::Panel& panel : layout.panels) {
        const Size& size = panel.layout.size;
        area += static_cast<double>(size.width + sheet.gap) * (size.height + sheet.gap);
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
                return other.swatch == item.swatch && other.mark == item.mark && other.color == item.color;
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
    frame.typesets_title = sheet.typesets_title;
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
    frame.hatches = first.hatches;
    return frame;
}

int squeezed(int size, double by) {
    return by < 1 ? std::max(1, static_cast<int>(std::lround(size * by))) : 0;
}

/// Lines grow in width alone once their words are well apart; beside each other, their words stay legible.
void set_cells(Sheet& sheet, int size) {
    int least = size;
    for (SheetPanel& panel : sheet.panels) {
        panel.figure.cell_size = size;
        panel.figure.row_height = squeezed(size, panel.row_squeeze);
        panel.figure.column_width = squeezed(size, panel.column_squeeze);
        if (panel.figure.is_of_lines())
            panel.figure.row_height = std::clamp(size, sheet.is_series ? k_least_pitch : 1, k_largest_pitch);
    }
    // Matrices of a row or column end at the same place: there are lines between the cells of all or of none.
    for (const SheetPanel& panel : sheet.panels)
        least = std::min({least, panel.figure.cell_width(), panel.figure.cell_height()});
    for (SheetPanel& panel : sheet.panels) panel.figure.spaced = least == size || least >= k_spaced_cell;
}

/// Puts the panels of a series in lines of `length`.
void set_lines(Sheet& sheet, int length) {
    for (std::size_t i = 0; i < sheet.panels.size(); ++i) {
        sheet.panels[i].row = static_cast<int>(i) / length;
        sheet.panels[i].column = static_cast<int>(i) % length;
    }
}

/// Whether some words beside or above a matrix are left out.
bool misses_words(const Sheet& sheet, const TextFace& face) {
    return std::ranges::any_of(sheet.panels, [&](const SheetPanel& panel) {
        const FigureLayout layout = lay_out(panel.figure, face, has_row_labels(panel));
        return (layout.rows.thinned && !layout.rows.labels.empty()) ||
               (layout.columns.thinned && !layout.columns.labels.empty());
    });
}

/// Leaves out all labels, the lines along the edges and the hatching, and moves the panels together.
void make_dense(Sheet& sheet) {
    sheet.gap = k_dense_gap;
    for (SheetPanel& panel : sheet.panels) {
        Figure& figure = panel.figure;
        figure.row_labels.clear();
        figure.column_labels.clear();
        figure.row_title.clear();
        figure.column_title.clear();
        figure.row_axis = figure.column_axis = Axis::single;
        figure.hatches = false;
    }
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
    for (const SheetPanel& panel : sheet.panels)
        layout.panels.push_back({lay_out(panel.figure, face, sheet.flows || has_row_labels(panel)), 0, 0});
    const double width = sheet.paper ? paper_width(sheet) : line_width(sheet, layout);
    const auto place = [&](Size corner) {
        return sheet.flows ? place_in_lines(sheet, layout, corner, width - k_margin, face)
                           : place_in_grid(sheet, layout, corner, face);
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

namespace {

/// The cells that fit the paper, on a long page if many do not fit another; 0 if none do.
int fitting_cell(Sheet& sheet, const TextFace& face) {
    // Panels in lines may fill a column.
    const double column = sheet.flows ? k_column_height / sheet.paper->width : 0;
    const int size = largest_cell(sheet, face, std::max(k_highest, column));
    if (size > 0) return size;
    const int of_any_height = largest_cell(sheet, face, k_any_height);
    return sheet.is_series ? of_any_height : std::min(of_any_height, 1);
}

/// Chooses the lines of a series; returns the size of their cells, 0 if none fit.
int fit_lines(Sheet& sheet, const TextFace& face) {
    int longest = 1, best = 0, size_of_best = 0;
    for (const SheetPanel& panel : sheet.panels) longest = std::max(longest, panel.column + 1);
    for (int length = longest; length > 0; --length) {
        set_lines(sheet, length);
        const int size = fitting_cell(sheet, face);
        set_cells(sheet, std::max(size, 1));
        if (size > size_of_best) {
            best = length;
            size_of_best = size;
        }
        if (size > 0 && !misses_words(sheet, face)) return size;
    }
    set_lines(sheet, std::max(best, 1));
    return size_of_best;
}

}  // namespace

void fit_cells(Sheet& sheet, const TextFace& face) {
    if (!sheet.paper) {
        for (SheetPanel& panel : sheet.panels) {
            panel.figure.row_height = squeezed(panel.figure.cell_size, panel.row_squeeze);
            panel.figure.column_width = squeezed(panel.figure.cell_size, panel.column_squeeze);
        }
        return;
    }
    int size = sheet.is_series ? fit_lines(sheet, face) : fitting_cell(sheet, face);
    set_cells(sheet, std::max(size, 1));
    if (sheet.may_be_dense && (size == 0 || misses_words(sheet, face))) {
        make_dense(sheet);
        size = fitting_cell(sheet, face);
        set_cells(sheet, std::max(size, 1));
    }
    if (size > 0) return;
    const double width = sheet.paper->width;
    throw Error(
        ErrorKind::bad_input,
        fmt::format("the picture does not fit a width of {} mm: use at least {:.0f} mm or a smaller font "
                    "size",
                    width, enough_millimeters(sheet, face)));
}

namespace {

void draw_headings(const Sheet& sheet, const SheetLayout& layout, const TextFace& face, cairo_t* cairo,
                   const DrawOptions& options) {
    for (const SheetLayout::Heading& heading : layout.headings) {
        TextStyle style = heading.is_title ? k_axis_style : k_name_style;
        style.align = heading.align;
        set_source(cairo, heading.is_title ? sheet.theme->faint : sheet.theme->text);
        cairo_save(cairo);
        cairo_translate(cairo, heading.x, heading.y);
        if (heading.turned) cairo_rotate(cairo, -std::numbers::pi / 2);
        face.draw(cairo, heading.text, style, 0, 0, text_mode(options));
        cairo_restore(cairo);
    }
}

}  // namespace

void draw(const Sheet& sheet, const SheetLayout& layout, const TextFace& face, cairo_t* cairo,
          const DrawOptions& options) {
    cairo_save(cairo);
    set_source(cairo, sheet.theme->background);
    fill_box(cairo, {0, 0, layout.size.width, layout.size.height});
    draw_surroundings(frame_of(sheet), layout.frame, face, cairo, options);
    draw_headings(sheet, layout, face, cairo, options);
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
