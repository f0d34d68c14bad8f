#include <algorithm>
#include <cmath>

#include "app/panels/panels.h"
#include "app/window/widgets.h"
#include "core/attention/explain.h"
#include "core/attention/stages.h"
#include "core/picture/color_scale.h"
#include "core/picture/number_text.h"

namespace attnscope {
namespace {

constexpr float k_margin = 18;

/// The column that the inspector writes into, from top to bottom.
struct Column {
    Ui& ui;
    ImDrawList* list;
    float left, right;

    float y() const { return ImGui::GetCursorScreenPos().y; }
    void advance(float units) const { ImGui::Dummy({1, ui.px(units)}); }
    float width() const { return right - left; }
};

std::string value_text(double value) {
    const double magnitude = std::abs(value);
    if (!std::isfinite(value) || (magnitude != 0 && (magnitude < 1e-3 || magnitude >= 1e5)))
        return short_text(value);
    return fixed_text(value, magnitude < 10 ? 4 : 3);
}

/// A cell of a stage in one head, or −1 for the mean.
struct Inspected {
    const Stage* stage;
    int head;
    Cell cell;
};

/// The hovered cell, else the locked one of the focused stage.
std::optional<Inspected> inspected(Ui& ui) {
    const Trace* trace = ui.document.trace().get();
    if (!trace) return std::nullopt;
    const Presentation& p = ui.document.presentation();
    const int head = p.head.kind == HeadChoice::Kind::mean ? -1 : p.head.head;
    std::optional<Inspected> found;
    if (ui.state.hovered)
        found = {trace->find(ui.state.hovered->stage), ui.state.hovered->head, ui.state.hovered->cell};
    else if (p.locked)
        found = {trace->find(p.stage), head, *p.locked};
    if (!found || !found->stage) return std::nullopt;
    const Shape& shape = found->stage->shape();
    if (found->cell.row >= shape.rows || found->cell.column >= shape.columns) return std::nullopt;
    return found;
}

void heading(const Column& c, const std::string& title, const std::string& derived) {
    const float y = c.y() + c.ui.px(12);
    draw_text(c.list, c.ui.fonts.section, {c.left, y}, ink(c.ui.theme.secondary), title, Align::left,
              c.width());
    draw_text(c.list, c.ui.fonts.caption, {c.right, y}, ink(c.ui.theme.faint), derived, Align::right);
    c.advance(34);
}

/// A label and a value that can be selected and copied.
void line(const Column& c, const std::string& label, double value, bool rule) {
    const float y = c.y();
    draw_text(c.list, c.ui.fonts.body, {c.left, y + c.ui.px(4)}, ink(c.ui.theme.secondary), label,
              Align::left, c.width() * 0.62f);
    const std::string text = value_text(value);
    ImGui::SetCursorScreenPos({c.right - text_width(c.ui.fonts.mono, text) - c.ui.px(8), y});
    if (ImGui::InvisibleButton(("copy" + label).c_str(),
                               {text_width(c.ui.fonts.mono, text) + c.ui.px(8), c.ui.px(24)}))
        c.ui.copy(exact_text(value));
    tooltip(c.ui, exact_text(value) + " — click to copy");
    const bool hovered = ImGui::IsItemHovered();
    draw_text(c.list, c.ui.fonts.mono, {c.right, y + c.ui.px(4)},
              hovered ? ink(c.ui.theme.accent) : ink(c.ui.theme.text), text, Align::right);
    ImGui::SetCursorScreenPos({c.left, y + c.ui.px(28)});
    if (rule) c.list->AddLine({c.left, y + c.ui.px(26)}, {c.right, y + c.ui.px(26)}, ink(c.ui.theme.line));
}

std::string cell_name(const Trace& trace, const Inspected& at) {
    const std::string row = trace.label(at.stage->info->rows, at.cell.row);
    if (at.stage->info->columns == Axis::single) return row;
    const std::string column = trace.label(at.stage->info->columns, at.cell.column);
    if (row.empty()) return column;
    return row + (at.stage->info->columns == Axis::key_token ? " → " : " · ") + column;
}

void title(const Column& c, const Trace& trace, const Inspected& at, const Proof& proof, Rgb8 color) {
    std::string kind(at.stage->name());
    if (at.stage->shape().heads > 1)
        kind += at.head < 0 ? ", MEAN OF HEADS" : ", HEAD " + std::to_string(at.head + 1);
    for (char& letter : kind) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    heading(c, kind,
            "row " + std::to_string(at.cell.row + 1) + " · column " + std::to_string(at.cell.column + 1));
    const float y = c.y();
    const std::string value = value_text(proof.value);
    const float width =
        draw_text(c.list, c.ui.fonts.mono_large, {c.right, y - c.ui.px(3)}, ink(color), value, Align::right);
    draw_text(c.list, c.ui.fonts.title, {c.left, y - c.ui.px(2)}, ink(c.ui.theme.text),
              legible(cell_name(trace, at), *c.ui.fonts.title), Align::left, c.width() - width - c.ui.px(12));
    c.advance(30);
}

void remark(const Column& c, const std::string& text) {
    if (text.empty()) return;
    ImGui::SetCursorScreenPos({c.left, c.y()});
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + c.width());
    ImGui::PushStyleColor(ImGuiCol_Text, ink(c.ui.theme.secondary));
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopStyleColor();
    ImGui::PopTextWrapPos();
    c.advance(6);
}

/// Bars to the right of a middle line, negative ones to its left, where there are any.
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

/// The rows that are in sight; a row may be far longer than the panel is high.
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

void terms(const Column& c, const Proof& proof) {
    if (proof.terms.empty()) return;
    heading(c, proof.terms_title, "");
    double smallest = 0, largest = 0;
    for (const ProofTerm& term : proof.terms) {
        smallest = std::min(smallest, term.product());
        largest = std::max(largest, term.product());
    }
    const Colormap& map = diverging_colormap();
    const double magnitude = std::max({largest, -smallest, 1e-30});
    const bool by_token = proof.terms.front().label != "1";
    // In a narrow panel the numbers stand closer, so that the bars keep some room.
    const bool narrow = c.width() < c.ui.px(240);
    const float label_width = c.ui.px(by_token ? narrow ? 40 : 52 : narrow ? 14 : 22);
    const float numbers_right = c.left + label_width + c.ui.px(narrow ? 93 : 100);
    const BarScale scale =
        bar_scale(numbers_right + c.ui.px(8), c.right - c.ui.px(narrow ? 46 : 52), smallest, largest);
    clipped(static_cast<int>(proof.terms.size()), c.ui.px(19), [&](int i, float y) {
        const ProofTerm& term = proof.terms[std::size_t(i)];
        draw_text(c.list, c.ui.fonts.mono_small, {c.left, y + c.ui.px(2)}, ink(c.ui.theme.faint), term.label,
                  Align::left, label_width);
        draw_text(c.list, c.ui.fonts.mono_small, {numbers_right, y + c.ui.px(2)}, ink(c.ui.theme.secondary),
                  cell_text(term.left) + " × " + cell_text(term.right), Align::right);
        bar(c, scale, y + c.ui.px(3), c.ui.px(12), term.product(),
            ColorScale{&map, -magnitude, magnitude}.color(term.product()));
        draw_text(c.list, c.ui.fonts.mono_small, {c.right, y + c.ui.px(2)}, ink(c.ui.theme.text),
                  fixed_text(term.product(), 3), Align::right);
    });
    c.list->AddLine({c.left, c.y() + 1}, {c.right, c.y() + 1}, ink(c.ui.theme.line));
    c.advance(3);
    line(c, "sum", proof.terms_result, false);
}

void steps(const Column& c, const Proof& proof) {
    for (const ProofStep& step : proof.steps) line(c, step.label, step.value, true);
}

void row(const Column& c, const Proof& proof, const Inspected& at, const ColorScale& colors) {
    if (proof.row.size() < 2) return;
    heading(c, "ROW “" + proof.row_title + "”", "");
    double smallest = 0, largest = 0;
    for (const ProofBar& each : proof.row)
        if (std::isfinite(each.value)) {
            smallest = std::min<double>(smallest, each.value);
            largest = std::max<double>(largest, each.value);
        }
    const float labels = c.left + c.ui.px(78);
    const BarScale scale = bar_scale(labels + c.ui.px(10), c.right - c.ui.px(64), smallest, largest);
    clipped(static_cast<int>(proof.row.size()), c.ui.px(18), [&](int i, float y) {
        const ProofBar& each = proof.row[std::size_t(i)];
        const bool own = i == at.cell.column;
        draw_text(c.list, own ? c.ui.fonts.strong : c.ui.fonts.body, {labels, y + c.ui.px(1)},
                  ink(own ? c.ui.theme.text : c.ui.theme.secondary),
                  fitted(c.ui.fonts.body, each.label, c.ui.px(78)), Align::right);
        bar(c, scale, y + c.ui.px(3), c.ui.px(12), each.value, colors.color(each.value));
        draw_text(c.list, c.ui.fonts.mono_small, {c.right, y + c.ui.px(2)},
                  ink(each.closed ? c.ui.theme.faint : c.ui.theme.text),
                  each.closed ? "closed" : value_text(each.value), Align::right);
    });
    c.advance(6);
}

void summary(const Column& c, const Proof& proof) {
    if (!proof.summary) return;
    const RowSummary& s = *proof.summary;
    const auto fact = [&](const char* label, const std::string& text) {
        const float y = c.y();
        draw_text(c.list, c.ui.fonts.body, {c.left, y}, ink(c.ui.theme.secondary), label);
        draw_text(c.list, c.ui.fonts.mono, {c.right, y}, ink(c.ui.theme.text), text, Align::right);
        c.advance(21);
    };
    fact("entropy", fixed_text(s.entropy, 3) + " nat");
    fact("effective tokens", fixed_text(s.effective_tokens, 2) + " of " + std::to_string(proof.row.size()));
    fact("row sum", fixed_text(s.sum, 4));
    fact("rank in the row", std::to_string(s.rank) + " of " + std::to_string(proof.row.size()));
    if (s.head_rank) fact("this head's rank", std::to_string(s.head_rank));
}

void nothing_pointed_at(const Column& c) {
    heading(c, "INSPECTOR", "");
    remark(c, "Point at a cell to read off why it has its value. Click to lock it, Esc to unlock.");
}

void proof_of(const Column& c, const Inspected& at) {
    const Trace& trace = *c.ui.document.trace();
    const Proof proof = explain(trace, *at.stage, at.head, at.cell.row, at.cell.column);
    Presentation presentation = c.ui.document.presentation();
    HeadChoice head{HeadChoice::Kind::one, std::max(at.head, 0)};
    if (at.head < 0) head = {HeadChoice::Kind::mean};
    if (at.stage->shape().heads == 1) head = {};
    presentation.range = {};
    const ColorScale colors = color_scale(trace, *at.stage, head, presentation);
    const bool sequential = at.stage->info->unit == Unit::probability;
    title(c, trace, at, proof,
          sequential ? colors.color(std::max<double>(proof.value, colors.max * 0.35)) : c.ui.theme.text);
    remark(c, proof.remark);
    steps(c, proof);
    terms(c, proof);
    row(c, proof, at, colors);
    summary(c, proof);
}

}  // namespace

void inspector_panel(Ui& ui, const Area& area) {
    ImGui::GetWindowDrawList()->AddRectFilled(area.min, area.max, ink(ui.theme.panel));
    ImGui::SetCursorScreenPos(area.min);
    ImGui::BeginChild("inspector", {area.width(), area.height()}, false);
    const Column column{ui, ImGui::GetWindowDrawList(), area.min.x + ui.px(k_margin),
                        area.max.x - ui.px(k_margin)};
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    ImGui::Dummy({1, ui.px(2)});
    if (const auto at = inspected(ui))
        proof_of(column, *at);
    else
        nothing_pointed_at(column);
    ImGui::Dummy({1, ui.px(12)});
    ImGui::PopStyleVar();
    ImGui::EndChild();
}

}  // namespace attnscope
