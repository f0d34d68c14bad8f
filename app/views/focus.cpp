#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/document/screen_scale.h"
#include "app/document/walk.h"
#include "app/ui/widgets.h"
#include "app/views/choosing.h"
#include "app/views/focus_edit.h"
#include "app/views/labels.h"
#include "app/views/matrix_panel.h"
#include "app/views/row_profile.h"
#include "app/views/views.h"
#include "core/graph/explain.h"
#include "core/graph/formula.h"
#include "core/graph/gradient.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"

namespace attnscope {
namespace {

constexpr float k_header_height = 66;
constexpr float k_low_header_height = 46;
constexpr float k_least_shown_cell = 6, k_shown_cell = 28;  ///< units, of a cell that is gone to

/// A clickable word on the right of the header.
struct HeaderWord {
    std::string label;
    const char* id;
    std::string help;
    std::function<void()> run;
};

/// `shown` is null where the stage has no matrix to show.
std::vector<HeaderWord> header_words(const Trace& trace, const Stage& stage, const ShownStage* shown,
                                     bool narrow, const std::function<void(const Action&)>& run) {
    const auto action = [&](std::string label, ActionName name) {
        return HeaderWord{std::move(label), name.c_str(), std::string(action_named(name).title),
                          [&run, name] { run(action_named(name)); }};
    };
    std::vector<HeaderWord> words;
    if (may_have_gradient(*stage.info) && why_no_gradients(trace).empty())
        words.push_back(
            action(stage.part == StageKey::Part::value ? "Gradient" : "Value", "view.stage_gradient"));
    if (shown && is_painted(*shown))
        words.push_back({"Presets ▾", "presets", "Fill the mask with a common pattern",
                         [] { ImGui::OpenPopup(k_presets_menu); }});
    if (shown && may_be_custom(*shown)) words.push_back(action("Set…", "edit.give"));
    words.push_back(action("Copy", "edit.copy_matrix"));
    words.push_back(action(narrow ? "Export" : "Export  Ctrl+E", "file.export"));
    return words;
}

void header(Desk& desk, const Ui& ui, const Area& area, const Trace& trace, const Stage& stage,
            const ShownStage* shown, const std::function<void(const Action&)>& run) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const bool low = is_low(ui, area), narrow = is_narrow(ui, area);
    const float y = area.min.y + ui.px(low ? 10 : 16), margin = ui.px(narrow ? 16 : 24);
    const std::vector<HeaderWord> words = header_words(trace, stage, shown, narrow, run);
    float right = area.max.x - margin + ui.px(20);
    for (const HeaderWord& word : words) right -= text_width(ui.fonts.body, word.label) + ui.px(20);
    float x = right;
    for (const HeaderWord& word : words) {
        const float w = text_width(ui.fonts.body, word.label);
        ImGui::SetCursorScreenPos({x - ui.px(4), y + ui.px(3)});
        const bool clicked = ImGui::InvisibleButton(word.id, {w + ui.px(8), ui.px(24)});
        const bool hovered = ImGui::IsItemHovered();
        help_at_rest(ui, word.help);
        const Area place{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
        if (keyboard_use(ui, ImGui::GetID(word.id), place).pressed || clicked) word.run();
        if (shown && ImGui::IsPopupOpen(k_presets_menu) && std::string_view(word.id) == "presets") {
            ImGui::SetNextWindowPos({place.max.x, place.max.y}, ImGuiCond_Always, {1, 0});
            presets_popup(desk, ui, *shown, k_presets_menu);
        }
        draw_text(list, ui.fonts.body, {x, y + ui.px(7)}, ink(hovered ? ui.theme.accent : ui.theme.secondary),
                  word.label);
        x += w + ui.px(20);
    }
    right -= ui.px(20);
    const float left = area.min.x + margin;
    const float width = draw_text(list, ui.fonts.title, {left, y}, ink(ui.theme.text),
                                  stage_heading(stage.key()), Align::left, right - left);
    ImGui::SetCursorScreenPos({left, y});
    ImGui::InvisibleButton("stage title", {std::max(1.0f, right - left), ui.px(28)});
    const HeadChoice head = head_on_screen(stage, desk.document.presentation().head);
    const std::string designed = is_designed(trace.experiment) ? "  ·  designed" : "";
    const std::string facts = (shown ? formula_shown(trace, stage, head) : formula(trace, stage)) + designed;
    const float room = right - left - width - ui.px(16);
    const bool fits = text_width(ui.fonts.body, facts) <= room;
    const bool is_cut = text_width(ui.fonts.caption, facts) > room;
    if (ImGui::IsItemHovered()) help_at_rest(ui, stage_help(trace, stage) + (is_cut ? "\n" + facts : ""));
    if (room > ui.px(24))
        draw_text(list, fits ? ui.fonts.body : ui.fonts.caption,
                  {left + width + ui.px(16), y + ui.px(fits ? 7 : 9)}, ink(ui.theme.secondary), facts,
                  Align::left, room);
}

/// What is drawn of a long text whose rows each take all pairs of their query, while those in sight take too
/// many.
void sampled_rows_line(Desk& desk, const Ui& ui, const ShownStage& shown, const FocusLayout& layout) {
    if (!shown.stage->buffer.on_demand() || is_of_pairs(*shown.stage->info) || layout.rows.pitch() >= 1)
        return;
    const double in_sight = layout.rows.last() - layout.rows.first() + 1;
    if (in_sight * shown.rows() <= k_most_pairs_of_tile) return;  // all of them are drawn
    const auto rows = known_preview(desk.document, shown.stage, shown.head_index());
    const std::string text = rows ? fmt::format("1 row in {}: zoom in for all",
                                                std::lround(double(shown.rows()) / double(rows->rows())))
                                  : std::string("computing some rows…");
    draw_text(ImGui::GetWindowDrawList(), ui.fonts.caption,
              {layout.view().min.x, layout.view().max.y + ui.px(5)}, ink(ui.theme.secondary), text);
}

void row_labels(const Ui& ui, const ShownStage& shown, const FocusLayout& layout, int lit) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const int stride = label_stride(ui, layout.rows.pitch());
    for (int i = layout.rows.first(); i <= layout.rows.last(); ++i) {
        if (!label_shown(i, stride, lit)) continue;
        const float middle = layout.rows.middle(i);
        if (middle < layout.view().min.y || middle > layout.view().max.y) continue;
        ImFont* font = i == lit ? ui.fonts.strong : ui.fonts.body;
        const bool flagged = shown.row_fully_masked(i);
        const Rgb8 color = flagged ? ui.theme.warning : i == lit ? ui.theme.text : ui.theme.secondary;
        const std::string text = legible(shown.row_label(i));
        draw_text(list, font, {layout.row_label_right, middle - compat::font_size(*font) / 2}, ink(color),
                  fitted(font, text, layout.row_label_width + ui.px(4)) + (flagged ? " ∅" : ""),
                  Align::right);
    }
}

void column_labels(const Ui& ui, const ShownStage& shown, const FocusLayout& layout, int lit) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const int group = layout.column_group, depth = shown.stage->shape().depth;
    const float pitch = layout.columns.pitch() * static_cast<float>(group);
    const Axis axis = group > 1 ? Axis::key_token : shown.stage->info->columns;
    const int stride = label_stride(ui, pitch);
    if (depth > 1 && group == 1) lit = -1;  // the key rather than one of its hidden units
    for (int j = layout.columns.first() / group; j <= layout.columns.last() / group; ++j) {
        if (!label_shown(j, stride, lit)) continue;
        const float middle = layout.columns.origin + (static_cast<float>(j) + 0.5f) * pitch;
        if (middle < layout.view().min.x || middle > layout.view().max.x) continue;
        ImFont* font = j == lit ? ui.fonts.strong : ui.fonts.body;
        const bool flagged = group == 1 && shown.column_fully_masked(j);
        const ImU32 color = ink(flagged ? ui.theme.warning : j == lit ? ui.theme.text : ui.theme.secondary);
        const std::string text =
            (flagged ? "∅ " : "") + legible(group > 1 ? shown.trace->label(axis, j) : shown.column_label(j));
        if (layout.column_labels == ColumnLabels::level)
            draw_text(list, font, {middle, layout.column_label_bottom - compat::font_size(*font)}, color,
                      text, Align::center);
        else
            upright_text(list, font, {middle, layout.column_label_bottom}, color,
                         fitted(font, text, layout.column_label_room));
    }
}

