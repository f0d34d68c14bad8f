#include "core/graph/run.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>

#include "core/cpu/row_blocks.h"
#include "core/graph/backend.h"
#include "core/graph/on_demand.h"
#include "core/graph/row_pass.h"
#include "core/graph/trace.h"
#include "core/op/op.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

/// Whether two values are equal bit for bit; neither is computed or fetched from a card to find out.
bool same(const Buffer& a, const Buffer& b) {
    if (a.shape() != b.shape() || !a.is_here() || !b.is_here()) return false;
    const std::span<const float> left = a.host().values(), right = b.host().values();
    return std::memcmp(left.data(), right.data(), left.size_bytes()) == 0;
}

Tensor copied(const DeviceValues& values) {
    Tensor copy(values.shape());
    for (int h = 0; h < values.shape().heads; ++h)
        values.read(h, 0, values.shape().rows, copy.head(h).data());
    return copy;
}

/// All is watched where the stage that is watched does not exist.
EvaluateOptions watching(const Graph& graph, EvaluateOptions options) {
    const bool exists = std::ranges::any_of(
        graph.values, [&](const GraphValue& value) { return value.key.stage == options.watched.stage; });
    if (!exists) options.watched.stage = nullptr;
    return options;
}

class Run {
public:
    Run(const Graph& graph, const Trace& previous, const EvaluateOptions& options)
        : graph_(graph),
          previous_(previous),
          options_(watching(graph, options)),
          on_demand_(on_demand_values(graph, options.on_demand)),
          waits_(graph.nodes.size(), false),
          records_(graph.values.size()) {
        for (std::size_t value = 0; value < graph.values.size(); ++value)
            if (graph.values[value].result == 0) first_values_.push_back(value);
        first_values_.push_back(graph.values.size());
        if (options_.watched.stage) let_wait(options_.watched.stage);
    }

    /// Records in the order of the graph's values.
    std::vector<StageRecord> records() {
        const auto may_join = [&](int node) {
            const Op& op = *node_of(node).op;
            return has_rows(op) && !on_demand_[first_value(node)] && !is_on_card(op);
        };
        for (const std::vector<int>& pass : row_passes(graph_, may_join)) {
            stop_if_canceled(options_.cancel);
            if (pass.size() == 1)
                add(pass[0]);
            else
                add_together(pass);
        }
        return std::move(records_);
    }

private:
    const GraphNode& node_of(int node) const { return graph_.nodes[static_cast<std::size_t>(node)]; }
    std::size_t first_value(int node) const { return first_values_[static_cast<std::size_t>(node)]; }
    bool waits(int node) const { return waits_[static_cast<std::size_t>(node)]; }
    bool is_on_card(const Op& op) const { return options_.backend && options_.backend->computes(op); }
    const StageRecord* old(std::size_t value) const { return previous_.record(graph_.values[value].key); }

    /// Lets nodes wait that neither this stage reads nor what tells which pairs and rows are closed. Draws,
    /// which have an order, and nodes of several results do not wait, and nothing that these read.
    void let_wait(const StageInfo* watched) {
        std::vector<const StageInfo*> read{watched};
        for (std::size_t value = 0; value < graph_.values.size(); ++value) {
            const StageInfo* const stage = graph_.values[value].key.stage;
            const int node = graph_.values[value].node;
            const bool closes = stage->role == StageRole::mask || stage->role == StageRole::masked_scores;
            const bool cannot_wait = node_of(node).inputs.empty() ||
                                     first_value(node + 1) - first_value(node) > 1 || on_demand_[value];
            if (closes || cannot_wait) read.push_back(stage);
        }
        waits_ = nodes_for(graph_, read);
        waits_.flip();
    }

    /// The node's inputs; nullptr for those that are not computed yet.
    std::vector<StagePtr> inputs_of(const GraphNode& node) const {
        std::vector<StagePtr> inputs;
        for (const int input : node.inputs) inputs.push_back(records_[static_cast<std::size_t>(input)].stage);
        return inputs;
    }

    /// Reuses the node's results, if its operation and inputs are those of the previous trace, and they are
    /// there if they are to be.
    bool reuse(int node, const std::vector<StagePtr>& inputs) {
        const std::size_t first = first_value(node), count = first_value(node + 1) - first;
        const Op& op = *node_of(node).op;
        for (std::size_t i = 0; i < count; ++i) {
            const StageRecord* record = old(first + i);
            if (!record || record->inputs != inputs || !(*record->op == op)) return false;
            if (record->stage->buffer.is_waiting() && !waits(node)) return false;
        }
        for (std::size_t i = 0; i < count; ++i)
            records_[first + i] = {old(first + i)->stage, node_of(node).op, inputs};
        return true;
    }

    void keep(std::size_t value, StagePtr stage, std::vector<StagePtr> inputs, double milliseconds) {
        const StageRecord* record = old(value);
        if (record && same(record->stage->buffer, stage->buffer)) stage = record->stage;
        records_[value] = {std::move(stage), node_of(graph_.values[value].node).op, std::move(inputs),
                           milliseconds, !waits(graph_.values[value].node)};
    }

