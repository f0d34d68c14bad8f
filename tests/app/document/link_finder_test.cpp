// The thread that finds the strongest links.
#include "app/document/link_finder.h"

#include <gtest/gtest.h>

#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/session/examples.h"

namespace attnscope {
namespace {

LinksRequest request_for(int seed) {
    Experiment experiment = load_example("scaled-dot-product").experiment;
    experiment.weights.seed = Seed(seed);
    const auto trace = std::make_shared<const Trace>(evaluate(experiment));
    return {trace, trace->stage("weights"_stage)};
}

TEST(LinkFinderTest, FindsTheLargestWeightFirst) {
    LinkFinder finder({});
    const LinksRequest request = request_for(1);
    finder.request(request);
    finder.wait();
    ASSERT_TRUE(finder.update());
    const std::vector<Link>& links = finder.known()->links;
    ASSERT_FALSE(links.empty());
    const Matrix weights = request.stage->buffer.host().head(0);
    EXPECT_EQ(links.front().value, weights.maxCoeff());
    for (const Link& link : links) EXPECT_EQ(link.value, weights(link.row, link.column));
}

TEST(LinkFinderTest, AnswersTheNewestOfManyRequests) {
    LinkFinder finder({});
    LinksRequest newest;
    for (int seed = 1; seed <= 20; ++seed) finder.request(newest = request_for(seed));
    finder.wait();
    ASSERT_TRUE(finder.update());
    EXPECT_EQ(finder.known()->of, newest);
}

}  // namespace
}  // namespace attnscope
