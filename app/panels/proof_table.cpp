#include "app/panels/proof_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "app/ui/widgets.h"
#include "core/number_text.h"

namespace attnscope {
namespace {

constexpr float k_value_width = 78;

/// A line of the table: a step of both proofs, or of one.
struct PairedStep {
    std::string label, help;
    std::optional<double> a, b;
};

/// A label without the numbers at its end: "− row max 13.474" is "− row max".
std::string without_numbers(std::string label) {
    const auto is_number = [](std::string_view word) {
        return std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; });
    };
    while (true) {
        const std::size_t space = label.rfind(' ');
        if (space == std::string::npos || !is_number(std::string_view(label).substr(space + 1))) return label;
        label.erase(space);
    }
}

/// The sum of the terms, where there are any, and the steps.
std::vector<ProofStep> steps_of(const Proof& proof) {
    std::vector<ProofStep> steps;
    const std::string& sum = proof.terms_title.sum;
    steps.insert(steps.end(), proof.steps.begin(), proof.steps.end());
    if (proof.terms.empty()) return steps;
    // A first step that only names the sum bears its formula.
    if (!steps.empty() && steps.front().label == proof.name_of_sum())
        steps.front().label = sum;
    else if (steps.empty() || steps.front().label != sum)
        steps.insert(steps.begin(), {sum, proof.terms_result, proof.terms_title.help});
    return steps;
}

/// What a line of both means: "A: …" and "B: …" where they differ.
std::string both_helps(const std::string& a, const std::string& b) {
    return a == b ? a : fmt::format("A: {}\nB: {}", a, b);
}

/// "− row max 13.474, 0.528": the label of both, in the order of the columns; `bare` is without numbers.
std::string label_of_both(const std::string& a, const std::string& b, const std::string& bare) {
    if (a == b) return a;
    if (a == bare || b == bare) return bare;
    return fmt::format("{} {}, {}", bare, a.substr(bare.size() + 1), b.substr(bare.size() + 1));
}

bool has_label(const std::vector<ProofStep>& steps, const std::string& bare) {
    return std::ranges::any_of(steps,
                               [&](const ProofStep& step) { return without_numbers(step.label) == bare; });
}

/// Steps with the same label stand on one line; a step that one lacks is its own, those of A before those of
/// B.
std::vector<PairedStep> paired(const Proof& proof_a, const Proof& proof_b) {
    const std::vector<ProofStep> a = steps_of(proof_a), b = steps_of(proof_b);
    std::vector<PairedStep> steps;
    std::size_t i = 0;
    for (const ProofStep& step : b) {
        const std::string bare = without_numbers(step.label);
        const auto same = [&](const ProofStep& other) { return without_numbers(other.label) == bare; };
        const auto found = std::find_if(a.begin() + static_cast<std::ptrdiff_t>(i), a.end(), same);
        if (found == a.end()) {
            for (; i < a.size() && !has_label(b, without_numbers(a[i].label)); ++i)
                steps.push_back({a[i].label, a[i].help, a[i].value, std::nullopt});
            steps.push_back({step.label, step.help, std::nullopt, step.value});
            continue;
        }
        for (; a.begin() + static_cast<std::ptrdiff_t>(i) != found; ++i)
            steps.push_back({a[i].label, a[i].help, a[i].value, std::nullopt});
        steps.push_back({label_of_both(found->label, step.label, bare), both_helps(found->help, step.help),
                         found->value, step.value});
        ++i;
    }
    for (; i < a.size(); ++i) steps.push_back({a[i].label, a[i].help, a[i].value, std::nullopt});
    return steps;
}

/// A number at the right end of its column, which a click copies.
void number(const Column& c, const char* id, float right, const std::optional<double>& value, Rgb8 color) {
    const std::string text = value ? value_text(c, *value) : "–";
    const float width = text_width(c.ui.fonts.mono, text), y = c.y();
    bool hovered = false;
    if (value) {
        ImGui::SetCursorScreenPos({right - width, y});
        if (ImGui::InvisibleButton(id, {std::max(1.0f, width), c.ui.px(24)})) c.ui.copy(exact_text(*value));
        hovered = ImGui::IsItemHovered();
        tooltip(c.ui, exact_text(*value) + " — click to copy");
        ImGui::SetCursorScreenPos({c.left, y});
    }
    draw_text(c.list, c.ui.fonts.mono, {right, y + c.ui.px(4)}, ink(hovered ? c.ui.theme.accent : color),
              text, Align::right);
}

void table_line(const Column& c, const PairedStep& step, bool last, Differs differs) {
    const float width = proof_column_width(c.ui), room = c.width() - 2 * width;
    const Theme& theme = c.ui.theme;
    ImFont* font = last ? c.ui.fonts.strong : c.ui.fonts.body;
    // A label that does not fit beside the numbers stands above them.
    const bool above = text_width(font, step.label) > room;
    const float own = above ? c.width() : room, label = text_width(font, step.label);
    draw_text(c.list, font, {c.left, c.y() + c.ui.px(4)}, ink(last ? theme.text : theme.secondary),
              step.label, Align::left, own);
    const std::string whole =
        label > own ? step.label + (step.help.empty() ? "" : "\n" + step.help) : step.help;
    explain_label(c, whole, c.y(), std::min(label, own));
    if (above) c.advance(17);
    const float y = c.y();
    const bool news = differs == Differs::marked && step.a != step.b;
    number(c, ("first " + step.label).c_str(), c.right - width, step.a, theme.text);
    number(c, ("second " + step.label).c_str(), c.right, step.b, news ? theme.warning : theme.secondary);
    c.list->AddLine({c.left, y + c.ui.px(26)}, {c.right, y + c.ui.px(26)}, ink(theme.line));
    c.advance(28);
}

}  // namespace

float proof_column_width(const Ui& ui) { return ui.px(k_value_width); }

void proof_table_heads(const Column& c, const std::string& first, const std::string& second) {
    const float width = proof_column_width(c.ui), y = c.y() + c.ui.px(4), room = width - c.ui.px(8);
    draw_text(c.list, c.ui.fonts.strong, {c.right - width, y}, ink(c.ui.theme.text),
              fitted(c.ui.fonts.strong, first, room), Align::right);
    draw_text(c.list, c.ui.fonts.body, {c.right, y}, ink(c.ui.theme.secondary),
              fitted(c.ui.fonts.body, second, room), Align::right);
    c.list->AddLine({c.left, c.y() + c.ui.px(26)}, {c.right, c.y() + c.ui.px(26)}, ink(c.ui.theme.line));
    c.advance(28);
}

void proof_table(const Column& c, const Proof& first, const Proof& second, Differs differs) {
    std::vector<PairedStep> steps = paired(first, second);
    if (steps.empty() || !steps.back().a || !steps.back().b)
        steps.push_back({"value", "The number of the cell", first.value, second.value});
    for (const PairedStep& step : steps) table_line(c, step, &step == &steps.back(), differs);
}

void proof_table_line(const Column& c, const ProofTableLine& line, Differs differs) {
    table_line(c, {line.label, line.help, line.first, line.second}, false, differs);
}

int rival_of(const Proof& proof, int own) {
    int best = -1;
    for (int i = 0; i < std::ssize(proof.row); ++i) {
        const ProofBar& bar = proof.row[static_cast<std::size_t>(i)];
        if (i == own || bar.closed || !std::isfinite(bar.value)) continue;
        if (best < 0 || bar.value > proof.row[static_cast<std::size_t>(best)].value) best = i;
    }
    return best;
}

}  // namespace attnscope