    void add(int node) {
        const std::vector<StagePtr> inputs = inputs_of(node_of(node));
        if (reuse(node, inputs)) return;
        const std::size_t first = first_value(node);
        const std::shared_ptr<const Op>& op = node_of(node).op;
        const Clock::time_point start = Clock::now();
        std::vector<Buffer> results;
        if (waits(node))
            results.push_back(waiting(op, inputs));
        else if (on_demand_[first])
            results.emplace_back(compute_on_demand(op, inputs, mask_for(graph_.values[first].key),
                                                   options_.on_demand, card_of_regions()));
        else
            results = compute(*op, inputs);
        double milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
        for (std::size_t i = 0; i < results.size(); ++i) {
            keep(first + i,
                 std::make_shared<const Stage>(graph_.values[first + i].key, std::move(results[i])), inputs,
                 milliseconds);
            milliseconds = 0;  // the time is recorded with an operation's first result
            const Stage& made = *records_[first + i].stage;
            const bool is_mask = made.info->role == StageRole::mask && !on_demand_[first + i];
            if (options_.watched.ranges && is_mask) made.buffer.range();
        }
    }

    /// Whether a node that is not of the chain reads a value.
    bool is_read_outside(std::size_t value, const std::vector<int>& chain) const {
        for (int node = 0; node < static_cast<int>(graph_.nodes.size()); ++node)
            if (!waits(node) && std::ranges::find(chain, node) == chain.end() &&
                std::ranges::find(node_of(node).inputs, static_cast<int>(value)) !=
                    node_of(node).inputs.end())
                return true;
        return false;
    }

    /// Computes a chain of row_passes() in one pass.
    void add_together(const std::vector<int>& chain) {
        std::vector<PassNode> nodes;
        std::vector<std::size_t> values;
        for (const int index : chain) {
            const GraphNode& node = node_of(index);
            const std::vector<StagePtr> inputs = inputs_of(node);
            if (reuse(index, inputs)) continue;
            PassNode own{graph_.values[first_value(index)].key,
                         node.op,
                         {},
                         is_read_outside(first_value(index), chain),
                         waits(index)};
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                const auto earlier = std::ranges::find(values, static_cast<std::size_t>(node.inputs[i]));
                own.inputs.push_back(
                    {inputs[i], inputs[i] ? -1 : static_cast<int>(earlier - values.begin())});
            }
            values.push_back(first_value(index));
            nodes.push_back(std::move(own));
        }
        if (nodes.empty()) return;
        std::vector<PassResult> results = run_pass(nodes, options_);
        for (std::size_t i = 0; i < results.size(); ++i) {
            // An input that turned out to be the same as before was exchanged for that.
            keep(values[i], std::move(results[i].stage), inputs_of(node_of(graph_.values[values[i]].node)),
                 results[i].milliseconds);
        }
    }

    /// The mask whose closed pairs are empty cells of a stage; nullptr for other stages.
    StagePtr mask_for(StageKey key) const {
        const StageInfo* mask = mask_of(*key.stage);
        if (!mask || mask == key.stage) return nullptr;
        const auto found = std::ranges::find_if(records_, [&](const StageRecord& record) {
            return record.stage && record.stage->info == mask &&
                   (record.stage->layer == key.layer || record.stage->layer == 0);
        });
        return found == records_.end() ? nullptr : found->stage;
    }

    /// For all stages on demand of the trace; nullptr without a card.
    const std::shared_ptr<RegionBackend>& card_of_regions() {
        if (!regions_ && options_.backend) regions_ = options_.backend->regions();
        return regions_;
    }

    /// The result of an operation that is computed when something asks for it, by the card if it still can.
    Buffer waiting(const std::shared_ptr<const Op>& op, const std::vector<StagePtr>& inputs) const {
        std::vector<Shape> read;
        for (const StagePtr& input : inputs) read.push_back(input->shape());
        const Shape shape = shapes(*op, read).front();
        std::weak_ptr<Backend> card;
        if (is_on_card(*op)) card = options_.backend->weak_from_this();
        return {shape, [op, inputs, card] {
                    std::vector<const Buffer*> buffers;
                    for (const StagePtr& input : inputs) {
                        if (input->buffer.is_waiting()) input->buffer.host();  // not by the card's own thread
                        buffers.push_back(&input->buffer);
                    }
                    if (const std::shared_ptr<Backend> backend = card.lock())
                        if (const auto values = backend->compute(*op, buffers, {})) return copied(*values);
                    DrawSequence none;
                    std::optional<Tensor> result;
                    run_isolated([&] { result.emplace(std::move(forward(*op, {buffers, none}).front())); });
                    return std::move(*result);
                }};
    }

    std::vector<Buffer> compute(const Op& op, const std::vector<StagePtr>& inputs) {
        std::vector<const Buffer*> buffers;
        for (const StagePtr& input : inputs) buffers.push_back(&input->buffer);
        std::vector<Buffer> results;
        if (is_on_card(op))
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
    const EvaluateOptions options_;
    const std::vector<bool> on_demand_;  ///< by value
    std::vector<bool> waits_;            ///< by node, until something asks for its results
    std::shared_ptr<RegionBackend> regions_;
    DrawSequence draws_;
    std::vector<StageRecord> records_;       ///< by value; without a stage until it is computed
    std::vector<std::size_t> first_values_;  ///< by node, and the number of all values
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
