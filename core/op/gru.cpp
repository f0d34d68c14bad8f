#include "core/op/gru.h"

#include "core/canceled.h"
#include "core/cpu/row_blocks.h"
#include "core/op/gru_cell.h"

namespace attnscope {
namespace {

Row rounded(const Eigen::ArrayXd& x) { return x.cast<float>().matrix().transpose(); }

}  // namespace

Eigen::ArrayXd product_in_double(const ConstMatrixView& W, const RowView& x) {
    Eigen::ArrayXd sums(W.rows());
    const Eigen::RowVectorXd factors = x.cast<double>();
    const RowLoop loop{.heads = 1, .rows = W.rows(), .work_per_row = static_cast<double>(W.cols())};
    for_row_blocks(loop, [&](RowBlock block) {
        for (Eigen::Index i = block.first; i < block.first + block.count; ++i)
            sums(i) = W.row(i).cast<double>().dot(factors);
    });
    return sums;
}

GruStep gru_step(const GruWeights& weights, const RowView& x, const RowView& h) {
    const auto biased = [](const ConstMatrixView& W, const RowView& row, const ConstMatrixView& b) {
        return Eigen::ArrayXd(product_in_double(W, row) + b.row(0).transpose().cast<double>().array());
    };
    const Eigen::ArrayXd from_input = biased(weights.W_ih, x, weights.b_ih);
    const Eigen::ArrayXd from_state = biased(weights.W_hh, h, weights.b_hh);
    const Eigen::ArrayXd old = h.transpose().cast<double>().array();
    Gates<Eigen::ArrayXd> gates;
    Eigen::ArrayXd state;
    gru_cell<StandardFunctions>(gates_of(from_input), gates_of(from_state), old, gates, state);
    return {rounded(gates.r), rounded(gates.z), rounded(gates.n), rounded(state)};
}

std::vector<GruStep> encode(const GruWeights& weights, ConstMatrixView X, Direction direction,
                            const std::stop_token& cancel) {
    const auto words = static_cast<std::size_t>(X.rows());
    std::vector<GruStep> steps(words);
    Row state = Row::Zero(weights.W_hh.cols());
    for (std::size_t read = 0; read < words; ++read) {
        stop_if_canceled(cancel);
        const std::size_t j = direction == Direction::forward ? read : words - 1 - read;
        steps[j] = gru_step(weights, X.row(static_cast<Eigen::Index>(j)), state);
        state = steps[j].state;
    }
    return steps;
}

}  // namespace attnscope
