#include "app/document/readiness.h"

#include <algorithm>

#include "core/canceled.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {

void make_ready(const Buffer& buffer, int head) {
    buffer.range();
    if (!buffer.is_on_device()) buffer.pooled(head, buffer.levels());
}

namespace {

/// What Trace::fully_masked() asks of these heads.
void find_fully_masked(const Trace& trace, const Buffer& masked_scores, int first, int end) {
    for (int h = first; h < end; ++h) {
        masked_scores.row_largest(h);
        if (trace.experiment.over_queries()) masked_scores.column_largest(h);
    }
}

/// Whether the trace is small enough to prepare every head and the mean.
bool is_cheap(const Trace& trace) {
    constexpr std::size_t k_few_cells = std::size_t{1} << 20;
    std::size_t cells = 0;
    for (const StageRecord& record : trace.records)
        if (has_mean(*record.stage)) cells += record.stage->shape().size();
    return trace.backend == BackendKind::cpu && cells <= k_few_cells;
}

/// Whether it is known what drawing a matrix needs. A card pools its values itself.
bool is_ready(const Buffer& buffer, int head) {
    return buffer.known_range() && (buffer.is_on_device() || buffer.known_pooled(head, buffer.levels()));
}

bool is_ready(const Stage& stage, const HeadChoice& chosen) {
    const HeadChoice head = head_on_screen(stage, chosen);
    if (head.kind == HeadChoice::Kind::one) return is_ready(stage.buffer, head.head);
    const Buffer* mean = stage.buffer.known_mean();
    return !has_mean(stage) || (mean && is_ready(*mean, 0));
}

void make_ready(const Stage& stage, const HeadChoice& chosen, const std::stop_token& cancel) {
    const HeadChoice head = head_on_screen(stage, chosen);
    if (head.kind == HeadChoice::Kind::one) return make_ready(stage.buffer, head.head);
    stage.buffer.range();
    if (has_mean(stage)) make_ready(stage.buffer.mean(cancel), 0);
}

}  // namespace

bool is_ready(const Trace& trace, const HeadChoice& head) {
    return std::ranges::all_of(trace.records,
                               [&](const StageRecord& record) { return is_ready(*record.stage, head); }) &&
           std::ranges::all_of(trace.gradients,
                               [&](const StagePtr& stage) { return is_ready(*stage, head); });
}

void make_ready(const Trace& trace, const HeadChoice& head, const std::stop_token& cancel) {
    const bool cheap = is_cheap(trace);
    const auto make_stage_ready = [&](const Stage& stage) {
        stop_if_canceled(cancel);
        make_ready(stage, head, cancel);
        if (stage.info->role == StageRole::masked_scores) {
            const HeadChoice shown = head_on_screen(stage, head);
            const bool one = shown.kind == HeadChoice::Kind::one && !cheap;
            find_fully_masked(trace, stage.buffer, one ? shown.head : 0,
                              one ? shown.head + 1 : stage.shape().heads);
        }
        if (!cheap) return;
        make_ready(stage, {HeadChoice::Kind::mean}, cancel);
        for (int h = 0; h < stage.shape().heads; ++h) make_ready(stage.buffer, h);
    };
    for (const StageRecord& record : trace.records) make_stage_ready(*record.stage);
    for (const StagePtr& gradient : trace.gradients) make_stage_ready(*gradient);
}

}  // namespace attnscope
