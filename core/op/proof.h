// Why a cell has its value: the formula with this cell's numbers.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/attention/buffer.h"

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
    float value = 0;
    std::string terms_title;  ///< "q · k, term by term"; empty if the value is no sum of products
    std::vector<ProofTerm> terms;
    double terms_sum = 0;          ///< of the products, in double
    double terms_result = 0;       ///< what the stage holds: the sum in float32 (and a bias, if there is one)
    std::string sum_name;          ///< what the sum is called among the steps; empty: "score"
    std::vector<ProofStep> steps;  ///< in the order of the computation, the last one the value
    std::string remark;            ///< "closed by the mask: causal"; empty if there is nothing to say
    std::string row_title;
    std::vector<ProofBar> row;
    std::optional<RowSummary> summary;  ///< of weights

    void add_step(std::string label, double step_value) { steps.push_back({std::move(label), step_value}); }
    /// The product left × right, which the sum then has in it; gives it.
    double add_term(std::string label, float left, float right, bool closed = false);
    /// left_k · right_k for each k, labelled by `label` and the number of k from 1; gives their sum.
    double add_terms(const std::string& label, const Eigen::RowVectorXf& left,
                     const Eigen::RowVectorXf& right);
};

/// A number in a label: as few digits as tell it, at most six.
std::string number_text(double value);
/// With so many digits behind the point.
std::string number_text(double value, int digits);

namespace op {

/// What the trace around an operation adds to its proof.
struct CellWords {
    std::function<std::string(std::size_t input)> symbol;                    ///< "Q", "W_q"
    std::function<std::string(std::size_t input, int column)> column_label;  ///< a token, or a number from 1
    std::function<std::string(std::size_t input, int row)> row_label;        ///< likewise
    std::function<std::string(int row)> label;                               ///< of a row of the result
    std::function<std::string(int row)> table_row;  ///< "“you” is row 3 of the table, counted from 0"
    std::function<Proof(std::size_t input)> prove;  ///< of the same cell of an input
};

/// The cell that a proof is of, and what its operation computed it from.
struct Cell {
    std::span<const Buffer* const> inputs;
    std::span<const Buffer* const> results;  ///< all of the operation's
    std::size_t result = 0;                  ///< which of them the cell is in
    int head = 0, row = 0, column = 0;       ///< from 0
    float value = 0;
    const CellWords& words;

    /// The head that an input has for the cell's; a matrix without heads serves every head.
    int head_of(std::size_t input) const { return std::min(head, inputs[input]->shape().heads - 1); }
    /// The same cell of an input, or another of the same head.
    float at(std::size_t input) const { return at(input, row, column); }
    float at(std::size_t input, int i, int j) const { return inputs[input]->at(head_of(input), i, j); }
    Eigen::RowVectorXf row_of(std::size_t input, int i) const {
        return inputs[input]->row(head_of(input), i);
    }
    Eigen::VectorXf column_of(std::size_t input, int j) const {
        return inputs[input]->column(head_of(input), j);
    }
    const Shape& shape(std::size_t input) const { return inputs[input]->shape(); }
};

}  // namespace op
}  // namespace attnscope
