// The mask's rules, one row each, and the custom matrices.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/document/custom.h"
#include "app/panels/own_rows.h"
#include "app/panels/setting_rows.h"
#include "core/error.h"
#include "core/experiment/masks.h"
#include "core/number_text.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

const char* const k_painted_help = "a custom mask: any pairs, painted or set as a matrix";

int token_count(Desk& desk) {
    return desk.document.trace() ? static_cast<int>(desk.document.trace()->columns.size()) : 1;
}

/// Sets the rules; if they are rejected, the reason becomes the notice and nothing changes.
void set_mask(Desk& desk, std::vector<MaskRule> rules, const std::string& gesture = {}) {
    Experiment trial = desk.document.experiment();
    trial.weighting.mask = std::move(rules);
    try {
        check(trial);
    } catch (const std::exception& error) {
        desk.state.notice = {problem_text(error), true};
        return;
    }
    desk.state.notice = {};
    desk.document.change([&](Session& session) { session.experiment.weighting.mask = trial.weighting.mask; },
                         gesture);
}

/// The rules with one added, in the order of the table of kinds.
std::vector<MaskRule> with_rule(std::vector<MaskRule> rules, const MaskKind& kind, int tokens) {
    const auto later =
        std::ranges::find_if(rules, [&](const MaskRule& rule) { return rule.kind > kind.choice; });
    rules.insert(later, {kind.choice, kind.first(tokens)});
    return rules;
}

std::string arguments_text(const MaskRule& rule) {
    const std::string text = mask_rule_text(rule);
    const std::size_t colon = text.find(':');
    return colon == std::string::npos ? "" : text.substr(colon + 1);
}

/// The arguments of the rule at `index`: a single one can be dragged, any number can be typed.
void arguments_field(Desk& desk, const Ui& ui, std::size_t index, float width) {
    std::vector<MaskRule> rules = desk.document.experiment().weighting.mask;
    MaskRule& rule = rules[index];
    const bool single = rule.arguments.size() == 1;
    const int tokens = token_count(desk);
    const float fill =
        single ? static_cast<float>(rule.arguments[0]) / static_cast<float>(std::max(tokens, 1)) : -1;
    const DragResult result = drag_field(ui, "numbers", arguments_text(rule), fill, width);
    try {
        if (result.typed) {
            rule = parse_mask_rule(std::string(name_of(rule.kind)) + ":" + *result.typed);
            set_mask(desk, rules);
        }
    } catch (const std::exception& error) {
        desk.state.notice = {problem_text(error), true};
    }
    if (!result.steps || !single) return;
    rule.arguments[0] = std::clamp<std::int64_t>(rule.arguments[0] + result.steps, 0, tokens);
    set_mask(desk, rules, result.gesture);
}

/// A row for a kind that is off (no `index`), or for the rule at `index` in the experiment's rules.
void mask_row(Desk& desk, const Ui& ui, const Option& option, const MaskKind& kind, const std::string& label,
              std::optional<std::size_t> index) {
    const auto control = [&](float width) {
        const bool pressed = switch_field(ui, "on", index.has_value());
        tooltip(ui, std::string(kind.summary));
        if (pressed) {
            std::vector<MaskRule> rules = desk.document.experiment().weighting.mask;
            if (index)
                rules.erase(rules.begin() + static_cast<std::ptrdiff_t>(*index));
            else
                rules = with_rule(std::move(rules), kind, token_count(desk));
            set_mask(desk, std::move(rules));
            return;
        }
        if (!index || kind.arguments.empty()) return;
        ImGui::SameLine(0, ui.px(6));
        arguments_field(desk, ui, *index, width - ui.px(46));
    };
    option_row(desk, ui, option, control,
               {.label = label, .help = std::string(kind.summary), .is_off = !index});
}

void show_stage(Desk& desk, const StageKey& key, const std::string& gesture = {}) {
    desk.document.change(
        [&](Session& session) {
            session.presentation.focus(key);
            session.presentation.view = ViewKind::pipeline;
        },
        gesture);
    desk.state.zoom = {};
}

/// The stage that a custom matrix is; nullopt where it is none, as the rows of words are.
std::optional<StageKey> find_stage_of(const Desk& desk, const std::string& name) {
    if (CustomName(name) == CustomName("mask")) return mask_stage(desk.document.experiment());
    return find_stage_key(name);
}

