// What the Training view waits for: a step of a run, and going back to any step of one.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "core/learn/training_run.h"

namespace attnscope {
namespace {

constexpr int k_steps = 500;

void step(benchmark::State& state, TaskKind task) {
    TrainingRun run(task_experiment(task), static_cast<int>(state.range(0)));
    for (auto _ : state) run.advance();
}

/// Goes to a random step of those that were taken. Reports besides the mean: the longest way, and what the
/// run keeps.
void go_to(benchmark::State& state, TaskKind task) {
    TrainingRun run(task_experiment(task));
    run.go_to(k_steps);
    std::mt19937 dice(1);
    double longest = 0;
    for (auto _ : state) {
        const int wanted = std::uniform_int_distribution(0, k_steps)(dice);
        const auto start = std::chrono::steady_clock::now();
        run.go_to(wanted);
        longest = std::max(
            longest,
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    state.counters["longest_ms"] = longest;
    state.counters["kept_MB"] = static_cast<double>(run.kept_bytes()) / 1e6;
}

BENCHMARK_CAPTURE(step, translate, TaskKind::translate)
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(step, induction, TaskKind::induction)
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(go_to, translate, TaskKind::translate)
    ->Iterations(300)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(go_to, induction, TaskKind::induction)
    ->Iterations(300)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace attnscope
