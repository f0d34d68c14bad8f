#include "core/op/gru_backward.h"

namespace attnscope::op {

void complete(const Backward& at, std::size_t result, Eigen::Index row, const Eigen::ArrayXd& gradient) {
    at.gradients[result]->head(0).row(row) = gradient.cast<float>().matrix().transpose();
}

GruBackward::GruBackward(const GruWeights& parameters)
    : W_ih_(parameters.W_ih.cast<double>()),
      W_hh_(parameters.W_hh.cast<double>()),
      dW_ih_(Eigen::MatrixXd::Zero(W_ih_.rows(), W_ih_.cols())),
      dW_hh_(Eigen::MatrixXd::Zero(W_hh_.rows(), W_hh_.cols())),
      b_hh_(Backward::in_double(parameters.b_hh.row(0))),
      db_ih_(Eigen::ArrayXd::Zero(b_hh_.size())),
      db_hh_(Eigen::ArrayXd::Zero(b_hh_.size())) {}

Eigen::ArrayXd GruBackward::step(const Backward& at, std::size_t first, Eigen::Index row,
                                 const Eigen::ArrayXd& input, const Eigen::ArrayXd& old_state,
                                 const Eigen::ArrayXd& carried) {
    const Eigen::Index size = old_state.size();
    const Eigen::ArrayXd r = at.result_row(first, row), z = at.result_row(first + 1, row),
                         n = at.result_row(first + 2, row);
    const Eigen::ArrayXd u_n = (W_hh_.bottomRows(size) * old_state.matrix()).array() + b_hh_.tail(size);

    const Eigen::ArrayXd dstate = at.gradient_row(first + 3, row) + carried;
    const Eigen::ArrayXd dn = at.gradient_row(first + 2, row) + dstate * (1 - z);
    const Eigen::ArrayXd dz = at.gradient_row(first + 1, row) + dstate * (old_state - n);
    const Eigen::ArrayXd before_tanh = dn * (1 - n.square());
    const Eigen::ArrayXd dr = at.gradient_row(first, row) + before_tanh * u_n;
    complete(at, first, row, dr);
    complete(at, first + 1, row, dz);
    complete(at, first + 2, row, dn);
    complete(at, first + 3, row, dstate);

    Eigen::ArrayXd of_input_part(3 * size), of_state_part(3 * size);
    of_input_part << dr * r * (1 - r), dz * z * (1 - z), before_tanh;
    of_state_part << of_input_part.head(2 * size), before_tanh * r;
    dW_ih_ += of_input_part.matrix() * input.matrix().transpose();
    dW_hh_ += of_state_part.matrix() * old_state.matrix().transpose();
    db_ih_ += of_input_part;
    db_hh_ += of_state_part;
    of_input = (W_ih_.transpose() * of_input_part.matrix()).array();
    return dstate * z + (W_hh_.transpose() * of_state_part.matrix()).array();
}

void GruBackward::add_to(const Backward& at, std::size_t first) const {
    at.add(first, dW_ih_);
    at.add(first + 1, dW_hh_);
    at.add_row(first + 2, 0, db_ih_);
    at.add_row(first + 3, 0, db_hh_);
}

}  // namespace attnscope::op
