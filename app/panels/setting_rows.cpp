#include "app/panels/setting_rows.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <utility>

#include "app/panels/own_rows.h"
#include "app/panels/panels.h"
#include "core/number_text.h"
#include "core/session/questions.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

constexpr float k_row_height = 26;
constexpr float k_row_pitch = 33;
constexpr float k_row_margin = 18;
constexpr float k_field_left = 126;

Seed stepped(const Seed& seed, int steps) {
    const std::uint64_t bits = seed.bits() + static_cast<std::uint64_t>(static_cast<std::int64_t>(steps));
    // Stepping below 0 continues with negative seeds.
    const bool negative =
        seed.negative() ? static_cast<std::int64_t>(bits) < 0 : steps < 0 && bits > seed.bits();
    return negative ? Seed(static_cast<std::int64_t>(bits)) : Seed::from_unsigned(bits);
}

std::string current_text(const Desk& desk, const Option& option) {
    return text_of(desk.document.session(), option);
}

double current_number(const Desk& desk, const Option& option) {
    return option.get(desk.document.session()).get<double>();
}

}  // namespace

bool applies(const Desk& desk, OptionName name) {
    return desk.document.why_unused(option_named(name)).empty();
}

bool leaves_out(Desk& desk, const Ui& ui, std::string_view option, const std::string& label,
                const std::string& why) {
    const std::string& section = ui.controls.section.name;
    if (section.empty()) return false;
    ui.controls.section.left_out.push_back({label, why});
    if (desk.state.reveal.option == option && desk.state.reveal.gets_keyboard)
        ui.controls.whole_sections->insert(section);
    return !ui.controls.whole_sections->contains(section);
}

void left_out_line(const Ui& ui) {
    using LeftOutRow = DrawnSection::LeftOutRow;
    const std::vector<LeftOutRow> rows = std::exchange(ui.controls.section.left_out, {});
    if (rows.empty()) return;
    std::set<std::string>& whole = *ui.controls.whole_sections;
    const std::string& section = ui.controls.section.name;
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
    const float left = ImGui::GetWindowPos().x + ui.px(k_row_margin);
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x - ui.px(8);
    const Area area{{left - ui.px(4), at.y}, {right, at.y + ui.px(22)}};
    ImGui::SetCursorScreenPos(area.min);
    const bool clicked = ImGui::InvisibleButton("show", {area.width(), area.height()});
    const bool hovered = ImGui::IsItemHovered();
    tooltip(ui, "+ " + labels + "\n" + reasons);
    if (keyboard_use(ui, ImGui::GetID("show"), area).pressed || clicked)
        if (!whole.erase(section)) whole.insert(section);
    const float room = right - left;
    std::string text = shown ? "− hide settings that do not apply or are off" : "+ " + labels;
    const std::string with_reason = text + " (" + rows.front().why + ")";
    if (!shown && one_reason && text_width(ui.fonts.caption, with_reason) <= room) text = with_reason;
    draw_text(ImGui::GetWindowDrawList(), ui.fonts.caption, {left, at.y + ui.px(4)},
              ink(hovered ? ui.theme.accent : ui.theme.secondary), text, Align::left, room);
    ImGui::PopID();
    ImGui::SetCursorScreenPos({ImGui::GetWindowPos().x, at.y + ui.px(25)});
}

namespace {

/// Where the parts of a row stand.
struct RowPlace {
    float top;       ///< in the window's coordinates
    ImVec2 at;       ///< the row's left end, on screen
    float label;     ///< the label's left end, in the window's coordinates
    float left;      ///< the control's, in the window's coordinates
    float width;     ///< of the control
    float window_x;  ///< on screen
};

RowPlace next_row(const Ui& ui) {
    const bool narrow = ImGui::GetWindowWidth() < ui.px(260);
    const float right = ImGui::GetWindowContentRegionMax().x - ui.px(narrow ? 8 : 16);
    const float left = std::min(ui.px(k_field_left), 0.45f * ImGui::GetWindowWidth());
    return {.top = ImGui::GetCursorPosY(),
            .at = ImGui::GetCursorScreenPos(),
            .label = ui.px(k_row_margin),
            .left = left,
            .width = right - left,
            .window_x = ImGui::GetWindowPos().x};
}

/// The label and, where there is room, the symbol; returns whether a right-click asks for the default.
bool row_label(const Ui& ui, const RowPlace& place, const std::string& label, std::string_view symbol,
               const std::string& tip, bool enabled) {
    const float width = place.left - place.label - ui.px(4);
    ImGui::SetCursorPos({place.label, place.top});
    ImGui::InvisibleButton("label", {width, ui.px(k_row_height)});
    tooltip(ui, text_width(ui.fonts.body, label) > width ? label + "\n" + tip : tip);
    const bool reset = enabled && ImGui::IsItemClicked(ImGuiMouseButton_Right);
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float text_top = place.at.y + ui.px(5.5f);
    draw_text(list, ui.fonts.body, {place.window_x + place.label, text_top},
              enabled ? ink(ui.theme.text) : ink(ui.theme.faint), label, Align::left, width);
    const float room = width - ui.px(8) - text_width(ui.fonts.body, label);
    if (text_width(ui.fonts.body, std::string(symbol)) <= room)
        draw_text(list, ui.fonts.body, {place.window_x + place.left - ui.px(8), text_top},
                  ink(ui.theme.faint), std::string(symbol), Align::right);
    return reset;
}

/// Brings the row into sight, and gives its first control the keyboard if the row was searched for.
void reveal_row(Desk& desk, const Ui& ui, std::size_t first_control, const std::string& disabled) {
    const bool gets_keyboard = std::exchange(desk.state.reveal, {}).gets_keyboard;
    if (!gets_keyboard) {
        if (!ImGui::IsItemVisible()) ImGui::SetScrollHereY(0.5f);
        return;
    }
    if (!disabled.empty()) desk.state.notice = {disabled, false};
    if (!give_keyboard_since(ui, first_control)) ImGui::SetScrollHereY(0.5f);
}

/// Marks the row of the setting that the note's question is about, as the note is marked.
void mark_if_asked(const Desk& desk, const Ui& ui, const RowPlace& place, const Option& option) {
    const Question* question = shown_question(desk);
    if (!question || std::ranges::find(question->settings, option.name) == question->settings.end()) return;
    ImGui::GetWindowDrawList()->AddRectFilled({place.window_x, place.at.y},
                                              {place.window_x + ui.px(3), place.at.y + ui.px(k_row_height)},
                                              ink(ui.theme.accent, 0.8f));
}

}  // namespace

