#include "app/views/compare_scene.h"

#include <algorithm>

#include "app/views/choosing.h"
#include "app/views/matrix_panel.h"

namespace attnscope {

std::optional<ShownStage> shown_of(const ComparedSide& side, const StageKey& key) {
    const Stage* stage = side.find(key);
    if (!stage) return std::nullopt;
    const HeadChoice head = head_on_screen(*stage, side.head);
    if (!why_not_shown(*stage, head).empty()) return std::nullopt;
    return ShownStage{side.trace.get(), side.trace->stage(stage->key()), head};
}

namespace {

/// −1 where the matrix does not have it: the mouse may have been over a larger one in the frame before.
void keep_inside(const std::optional<ShownStage>& shown, int& row, int& column) {
    if (!shown || row >= shown->rows()) row = -1;
    if (!shown || column >= shown->columns()) column = -1;
}

LitCells pointed_cells(const Desk& desk, const CompareScene& scene) {
    LitCells lit;
    const auto from = [&](Cell cell, bool of_a) {
        const auto at = [](const std::vector<int>& same, int i) {
            return i >= 0 && i < std::ssize(same) ? same[static_cast<std::size_t>(i)] : -1;
        };
        if (!scene.difference) {
            (of_a ? lit.row_a : lit.row_b) = cell.row;
            (of_a ? lit.column_a : lit.column_b) = cell.column;
            return;
        }
        if (of_a)
            lit = {cell.row, cell.column, scene.row_in_b(cell.row), scene.column_in_b(cell.column)};
        else
            lit = {at(scene.difference->rows, cell.row), at(scene.difference->columns, cell.column), cell.row,
                   cell.column};
    };
    const std::optional<PointedCell>& hovered = desk.state.hovered;
    if (hovered && &info_of(hovered->stage) == scene.any().stage->info) {
        from(hovered->cell, hovered->slot == SlotName::pinned);
        return lit;
    }
    if (!scene.b) return lit;
    const Highlight highlight = current_highlight(desk.state, desk.document.presentation(), scene.b->trace);
    from({lit_row(highlight, *scene.b->stage->info), lit_column(highlight, *scene.b->stage->info)}, false);
    return lit;
}

}  // namespace

LitCells lit_cells(const Desk& desk, const CompareScene& scene) {
    LitCells lit = pointed_cells(desk, scene);
    keep_inside(scene.a, lit.row_a, lit.column_a);
    keep_inside(scene.b, lit.row_b, lit.column_b);
    return lit;
}

int chosen_row(const CompareScene& scene, const LitCells& lit) {
    if (lit.row_b >= 0) return lit.row_b;
    return scene.difference && scene.difference->facts.at ? scene.difference->facts.at->row : 0;
}

ColorScale shared_scale(const Desk& desk, const CompareScene& scene) {
    const Presentation& presentation = desk.document.presentation();
    std::optional<ColorScale> scale;
    for (const auto* shown : {&scene.a, &scene.b})
        if (*shown) {
            const ColorScale own = scale_of(**shown, presentation);
            scale = scale ? ColorScale{own.map, std::min(scale->min, own.min), std::max(scale->max, own.max),
                                       own.spacing}
                          : own;
        }
    return *scale;
}

}  // namespace attnscope
