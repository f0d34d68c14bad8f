// A gated recurrent unit between its matrix products, for one state or for the rows of many.
#pragma once

#include "core/op/sigmoid.h"

namespace attnscope {

/// A part for each gate of a unit: reset, update, candidate. The parts are Eigen arrays or views of such.
template <typename Part>
struct Gates {
    Part r, z, n;
};
template <typename Part>
Gates(Part, Part, Part) -> Gates<Part>;

/// Views of the thirds r, z, n of an array: of a column of 3h numbers, or of n × 3h the columns.
template <typename Array>
auto gates_of(Array&& all) {
    if constexpr (std::remove_cvref_t<Array>::ColsAtCompileTime == 1) {
        const Eigen::Index h = all.rows() / 3;
        return Gates{all.segment(0, h), all.segment(h, h), all.segment(2 * h, h)};
    } else {
        const Eigen::Index h = all.cols() / 3;
        return Gates{all.middleCols(0, h), all.middleCols(h, h), all.middleCols(2 * h, h)};
    }
}

/// The gates and the new state of gru_step(), given input = W_ih x + b_ih, hidden = W_hh h + b_hh and h.
template <typename Functions, typename Input, typename Hidden, typename Old, typename Gate, typename State>
void gru_cell(const Gates<Input>& input, const Gates<Hidden>& hidden, const Old& old, Gates<Gate>& gates,
              State&& state) {
    gates.r = Functions::sigmoid(input.r + hidden.r);
    gates.z = Functions::sigmoid(input.z + hidden.z);
    gates.n = Functions::tanh(input.n + gates.r * hidden.n);
    state = (1 - gates.z) * gates.n + gates.z * old;
}

/// Adds to `d`, the gradients of the gates, what the new state passes back to them: with its gradient dh' and
/// u = W_hn h + b_hn
///     dn += dh' ∘ (1 − z), dz += dh' ∘ (h − n), dr += dn ∘ (1 − n²) ∘ u
template <typename Gate, typename U, typename Old, typename DState, typename D>
void add_to_gates(const Gates<Gate>& gates, const U& u, const Old& old, const DState& d_state, Gates<D>& d) {
    d.n += d_state * (1 - gates.z);
    d.z += d_state * (old - gates.n);
    d.r += before_tanh(d.n, gates.n) * u;
}

/// The gradients of input and hidden of gru_cell() from those of the gates, `d`; `of_input` may be the same
/// memory as `d`.
template <typename Gate, typename D, typename OfInput, typename OfHidden>
void before_gates(const Gates<Gate>& gates, const Gates<D>& d, Gates<OfInput> of_input,
                  Gates<OfHidden> of_hidden) {
    of_input.r = of_hidden.r = before_sigmoid(d.r, gates.r);
    of_input.z = of_hidden.z = before_sigmoid(d.z, gates.z);
    of_input.n = before_tanh(d.n, gates.n);
    of_hidden.n = of_input.n * gates.r;
}

}  // namespace attnscope
