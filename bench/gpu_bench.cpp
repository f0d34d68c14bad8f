// How long the graphics card computes, by its own clock: the forward pass that `forward` times on the CPU,
// and its largest product alone, for comparison with the vendor's library.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/random_tensor.h"
#include "core/error.h"
#include "core/gpu/backend.h"
#include "core/graph/trace.h"
#include "core/op/op.h"

namespace attnscope {
namespace {

/// Beyond it a software renderer takes minutes for a pass.
constexpr int k_largest_in_software = 256;

/// One for the process, its dispatches timed. Throws Error(backend) where there is no OpenGL 4.3.
GpuBackend& gpu() {
    static GpuBackend backend(make_egl_context(), {.timed = true});
    return backend;
}

StagePtr stage(const char* name, Buffer buffer) {
    return StagePtr(new Stage{find_stage_info(name), std::move(buffer)});
}

StagePtr random_stage(const char* name, int rows, int columns, double deviation, unsigned seed) {
    return stage(name, Buffer(random_tensor({.rows = rows, .columns = columns}, deviation, seed)));
}

/// An operation on the card. Throws Error, also for one that the processor would have to compute.
StagePtr computed(const char* name, const Op& op, const std::vector<StagePtr>& inputs) {
    std::vector<const Buffer*> buffers;
    for (const StagePtr& input : inputs) buffers.push_back(&input->buffer);
    auto values = gpu().compute(op, buffers, {});
    if (!values)
        throw Error(ErrorKind::too_large,
                    std::string(name) + " does not fit into this card's storage blocks");
    return stage(name, Buffer(std::move(values)));
}

/// Multi-head self-attention of X (N × d) without a mask, in evaluate's operations; X and the weights W (d ×
/// d) are on the card after the first run. Every head's weights (heads × N × N) are kept, the scores are not.
class GpuForwardPass {
public:
    GpuForwardPass(int N, int d, int heads)
        : d_(d),
          heads_(heads),
          X_(random_stage("embedding", N, d, 1, 1)),
          W_q_(random_stage("W_q", d, d, 1 / std::sqrt(d), 2)),
          W_k_(random_stage("W_k", d, d, 1 / std::sqrt(d), 3)),
          W_v_(random_stage("W_v", d, d, 1 / std::sqrt(d), 4)),
          W_o_(random_stage("W_o", d, d, 1 / std::sqrt(d), 5)) {}

    void run() {
        weights_ = output_ = nullptr;  // two of them would take twice the memory
        const StagePtr Q = projected("query", W_q_), K = projected("key", W_k_), V = projected("value", W_v_);
        const StagePtr scores = computed("scores", op::DotProduct{}, {Q, K});
        const StagePtr scaled = computed("scaled", op::Scale{{}, d_ / heads_, 1}, {scores});
        weights_ = computed("weights", op::Softmax{}, {scaled});
        const StagePtr context = computed("context", op::WeightedSum{}, {weights_, scaled, V});
        const StagePtr concat = computed("concat", op::JoinHeads{}, {context});
        output_ = computed("output", op::Linear{}, {concat, W_o_});
    }

private:
    /// X Wᵀ, cut into heads.
    StagePtr projected(const char* name, const StagePtr& W) const {
        const StagePtr whole = computed(name, op::Linear{}, {X_, W});
        return computed(name, op::SplitHeads{heads_}, {whole});
    }

    int d_, heads_;
    StagePtr X_, W_q_, W_k_, W_v_, W_o_;
    StagePtr weights_, output_;
};

/// Times `run` once it has compiled and copied what it needs; `operations` are what it counts as. Beside the
/// card's own time, which excludes what passes between two dispatches, the counter `wall` is all of it.
void time_on_card(benchmark::State& state, double operations, const std::function<void()>& run) {
    using Clock = std::chrono::steady_clock;
    try {
        run();
        gpu().take_nanoseconds();
        double wall = 0;
        for (auto _ : state) {
            const Clock::time_point start = Clock::now();
            run();
            wall += std::chrono::duration<double>(Clock::now() - start).count();
            state.SetIterationTime(static_cast<double>(gpu().take_nanoseconds()) / 1e9);
        }
        state.counters["wall"] = benchmark::Counter(wall, benchmark::Counter::kAvgIterations);
        state.counters["FLOP/s"] =
            benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate);
        state.SetLabel(gpu().info().renderer);
    } catch (const Error& error) {
        state.SkipWithError(error.what());
    }
}

/// Says why, and skips, where this size cannot be timed.
bool is_possible(benchmark::State& state, int N) {
    try {
        if (!gpu().info().is_software || N <= k_largest_in_software) return true;
        state.SkipWithError((gpu().info().renderer + " computes on the processor: N ends at " +
                             std::to_string(k_largest_in_software))
                                .c_str());
    } catch (const Error& error) {
        state.SkipWithError(error.what());
    }
    return false;
}

/// Floating point operations: 8 N d² for four projections and 4 N² d for scores and weighted sums, a
/// multiply-add being two; scale and softmax are not counted.
void forward_gpu(benchmark::State& state) {
    const int N = static_cast<int>(state.range(0)), d = static_cast<int>(state.range(1));
    const double operations = 8.0 * N * d * d + 4.0 * N * N * d;
    if (!is_possible(state, N)) return;
    GpuForwardPass pass(N, d, static_cast<int>(state.range(2)));
    time_on_card(state, operations, [&] { pass.run(); });
}

void forward_gpu_sizes(benchmark::internal::Benchmark* bench) {
    bench->ArgNames({"N", "d", "heads"})->UseManualTime()->Unit(benchmark::kMillisecond);
    for (const int d : {16, 64})
        for (const int N : {128, 1024}) bench->Args({N, d, d / 8});
    for (int N = 128; N <= 16384; N *= 2) bench->Args({N, 512, 8});
}
BENCHMARK(forward_gpu)->Apply(forward_gpu_sizes);

/// X Yᵀ for X and Y of N × d: 2 N² d floating point operations.
void product_gpu(benchmark::State& state) {
    const int N = static_cast<int>(state.range(0)), d = static_cast<int>(state.range(1));
    const double operations = 2.0 * N * N * d;
    if (!is_possible(state, N)) return;
    const StagePtr X = random_stage("query", N, d, 1, 1), Y = random_stage("key", N, d, 1, 2);
    time_on_card(state, operations, [&] { computed("scores", op::Linear{}, {X, Y}); });
}

void product_sizes(benchmark::internal::Benchmark* bench) {
    bench->ArgNames({"N", "d"})->UseManualTime()->Unit(benchmark::kMillisecond);
    for (int N = 128; N <= 16384; N *= 2) bench->Args({N, 512});
}
BENCHMARK(product_gpu)->Apply(product_sizes);

}  // namespace
}  // namespace attnscope
