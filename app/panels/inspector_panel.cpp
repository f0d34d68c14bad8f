#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "app/document/inspected.h"
#include "app/document/screen_scale.h"
#include "app/panels/inspector_column.h"
#include "app/panels/inspector_compare.h"
#include "app/panels/inspector_heads.h"
#include "app/panels/inspector_links.h"
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
    const float room = width - text_width(font, between);
    // Either name may use the part of its half that the other leaves free.
    const float first = std::max(room / 2, room - text_width(font, column));
    const std::string shown = without_middle(font, row, first);
    return shown + between + without_middle(font, column, room - text_width(font, shown));
}

void title(const Column& c, const Trace& trace, const InspectedCell& at, const Proof& proof, Rgb8 color) {
    std::string kind = stage_heading(at.stage->key());
    if (at.stage->shape().heads > 1)
        kind += at.head < 0 ? ", mean of heads" : fmt::format(", head {}", at.head + 1);
    const std::string place = fmt::format("row {} · column {}", at.cell.row + 1, at.cell.column + 1);
    heading(c, upper(kind), place);
    const std::string value = value_text(proof.value);
    const float room = c.width() - text_width(c.ui.fonts.mono_large, value) - c.ui.px(12);
    // In a narrow panel the value is on its own line.
    const bool two_lines =
        room < c.ui.px(140) && text_width(c.ui.fonts.title, cell_name(c, trace, at, c.width())) > room;
    draw_text(c.list, c.ui.fonts.title, {c.left, c.y() - c.ui.px(2)}, ink(c.ui.theme.text),
              cell_name(c, trace, at, two_lines ? c.width() : room));
    if (two_lines) c.advance(27);
    draw_text(c.list, c.ui.fonts.mono_large, {c.right, c.y() - c.ui.px(3)}, ink(color), value, Align::right);
    c.advance(30);
}

/// Bars to the right of a zero line, and to its left if there are negative values.
struct BarScale {
    float zero;
    float per_unit;
};

BarScale bar_scale(float left, float right, double smallest, double largest) {
    smallest = std::min(smallest, 0.0);
    largest = std::max(largest, 0.0);
    const double span = largest - smallest;
    const float per_unit = span > 0 ? static_cast<float>((right - left) / span) : 0;
    return {left - static_cast<float>(smallest) * per_unit, per_unit};
}

void bar(const Column& c, const BarScale& scale, float y, float height, double value, Rgb8 color) {
    if (!std::isfinite(value)) return;
    const float end = scale.zero + static_cast<float>(value) * scale.per_unit;
    const float left = std::min(end, scale.zero), right = std::max({end, scale.zero, left + 1});
    c.list->AddRectFilled({left, y}, {right, y + height}, ink(color), 1);
}

/// The visible rows; a list may be much longer than the panel is high.
template <typename Row>
void clipped(int count, float pitch, const Row& row) {
    ImGuiListClipper clipper;
    clipper.Begin(count, pitch);
    const float top = ImGui::GetCursorScreenPos().y;
    while (clipper.Step())
        for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
            row(i, top + static_cast<float>(i) * pitch);
    clipper.End();
}

constexpr int k_long = 24;     ///< a longer list begins with its largest
constexpr int k_largest = 10;  ///< of a long list

/// Which entries of a list of `count` are shown, in which order: all, or of a long one the largest by `size`,
/// and `own` (−1: none) if it is not one of these.
template <typename Size>
std::vector<int> shown_entries(int count, bool whole, int own, const Size& size) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    if (whole || count <= k_long) return all;
    const auto larger = [&](int a, int b) { return size(a) != size(b) ? size(a) > size(b) : a < b; };
    std::ranges::partial_sort(all, all.begin() + k_largest, larger);
    all.resize(k_largest);
    if (own >= 0 && std::ranges::find(all, own) == all.end()) all.back() = own;
    return all;
}

/// Below a long list: what its other entries sum up to, and the switch between the largest and all.
void rest_of_list(Desk& desk, const Column& c, const char* id, int count, const std::string& others) {
    if (count <= k_long) return;
    bool& whole = desk.state.whole_row;
    const std::string label = whole ? "Show the largest" : fmt::format("Show all {}", count);
    const float width = text_width(c.ui.fonts.body, label) + c.ui.px(16);
    const float room = c.width() - width - c.ui.px(8);
    if (!whole)
        draw_text(c.list, c.ui.fonts.caption, {c.left, c.y() + c.ui.px(5)}, ink(c.ui.theme.secondary), others,
                  Align::left, room);
    ImGui::SetCursorScreenPos({c.right - width, c.y()});
    if (small_button(c.ui, id, label.c_str(), "", width)) whole = !whole;
    ImGui::SetCursorScreenPos({c.left, ImGui::GetCursorScreenPos().y});
    c.advance(4);
}

constexpr float k_least_bars = 16;       ///< units; narrower bars are unreadable and left out
constexpr std::size_t k_measured = 512;  ///< rows whose texts are measured

std::string factors_text(const ProofTerm& term) {
    return cell_text(term.left) + " × " + cell_text(term.right);
}

