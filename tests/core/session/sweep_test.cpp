// A setting that goes through values.
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/session/examples.h"
#include "core/session/sweep.h"

namespace attnscope {
namespace {

std::vector<std::string> values(const Session& session, Sweep sweep, int count) {
    std::vector<std::string> found;
    for (const SweepStep& step : sweep_steps(session, sweep, count)) found.push_back(step.value);
    return found;
}

TEST(SweepTest, SeedsFollowTheSessions) {
    Session session;
    session.experiment.weights.seed = Seed(7);
    EXPECT_EQ(values(session, Sweep::seed, 3), (std::vector<std::string>{"7", "8", "9"}));
    session.experiment.weights.seed = Seed(-2);
    EXPECT_EQ(values(session, Sweep::seed, 4), (std::vector<std::string>{"-2", "-1", "0", "1"}));
}

TEST(SweepTest, TemperaturesGoFromAnEighthToEightTimesByEqualFactors) {
    const auto found = values(Session{}, Sweep::temperature, 7);
    EXPECT_EQ(found, (std::vector<std::string>{"0.125", "0.25", "0.5", "1", "2", "4", "8"}));
}

TEST(SweepTest, ScalesAreAroundTheFactorInUse) {
    Session session;  // d 16, one head: 1/√16
    EXPECT_EQ(values(session, Sweep::scale, 3), (std::vector<std::string>{"0.0312", "0.25", "2"}));
}

TEST(SweepTest, DimensionsAreThoseThatHeadsDivide) {
    Session session;
    session.experiment.input.dim = 24;
    session.experiment.attention.heads = 6;
    for (const SweepStep& step : sweep_steps(session, Sweep::dim, 9)) {
        EXPECT_EQ(step.session.experiment.input.dim % 6, 0) << step.value;
        EXPECT_EQ(std::to_string(step.session.experiment.input.dim), step.value);
    }
    EXPECT_EQ(values(session, Sweep::dim, 3), (std::vector<std::string>{"12", "24", "96"}));
}

TEST(SweepTest, ScoresAndNormalizationsAreEveryFunctionThatFits) {
    EXPECT_EQ(values(Session{}, Sweep::normalizer, 12),
              (std::vector<std::string>{"softmax", "hard", "sparsemax", "local-m", "local-p"}));
    EXPECT_EQ(
        values(Session{}, Sweep::score, 12),
        (std::vector<std::string>{"dot", "general", "additive", "concat", "cosine", "location", "rbf"}));
    EXPECT_EQ(values(load_example("bahdanau-alignment"), Sweep::normalizer, 2),
              (std::vector<std::string>{"softmax", "hard"}));
}

TEST(SweepTest, EverySettingSaysWhatToLookFor) {
    for (const auto& [sweep, name] : choices<Sweep>())
        EXPECT_EQ(hint_of(sweep).empty(), sweep == Sweep::none) << name;
}

TEST(SweepTest, EveryStepDiffersInItsSettingAlone) {
    const Session session = load_example("causal");
    for (const auto& [sweep, name] : choices<Sweep>()) {
        if (sweep == Sweep::none) continue;
        for (SweepStep step : sweep_steps(session, sweep, 5)) {
            step.session.experiment.weights.seed = session.experiment.weights.seed;
            step.session.experiment.weighting.temperature = session.experiment.weighting.temperature;
            step.session.experiment.input.dim = session.experiment.input.dim;
            step.session.experiment.attention.scale = session.experiment.attention.scale;
            step.session.experiment.attention.score = session.experiment.attention.score;
            step.session.experiment.weighting.normalizer = session.experiment.weighting.normalizer;
            EXPECT_EQ(step.session, session) << name;
        }
    }
}

TEST(SweepTest, SaysWhyThereIsNone) {
    EXPECT_NE(why_no_sweep(Session{}, Sweep::none), "");
    EXPECT_THROW(sweep_steps(Session{}, Sweep::none, 3), Error);
    const Session alignment = load_example("bahdanau-alignment");
    EXPECT_NE(why_no_sweep(alignment, Sweep::scale).find("scale does not apply"), std::string::npos);
}

TEST(SweepTest, TheViewOfSweepsSweepsTheFirstSettingThatAppliesUnlessAnotherIsChosen) {
    Session session;
    EXPECT_EQ(chosen_sweep(session), Sweep::none);
    session.presentation.view = ViewKind::sweep;
    EXPECT_EQ(chosen_sweep(session), Sweep::seed);
    session.presentation.sweep = Sweep::dim;
    EXPECT_EQ(chosen_sweep(session), Sweep::dim);
    Session designed = load_example("designed-heads");
    designed.presentation.view = ViewKind::sweep;
    EXPECT_EQ(chosen_sweep(designed), Sweep::temperature) << "nothing of it is drawn";
}

}  // namespace
}  // namespace attnscope
