// The steps that undo and redo go through: a list of what each changed, and a slider.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "app/panels/dialog_parts.h"

namespace attnscope {
namespace {

constexpr float k_history_width = 400, k_step_height = 24, k_step_number = 44;

/// What the step changed, which is asked for once.
const std::string& step_text_of(Desk& desk, std::size_t step) {
    HistoryForm& form = desk.state.history_form;
    const History& history = desk.document.history();
    if (form.revision != history.revision() || form.texts.size() != history.points().size()) {
        form.texts.assign(history.points().size(), "");
        form.revision = history.revision();
    }
    std::string& text = form.texts[step];
    if (text.empty()) text = desk.document.step_text(step);
    return text;
}

void go_to_step(Desk& desk, std::size_t step) {
    HistoryForm& form = desk.state.history_form;
    form.entry = step;
    form.reveals = true;
    if (step == desk.document.history().index()) return;
    desk.document.go_to_point(step);
    desk.state.zoom = {};
}

/// The bar on which the mouse, or ← and →, go through the steps.
void step_slider(Desk& desk, const Ui& ui) {
    const History& history = desk.document.history();
    const std::size_t last = history.points().size() - 1;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const Area area{at, {at.x + dialog_width(ui, k_history_width), at.y + ui.px(26)}};
    const float margin = ui.px(8), left = area.min.x + margin, right = area.max.x - margin;
    ImGui::InvisibleButton("steps", {area.width(), area.height()});
    help_at_rest(ui, "Drag, or press ← and →, to go through the steps");
    const bool active = ImGui::IsItemActive(), lit = active || ImGui::IsItemHovered();
    const KeyboardUse keys = keyboard_use(ui, ImGui::GetID("steps"), area);
    if (active && last > 0) {
        const float part = std::clamp((ImGui::GetIO().MousePos.x - left) / (right - left), 0.0f, 1.0f);
        go_to_step(desk, static_cast<std::size_t>(std::lround(part * static_cast<float>(last))));
    } else if (keys.steps) {
        const auto step = static_cast<std::ptrdiff_t>(history.index()) + keys.steps;
        go_to_step(desk, static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(step, 0, std::ptrdiff_t(last))));
    }
    const float part = last == 0 ? 0 : static_cast<float>(history.index()) / static_cast<float>(last);
    const float x = left + part * (right - left), y = (area.min.y + area.max.y) / 2, half = ui.px(2.5f);
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled({left, y - half}, {right, y + half}, ink(ui.theme.line), half);
    list->AddRectFilled({left, y - half}, {x, y + half}, ink(ui.theme.accent, 0.7f), half);
    list->AddCircleFilled({x, y}, ui.px(lit ? 7.5f : 6), ink(ui.theme.text));
}

/// True if it was clicked.
bool step_entry(Desk& desk, const Ui& ui, std::size_t step, float width) {
    const HistoryForm& form = desk.state.history_form;
    const std::size_t present = desk.document.history().index();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool clicked = ImGui::Selectable(fmt::format("##{}", step).c_str(), step == form.entry, 0,
                                           {width, ui.px(k_step_height)});
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float y = at.y + ui.px(3), text_left = at.x + ui.px(k_step_number);
    draw_text(list, ui.fonts.mono_small, {text_left - ui.px(12), y + ui.px(1)},
              ink(step == form.entry ? ui.theme.secondary : ui.theme.faint), std::to_string(step),
              Align::right);
    const bool now = step == present, undone = step > present;
    const std::string& text = step_text_of(desk, step);
    ImFont* font = now ? ui.fonts.strong : ui.fonts.body;
    const float room = width - ui.px(k_step_number + 12);
    draw_text(list, font, {text_left, y}, ink(undone ? ui.theme.secondary : ui.theme.text), text, Align::left,
              room);
    if (now)
        list->AddRectFilled({at.x, at.y + ui.px(2)}, {at.x + ui.px(3), at.y + ui.px(k_step_height - 2)},
                            ink(ui.theme.accent));
    if (text_width(font, text) > room) tooltip(ui, text);
    return clicked;
}

/// The entries in sight; ↑ and ↓ select one, Enter or a click goes there.
void steps_list(Desk& desk, const Ui& ui) {
    HistoryForm& form = desk.state.history_form;
    const std::size_t count = desk.document.history().points().size();
    const float width = dialog_width(ui, k_history_width), height = list_height(ui, 380),
                pitch = ui.px(k_step_height);
    const unsigned own = ImGui::GetID("list");
    if (desk.state.dialog_opens) ui.controls.focus.id = own;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const KeyboardUse keys = grid_keyboard_use(ui, own, {at, {at.x + width, at.y + height}});
    form.entry = std::min(form.entry, count - 1);
    if (keys.steps_down) {
        const auto moved = static_cast<std::ptrdiff_t>(form.entry) + keys.steps_down;
        form.entry =
            static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(moved, 0, std::ptrdiff_t(count) - 1));
        form.reveals = true;
    }
    if (keys.pressed) go_to_step(desk, form.entry);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    ImGui::BeginChild("steps list", {width, height});
    if (std::exchange(form.reveals, false)) {
        const float top = static_cast<float>(form.entry) * pitch, seen = ImGui::GetScrollY();
        if (top < seen || top + pitch > seen + height) ImGui::SetScrollY(top - (height - pitch) / 2);
    }
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(count), pitch);
    const float inside = ImGui::GetContentRegionAvail().x;
    while (clipper.Step())
        for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
            if (const auto step = static_cast<std::size_t>(i); step_entry(desk, ui, step, inside))
                go_to_step(desk, step);
    clipper.End();
    ImGui::EndChild();
    ImGui::PopStyleVar();
}

}  // namespace

void history_dialog(Desk& desk, const Ui& ui) {
    HistoryForm& form = desk.state.history_form;
    const History& history = desk.document.history();
    if (desk.state.dialog_opens || form.present != history.index()) {
        form.entry = form.present = history.index();
        form.reveals = true;
    }
    step_slider(desk, ui);
    steps_list(desk, ui);
    const std::string count = fmt::format("step {} of {}", history.index(), history.points().size() - 1);
    ImGui::Dummy({0, ui.px(2)});
    if (push_button(ui, "Close", "Closes this (Esc)", ui.px(110))) desk.state.dialog = Dialog::none;
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    ImGui::TextDisabled("%s", count.c_str());
}

}  // namespace attnscope