/// A button that focuses the matrix, and one that discards it.
void custom_fields(Desk& desk, const Ui& ui, const std::string& name, const CustomMatrix& matrix,
                   float width) {
    const float remove = ui.px(26);
    if (small_button(ui, "show", size_text(matrix.values().rows(), matrix.values().cols()),
                     "Show it in the focus to edit its cells", width - remove - ui.px(4)))
        show_stage(desk, find_stage_of(desk, name).value_or(desk.document.presentation().stage));
    ImGui::SameLine(0, ui.px(4));
    if (small_button(ui, "remove", "×", "Discard", remove)) discard_custom(desk.document, name);
}

/// Focuses the mask. Where no rule closes anything a decoder has no mask stage: a custom mask that is all
/// open is then set.
void begin_painting(Desk& desk) {
    const StageInfo* stage = mask_stage(desk.document.experiment());
    const Trace* trace = desk.document.trace().get();
    const std::string gesture = "paint…";
    if (trace && !trace->find(stage)) {
        const CustomSize size = custom_size(*trace, "mask");
        paint_mask(desk.document, editable_mask(desk.document.experiment(), size.rows, size.columns),
                   gesture);
    }
    show_stage(desk, stage, gesture);
    desk.document.end_gesture();
}

/// The custom mask, or a button that starts painting one.
void painted_row(Desk& desk, const Ui& ui, const Option& option) {
    const CustomMatrix* mask = desk.document.experiment().weights.find_custom("mask");
    const auto control = [&](float width) {
        if (mask) return custom_fields(desk, ui, "mask", CustomMatrix(*mask), width);
        if (small_button(ui, "paint", "paint…", "Shows the mask: click and drag to paint", width))
            begin_painting(desk);
    };
    option_row(desk, ui, option, control, {.label = "Painted", .help = k_painted_help, .is_off = !mask});
}

}  // namespace

std::string open_cells(const Desk& desk) {
    const Stage* mask =
        desk.document.trace() ? desk.document.trace()->find(mask_stage(desk.document.experiment())) : nullptr;
    if (!mask) return "";
    const std::size_t all = mask->shape().size(), open = all - mask->buffer.range().zero;
    return fmt::format("{} of {} open", open, all);
}

/// One row per kind of rule, and another for each further rule of the same kind.
void mask_rows(Desk& desk, const Ui& ui, const Option& option) {
    for (const MaskKind& kind : mask_kinds()) {
        const std::string name(kind.label);
        const std::vector<MaskRule> rules = desk.document.experiment().weighting.mask;
        int shown = 0;
        for (std::size_t i = 0; i < rules.size(); ++i)
            if (rules[i].kind == kind.choice) {
                ++shown;
                mask_row(desk, ui, option, kind, shown == 1 ? name : fmt::format("{} {}", name, shown), i);
                if (desk.document.experiment().weighting.mask != rules) return;
            }
        if (shown) continue;
        if (kind.is_common || !leaves_out(desk, ui, option.name, name, std::string(kind.summary)))
            mask_row(desk, ui, option, kind, name, std::nullopt);
    }
    const bool painted = desk.document.experiment().is_custom("mask");
    if (painted || !leaves_out(desk, ui, option.name, "Painted", k_painted_help))
        painted_row(desk, ui, option);
}

void custom_rows(Desk& desk, const Ui& ui, const Option& option) {
    const auto given = desk.document.experiment().weights.custom;  // copied, as a button changes it
    for (const auto& [name, matrix] : given)
        if (CustomName(name) != CustomName("mask"))
            option_row(desk, ui, option,
                       [&, &name = name, &matrix = matrix](float width) {
                           custom_fields(desk, ui, name, matrix, width);
                       },
                       {.label = name, .help = std::string(find_overridable(name)->what)});
    const auto control = [&](float width) {
        if (small_button(ui, "give", "set…", "Set a matrix by hand instead of computing or drawing it",
                         width))
            desk.state.open(Dialog::giving);
    };
    option_row(desk, ui, option, control,
               {.help = "a stage or a weight matrix, typed, pasted, or read from a CSV or NPY file"});
}

}  // namespace attnscope
