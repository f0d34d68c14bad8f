#include "app/panels/inspector_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/document/inspected.h"
#include "app/panels/inspector_terms.h"
#include "app/panels/proof_table.h"
#include "app/ui/widgets.h"
#include "core/graph/explain.h"
#include "core/graph/row_steps.h"
#include "core/number_text.h"
#include "core/picture/shown_matrix.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

std::string head_text(const Stage& stage, int head) {
    if (stage.shape().heads == 1) return "";
    return head < 0 ? ", mean of heads" : fmt::format(", head {}", head + 1);
}

/// How far apart the scores are that lead to what is compared, over all pairs: what a scale changes.
void deviations_of_scores(const Column& c, const ComparedCells& cells) {
    using enum StageRole;
    const StageRole role = cells.stage_b->info->role;
    const bool is_of_chain = role == scores || role == masked_scores || role == weights;
    if (!is_of_chain || cells.stage_b->part != StageKey::Part::value) return;
    bool begun = false;
    for (const StageComparison& each : cells.comparison->stages) {
        const bool is_score = each.key.stage->role == scores && each.key.part == StageKey::Part::value;
        if (!is_score || !why_not_compared(each).empty()) continue;
        if (!begun)
            heading(c, "STANDARD DEVIATION", each.complete ? "over all pairs" : "over the pairs of both");
        begun = true;
        const Deviation &a = each.deviation_a, &b = each.deviation_b;
        if (a.of_terms && b.of_terms)
            proof_table_line(
                c,
                {"one product",
                 "A term of the sum that a score is: one feature of a query times the same feature of a key",
                 *a.of_terms, *b.of_terms},
                Differs::marked);
        proof_table_line(
            c, {stage_heading(each.key), "The spread of the scores at this stage", a.of_cells, b.of_cells},
            Differs::marked);
    }
}

}  // namespace

std::optional<ComparedCells> compared_cells(const Desk& desk) {
    const Document& document = desk.document;
    const std::shared_ptr<const Comparison>& comparison = document.comparison();
    if (document.presentation().view != ViewKind::compare || !comparison || !comparison->difference)
        return std::nullopt;
    const auto& [side_a, side_b, key] = comparison->of;
    // Proofs are of the newest traces.
    if (document.trace() != side_b.trace || document.slot(SlotName::pinned)->trace != side_a.trace)
        return std::nullopt;
    const Stage *a = side_a.find(key), *b = side_b.find(key);
    const Difference& difference = *comparison->difference;
    const auto head_of = [](const ComparedSide& side, const Stage& stage) {
        return head_on_screen(stage, side.head).index();
    };
    std::optional<Cell> cell = locked_cell(document.presentation(), side_b.trace.get());
    if (const auto& chip = desk.state.hovered_token)
        if (const auto of = cell_of_token(*side_b.trace, document.presentation(), *chip);
            of && of->stage == b)
            cell = of->cell;
    const std::optional<PointedCell>& hovered = desk.state.hovered;
    if (!cell && hovered && &info_of(hovered->stage) == b->info) {
        cell = hovered->cell;
        if (hovered->slot == SlotName::pinned) {
            const auto row = std::ranges::find(difference.rows, cell->row),
                       column = std::ranges::find(difference.columns, cell->column);
            if (row == difference.rows.end() || column == difference.columns.end()) return std::nullopt;
            cell = Cell{static_cast<int>(row - difference.rows.begin()),
                        static_cast<int>(column - difference.columns.begin())};
        }
    }
    if (!cell || cell->row >= b->shape().rows || cell->column >= b->shape().columns) return std::nullopt;
    const int row = difference.rows[static_cast<std::size_t>(cell->row)],
              column = difference.columns[static_cast<std::size_t>(cell->column)];
    if (row < 0 || column < 0) return std::nullopt;
    return ComparedCells{comparison, a, b, head_of(side_a, *a), head_of(side_b, *b), {row, column}, *cell};
}

void compare_proofs(Desk& desk, Column c, const ComparedCells& cells) {
    c.of_weights = is_of_weights(*cells.stage_b);
    const Trace& trace = *cells.comparison->of.b.trace;
    const auto proofs = [&](const Cell& in_a, const Cell& in_b) {
        return std::pair<const Proof&, const Proof&>(
            desk.document.proof(*cells.stage_a, cells.head_a, in_a, SlotName::pinned),
            desk.document.proof(*cells.stage_b, cells.head_b, in_b, SlotName::live));
    };
    const auto& [a, b] = proofs(cells.a, cells.b);
    const std::string kind = upper(stage_heading(*cells.stage_b->info) + " · A and B");
    heading(c, kind, fmt::format("row {} · column {}", cells.b.row + 1, cells.b.column + 1));
    const auto name_of = [&](const Cell& cell) {
        const std::string row = legible(trace.row_label(*cells.stage_b, cell.row));
        const std::string column =
            legible(trace.column_label(*cells.stage_b, cell.column, std::max(0, cells.head_b)));
        const bool of_keys = cells.stage_b->info->columns == Axis::key_token;
        return row + (row.empty() || column.empty() ? "" : of_keys ? " → " : " · ") + column;
    };
    draw_text(c.list, c.ui.fonts.title, {c.left, c.y() - c.ui.px(2)}, ink(c.ui.theme.text), name_of(cells.b),
              Align::left, c.width());
    c.advance(32);
    proof_table_heads(c, "A" + head_text(*cells.stage_a, cells.head_a),
                      "B" + head_text(*cells.stage_b, cells.head_b));
    proof_table(c, a, b, Differs::marked);
    const auto outcome = [&](const Cell& in_a, const Cell& in_b) {
        const auto of_a = weight_of_score(*cells.comparison->of.a.trace, *cells.stage_a, cells.head_a,
                                          in_a.row, in_a.column),
                   of_b = weight_of_score(trace, *cells.stage_b, cells.head_b, in_b.row, in_b.column);
        Column of_weights = c;
        of_weights.of_weights = true;
        if (of_a && of_b)
            proof_table_line(of_weights,
                             {"becomes weight", "The weight that this score becomes", *of_a, *of_b},
                             Differs::marked);
    };
    outcome(cells.a, cells.b);
    remark(c, a.remark.empty() ? "" : "A: " + a.remark);
    remark(c, b.remark.empty() ? "" : "B: " + b.remark);
    const int rival = cells.stage_b->info->columns == Axis::key_token ? rival_of(b, cells.b.column) : -1;
    const int rival_a =
        rival < 0 ? -1 : cells.comparison->difference->columns[static_cast<std::size_t>(rival)];
    if (rival_a >= 0) {
        const Cell other_a{cells.a.row, rival_a}, other_b{cells.b.row, rival};
        heading(c, "LARGEST OTHER IN B: " + name_of(other_b), "");
        const auto& [of_a, of_b] = proofs(other_a, other_b);
        proof_table(c, of_a, of_b, Differs::marked);
        outcome(other_a, other_b);
    }
    const auto& [terms_a, terms_b] = proofs(cells.a, cells.b);
    terms_of_both(desk, c, terms_a, terms_b);
    deviations_of_scores(c, cells);
}

}  // namespace attnscope
