#include "app/views/choosing.h"

#include <algorithm>

#include "app/ui/widgets.h"
#include "core/graph/explain.h"
#include "core/number_text.h"
#include "core/picture/view_figure.h"

namespace attnscope {

int chosen_query(const Desk& desk, int queries) {
    const Presentation& presentation = desk.document.presentation();
    const int query = current_highlight(desk.state, presentation, desk.document.trace().get()).query;
    return query < 0 ? locked_query(presentation, queries) : std::min(query, queries - 1);
}

int largest_key(const ShownStage& shown, int query) {
    const Eigen::RowVectorXf row = shown.row(query);
    int best = 0;
    for (int key = 1; key < shown.columns(); ++key)
        if (row(key) > row(best)) best = key;
    return best;
}

SlotName slot_of(const Desk& desk, const ShownStage& shown) {
    for (const SlotName name : {SlotName::pinned, SlotName::beside})
        if (const Slot* slot = desk.document.slot(name); slot && slot->trace.get() == shown.trace)
            return name;
    return SlotName::live;
}

void point_at(Desk& desk, const ShownStage& shown, const Cell& cell) {
    desk.state.pointing = PointedCell{shown.stage->key(), shown.head_index(), cell, slot_of(desk, shown)};
}

void toggle_lock(Desk& desk, const ShownStage& shown, const Cell& cell) {
    const Presentation& before = desk.document.presentation();
    const bool is_focused = shown.trace->find_chosen(before.stage) == shown.stage.get();
    const bool locked = is_focused && locked_cell(before, shown.trace) == cell;
    desk.document.change([&](Session& session) {
        session.presentation.lock(shown.stage->key(), locked ? std::nullopt : std::optional(cell));
    });
}

void use_cell(Desk& desk, const Ui& ui, const ShownStage& shown, const Cell& cell) {
    if (!ImGui::IsItemHovered()) return;
    point_at(desk, shown, cell);
    const StageInfo& info = *shown.stage->info;
    const std::string row = legible(shown.row_label(cell.row));
    const std::string column = legible(shown.column_label(cell.column));
    const std::string between = info.columns == Axis::key_token ? " → " : " · ";
    tooltip(ui, row + (row.empty() ? "" : between) + column + "   " +
                    (shown.closed(cell.row, cell.column) ? std::string(k_closed_by_mask)
                                                         : exact_text(shown.at(cell.row, cell.column))));
    if (slot_of(desk, shown) == SlotName::live && ImGui::IsMouseReleased(0) && was_click())
        toggle_lock(desk, shown, cell);
}

}  // namespace attnscope
