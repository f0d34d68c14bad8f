#include "app/document/readiness.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/canceled.h"
#include "core/cpu/row_blocks.h"
#include "core/graph/stage_table.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {

void make_ready(const Buffer& buffer, int head) {
    if (buffer.on_demand()) return;  // an OverviewMaker surveys what is shown
    buffer.range();
    if (!buffer.is_on_device()) buffer.pooled(head, buffer.levels());
}

namespace {

/// Computes what Trace::fully_masked() asks for, whichever head is shown.
void find_fully_masked(const Trace& trace, const Buffer& masked_scores) {
    if (masked_scores.on_demand()) return;
    for (int h = 0; h < masked_scores.shape().heads; ++h) {
        masked_scores.row_largest(h);
        if (trace.over_queries()) masked_scores.column_largest(h);
    }
}

/// Whether pictures of the mean over heads draw the stage's mean: as a matrix, or as the mask of another one,
/// whose mean tells which cells all heads close.
bool is_drawn_as_mean(const Stage& stage) {
    const bool is_mask = mask_of(*stage.info) == stage.info && stage.shape().heads > 1;
    return has_mean(stage) || is_mask;
}

/// Whether it is known what drawing a matrix needs. A card pools its values itself.
bool is_ready(const Buffer& buffer, int head, bool percentiles) {
    if (buffer.on_demand()) return true;
    return buffer.known_range() && (buffer.is_on_device() || buffer.known_pooled(head, buffer.levels())) &&
           (!percentiles || buffer.known_percentiles(head));
}

/// Whether a stage is wanted, or was kept all the same.
bool is_drawn(const Stage& stage, const WantedPictures& wanted) {
    if (!wanted.stage || wanted.stage == stage.info) return true;
    if (stage.buffer.is_waiting()) return false;
    for (int h = 0; h < stage.shape().heads; ++h)
        if (stage.buffer.is_omitted(h)) return false;
    return true;
}

bool is_ready(const Stage& stage, const WantedPictures& wanted) {
    if (stage.buffer.on_demand() || !is_drawn(stage, wanted)) return true;
    const HeadChoice head = head_on_screen(stage, wanted.head);
    if (head.kind == HeadChoice::Kind::one) return is_ready(stage.buffer, head.head, wanted.percentiles);
    const Buffer* mean = stage.buffer.known_mean();
    return !is_drawn_as_mean(stage) || (mean && is_ready(*mean, 0, wanted.percentiles));
}

void make_ready(const Buffer& buffer, int head, bool percentiles) {
    make_ready(buffer, head);
    if (percentiles) buffer.percentiles(head);
}

void make_ready(const Stage& stage, const WantedPictures& wanted, const std::stop_token& cancel) {
    // A mask is surveyed at once, by its rules; the other stages on demand by an OverviewMaker, as they are
    // shown.
    if (const OnDemandValues* values = stage.buffer.on_demand()) {
        if (stage.info->role == StageRole::mask) static_cast<void>(values->survey(0, {}, cancel));  // stays
        stage.buffer.mean(cancel);
        return;
    }
    if (!is_drawn(stage, wanted)) return;
    const HeadChoice head = head_on_screen(stage, wanted.head);
    if (head.kind == HeadChoice::Kind::one) return make_ready(stage.buffer, head.head, wanted.percentiles);
    stage.buffer.range();
    if (is_drawn_as_mean(stage)) make_ready(stage.buffer.mean(cancel), 0, wanted.percentiles);
}

}  // namespace

bool is_ready(const Trace& trace, const WantedPictures& wanted) {
    return std::ranges::all_of(trace.records,
                               [&](const StageRecord& record) { return is_ready(*record.stage, wanted); }) &&
           std::ranges::all_of(trace.gradients,
                               [&](const StagePtr& stage) { return is_ready(*stage, wanted); });
}

void make_ready(const Trace& trace, const WantedPictures& wanted, const std::stop_token& cancel) {
    constexpr std::size_t k_many_cells = std::size_t{1} << 17;  // fewer take less time than waking a thread
    std::vector<const Stage*> stages;
    std::size_t cells = 0;
    for (const StageRecord& record : trace.records) stages.push_back(record.stage.get());
    for (const StagePtr& gradient : trace.gradients) stages.push_back(gradient.get());
    for (const Stage* stage : stages)
        if (!is_ready(*stage, wanted)) {
            const bool reads_one_head = stage->buffer.known_range() &&
                                        head_on_screen(*stage, wanted.head).kind == HeadChoice::Kind::one;
            cells += reads_one_head ? stage->shape().head_size() : stage->shape().size();
        }
    const auto make = [&](const Stage& stage) {
        stop_if_canceled(cancel);
        make_ready(stage, wanted, cancel);
        const bool masks =
            stage.part == StageKey::Part::value && stage.info->role == StageRole::masked_scores;
        if (masks) find_fully_masked(trace, stage.buffer);
    };
    // Values on demand are surveyed by several threads at once, those of a card by the card.
    const auto others = std::stable_partition(stages.begin(), stages.end(), [&](const Stage* each) {
        return trace.backend == BackendKind::cpu && !each->buffer.on_demand();
    });
    const std::ptrdiff_t in_memory = others - stages.begin();
    if (cells > k_many_cells)
        run_parallel(in_memory, [&](std::ptrdiff_t i) { make(*stages[static_cast<std::size_t>(i)]); });
    else
        std::for_each(stages.begin(), others, [&](const Stage* each) { make(*each); });
    std::for_each(others, stages.end(), [&](const Stage* each) { make(*each); });
}

void make_ready(const Trace& trace, const Stage& stage, const WantedPictures& wanted,
                const std::stop_token& cancel) {
    make_ready(stage, wanted, cancel);
    if (const Stage* mask = trace.find(mask_of(*stage.info))) make_ready(*mask, wanted, cancel);
}

std::shared_ptr<const Difference> drawable(const Matrix& values, const Matrix& count) {
    const auto buffer = [](const Matrix& matrix) {
        Tensor copy(Shape{
            .heads = 1, .rows = static_cast<int>(matrix.rows()), .columns = static_cast<int>(matrix.cols())});
        copy.head(0) = matrix;
        auto result = std::make_shared<const Buffer>(std::move(copy));
        make_ready(*result, 0);
        return result;
    };
    return std::make_shared<const Difference>(Difference{.facts = {.key = "weights"_stage},
                                                         .values = buffer(values),
                                                         .open = buffer(count.cwiseMin(1.0f)),
                                                         .rows = {},
                                                         .columns = {}});
}

}  // namespace attnscope
