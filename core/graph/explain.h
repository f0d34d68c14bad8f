// Explains why a cell has its value, from a trace.
#pragma once

#include <optional>
#include <vector>

#include "core/graph/trace.h"
#include "core/op/proof.h"

namespace attnscope {

/// The proof of cell (row, column) of a stage of this trace, in one head (from 0), or in the mean over the
/// heads if head is −1. Row and column must be within the stage.
Proof explain(const Trace& trace, const Stage& stage, int head, int row, int column);

/// The standard deviation of a single term of the sums that a stage's cells are, over all cells of one head
/// and all terms: of one product q_f k_f of the scores. nullopt for any but a dot product of queries and
/// keys, and for a gradient.
std::optional<double> deviation_of_terms(const Trace& trace, const Stage& stage, int head);

/// What one operation passes back to a cell of a gradient.
struct GradientShare {
    const Stage* from;  ///< the operation's result, or the first of several
    bool is_own;        ///< the stage is a result of the operation itself, and its later steps read it
    Proof proof;        ///< its value is the share
};

/// The shares that add up to the cell of a gradient in one head: one for each operation that reads the stage,
/// and for each time that it does. None for the loss, whose gradient is 1.
std::vector<GradientShare> gradient_shares(const Trace& trace, const Stage& gradient, int head, int row,
                                           int column);

}  // namespace attnscope
