#include "core/gpu/choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/gpu/backend.h"
#include "core/mechanism/evaluate.h"

namespace attnscope {
namespace {

Experiment trial() {
    constexpr int k_tokens = 1024, k_features = 256;
    Experiment e;
    Matrix X(k_tokens, k_features);
    for (Eigen::Index i = 0; i < X.size(); ++i) X.data()[i] = static_cast<float>(i % 251) / 251 - 0.5f;
    e.weights.set_custom("embedding", std::move(X));
    e.input.dim = k_features;
    e.attention.heads = 4;
    e.attention.projection = Projection::linear;
    return e;
}

/// The shorter of two runs: the first one also compiles the shaders and warms up.
double milliseconds_of(const Experiment& e, Backend* backend) {
    double best = INFINITY;
    for (int run = 0; run < 3; ++run)
        best = std::min(best, evaluate(e, {}, {.backend = backend}).milliseconds);
    return best;
}

std::string times(double ratio) { return fmt::format("{:.{}f}", ratio, ratio < 10 ? 1 : 0); }

BackendChoice faster(std::shared_ptr<GpuBackend> gpu) {
    if (gpu->info().is_software) return {nullptr, gpu->info().renderer + " is a software renderer"};
    const Experiment e = trial();
    const double on_cpu = milliseconds_of(e, nullptr), on_gpu = milliseconds_of(e, gpu.get());
    const std::string& card = gpu->info().renderer;
    if (on_gpu >= on_cpu)
        return {nullptr, "the CPU is " + times(on_gpu / on_cpu) + " times as fast as " + card};
    return {std::move(gpu), card + " is " + times(on_cpu / on_gpu) + " times as fast as the CPU"};
}

}  // namespace

BackendWish parse_backend(std::string_view word) {
    if (const auto wish = find_choice<BackendWish>(word)) return *wish;
    throw Error(ErrorKind::bad_input, "backend " + std::string(word) + " is not known: use auto, cpu or gpu");
}

BackendChoice choose_backend(BackendWish wish, const ShaderSource& shaders,
                             const std::function<std::unique_ptr<GlContext>()>& make_context) {
    if (wish == BackendWish::cpu) return {nullptr, "as requested"};
    const auto make = [&] {
        return std::make_shared<GpuBackend>(make_context(), GpuOptions{.shaders = shaders});
    };
    if (wish == BackendWish::gpu) {
        auto gpu = make();
        std::string reason = gpu->info().renderer + ", as requested";
        return {std::move(gpu), std::move(reason)};
    }
    try {
        return faster(make());
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::backend && error.kind() != ErrorKind::too_large) throw;
        return {nullptr, error.what()};
    }
}

}  // namespace attnscope
