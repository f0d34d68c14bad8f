// How a formula is written: an operation over the symbols of its inputs.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <string>

namespace attnscope::op {

/// The symbols of one operation's inputs and result, as the stages have them: "Q", "W_q".
struct Symbols {
    std::string own = {};                                   ///< of the result
    std::size_t count = 0;                                  ///< of the inputs
    std::size_t result = 0;                                 ///< which of the operation's results
    std::string keys = "keys";                              ///< what the weights are over
    std::function<std::string(std::size_t input)> of = {};  ///< in parentheses if it is a sum
    /// The input's own formula, which an operation on single cells continues: "Q Kᵀ"; its symbol if it is
    /// custom.
    std::function<std::string(std::size_t input)> formula_of = {};
};

/// The matrices whose row and column meet in a cell, drawn at its left and above it: indices of inputs.
struct Operands {
    int left = -1;
    int above = -1;
    bool is_transposed = false;  ///< the upper one
    int same_as = -1;            ///< an input whose operands these are: the operation is on single cells
    int left_result = -1;        ///< a result of the same operation in the place of `left`
};

}  // namespace attnscope::op
