#include "core/graph/run.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/graph/backend.h"
#include "core/graph/on_demand.h"
#include "core/graph/trace.h"
#include "core/op/op.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

/// Whether two values are equal bit for bit; values on a card are not fetched to find out.
bool same(const Buffer& a, const Buffer& b) {
    const auto is_here = [](const Buffer& buffer) { return !buffer.is_on_device() && !buffer.on_demand(); };
    if (a.shape() != b.shape() || !is_here(a) || !is_here(b)) return false;
    const std::span<const float> left = a.host().values(), right = b.host().values();
    return std::memcmp(left.data(), right.data(), left.size_bytes()) == 0;
}

class Run {
public:
    Run(const Graph& graph, const Trace& previous, const EvaluateOptions& options)
        : graph_(graph),
          previous_(previous),
          options_(options),
          on_demand_(on_demand_values(graph, options.on_demand)) {}

    /// Records in the order of the graph's values.
    std::vector<StageRecord> records() {
        std::size_t first = 0;
        for (const GraphNode& node : graph_.nodes) {
            std::size_t count = 0;
            while (first + count < graph_.values.size() &&
                   &graph_.nodes[static_cast<std::size_t>(graph_.values[first + count].node)] == &node)
                ++count;
            add(node, std::span(graph_.values).subspan(first, count));
            first += count;
        }
        return std::move(records_);
    }

private:
    void add(const GraphNode& node, std::span<const GraphValue> values) {
        stop_if_canceled(options_.cancel);
        std::vector<StagePtr> inputs;
        for (const int input : node.inputs) inputs.push_back(records_[static_cast<std::size_t>(input)].stage);
        std::vector<const StageRecord*> old;
        for (const GraphValue& value : values) old.push_back(previous_.record(value.key));
        const auto is_reusable = [&](const StageRecord* record) {
            return record && record->inputs == inputs && *record->op == *node.op;
        };
        if (std::ranges::all_of(old, is_reusable)) {
            for (const StageRecord* record : old) records_.push_back({record->stage, node.op, inputs});
            return;
        }
        const Clock::time_point start = Clock::now();
        std::vector<Buffer> results;
        if (on_demand_[records_.size()])
            results.emplace_back(
                compute_on_demand(node.op, inputs, mask_for(values[0].key), options_.on_demand));
        else
            results = compute(*node.op, inputs);
        double milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
        for (std::size_t i = 0; i < results.size(); ++i) {
            StagePtr stage = old[i] && same(old[i]->stage->buffer, results[i])
                                 ? old[i]->stage
                                 : std::make_shared<const Stage>(values[i].key, std::move(results[i]));
            records_.push_back({std::move(stage), node.op, inputs, milliseconds, true});
            milliseconds = 0;  // the time is recorded with an operation's first result
        }
    }

    /// The mask whose closed pairs are empty cells of a stage; nullptr for other stages.
    StagePtr mask_for(StageKey key) const {
        const StageInfo* mask = mask_of(*key.stage);
        if (!mask || mask == key.stage) return nullptr;
        const auto found = std::ranges::find_if(records_, [&](const StageRecord& record) {
            return record.stage->info == mask &&
                   (record.stage->layer == key.layer || record.stage->layer == 0);
        });
        return found == records_.end() ? nullptr : found->stage;
    }

    std::vector<Buffer> compute(const Op& op, const std::vector<StagePtr>& inputs) {
        std::vector<const Buffer*> buffers;
        for (const StagePtr& input : inputs) buffers.push_back(&input->buffer);
        std::vector<Buffer> results;
        if (options_.backend && options_.backend->computes(op))
            if (auto values = options_.backend->compute(op, buffers, options_.cancel)) {
                results.emplace_back(std::move(values));
                return results;
            }
        for (Tensor& tensor : forward(op, {buffers, draws_, options_.cancel}))
            results.emplace_back(std::move(tensor));
        return results;
    }

    const Graph& graph_;
    const Trace& previous_;
    const EvaluateOptions& options_;
    const std::vector<bool> on_demand_;  ///< by value
    DrawSequence draws_;
    std::vector<StageRecord> records_;
};

}  // namespace

Trace run(const Graph& graph, const Trace& previous, const EvaluateOptions& options) {
    const Clock::time_point start = Clock::now();
    Trace trace;
    trace.rows = graph.rows;
    trace.columns = graph.columns;
    trace.table = graph.table;
    trace.target_table = graph.target_table;
    trace.features = graph.features;
    trace.overridable = graph.overridable;
    trace.loss_advice = graph.loss_advice;
    trace.records = Run(graph, previous, options).records();
    std::stable_partition(trace.records.begin(), trace.records.end(),
                          [](const StageRecord& record) { return !is_parameter(*record.stage->info); });
    trace.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    return trace;
}

}  // namespace attnscope
