#include "app/views/focus_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/document/custom.h"
#include "app/ui/widgets.h"
#include "core/error.h"
#include "core/experiment/custom_values.h"
#include "core/number_text.h"

namespace attnscope {
namespace {

Matrix mask_now(Desk& desk, const ShownStage& shown) {
    const CustomSize size = custom_size(*shown.trace, "mask");
    return editable_mask(desk.document.experiment(), size.rows, size.columns);
}

/// Whether painting the cell is pointless because something else closes it too; if so, says why.
bool refuses(Desk& desk, const ShownStage& shown, const Cell& at) {
    const std::string other = closed_elsewhere(shown, at);
    if (other.empty() || desk.document.stale()) return false;
    desk.state.notice = {"this cell is closed by " + other + ": painting cannot open it", true};
    return true;
}

/// Sets the mask changed by `edit`; if the rules do not fit, the reason becomes the notice.
void change_mask(Desk& desk, const ShownStage& shown, const std::function<void(Matrix&)>& edit,
                 const std::string& gesture = {}) {
    try {
        Matrix mask = mask_now(desk, shown);
        edit(mask);
        if (!desk.document.experiment().weighting.mask.empty())
            desk.state.notice = {"the rules are now cells of a custom mask; undo restores them", false};
        paint_mask(desk.document, std::move(mask), gesture);
    } catch (const std::exception& error) {
        desk.state.notice = {problem_text(error), true};
    }
}

/// Adds the cells between `from` (exclusive) and `to`.
void add_line(std::vector<Cell>& cells, const Cell& from, const Cell& to) {
    const int steps = std::max(std::abs(to.row - from.row), std::abs(to.column - from.column));
    for (int s = 1; s <= steps; ++s) {
        const double t = double(s) / steps;
        cells.push_back({static_cast<int>(std::lround(from.row + t * (to.row - from.row))),
                         static_cast<int>(std::lround(from.column + t * (to.column - from.column)))});
    }
}

/// Applies the cells that the experiment does not have yet.
void take_cells(Desk& desk, const ShownStage& shown) {
    MaskStroke& stroke = desk.state.stroke;
    if (stroke.taken == stroke.cells.size()) return;
    change_mask(
        desk, shown,
        [&](Matrix& mask) {
            for (std::size_t i = stroke.taken; i < stroke.cells.size(); ++i)
                mask(stroke.cells[i].row, stroke.cells[i].column) = stroke.opens ? 1 : 0;
        },
        fmt::format("paint {}", stroke.count));
    stroke.taken = stroke.cells.size();
}

void begin_stroke(Desk& desk, const ShownStage& shown, const Cell& at) {
    MaskStroke& stroke = desk.state.stroke;
    // The click belongs to the mask, even if it has no effect.
    stroke = {.active = false, .refused = refuses(desk, shown, at), .last = at, .count = stroke.count};
    if (stroke.refused) return;
    desk.state.notice = {};
    try {
        const CustomSize size = custom_size(*shown.trace, "mask");
        const bool open = may_attend(desk.document.experiment(), size.rows, size.columns, at.row, at.column);
        stroke = {.active = true, .opens = !open, .last = at, .count = stroke.count + 1, .cells = {at}};
    } catch (const std::exception& error) {
        desk.state.notice = {problem_text(error), true};
    }
}

/// The position of a cell in the custom matrix, where heads are stacked vertically.
Cell custom_cell(const ShownStage& shown, const Cell& cell) {
    return {std::max(shown.head_index(), 0) * shown.rows() + cell.row, cell.column};
}

unsigned field_id() { return ImGui::GetID("focused cell"); }

}  // namespace

bool is_painted(const ShownStage& shown) {
    // Cells of a custom mask are numbers in memory: too many for a very long text.
    return shown.stage->info == mask_stage(shown.trace->experiment) && !shown.stage->buffer.on_demand();
}

bool may_be_custom(const ShownStage& shown) {
    const std::vector<std::string> names = names_to_override(shown.trace, shown.trace->experiment);
    return std::ranges::find(names, custom_name_of(shown.stage->key())) != names.end();
}

std::string closed_elsewhere(const ShownStage& shown, const Cell& cell) {
    return closed_beyond_mask(*shown.trace, shown.head_index(), cell.row, cell.column);
}

bool is_typed_into(const ShownStage& shown) {
    return !is_painted(shown) && shown.trace->experiment.is_custom(shown.stage->name()) &&
           shown.head_index() >= 0;
}

bool paint_stroke(Desk& desk, const ShownStage& shown, const FocusLayout& layout) {
    MaskStroke& stroke = desk.state.stroke;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const Cell at{layout.rows.at(mouse.y), layout.columns.at(mouse.x)};
    if (ImGui::IsItemActivated() && !ImGui::GetIO().KeyShift) begin_stroke(desk, shown, at);
    const bool was_active = stroke.active || stroke.refused;
    stroke.refused = stroke.refused && ImGui::IsItemActive();
    stroke.active = stroke.active && ImGui::IsItemActive();
    if (stroke.active && at != stroke.last) add_line(stroke.cells, std::exchange(stroke.last, at), at);
    if (!stroke.active || !desk.document.busy()) take_cells(desk, shown);
    return was_active;
}

void end_stroke(Desk& desk) {
    MaskStroke& stroke = desk.state.stroke;
    const Presentation& presentation = desk.document.presentation();
    const Trace& trace = *desk.document.trace();
    if (const auto mask = shown_stage(trace, mask_stage(trace.experiment), presentation))
        take_cells(desk, *mask);
    stroke = {.last = {}, .count = stroke.count};
}

void stroke_cells(Desk& desk, const Ui& ui, const FocusLayout& layout) {
    MaskStroke& stroke = desk.state.stroke;
    if (!stroke.active && !desk.document.busy()) stroke.cells.clear();
    if (stroke.cells.empty()) stroke.taken = 0;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float gap = layout.rows.pitch() >= 4 && layout.columns.pitch() >= 4 ? 1 : 0;
    for (const Cell& cell : stroke.cells) {
        const ImVec2 min{layout.columns.begin(cell.column), layout.rows.begin(cell.row)};
        const ImVec2 max{min.x + std::max(layout.columns.pitch() - gap, 1.0f),
                         min.y + std::max(layout.rows.pitch() - gap, 1.0f)};
        list->AddRectFilled(min, max, ink(stroke.opens ? ui.theme.raised : ui.theme.masked));
        if (stroke.opens && gap > 0)
            list->AddCircleFilled({(min.x + max.x) / 2, (min.y + max.y) / 2}, ui.px(2),
                                  ink(ui.theme.secondary));
    }
}

void toggle_cell(Desk& desk, const ShownStage& shown, const Cell& cell) {
    if (refuses(desk, shown, cell)) return;
    change_mask(desk, shown, [&](Matrix& mask) {
        float& value = mask(cell.row, cell.column);
        value = value == 0 ? 1 : 0;
    });
}

void presets_popup(Desk& desk, const Ui& ui, const ShownStage& shown, const char* name) {
    if (!ImGui::BeginPopup(name)) return;
    for (const MaskPreset& preset : mask_presets()) {
        if (ImGui::MenuItem(preset.name.data()))
            change_mask(desk, shown, [&](Matrix& mask) {
                for (int i = 0; i < mask.rows(); ++i)
                    for (int j = 0; j < mask.cols(); ++j)
                        mask(i, j) = preset.open(i, j, mask(i, j) != 0) ? 1 : 0;
            });
        tooltip(ui, std::string(preset.help));
    }
    ImGui::Separator();
    const Experiment& e = desk.document.experiment();
    if (ImGui::MenuItem("Turn rules into cells", nullptr, false, !e.weighting.mask.empty()))
        change_mask(desk, shown, [](Matrix&) {});
    if (ImGui::MenuItem("Discard custom mask", nullptr, false, e.is_custom("mask")))
        discard_custom(desk.document, "mask");
    ImGui::EndPopup();
}

void begin_cell(Desk& desk, const Ui& ui, const ShownStage& shown, const Cell& cell) {
    desk.state.edited_cell = cell;
    begin_typing(ui, field_id(), exact_text(shown.at(cell.row, cell.column)));
}

bool types_cell(const Desk& desk, const Ui& ui) {
    return desk.state.edited_cell && ui.controls.field.typing == field_id();
}

void cell_field(Desk& desk, const Ui& ui, const ShownStage& shown, const FocusLayout& layout) {
    if (!types_cell(desk, ui)) {
        desk.state.edited_cell.reset();
        return;
    }
    const Cell cell = *desk.state.edited_cell;
    const float width = std::max(layout.columns.pitch(), ui.px(92));
    const float right = std::max(layout.view().min.x, layout.view().max.x + ui.px(80) - width);
    ImGui::SetCursorScreenPos({std::clamp(layout.columns.begin(cell.column), layout.view().min.x, right),
                               layout.rows.middle(cell.row) - ui.px(13)});
    const auto typed = typing_field(ui, field_id(), width);
    if (!typed) return;
    try {
        const std::string name(shown.stage->name());
        Matrix values = custom_start(desk.document.trace().get(), desk.document.experiment(), name);
        const Cell at = custom_cell(shown, cell);
        if (at.row >= values.rows() || at.column >= values.cols()) return;
        values(at.row, at.column) = parse_cell(*typed);
        check_custom_cells(name, values, name);
        set_custom(desk.document, name, std::move(values));
        desk.state.notice = {};
    } catch (const std::exception& error) {
        desk.state.notice = {problem_text(error), true};
    }
}

}  // namespace attnscope
