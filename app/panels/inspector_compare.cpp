#include "app/panels/inspector_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/ui/widgets.h"
#include "core/graph/explain.h"
#include "core/number_text.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {
namespace {

constexpr float k_value_width = 78;

/// A line of the table: a step of both proofs, or of one.
struct PairedStep {
    std::string label;
    std::optional<double> a, b;
};

/// A label without the numbers at its end: "− row max 13.474" is "− row max".
std::string without_numbers(std::string label) {
    const auto is_number = [](std::string_view word) {
        return std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; });
    };
    while (true) {
        const std::size_t blank = label.rfind(' ');
        if (blank == std::string::npos || !is_number(std::string_view(label).substr(blank + 1))) return label;
        label.erase(blank);
    }
}

/// The sum of the terms, where there are any, and the steps.
std::vector<ProofStep> steps_of(const Proof& proof) {
    std::vector<ProofStep> steps;
    const std::string sum = proof.terms_title.substr(0, proof.terms_title.find(','));
    const bool has_step = !proof.steps.empty() && proof.steps.front().label == sum;
    if (!proof.terms.empty() && !has_step) steps.push_back({sum, proof.terms_result});
    steps.insert(steps.end(), proof.steps.begin(), proof.steps.end());
    return steps;
}

/// Steps with the same label stand on one line; a step that one lacks is its own.
std::vector<PairedStep> paired(const Proof& proof_a, const Proof& proof_b) {
    const std::vector<ProofStep> a = steps_of(proof_a), b = steps_of(proof_b);
    std::vector<PairedStep> steps;
    std::size_t i = 0;
    for (const ProofStep& step : b) {
        const std::string bare = without_numbers(step.label);
        const auto same = [&](const ProofStep& other) { return without_numbers(other.label) == bare; };
        const auto found = std::find_if(a.begin() + static_cast<std::ptrdiff_t>(i), a.end(), same);
        if (found == a.end()) {
            steps.push_back({step.label, std::nullopt, step.value});
            continue;
        }
        for (; a.begin() + static_cast<std::ptrdiff_t>(i) != found; ++i)
            steps.push_back({a[i].label, a[i].value, std::nullopt});
        steps.push_back({found->label == step.label ? step.label : bare, found->value, step.value});
        ++i;
    }
    for (; i < a.size(); ++i) steps.push_back({a[i].label, a[i].value, std::nullopt});
    return steps;
}

void table_line(const Column& c, const std::string& label, const std::string& a, const std::string& b,
                bool strong, bool differ) {
    const float width = c.ui.px(k_value_width), y = c.y();
    const Theme& theme = c.ui.theme;
    draw_text(c.list, strong ? c.ui.fonts.strong : c.ui.fonts.body, {c.left, y + c.ui.px(4)},
              ink(strong ? theme.text : theme.secondary), label, Align::left, c.width() - 2 * width);
    draw_text(c.list, c.ui.fonts.mono, {c.right - width, y + c.ui.px(4)}, ink(theme.text), a, Align::right);
    draw_text(c.list, c.ui.fonts.mono, {c.right, y + c.ui.px(4)},
              ink(differ ? theme.warning : theme.secondary), b, Align::right);
    c.list->AddLine({c.left, y + c.ui.px(26)}, {c.right, y + c.ui.px(26)}, ink(theme.line));
    c.advance(28);
}

std::string text_of(const std::optional<double>& value) { return value ? value_text(*value) : "–"; }

void table(const Column& c, const Proof& a, const Proof& b) {
    const std::vector<PairedStep> steps = paired(a, b);
    for (const PairedStep& step : steps) {
        const bool last = &step == &steps.back();
        table_line(c, step.label, text_of(step.a), text_of(step.b), last, step.a != step.b);
    }
    if (steps.empty())
        table_line(c, "value", value_text(a.value), value_text(b.value), true, a.value != b.value);
}

/// The largest open value of a proof's row but for the cell's own; −1 if there is none.
int rival_of(const Proof& proof, int own) {
    int best = -1;
    for (int i = 0; i < std::ssize(proof.row); ++i) {
        const ProofBar& bar = proof.row[static_cast<std::size_t>(i)];
        if (i == own || bar.closed || !std::isfinite(bar.value)) continue;
        if (best < 0 || bar.value > proof.row[static_cast<std::size_t>(best)].value) best = i;
    }
    return best;
}

std::string head_text(const Stage& stage, int head) {
    if (stage.shape().heads == 1) return "";
    return head < 0 ? ", mean of heads" : fmt::format(", head {}", head + 1);
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
        const HeadChoice head = head_on_screen(stage, side.head);
        return head.kind == HeadChoice::Kind::mean ? -1 : head.head;
    };
    std::optional<Cell> cell;
    const std::optional<PointedCell>& hovered = desk.state.hovered;
    if (hovered && info_of(hovered->stage).name == b->info->name) {
        cell = hovered->cell;
        if (hovered->slot == SlotName::pinned) {
            const auto row = std::ranges::find(difference.rows, cell->row),
                       column = std::ranges::find(difference.columns, cell->column);
            if (row == difference.rows.end() || column == difference.columns.end()) return std::nullopt;
            cell = Cell{static_cast<int>(row - difference.rows.begin()),
                        static_cast<int>(column - difference.columns.begin())};
        }
    } else if (!hovered) {
        cell = locked_cell(document.presentation(), side_b.trace.get());
    }
    if (!cell || cell->row >= b->shape().rows || cell->column >= b->shape().columns) return std::nullopt;
    const int row = difference.rows[static_cast<std::size_t>(cell->row)],
              column = difference.columns[static_cast<std::size_t>(cell->column)];
    if (row < 0 || column < 0) return std::nullopt;
    return ComparedCells{comparison, a, b, head_of(side_a, *a), head_of(side_b, *b), {row, column}, *cell};
}

void compare_proofs(Desk& desk, const Column& c, const ComparedCells& cells) {
    const Trace& trace = *cells.comparison->of.b.trace;
    const auto proofs = [&](const Cell& in_a, const Cell& in_b) {
        return std::pair<const Proof&, const Proof&>(
            desk.document.proof(*cells.stage_a, cells.head_a, in_a, SlotName::pinned),
            desk.document.proof(*cells.stage_b, cells.head_b, in_b, SlotName::live));
    };
    const auto& [a, b] = proofs(cells.a, cells.b);
    std::string kind = stage_heading(*cells.stage_b->info) + " · A and B";
    for (char& letter : kind) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
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
    table_line(c, "", "A" + head_text(*cells.stage_a, cells.head_a),
               "B" + head_text(*cells.stage_b, cells.head_b), false, false);
    table(c, a, b);
    remark(c, a.remark.empty() ? "" : "A: " + a.remark);
    remark(c, b.remark.empty() ? "" : "B: " + b.remark);
    const int rival = cells.stage_b->info->columns == Axis::key_token ? rival_of(b, cells.b.column) : -1;
    const int rival_a =
        rival < 0 ? -1 : cells.comparison->difference->columns[static_cast<std::size_t>(rival)];
    if (rival_a < 0) return;
    const Cell other_a{cells.a.row, rival_a}, other_b{cells.b.row, rival};
    heading(c, "ITS RIVAL: " + name_of(other_b), "");
    const auto& [of_a, of_b] = proofs(other_a, other_b);
    table(c, of_a, of_b);
}

}  // namespace attnscope
