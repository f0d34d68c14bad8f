#include <algorithm>

#include "app/panels/panels.h"
#include "app/window/widgets.h"
#include "core/text/tokenizer.h"

namespace attnscope {
namespace {

constexpr float k_field_height = 36;
constexpr float k_chip_height = 24;
constexpr float k_chip_gap = 8;
constexpr int k_most_lines = 3;
constexpr float k_low = 560;  ///< units; a window below it has one line of chips

/// One token of the sentence on screen.
struct Chip {
    int token;
    std::string text;
    std::string id;  ///< its row in the table
    float x, width;
    int line;
};

int most_lines(const Ui& ui, float window_height) { return window_height < ui.px(k_low) ? 1 : k_most_lines; }

/// The chips of the newest trace, broken into lines.
std::vector<Chip> lay_out(Ui& ui, float width, int most_lines) {
    std::vector<Chip> chips;
    const Trace* trace = ui.document.trace().get();
    if (!trace) return chips;
    const Stage* tokens = trace->find("tokens");
    float x = 0;
    int line = 0;
    for (int i = 0; i < static_cast<int>(trace->rows.size()); ++i) {
        const std::string text = legible(trace->rows[std::size_t(i)], *ui.fonts.body);
        const std::string id = tokens ? std::to_string(static_cast<int>(tokens->buffer.at(0, i, 0))) : "";
        const float chip = text_width(ui.fonts.body, text) + text_width(ui.fonts.mono_small, id) + ui.px(32);
        // The last line keeps room for what says how many are left out.
        const float room = width - (line + 1 == most_lines ? ui.px(100) : 0);
        if (x > 0 && x + chip > room) {
            x = 0;
            ++line;
        }
        if (line >= most_lines) break;
        chips.push_back({i, text, id, x, chip, line});
        x += chip + ui.px(k_chip_gap);
    }
    return chips;
}

int undo_run(Interaction& state, const std::string& before, const std::string& after) {
    // A new word, and going over from typing to deleting, begin a new undo step.
    const bool longer = after.size() > before.size();
    const bool blank = longer && after.ends_with(' ');
    if (blank || longer != (state.typing_run % 2 == 0)) ++state.typing_run;
    if (longer != (state.typing_run % 2 == 0)) ++state.typing_run;
    return state.typing_run;
}

void sentence_field(Ui& ui, const Area& area, TextField& field) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(area.min, area.max, ink(ui.theme.raised), ui.px(6));
    const Experiment& e = ui.document.experiment();
    const Trace* trace = ui.document.trace().get();
    const std::string facts =
        (trace ? std::to_string(trace->rows.size()) + (trace->rows.size() == 1 ? " token · " : " tokens · ")
               : "") +
        e.tokenizer + " · " + e.vocabulary + " vocabulary";
    // The sentence comes first: what does not leave it most of the field is left out.
    const bool roomy = text_width(ui.fonts.caption, facts) < 0.4f * area.width();
    const float facts_width = roomy ? text_width(ui.fonts.caption, facts) : 0;

    ImGui::SetCursorScreenPos({area.min.x + ui.px(2), area.min.y});
    ImGui::PushFont(ui.fonts.sentence);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                        {ui.px(12), (area.height() - compat::font_size(*ui.fonts.sentence)) / 2});
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0);
    ImGui::PushStyleColor(ImGuiCol_FrameBg, 0);
    if (keyboard_use(ui, ImGui::GetID("sentence"), area).pressed) ui.state.edit_sentence = true;
    if (ui.state.edit_sentence) ImGui::SetKeyboardFocusHere();
    ui.state.edit_sentence = false;
    ImGui::SetNextItemWidth(area.width() - facts_width - ui.px(32));
    std::string text = e.text;
    if (field.draw("##sentence", "Type a sentence", text)) {
        const std::string gesture = "type " + std::to_string(undo_run(ui.state, e.text, text));
        ui.document.change([&](Session& session) { session.experiment.text = text; }, gesture);
    }
    const bool active = ImGui::IsItemActive();
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
    ImGui::PopFont();
    list->AddRect(area.min, area.max, active ? ink(ui.theme.accent) : ink(ui.theme.line), ui.px(6));
    if (roomy)
        draw_text(list, ui.fonts.caption, {area.max.x - ui.px(16), area.min.y + ui.px(12)},
                  ink(ui.theme.faint), facts, Align::right);
}

