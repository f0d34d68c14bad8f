// The gated recurrent unit (GRU), and an encoder that runs it over a sentence.
#pragma once

#include <Eigen/Core>
#include <stop_token>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// One row of features, and a view of one; 1 × n.
using Row = Eigen::RowVectorXf;
using RowView = Eigen::Ref<const Eigen::RowVectorXf>;

/// The parameters of a unit with h states, their rows in three equal parts r, z, n as in torch.nn.GRUCell.
struct GruWeights {
    ConstMatrixView W_ih;  ///< 3h × in
    ConstMatrixView W_hh;  ///< 3h × h
    ConstMatrixView b_ih;  ///< 1 × 3h
    ConstMatrixView b_hh;  ///< 1 × 3h
};

/// The gates and the new state of one step, 1 × h each.
struct GruStep {
    Row r;  ///< reset, 0 … 1: how much of the old state enters the candidate
    Row z;  ///< update, 0 … 1: how much of the old state is kept
    Row n;  ///< candidate for the new state, −1 … 1
    Row state;
};

/// gru_step() in Python, with the weights of a torch.nn.GRUCell, which does not return its gates.
inline constexpr const char* k_gru_python = R"(def gru(cell, x, h):  # reset, update, candidate, new state
    r_x, z_x, n_x = (cell.weight_ih @ x + cell.bias_ih).chunk(3)
    r_h, z_h, n_h = (cell.weight_hh @ h + cell.bias_hh).chunk(3)
    r, z = torch.sigmoid(r_x + r_h), torch.sigmoid(z_x + z_h)
    return r, z, torch.tanh(n_x + r * n_h), cell(x, h)
)";
/// gru() in Python with a state that depends on the gates, for their gradients.
inline constexpr const char* k_gru_gates_python =
    R"(def gru(cell, x, h):  # reset, update, candidate, new state
    r_x, z_x, n_x = (cell.weight_ih @ x + cell.bias_ih).chunk(3)
    r_h, z_h, n_h = (cell.weight_hh @ h + cell.bias_hh).chunk(3)
    r, z = torch.sigmoid(r_x + r_h), torch.sigmoid(z_x + z_h)
    n = torch.tanh(n_x + r * n_h)
    return r, z, n, (1 - z) * n + z * h  # as cell(x, h), by the gates
)";

/// One step with input x (1 × in) and state h (1 × h) (Cho et al. 2014, eq. 5 – 8, with r inside, as in
/// torch.nn.GRUCell):
///     r = sigmoid(W_ir x + b_ir + W_hr h + b_hr)
///     z = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
///     n = tanh(W_in x + b_in + r ∘ (W_hn h + b_hn))
///     h' = (1 − z) ∘ n + z ∘ h
GruStep gru_step(const GruWeights& weights, const RowView& x, const RowView& h);

enum class Direction { forward, backward };

/// One step for each row of X (S × in), starting from a zero state. The results are in the order of the rows
/// even if they are read from last to first (Bahdanau et al. 2015, §3.2). Throws Canceled.
std::vector<GruStep> encode(const GruWeights& weights, ConstMatrixView X, Direction direction,
                            const std::stop_token& cancel);

/// W x, summed in double; W out × in, x 1 × in. The same for any number of threads.
Eigen::ArrayXd product_in_double(const ConstMatrixView& W, const RowView& x);

}  // namespace attnscope
