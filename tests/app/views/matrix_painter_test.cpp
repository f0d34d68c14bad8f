// What is drawn before it is known, and who computes it.
#include "app/views/matrix_painter.h"

#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/session/options.h"
#include "tests/interface.h"

namespace attnscope {
namespace {

/// Two heads with masks of their own, too large for facts that nothing asks for to be computed.
Session with_a_mask_for_each_head() {
    Session session;
    Experiment& e = session.experiment;
    e.input.text.clear();
    for (int i = 0; i < 600; ++i) e.input.text += "w" + std::to_string(i) + " ";
    e.attention.heads = 2;
    e.weighting.normalizer = Normalization::local_p;
    e.weighting.local_window = 40;
    session.presentation.stage = "weights"_stage;
    return session;
}

class MatrixPainterTest : public InterfaceTest {
protected:
    void SetUp() override { start(with_a_mask_for_each_head()); }

    const Buffer& buffer(StageKey key) { return document().trace()->find(key)->buffer; }
    bool draws(StageKey key) {
        const Stage* stage = document().trace()->find(key);
        picture();
        return std::ranges::any_of(seen_matrices(),
                                   [&](const SeenMatrix& seen) { return seen.stage == stage; });
    }
    /// The pixels that have the color of a plain surface.
    std::size_t plain_pixels() {
        const Rgb8 color = theme_of(workspace->theme()).raised;
        const std::uint32_t rgb =
            std::uint32_t{color.red} << 16 | std::uint32_t{color.green} << 8 | std::uint32_t{color.blue};
        const gl::Pixels pixels = picture();
        std::size_t count = 0;
        for (int y = 0; y < pixels.height; ++y)
            for (int x = 0; x < pixels.width; ++x) count += pixels.at(x, y) >> 8 == rgb;
        return count;
    }
    /// Changes the presentation without waiting for the worker.
    void present(const std::function<void(Presentation&)>& edit) {
        document().change([&](Session& session) { edit(session.presentation); });
        step_through_input();
    }
};

TEST_F(MatrixPainterTest, TheWindowsThreadComputesNoFacts) {
    if (!window) return;
    ASSERT_EQ(buffer("mask"_stage).shape().heads, 2);
    EXPECT_TRUE(draws("weights"_stage));
    document().stop();  // so that nobody else computes them
    for (const ViewKind view : {ViewKind::pipeline, ViewKind::compare, ViewKind::step})
        for (const RangeChoice::Kind range :
             {RangeChoice::Kind::percentile, RangeChoice::Kind::matrix, RangeChoice::Kind::head})
            for (const HeadChoice head :
                 {HeadChoice{HeadChoice::Kind::one, 1}, HeadChoice{HeadChoice::Kind::mean}}) {
                SCOPED_TRACE(std::string(name_of(view)) + ", " + range_text({range}));
                present([&](Presentation& p) {
                    p.view = view;
                    p.range = {range};
                    p.head = head;
                });
                push({MouseMove{800, 500}});
                step_through_input();
                picture();
                for (const StageKey key : {"scores"_stage, "masked"_stage, "mask"_stage, "weights"_stage}) {
                    EXPECT_FALSE(buffer(key).known_mean()) << stage_name(key);
                    EXPECT_FALSE(buffer(key).known_percentiles(1)) << stage_name(key);
                    EXPECT_FALSE(buffer(key).known_pooled(1, 1)) << stage_name(key);
                }
            }
}

TEST_F(MatrixPainterTest, AMeanThatIsNotKnownYetIsAPlainSurfaceAmongPictures) {
    if (!window) return;
    const std::size_t before = plain_pixels();
    document().stop();
    present([](Presentation& p) { p.head = {HeadChoice::Kind::mean}; });
    EXPECT_FALSE(draws("weights"_stage));
    EXPECT_GT(plain_pixels(), before + 100'000) << "the matrix in focus";
}

TEST_F(MatrixPainterTest, TheWorkerComputesWhatAMeanAndItsMaskNeed) {
    if (!window) return;
    const auto trace = document().trace();
    present([](Presentation& p) {
        p.head = {HeadChoice::Kind::mean};
        p.range = {RangeChoice::Kind::percentile};
    });
    settle();
    EXPECT_EQ(document().trace(), trace);
    for (const StageKey key : {"weights"_stage, "mask"_stage}) {
        ASSERT_TRUE(buffer(key).known_mean()) << stage_name(key);
        EXPECT_TRUE(buffer(key).known_mean()->known_pooled(0, 1)) << stage_name(key);
    }
    EXPECT_TRUE(buffer("weights"_stage).known_mean()->known_percentiles(0));
    EXPECT_TRUE(draws("weights"_stage));
    const std::optional<ShownStage> shown = shown_stage(*trace, "weights"_stage, document().presentation());
    EXPECT_EQ(scale_of(*shown, document().presentation()).max,
              color_scale(*trace, *shown->stage, shown->head, document().presentation()).max);
}

TEST(ShownStageTest, ACellAndAColumnOfAMeanAreReadWithoutTheRest) {
    const Trace trace = evaluate(with_a_mask_for_each_head().experiment);
    Presentation presentation;
    presentation.head = {HeadChoice::Kind::mean};
    const ShownStage shown = shown_stage(trace, "weights"_stage, presentation).value();
    const Buffer& weights = shown.stage->buffer;
    const Stage& mask = *trace.find("mask"_stage);
    EXPECT_FALSE(shown.matrix());
    const float cell = shown.at(300, 7);
    const Eigen::VectorXf column = shown.column(7);
    int closed = 0, open = 0;
    for (int i = 0; i < shown.rows(); ++i)
        for (int j = 0; j < shown.columns(); j += 50) {
            const bool in_both = mask.buffer.at(0, i, j) == 0 && mask.buffer.at(1, i, j) == 0;
            EXPECT_EQ(shown.closed(i, j), in_both);
            ++(in_both ? closed : open);
        }
    EXPECT_GT(closed, 0);
    EXPECT_GT(open, 0);
    EXPECT_FALSE(weights.known_mean());
    EXPECT_FALSE(mask.buffer.known_mean());
    EXPECT_EQ(cell, weights.mean().at(0, 300, 7));
    EXPECT_TRUE(column == weights.mean().column(0, 7));
    EXPECT_FALSE(shown.matrix()) << "its range is not known";
    weights.mean().range();
    EXPECT_EQ(shown.matrix().value().buffer, &weights.mean());
}

TEST(ScaleTest, IsThatOfAllHeadsUntilItsOwnIsKnown) {
    const Trace trace = evaluate(with_a_mask_for_each_head().experiment);
    Presentation presentation;
    presentation.range = {RangeChoice::Kind::percentile};
    const ShownStage shown = shown_stage(trace, "scores"_stage, presentation).value();
    const Buffer& scores = shown.stage->buffer;
    EXPECT_EQ(scale_of(shown, presentation).max, scores.range().magnitude());
    const auto [low, high] = scores.percentiles(0);
    EXPECT_EQ(scale_of(shown, presentation).max, std::max(-low, high));
}

}  // namespace
}  // namespace attnscope