void cell_values(Desk& desk, const Ui& ui, const ShownStage& shown, const FocusLayout& layout,
                 const ColorScale& scale) {
    if (!desk.document.presentation().values || is_behind(desk) || shown.stage->info->unit == Unit::boolean)
        return;
    if (shown.stage->buffer.is_waiting()) return;  // the worker computes it
    // One of these takes a whole row of pairs.
    if (shown.stage->buffer.on_demand() && !is_of_pairs(*shown.stage->info)) return;
    // Probabilities are never negative.
    const bool of_weights = shown.stage->info->unit == Unit::probability;
    const std::string widest = of_weights ? "0.000" : "-0.000";
    ImFont* font = number_font(ui, widest, {layout.columns.pitch(), layout.rows.pitch()});
    if (!font) return;
    ImDrawList* list = ImGui::GetWindowDrawList();
    for (int i = layout.rows.first(); i <= layout.rows.last(); ++i)
        for (int j = layout.columns.first(); j <= layout.columns.last(); ++j) {
            const float value = shown.at(i, j);
            if (shown.closed(i, j) || !std::isfinite(value)) continue;
            const Rgb8 color = contrasting(scale.color(value), ui.theme.on_light, ui.theme.on_dark);
            draw_text(list, font,
                      {layout.columns.middle(j), layout.rows.middle(i) - compat::font_size(*font) / 2},
                      ink(color), of_weights ? weight_text(value) : cell_text(value), Align::center);
        }
}

