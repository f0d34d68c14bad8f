#include "core/attention/normalizers.h"

#include <array>

#include "core/cpu/kernels.h"

namespace attnscope {
namespace {

constexpr std::array k_normalizers = {
    Normalizer{"softmax", "exp(x − max) ÷ Σ exp(x − max)", "each row becomes positive weights that sum to 1",
               [](ConstMatrixView masked, MatrixView weights) { softmax_rows(masked, weights); }},
};

}  // namespace

std::span<const Normalizer> normalizers() { return k_normalizers; }

const Normalizer* find_normalizer(std::string_view name) {
    for (const Normalizer& normalizer : k_normalizers)
        if (normalizer.name == name) return &normalizer;
    return nullptr;
}

}  // namespace attnscope
