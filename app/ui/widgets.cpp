#include "app/ui/widgets.h"

#include <fmt/format.h>

#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/utf8.h"

namespace attnscope {
namespace {

constexpr float k_row_height = 26;
constexpr float k_margin = 18;
constexpr float k_pixels_per_step = 6;

/// Disabled controls are dimmed.
float strength() { return ImGui::GetStyle().Alpha; }

void draw_field(const Ui& ui, const Area& area, const std::string& text, float fill, bool hot) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float rounding = ui.px(5);
    list->AddRectFilled(area.min, area.max, ink(ui.theme.raised, strength()), rounding);
    if (fill >= 0) {
        const float end = area.min.x + std::max(ui.px(3), std::min(fill, 1.0f) * area.width());
        list->AddRectFilled({area.min.x + 1, area.min.y + 1}, {end, area.max.y - 1},
                            ink(ui.theme.accent, 0.28f * strength()), ui.px(4));
    }
    list->AddRect(area.min, area.max,
                  ink(hot ? ui.theme.accent : ui.theme.line, (hot ? 0.7f : 1) * strength()), rounding);
    const float top = area.min.y + (area.height() - compat::font_size(*ui.fonts.mono)) / 2;
    draw_text(list, ui.fonts.mono, {area.min.x + ui.px(10), top}, ImGui::GetColorU32(ImGuiCol_Text), text,
              Align::left, area.width() - ui.px(16));
}

/// Converts the pixels that the current drag has moved to whole steps.
int drag_steps(const Ui& ui) {
    FieldEdit& edit = ui.controls.field;
    edit.traveled += ImGui::GetIO().MouseDelta.x;
    const double pitch = ui.px(k_pixels_per_step);
    const int steps = static_cast<int>(edit.traveled / pitch);
    edit.traveled -= steps * pitch;
    return steps * (ImGui::GetIO().KeyShift ? 10 : 1);
}

}  // namespace

KeyboardUse keyboard_use(const Ui& ui, unsigned id, const Area& area) {
    ControlFocus& control = ui.controls.focus;
    if (ui.controls.disabled) return {};
    control.drawn.push_back({id, {area.min.x, area.min.y, area.max.x, area.max.y}});
    if (control.id != id) return {};
    if (std::exchange(control.moved, false)) {
        const float top = ImGui::GetWindowPos().y, bottom = top + ImGui::GetWindowHeight();
        if (area.min.y < top || area.max.y > bottom) ImGui::SetScrollFromPosY(area.min.y - top, 0.5f);
    }
    const float out = ui.px(2);
    ImGui::GetWindowDrawList()->AddRect({area.min.x - out, area.min.y - out},
                                        {area.max.x + out, area.max.y + out}, ink(ui.theme.accent), ui.px(6),
                                        0, ui.px(2));
    return {std::exchange(control.pressed, false), std::exchange(control.steps, 0)};
}

void give_keyboard(const Ui& ui, unsigned id) {
    ui.controls.focus.id = id;
    ui.controls.focus.moved = true;
}

bool give_keyboard_since(const Ui& ui, std::size_t drawn) {
    const std::vector<DrawnControl>& controls = ui.controls.focus.drawn;
    if (controls.size() <= drawn) return false;
    give_keyboard(ui, controls[drawn].id);
    return true;
}

