#include "core/session/comparisons.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "core/error.h"
#include "core/graph/graph.h"
#include "core/learn/training_run.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/session/applies.h"
#include "core/session/options.h"
#include "core/text/tokenizer.h"

namespace attnscope {
namespace {

void set(Session& session, OptionName name, const std::string& value) {
    const Option& found = option_named(name);
    if (why_unused(found, session.experiment).empty()) set_from_text(session, found, value);
}

void mask(Session& session, const std::string& rule) {
    const Option& found = option_named("mask");
    if (!why_unused(found, session.experiment).empty()) return;
    add_from_text(session, found, "none");
    add_from_text(session, found, rule);
}

void another_seed(Session& session) {
    if (!why_unused(option_named("seed"), session.experiment).empty()) return;
    Seed& seed = session.experiment.weights.seed;
    const std::optional<Seed> next = Seed::read(std::to_string(seed.bits() + 1));
    seed = next.value_or(Seed(0));
}

void another_head(Session& session) {
    const int heads = session.experiment.attention.heads;
    HeadChoice& head = session.presentation.head;
    const bool applies = why_unused(option_named("heads"), session.experiment).empty() && heads > 1;
    if (applies)
        head = {HeadChoice::Kind::one, head.kind == HeadChoice::Kind::one ? (head.head + 1) % heads : 0};
}

void mean_of_heads(Session& session) {
    if (why_unused(option_named("heads"), session.experiment).empty() &&
        session.experiment.attention.heads > 1)
        session.presentation.head = {HeadChoice::Kind::mean};
}

void another_layer(Session& session) {
    if (!why_unused(option_named("layers"), session.experiment).empty()) return;
    const int layers = session.experiment.transformer.layers;
    session.presentation.set_layer(session.presentation.layer() % layers + 1);
}

/// Unscaled, as it was published.
void additive_score(Session& session) {
    if (!why_unused(option_named("score"), session.experiment).empty()) return;
    set(session, "score", "additive");
    set(session, "scale", "none");
}

/// Closes the second half of the keys, as if they were padding.
void padding(Session& session) {
    const Input& input = session.experiment.input;
    const std::string& keys = input.text2.empty() ? input.text : input.text2;
    const auto count = static_cast<int>(tokenize(keys, tokenizer_of(input.tokenizer)).size());
    if (count > 1) mask(session, fmt::format("valid:{}", (count + 1) / 2));
}

void twice_the_temperature(Session& session) {
    set(session, "temperature", shortest_text(session.experiment.weighting.temperature * 2));
}

/// The head that is shown, or of a mean the first one. Its own weights stay: a later stage, which
/// both sides have, is shown.
void without_head(Session& session) {
    const Experiment& e = session.experiment;
    const Presentation& p = session.presentation;
    const bool has_layers = mechanism_rule(e.mechanism).has_layers;
    if (!has_layers && e.attention.heads == 1) return;
    const int head = p.head.kind == HeadChoice::Kind::one ? p.head.head : 0,
              layer = has_layers ? p.layer() : 1;
    set(session, "ablate", fmt::format("{}.{}", layer, head + 1));
    if (has_layers)
        set(session, "stage", fmt::format("{}.output", layer));
    else
        set(session, "stage", "concat");
}

void before_training(Session& session) {
    if (session.experiment.training.step > 0) session.experiment = untrained(std::move(session.experiment));
}

constexpr NeededSetting k_two_heads[] = {{"heads", "2"}};
constexpr NeededSetting k_two_layers[] = {{"mechanism", "transformer"}, {"layers", "2"}};
constexpr NeededSetting k_decoder[] = {{"mechanism", "seq2seq"}};

constexpr std::array k_presets = {
    ComparisonPreset{"another seed", "Is this pattern real, or an artifact of the seed?", "seed",
                     another_seed},
    ComparisonPreset{"with positions", "What do sinusoidal positions change?", "position",
                     [](Session& s) { set(s, "position", "sinusoidal"); }},
    ComparisonPreset{"no positions", "What does attention know about word order without them?", "position",
                     [](Session& s) { set(s, "position", "none"); }},
    ComparisonPreset{"another head", "How do two heads differ?", "head", another_head, k_two_heads},
    ComparisonPreset{"mean of the heads", "What does this head do that the others do not?", "head",
                     mean_of_heads, k_two_heads},
    ComparisonPreset{"another layer", "What changes from layer to layer?", "layer", another_layer,
                     k_two_layers},
    ComparisonPreset{"additive score",
                     "How do dot-product and additive scores differ? Additive ones are not scaled, as in "
                     "Bahdanau et al. 2015",
                     "score", additive_score},
    ComparisonPreset{"dot-product score", "How do dot-product and other scores differ?", "score",
                     [](Session& s) { set(s, "score", "dot"); }},
    ComparisonPreset{"no scaling", "What does dividing by √d_k do?", "scale",
                     [](Session& s) { set(s, "scale", "none"); }},
    ComparisonPreset{"causal mask", "What changes when a token may not see the future?", "mask",
                     [](Session& s) { mask(s, "causal"); }},
    ComparisonPreset{"padding mask", "What does padding do? The second half of the keys is closed", "mask",
                     padding},
    ComparisonPreset{"no mask", "What does the mask change?", "mask", [](Session& s) { mask(s, "none"); }},
    ComparisonPreset{"twice the temperature", "What does a softer softmax do?", "temperature",
                     twice_the_temperature},
    ComparisonPreset{"hard attention", "What does hard attention do differently?", "normalizer",
                     [](Session& s) { set(s, "normalizer", "hard"); }},
    ComparisonPreset{"local attention", "How do global and local attention differ?", "normalizer",
                     [](Session& s) { set(s, "normalizer", "local-m"); }},
    ComparisonPreset{"sparsemax", "What does sparsemax set to exactly 0?", "normalizer",
                     [](Session& s) { set(s, "normalizer", "sparsemax"); }},
    ComparisonPreset{"no attention", "What does the decoder know without attention?", "decoder-attention",
                     [](Session& s) { set(s, "decoder-attention", "none"); }, k_decoder},
    ComparisonPreset{"without this head", "What does this head contribute?", "ablate", without_head,
                     k_two_heads},
    ComparisonPreset{"before training",
                     "What did training change? Press Play to train it again",
                     "step",
                     before_training,
                     {},
                     k_train_first},
};

}  // namespace

std::span<const ComparisonPreset> comparison_presets() { return k_presets; }

const ComparisonPreset* find_comparison_preset(std::string_view name) {
    const auto found = std::ranges::find(k_presets, name, &ComparisonPreset::name);
    return found == k_presets.end() ? nullptr : &*found;
}

Pinned pinned(const Session& session) {
    return {session.experiment, session.presentation.head, session.presentation.layer()};
}

std::optional<Session> with_preset(const Session& session, const ComparisonPreset& preset) {
    Session changed = session;
    const bool valid = succeeds([&] {
        preset.change(changed);
        check(changed.experiment);
    });
    if (!valid) return std::nullopt;
    const Pinned before = pinned(session);
    if (pinned(changed) == before) return std::nullopt;
    changed.pinned = before;
    return changed;
}

std::optional<Session> with_needs(const Session& session, const ComparisonPreset& preset) {
    if (preset.needs.empty()) return std::nullopt;
    Session able = session;
    const bool valid = succeeds([&] {
        for (const NeededSetting& each : preset.needs)
            set_from_text(able, option_named(each.option), std::string(each.value));
        if (able.experiment.training.step > 0 && !why_parameters_do_not_fit(able.experiment).empty())
            able.experiment = untrained(std::move(able.experiment));
        build(able.experiment);
    });
    return valid && with_preset(able, preset) ? std::optional(std::move(able)) : std::nullopt;
}

std::optional<Session> with_preset_and_needs(const Session& session, const ComparisonPreset& preset) {
    if (std::optional<Session> changed = with_preset(session, preset)) return changed;
    const std::optional<Session> able = with_needs(session, preset);
    return able ? with_preset(*able, preset) : std::nullopt;
}

std::vector<OfferedComparison> offered_comparisons(const Session& session) {
    std::vector<OfferedComparison> offered, after;
    for (const ComparisonPreset& preset : k_presets) {
        if (with_preset(session, preset)) {
            offered.push_back({&preset, "", ""});
            continue;
        }
        if (!preset.lacks.empty() && session.experiment.training.step == 0)
            after.push_back({&preset, "", std::string(preset.lacks)});
        const std::optional<Session> able = with_needs(session, preset);
        if (!able) continue;
        std::string needs;
        for (const NeededSetting& each : preset.needs)
            if (text_of(session, option_named(each.option)) != each.value)
                needs += fmt::format("{}{} to {}", needs.empty() ? "" : ", ", each.option.text(), each.value);
        after.push_back({&preset, std::move(needs), ""});
    }
    std::ranges::move(after, std::back_inserter(offered));
    return offered;
}

Session exchanged(Session session) {
    if (!session.pinned) return session;
    Pinned before = std::exchange(*session.pinned, pinned(session));
    session.pinned->on_cpu = before.on_cpu;
    session.experiment = std::move(before.experiment);
    session.presentation.head = before.head;
    session.presentation.set_layer(before.layer);
    return session;
}

std::string change_text(const SettingDifference& difference) {
    constexpr std::size_t k_long = 32;  // bytes of both
    if (difference.option == "given") return "custom " + difference.b;
    const std::string before = difference.a.empty() ? "none" : difference.a,
                      after = difference.b.empty() ? "none" : difference.b;
    const std::string name = name_in_words(difference.option.text());
    if (before.size() + after.size() > k_long) return fmt::format("{}: {}", name, after);
    return fmt::format("{} {} → {}", name, before, after);
}

std::vector<SettingDifference> setting_differences(const Session& session) {
    std::vector<SettingDifference> differences;
    if (!session.pinned) return differences;
    const Session a = exchanged(session);
    for (const Option& option : options()) {
        if (!option.in_experiment() && option.name != "head" && option.name != "layer") continue;
        if (option.type == OptionType::matrices) continue;
        const bool used =
            why_unused(option, a.experiment).empty() || why_unused(option, session.experiment).empty();
        std::string of_a = text_of(a, option), of_b = text_of(session, option);
        if (!used || of_a == of_b) continue;
        const bool picture = option.type == OptionType::picture;
        differences.push_back(
            {option.name, picture ? "a picture" : of_a, picture ? "another picture" : of_b});
    }
    const auto &custom_a = a.experiment.weights.custom, &custom_b = session.experiment.weights.custom;
    std::string names;
    for (const OverridableMatrix& each : overridable_matrices()) {
        const std::string name(each.name);
        const auto in_a = custom_a.find(name), in_b = custom_b.find(name);
        const bool has_a = in_a != custom_a.end(), has_b = in_b != custom_b.end();
        if (has_a != has_b || (has_a && !(in_a->second == in_b->second)))
            names += (names.empty() ? "" : ", ") + name;
    }
    if (!names.empty()) differences.push_back({"given", names, names});
    return differences;
}

}  // namespace attnscope