/// Operands are placed beside the rows and above the columns that they determine.
void operands(Desk& desk, const Ui& ui, const FocusLayout& layout, const StageInfo& info,
              const Highlight& lit) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    if (layout.left) {
        const Area& area = layout.left_area;
        list->PushClipRect({area.min.x - 2, layout.view().min.y - 2},
                           {area.max.x + 2, layout.view().max.y + 2}, true);
        paint_matrix(desk, ui, *list, *layout.left, area);
        outline_row(ui, *list, area, lit_row(lit, *layout.left->stage->info), layout.left->rows());
        list->PopClipRect();
        const float y = layout.view().min.y - ui.px(20);
        draw_text(list, ui.fonts.strong, {area.min.x, y}, ink(ui.theme.secondary),
                  std::string(layout.left->stage->info->symbol));
        if (area.width() > ui.px(90))
            draw_text(list, ui.fonts.caption, {area.max.x, y + 1}, ink(ui.theme.faint),
                      fmt::format("{} × {}", layout.left->rows(), layout.left->columns()), Align::right);
    }
    if (layout.above) {
        const Area& area = layout.above_area;
        const bool transposed = layout.above_transposed;
        list->PushClipRect({layout.view().min.x - 2, area.min.y - 2},
                           {layout.view().max.x + 2, area.max.y + 2}, true);
        paint_matrix(desk, ui, *list, *layout.above, area, transposed);
        const int column = transposed ? lit_row(lit, *layout.above->stage->info)
                                      : lit_column(lit, *layout.above->stage->info);
        outline_column(ui, *list, area, info.columns == Axis::key_token ? lit.key : column,
                       transposed ? layout.above->rows() : layout.above->columns());
        list->PopClipRect();
        const float x = layout.view().min.x - ui.px(12);
        const int rows = transposed ? layout.above->columns() : layout.above->rows();
        const int columns = transposed ? layout.above->rows() : layout.above->columns();
        draw_text(list, ui.fonts.strong, {x, area.min.y + ui.px(4)}, ink(ui.theme.secondary),
                  std::string(layout.above->stage->info->symbol) + (transposed ? "ᵀ" : ""), Align::right);
        draw_text(list, ui.fonts.caption, {x, area.min.y + ui.px(22)}, ink(ui.theme.faint),
                  fmt::format("{} × {}", rows, columns), Align::right);
    }
}

void mask_legend(const Ui& ui, const FocusLayout& layout) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 at = layout.bar.min;
    list->AddCircleFilled({at.x + ui.px(7), at.y + ui.px(9)}, ui.px(2.5f), ink(ui.theme.secondary));
    draw_text(list, ui.fonts.caption, {at.x + ui.px(20), at.y + ui.px(2)}, ink(ui.theme.secondary), "open");
    list->AddRectFilled({at.x, at.y + ui.px(24)}, {at.x + ui.px(14), at.y + ui.px(38)}, ink(ui.theme.masked));
    for (float step = 0; step < 14; step += 4)
        list->AddLine({at.x + ui.px(step), at.y + ui.px(38)}, {at.x + ui.px(14), at.y + ui.px(24 + step)},
                      ink(ui.theme.hatch));
    draw_text(list, ui.fonts.caption, {at.x + ui.px(20), at.y + ui.px(24)}, ink(ui.theme.secondary),
              "closed");
}

