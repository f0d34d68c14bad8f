// Traces built by hand, to test pictures without a computation.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/stage_table.h"
#include "core/graph/trace.h"
#include "core/op/op.h"
#include "core/session/session.h"

namespace attnscope::test {

inline constexpr const StageInfo& k_embedding = *"embedding"_stage;
inline constexpr const StageInfo& k_scores = *"scores"_stage;
inline constexpr const StageInfo& k_masked = *"masked"_stage;
inline constexpr const StageInfo& k_mask = *"mask"_stage;
inline constexpr const StageInfo& k_weights = *"weights"_stage;
inline constexpr const StageInfo& k_context = *"context"_stage;
inline constexpr const StageInfo& k_tokens = *"tokens"_stage;

inline constexpr float k_infinity = std::numeric_limits<float>::infinity();
inline constexpr HeadChoice k_first{HeadChoice::Kind::one, 0};
inline constexpr HeadChoice k_second{HeadChoice::Kind::one, 1};
inline constexpr HeadChoice k_mean{HeadChoice::Kind::mean, 0};

/// The value at (head, row, column).
using Formula = std::function<float(int, int, int)>;

inline StagePtr make_stage(const StageInfo& info, int heads, int rows, int columns, const Formula& formula) {
    Tensor values({.heads = heads, .rows = rows, .columns = columns, .per_head = info.per_head});
    for (int h = 0; h < heads; ++h) {
        for (int r = 0; r < rows; ++r) {
            for (int c = 0; c < columns; ++c) values.head(h)(r, c) = formula(h, r, c);
        }
    }
    return StagePtr(new Stage{&info, Buffer(std::move(values))});
}

inline Trace make_trace(std::vector<std::string> words, std::vector<StagePtr> stages) {
    Trace trace;
    trace.rows = words;
    trace.columns = std::move(words);
    for (StagePtr& stage : stages) {
        const auto op = std::make_shared<const Op>(op::Custom{nullptr, stage->shape()});
        trace.records.push_back({std::move(stage), op});
    }
    return trace;
}

inline std::vector<std::string> sentence() {
    return {"Can", "you", "help", "me", "to", "translate", "this", "sentence"};
}

/// The first `count` words of a repeated sentence.
inline std::vector<std::string> words(int count) {
    std::vector<std::string> result;
    const std::vector<std::string> cycle = sentence();
    for (int i = 0; i < count; ++i) result.push_back(cycle[static_cast<std::size_t>(i) % cycle.size()]);
    return result;
}

}  // namespace attnscope::test
