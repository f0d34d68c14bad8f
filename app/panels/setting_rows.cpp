#include "app/panels/setting_rows.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <utility>

#include "core/number_text.h"
#include "core/session/applies.h"
#include "core/session/options.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

constexpr float k_row_height = 26;
constexpr float k_row_pitch = 33;
constexpr float k_margin = 18;
constexpr float k_field_left = 126;

Seed stepped(const Seed& seed, int steps) {
    const std::uint64_t bits = seed.bits() + static_cast<std::uint64_t>(static_cast<std::int64_t>(steps));
    // Stepping below 0 continues with negative seeds.
    const bool negative =
        seed.negative() ? static_cast<std::int64_t>(bits) < 0 : steps < 0 && bits > seed.bits();
    return negative ? Seed(static_cast<std::int64_t>(bits)) : Seed::from_unsigned(bits);
}

std::string current_text(Desk& desk, std::string_view option) {
    return text_of(desk.document.session(), *find_option(option));
}

}  // namespace

bool applies(const Desk& desk, std::string_view option) {
    return why_unused(*find_option(option), desk.document.experiment()).empty();
}

bool leaves_out(Desk& desk, const Ui& ui, std::string_view option, const std::string& label,
                const std::string& why) {
    const std::string& section = desk.state.section;
    if (section.empty()) return false;
    desk.state.left_out.push_back({label, why});
    if (desk.state.reveal == option) ui.controls.whole_sections.insert(section);
    return !ui.controls.whole_sections.contains(section);
}

void left_out_line(Desk& desk, const Ui& ui) {
    const std::vector<LeftOutRow> rows = std::exchange(desk.state.left_out, {});
    if (rows.empty()) return;
    std::set<std::string>& whole = ui.controls.whole_sections;
    const std::string& section = desk.state.section;
    const bool shown = whole.contains(section);
    std::string labels, reasons;
    for (const LeftOutRow& row : rows) {
        labels += (labels.empty() ? "" : ", ") + row.label;
        reasons += (reasons.empty() ? "" : "\n") + row.label + ": " + row.why;
    }
    const bool one_reason =
        std::ranges::all_of(rows, [&](const LeftOutRow& row) { return row.why == rows.front().why; });
    ImGui::PushID("left out");
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float left = ImGui::GetWindowPos().x + ui.px(k_margin);
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x - ui.px(8);
    const Area area{{left - ui.px(4), at.y}, {right, at.y + ui.px(22)}};
    ImGui::SetCursorScreenPos(area.min);
    const bool clicked = ImGui::InvisibleButton("show", {area.width(), area.height()});
    const bool hovered = ImGui::IsItemHovered();
    tooltip(ui, reasons);
    if (keyboard_use(ui, ImGui::GetID("show"), area).pressed || clicked)
        if (!whole.erase(section)) whole.insert(section);
    const float room = right - left;
    std::string text = shown ? "− what does not apply or is off" : "+ " + labels;
    const std::string with_reason = text + " (" + rows.front().why + ")";
    if (!shown && one_reason && text_width(ui.fonts.caption, with_reason) <= room) text = with_reason;
    draw_text(ImGui::GetWindowDrawList(), ui.fonts.caption, {left, at.y + ui.px(4)},
              ink(hovered ? ui.theme.accent : ui.theme.secondary), text, Align::left, room);
    ImGui::PopID();
    ImGui::SetCursorScreenPos({ImGui::GetWindowPos().x, at.y + ui.px(25)});
}

void option_row(Desk& desk, const Ui& ui, std::string_view name, const char* label,
                const std::function<void(float width)>& control, std::string_view help) {
    const Option& option = *find_option(name);
    const std::string disabled = capitalized(why_unused(option, desk.document.experiment()));
    if (!disabled.empty() && leaves_out(desk, ui, name, label, disabled)) return;
    ImGui::PushID(label);
    const ImVec2 window = ImGui::GetWindowPos();
    const float top = ImGui::GetCursorPosY();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool narrow = ImGui::GetWindowWidth() < ui.px(260);
    const float right = ImGui::GetWindowContentRegionMax().x - ui.px(narrow ? 8 : 16);
    const float left = std::min(ui.px(k_field_left), 0.45f * ImGui::GetWindowWidth());
    const bool enabled = disabled.empty();
    light(ui, name, {at, {window.x + right, at.y + ui.px(k_row_height)}});

    ImGui::SetCursorPos({ui.px(k_margin), top});
    ImGui::InvisibleButton("label", {left - ui.px(k_margin + 4), ui.px(k_row_height)});
    const std::string about(help.empty() ? option.help : help);
    tooltip(ui, enabled ? about : disabled);
    bool reset = enabled && ImGui::IsItemClicked(ImGuiMouseButton_Right);

    ImDrawList* list = ImGui::GetWindowDrawList();
    const float text_top = at.y + ui.px(5.5f);
    draw_text(list, ui.fonts.body, {window.x + ui.px(k_margin), text_top},
              enabled ? ink(ui.theme.text) : ink(ui.theme.faint), label, Align::left,
              left - ui.px(k_margin + 4));
    const std::string symbol(option.symbol);
    const float room = left - ui.px(k_margin + 8 + 4) - text_width(ui.fonts.body, label);
    if (text_width(ui.fonts.body, symbol) <= room)
        draw_text(list, ui.fonts.body, {window.x + left - ui.px(8), text_top}, ink(ui.theme.faint), symbol,
                  Align::right);

    ImGui::SetCursorPos({left, top});
    ImGui::BeginGroup();
    ImGui::BeginDisabled(!enabled);
    ImGui::SetNextItemWidth(right - left);
    ui.controls.disabled = !enabled;
    desk.state.control_label = label;
    std::vector<DrawnControl>& drawn = ui.controls.focus.drawn;
    const std::size_t first = drawn.size();
    control(right - left);
    if (desk.state.reveal == name) {
        desk.state.reveal.clear();
        if (!enabled) desk.state.notice = {disabled, false};
        if (drawn.size() > first) {
            ui.controls.focus.id = drawn[first].id;
            ui.controls.focus.moved = true;
        } else {
            ImGui::SetScrollHereY(0.5f);
        }
    }
    ui.controls.disabled = false;
    desk.state.control_label.clear();
    ImGui::EndDisabled();
    ImGui::EndGroup();
    if (enabled && ImGui::IsItemClicked(ImGuiMouseButton_Right)) reset = true;
    if (enabled)
        help_at_rest(ui, about);
    else
        tooltip(ui, disabled);
    if (reset) set_option(desk, name, text_of(Session{}, option));
    ImGui::SetCursorPos({0, top + ui.px(k_row_pitch)});
    ImGui::PopID();
}

