// The proof of a gated recurrent unit, an encoder's or a decoder's.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/op/proof.h"

namespace attnscope::op {

/// What a cell of a unit was computed from.
struct UnitCell {
    const Cell& cell;
    std::size_t parameters;  ///< which input is W_ih; W_hh, b_ih and b_hh are those behind it
    std::vector<std::pair<std::string, Eigen::RowVectorXf>> input;  ///< side by side, each with its letter
    Eigen::RowVectorXf state;                                       ///< before the step
    float r, z, n;                                                  ///< the gates in the cell's place
};

enum class UnitPart { r, z, n, state };

/// As gru_step() computes it.
void explain_unit(Proof& proof, const UnitCell& unit, UnitPart part);

}  // namespace attnscope::op