/// Locks the token's cell of the focused stage: its row, and its column where there is one.
void lock_token(Ui& ui, int token) {
    ui.document.change([&](Session& session) {
        const Stage* stage = ui.document.trace()->find(session.presentation.stage);
        if (!stage || token >= stage->shape().rows) return;
        auto& locked = session.presentation.locked;
        const int column = std::min(ImGui::GetIO().KeyShift && locked ? token
                                    : locked                          ? locked->column
                                                                      : token,
                                    stage->shape().columns - 1);
        if (ImGui::GetIO().KeyShift && locked)
            locked->column = column;
        else if (locked && locked->row == token)
            locked.reset();
        else
            locked = Cell{token, column};
    });
}

void draw_chip(Ui& ui, const Chip& chip, const Area& area, bool lit, bool hovered) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float rounding = area.height() / 2;
    list->AddRectFilled(area.min, area.max, lit ? ink(ui.theme.accent, 0.25f) : ink(ui.theme.raised),
                        rounding);
    list->AddRect(area.min, area.max, ink(lit || hovered ? ui.theme.accent : ui.theme.line), rounding);
    draw_text(list, ui.fonts.body, {area.min.x + ui.px(12), area.min.y + ui.px(4.5f)}, ink(ui.theme.text),
              chip.text);
    draw_text(list, ui.fonts.mono_small, {area.max.x - ui.px(9), area.min.y + ui.px(6)}, ink(ui.theme.faint),
              chip.id, Align::right);
}

void chips(Ui& ui, const Area& area) {
    const Highlight lit = current_highlight(ui.state, ui.document.presentation());
    const int lines = most_lines(ui, ImGui::GetIO().DisplaySize.y);
    const std::vector<Chip> all = lay_out(ui, area.width(), lines);
    for (const Chip& chip : all) {
        const ImVec2 at{area.min.x + chip.x,
                        area.min.y + static_cast<float>(chip.line) * ui.px(k_chip_height + 4)};
        const Area place{at, {at.x + chip.width, at.y + ui.px(k_chip_height)}};
        ImGui::SetCursorScreenPos(at);
        ImGui::PushID(chip.token);
        const bool clicked = ImGui::InvisibleButton("chip", {chip.width, ui.px(k_chip_height)});
        if (keyboard_use(ui, ImGui::GetID("chip"), place).pressed || clicked) lock_token(ui, chip.token);
        const bool hovered = ImGui::IsItemHovered();
        ImGui::PopID();
        if (hovered) ui.state.pointing_token = chip.token;
        draw_chip(ui, chip, place, chip.token == lit.query, hovered || chip.token == lit.key);
    }
    const Trace* trace = ui.document.trace().get();
    if (trace && all.size() < trace->rows.size())
        draw_text(
            ImGui::GetWindowDrawList(), ui.fonts.caption,
            {area.max.x, area.min.y + static_cast<float>(lines - 1) * ui.px(k_chip_height + 4) + ui.px(6)},
            ink(ui.theme.faint), "and " + std::to_string(trace->rows.size() - all.size()) + " more",
            Align::right);
}

}  // namespace

float sentence_panel_height(Ui& ui, float window_width, float window_height) {
    const std::vector<Chip> all = lay_out(ui, window_width - ui.px(32), most_lines(ui, window_height));
    const int lines = all.empty() ? 1 : all.back().line + 1;
    return ui.px(59 + static_cast<float>(lines) * (k_chip_height + 4));
}

void sentence_panel(Ui& ui, const Area& area, TextField& field) {
    const float margin = ui.px(16);
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddLine({area.min.x, area.max.y - 1}, {area.max.x, area.max.y - 1}, ink(ui.theme.line));
    const float top = area.min.y + ui.px(11);
    sentence_field(ui, {{area.min.x + margin, top}, {area.max.x - margin, top + ui.px(k_field_height)}},
                   field);
    chips(ui, {{area.min.x + margin, top + ui.px(k_field_height + 8)}, {area.max.x - margin, area.max.y}});
}

}  // namespace attnscope
