#include "core/op/gru_backward.h"

#include "core/op/gru_cell.h"

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
    const Gates<Eigen::ArrayXd> gates{at.result_row(first, row), at.result_row(first + 1, row),
                                      at.result_row(first + 2, row)};
    const Eigen::ArrayXd u_n = (W_hh_.bottomRows(size) * old_state.matrix()).array() + b_hh_.tail(size);

    const Eigen::ArrayXd dstate = at.gradient_row(first + 3, row) + carried;
    Gates<Eigen::ArrayXd> d{at.gradient_row(first, row), at.gradient_row(first + 1, row),
                            at.gradient_row(first + 2, row)};
    add_to_gates(gates, u_n, old_state, dstate, d);
    complete(at, first, row, d.r);
    complete(at, first + 1, row, d.z);
    complete(at, first + 2, row, d.n);
    complete(at, first + 3, row, dstate);

    Eigen::ArrayXd of_input_part(3 * size), of_state_part(3 * size);
    before_gates(gates, d, gates_of(of_input_part), gates_of(of_state_part));
    dW_ih_ += of_input_part.matrix() * input.matrix().transpose();
    dW_hh_ += of_state_part.matrix() * old_state.matrix().transpose();
    db_ih_ += of_input_part;
    db_hh_ += of_state_part;
    of_input = (W_ih_.transpose() * of_input_part.matrix()).array();
    return dstate * gates.z + (W_hh_.transpose() * of_state_part.matrix()).array();
}

void GruBackward::add_to(const Backward& at, std::size_t first) const {
    at.add(first, dW_ih_);
    at.add(first + 1, dW_hh_);
    at.add_row(first + 2, 0, db_ih_);
    at.add_row(first + 3, 0, db_hh_);
}

}  // namespace attnscope::op
