#include "core/attention/scores.h"

#include <array>

#include "core/cpu/kernels.h"

namespace attnscope {
namespace {

constexpr std::array k_functions = {
    ScoreFunction{"dot", "q · k", "the dot product of query and key",
                  [](const ScoreInputs& in, MatrixView scores) { product_transposed(in.Q, in.K, scores); }},
};

}  // namespace

std::span<const ScoreFunction> score_functions() { return k_functions; }

const ScoreFunction* find_score_function(std::string_view name) {
    for (const ScoreFunction& function : k_functions)
        if (function.name == name) return &function;
    return nullptr;
}

}  // namespace attnscope