void choice_row(Desk& desk, const Ui& ui, std::string_view option, const char* label,
                const std::vector<Choice>& choices) {
    option_row(desk, ui, option, label, [&](float) {
        if (const auto picked = choice_field(ui, "##choice", choices, current_text(desk, option)))
            set_option(desk, option, *picked);
    });
}

void switch_row(Desk& desk, const Ui& ui, std::string_view option, const char* label, bool on) {
    option_row(desk, ui, option, label, [&](float) {
        if (switch_field(ui, "on", on)) set_option(desk, option, on ? "false" : "true");
    });
}

void seed_row(Desk& desk, const Ui& ui, std::string_view option, const char* label, const Seed& seed) {
    option_row(desk, ui, option, label, [&](float width) {
        const float die = ui.px(26);
        const DragResult result = drag_field(ui, "seed", seed.text(), -1, width - die - ui.px(4));
        if (result.steps) set_option(desk, option, stepped(seed, result.steps).text(), result.gesture);
        if (result.typed) set_option(desk, option, *result.typed);
        ImGui::SameLine(0, ui.px(4));
        if (small_button(ui, "die", "⚄", "Roll a seed", die))
            set_option(desk, option, std::to_string(std::random_device{}() % 1'000'000U));
    });
}

void weight_seed_row(Desk& desk, const Ui& ui, std::string_view option, const ProjectionSeed& seed,
                     const char* before) {
    const std::string fresh = desk.document.experiment().weights.seed.text();
    const bool own = seed.kind == ProjectionSeed::Kind::own;
    const std::vector<Choice> kinds = {
        {"same", "same", "The embedding's seed: the random stream starts again"},
        {"continue", "continue", "Continue the random stream after " + std::string(before)},
        {own ? seed.seed.text() : fresh, "own", "A separate seed"}};
    ImGui::PushID(option.data());  // several sections have rows of these names
    choice_row(desk, ui, option, "Seed", kinds);
    if (own) seed_row(desk, ui, option, "Own seed", seed.seed);
    ImGui::PopID();
}

void whole_row(Desk& desk, const Ui& ui, std::string_view option, const char* label, const std::string& shown,
               float fill, const std::function<int(int steps)>& next) {
    option_row(desk, ui, option, label, [&](float width) {
        const DragResult result = drag_field(ui, "number", shown, fill, width);
        if (result.typed) set_option(desk, option, *result.typed);
        if (!result.steps) return;
        const std::string value = std::to_string(next(result.steps));
        if (value != current_text(desk, option)) set_option(desk, option, value, result.gesture);
    });
}

void number_row(Desk& desk, const Ui& ui, std::string_view option, const char* label, double value,
                double least, double most) {
    option_row(desk, ui, option, label, [&](float width) {
        const DragResult result = drag_field(ui, "number", exact_text(value), -1, width);
        if (result.typed) set_option(desk, option, *result.typed);
        const double next = std::clamp(value + result.steps, least, most);
        if (result.steps && next != value) set_option(desk, option, exact_text(next), result.gesture);
    });
}

void factor_row(Desk& desk, const Ui& ui, std::string_view option, const char* label, double value,
                float fill) {
    option_row(desk, ui, option, label, [&](float width) {
        const DragResult result = drag_field(ui, "factor", short_text(value), fill, width);
        if (result.typed) set_option(desk, option, *result.typed);
        if (!result.steps) return;
        const double next = value == 0 ? 0.01 * result.steps : value * std::pow(1.05, result.steps);
        set_option(desk, option, short_text(next), result.gesture);
    });
}

void share_row(Desk& desk, const Ui& ui, std::string_view option, const char* label, double value,
               double most) {
    option_row(desk, ui, option, label, [&](float width) {
        const DragResult result =
            drag_field(ui, "share", short_text(value), static_cast<float>(value / most), width);
        if (result.typed) set_option(desk, option, *result.typed);
        if (!result.steps) return;
        const double next = std::clamp(std::round(value * 100 + result.steps) / 100, 0.0, most);
        set_option(desk, option, short_text(next), result.gesture);
    });
}

}  // namespace attnscope
