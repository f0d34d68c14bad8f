// How long the computation takes: the multi-head forward pass alone, as other libraries time it, and evaluate
// with every stage kept, as the window runs it. Both use the same kernels and the same division into blocks.
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "bench/random_tensor.h"
#include "core/cpu/kernels.h"
#include "core/cpu/row_blocks.h"
#include "core/mechanism/evaluate.h"
#include "core/memory.h"

namespace attnscope {
namespace {

/// Multi-head self-attention of X (N × d) without a mask, its memory allocated once: every head's weights
/// (heads × N × N) and the output (N × d) are kept, the scores are not. The parameters are transposed once,
/// as evaluate() keeps them; the keys each time, and each head's values are copied, as evaluate() splits
/// them.
class ForwardPass {
public:
    ForwardPass(int N, int d, int heads)
        : N_(N),
          d_(d),
          heads_(heads),
          X_(random_tensor({1, N, d}, 1, 1)),
          W_qkv_(random_tensor({3, d, d}, 1 / std::sqrt(d), 2)),
          W_o_(random_tensor({1, d, d}, 1 / std::sqrt(d), 3)),
          QKV_({3, N, d}),
          weights_({heads, N, N, true}),
          concat_({1, N, d}),
          output_({1, N, d}) {
        for (int i = 0; i < 3; ++i) packed_qkv_.push_back(transposed(std::as_const(W_qkv_).head(i)));
        packed_o_.push_back(transposed(std::as_const(W_o_).head(0)));
        packed_keys_.assign(static_cast<std::size_t>(heads), SpreadRows(d / heads, N));
        values_.assign(static_cast<std::size_t>(heads), Matrix(N, d / heads));
    }

    void run() {
        project(X_, W_qkv_, packed_qkv_, QKV_);
        const int width = d_ / heads_;
        const Tensor& QKV = QKV_;
        for (int h = 0; h < heads_; ++h) {
            const auto K = QKV.head(1).middleCols(Eigen::Index{h} * width, width);
            SpreadRows& packed = packed_keys_[static_cast<std::size_t>(h)];
            if (is_worth_transposing(QKV.head(0), K)) transpose(K, packed.view());
            values_[static_cast<std::size_t>(h)] = QKV.head(2).middleCols(Eigen::Index{h} * width, width);
        }
        for_row_blocks({heads_, N_, 2.0 * N_ * width + k_softmax_work * N_},
                       [&](const RowBlock& block) { attend(block, block.head * width, width); });
        project(concat_, W_o_, packed_o_, output_);
    }

private:
    /// A copy as Buffer keeps it of what is transposed.
    struct SpreadRows {
        Matrix numbers;
        int columns;

        SpreadRows(int rows, int own_columns)
            : numbers(rows, spread_apart(own_columns)), columns(own_columns) {}
        ColumnsView view() {
            return {numbers.data(), numbers.rows(), columns, Eigen::OuterStride<>(numbers.cols())};
        }
        ConstColumnsView view() const {
            return {numbers.data(), numbers.rows(), columns, Eigen::OuterStride<>(numbers.cols())};
        }
    };

    static SpreadRows transposed(const ConstStrided& B) {
        SpreadRows result(static_cast<int>(B.cols()), static_cast<int>(B.rows()));
        transpose(B, result.view());
        return result;
    }

    /// y = x Wᵀ for each of the matrices W (one for Q, K and V each, or W_o).
    void project(const Tensor& x, const Tensor& W, const std::vector<SpreadRows>& packed, Tensor& y) const {
        const RowLoop loop{W.shape().heads, N_, static_cast<double>(d_) * d_};
        for_row_blocks(loop, [&](const RowBlock& block) {
            multiply(block.of(x.head(0)), W.head(block.head), packed[static_cast<std::size_t>(block.head)],
                     block.of(y.head(block.head)));
        });
    }

    /// out = A Bᵀ, as operations multiply.
    static void multiply(const ConstStrided& A, const ConstStrided& B, const SpreadRows& packed,
                         Strided out) {
        if (is_worth_transposing(A, B))
            product(A, packed.view(), out);
        else
            product_transposed(A, B, out);
    }

    /// Some queries of the head whose columns start at `column`.
    void attend(const RowBlock& block, int column, int width) {
        const Tensor& QKV = QKV_;
        MatrixView weights = block.of(weights_.head(block.head));
        const ConstMatrixView scores(weights.data(), weights.rows(), weights.cols());
        multiply(block.of(QKV.head(0)).middleCols(column, width), QKV.head(1).middleCols(column, width),
                 packed_keys_[static_cast<std::size_t>(block.head)], weights);
        scale_rows(scores, static_cast<float>(1 / std::sqrt(width)), 1, weights);
        softmax_rows(scores, weights);
        product(weights, values_[static_cast<std::size_t>(block.head)],
                block.of(concat_.head(0)).middleCols(column, width));
    }

