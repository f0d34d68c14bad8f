// Exported heatmaps: the bytes of a PNG from a trace that is there. bench/compare.py runs them
// beside matplotlib and seaborn.
#include <benchmark/benchmark.h>

#include <string>

#include "core/export/export.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"

namespace attnscope {
namespace {

/// Dot products of N normal embeddings, with axes, color bar and labels.
void heatmap_png(benchmark::State& state) {
    const auto tokens = static_cast<int>(state.range(0)), cell = static_cast<int>(state.range(1));
    Session session;
    Experiment& experiment = session.experiment;
    experiment.input.text.clear();
    for (int i = 0; i < tokens; ++i) experiment.input.text += "w" + std::to_string(i) + " ";
    experiment.attention.scale = {Scale::Kind::none};
    experiment.attention.projection = Projection::none;
    session.presentation.cell_size = cell;
    const Trace trace = evaluate(experiment);
    const ExportItem item = plan_export(trace, {.stages = {"scores"}, .head = {}}).front();
    std::size_t bytes = 0;
    for (auto _ : state) bytes = export_bytes(trace, session, item).size();
    state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(heatmap_png)
    ->ArgNames({"N", "cell"})
    ->Args({4096, 1})
    ->Args({1024, 1})
    ->MinTime(2)  // several pictures: the first of a process waits for the system to clear its memory
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace attnscope
