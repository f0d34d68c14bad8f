// The window with a backend other than the CPU.
#include <algorithm>

#include "core/gpu/shaders.h"
#include "core/graph/stage_table.h"
#include "core/op/op.h"
#include "tests/fake_backend.h"
#include "tests/interface.h"
#include "tests/screen_texts.h"

namespace attnscope {
namespace {

class BackendChoiceTest : public InterfaceTest {
protected:
    /// `backend` is chosen, with contexts that share the window's.
    void start_on(BackendWish backend, int dim = 16) {
        Session session = load_example("scaled-dot-product");
        session.experiment.input.dim = dim;
        SavedState state;
        state.backend = backend;
        state.closed_note = session.note;
        start_with(state, std::move(session), 1600, 1000, 1);
        if (!window) return;
        version_ = window->context().gl_version();
        if (version_.number < 43) GTEST_SKIP() << why_no_compute(version_);
        offer();
    }
    void offer() {
        workspace->offer_card(version_, [this] {
            ++contexts_;
            return const_cast<HeadlessContext&>(window->context()).context().share();
        });
        settle();
    }
    BackendKind computed_by() { return document().trace()->backend; }
    HeatmapRenderer& heatmaps() { return window->host().heatmaps(); }

    GlVersion version_;
    int contexts_ = 0;  ///< that were made
};

TEST_F(BackendChoiceTest, TheCardComputesAndDrawsWhatTheProcessorDoes) {
    start_on(BackendWish::cpu);
    if (!window || IsSkipped()) return;
    EXPECT_EQ(computed_by(), BackendKind::cpu);
    const gl::Pixels expected = picture();
    workspace->run(*find_action("compute.gpu"));
    settle();
    ASSERT_EQ(computed_by(), BackendKind::gpu) << document().backend().reason;
    const std::size_t before = heatmaps().tiles().uploads();
    const gl::Pixels actual = picture();
    EXPECT_GT(heatmaps().tiles().made_on_card(), 5U);
    EXPECT_EQ(heatmaps().tiles().uploads(), before)
        << "a matrix that lies on the card was read back to draw it";
    // A number on the edge of two steps of the color map may fall to the other side; the status bar differs.
    int differ = 0;
    for (int y = 0; y < 960; ++y)
        for (int x = 0; x < 1600; ++x)
            for (const int shift : {8, 16, 24}) {
                const auto channel = [&](const gl::Pixels& p) {
                    return static_cast<int>(p.at(x, y) >> shift & 255);
                };
                differ += std::abs(channel(actual) - channel(expected)) > 12;
            }
    EXPECT_LT(differ, 200);
}

TEST_F(BackendChoiceTest, AutomaticNeverTakesASoftwareRendererAndSaysSo) {
    start_on(BackendWish::automatic);
    if (!window || IsSkipped()) return;
    if (!version_.is_software) GTEST_SKIP() << "this renderer is a card: " << version_.renderer;
    EXPECT_EQ(computed_by(), BackendKind::cpu);
    EXPECT_EQ(document().backend().reason, version_.renderer + " is a software renderer");
}

TEST_F(BackendChoiceTest, WithoutComputeShadersTheChoiceIsDisabledAndSaysWhy) {
    start_on(BackendWish::automatic);
    if (!window || IsSkipped()) return;
    version_.number = 42;
    offer();
    const Action& action = *find_action("compute.gpu");
    const std::function<void(const std::string&)> copy;
    SavedState saved;
    ActionContext c{document(), interaction(), saved, copy};
    EXPECT_FALSE(action.enabled(c));
    EXPECT_NE(action.why_not(c).find("needs OpenGL 4.3"), std::string::npos) << action.why_not(c);
}

TEST_F(BackendChoiceTest, ACardThatIsLostWhileItIsDrawnLeavesTheSessionAsItIs) {
    start_on(BackendWish::cpu);
    if (!window || IsSkipped()) return;
    const Session session = document().session();
    document().compute_on([] {
        return BackendChoice{std::make_shared<test::FakeBackend>(
                                 [](const Op& op, const Shape& shape) -> std::shared_ptr<const DeviceValues> {
                                     return std::holds_alternative<op::WeightedSum>(op)
                                                ? std::make_shared<test::LostValues>(shape)
                                                : nullptr;
                                 }),
                             "a test"};
    });
    document().settle();
    ASSERT_EQ(computed_by(), BackendKind::gpu);
    step(true);
    EXPECT_EQ(document().trace(), nullptr) << "what cannot be read was drawn";
    settle();
    ASSERT_NE(document().trace(), nullptr);
    EXPECT_EQ(computed_by(), BackendKind::cpu);
    EXPECT_EQ(document().session(), session);
    EXPECT_EQ(interaction().notice.text, "the card is lost (computing on the CPU)");
    EXPECT_TRUE(interaction().notice.problem);
    picture();
    EXPECT_FALSE(seen_matrices().empty());
}

TEST_F(BackendChoiceTest, TheMeanOfTheHeadsIsNotMadeWhileTheWindowWaits) {
    start_on(BackendWish::cpu);
    if (!window || IsSkipped()) return;
    document().change([](Session& s) {
        s.experiment.attention.heads = 2;
        s.presentation.head = {HeadChoice::Kind::one, 0};
    });
    std::promise<void> allowed;
    document().compute_on([may = allowed.get_future().share()] {
        return BackendChoice{std::make_shared<test::FakeBackend>([may](const Op&, const Shape& shape) {
                                 return std::make_shared<test::SlowMean>(shape, may);
                             }),
                             "a test"};
    });
    settle();
    ASSERT_EQ(computed_by(), BackendKind::gpu);
    ASSERT_EQ(document().trace()->find("weights"_stage)->shape().heads, 2);
    picture();
    EXPECT_FALSE(seen_matrices().empty());
    click(place_of("attnscope", {"head"}));
    const ImVec2 item = place_of("##Popup", {"mean of the heads"});
    push({MouseMove{item.x, item.y}, MouseButton{.button = 0, .down = true},
          MouseButton{.button = 0, .down = false}});
    step_through_input();
    ASSERT_EQ(document().presentation().head.kind, HeadChoice::Kind::mean);
    const Stage* weights = document().trace()->find("weights"_stage);
    const auto draws_weights = [&] {
        picture();
        return std::ranges::any_of(seen_matrices(),
                                   [&](const SeenMatrix& seen) { return seen.stage == weights; });
    };
    EXPECT_FALSE(draws_weights());
    EXPECT_FALSE(seen_matrices().empty()) << "what has no mean is still there";
    EXPECT_TRUE(document().busy());
    allowed.set_value();
    settle();
    EXPECT_TRUE(draws_weights());
    EXPECT_EQ(computed_by(), BackendKind::gpu);
}

TEST_F(BackendChoiceTest, TheListInTheStatusBarChooses) {
    start_on(BackendWish::cpu);
    if (!window || IsSkipped()) return;
    click(place_of("attnscope", {"backend"}));
    click(place_of("##Popup", {"GPU"}));
    EXPECT_EQ(computed_by(), BackendKind::gpu);
    EXPECT_EQ(workspace->state().backend, BackendWish::gpu);
    EXPECT_EQ(contexts_, 1) << "one choice is one choice";
}

TEST_F(BackendChoiceTest, TheGpuIsComparedWithTheCpu) {
    start_on(BackendWish::gpu);
    if (!window || IsSkipped()) return;
    workspace->run(*find_action("compare.cpu"));
    settle();
    const Trace &a = *document().slot(SlotName::pinned)->trace, &b = *document().trace();
    EXPECT_EQ(a.backend, BackendKind::cpu);
    EXPECT_EQ(b.backend, BackendKind::gpu);
    EXPECT_EQ(a.experiment, b.experiment);
    const auto shows = [&](const char* text) {
        const std::vector<test::ScreenText> texts = test::texts_on_screen();
        return std::ranges::any_of(texts,
                                   [&](const test::ScreenText& each) { return each.text.starts_with(text); });
    };
    EXPECT_TRUE(shows("AiscomputedbytheCPU"));
    EXPECT_TRUE(shows("pinned,ontheCPU"));
    // Sums in another order, no other numbers.
    ASSERT_TRUE(document().comparison() && document().comparison()->difference);
    for (const StageComparison& stage : document().comparison()->stages)
        EXPECT_LT(stage.largest, 1e-4) << stage.key.stage->name;
    workspace->run(*find_action("compare.exchange"));
    settle();
    EXPECT_EQ(document().slot(SlotName::pinned)->trace->backend, BackendKind::cpu) << "A stays there";
}

}  // namespace
}  // namespace attnscope
