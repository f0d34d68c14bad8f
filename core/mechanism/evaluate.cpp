// Evaluates an Experiment into a Trace: builds the graph, checks that it fits in memory, runs it.
#include "core/mechanism/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/cpu/row_blocks.h"
#include "core/error.h"
#include "core/experiment/custom_values.h"
#include "core/graph/backend.h"
#include "core/graph/on_demand.h"
#include "core/graph/run.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/mechanisms.h"
#include "core/memory.h"

namespace attnscope {
namespace {

/// Bytes that a trace occupies on a card.
std::size_t bytes_on_device(const Trace& trace) {
    std::size_t bytes = 0;
    for (const StageRecord& record : trace.records)
        if (record.stage->buffer.is_on_device()) bytes += record.stage->shape().size() * sizeof(float);
    return bytes;
}

/// What is large, by its weights: "512 × 512 tokens with 8 heads", "12 steps over 9 words".
std::string size_words(const Graph& graph) {
    const auto weights = std::ranges::find_if(
        graph.values, [](const GraphValue& value) { return value.key.stage->role == StageRole::weights; });
    if (weights == graph.values.end()) return "the matrices";
    const Shape& shape = weights->shape;
    if (!shape.per_head) return fmt::format("{} steps over {} words", shape.rows, shape.columns);
    return fmt::format("{} × {} tokens with {} heads", shape.rows, shape.columns, shape.heads);
}

void require_bytes(const Graph& graph, std::size_t needed, std::size_t limit, const std::string& memory) {
    if (needed <= limit) return;
    throw Error(
        ErrorKind::too_large,
        fmt::format("{} need {} MiB of {} and {} MiB are free: shorten the sentence or use fewer heads",
                    size_words(graph), needed >> 20, memory, limit >> 20));
}

struct Needed {
    std::size_t here = 0, on_card = 0;
};

/// Bytes of all values that are kept, and of the surveys of those that are computed on demand; without
/// transposes of parameters and keys (Buffer::transposed), whose rows are short.
Needed needed_bytes(const Graph& graph, const EvaluateOptions& options, bool has_card) {
    const std::vector<bool> on_demand = on_demand_values(graph, options.on_demand);
    Needed needed;
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
        if (!on_demand[i]) continue;
        const std::size_t surveys =
            options.on_demand.kept_surveys * survey_bytes(graph.values[i].shape, options.on_demand);
        needed.here = std::max(needed.here, surveys);
    }
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
        if (on_demand[i]) continue;
        const bool on_card = has_card && options.backend->computes(graph.op_of(graph.values[i]));
        (on_card ? needed.on_card : needed.here) += bytes_of(graph.values[i]);
    }
    return needed;
}

/// The old trace stays on screen until the new one is complete, so only free memory counts; on a card, which
/// is asked again for each result, what may be reused counts as well.
void require_memory(const Graph& graph, const Trace& previous, const EvaluateOptions& options) {
    // A tenth is left for other allocations.
    const auto most_of = [](std::size_t bytes) { return bytes / 10 * 9; };
    const std::size_t there = options.backend ? options.backend->memory() : 0;
    const Needed needed = needed_bytes(graph, options, there > 0);
    if (there == 0 && options.memory_limit == 0 && needed.here < k_worth_asking) return;
    const std::size_t here = options.memory_limit ? options.memory_limit : most_of(available_memory());
    if (there > 0) {
        const std::size_t reused = std::min(needed.on_card, bytes_on_device(previous));
        require_bytes(graph, needed.on_card - reused, most_of(there), "the GPU's memory");
    }
    require_bytes(graph, needed.here, here, "this machine's memory");
}

}  // namespace

Trace evaluate(const Graph& graph, const EvaluateOptions& options) {
    require_memory(graph, {}, options);
    return run(graph, {}, options);
}

Trace evaluate(const Experiment& experiment, const Trace& previous, const EvaluateOptions& options) {
    check(experiment);
    check_custom_cells(experiment);
    Graph graph = build(experiment);
    if (!options.stages.empty()) graph = part_for(graph, options.stages);
    EvaluateOptions how = options;
    // A recurrence runs step by step, so the CPU computes it.
    if (mechanism_rule(experiment.mechanism).is_recurrent) how.backend = nullptr;
    const BackendKind backend = how.backend ? BackendKind::gpu : BackendKind::cpu;
    // Backends differ in the last bits, so neither reuses the other's results.
    const Trace nothing;
    const Trace& before = previous.backend == backend ? previous : nothing;
    require_memory(graph, before, how);
    Trace trace;
    with_threads(options.threads, [&] { trace = run(graph, before, how); });
    trace.experiment = experiment;
    if (const auto labels = mechanism_of(experiment).row_labels) trace.rows = labels(trace);
    trace.backend = backend;
    return trace;
}

}  // namespace attnscope
