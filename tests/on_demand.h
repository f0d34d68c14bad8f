// Experiments whose pairs are computed where they are read, for tests beside the same stages computed whole.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/experiment/masks.h"
#include "core/graph/on_demand.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "tests/gpu_fixture.h"
#include "tests/sanitized.h"

namespace attnscope::test {

/// Every stage of pairs on demand, however small, and on a card that may compute them.
inline constexpr OnDemandSizes k_all{.most_cells = 0, .kept_cells = 12, .least_cells_on_card = 0};

inline Experiment sentence_of(int tokens) {
    Experiment e;
    e.input.text.clear();
    for (int i = 0; i < tokens; ++i) e.input.text += "w" + std::to_string(i * 7 % 31) + " ";
    e.attention.scale = {Scale::Kind::sqrt};
    e.attention.projection = Projection::xavier;
    return e;
}

inline Experiment masked(int tokens, const std::vector<const char*>& rules) {
    Experiment e = sentence_of(tokens);
    for (const char* rule : rules) e.weighting.mask.push_back(parse_mask_rule(rule));
    return e;
}

/// What rounding may change: sums are taken in another order, and a softmax raises the rounding of its
/// scores to the power. A card has its own exponentials: the reference's promise for it is 1e-5.
inline float tolerance(const Trace& trace, BackendKind backend) {
    const ValueRange& scores = trace.find("scores"_stage)->buffer.range();
    return (backend == BackendKind::gpu ? 1e-5F : 4e-6F) * std::max(1.0F, scores.magnitude());
}

inline void expect_equal(float expected, float actual, float tolerance, const std::string& where) {
    if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(actual)) << where << ": " << actual;
    else if (std::isinf(expected))
        EXPECT_EQ(expected, actual) << where;
    else
        EXPECT_NEAR(expected, actual, tolerance * std::max(1.0F, std::abs(expected))) << where;
}

/// The card; nullptr, and why, where there is none, or under the thread sanitizer, which does not know the
/// locks of a software renderer.
inline GpuBackend* card(std::string* why) {
    if (!test::k_thread_sanitized) return test::shared_gpu(why);
    *why = "the thread sanitizer looks at our own threads";
    return nullptr;
}

}  // namespace attnscope::test
