#include "core/op/normalizers.h"

#include <array>

#include "core/cpu/kernels.h"
#include "core/op/op.h"

namespace attnscope {
namespace {

Op softmax(SoftmaxAxis axis) { return op::Softmax{axis}; }
Op hardmax(SoftmaxAxis) { return op::Hardmax{}; }
Op sparsemax(SoftmaxAxis) { return op::Sparsemax{}; }

using Window = Normalizer::Window;
constexpr std::array k_normalizers = {
    Normalizer{Normalization::softmax, "turns each row into positive weights that sum to 1",
               "soft, global: over all keys", Window::none, true, softmax, softmax_rows},
    Normalizer{Normalization::hard, "all weight on one key, the first if several tie",
               "hard, global: all on one key, no gradient", Window::none, false, hardmax, op::hardmax_rows},
    Normalizer{Normalization::local_m, "a window around the query's own position (Luong)",
               "soft, local: the query's place", Window::at_query, false, softmax, softmax_rows},
    Normalizer{Normalization::local_p, "a window around a position predicted from the query (Luong)",
               "soft, local: a predicted place", Window::predicted, false, softmax, softmax_rows},
    Normalizer{Normalization::sparsemax,
               "the nearest weights that sum to 1: low scores get exactly 0 (Martins)",
               "sparse, global: on a few keys", Window::none, false, sparsemax, op::sparsemax_rows},
};

}  // namespace

std::span<const Normalizer> normalizers() { return k_normalizers; }

const Normalizer& normalizer_of(Normalization choice) {
    static_assert(is_table_of<Normalization>(k_normalizers));
    return k_normalizers[static_cast<std::size_t>(choice)];
}

bool has_window(Normalization choice) { return normalizer_of(choice).window != Normalizer::Window::none; }

bool predicts_window(Normalization choice) {
    return normalizer_of(choice).window == Normalizer::Window::predicted;
}

}  // namespace attnscope
