// How long the stages of a book take, of which only parts are ever computed: one head of 64 dimensions.
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

#include "core/experiment/masks.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"

namespace attnscope {
namespace {

/// A text of so many tokens, of 8,000 words, the first of which are the most frequent.
Trace trace_of(int tokens, bool causal) {
    Experiment e;
    e.input.text.clear();
    std::uint32_t state = 1;
    for (int i = 0; i < tokens; ++i) {
        state = state * 1664525 + 1013904223;
        e.input.text +=
            "w" + std::to_string(static_cast<int>(8000 * std::pow(state / 4294967296.0, 3))) + " ";
    }
    e.input.dim = 64;
    e.attention.projection = Projection::xavier;
    if (causal) e.weighting.mask.push_back({MaskForm::causal});
    return evaluate(e);
}

const OnDemandValues& weights_of(const Trace& trace) {
    return *trace.find("weights"_stage)->buffer.on_demand();
}

/// The first picture of all: bands of rows, from everything that is drawn and projected.
void preview_of_book(benchmark::State& state) {
    for (auto _ : state) {
        const Trace trace = trace_of(static_cast<int>(state.range(0)), false);
        benchmark::DoNotOptimize(weights_of(trace).preview(0, 64, Pool::dominant, {}));
    }
}

void survey_of_book(benchmark::State& state) {
    for (auto _ : state) {
        state.PauseTiming();
        const Trace trace = trace_of(static_cast<int>(state.range(0)), state.range(1) != 0);
        state.ResumeTiming();
        benchmark::DoNotOptimize(weights_of(trace).survey(0, {}, {}));
    }
}

constexpr int k_book = 131072;

/// One for all that need its overview, which takes half a minute.
const Trace& surveyed_book() {
    static const Trace book = trace_of(k_book, false);
    static const KeptSurvey kept = weights_of(book).survey(0, {}, {});
    return book;
}

/// A screen of 1000 × 700 cells of a level, once the rows' sums are known.
void screen_of_book(benchmark::State& state, StageKey stage, Pool pool) {
    const Trace& trace = surveyed_book();
    const int level = static_cast<int>(state.range(1));
    const OnDemandValues& values = *trace.find(stage)->buffer.on_demand();
    for (auto _ : state) benchmark::DoNotOptimize(values.tile(0, level, pool, {0, 0, 700, 1000}, {}));
}

/// What is drawn of the context: with the sums of its weights' rows, or once a survey knows them.
void sample_of_book(benchmark::State& state) {
    const bool is_surveyed = state.range(1) != 0;
    const Trace trace = is_surveyed ? surveyed_book() : trace_of(k_book, false);
    static int rows = 256;
    for (auto _ : state)  // samples are kept: each is of another number of rows
        benchmark::DoNotOptimize(trace.find("context"_stage)->buffer.on_demand()->sample(0, rows++, {}));
}

BENCHMARK(preview_of_book)->Arg(k_book)->ArgName("N")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(sample_of_book)
    ->Args({k_book, 0})
    ->Args({k_book, 1})
    ->ArgNames({"N", "surveyed"})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(survey_of_book)
    ->Args({k_book / 4, 0})
    ->Args({k_book / 2, 0})
    ->Args({k_book, 0})
    ->Args({k_book, 1})
    ->ArgNames({"N", "causal"})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
void screens(benchmark::internal::Benchmark* of) {
    of->ArgsProduct({{k_book}, {0, 1, 2, 3, 4}})
        ->ArgNames({"N", "level"})
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
}
BENCHMARK_CAPTURE(screen_of_book, weights_strongest, "weights"_stage, Pool::dominant)->Apply(screens);
BENCHMARK_CAPTURE(screen_of_book, weights_mean, "weights"_stage, Pool::mean)->Apply(screens);
BENCHMARK_CAPTURE(screen_of_book, scores_strongest, "scores"_stage, Pool::dominant)->Apply(screens);
BENCHMARK_CAPTURE(screen_of_book, scores_mean, "scores"_stage, Pool::mean)->Apply(screens);

}  // namespace
}  // namespace attnscope