void option_row(Desk& desk, const Ui& ui, const Option& option,
                const std::function<void(float width)>& control, const RowWords& words) {
    const std::string label(words.label.empty() ? std::string(option.label) : words.label);
    const std::string help(words.help.empty() ? std::string(option.help) : words.help);
    const std::string disabled = capitalized(desk.document.why_unused(option));
    const bool enabled = disabled.empty();
    if (!enabled && leaves_out(desk, ui, option.name, label, disabled)) return;
    ImGui::PushID(label.c_str());
    const RowPlace place = next_row(ui);
    light(ui, option.name,
          {place.at, {place.window_x + place.left + place.width, place.at.y + ui.px(k_row_height)}});
    if (!words.is_off) mark_if_asked(desk, ui, place, option);
    bool reset = row_label(ui, place, label, option.symbol, enabled ? help : disabled, enabled);

    ImGui::SetCursorPos({place.left, place.top});
    ImGui::BeginGroup();
    ImGui::BeginDisabled(!enabled);
    ImGui::SetNextItemWidth(place.width);
    ui.controls.disabled = !enabled;
    desk.state.control_label = label;
    const std::size_t first = ui.controls.focus.drawn.size();
    control(place.width);
    if (desk.state.reveal.option == option.name.text()) reveal_row(desk, ui, first, disabled);
    ui.controls.disabled = false;
    desk.state.control_label.clear();
    ImGui::EndDisabled();
    ImGui::EndGroup();
    if (enabled && ImGui::IsItemClicked(ImGuiMouseButton_Right)) reset = true;
    if (enabled)
        help_at_rest(ui, help);
    else
        tooltip(ui, disabled);
    if (reset) set_option(desk, option, text_of(Session{}, option));
    ImGui::SetCursorPos({0, place.top + ui.px(k_row_pitch)});
    ImGui::PopID();
}

void text_row(Desk& desk, const Ui& ui, const Option& option,
              const std::function<void(const std::string& typed)>& set) {
    option_row(desk, ui, option, [&](float width) {
        const DragResult result = drag_field(ui, "text", current_text(desk, option), -1, width);
        if (result.typed) set(*result.typed);
    });
}

void whole_row(Desk& desk, const Ui& ui, const Option& option, const std::string& shown, float fill,
               const std::function<int(int steps)>& next) {
    option_row(desk, ui, option, [&](float width) {
        const DragResult result = drag_field(ui, "number", shown, fill, width);
        if (result.typed) set_option(desk, option, *result.typed);
        if (!result.steps) return;
        const std::string value = std::to_string(next(result.steps));
        if (value != current_text(desk, option)) set_option(desk, option, value, result.gesture);
    });
}

void number_row(Desk& desk, const Ui& ui, const Option& option, double least, double most) {
    option_row(desk, ui, option, [&](float width) {
        const double value = current_number(desk, option);
        const DragResult result = drag_field(ui, "number", exact_text(value), -1, width);
        if (result.typed) set_option(desk, option, *result.typed);
        const double next = std::clamp(value + result.steps, least, most);
        if (result.steps && next != value) set_option(desk, option, exact_text(next), result.gesture);
    });
}

