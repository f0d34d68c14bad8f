#include <algorithm>
#include <cmath>
#include <random>

#include "app/panels/panels.h"
#include "app/window/widgets.h"
#include "core/attention/masks.h"
#include "core/attention/scores.h"
#include "core/picture/number_text.h"
#include "core/random/initializers.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"

namespace attnscope {
namespace {

/// The entries of a table as choices.
template <typename Table>
std::vector<Choice> choices_of(const Table& table) {
    std::vector<Choice> choices;
    for (const auto& entry : table)
        choices.push_back({std::string(entry.name), std::string(entry.name), std::string(entry.summary)});
    return choices;
}

void choice_row(Ui& ui, std::string_view option, const char* label, const std::vector<Choice>& choices,
                const std::string& disabled = {}) {
    option_row(ui, option, label, disabled, [&](float) {
        const std::string current = text_of(ui.document.session(), *find_option(option));
        if (const auto picked = choice_field(ui, "##choice", choices, current))
            set_option(ui, option, *picked);
    });
}

Seed stepped(const Seed& seed, int steps) {
    const std::uint64_t bits = seed.bits() + static_cast<std::uint64_t>(static_cast<std::int64_t>(steps));
    // Stepping below 0 goes on with negative seeds, and back.
    const bool negative =
        seed.negative() ? static_cast<std::int64_t>(bits) < 0 : steps < 0 && bits > seed.bits();
    return negative ? Seed(static_cast<std::int64_t>(bits)) : Seed::from_unsigned(bits);
}

/// A seed with its die.
void seed_control(Ui& ui, std::string_view option, const Seed& seed, const std::string& shown, float width) {
    const float die = ui.px(26);
    const DragResult result = drag_field(ui, "seed", shown, -1, width - die - ui.px(4));
    if (result.steps) set_option(ui, option, stepped(seed, result.steps).text(), result.gesture);
    if (result.typed) set_option(ui, option, *result.typed);
    ImGui::SameLine(0, ui.px(4));
    if (small_button(ui, "die", "⚄", "Roll a seed", die))
        set_option(ui, option, std::to_string(std::random_device{}() % 1'000'000U));
}

/// A whole number that is dragged along the values that are possible, and typed.
void whole_row(Ui& ui, std::string_view option, const char* label, float fill,
               int (*next)(const Experiment&, int steps), const std::string& disabled = {}) {
    option_row(ui, option, label, disabled, [&](float width) {
        const std::string current = text_of(ui.document.session(), *find_option(option));
        const DragResult result = drag_field(ui, "number", current, fill, width);
        if (result.typed) set_option(ui, option, *result.typed);
        if (!result.steps) return;
        const std::string value = std::to_string(next(ui.document.experiment(), result.steps));
        if (value != current) set_option(ui, option, value, result.gesture);
    });
}

/// A positive number that is dragged by tenths of its size.
void factor_row(Ui& ui, std::string_view option, const char* label, double value, float fill,
                const std::string& disabled = {}) {
    option_row(ui, option, label, disabled, [&](float width) {
        const DragResult result = drag_field(ui, "factor", short_text(value), fill, width);
        if (result.typed) set_option(ui, option, *result.typed);
        if (!result.steps) return;
        const double next = value == 0 ? 0.01 * result.steps : value * std::pow(1.05, result.steps);
        set_option(ui, option, short_text(next), result.gesture);
    });
}

void input_section(Ui& ui) {
    section_header(ui, "Input", "");
    choice_row(ui, "tokenizer", "Tokens", choices_of(tokenizers()));
    choice_row(ui, "vocabulary", "Vocabulary", choices_of(vocabulary_rules()));
}

bool stable(const Experiment& e) { return e.vocabulary == "stable"; }

std::string table_shape(Ui& ui) {
    const Stage* table = ui.document.trace() ? ui.document.trace()->find("table") : nullptr;
    return table ? std::to_string(table->shape().rows) + " × " + std::to_string(table->shape().columns) : "";
}

void embedding_section(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    section_header(ui, "Embedding", table_shape(ui));
    option_row(ui, "seed", "Seed", "",
               [&](float width) { seed_control(ui, "seed", e.seed, e.seed.text(), width); });
    whole_row(ui, "dim", "Dimension", std::log2(static_cast<float>(e.dim)) / 10,
              [](const Experiment& x, int steps) { return nearest_dim(x.dim + steps * x.heads, x.heads); });
    choice_row(ui, "embedding", "Draw", choices_of(initializers()));
    whole_row(
        ui, "table-size", "Table rows", -1,
        [](const Experiment& x, int steps) { return std::clamp(x.table_size + steps, 0, k_max_table_size); },
        stable(e) ? "A stable vocabulary has a row for each word and no others" : "");
}

void projection_seed_row(Ui& ui, const std::string& disabled) {
    using Kind = ProjectionSeed::Kind;
    const Experiment& e = ui.document.experiment();
    const ProjectionSeed& seed = e.projection_seed;
    const std::vector<Choice> kinds = {{"same", "same", "The embedding's seed again, as notebook 1 does"},
                                       {"continue", "continue", "Go on where the embedding's draw ended"},
                                       {e.seed.text(), "own", "A seed of their own"}};
    option_row(ui, "projection-seed", "Seed", disabled, [&](float) {
        const std::string current = seed.kind == Kind::own
                                        ? e.seed.text()
                                        : text_of(ui.document.session(), *find_option("projection-seed"));
        if (const auto picked = choice_field(ui, "##kind", kinds, current))
            set_option(ui, "projection-seed", *picked);
    });
    if (seed.kind != Kind::own) return;
    option_row(ui, "projection-seed", "Own seed", disabled,
               [&](float width) { seed_control(ui, "projection-seed", seed.seed, seed.seed.text(), width); });
}

void projections_section(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    const std::string d = std::to_string(e.dim);
    section_header(ui, "Projections", e.projection == "none" ? "Q = K = V = X" : d + " × " + d);
    std::vector<Choice> rules = {{"none", "none", "Q = K = V = X"}};
    for (Choice& rule : choices_of(projection_rules())) rules.push_back(std::move(rule));
    ImGui::PushID("projections");  // other sections have rows of these names
    choice_row(ui, "projection", "Draw", rules);
    projection_seed_row(ui,
                        e.projection == "none" && !e.output_projection ? "There are no weights to draw" : "");
    ImGui::PopID();
}

void heads_section(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    section_header(ui, "Heads", "d_k = " + std::to_string(e.dim / std::max(e.heads, 1)));
    const int most = std::min(e.dim, k_max_heads);
    whole_row(
        ui, "heads", "Heads", static_cast<float>(e.heads) / static_cast<float>(most),
        [](const Experiment& x, int steps) { return stepped_head_count(x.heads, steps, x.dim); },
        e.dim == 1 ? "One dimension cannot be divided among heads" : "");
}

void score_section(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    const int d_k = e.dim / std::max(e.heads, 1);
    const double factor = e.scale.factor(d_k);
    section_header(ui, "Score", "× " + short_text(factor));
    choice_row(ui, "score", "Function", choices_of(score_functions()));
    const std::vector<Choice> kinds = {
        {"sqrt", "1/√d_k = " + short_text(1 / std::sqrt(double(d_k))), "Divide by √d_k"},
        {"none", "none", "Scores as they are"},
        {short_text(factor), "a number", "Any factor"}};
    option_row(ui, "scale", "Scale", "", [&](float) {
        const std::string current = e.scale.kind == Scale::Kind::number
                                        ? short_text(factor)
                                        : text_of(ui.document.session(), *find_option("scale"));
        if (const auto picked = choice_field(ui, "##kind", kinds, current)) set_option(ui, "scale", *picked);
    });
    factor_row(ui, "scale", "Factor", factor, -1);
}

std::string open_cells(Ui& ui) {
    const Stage* mask = ui.document.trace() ? ui.document.trace()->find("mask") : nullptr;
    if (!mask) return "";
    const auto all = mask->shape().size();
    const auto open = static_cast<std::size_t>((mask->buffer.host().head(0).array() != 0).count());
    return std::to_string(open) + " of " + std::to_string(all) + " open";
}

int token_count(Ui& ui) {
    return ui.document.trace() ? static_cast<int>(ui.document.trace()->columns.size()) : 1;
}

/// Sets the rules; a list that is refused becomes the notice, and nothing changes.
void set_mask(Ui& ui, std::vector<MaskRule> rules, const std::string& gesture = {}) {
    Experiment trial = ui.document.experiment();
    trial.mask = std::move(rules);
    try {
        check(trial);
    } catch (const std::exception& error) {
        ui.state.notice = {error.what(), true};
        return;
    }
    ui.state.notice = {};
    ui.document.change([&](Session& session) { session.experiment.mask = trial.mask; }, gesture);
}

/// A first rule of a kind: without numbers, or with the first of some that the kind takes.
MaskRule first_rule(const MaskKind& kind, int tokens) {
    MaskRule rule{std::string(kind.name), {}};
    if (kind.arguments.empty()) return rule;
    for (const std::vector<std::int64_t>& arguments :
         {std::vector<std::int64_t>{std::max(1, tokens - 2)}, std::vector<std::int64_t>{1, 1}}) {
        rule.arguments = arguments;
        try {
            kind.check(rule);
            return rule;
        } catch (const std::exception&) {
            continue;
        }
    }
    return rule;
}

/// The rules with one more, which stands where the table has its kind.
std::vector<MaskRule> with_rule(std::vector<MaskRule> rules, const MaskKind& kind, int tokens) {
    const auto later =
        std::ranges::find_if(rules, [&](const MaskRule& rule) { return find_mask_kind(rule.kind) > &kind; });
    rules.insert(later, first_rule(kind, tokens));
    return rules;
}

std::string arguments_text(const MaskRule& rule) {
    const std::string text = mask_rule_text(rule);
    const std::size_t colon = text.find(':');
    return colon == std::string::npos ? "" : text.substr(colon + 1);
}

/// The numbers of the rule at `index`: one is dragged, all can be typed.
void arguments_field(Ui& ui, std::size_t index, float width) {
    std::vector<MaskRule> rules = ui.document.experiment().mask;
    MaskRule& rule = rules[index];
    const bool single = rule.arguments.size() == 1;
    const int tokens = token_count(ui);
    const float fill =
        single ? static_cast<float>(rule.arguments[0]) / static_cast<float>(std::max(tokens, 1)) : -1;
    const DragResult result = drag_field(ui, "numbers", arguments_text(rule), fill, width);
    try {
        if (result.typed) {
            rule = parse_mask_rule(rule.kind + ":" + *result.typed);
            set_mask(ui, rules);
        }
    } catch (const std::exception& error) {
        ui.state.notice = {error.what(), true};
    }
    if (!result.steps || !single) return;
    rule.arguments[0] = std::clamp<std::int64_t>(rule.arguments[0] + result.steps, 0, tokens);
    set_mask(ui, rules, result.gesture);
}

/// A kind that is off, or one rule of it: `index` counts in the experiment's rules.
void mask_row(Ui& ui, const MaskKind& kind, const std::string& label, std::optional<std::size_t> index) {
    option_row(ui, "mask", label.c_str(), "", [&](float width) {
        const bool pressed = switch_field(ui, "on", index.has_value());
        tooltip(ui, std::string(kind.summary));
        if (pressed) {
            std::vector<MaskRule> rules = ui.document.experiment().mask;
            if (index)
                rules.erase(rules.begin() + static_cast<std::ptrdiff_t>(*index));
            else
                rules = with_rule(std::move(rules), kind, token_count(ui));
            set_mask(ui, std::move(rules));
            return;
        }
        if (!index || kind.arguments.empty()) return;
        ImGui::SameLine(0, ui.px(6));
        arguments_field(ui, *index, width - ui.px(46));
    });
}

/// A row for each kind of the table, and one more for each further rule of a kind.
void mask_section(Ui& ui) {
    section_header(ui, "Mask", open_cells(ui));
    for (const MaskKind& kind : mask_kinds()) {
        std::string name(kind.name);
        name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
        const std::vector<MaskRule> rules = ui.document.experiment().mask;
        int shown = 0;
        for (std::size_t i = 0; i < rules.size(); ++i)
            if (rules[i].kind == kind.name) {
                ++shown;
                mask_row(ui, kind, shown == 1 ? name : name + " " + std::to_string(shown), i);
                if (ui.document.experiment().mask != rules) return;
            }
        if (!shown) mask_row(ui, kind, name, std::nullopt);
    }
}

void softmax_section(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    section_header(ui, "Softmax", "over keys");
    const auto fill = static_cast<float>(0.5 + std::log10(e.temperature) / 4);
    factor_row(ui, "temperature", "Temperature", e.temperature, std::clamp(fill, 0.0f, 1.0f));
}

void output_section(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    const std::string d = std::to_string(e.dim);
    section_header(ui, "Output", e.output_projection ? d + " × " + d : "");
    option_row(ui, "output-projection", "Projection", "", [&](float) {
        if (switch_field(ui, "on", e.output_projection))
            set_option(ui, "output-projection", e.output_projection ? "false" : "true");
    });
}

}  // namespace

void experiment_panel(Ui& ui, const Area& area) {
    ImGui::SetCursorScreenPos(area.min);
    ImGui::GetWindowDrawList()->AddRectFilled(area.min, area.max, ink(ui.theme.panel));
    ImGui::BeginChild("experiment", {area.width(), area.height()}, false);
    ImGui::SetCursorPos({0, ui.px(4)});
    for (void (*section)(Ui&) : {input_section, embedding_section, image_section, projections_section,
                                 heads_section, score_section, mask_section, softmax_section, output_section})
        section(ui);
    ImGui::EndChild();
}

}  // namespace attnscope
