#include "app/panels/setting_rows.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/number_text.h"

namespace attnscope {
namespace {

Seed stepped(const Seed& seed, int steps) {
    const std::uint64_t bits = seed.bits() + static_cast<std::uint64_t>(static_cast<std::int64_t>(steps));
    // Stepping below 0 continues with negative seeds.
    const bool negative =
        seed.negative() ? static_cast<std::int64_t>(bits) < 0 : steps < 0 && bits > seed.bits();
    return negative ? Seed(static_cast<std::int64_t>(bits)) : Seed::from_unsigned(bits);
}

std::string current_text(Ui& ui, std::string_view option) {
    return text_of(ui.document.session(), *find_option(option));
}

}  // namespace

void choice_row(Ui& ui, std::string_view option, const char* label, const std::vector<Choice>& choices) {
    option_row(ui, option, label, [&](float) {
        if (const auto picked = choice_field(ui, "##choice", choices, current_text(ui, option)))
            set_option(ui, option, *picked);
    });
}

void switch_row(Ui& ui, std::string_view option, const char* label, bool on) {
    option_row(ui, option, label, [&](float) {
        if (switch_field(ui, "on", on)) set_option(ui, option, on ? "false" : "true");
    });
}

void seed_row(Ui& ui, std::string_view option, const char* label, const Seed& seed) {
    option_row(ui, option, label, [&](float width) {
        const float die = ui.px(26);
        const DragResult result = drag_field(ui, "seed", seed.text(), -1, width - die - ui.px(4));
        if (result.steps) set_option(ui, option, stepped(seed, result.steps).text(), result.gesture);
        if (result.typed) set_option(ui, option, *result.typed);
        ImGui::SameLine(0, ui.px(4));
        if (small_button(ui, "die", "⚄", "Roll a seed", die))
            set_option(ui, option, std::to_string(std::random_device{}() % 1'000'000U));
    });
}

void weight_seed_row(Ui& ui, std::string_view option, const ProjectionSeed& seed, const char* before) {
    const std::string fresh = ui.document.experiment().weights.seed.text();
    const bool own = seed.kind == ProjectionSeed::Kind::own;
    const std::vector<Choice> kinds = {
        {"same", "same", "The embedding's seed, as in notebook 1"},
        {"continue", "continue", "Continue the random stream after " + std::string(before)},
        {own ? seed.seed.text() : fresh, "own", "A separate seed"}};
    ImGui::PushID(option.data());  // several sections have rows of these names
    choice_row(ui, option, "Seed", kinds);
    if (own) seed_row(ui, option, "Own seed", seed.seed);
    ImGui::PopID();
}

void whole_row(Ui& ui, std::string_view option, const char* label, const std::string& shown, float fill,
               const std::function<int(int steps)>& next) {
    option_row(ui, option, label, [&](float width) {
        const DragResult result = drag_field(ui, "number", shown, fill, width);
        if (result.typed) set_option(ui, option, *result.typed);
        if (!result.steps) return;
        const std::string value = std::to_string(next(result.steps));
        if (value != current_text(ui, option)) set_option(ui, option, value, result.gesture);
    });
}

void number_row(Ui& ui, std::string_view option, const char* label, double value, double least, double most) {
    option_row(ui, option, label, [&](float width) {
        const DragResult result = drag_field(ui, "number", exact_text(value), -1, width);
        if (result.typed) set_option(ui, option, *result.typed);
        const double next = std::clamp(value + result.steps, least, most);
        if (result.steps && next != value) set_option(ui, option, exact_text(next), result.gesture);
    });
}

void factor_row(Ui& ui, std::string_view option, const char* label, double value, float fill) {
    option_row(ui, option, label, [&](float width) {
        const DragResult result = drag_field(ui, "factor", short_text(value), fill, width);
        if (result.typed) set_option(ui, option, *result.typed);
        if (!result.steps) return;
        const double next = value == 0 ? 0.01 * result.steps : value * std::pow(1.05, result.steps);
        set_option(ui, option, short_text(next), result.gesture);
    });
}

void share_row(Ui& ui, std::string_view option, const char* label, double value, double most) {
    option_row(ui, option, label, [&](float width) {
        const DragResult result =
            drag_field(ui, "share", short_text(value), static_cast<float>(value / most), width);
        if (result.typed) set_option(ui, option, *result.typed);
        if (!result.steps) return;
        const double next = std::clamp(std::round(value * 100 + result.steps) / 100, 0.0, most);
        set_option(ui, option, short_text(next), result.gesture);
    });
}

}  // namespace attnscope
