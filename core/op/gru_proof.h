// The proof of a gated recurrent unit, in an encoder or a decoder.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/op/proof.h"

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

}  // namespace attnscope::op
