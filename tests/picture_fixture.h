// Traces built by hand, to test pictures without a computation.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/trace.h"
#include "core/session/session.h"

namespace attnscope::test {

inline constexpr StageInfo k_embedding{.name = "embedding",
                                       .symbol = "X",
                                       .caption = "one row per token",
                                       .rows = Axis::query_token,
                                       .columns = Axis::feature,
                                       .unit = Unit::real,
                                       .per_head = false,
                                       .left = "",
                                       .above = "",
                                       .above_transposed = false};
inline constexpr StageInfo k_scores{.name = "scores",
                                    .symbol = "QKᵀ",
                                    .caption = "query · key",
                                    .rows = Axis::query_token,
                                    .columns = Axis::key_token,
                                    .unit = Unit::real,
                                    .per_head = true,
                                    .left = "query",
                                    .above = "key",
                                    .above_transposed = true};
inline constexpr StageInfo k_masked{.name = "masked",
                                    .symbol = "",
                                    .caption = "−∞ where closed",
                                    .rows = Axis::query_token,
                                    .columns = Axis::key_token,
                                    .unit = Unit::real,
                                    .per_head = true,
                                    .left = "",
                                    .above = "",
                                    .above_transposed = false};
inline constexpr StageInfo k_mask{.name = "mask",
                                  .symbol = "",
                                  .caption = "1 = open",
                                  .rows = Axis::query_token,
                                  .columns = Axis::key_token,
                                  .unit = Unit::boolean,
                                  .per_head = false,
                                  .left = "",
                                  .above = "",
                                  .above_transposed = false};
inline constexpr StageInfo k_weights{.name = "weights",
                                     .symbol = "softmax(QKᵀ ÷ √d_k)",
                                     .caption = "over keys",
                                     .rows = Axis::query_token,
                                     .columns = Axis::key_token,
                                     .unit = Unit::probability,
                                     .per_head = true,
                                     .left = "",
                                     .above = "",
                                     .above_transposed = false};
inline constexpr StageInfo k_context{.name = "context",
                                     .symbol = "A·V",
                                     .caption = "weighted values",
                                     .rows = Axis::query_token,
                                     .columns = Axis::head_feature,
                                     .unit = Unit::real,
                                     .per_head = true,
                                     .left = "",
                                     .above = "",
                                     .above_transposed = false};
inline constexpr StageInfo k_tokens{.name = "tokens",
                                    .symbol = "",
                                    .caption = "rows of the table",
                                    .rows = Axis::query_token,
                                    .columns = Axis::single,
                                    .unit = Unit::token_id,
                                    .per_head = false,
                                    .left = "",
                                    .above = "",
                                    .above_transposed = false};

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
        StageRecord record;
        record.stage = std::move(stage);
        trace.records.push_back(std::move(record));
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
