#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/document/inspected.h"
#include "app/document/screen_scale.h"
#include "app/panels/inspector_column.h"
#include "app/panels/inspector_compare.h"
#include "app/panels/inspector_heads.h"
#include "app/panels/inspector_links.h"
#include "app/panels/inspector_list.h"
#include "app/panels/inspector_terms.h"
#include "app/panels/panels.h"
#include "app/panels/proof_table.h"
#include "app/ui/widgets.h"
#include "core/graph/explain.h"
#include "core/graph/trace.h"
#include "core/number_text.h"
#include "core/picture/color_scale.h"
#include "core/picture/shown_matrix.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

constexpr float k_margin = 18;

/// "query → key", both shortened in the middle if they do not fit.
std::string cell_name(const Column& c, const Trace& trace, const InspectedCell& at, float width) {
    ImFont* font = c.ui.fonts.title;
    const std::string row = legible(trace.row_label(*at.stage, at.cell.row));
    if (at.stage->info->columns == Axis::single) return without_middle(font, row, width);
    const std::string column = legible(trace.column_label(*at.stage, at.cell.column, at.head));
    if (row.empty()) return without_middle(font, column, width);
    const std::string between = at.stage->info->columns == Axis::key_token ? " → " : " · ";
    return two_names(font, row, between, column, width);
}

void title(const Column& c, const Trace& trace, const InspectedCell& at, const Proof& proof, Rgb8 color) {
    std::string kind = stage_heading(at.stage->key());
    if (at.stage->shape().heads > 1)
        kind += at.head < 0 ? ", mean of heads" : fmt::format(", head {}", at.head + 1);
    const std::string place = fmt::format("row {} · column {}", at.cell.row + 1, at.cell.column + 1);
    heading(c, upper(kind), place);
    const std::string value = value_text(c, proof.value);
    const float room = c.width() - text_width(c.ui.fonts.mono_large, value) - c.ui.px(12);
    // In a narrow panel the value is on its own line.
    const bool two_lines =
        room < c.ui.px(140) && text_width(c.ui.fonts.title, cell_name(c, trace, at, c.width())) > room;
    draw_text(c.list, c.ui.fonts.title, {c.left, c.y() - c.ui.px(2)}, ink(c.ui.theme.text),
              cell_name(c, trace, at, two_lines ? c.width() : room));
    if (two_lines) c.advance(27);
    explain_label(c, exact_text(proof.value), c.y(), c.width(), 27);
    draw_text(c.list, c.ui.fonts.mono_large, {c.right, c.y() - c.ui.px(3)}, ink(color), value, Align::right);
    c.advance(30);
}

/// The steps of the proof; of a key, beside those of its rival: the key with the largest number but for it.
void steps(Desk& desk, const Column& c, const Trace& trace, const InspectedCell& at, const Proof& proof) {
    const bool of_keys = at.stage->info->columns == Axis::key_token &&
                         at.stage->info->unit != Unit::boolean && at.stage->part == StageKey::Part::value &&
                         at.head >= 0;
    const int rival = of_keys && !proof.row.empty() && !proof.row[std::size_t(at.cell.column)].closed
                          ? rival_of(proof, at.cell.column)
                          : -1;
    if (rival < 0) {
        for (const ProofStep& step : proof.steps) line(c, step, true);
        return;
    }
    const auto key = [&](int column) { return legible(trace.column_label(*at.stage, column, at.head)); };
    proof_table_heads(c, key(at.cell.column), key(rival));
    proof_table(c, proof, desk.document.proof(*at.stage, at.head, {at.cell.row, rival}, at.slot),
                Differs::plain);
}

/// A number that rounds to 0 is said to be small: its digits are of no use beside a bar.
std::string bar_text(const ProofBar& each) {
    if (each.closed) return "closed";
    const bool small = each.value != 0 && std::abs(each.value) < 0.001f;
    return !small ? value_text(each.value) : each.value > 0 ? "< 0.001" : "> -0.001";
}

