// The gradients of a gated recurrent unit.
#pragma once

#include "core/op/backward.h"
#include "core/op/gru.h"

namespace attnscope::op {

/// The gradients of gru_step() over steps that are walked from the last to the first, in double: through the
/// gates as in add_to_gates() and before_gates() (core/op/gru_cell.h), and through the products as in Linear.
struct GruBackward {
    explicit GruBackward(const GruWeights& parameters);

    /// One step of an operation whose results `first`, +1, +2, +3 are r, z, n and the new state, in row
    /// `row`. `carried` is the state's gradient from the step after it. Completes the gradients of these
    /// results, sets `of_input`, and returns the gradient of the old state.
    Eigen::ArrayXd step(const Backward& at, std::size_t first, Eigen::Index row, const Eigen::ArrayXd& input,
                        const Eigen::ArrayXd& old_state, const Eigen::ArrayXd& carried);
    /// Adds the gradients of W_ih, W_hh, b_ih and b_hh, which are the inputs `first` to `first` + 3.
    void add_to(const Backward& at, std::size_t first) const;

    Eigen::ArrayXd of_input;  ///< of the newest step

private:
    Eigen::MatrixXd W_ih_, W_hh_, dW_ih_, dW_hh_;
    Eigen::ArrayXd b_hh_, db_ih_, db_hh_;
};

/// Replaces a row of a result's gradient.
void complete(const Backward& at, std::size_t result, Eigen::Index row, const Eigen::ArrayXd& gradient);

}  // namespace attnscope::op
