#include "app/document/readiness.h"

#include <gtest/gtest.h>

#include "core/canceled.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"

namespace attnscope {
namespace {

/// Few tokens, which one thread makes ready, or many.
Trace trace_of(int tokens) {
    Experiment experiment;
    experiment.input.text.clear();
    for (int i = 0; i < tokens; ++i) experiment.input.text += "word" + std::to_string(i) + " ";
    experiment.attention.heads = 2;
    experiment.weighting.mask = {{MaskForm::causal, {}}};
    return evaluate(experiment);
}

TEST(ReadinessTest, EverythingThatIsDrawnIsKnownAfterwards) {
    for (const int tokens : {8, 300})
        for (const WantedPictures& wanted :
             {WantedPictures{}, WantedPictures{{HeadChoice::Kind::one, 1}, true},
              WantedPictures{{HeadChoice::Kind::mean}}}) {
            const Trace trace = trace_of(tokens);
            EXPECT_FALSE(is_ready(trace, wanted)) << tokens;
            make_ready(trace, wanted, {});
            EXPECT_TRUE(is_ready(trace, wanted)) << tokens;
            const Buffer& masked = trace.stage("masked"_stage)->buffer;
            EXPECT_EQ(masked.row_largest(0).size(), static_cast<std::size_t>(tokens));
        }
}

/// Q, K and V by several threads at once, beside values on demand and a mask, which is surveyed by its rules.
TEST(ReadinessTest, StagesInMemoryAndOnDemandAreReadyTogether) {
    Experiment experiment;
    experiment.input.text.clear();
    for (int i = 0; i < 300; ++i) experiment.input.text += "word" + std::to_string(i) + " ";
    experiment.input.dim = 512;
    experiment.weighting.mask = {{MaskForm::causal, {}}};
    std::stop_source cancel;
    cancel.request_stop();
    const Trace trace = evaluate(experiment, {}, {.on_demand = {.most_cells = 1000}});
    EXPECT_THROW(make_ready(trace, WantedPictures{}, cancel.get_token()), Canceled);
    EXPECT_FALSE(is_ready(trace, {}));
    make_ready(trace, WantedPictures{}, {});
    EXPECT_TRUE(is_ready(trace, {}));
    EXPECT_TRUE(trace.find("mask"_stage)->buffer.on_demand()->is_surveyed(0));
    EXPECT_FALSE(trace.find("weights"_stage)->buffer.on_demand()->is_surveyed(0));
}

TEST(ReadinessTest, IsCanceledAndCompletedLater) {
    std::stop_source cancel;
    cancel.request_stop();
    for (const int tokens : {8, 300}) {
        const Trace trace = trace_of(tokens);
        EXPECT_THROW(make_ready(trace, WantedPictures{}, cancel.get_token()), Canceled);
        EXPECT_FALSE(is_ready(trace, {}));
        make_ready(trace, WantedPictures{}, {});
        EXPECT_TRUE(is_ready(trace, {}));
    }
}

}  // namespace
}  // namespace attnscope