void color_bar(Desk& desk, const Ui& ui, const ShownStage& shown, const FocusLayout& layout,
               const ColorScale& scale) {
    if (shown.stage->info->unit == Unit::boolean) return mask_legend(ui, layout);
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Area& bar = layout.bar;
    ui.heatmaps.draw_table(*list, static_cast<int>(scale.map - colormaps().data()), bar.min, bar.max);
    draw_text(list, ui.fonts.caption, {bar.min.x, bar.min.y - ui.px(20)}, ink(ui.theme.faint),
              range_caption(*shown.stage, shown.head, desk.document.presentation()));
    constexpr int k_ticks = 5;
    for (int tick = 0; tick < k_ticks; ++tick) {
        const double t = tick / double(k_ticks - 1);
        const float y = bar.max.y - static_cast<float>(t) * bar.height();
        list->AddLine({bar.max.x, y}, {bar.max.x + ui.px(3), y}, ink(ui.theme.faint));
        draw_text(list, ui.fonts.mono_small,
                  {bar.max.x + ui.px(8), y - compat::font_size(*ui.fonts.mono_small) / 2},
                  ink(ui.theme.secondary), short_text(scale.value_at(t)));
    }
}

void lit_cells(Desk& desk, const Ui& ui, const ShownStage& shown, const FocusLayout& layout,
               const Highlight& lit) {
    light(ui, "matrix", layout.view());
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Area whole = layout.whole();
    list->PushClipRect({layout.view().min.x - 3, layout.view().min.y - 3},
                       {layout.view().max.x + 3, layout.view().max.y + 3}, true);
    const int row = lit_row(lit, *shown.stage->info), column = lit_column(lit, *shown.stage->info);
    const int depth = shown.stage->shape().depth;
    if (row >= 0 && row < layout.rows.count) {
        const Area one{{whole.min.x, layout.rows.begin(row)}, {whole.max.x, layout.rows.begin(row + 1)}};
        outline_row(ui, *list, one, 0, 1);
    }
    if (column >= 0 && column < layout.columns.count / depth) {
        const Area one{{layout.columns.begin(column * depth), whole.min.y},
                       {layout.columns.begin((column + 1) * depth), whole.max.y}};
        outline_column(ui, *list, one, 0, 1, 0.35f);
    }
    const auto locked = locked_cell(desk.document.presentation(), shown.trace);
    const std::optional<Cell> cell = desk.state.hovered && desk.state.hovered->stage == shown.stage->key()
                                         ? std::optional(desk.state.hovered->cell)
                                         : locked;
    if (cell && cell->row < layout.rows.count && cell->column < layout.columns.count)
        outline_cell(ui, *list, layout.cell(*cell));
    list->PopClipRect();
}

void value_tooltip(const Ui& ui, const ShownStage& shown, const Cell& cell) {
    const StageInfo& info = *shown.stage->info;
    const float value = shown.at(cell.row, cell.column);
    const std::string row = legible(shown.row_label(cell.row));
    const std::string column = legible(shown.column_label(cell.column));
    const bool of_keys = is_of_keys(info.columns);
    const std::string between = row.empty() || column.empty() ? "" : of_keys ? " → " : " · ";
    const std::string other = is_painted(shown) ? closed_elsewhere(shown, cell) : "";
    const std::string said = !other.empty()                        ? "closed by " + other
                             : shown.closed(cell.row, cell.column) ? std::string(k_closed_by_mask)
                             : is_painted(shown)
                                 ? (value != 0 ? "open" : "closed") + std::string(" — click or drag to paint")
                                 : exact_text(value);
    tooltip(ui, row + between + column + "   " + said);
}

/// "“you” attends most to “to”, 0.856", below a matrix of weights whose row is pointed at or locked.
void row_sentence(const Ui& ui, const ShownStage& shown, const FocusLayout& layout, const Area& area,
                  int row) {
    if (shown.stage->info->role != StageRole::weights || row < 0 || row >= shown.rows()) return;
    const int key = largest_key(shown, row);
    const std::string most = shown.row_fully_masked(row)
                                 ? "attends to nothing: every key is masked"
                                 : fmt::format("attends most to “{}”, {}", legible(shown.column_label(key)),
                                               reading_text(shown.at(row, key)));
    const float y = layout.view().max.y + ui.px(5);
    if (y + ui.px(14) > area.max.y) return;
    draw_text(ImGui::GetWindowDrawList(), ui.fonts.caption, {layout.view().min.x, y}, ink(ui.theme.secondary),
              fmt::format("“{}” {}", legible(shown.row_label(row)), most), Align::left,
              area.max.x - layout.view().min.x);
}

