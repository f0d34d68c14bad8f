#include "app/document/inspected.h"

#include <algorithm>
#include <cmath>

#include "core/graph/row_steps.h"
#include "core/mechanism/mechanisms.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {
namespace {

/// −1: the mean.
int shown_head(const Stage& stage, const HeadChoice& chosen) { return head_on_screen(stage, chosen).index(); }

bool has_numbers_of_pairs(const Stage* stage) {
    return stage && stage->part == StageKey::Part::value && stage->info->rows == Axis::query_token &&
           stage->info->columns == Axis::key_token && stage->info->unit != Unit::boolean;
}

Eigen::RowVectorXf row_of(const Stage& stage, int head, int row) {
    return head < 0 ? stage.buffer.mean_row(row) : stage.buffer.row(head, row);
}

/// The numbers in the column of a key, in one head or in the mean over all.
Eigen::RowVectorXf column_of(const Stage& stage, int head, int column) {
    return (head < 0 ? stage.buffer.mean_column(column) : stage.buffer.column(head, column)).transpose();
}

/// The index of the largest finite number; −1 if there is none.
int index_of_largest(const Eigen::RowVectorXf& numbers) {
    int best = -1;
    for (int i = 0; i < numbers.size(); ++i)
        if (std::isfinite(numbers(i)) && (best < 0 || numbers(i) > numbers(best))) best = i;
    return best;
}

std::optional<InspectedCell> held(const Document& document, const Presentation& p) {
    const auto cell = held_cell(p, document.trace().get());
    if (!cell) return std::nullopt;
    return InspectedCell{cell->stage, shown_head(*cell->stage, p.head), cell->cell, cell->slot};
}

std::optional<InspectedCell> pointed_at(const Document& document, const PointedCell& at) {
    const Slot* slot = document.slot(at.slot);
    if (!slot || !slot->trace) return std::nullopt;
    const Stage* stage = slot->trace->find_chosen(at.stage);
    return stage ? std::optional(InspectedCell{stage, at.head, at.cell, at.slot}) : std::nullopt;
}

}  // namespace

std::optional<InspectedCell> cell_of_token(const Trace& trace, const Presentation& presentation,
                                           const PointedToken& token) {
    const Stage* stage = trace.find_chosen(presentation.stage);
    if (!has_numbers_of_pairs(stage))
        stage = last_weights(trace, std::min(presentation.layer(), std::max(1, layers_of(trace))));
    if (!stage) return std::nullopt;
    const int head = shown_head(*stage, presentation.head);
    const Shape& shape = stage->shape();
    if (token.token >= (token.of_keys ? shape.columns : shape.rows)) return std::nullopt;
    if (token.of_keys)
        if (const auto locked = held_cell(presentation, &trace))
            if (const auto cell = same_cell(trace, *locked->stage, locked->cell, *stage))
                return InspectedCell{stage, head, {cell->row, token.token}};
    // In a very long text, a column of weights is known once every row's sum is.
    const OnDemandValues* values = stage->buffer.on_demand();
    if (token.of_keys && values && !values->reads_columns(std::max(head, 0))) return std::nullopt;
    const int other = index_of_largest(token.of_keys ? column_of(*stage, head, token.token)
                                                     : row_of(*stage, head, token.token));
    if (other < 0) return std::nullopt;
    return InspectedCell{stage, head, token.of_keys ? Cell{other, token.token} : Cell{token.token, other}};
}

std::optional<InspectedCell> inspected_cell(const Document& document, const Interaction& state) {
    if (!document.trace()) return std::nullopt;
    const Presentation& p = document.presentation();
    std::optional<InspectedCell> found;
    if (state.hovered_token) found = cell_of_token(*document.trace(), p, *state.hovered_token);
    if (!found) found = held(document, p);
    if (!found && state.hovered) found = pointed_at(document, *state.hovered);
    if (!found) return std::nullopt;
    const Shape& shape = found->stage->shape();
    const bool there =
        found->head < shape.heads && found->cell.row < shape.rows && found->cell.column < shape.columns;
    return there ? found : std::nullopt;
}

}  // namespace attnscope
