#include <algorithm>
#include <chrono>

#include "core/attention/evaluation.h"
#include "core/attention/scores.h"
#include "core/attention/stages.h"

namespace attnscope {

Trace AttentionEvaluation::run() {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    trace_.experiment = e_;
    read_tokens();
    count_tokens();
    embed();
    add_positions();
    normalize_first();
    project();
    split_heads();
    score();
    add_biases();
    mask();
    weigh();
    drop();
    sum_values();
    join_heads();
    surround();
    add_logits();
    add_loss();
    std::stable_partition(trace_.records.begin(), trace_.records.end(),
                          [](const StageRecord& record) { return !is_parameter(*record.stage->info); });
    trace_.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    return std::move(trace_);
}

TraceBytes attention_trace_bytes(const Experiment& e, int queries, int keys) {
    const auto size = [](int n) { return static_cast<std::size_t>(n); };
    const std::size_t N = size(queries), M = size(keys), h = size(e.heads);
    const std::size_t widest = size(std::max({e.dim, e.key_columns(), e.value_columns()}));
    const std::size_t rows = std::max(size(e.table_size), N + M);
    // table, weights; embedding and positions
    std::size_t made_here = rows * widest + 4 * widest * widest + 2 * (N + M) * widest;
    for (const char* name : {"scores", "mask", "mask_additive"})
        if (e.is_given(name)) made_here += N * M;
    if (e.dropout > 0) made_here += h * N * M;
    // scores, scaled, masked, weights; mask
    std::size_t squares = 4 * h * N * M + N * M;
    const ScoreFunction& function = score_function(e.score);
    if (function.before == "score_hidden") squares += h * N * M * size(e.hidden);
    if (function.before == "cosine") squares += h * N * M;
    if (e.position == Position::alibi || e.is_given("mask_additive")) squares += 2 * h * N * M;
    if (e.normalizer == Normalization::local_p) squares += 3 * h * N * M;
    if (e.dropout > 0) squares += 2 * h * N * M;
    std::size_t narrow = rows * widest + 4 * widest * widest + 10 * (N + M) * widest;
    if (e.image) {
        const std::size_t patches = (M + widest) * size(e.patch_columns()) * 4 / 3;
        narrow += patches;
        made_here += patches;
    }
    if (e.block != Block::none) {
        const std::size_t hidden = size(e.feed_forward_columns());
        narrow += 2 * hidden * widest + N * (2 * hidden + 5 * widest);
        made_here += 2 * hidden * widest;
    }
    // 1/3 more for pooled levels, 1/h for the mean of the heads
    return {.whole = (squares + squares / 3 + 4 * N * M + narrow) * sizeof(float),
            .made_here = made_here * sizeof(float)};
}

}  // namespace attnscope
