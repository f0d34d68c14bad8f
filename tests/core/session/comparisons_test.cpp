// What may be compared: the presets, and in which settings two experiments differ.
#include "core/session/comparisons.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/mechanism/evaluate.h"
#include "core/session/applies.h"
#include "core/session/examples.h"
#include "core/session/options.h"

namespace attnscope {
namespace {

Session example(const char* name) { return load_example(name); }

std::vector<std::string> names_for(const Session& session) {
    std::vector<std::string> names;
    for (const ComparisonPreset& preset : comparison_presets())
        if (with_preset(session, preset)) names.emplace_back(preset.name);
    return names;
}

bool offers(const Session& session, const char* name) {
    return std::ranges::count(names_for(session), name) == 1;
}

TEST(ComparisonsTest, EveryPresetPinsWhatIsShownAndChangesTheOptionThatItNames) {
    std::vector<std::string> ever;
    for (const auto& [name, before] : all_examples()) {
        for (const ComparisonPreset& preset : comparison_presets()) {
            const auto after = with_preset(before, preset);
            if (!after) continue;
            ever.emplace_back(preset.name);
            EXPECT_EQ(after->pinned, pinned(before)) << name << ": " << preset.name;
            const auto differences = setting_differences(*after);
            EXPECT_TRUE(std::ranges::any_of(differences,
                                            [&](const SettingDifference& each) {
                                                return each.option == preset.option && each.a != each.b;
                                            }))
                << name << ": " << preset.name;
            const Trace trace = evaluate(after->experiment);
            EXPECT_FALSE(trace.records.empty()) << name << ": " << preset.name;
        }
    }
    for (const ComparisonPreset& preset : comparison_presets())
        EXPECT_TRUE(std::ranges::count(ever, preset.name)) << preset.name << " is offered by no example";
}

TEST(ComparisonsTest, WhatWouldChangeNothingIsNotOffered) {
    const Session plain = example("scaled-dot-product");
    EXPECT_TRUE(offers(plain, "another seed"));
    EXPECT_TRUE(offers(plain, "no scaling"));
    EXPECT_TRUE(offers(plain, "causal mask"));
    EXPECT_FALSE(offers(plain, "no mask"));
    EXPECT_FALSE(offers(plain, "another head")) << "it has one";
    EXPECT_FALSE(offers(plain, "another layer"));
    EXPECT_FALSE(offers(plain, "before training"));
    EXPECT_FALSE(offers(plain, "no attention")) << "that is a decoder's";
    EXPECT_TRUE(offers(example("multi-head"), "another head"));
    EXPECT_TRUE(offers(example("learned-induction"), "another layer"));
    EXPECT_TRUE(offers(example("learned-induction"), "before training"));
    EXPECT_TRUE(offers(example("learned-induction"), "without this head"));
    EXPECT_TRUE(offers(example("bahdanau-alignment"), "no attention"));
    EXPECT_TRUE(offers(example("causal"), "no mask"));
    EXPECT_FALSE(offers(example("causal"), "causal mask"));
}

TEST(ComparisonsTest, WhatAPresetNeedsIsOfferedWithIt) {
    const auto needs_of = [](const Session& session, const char* name) {
        for (const OfferedComparison& each : offered_comparisons(session))
            if (each.preset == find_comparison_preset(name))
                return each.needs + (each.lacks.empty() ? "" : "lacks " + each.lacks);
        return std::string("not offered");
    };
    const Session plain = example("scaled-dot-product");
    EXPECT_EQ(needs_of(plain, "no scaling"), "");
    EXPECT_EQ(needs_of(plain, "no mask"), "not offered");
    EXPECT_EQ(needs_of(plain, "another head"), "heads to 2");
    EXPECT_EQ(needs_of(plain, "another layer"), "mechanism to transformer");
    EXPECT_EQ(needs_of(example("multi-head"), "no attention"), "mechanism to seq2seq");
    EXPECT_TRUE(needs_of(plain, "before training").starts_with("lacks choose a task"));
    Session odd = plain;
    odd.experiment.input.dim = 7;
    EXPECT_EQ(needs_of(odd, "another head"), "not offered") << "two heads do not divide 7";
    for (const auto& [name, session] : all_examples()) {
        bool after = false;
        for (const OfferedComparison& each : offered_comparisons(session)) {
            SCOPED_TRACE(name + ": " + std::string(each.preset->name));
            const bool applies = each.needs.empty() && each.lacks.empty();
            EXPECT_FALSE(applies && after) << "what applies comes first";
            after |= !applies;
            EXPECT_EQ(with_preset(session, *each.preset).has_value(), applies);
            const auto chosen = with_preset_and_needs(session, *each.preset);
            EXPECT_EQ(chosen.has_value(), each.lacks.empty());
            if (!chosen || applies) continue;
            EXPECT_EQ(chosen->pinned, pinned(*with_needs(session, *each.preset))) << "A has it as well";
            EXPECT_FALSE(evaluate(chosen->experiment).records.empty());
            EXPECT_FALSE(evaluate(chosen->pinned->experiment).records.empty());
            EXPECT_EQ(chosen->pinned->experiment.training.step, chosen->experiment.training.step);
        }
    }
}

TEST(ComparisonsTest, WithoutAHeadTheStageThatIsShownIsOneThatChanges) {
    for (const char* name : {"multi-head", "learned-induction"}) {
        const auto without = with_preset(example(name), *find_comparison_preset("without this head"));
        ASSERT_TRUE(without) << name;
        const StageKey& key = without->presentation.stage;
        const Trace a = evaluate(without->pinned->experiment), b = evaluate(without->experiment);
        const Stage *of_a = a.find_chosen(key), *of_b = b.find_chosen(key);
        ASSERT_TRUE(of_a && of_b) << name;
        EXPECT_FALSE(std::ranges::equal(of_a->buffer.host().values(), of_b->buffer.host().values())) << name;
    }
    EXPECT_FALSE(offers(example("scaled-dot-product"), "without this head")) << "nothing would be left";
}

TEST(ComparisonsTest, ExchangingTwiceGivesTheSameSession) {
    const Session session = *with_preset(example("multi-head"), *find_comparison_preset("another head"));
    const Session other = exchanged(session);
    EXPECT_EQ(other.presentation.head, session.pinned->head);
    EXPECT_EQ(other.pinned->head, session.presentation.head);
    EXPECT_EQ(exchanged(other), session);
    EXPECT_EQ(exchanged(example("causal")), example("causal")) << "nothing is pinned";
}

TEST(ComparisonsTest, DifferencesAreNamedWithBothValues) {
    const Session session =
        *with_preset(example("scaled-dot-product"), *find_comparison_preset("no scaling"));
    const auto differences = setting_differences(session);
    ASSERT_EQ(differences.size(), 1u);
    EXPECT_EQ(differences.front().option, OptionName("scale"));
    EXPECT_EQ(differences.front().a, "sqrt");
    EXPECT_EQ(differences.front().b, "none");
    EXPECT_TRUE(setting_differences(example("causal")).empty());

    Session custom = example("scaled-dot-product");
    custom.pinned = pinned(custom);
    custom.experiment.weights.custom.emplace("scores", CustomMatrix(Matrix::Zero(8, 8)));
    custom.experiment.attention.score = Score::additive;
    EXPECT_EQ(setting_differences(custom).back().option, OptionName("given"));
    EXPECT_EQ(setting_differences(custom).back().a, "scores");
}

}  // namespace
}  // namespace attnscope
