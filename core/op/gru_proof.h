// The proof of a gated recurrent unit, in an encoder or a decoder.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/op/gradient_proof.h"

namespace attnscope::op {

/// What a cell of a unit was computed from.
struct UnitCell {
    const Cell& cell;
    std::size_t parameters;  ///< index of the input W_ih; W_hh, b_ih and b_hh follow it
    std::vector<std::pair<std::string, Eigen::RowVectorXf>>
        input;                 ///< the parts of the unit's input, side by side, each with its letter
    Eigen::RowVectorXf state;  ///< before the step
    float r, z, n;             ///< the gates in the cell's column
};

enum class UnitPart { r, z, n, state };

/// The steps of gru_step().
void explain_unit(Proof& proof, const UnitCell& unit, UnitPart part);

/// A unit in all steps of an operation, whose gradients are complete. The formulas are those of GruBackward.
struct UnitSteps {
    const GradientCell& cell;
    std::size_t parameters;  ///< index of the input W_ih; W_hh, b_ih and b_hh follow it
    std::size_t gates;       ///< index of the result r; z, n and the state follow it
    std::function<Eigen::RowVectorXf(int step)> input;
    std::function<Eigen::RowVectorXf(int step)> old_state;

    int steps() const { return cell.result_shape(gates).rows; }
};

/// What a step passes back to a column of its input.
void explain_unit_input(Proof& proof, const UnitSteps& unit, int step, int column);
/// What a step passes back to a column of its old state.
void explain_unit_old_state(Proof& proof, const UnitSteps& unit, int step, int column);
/// What all steps pass back to a cell of W_ih, W_hh, b_ih or b_hh, which are the parameters 0 to 3.
void explain_unit_parameter(Proof& proof, const UnitSteps& unit, std::size_t parameter, int row, int column);
/// What a step's new state passes back to its gate r, z or n.
void explain_unit_gate(Proof& proof, const UnitSteps& unit, UnitPart gate, int step, int column);

}  // namespace attnscope::op
