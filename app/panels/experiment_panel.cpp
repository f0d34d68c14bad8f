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
    choice_row(ui, "projection", "Draw", rules);
    projection_seed_row(ui,
                        e.projection == "none" && !e.output_projection ? "There are no weights to draw" : "");
}

void heads_section(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    section_header(ui, "Heads", "d_k = " + std::to_string(e.dim / std::max(e.heads, 1)));
    const int most = std::min(e.dim, k_max_heads);
    whole_row(
        ui, "heads", "Heads", static_cast<float>(e.heads) / static_cast<float>(most),
        [](const Experiment& x, int steps) {
            int heads = x.heads;
            for (int step = 0; step < std::abs(steps); ++step) {
                const int direction = steps > 0 ? 1 : -1;
                int next = heads + direction;
                while (next >= 1 && next <= std::min(x.dim, k_max_heads) && x.dim % next != 0)
                    next += direction;
                if (next < 1 || next > std::min(x.dim, k_max_heads)) break;
                heads = next;
            }
            return heads;
        },
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

const MaskRule* rule_of(const Experiment& e, std::string_view kind) {
    const auto found = std::ranges::find(e.mask, kind, &MaskRule::kind);
    return found == e.mask.end() ? nullptr : &*found;
}

std::string open_cells(Ui& ui) {
    const Stage* mask = ui.document.trace() ? ui.document.trace()->find("mask") : nullptr;
    if (!mask) return "";
    const auto all = mask->shape().size();
    const auto open = static_cast<std::size_t>((mask->buffer.host().head(0).array() != 0).count());
    return std::to_string(open) + " of " + std::to_string(all) + " open";
}

/// Sets the rules of the mask, in the order of the table.
void set_mask(Ui& ui, bool causal, const std::optional<MaskRule>& valid, const std::string& gesture = {}) {
    ui.document.change(
        [&](Session& session) {
            session.experiment.mask.clear();
            if (causal) session.experiment.mask.push_back({"causal", {}});
            if (valid) session.experiment.mask.push_back(*valid);
        },
        gesture);
    ui.state.notice = {};
}

int token_count(Ui& ui) {
    return ui.document.trace() ? static_cast<int>(ui.document.trace()->columns.size()) : 1;
}

void length_row(Ui& ui, const MaskRule& valid) {
    const bool causal = rule_of(ui.document.experiment(), "causal");
    std::string lengths = mask_rule_text(valid).substr(6);
    option_row(ui, "mask", "Length", "", [&](float width) {
        const float fill = valid.arguments.size() == 1
                               ? static_cast<float>(valid.arguments[0]) / static_cast<float>(token_count(ui))
                               : -1;
        const DragResult result = drag_field(ui, "length", lengths, fill, width);
        try {
            if (result.typed) set_mask(ui, causal, parse_mask_rule("valid:" + *result.typed));
        } catch (const std::exception& error) {
            ui.state.notice = {error.what(), true};
        }
        if (!result.steps || valid.arguments.size() != 1) return;
        const auto next = std::clamp<std::int64_t>(valid.arguments[0] + result.steps, 0, token_count(ui));
        set_mask(ui, causal, MaskRule{"valid", {next}}, result.gesture);
    });
}

void mask_section(Ui& ui) {
    section_header(ui, "Mask", open_cells(ui));
    const Experiment& e = ui.document.experiment();
    const bool causal = rule_of(e, "causal");
    const std::optional<MaskRule> valid =
        rule_of(e, "valid") ? std::optional(*rule_of(e, "valid")) : std::nullopt;
    const std::vector<Choice> kinds = {
        {"none", "none", "Every query may look at every key"},
        {"causal", "causal", std::string(find_mask_kind("causal")->summary)},
        {"valid", "valid length", std::string(find_mask_kind("valid")->summary)},
        {"both", "causal + valid", "Both rules must allow a pair"}};
    option_row(ui, "mask", "Kind", "", [&](float) {
        const std::string current = causal && valid ? "both" : causal ? "causal" : valid ? "valid" : "none";
        const auto picked = choice_field(ui, "##kind", kinds, current);
        if (!picked) return;
        const MaskRule length = valid.value_or(MaskRule{"valid", {std::max(1, token_count(ui) - 2)}});
        const bool with_length = *picked == "valid" || *picked == "both";
        set_mask(ui, *picked == "causal" || *picked == "both",
                 with_length ? std::optional(length) : std::nullopt);
    });
    if (valid) length_row(ui, *valid);
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
    for (void (*section)(Ui&) : {input_section, embedding_section, projections_section, heads_section,
                                 score_section, mask_section, softmax_section, output_section})
        section(ui);
    ImGui::EndChild();
}

}  // namespace attnscope
