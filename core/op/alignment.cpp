#include "core/op/alignment.h"

#include <cmath>
#include <optional>

#include "core/cpu/kernels.h"
#include "core/cpu/row_blocks.h"
#include "core/op/local_window.h"

namespace attnscope {
namespace {

/// The approximate cost of a tanh, in multiply-adds.
constexpr double k_tanh_work = 16;

ConstMatrixView view(const RowView& row) { return {row.data(), 1, row.size()}; }
MatrixView cells_of(Row& row) { return {row.data(), 1, row.size()}; }

Row window_center(const Alignment& how, int i, const RowView& state) {
    Row center(1);
    if (how.normalizer->window == Normalizer::Window::at_query)
        center(0) = static_cast<float>(i);
    else
        op::predicted_centers(view(state), how.W_p, how.v_p, static_cast<int>(how.keys.rows()),
                              cells_of(center));
    return center;
}

}  // namespace

Row alignment_scores(const ConstMatrixView& W_a, const ConstMatrixView& v_a, const ConstMatrixView& keys,
                     const RowView& state) {
    const Eigen::RowVectorXd asked = product_in_double(W_a, state).matrix().transpose(),
                             weights = v_a.row(0).cast<double>();
    Row scores(keys.rows());
    const RowLoop loop{1, keys.rows(), k_tanh_work * static_cast<double>(keys.cols())};
    for_row_blocks(loop, [&](RowBlock block) {
        for (Eigen::Index j = block.first; j < block.first + block.count; ++j) {
            const Eigen::RowVectorXd key = keys.row(j).cast<double>();
            const auto hidden = alignment_hidden<StandardFunctions>(asked, key);
            scores(j) = static_cast<float>((weights.array() * hidden).sum());
        }
    });
    return scores;
}

Row weighted_sum(const RowView& weights, const RowView& masked, const ConstMatrixView& annotations) {
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(annotations.cols());
    for (Eigen::Index j = 0; j < weights.size(); ++j)
        if (masked(j) != -INFINITY)
            sum += static_cast<double>(weights(j)) * annotations.row(j).cast<double>();
    return sum.cast<float>();
}

AlignmentStep align(const Alignment& how, int i, const RowView& state) {
    const Eigen::Index words = how.keys.rows();
    const Normalizer::Window window = how.normalizer->window;
    AlignmentStep step;
    step.scores = alignment_scores(how.W_a, how.v_a, how.keys, state);
    step.scaled.resize(words);
    scale_rows(view(step.scores), 1, static_cast<float>(how.temperature), cells_of(step.scaled));
    std::optional<double> center;
    if (window != Normalizer::Window::none) {
        step.center = window_center(how, i, state);
        center = step.center(0);
    }
    step.open = how.mask.row(i, center);
    step.masked.resize(words);
    mask_rows(view(step.scaled), view(step.open), cells_of(step.masked));
    step.weights.resize(words);
    how.normalizer->compute(view(step.masked), cells_of(step.weights));
    if (window == Normalizer::Window::predicted) {
        step.softmax = step.weights;
        step.gauss.resize(words);
        op::gaussian_windows(view(step.center), how.mask.window, cells_of(step.gauss));
        op::apply_window(view(step.softmax), view(step.gauss), cells_of(step.weights));
    }
    return step;
}

}  // namespace attnscope