/// The arrows move the locked cell, starting at the first one; Enter edits it if the matrix is custom.
void use_keys(Desk& desk, const Ui& ui, const ShownStage& shown, const FocusLayout& layout,
              const KeyboardUse& keys) {
    const std::optional<Cell> locked = locked_cell(desk.document.presentation(), shown.trace);
    if (keys.steps || keys.steps_down) {
        if (locked)
            walk_cells(desk.document, *shown.stage, *locked, keys.steps_down, keys.steps);
        else
            walk_cells(desk.document, *shown.stage, Cell{}, 0, 0);
        if (const auto moved = locked_cell(desk.document.presentation(), shown.trace))
            show_cell(desk.state.zoom, layout, *moved, 0, 0);
    }
    if (!keys.pressed || !locked) return;
    if (is_painted(shown)) toggle_cell(desk, shown, *locked);
    if (is_typed_into(shown)) begin_cell(desk, ui, shown, *locked);
}

/// Wheel, drag and click on the matrix itself.
void interact_with_matrix(Desk& desk, const Ui& ui, const ShownStage& shown, const FocusLayout& layout) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const Cell cell{layout.rows.at(mouse.y), layout.columns.at(mouse.x)};
    ImGui::SetCursorScreenPos(layout.view().min);
    ImGui::InvisibleButton("matrix",
                           {std::max(1.0f, layout.view().width()), std::max(1.0f, layout.view().height())});
    const bool painting = is_painted(shown) && paint_stroke(desk, shown, layout);
    if (ImGui::IsItemHovered()) {
        desk.state.pointing = PointedCell{shown.stage->key(), shown.head_index(), cell};
        if (ImGui::GetIO().MouseWheel != 0) zoom_by(desk.state.zoom, layout, ImGui::GetIO().MouseWheel);
        if (!ImGui::IsItemActive()) value_tooltip(ui, shown, cell);
        if (is_painted(shown) && ImGui::IsMouseClicked(1)) ImGui::OpenPopup(k_presets_popup);
        if (ImGui::IsMouseDragging(2)) pan(desk.state.zoom, layout);
    }
    if (!painting && ImGui::IsItemActive() && ImGui::IsMouseDragging(0)) pan(desk.state.zoom, layout);
    const bool typed = is_typed_into(shown) && ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0);
    if (typed) begin_cell(desk, ui, shown, cell);
    if (!painting && !typed && ImGui::IsItemDeactivated() && ImGui::IsItemHovered() && was_click())
        toggle_lock(desk, shown, cell);
    if (desk.state.reveal.take("locked")) give_keyboard(ui, ImGui::GetID("matrix"));
    use_keys(desk, ui, shown, layout, grid_keyboard_use(ui, ImGui::GetID("matrix"), layout.view()));
}

/// Keeps which part of the matrix can be seen.
void note_sight(Desk& desk, const FocusLayout& layout) {
    const AxisPlace &rows = layout.rows, &columns = layout.columns;
    const Region seen{rows.first(), columns.first(), rows.last() - rows.first() + 1,
                      columns.last() - columns.first() + 1};
    const bool is_all = seen.rows == rows.count && seen.columns == columns.count;
    desk.state.in_sight = is_all ? std::nullopt : std::optional(seen);
}

/// Shown instead of the matrix where a mean over heads is meaningless.
void no_matrix(Desk& desk, const Ui& ui, const Area& area, const Stage& stage) {
    const float margin = ui.px(is_narrow(ui, area) ? 16 : 24);
    ImGui::SetCursorScreenPos(
        {area.min.x + margin, area.min.y + ui.px(is_low(ui, area) ? k_low_header_height : k_header_height)});
    ImGui::PushStyleColor(ImGuiCol_Text, ink(ui.theme.secondary));
    wrapped_text(why_not_shown(stage, head_on_screen(stage, desk.document.presentation().head)),
                 area.width() - 2 * margin);
    ImGui::PopStyleColor();
}

