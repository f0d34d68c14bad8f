// Traces built by hand, to test pictures without a computation.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/files/png.h"
#include "core/graph/stage_table.h"
#include "core/graph/trace.h"
#include "core/op/op.h"
#include "core/picture/color.h"
#include "core/session/session.h"
#include "tests/special_numbers.h"

namespace attnscope::test {

inline constexpr const StageInfo& k_embedding = *"embedding"_stage;
inline constexpr const StageInfo& k_scores = *"scores"_stage;
inline constexpr const StageInfo& k_masked = *"masked"_stage;
inline constexpr const StageInfo& k_mask = *"mask"_stage;
inline constexpr const StageInfo& k_weights = *"weights"_stage;
inline constexpr const StageInfo& k_context = *"context"_stage;
inline constexpr const StageInfo& k_tokens = *"tokens"_stage;

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
inline float noise(int r, int c) { return static_cast<float>(std::sin(12.9898 * r + 78.233 * c + 1)); }

inline Rgb8 pixel(const Pixels& pixels, int x, int y) {
    const std::size_t at =
        (static_cast<std::size_t>(y) * static_cast<std::size_t>(pixels.width) + static_cast<std::size_t>(x)) *
        static_cast<std::size_t>(pixels.channels);
    return {pixels.bytes[at], pixels.bytes[at + 1], pixels.bytes[at + 2]};
}

inline std::vector<std::string> words(int count) {
    std::vector<std::string> result;
    const std::vector<std::string> cycle = sentence();
    for (int i = 0; i < count; ++i) result.push_back(cycle[static_cast<std::size_t>(i) % cycle.size()]);
    return result;
}

}  // namespace attnscope::test