void row(Desk& desk, const Column& c, const Proof& proof, const InspectedCell& at, const ColorScale& colors) {
    if (proof.row.size() < 2) return;
    const auto count = static_cast<int>(proof.row.size());
    const std::vector<int> shown = shown_entries(count, desk.state.whole_row, at.cell.column, [&](int i) {
        const ProofBar& each = proof.row[static_cast<std::size_t>(i)];
        return each.closed ? -INFINITY : std::isnan(each.value) ? INFINITY : double{each.value};
    });
    const bool is_short = std::ssize(shown) < count;
    heading(c, "ROW “" + legible(proof.row_title) + "”",
            is_short ? fmt::format("largest {} of {}", shown.size(), count) : "");
    // Weights are bars of 0 … 1, so that the same weight is as long in every row.
    double smallest = 0, largest = at.stage->info->unit == Unit::probability ? 1 : 0;
    for (const ProofBar& each : proof.row)
        if (std::isfinite(each.value)) {
            smallest = std::min<double>(smallest, each.value);
            largest = std::max<double>(largest, each.value);
        }
    float values = 0;
    for (std::size_t i = 0; i < std::min(shown.size(), k_measured); ++i)
        values = std::max(values, text_width(c.ui.fonts.mono_small,
                                             bar_text(proof.row[static_cast<std::size_t>(shown[i])])));
    const float gap = c.ui.px(10), left = c.width() - c.ui.px(78) - values - 2 * gap;
    const bool bars = left >= c.ui.px(k_least_bars);
    const float label_width = bars ? c.ui.px(78) : c.width() - values - gap;
    const float labels = c.left + label_width;
    const BarScale scale = bar_scale(labels + gap, c.right - values - gap, smallest, largest);
    clipped(static_cast<int>(shown.size()), c.ui.px(18), [&](int i, float y) {
        const ProofBar& each = proof.row[std::size_t(shown[std::size_t(i)])];
        const bool own = shown[std::size_t(i)] == at.cell.column;
        draw_text(c.list, own ? c.ui.fonts.strong : c.ui.fonts.body, {labels, y + c.ui.px(1)},
                  ink(own ? c.ui.theme.text : c.ui.theme.secondary), legible(each.label), Align::right,
                  label_width);
        if (bars) bar(c, scale, y + c.ui.px(3), c.ui.px(12), each.value, colors.color(each.value));
        explain_label(c, fmt::format("{}   {}", each.label, each.closed ? "closed" : exact_text(each.value)),
                      y, c.width(), 18);
        draw_text(c.list, c.ui.fonts.mono_small, {c.right, y + c.ui.px(2)},
                  ink(each.closed ? c.ui.theme.faint : c.ui.theme.text), bar_text(each), Align::right);
    });
    double others = 0;
    for (const ProofBar& each : proof.row)
        if (!each.closed) others += each.value;
    for (const int i : shown)
        if (const ProofBar& each = proof.row[std::size_t(i)]; !each.closed) others -= each.value;
    const bool sums = at.stage->info->unit == Unit::probability;
    rest_of_list(desk, c, "all of the row", count,
                 fmt::format("{} others{}", count - std::ssize(shown),
                             sums ? ": " + reading_text(std::max(0.0, others)) : ""));
    c.advance(6);
}

/// A statistic of the row: its name, what it is, and its value.
void fact(const Column& c, const char* label, const std::string& help, const std::string& text) {
    put_beside(c, label, text_width(c.ui.fonts.mono, text), 0);
    draw_text(c.list, c.ui.fonts.mono, {c.right, c.y()}, ink(c.ui.theme.text), text, Align::right);
    ImGui::SetCursorScreenPos({c.left, c.y()});
    ImGui::InvisibleButton(label, {c.width(), c.ui.px(21)});
    tooltip(c.ui, help);
}

void summary(const Column& c, const Proof& proof, const InspectedCell& at) {
    if (!proof.summary) return;
    const RowSummary& s = *proof.summary;
    const auto keys = static_cast<int>(proof.row.size());
    heading(c, "STATISTICS", "");
    fact(c, "entropy",
         fmt::format("−Σ p ln p over the row's shares p = w ÷ Σ w: 0 if one key has all the weight, ln {} = "
                     "{} if all {} have the "
                     "same weight",
                     keys, fixed_text(std::log(keys), 3), keys),
         fixed_text(s.entropy, 3) + " nat");
    fact(c, "effective tokens",
         "exp(entropy): the number of equally weighted keys that would have this entropy",
         fmt::format("{} of {}", fixed_text(s.effective_tokens, 2), keys));
    fact(c, "row sum",
         "Σ w over the row: 1 after a softmax over the keys, unless dropout or a window follows",
         fixed_text(s.sum, 4));
    if (!s.rank) return;
    fact(c, "rank in the row", "The place of this weight among those of the row: 1 is the largest",
         fmt::format("{} of {}", s.rank, keys));
    if (s.head_rank)
        fact(c, "rank among heads",
             "The place of this head's weight among those of all heads for this cell: 1 is the largest",
             fmt::format("{} of {}", s.head_rank, at.stage->shape().heads));
}

/// "C(you) = 0.856 V(to) + 0.140 V(translate)", the second reading of a sum of weighted rows.
void mixture(const Column& c, const Trace& trace, const InspectedCell& at, const Proof& proof) {
    if (proof.mixture.empty()) return;
    heading(c, "THE WHOLE ROW", "");
    remark(c, fmt::format("{}({}) = {}", at.stage->info->symbol,
                          legible(trace.row_label(*at.stage, at.cell.row)), proof.mixture));
}