    int N_, d_, heads_;
    Tensor X_, W_qkv_, W_o_;
    std::vector<SpreadRows> packed_qkv_, packed_o_, packed_keys_;
    std::vector<Matrix> values_;  ///< by head
    Tensor QKV_, weights_, concat_, output_;
};

void forward(benchmark::State& state) {
    const int N = static_cast<int>(state.range(0));
    const int d = static_cast<int>(state.range(1));
    const int heads = static_cast<int>(state.range(2));
    const int threads = static_cast<int>(state.range(3));
    with_threads(threads, [&] {
        ForwardPass pass(N, d, heads);
        pass.run();  // its memory is there
        for (auto _ : state) {
            pass.run();
            benchmark::ClobberMemory();
        }
    });
    const double operations = 8.0 * N * d * d + 4.0 * N * N * d;
    state.counters["FLOP/s"] = benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate);
}

void forward_sizes(benchmark::internal::Benchmark* bench) {
    bench->ArgNames({"N", "d", "heads", "threads"})->UseRealTime()->Unit(benchmark::kMicrosecond);
    for (const int threads : {1, 2}) {
        bench->Args({8, 16, 1, threads})->Args({8, 64, 8, threads});
        bench->Args({32, 64, 8, threads})->Args({128, 64, 8, threads});
        for (const int N : {128, 512, 1024, 2048, 4096}) bench->Args({N, 512, 8, threads});
    }
}
BENCHMARK(forward)->Apply(forward_sizes);

/// A large product, A Bᵀ, each thread's rows at once: what the library of products can do at best.
void best_product(benchmark::State& state) {
    constexpr int k_side = 1536;
    const int threads = static_cast<int>(state.range(0));
    const Tensor A = random_tensor({1, k_side, k_side}, 1, 1), B = random_tensor({1, k_side, k_side}, 1, 2);
    Tensor result({1, k_side, k_side});
    const int rows = k_side / threads;
    with_threads(threads, [&] {
        for (auto _ : state) {
            run_parallel(threads, [&](Eigen::Index i) {
                product_transposed(A.head(0).middleRows(i * rows, rows), B.head(0),
                                   result.head(0).middleRows(i * rows, rows));
            });
            benchmark::ClobberMemory();
        }
    });
}
BENCHMARK(best_product)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMicrosecond);

/// N distinct words, with an output projection.
Experiment experiment_of(int N, int d, int heads) {
    Experiment experiment;
    experiment.input.text.clear();
    for (int i = 0; i < N; ++i) experiment.input.text += "word" + std::to_string(i) + " ";
    experiment.input.dim = d;
    experiment.attention.heads = heads;
    experiment.attention.output_projection = true;
    return experiment;
}

Experiment experiment_of(const benchmark::State& state) {
    return experiment_of(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)),
                         static_cast<int>(state.range(2)));
}

/// Evaluates from text to a whole trace, without a previous one, in memory that an earlier one used.
void evaluate(benchmark::State& state) {
    const Experiment experiment = experiment_of(state);
    evaluate(experiment);
    for (auto _ : state) benchmark::DoNotOptimize(evaluate(experiment));
}
BENCHMARK(evaluate)
    ->ArgNames({"N", "d", "heads"})
    ->Args({8, 16, 1})
    ->Args({64, 64, 8})
    ->Args({128, 512, 8})
    ->Args({512, 512, 8})
    ->Args({1024, 512, 8})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

/// The seed goes up by one each time and the trace before is at hand, as while a person drags the seed.
void drag_seed(benchmark::State& state, const EvaluateOptions& options) {
    Experiment experiment = experiment_of(state);
    std::int64_t seed = 0;
    Trace trace = evaluate(experiment, {}, options);
    for (auto _ : state) {
        experiment.weights.seed = ++seed;
        trace = evaluate(experiment, trace, options);
    }
}

void evaluate_seed_drag(benchmark::State& state) { drag_seed(state, {}); }
BENCHMARK(evaluate_seed_drag)
    ->ArgNames({"N", "d", "heads"})
    ->Args({8, 16, 1})
    ->Args({64, 64, 8})
    ->Args({512, 512, 8})
    ->Args({2048, 64, 1})
    ->Args({2048, 512, 8})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

/// The window evaluates like this: ranges are found on the way, and stages of pairs keep one head.
void evaluate_watched(benchmark::State& state) { drag_seed(state, {.watched = {.ranges = true, .head = 0}}); }
BENCHMARK(evaluate_watched)
    ->ArgNames({"N", "d", "heads"})
    ->Args({512, 512, 8})
    ->Args({2048, 512, 8})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace attnscope

int main(int argc, char** argv) {
    attnscope::keep_freed_memory();  // as the program does
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
