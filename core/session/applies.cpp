#include "core/session/applies.h"

#include <algorithm>

#include "core/learn/training_run.h"
#include "core/mechanism/mechanisms.h"

namespace attnscope {
namespace {

// ---- Options of training, none of which changes a trace

std::string no_task(const Experiment& e) {
    if (e.training.task == TaskKind::none) return "no task is chosen";
    return can_be_trained(e) ? "" : "the task is for another mechanism";
}

std::string no_corpus(const Experiment& e) {
    if (!no_task(e).empty()) return no_task(e);
    return task_of(e.training.task).reads_corpus ? "" : "the task draws its own sentences";
}

std::string no_momentum(const Experiment& e) {
    if (!no_task(e).empty()) return no_task(e);
    return has_momentum(e.training.optimizer.kind) ? "" : "only sgd has momentum";
}

std::string no_layers(const Experiment& e) {
    if (!no_task(e).empty()) return no_task(e);
    return mechanism_rule(e.mechanism).has_layers ? ""
                                                  : "only a transformer can be trained without some heads";
}

constexpr std::string_view k_task = "a task is chosen";

constexpr OptionRule k_training[] = {
    {"task"},
    {"corpus", "task is next-word or next-character", no_corpus},
    {"optimizer", k_task, no_task},
    {"learning-rate", k_task, no_task},
    {"momentum", "a task is chosen and optimizer is sgd", no_momentum},
    {"weight-decay", k_task, no_task},
    {"clip", k_task, no_task},
    {"warm-up", k_task, no_task},
    {"decay", k_task, no_task},
    {"batch", k_task, no_task},
    {"data-seed", k_task, no_task},
    {"train-ablated", "a transformer's task is chosen", no_layers},
    {"step", k_task, no_task},
};

// ---- Options of the presentation, which are always accepted

struct Note {
    OptionName option;
    std::string_view when;
    bool is_of_exports = false;
};
constexpr Note k_presentation[] = {
    {"layer", "mechanism is transformer"},
    {"head", "heads > 1"},
    {"head-names", "heads > 1"},
    {"mass", "the window, pictures of views"},
    {"locked", "the window, pictures of views and of steps"},
    {"pooling", "more than 4096 tokens"},
    {"cell-size", "exported pictures", true},
    {"max-cells", "exported stages of queries × keys, and more than 4096 tokens", true},
    {"region", "exported stages of queries × keys", true},
    {"decimals", "exported pictures", true},
    {"title", "exported pictures", true},
    {"compose", "exported pictures of stages", true},
    {"width", "exported pictures", true},
    {"dpi", "exported PNG with a width", true},
    {"font-size", "exported pictures with a width", true},
};

/// nullptr if there is nothing to say of the option.
const Note* note_of(const Option& option) {
    const auto found =
        std::ranges::find(k_presentation, option.name, [](const Note& note) { return note.option.text(); });
    return found == std::end(k_presentation) ? nullptr : &*found;
}

// ----

/// nullptr if the mechanism does not use the option.
const OptionRule* rule_of(const Mechanism& mechanism, const Option& option) {
    const bool trains = option.section == OptionSection::training;
    if (trains && !mechanism.why_not_trained.empty()) return nullptr;
    const std::span<const OptionRule> rules = trains ? std::span(k_training) : mechanism.options;
    const auto found =
        std::ranges::find(rules, option.name, [](const OptionRule& rule) { return rule.option.text(); });
    return found == rules.end() ? nullptr : &*found;
}

/// The mechanisms that use an option under the same condition.
struct Condition {
    std::string_view when;
    std::vector<std::string_view> mechanisms;

    /// "mechanism is seq2seq, and decode is greedy".
    std::string text() const {
        std::string names;
        for (const std::string_view name : mechanisms)
            names += (names.empty() ? "mechanism is " : " or ") + std::string(name);
        return when.empty() ? names : names + ", and " + std::string(when);
    }
};

std::vector<Condition> conditions_of(const Option& option) {
    std::vector<Condition> conditions;
    for (const Mechanism* mechanism : mechanisms()) {
        const OptionRule* rule = rule_of(*mechanism, option);
        if (!rule || rule->is_never_used()) continue;
        auto same = std::ranges::find(conditions, rule->when, &Condition::when);
        if (same == conditions.end()) same = conditions.insert(same, {rule->when, {}});
        same->mechanisms.push_back(name_of(mechanism->choice));
    }
    return conditions;
}

}  // namespace

std::string why_unused(const Option& option, const Experiment& experiment) {
    if (!option.in_experiment()) return "";
    const Mechanism& mechanism = mechanism_of(experiment);
    const bool trains = option.section == OptionSection::training;
    // What decides the first parameters starts the run again.
    if (!trains && can_be_trained(experiment) && experiment.training.step > 0)
        return why_unused(option, untrained(experiment));
    const OptionRule* rule = rule_of(mechanism, option);
    if (!rule) return std::string(trains ? mechanism.why_not_trained : mechanism.other_options);
    return rule->why_unused ? rule->why_unused(experiment) : "";
}

bool is_of_exports(const Option& option) {
    const Note* note = note_of(option);
    return note && note->is_of_exports;
}

std::string when_used(const Option& option) {
    if (!option.in_experiment()) {
        const Note* note = note_of(option);
        return note ? std::string(note->when) : "";
    }
    const std::vector<Condition> conditions = conditions_of(option);
    if (conditions.empty()) return "never";
    const Condition& first = conditions.front();
    // A task says which mechanism learns it.
    const bool says_all = option.section == OptionSection::training && !first.when.empty();
    if (says_all || first.mechanisms.size() == mechanisms().size()) return std::string(first.when);
    std::string text;
    for (const Condition& each : conditions) text += (text.empty() ? "" : "; or ") + each.text();
    return text;
}

}  // namespace attnscope
