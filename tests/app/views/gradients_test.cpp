// Gradients in the window: below the stages of the strip, in the focus, and in the inspector.
#include <gtest/gtest.h>

#include "core/graph/gradient.h"
#include "tests/interface.h"
#include "tests/with_loss.h"

namespace attnscope {
namespace {

class GradientsTest : public InterfaceTest {
protected:
    void SetUp() override {
        Session session = load_example("scaled-dot-product");
        session.experiment.attention.heads = 2;
        session.experiment = test::with_loss(session.experiment);
        start(std::move(session));
    }
    int count_gradients() {
        step();
        int count = 0;
        for (const SeenMatrix& seen : seen_matrices()) count += seen.stage->part == StageKey::Part::gradient;
        return count;
    }
    static StageKey gradient_of(const StageKey& key) { return key.as(StageKey::Part::gradient); }
    const Presentation& shown() { return document().presentation(); }
};

TEST_F(GradientsTest, GStandsThemBelowTheStagesAndTakesThemAway) {
    EXPECT_EQ(count_gradients(), 0);
    EXPECT_TRUE(document().trace()->gradients.empty());
    press(Key::g);
    EXPECT_TRUE(shown().gradients);
    EXPECT_FALSE(document().trace()->gradients.empty());
    EXPECT_GT(count_gradients(), 6);
    const SeenMatrix value = thumbnail("weights"), gradient = thumbnail("grad.weights");
    EXPECT_FLOAT_EQ(value.drawn.top_left.x, gradient.drawn.top_left.x);
    EXPECT_FLOAT_EQ(value.drawn.bottom_right.x, gradient.drawn.bottom_right.x);
    EXPECT_GT(gradient.drawn.top_left.y, value.drawn.bottom_right.y);
    press(Key::g);
    EXPECT_EQ(count_gradients(), 0);
}

TEST_F(GradientsTest, AClickOnAThumbnailFocusesIt) {
    press(Key::g);
    click(thumbnail("grad.weights").at(1.5f, 1.5f));
    EXPECT_EQ(shown().stage, gradient_of("weights"_stage));
    EXPECT_EQ(focused().stage->name(), "grad.weights");
    press(Key::right);
    EXPECT_EQ(shown().stage, gradient_of("context"_stage));
    press(Key::g);
    EXPECT_EQ(shown().stage, "context"_stage);
}

TEST_F(GradientsTest, DSwitchesTheFocusBetweenAStageAndItsGradient) {
    const StageKey stage = shown().stage;
    press(Key::d);
    EXPECT_EQ(shown().stage, gradient_of(stage));
    EXPECT_EQ(focused().stage->key(), gradient_of(stage)) << "it is computed for the focus alone";
    EXPECT_FALSE(shown().gradients);
    press(Key::d);
    EXPECT_EQ(shown().stage, stage);
}

TEST_F(GradientsTest, WithoutALossTheKeysSayWhatToDo) {
    start(load_example("scaled-dot-product"));
    for (const Key key : {Key::g, Key::d}) {
        interaction().notice = {};
        press(key);
        EXPECT_EQ(interaction().notice.text, why_no_gradients(*document().trace()));
        EXPECT_FALSE(interaction().notice.text.empty());
    }
    EXPECT_FALSE(shown().gradients);
    EXPECT_EQ(shown().stage, "weights"_stage);
}

TEST_F(GradientsTest, FollowEveryChangeOfTheExperiment) {
    press(Key::g);
    const StagePtr before = document().trace()->gradients.front();
    document().change([](Session& s) { s.experiment.weights.seed = 7; });
    settle();
    ASSERT_FALSE(document().trace()->gradients.empty());
    EXPECT_NE(document().trace()->gradients.front(), before);
    document().change([](Session& s) { s.experiment.weights.custom.clear(); });
    settle();
    EXPECT_TRUE(document().trace()->gradients.empty());
    EXPECT_EQ(count_gradients(), 0);
}

TEST_F(GradientsTest, TheInspectorProvesTheLockedCell) {
    press(Key::d);
    click(cell_place(1, 2));
    ASSERT_TRUE(shown().locked.has_value());
    const Stage& stage = *document().trace()->find_named("grad.weights");
    const Proof& proof = document().proof(stage, 0, *shown().locked);
    EXPECT_EQ(proof.value, stage.buffer.at(0, 1, 2));
    EXPECT_FALSE(proof.terms.empty());
}

}  // namespace
}  // namespace attnscope