void factor_row(Desk& desk, const Ui& ui, const Option& option, double value, float fill,
                const RowWords& words) {
    const auto control = [&](float width) {
        const DragResult result = drag_field(ui, "factor", short_text(value), fill, width);
        if (result.typed) set_option(desk, option, *result.typed);
        if (!result.steps) return;
        const double next = value == 0 ? 0.01 * result.steps : value * std::pow(1.05, result.steps);
        set_option(desk, option, short_text(next), result.gesture);
    };
    option_row(desk, ui, option, control, words);
}

float logarithmic_fill(int value, int most) {
    return std::log2(static_cast<float>(std::max(value, 1))) / std::log2(static_cast<float>(most));
}

namespace {

void choice_row(Desk& desk, const Ui& ui, const Option& option, const std::vector<Choice>& choices) {
    option_row(desk, ui, option, [&](float) {
        if (const auto picked = choice_field(ui, "##choice", choices, current_text(desk, option)))
            set_option(desk, option, *picked);
    });
}

void seed_row(Desk& desk, const Ui& ui, const Option& option, const RowWords& words = {}) {
    const auto control = [&](float width) {
        const Seed seed = Seed::parse(current_text(desk, option));
        const float die = ui.px(26);
        const DragResult result = drag_field(ui, "seed", seed.text(), -1, width - die - ui.px(4));
        if (result.steps) set_option(desk, option, stepped(seed, result.steps).text(), result.gesture);
        if (result.typed) set_option(desk, option, *result.typed);
        ImGui::SameLine(0, ui.px(4));
        if (small_button(ui, "die", "⚄", "Roll a new seed", die))
            set_option(desk, option, std::to_string(std::random_device{}() % 1'000'000U));
    };
    option_row(desk, ui, option, control, words);
}

/// Draws the rows of an option, a function for each kind of control.
struct Rows {
    Desk& desk;
    const Ui& ui;
    const Option& option;

    void operator()(const control::None&) const {}
    void operator()(const control::Own&) const { own_rows(desk, ui, option); }
    void operator()(const control::Choices& choices) const {
        std::vector<Choice> all;
        for (const auto& [name, help] : choices.values(desk.document.experiment()))
            all.push_back({std::string(name), std::string(name) + std::string(choices.noun), help});
        choice_row(desk, ui, option, all);
    }
    void operator()(const control::Toggle&) const {
        option_row(desk, ui, option, [&](float) {
            const bool on = current_text(desk, option) == "true";
            if (switch_field(ui, "on", on)) set_option(desk, option, on ? "false" : "true");
        });
    }
    void operator()(const control::Text&) const {
        text_row(desk, ui, option, [&](const std::string& typed) { set_option(desk, option, typed); });
    }
    void operator()(const control::SeedField&) const { seed_row(desk, ui, option); }
    void operator()(const control::WeightSeed& seed) const {
        const std::string current = current_text(desk, option);
        const bool own = current != "same" && current != "continue";
        choice_row(
            desk, ui, option,
            {{"same", "same", "The embedding's seed: the random stream restarts from it"},
             {"continue", "continue", "Continue the random stream after " + std::string(seed.before)},
             {own ? current : desk.document.experiment().weights.seed.text(), "own", "A separate seed"}});
        if (own) seed_row(desk, ui, option, {.label = "Own seed"});
    }
    void operator()(const control::Whole& whole) const {
        const int value = static_cast<int>(current_number(desk, option));
        const float fill = whole.fill == control::Fill::linear
                               ? static_cast<float>(value) / static_cast<float>(whole.most)
                           : whole.fill == control::Fill::logarithmic ? logarithmic_fill(value, whole.most)
                                                                      : -1;
        whole_row(desk, ui, option, std::to_string(value), fill,
                  [&](int steps) { return std::clamp(value + whole.step * steps, whole.least, whole.most); });
    }
    void operator()(const control::Factor& factor) const {
        const double value = current_number(desk, option);
        const double fill =
            factor.decades > 0 ? std::clamp(0.5 + std::log10(value) / factor.decades, 0.0, 1.0) : -1;
        factor_row(desk, ui, option, value, static_cast<float>(fill));
    }
    void operator()(const control::Number& number) const {
        number_row(desk, ui, option, number.least, number.most);
    }
    void operator()(const control::Share& share) const {
        option_row(desk, ui, option, [&](float width) {
            const double value = current_number(desk, option);
            const DragResult result =
                drag_field(ui, "share", short_text(value), static_cast<float>(value / share.most), width);
            if (result.typed) set_option(desk, option, *result.typed);
            if (!result.steps) return;
            const double next = std::clamp(std::round(value * 100 + result.steps) / 100, 0.0, share.most);
            set_option(desk, option, short_text(next), result.gesture);
        });
    }
};

/// Whether an option before it has its label, of which ImGui would make the same id.
bool shares_label(const Option& option) {
    return &*std::ranges::find(options(), option.label, &Option::label) != &option;
}

}  // namespace

void setting_rows(Desk& desk, const Ui& ui, const Option& option) {
    const bool shares = shares_label(option);
    if (shares) ImGui::PushID(option.name.text().data());
    std::visit(Rows{desk, ui, option}, option.control);
    if (shares) ImGui::PopID();
}

}  // namespace attnscope
