#include "core/graph/gradient.h"

#include <fmt/format.h>

#include <map>
#include <span>

#include "core/canceled.h"
#include "core/error.h"
#include "core/graph/stage_table.h"
#include "core/memory.h"
#include "core/op/op.h"

namespace attnscope {
namespace {

bool is_real(const Stage& stage) { return may_have_gradient(*stage.info); }

/// Before any gradient is allocated: there are at most as many numbers as in the trace.
void require_memory(const Trace& trace) {
    std::size_t bytes = 0;
    for (const StageRecord& record : trace.records)
        if (is_real(*record.stage)) bytes += record.stage->shape().size() * sizeof(float);
    if (bytes < k_worth_asking) return;
    const std::size_t free = available_memory() / 10 * 9;
    if (bytes > free)
        throw Error(ErrorKind::too_large,
                    fmt::format("the gradients need {} MiB and {} MiB are free: shorten the sentence or use "
                                "fewer heads",
                                bytes >> 20, free >> 20));
}

class Walk {
public:
    Walk(const Trace& trace, const std::stop_token& cancel) : trace_(trace), cancel_(cancel) {}

    void back_from(const Stage& loss) {
        of(loss).head(0)(0, 0) = 1;
        for (std::size_t end = trace_.records.size(); end > 0;) {
            std::size_t first = end - 1;
            while (first > 0 && trace_.records[first - 1].op == trace_.records[end - 1].op) --first;
            through(std::span(trace_.records).subspan(first, end - first));
            end = first;
        }
    }

    std::vector<StagePtr> stages() {
        std::vector<StagePtr> stages;
        for (const StageRecord& record : trace_.records) {
            const Stage& stage = *record.stage;
            if (const auto found = gradients_.find(&stage); found != gradients_.end() && is_real(stage))
                stages.push_back(
                    std::make_shared<const Stage>(StageKey{stage.info, stage.layer, StageKey::Part::gradient},
                                                  Buffer(std::move(found->second))));
        }
        return stages;
    }

private:
    /// The gradient so far, zeros at first.
    Tensor& of(const Stage& stage) {
        const auto [found, is_new] = gradients_.try_emplace(&stage, stage.shape());
        if (is_new) std::ranges::fill(found->second.values(), 0.0f);
        return found->second;
    }

    /// `results` are all results of one operation.
    void through(std::span<const StageRecord> results) {
        stop_if_canceled(cancel_);
        const bool matters = std::ranges::any_of(
            results, [&](const StageRecord& record) { return gradients_.contains(record.stage.get()); });
        if (!matters || !why_no_gradient(*results[0].op).empty()) return;
        std::vector<const Buffer*> inputs, values;
        std::vector<Tensor*> of_results, sums;
        for (const StageRecord& record : results) {
            values.push_back(&record.stage->buffer);
            of_results.push_back(&of(*record.stage));
        }
        for (const StagePtr& input : results[0].inputs) {
            inputs.push_back(&input->buffer);
            sums.push_back(is_real(*input) ? &of(*input) : nullptr);
        }
        backward(*results[0].op, {inputs, values, of_results, sums, cancel_});
    }

    const Trace& trace_;
    const std::stop_token& cancel_;
    std::map<const Stage*, Tensor> gradients_;
};

}  // namespace

std::vector<StagePtr> gradients(const Trace& trace, const std::stop_token& cancel) {
    if (const std::string why = why_no_gradients(trace); !why.empty()) throw Error(ErrorKind::bad_input, why);
    require_memory(trace);
    Walk walk(trace, cancel);
    walk.back_from(*trace.find("loss"_stage));
    return walk.stages();
}

std::string why_no_gradients(const Trace& trace) {
    if (trace.find("loss"_stage)) return "";
    return "this experiment has no loss, so there are no gradients: " + trace.loss_advice;
}

}  // namespace attnscope
