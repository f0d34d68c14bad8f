#include "app/views/compare_matrices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/ui/widgets.h"
#include "app/views/axis_place.h"
#include "app/views/choosing.h"
#include "app/views/matrix_panel.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/picture/head_names.h"

namespace attnscope {
namespace {

constexpr float k_compare_caption = 46;  ///< above each matrix: its name, and formula or range
constexpr float k_panel_gap = 26, k_most_panel_labels = 110;
constexpr float k_largest_compared_cell = 140;

/// A, B and B − A in the order in which they stand.
enum ComparePanel { panel_a, panel_b, panel_difference, k_panels };

/// "head 2: previous word · layer 1", where there are several.
std::string part_text(const Trace& trace, const Presentation& presentation, const HeadChoice& head,
                      int layer) {
    const int heads = trace.experiment.attention.heads, layers = layers_of(trace);
    std::string text;
    if (heads > 1)
        text = head.kind == HeadChoice::Kind::one
                   ? head_title(presentation, heads, layers > 0 ? std::min(layer, layers) : 0,
                                std::min(head.head, heads - 1))
                   : "mean of the heads";
    if (layers > 1) text += (text.empty() ? "" : " · ") + fmt::format("layer {}", std::min(layer, layers));
    return text;
}

/// The places of the three matrices; those that do not exist are empty.
struct ComparePlaces {
    std::array<std::optional<MatrixPlace>, k_panels> panels;
    std::array<float, k_panels> left{};  ///< of each panel with its labels
    float labels_a = 0, labels_b = 0;    ///< widths of the row labels
    float column_labels = 0;             ///< height of upright ones; 0: level
    float top = 0;                       ///< of the matrices
    float bottom = 0;
};

ComparePlaces compare_places(const Desk& desk, const Ui& ui, const CompareScene& scene, const Area& area) {
    const ShownStage& any = scene.any();
    const auto labels = [&](const std::optional<ShownStage>& shown) {
        if (!shown) return 0.0f;
        const float longest = longest_text(ui, shown->rows(), [&](int i) { return shown->row_label(i); });
        return std::min(longest, ui.px(k_most_panel_labels)) + ui.px(10);
    };
    ComparePlaces at;
    at.labels_a = labels(scene.a);
    const bool same_rows = scene.difference && scene.difference->facts.complete;
    at.labels_b = same_rows ? 0 : labels(scene.b);
    const float gap = ui.px(k_panel_gap);
    const float labels_in_all = at.labels_a + at.labels_b * 2;
    const float room = (area.width() - labels_in_all - gap * 2) / 3;
    const int columns = std::max(scene.a ? scene.a->columns() : 1, scene.b ? scene.b->columns() : 1);
    const int rows = std::max(scene.a ? scene.a->rows() : 1, scene.b ? scene.b->rows() : 1);
    const float longest = std::max(
        scene.a ? longest_text(ui, scene.a->columns(), [&](int j) { return scene.a->column_label(j); }) : 0,
        scene.b ? longest_text(ui, scene.b->columns(), [&](int j) { return scene.b->column_label(j); }) : 0);
    const Zoom& zoom = desk.state.zoom;
    float width = std::min(room / static_cast<float>(columns), ui.px(k_largest_compared_cell));
    const bool level = width * static_cast<float>(zoom.factor) >= longest + ui.px(4);
    at.column_labels = level ? ui.px(18) : std::min(longest, ui.px(86)) + ui.px(8);
    at.top = area.min.y + ui.px(k_compare_caption) + at.column_labels;
    float height = std::min((area.max.y - at.top) / static_cast<float>(rows), ui.px(k_largest_compared_cell));
    // Between tokens cells are nearly square; a little wider, so that a number fits.
    if (any.stage->info->columns == Axis::key_token) {
        width = std::min(width, std::max(height * 1.4f, ui.px(40)));
        height = std::min(height, width);
    }
    if (height <= 0 || width <= 0) return at;
    float left = area.min.x;
    const auto add = [&](ComparePanel panel, const ShownStage& shown, float label) {
        at.left[panel] = left + label;
        at.panels[panel] = MatrixPlace{
            place_axis(shown.rows(), height, at.top, at.top + height * static_cast<float>(rows), zoom.factor,
                       zoom.y),
            place_axis(shown.columns(), width, left + label, left + label + room, zoom.factor, zoom.x)};
        at.bottom = std::max(at.bottom, at.panels[panel]->rows.view_max);
        // The panels stand close to each other, and wide captions have their room.
        left += label +
                std::max(at.panels[panel]->columns.view_max - at.panels[panel]->columns.view_min,
                         std::min(room, ui.px(230))) +
                gap;
    };
    if (scene.a) add(panel_a, *scene.a, at.labels_a);
    if (scene.b) add(panel_b, *scene.b, scene.a ? at.labels_b : labels(scene.b));
    if (scene.difference) add(panel_difference, *scene.b, at.labels_b);
    return at;
}

/// Wheel, drag, hover and click on one of the three; hovering or locking a cell does so in the other two.
void interact(Desk& desk, const Ui& ui, const CompareScene& scene, ComparePanel panel,
              const MatrixPlace& place) {
    const ShownStage& shown = panel == panel_a ? *scene.a : *scene.b;
    const Area view = place.view();
    ImGui::SetCursorScreenPos(view.min);
    constexpr std::array k_ids = {"compare a", "compare b", "compare difference"};
    ImGui::InvisibleButton(k_ids[panel], {std::max(1.0f, view.width()), std::max(1.0f, view.height())});
    if (ImGui::IsItemActive() && ImGui::IsMouseDragging(0)) pan(desk.state.zoom, place);
    if (!ImGui::IsItemHovered()) return;
    const Cell cell = place.at(ImGui::GetIO().MousePos);
    if (ImGui::GetIO().MouseWheel != 0) zoom_by(desk.state.zoom, place, ImGui::GetIO().MouseWheel);
    desk.state.pointing = PointedCell{shown.stage->key(), shown.head_index(), cell,
                                      panel == panel_a ? SlotName::pinned : SlotName::live};
    const std::string row = legible(shown.row_label(cell.row)),
                      column = legible(shown.column_label(cell.column));
    const std::string between = row.empty() || column.empty()                   ? ""
                                : shown.stage->info->columns == Axis::key_token ? " → "
                                                                                : " · ";
    std::string text = row + between + column;
    const auto add = [&](const char* name, const std::optional<ShownStage>& side, int i, int j) {
        if (!side || i < 0 || j < 0) return;
        text += fmt::format("\n{}  {}", name,
                            side->closed(i, j) ? std::string(k_closed_by_mask) : exact_text(side->at(i, j)));
    };
    const LitCells lit = lit_cells(desk, scene);
    add("A", scene.a, lit.row_a, lit.column_a);
    add("B", scene.b, lit.row_b, lit.column_b);
    if (scene.difference && lit.row_b >= 0 && lit.column_b >= 0) {
        const bool open = scene.difference->open->at(0, lit.row_b, lit.column_b) != 0;
        text += open ? "\nB − A  " + exact_text(scene.difference->values->at(0, lit.row_b, lit.column_b))
                     : std::string("\nnot compared");
    }
    if (!ImGui::IsItemActive()) tooltip(ui, text);
    if (!ImGui::IsMouseReleased(0) || !was_click()) return;
    if (scene.b && lit.row_b >= 0 && lit.column_b >= 0)
        toggle_lock(desk, *scene.b, {lit.row_b, lit.column_b});
}

/// What stands above a matrix: its side, formula, head and range.
void caption_of(const Desk& desk, const Ui& ui, const CompareScene& scene, ComparePanel panel, ImVec2 at,
                float width, const ColorScale& scale) {
    if (panel == panel_difference)
        return panel_caption(ui, at.x, at.y, width, "B − A",
                             scene.difference->facts.differs() ? "" : "no cell differs",
                             "range " + range_words(scale));
    const bool of_a = panel == panel_a;
    const ShownStage& shown = of_a ? *scene.a : *scene.b;
    const ComparedSide& side = of_a ? scene.comparison->of.a : scene.comparison->of.b;
    const std::string part = part_text(*side.trace, desk.document.presentation(), side.head, side.layer);
    panel_caption(ui, at.x, at.y, width, of_a ? "A" : "B",
                  formula_shown(*shown.trace, *shown.stage, shown.head),
                  (!of_a                                    ? "live"
                   : desk.document.session().pinned->on_cpu ? "pinned, on the CPU"
                                                            : "pinned") +
                      (part.empty() ? "" : ", " + part) + "  ·  range " + range_words(scale));
}

}  // namespace

float compare_matrices(Desk& desk, const Ui& ui, const CompareScene& scene, const Area& area) {
    const ComparePlaces at = compare_places(desk, ui, scene, area);
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ColorScale scale = shared_scale(desk, scene);
    const LitCells lit = lit_cells(desk, scene);
    const auto locked = locked_cell(desk.document.presentation(), scene.any().trace);
    const auto outlines = [&](const MatrixPlace& place, int row, int column) {
        const Area view = place.view();
        list->PushClipRect({view.min.x - 3, view.min.y - 3}, {view.max.x + 3, view.max.y + 3}, true);
        outline_row(ui, *list, place.whole(), row, place.rows.count);
        outline_column(ui, *list, place.whole(), column, place.columns.count, 0.35f);
        const bool is_cell =
            row >= 0 && column >= 0 && row < place.rows.count && column < place.columns.count;
        if (is_cell && (locked || desk.state.hovered)) outline_cell(ui, *list, place.cell({row, column}));
        list->PopClipRect();
    };
    for (const ComparePanel panel : {panel_a, panel_b, panel_difference}) {
        if (!at.panels[panel]) continue;
        const MatrixPlace& place = *at.panels[panel];
        interact(desk, ui, scene, panel, place);
        const bool of_a = panel == panel_a;
        const ShownStage& shown = of_a ? *scene.a : *scene.b;
        const int row = of_a ? lit.row_a : lit.row_b, column = of_a ? lit.column_a : lit.column_b;
        const Area view = place.view();
        const ColorScale own = panel == panel_difference ? difference_scale(*scene.difference) : scale;
        list->PushClipRect(view.min, view.max, true);
        if (panel == panel_difference) {
            paint_difference(desk, ui, *list, scene.difference, place.whole(), own);
            cell_numbers(desk, ui, place, own, true, [&](int i, int j) -> std::optional<float> {
                if (scene.difference->open->at(0, i, j) == 0) return std::nullopt;
                return scene.difference->values->at(0, i, j);
            });
        } else {
            paint_matrix(desk, ui, *list, shown, place.whole(), own);
            if (shown.stage->info->unit != Unit::boolean)
                cell_numbers(desk, ui, place, own, false, [&](int i, int j) -> std::optional<float> {
                    if (shown.closed(i, j)) return std::nullopt;
                    return shown.at(i, j);
                });
        }
        list->PopClipRect();
        outlines(place, row, column);
        const float label = of_a ? at.labels_a : at.labels_b;
        matrix_labels(ui, shown, place, label > 0, label, row, column, at.column_labels);
        const float next = panel < panel_difference && at.panels[panel + 1]
                               ? at.left[panel + 1] - at.labels_b - ui.px(12)
                               : area.max.x;
        caption_of(desk, ui, scene, panel, {view.min.x, area.min.y}, next - view.min.x, own);
    }
    return at.bottom;
}

}  // namespace attnscope