/// Decimals that give the largest product three significant digits, at least three.
int decimals_of(const std::vector<ProofTerm>& terms) {
    double largest = 0;
    for (const ProofTerm& term : terms)
        if (std::isfinite(term.product())) largest = std::max(largest, std::abs(term.product()));
    if (largest == 0 || largest >= 0.1) return 3;
    return std::min(9, 2 - static_cast<int>(std::floor(std::log10(largest))));
}

/// Positions of the parts of a term's line; if there is no room, the factors are below it.
struct TermPlaces {
    float label_width, factors_right, bars_left, bars_right;  ///< there are no bars where these are equal
    bool two_lines;
};

TermPlaces places_of(const Column& c, const std::vector<ProofTerm>& terms, bool by_token, int decimals) {
    float factors = 0, products = 0;
    for (std::size_t i = 0; i < std::min(terms.size(), k_measured); ++i) {
        factors = std::max(factors, text_width(c.ui.fonts.mono_small, factors_text(terms[i])));
        products =
            std::max(products, text_width(c.ui.fonts.mono_small, fixed_text(terms[i].product(), decimals)));
    }
    const float gap = c.ui.px(8), liked = c.ui.px(by_token ? 52 : 22), least = c.ui.px(by_token ? 28 : 14);
    const float label =
        std::clamp(c.width() - factors - products - 3 * gap - c.ui.px(k_least_bars), least, liked);
    TermPlaces at{label, c.left + label + gap + factors, 0, 0, false};
    const float left = at.factors_right + gap, right = c.right - products - gap;
    if (right - left >= c.ui.px(k_least_bars)) {
        at.bars_left = left;
        at.bars_right = right;
    } else if (right < at.factors_right) {
        at = {c.width() - products - gap, c.right, 0, 0, true};
    }
    return at;
}

void terms(Desk& desk, const Column& c, const Proof& proof) {
    if (proof.terms.empty()) return;
    // The order of the terms goes below their sum if both do not fit on one line.
    const auto& [sum, order] = proof.terms_title;
    const std::string title = proof.terms_title.text();
    const bool is_cut = !order.empty() && text_width(c.ui.fonts.section, title) > c.width();
    heading(c, is_cut ? sum + "," : title, "");
    if (is_cut) {
        draw_text(c.list, c.ui.fonts.section, {c.left, c.y() - c.ui.px(6)}, ink(c.ui.theme.secondary), order,
                  Align::left, c.width());
        c.advance(16);
    }
    double smallest = 0, largest = 0;
    for (const ProofTerm& term : proof.terms) {
        smallest = std::min(smallest, term.product());
        largest = std::max(largest, term.product());
    }
    const Colormap& map = diverging_colormap();
    const double magnitude = std::max({largest, -smallest, 1e-30});
    const bool by_token = proof.terms.front().label != "1";
    const int decimals = decimals_of(proof.terms);
    const TermPlaces at = places_of(c, proof.terms, by_token, decimals);
    const BarScale scale = bar_scale(at.bars_left, at.bars_right, smallest, largest);
    const auto count = static_cast<int>(proof.terms.size());
    const auto product = [&](int i) { return proof.terms[static_cast<std::size_t>(i)].product(); };
    const std::vector<int> shown = shown_entries(count, desk.state.whole_row, -1, [&](int i) {
        return std::isnan(product(i)) ? INFINITY : std::abs(product(i));
    });
    clipped(static_cast<int>(shown.size()), c.ui.px(at.two_lines ? 34 : 19), [&](int i, float y) {
        const ProofTerm& term = proof.terms[std::size_t(shown[std::size_t(i)])];
        draw_text(c.list, c.ui.fonts.mono_small, {c.left, y + c.ui.px(2)}, ink(c.ui.theme.faint), term.label,
                  Align::left, at.label_width);
        draw_text(c.list, c.ui.fonts.mono_small, {at.factors_right, y + c.ui.px(at.two_lines ? 16 : 2)},
                  ink(c.ui.theme.secondary), factors_text(term), Align::right);
        if (at.bars_right > at.bars_left)
            bar(c, scale, y + c.ui.px(3), c.ui.px(12), term.product(),
                ColorScale{&map, -magnitude, magnitude}.color(term.product()));
        draw_text(c.list, c.ui.fonts.mono_small, {c.right, y + c.ui.px(2)}, ink(c.ui.theme.text),
                  fixed_text(term.product(), decimals), Align::right);
    });
    double others = proof.terms_sum;
    for (const int i : shown) others -= product(i);
    rest_of_list(desk, c, "all terms", count,
                 fmt::format("{} others: {}", count - std::ssize(shown), value_text(others)));
    c.list->AddLine({c.left, c.y() + 1}, {c.right, c.y() + 1}, ink(c.ui.theme.line));
    c.advance(3);
    line(c, "sum", proof.terms_result, false);
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
        for (const ProofStep& step : proof.steps) line(c, step.label, step.value, true);
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

void proof_of(Desk& desk, const Column& c, const InspectedCell& at) {
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