/// The cell at the steps of the run's film, as a line from the first to the last.
void since_step_0(Desk& desk, const Column& c, const InspectedCell& at) {
    if (!desk.document.is_of_run() || at.slot != SlotName::live || at.stage->part == StageKey::Part::gradient)
        return;
    struct Point {
        int step;
        double value;
    };
    std::vector<Point> points;
    for (const FilmFrame& frame : desk.document.training().film) {
        const Stage* stage = frame.trace->find(at.stage->key());
        if (!stage || stage->shape() != at.stage->shape() || at.head < 0) return;
        points.push_back({frame.step, stage->buffer.at(at.head, at.cell.row, at.cell.column)});
    }
    const auto [least, most] = std::ranges::minmax_element(points, {}, &Point::value);
    if (points.size() < 3 || !std::isfinite(least->value) || !std::isfinite(most->value)) return;
    const bool is_probability = at.stage->info->unit == Unit::probability;
    const double low = is_probability ? 0 : least->value, high = is_probability ? 1 : most->value;
    heading(c, "SINCE STEP 0", fmt::format("step {}", points.back().step));
    constexpr float k_height = 64;
    const Area plot{{c.left, c.y()}, {c.right, c.y() + c.ui.px(k_height)}};
    c.list->AddRect(plot.min, plot.max, ink(c.ui.theme.line), c.ui.px(3));
    std::vector<ImVec2> line;
    for (const Point& point : points) {
        const double x = static_cast<double>(point.step) / points.back().step;
        const double y = high > low ? (point.value - low) / (high - low) : 0.5;
        line.emplace_back(plot.min.x + c.ui.px(6) + static_cast<float>(x) * (plot.width() - c.ui.px(12)),
                          plot.max.y - c.ui.px(6) - static_cast<float>(y) * (plot.height() - c.ui.px(12)));
    }
    c.list->AddPolyline(line.data(), static_cast<int>(line.size()), ink(c.ui.theme.accent), 0, c.ui.px(1.6f));
    for (const ImVec2& point : line) c.list->AddCircleFilled(point, c.ui.px(2.5f), ink(c.ui.theme.accent));
    c.advance(k_height + 4);
    draw_text(c.list, c.ui.fonts.mono_small, {c.left, c.y()}, ink(c.ui.theme.secondary),
              value_text(points.front().value));
    draw_text(c.list, c.ui.fonts.mono_small, {c.right, c.y()}, ink(c.ui.theme.secondary),
              value_text(points.back().value), Align::right);
    c.advance(20);
}

void nothing_pointed_at(Desk& desk, const Column& c) {
    heading(c, "INSPECTOR", "");
    remark(c, "Point at a cell to see why it has its value. Click to lock it, Esc to unlock.");
    if (desk.document.trace()) strongest_links_list(desk, c);
}

void proof_of(Desk& desk, Column c, const InspectedCell& at) {
    c.of_weights = is_of_weights(*at.stage);
    const Trace& trace = *desk.document.slot(at.slot)->trace;
    HeadChoice head{HeadChoice::Kind::one, std::max(at.head, 0)};
    if (at.head < 0) head = {HeadChoice::Kind::mean};
    if (at.stage->shape().heads == 1) head = {};
    if (const std::string why = why_not_shown(*at.stage, head); !why.empty()) {
        heading(c, "INSPECTOR", "");
        return remark(c, why);
    }
    const Proof& proof = desk.document.proof(*at.stage, at.head, at.cell, at.slot);
    Presentation presentation = desk.document.presentation();
    presentation.range = {};
    const ColorScale colors = at.stage->buffer.on_demand()
                                  ? screen_scale(desk.document, trace, trace.stage(at.stage->key()), head)
                                  : color_scale(trace, *at.stage, head, presentation);
    const bool sequential = at.stage->info->unit == Unit::probability;
    const Theme& theme = c.ui.theme;
    title(c, trace, at, proof,
          sequential ? legible_color(colors.color(proof.value), theme.panel, theme.text) : theme.text);
    remark(c, proof.remark);
    steps(desk, c, trace, at, proof);
    since_step_0(desk, c, at);
    mixture(c, trace, at, proof);
    summary(c, proof, at);
    cell_in_every_head(desk, c, at, colors);
    // A long row comes before what its one cell is the sum of.
    const bool row_first = at.stage->info->columns == Axis::key_token;
    if (row_first) row(desk, c, proof, at, colors);
    terms(desk, c, proof);
    if (!row_first) row(desk, c, proof, at, colors);
}

}  // namespace

void inspector_panel(Desk& desk, const Ui& ui, const Area& area) {
    ImGui::GetWindowDrawList()->AddRectFilled(area.min, area.max, ink(ui.theme.panel));
    ImGui::SetCursorScreenPos(area.min);
    ImGui::BeginChild("inspector", {area.width(), area.height()}, false);
    const Column column{ui, ImGui::GetWindowDrawList(), area.min.x + ui.px(k_margin),
                        area.max.x - ui.px(k_margin)};
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    ImGui::Dummy({1, ui.px(2)});
    if (const auto pair = compared_cells(desk))
        compare_proofs(desk, column, *pair);
    else if (const auto at = inspected_cell(desk.document, desk.state))
        proof_of(desk, column, *at);
    else
        nothing_pointed_at(desk, column);
    ImGui::Dummy({1, ui.px(12)});
    ImGui::PopStyleVar();
    ImGui::EndChild();
}

}  // namespace attnscope
