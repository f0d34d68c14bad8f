// Why a cell has its value: the formula with this cell's numbers, read off a trace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/attention/trace.h"

namespace attnscope {

/// One line of the way to the value: "÷ √16" 13.474.
struct ProofStep {
    std::string label;
    double value;
};

/// One product of a sum: left × right. For a dot product the label is the dimension, for a weighted sum the
/// token.
struct ProofTerm {
    std::string label;
    float left;
    float right;
    bool closed = false;  ///< by the mask: it takes no part, even if `right` is NaN
    double product() const { return closed ? 0 : static_cast<double>(left) * static_cast<double>(right); }
};

/// One value of the row that the cell stands in.
struct ProofBar {
    std::string label;
    float value;
    bool closed;  ///< by the mask
};

/// What can be said of a row of weights.
struct RowSummary {
    double sum;               ///< of the weights
    double entropy;           ///< −Σ w ln w, in nat; 0 … ln M
    double effective_tokens;  ///< exp(entropy): 1 … M
    int rank;                 ///< of the cell in its row, 1 = the largest
    int head_rank = 0;        ///< of this head's weight among the heads', 1 = the largest; 0 with one head
};

/// The whole proof of one cell.
struct Proof {
    float value;
    std::string terms_title;  ///< "q · k, term by term"; empty if the value is no sum of products
    std::vector<ProofTerm> terms;
    double terms_sum = 0;          ///< of the products, in double
    double terms_result = 0;       ///< what the stage holds: the sum in float32 (and a bias, if there is one)
    std::vector<ProofStep> steps;  ///< in the order of the computation, the last one the value
    std::string remark;            ///< "closed by the mask: causal"; empty if there is nothing to say
    std::string row_title;
    std::vector<ProofBar> row;
    std::optional<RowSummary> summary;  ///< of weights
};

/// The proof of cell (row, column) of a stage of this trace, in one head (from 0), or of the mean over the
/// heads if head is −1. Row and column must be inside the stage.
Proof explain(const Trace& trace, const Stage& stage, int head, int row, int column);

}  // namespace attnscope