/// The cell of an operand under the mouse; a click focuses the operand.
void interact_with_operands(Desk& desk, const ShownStage& shown, const FocusLayout& layout) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (!ImGui::IsWindowHovered()) return;
    const auto point = [&](const ShownStage& at, const Area& area, int row, int column) {
        desk.state.pointing = PointedCell{at.stage->key(), at.head_index(), {row, column}};
        if (ImGui::IsMouseReleased(0) && was_click() && area.contains(ImGui::GetIO().MouseClickedPos[0]))
            focus_on(desk, *at.stage);
    };
    const auto index = [](float at, float low, float size, int count) {
        return cell_at((at - low) / size * static_cast<float>(count), count);
    };
    if (layout.left && layout.left_area.contains(mouse) && mouse.y < layout.view().max.y &&
        mouse.y >= layout.view().min.y)
        point(*layout.left, layout.left_area, layout.rows.at(mouse.y),
              index(mouse.x, layout.left_area.min.x, layout.left_area.width(), layout.left->columns()));
    if (layout.above && layout.above_area.contains(mouse) && mouse.x < layout.view().max.x &&
        mouse.x >= layout.view().min.x) {
        const bool transposed = layout.above_transposed;
        const int inner = index(mouse.y, layout.above_area.min.y, layout.above_area.height(),
                                transposed ? layout.above->columns() : layout.above->rows());
        // All hidden units of a key share that key's column.
        const int outer = layout.columns.at(mouse.x) / shown.stage->shape().depth;
        point(*layout.above, layout.above_area, transposed ? outer : inner, transposed ? inner : outer);
    }
}

}  // namespace

void focus(Desk& desk, const Ui& ui, const Area& area, const std::function<void(const Action&)>& run) {
    const Trace& trace = *desk.document.trace();
    const Presentation& presentation = desk.document.presentation();
    const Stage& stage = focused_stage(trace, presentation.stage);
    const auto shown = shown_stage(trace, stage.key(), presentation);
    header(desk, ui, area, trace, stage, shown ? &*shown : nullptr, run);
    desk.state.in_sight.reset();
    if (!shown) return no_matrix(desk, ui, area, stage);
    const bool low = is_low(ui, area), narrow = is_narrow(ui, area);
    const Area body{{area.min.x + ui.px(narrow ? 14 : 24),
                     area.min.y + ui.px(low ? k_low_header_height : k_header_height)},
                    {area.max.x - ui.px(narrow ? 6 : 16), area.max.y - ui.px(low ? 12 : 20)}};
    const auto to_show = std::exchange(desk.state.cell_to_show, std::nullopt);
    if (to_show && to_show->stage == stage.key() && to_show->cell.row < shown->rows() &&
        to_show->cell.column < shown->columns())
        show_cell(desk.state.zoom, lay_out_focus(desk, ui, *shown, body), to_show->cell,
                  ui.px(k_least_shown_cell), ui.px(k_shown_cell));
    const FocusLayout layout = lay_out_focus(desk, ui, *shown, body);
    note_sight(desk, layout);
    if (types_cell(desk, ui))
        ui.controls.focus.drawn.push_back(
            {.id = ImGui::GetID("matrix")});  // so that the keyboard focus returns to it
    else
        interact_with_matrix(desk, ui, *shown, layout);
    interact_with_operands(desk, *shown, layout);

    ImDrawList* list = ImGui::GetWindowDrawList();
    const Highlight lit = current_highlight(desk.state, desk.document.presentation(), &trace);
    const ColorScale scale = screen_scale(desk.document, trace, shown->stage, shown->head);
    operands(desk, ui, layout, *shown->stage->info, lit);
    list->PushClipRect(layout.view().min, layout.view().max, true);
    paint_matrix(desk, ui, *list, *shown, layout.extent());
    cell_values(desk, ui, *shown, layout, scale);
    is_painted(*shown) ? stroke_cells(desk, ui, layout) : end_stroke(desk);
    list->PopClipRect();
    lit_cells(desk, ui, *shown, layout, lit);
    row_labels(ui, *shown, layout, lit_row(lit, *shown->stage->info));
    column_labels(ui, *shown, layout, lit_column(lit, *shown->stage->info));
    color_bar(desk, ui, *shown, layout, scale);
    sampled_rows_line(desk, ui, *shown, layout);
    row_sentence(ui, *shown, layout, area, lit_row(lit, *shown->stage->info));
    if (layout.profile)
        row_profile(ui, *shown, layout, *layout.profile, lit_row(lit, *shown->stage->info), scale);
    presets_popup(desk, ui, *shown, k_presets_popup);
    cell_field(desk, ui, *shown, layout);
}

}  // namespace attnscope