std::optional<std::string> typing_field(const Ui& ui, unsigned id, float width) {
    FieldEdit& edit = ui.controls.field;
    ImGui::SetNextItemWidth(width);
    if (edit.begins) ImGui::SetKeyboardFocusHere();
    ImGui::PushFont(ui.fonts.mono);
    const bool entered = ImGui::InputText(
        "##typed", &edit.text, ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
    ImGui::PopFont();
    const bool left = !edit.begins && ImGui::IsItemDeactivated();
    const bool abandoned = left && compat::key_pressed(Key::escape);
    edit.begins = edit.begins && !ImGui::IsItemActive();
    if (!entered && !left) return std::nullopt;
    if (edit.typing == id) edit.typing = 0;
    return abandoned ? std::nullopt : std::optional(edit.text);
}

KeyboardUse grid_keyboard_use(const Ui& ui, unsigned id, const Area& area) {
    KeyboardUse keys = keyboard_use(ui, id, area);
    ControlFocus& control = ui.controls.focus;
    if (control.id != id) return keys;
    control.on_grid = true;
    keys.steps_down = std::exchange(control.steps_down, 0);
    return keys;
}

namespace {

/// Whether the newest item, whose id is that of `label`, was activated by mouse or keyboard.
bool is_pressed(const Ui& ui, const char* label, bool clicked) {
    const Area area{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
    return keyboard_use(ui, ImGui::GetID(label), area).pressed || clicked;
}

}  // namespace

bool push_button(const Ui& ui, const char* label, const char* help, float width, bool enabled) {
    ImGui::BeginDisabled(!enabled);
    const bool clicked = ImGui::Button(label, {width, 0});
    ImGui::EndDisabled();
    help_at_rest(ui, help);
    return enabled && is_pressed(ui, label, clicked);
}

bool check_box(const Ui& ui, const char* label, const std::string& help, bool& on) {
    bool shown = on;
    const bool clicked = ImGui::Checkbox(label, &shown);
    help_at_rest(ui, help);
    const bool pressed = is_pressed(ui, label, clicked);
    if (pressed) on = !on;
    return pressed;
}

bool radio_button(const Ui& ui, const char* label, const char* help, bool on) {
    const bool clicked = ImGui::RadioButton(label, on);
    help_at_rest(ui, help);
    return is_pressed(ui, label, clicked);
}

bool line_field(const Ui& ui, const char* id, const char* hint, const char* help, std::string& text) {
    ControlFocus& control = ui.controls.focus;
    const unsigned own = ImGui::GetID(id);
    if (control.id == own && (control.moved || control.pressed)) ImGui::SetKeyboardFocusHere();
    const bool entered = ImGui::InputTextWithHint(id, hint, &text, ImGuiInputTextFlags_EnterReturnsTrue);
    help_at_rest(ui, help);
    if (ImGui::IsItemActive() && !ui.controls.disabled) control.id = own;
    keyboard_use(ui, own, {ImGui::GetItemRectMin(), ImGui::GetItemRectMax()});
    return entered;
}

void begin_typing(const Ui& ui, unsigned id, const std::string& text) {
    FieldEdit& edit = ui.controls.field;
    edit = {id, text, true, 0, edit.gestures};
}

bool was_click() {
    const ImGuiIO& io = ImGui::GetIO();
    return io.MouseDragMaxDistanceSqr[0] < io.MouseDragThreshold * io.MouseDragThreshold;
}

namespace {

void explain(const Ui& ui, const std::string& text) {
    ui.controls.explained = true;
    ImGui::PushFont(ui.fonts.body);
    ImGui::BeginTooltip();
    wrapped_text(text, ui.px(320) - ImGui::GetStyle().WindowPadding.x);
    ImGui::EndTooltip();
    ImGui::PopFont();
}

/// Whether the pointer, which has rested for so many seconds, has rested for long enough; else a frame is
/// drawn when it has.
bool has_rested(const Ui& ui, float seconds) {
    constexpr float k_rest = 0.5f;
    if (ui.controls.explained || ImGui::IsMouseDown(0)) return false;
    if (seconds >= k_rest) return true;
    ui.controls.awaits_help = true;
    return false;
}

}  // namespace

void tooltip(const Ui& ui, const std::string& text) {
    if (!text.empty() && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) explain(ui, text);
}

void help_at_rest(const Ui& ui, const std::string& text) {
    if (!text.empty() && ImGui::IsItemHovered() && has_rested(ui, compat::rest_time())) explain(ui, text);
}

void help_over(const Ui& ui, const Area& area, const std::string& text) {
    if (text.empty() || !area.contains(ImGui::GetIO().MousePos) || !ImGui::IsWindowHovered()) return;
    const std::array<float, 4> place{area.min.x, area.min.y, area.max.x, area.max.y};
    const bool is_new = std::exchange(ui.controls.rests_over, place) != place;
    ui.controls.rested = is_new ? 0 : ui.controls.rested + ImGui::GetIO().DeltaTime;
    if (has_rested(ui, ui.controls.rested)) explain(ui, text);
}

float draw_fitted(const Ui& ui, ImFont* font, ImVec2 at, Rgb8 color, const std::string& text, float width) {
    const float drawn = draw_text(ImGui::GetWindowDrawList(), font, at, ink(color), text, Align::left, width);
    if (width > 0 && text_width(font, text) > width)
        help_over(ui, {at, {at.x + drawn, at.y + compat::font_size(*font) * 1.2f}}, text);
    return drawn;
}

std::optional<std::string> choice_field(const Ui& ui, const char* id, std::span<const Choice> choices,
                                        const std::string& current) {
    std::string shown = current;
    for (const Choice& choice : choices)
        if (choice.value == current) shown = choice.shown;
    std::optional<std::string> picked;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::CalcItemWidth();
    const KeyboardUse keys =
        keyboard_use(ui, ImGui::GetID(id), {at, {at.x + width, at.y + ui.px(k_row_height)}});
    if (const int steps = keys.steps + keys.pressed; steps != 0 && !choices.empty()) {
        const auto now = std::ranges::find(choices, current, &Choice::value) - choices.begin();
        const auto count = std::ssize(choices);
        picked = choices[static_cast<std::size_t>(((now + steps) % count + count) % count)].value;
    }
    ImGui::PushFont(ui.fonts.mono);
    if (ImGui::BeginCombo(id, (shown + " ▾").c_str(),
                          ImGuiComboFlags_HeightLarge | ImGuiComboFlags_NoArrowButton)) {
        for (const Choice& choice : choices) {
            if (ImGui::Selectable(choice.shown.c_str(), choice.value == current) && choice.value != current)
                picked = choice.value;
            tooltip(ui, choice.help);
        }
        ImGui::EndCombo();
    }
    ImGui::PopFont();
    return picked;
}

DragResult drag_field(const Ui& ui, const char* id, const std::string& text, float fill, float width) {
    ImGui::PushID(id);
    FieldEdit& edit = ui.controls.field;
    const unsigned own = ImGui::GetID("field");
    DragResult result;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const KeyboardUse keys = keyboard_use(ui, own, {at, {at.x + width, at.y + ui.px(k_row_height)}});
    if (edit.typing == own) {
        result.typed = typing_field(ui, own, width);
        ImGui::PopID();
        return result;
    }
    ImGui::InvisibleButton("drag", {width, ui.px(k_row_height)});
    if (ImGui::IsItemActivated()) {
        edit.traveled = 0;
        ++edit.gestures;
    }
    const bool dragging = ImGui::IsItemActive() && ImGui::IsMouseDragging(0);
    if (dragging) {
        result.steps = drag_steps(ui);
        result.gesture = fmt::format("drag {}", edit.gestures);
    }
    if (keys.steps) result.steps = keys.steps;
    const bool clicked = ImGui::IsItemDeactivated() && was_click();
    if (keys.pressed || (clicked && ImGui::IsItemHovered())) begin_typing(ui, own, text);
    const bool hot = ImGui::IsItemHovered() || ImGui::IsItemActive();
    if (hot) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    draw_field(ui, {at, {at.x + width, at.y + ui.px(k_row_height)}}, text, fill, hot);
    ImGui::PopID();
    return result;
}

bool switch_field(const Ui& ui, const char* id, bool on) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{ui.px(40), ui.px(22)};
    const KeyboardUse keys =
        keyboard_use(ui, ImGui::GetID(id), {at, {at.x + size.x, at.y + ui.px(k_row_height)}});
    const bool pressed = ImGui::InvisibleButton(id, {size.x, ui.px(k_row_height)}) || keys.pressed;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float top = at.y + ui.px(2);
    list->AddRectFilled({at.x, top}, {at.x + size.x, top + size.y},
                        on ? ink(ui.theme.accent, 0.6f * strength()) : ink(ui.theme.raised, strength()),
                        size.y / 2);
    list->AddRect({at.x, top}, {at.x + size.x, top + size.y},
                  ink(ImGui::IsItemHovered() ? ui.theme.accent : ui.theme.line, strength()), size.y / 2);
    list->AddCircleFilled({on ? at.x + size.x - size.y / 2 : at.x + size.y / 2, top + size.y / 2},
                          size.y / 2 - ui.px(4), ink(on ? ui.theme.text : ui.theme.secondary, strength()));
    return pressed;
}

bool small_button(const Ui& ui, const char* id, const std::string& label, const char* help, float width) {
    ImGui::PushID(id);
    const bool clicked = ImGui::Button(label.c_str(), {width, ui.px(k_row_height)});
    const Area area{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
    const bool pressed = keyboard_use(ui, ImGui::GetID("keys"), area).pressed || clicked;
    tooltip(ui, help);
    ImGui::PopID();
    return pressed;
}

bool section_header(const Ui& ui, std::string_view title, const std::string& derived) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const std::string name(title);
    const float left = ImGui::GetWindowPos().x, width = ImGui::GetWindowContentRegionMax().x;
    const Area area{{left + ui.px(4), at.y + ui.px(5)}, {left + width - ui.px(4), at.y + ui.px(28)}};
    ImGui::SetCursorScreenPos(area.min);
    const bool clicked = ImGui::InvisibleButton(name.c_str(), {area.width(), area.height()});
    const bool hovered = ImGui::IsItemHovered();
    std::set<std::string>& folded = *ui.controls.folded_sections;
    help_at_rest(ui, folded.contains(name) ? "Show these settings" : "Fold these settings away");
    if (keyboard_use(ui, ImGui::GetID(name.c_str()), area).pressed || clicked)
        if (!folded.erase(name)) folded.insert(name);
    const bool open = !folded.contains(name);

    const ImVec2 c{left + ui.px(k_margin / 2), at.y + ui.px(17)};
    const float r = ui.px(3);
    if (hovered || !open)
        open ? list->AddTriangleFilled({c.x - r, c.y - r / 2}, {c.x + r, c.y - r / 2}, {c.x, c.y + r},
                                       ink(ui.theme.faint))
             : list->AddTriangleFilled({c.x - r / 2, c.y - r}, {c.x + r, c.y}, {c.x - r / 2, c.y + r},
                                       ink(ui.theme.faint));
    const float top = at.y + ui.px(10), right = left + width - ui.px(k_margin);
    const float begin = left + ui.px(k_margin);
    const float drawn =
        draw_text(list, ui.fonts.section, {begin, top}, ink(hovered ? ui.theme.text : ui.theme.secondary),
                  upper(title), Align::left, right - begin);
    if (begin + drawn + ui.px(8) + text_width(ui.fonts.caption, derived) <= right)
        draw_text(list, ui.fonts.caption, {right, top + ui.px(1)}, ink(ui.theme.faint), derived,
                  Align::right);
    ImGui::SetCursorScreenPos({left, at.y + ui.px(32)});
    return open;
}

}  // namespace attnscope
