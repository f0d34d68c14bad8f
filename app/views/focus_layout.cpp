#include "app/views/focus_layout.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "app/platform/imgui_compat.h"
#include "core/graph/formula.h"

namespace attnscope {
namespace {

constexpr float k_largest_focus_cell = 140;
constexpr float k_narrow_focus = 640;  ///< units
constexpr float k_low_focus = 440;
constexpr float k_bar_width = 14;
constexpr int k_measured_labels = 256;
constexpr float k_value_cell = 42;   ///< wide enough for a number
constexpr int k_many_columns = 128;  ///< whose rows have a profile, if there is room
constexpr float k_profile_gap = 24, k_profile_height = 44;

/// Sizes that depend on the available room.
struct Spacing {
    float operand_gap, bar_gap;
    float bar_room;                 ///< the color bar with its numbers and caption
    float left_share, above_share;  ///< share of the room that operands may take
};

Spacing spacing(const Ui& ui, const Area& area) {
    const bool narrow = is_narrow(ui, area), low = is_low(ui, area);
    return {.operand_gap = ui.px(narrow ? 14 : 34),
            .bar_gap = ui.px(narrow ? 10 : 30),
            .bar_room = ui.px(narrow ? 62 : 84),
            .left_share = narrow ? 0 : 0.2f,
            .above_share = low ? 0.15f : 0.2f};
}

/// The width of the longest label; of a great many, only a sample and the last one are measured.
float longest_label(const Ui& ui, int count, const std::function<std::string(int)>& label) {
    float longest = 0;
    const auto measure_label = [&](int i) {
        longest = std::max(longest, text_width(ui.fonts.strong, legible(label(i))));
    };
    for (int i = 0; i < count; i += std::max(1, count / k_measured_labels)) measure_label(i);
    measure_label(count - 1);
    return longest;
}

/// The width of the mark on a key that no query may attend to.
float column_mark_width(const Ui& ui, const ShownStage& shown) {
    const bool marked = shown.stage->info->columns == Axis::key_token && shown.trace->over_queries();
    return marked ? text_width(ui.fonts.strong, "∅ ") : 0;
}

std::optional<ShownStage> operand_shown(const ShownStage& shown, const Stage* operand,
                                        const Presentation& presentation) {
    if (!operand || shown.head_index() < 0) return std::nullopt;
    return shown_stage(*shown.trace, operand->key(), presentation);
}

struct Rooms {
    float left, top, width, height;  ///< area available to the matrix
};

/// The largest cells that fit: square between tokens, of any proportion where columns are features. `label`
/// is the width of the longest column label.
ImVec2 cell_size(const Ui& ui, const ShownStage& shown, const Rooms& room, float label) {
    const float largest = ui.px(k_largest_focus_cell);
    const float width = std::min(room.width / static_cast<float>(shown.columns()), largest);
    const float height = std::min(room.height / static_cast<float>(shown.rows()), largest);
    if (shown.stage->info->columns != Axis::key_token) return {width, std::min(height, largest * 0.75f)};
    const float side = std::min({width, height, largest});
    if (shown.stage->buffer.on_demand()) return {side, side};  // whose blocks are square
    // Slightly wider than high if that lets the labels be horizontal.
    const float wide = std::min(width, 1.4f * side);
    if (side < label && label <= wide) return {label, side};
    // In a low window a cell may be even wider, so that its number fits.
    return {side < ui.px(k_value_cell) ? std::max(side, std::min(width, ui.px(k_value_cell))) : side, side};
}

ColumnLabels column_labels(const Ui& ui, float pitch, float longest) {
    if (pitch >= longest + ui.px(4)) return ColumnLabels::level;
    return ColumnLabels::upright;
}

/// The width of the operand on the left, at most `most`; 0 if there is none.
float width_of_left(const Ui& ui, const FocusLayout& layout, float most) {
    if (!layout.left) return 0;
    return std::clamp(static_cast<float>(layout.left->columns()) * ui.px(9), ui.px(40),
                      std::max(ui.px(40), most));
}

/// The height of the operand above, at most `most`; 0 if there is none.
float height_of_above(const Ui& ui, const FocusLayout& layout, float most) {
    if (!layout.above) return 0;
    const int depth = layout.above_transposed ? layout.above->columns() : layout.above->rows();
    return std::clamp(static_cast<float>(depth) * ui.px(6), ui.px(30), std::max(ui.px(30), most));
}

/// The width of the longest label; where columns are grouped by key, of those of the groups.
float longest_column_label(const Ui& ui, const ShownStage& shown, bool grouped) {
    if (grouped)
        return longest_label(ui, shown.columns() / shown.stage->shape().depth,
                             [&](int j) { return shown.trace->label(Axis::key_token, j); });
    return longest_label(ui, shown.columns(), [&](int j) { return shown.column_label(j); }) +
           column_mark_width(ui, shown);
}

/// Centers columns that are narrower than `width`.
void center(AxisPlace& columns, float width) {
    const float shift = std::floor(std::max(0.0f, (width - (columns.view_max - columns.view_min)) / 2));
    columns.origin += shift;
    columns.view_min += shift;
    columns.view_max += shift;
}

/// Places what stands around the matrix: its operands, as wide on the left and as high above as `operands`,
/// the row profile below and the color bar.
void place_around(const Ui& ui, FocusLayout& layout, const Spacing& space, float top, ImVec2 operands,
                  bool has_profile) {
    const Area view = layout.view();
    if (layout.left) {
        const float right = view.min.x - space.operand_gap;
        layout.left_area = {{right - operands.x, layout.rows.begin(0)}, {right, layout.rows.end()}};
        layout.row_label_right = layout.left_area.min.x - ui.px(10);
    } else {
        layout.row_label_right = view.min.x - ui.px(10);
    }
    if (layout.above)
        layout.above_area = {{layout.columns.begin(0), top}, {layout.columns.end(), top + operands.y}};
    if (has_profile)
        layout.profile = Area{{view.min.x, view.max.y + ui.px(k_profile_gap)},
                              {view.max.x, view.max.y + ui.px(k_profile_gap + k_profile_height)}};
    const float bar_left = view.max.x + space.bar_gap;
    layout.bar = {{bar_left, view.min.y},
                  {bar_left + ui.px(k_bar_width), std::max(view.max.y, view.min.y + ui.px(80))}};
}

}  // namespace

bool is_narrow(const Ui& ui, const Area& area) { return area.width() < ui.px(k_narrow_focus); }
bool is_low(const Ui& ui, const Area& area) { return area.height() < ui.px(k_low_focus); }

FocusLayout lay_out_focus(Desk& desk, const Ui& ui, const ShownStage& shown, const Area& body) {
    const Spacing space = spacing(ui, body);
    const Presentation& presentation = desk.document.presentation();
    FocusLayout layout{};
    const StageOperands of = operands(*shown.trace, *shown.stage);
    layout.left = operand_shown(shown, of.left, presentation);
    layout.above = operand_shown(shown, of.above, presentation);
    layout.above_transposed = of.is_transposed;

    layout.row_label_width =
        std::min(longest_label(ui, shown.rows(), [&](int i) { return shown.row_label(i); }), ui.px(130));
    const float left_width = width_of_left(ui, layout, body.width() * space.left_share);
    const float above_height = height_of_above(ui, layout, body.height() * space.above_share);

    const int depth = shown.stage->shape().depth;
    const bool grouped = depth > 1 && shown.stage->info->columns == Axis::key_hidden;
    const float longest_column = longest_column_label(ui, shown, grouped);
    Rooms room{};
    room.left =
        body.min.x + layout.row_label_width + ui.px(10) + (layout.left ? left_width + space.operand_gap : 0);
    room.width = std::max(body.max.x - space.bar_gap - space.bar_room - room.left, ui.px(40));
    const float level_top = body.min.y + (layout.above ? above_height + ui.px(12) : 0) + ui.px(24);
    room.top = level_top;
    const bool has_profile = is_of_pairs(*shown.stage->info) && shown.stage->info->unit != Unit::boolean &&
                             shown.columns() >= k_many_columns && !is_low(ui, body);
    const float bottom = body.max.y - (has_profile ? ui.px(k_profile_gap + k_profile_height) : 0);
    room.height = std::max(bottom - room.top, ui.px(40));
    ImVec2 cell = cell_size(ui, shown, room, longest_column + ui.px(6));
    const float pitch = cell.x * static_cast<float>(desk.state.zoom.factor);
    layout.column_group = grouped && pitch < ui.px(k_value_cell) ? depth : 1;
    const float label_pitch = pitch * static_cast<float>(layout.column_group);
    layout.column_labels = column_labels(ui, label_pitch, longest_column);
    if (layout.column_labels == ColumnLabels::upright) {
        const float extra = std::clamp(longest_column - ui.px(14), 0.0f, ui.px(76));
        room.top += extra;
        room.height = std::max(room.height - extra, ui.px(40));
        cell = cell_size(ui, shown, room, 0);
    }

    const Zoom& zoom = desk.state.zoom;
    layout.rows = place_axis(shown.rows(), cell.y, room.top, room.top + room.height, zoom.factor, zoom.y);
    layout.columns =
        place_axis(shown.columns(), cell.x, room.left, room.left + room.width, zoom.factor, zoom.x);
    center(layout.columns, room.width);

    layout.column_label_bottom = room.top - ui.px(5);
    layout.column_label_room = layout.column_label_bottom - (level_top - ui.px(24 + 4));
    place_around(ui, layout, space, body.min.y, {left_width, above_height}, has_profile);
    return layout;
}

}  // namespace attnscope
