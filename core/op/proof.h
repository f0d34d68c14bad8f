// Why a cell has its value: its formula with the cell's numbers.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/buffer.h"

namespace attnscope {

/// One step toward the value: "÷ √16" 13.474.
struct ProofStep {
    std::string label;
    double value;
    std::string help = {};  ///< what the step does, in a sentence; empty where the label says all
};

/// One product of a sum: left × right. The label is the dimension in a dot product, the token in a weighted
/// sum.
struct ProofTerm {
    std::string label;
    float left;
    float right;
    bool closed = false;  ///< masked: excluded from the sum, even if `right` is NaN
    double product() const { return closed ? 0 : static_cast<double>(left) * static_cast<double>(right); }
};

/// What the terms of a proof add up to, and how they are listed.
struct TermsTitle {
    std::string sum = {};    ///< "q · k"; empty if the value is not a sum of products
    std::string order = {};  ///< "term by term"; empty where the sum tells it
    std::string help = {};   ///< of the sum as a step, as of ProofStep

    bool empty() const { return sum.empty(); }
    /// "q · k, term by term".
    std::string text() const { return sum + (order.empty() ? "" : ", ") + order; }
};

/// One value of the cell's row.
struct ProofBar {
    std::string label;
    float value;
    bool closed;  ///< masked
};

/// Statistics of a row of weights.
struct RowSummary {
    double sum;               ///< of the weights
    double entropy;           ///< −Σ p ln p of p = w ÷ Σ w, in nat; 0 … ln M
    double effective_tokens;  ///< exp(entropy), 1 … M; 0 without any weight
    int rank;           ///< of the cell within its row, 1 = the largest; 0 for a closed cell, which has none
    int head_rank = 0;  ///< of this head's weight among all heads, 1 = the largest; 0 if there is one head or
                        ///< the cell is closed
};

/// The complete proof of one cell.
struct Proof {
    float value = 0;
    TermsTitle terms_title;
    std::vector<ProofTerm> terms;
    double terms_sum = 0;     ///< sum of the products, in double
    double terms_result = 0;  ///< the value in the stage: the sum in float32 (plus a bias, if there is one)
    std::string sum_name;     ///< the name of the sum among the steps; empty: "score"
    std::vector<ProofStep> steps;  ///< in the order of the computation; the last one is the value
    std::string mixture;           ///< the cell's whole row as a sum of rows: "0.856 V(to) + 0.140 V(me)";
                                   ///< empty where it is none
    std::string remark;            ///< "closed by the mask: causal"; empty if there is none
    std::string row_title;
    std::vector<ProofBar> row;
    std::optional<RowSummary> summary;  ///< for rows of weights

    std::string name_of_sum() const { return sum_name.empty() ? "score" : sum_name; }
    void add_step(std::string label, double step_value, std::string_view help = {}) {
        steps.push_back({std::move(label), step_value, std::string(help)});
    }
    /// The sum of the terms, a score, as the first step, unless it has steps.
    void begin_with_score(double score);
    /// Adds the product left × right to the terms and their sum; returns it.
    double add_term(std::string label, float left, float right, bool closed = false);
    /// Adds left_k · right_k for each k, labeled with `label` and k counted from 1; returns their sum.
    double add_terms(const std::string& label, const Eigen::RowVectorXf& left,
                     const Eigen::RowVectorXf& right);
};

/// What steps of several operations do.
inline constexpr std::string_view k_tanh_help = "Squeezed between −1 and 1",
                                  k_sigmoid_help = "Squeezed between 0 and 1",
                                  k_bias_help = "The bias is added", k_sum_help = "The lines above, added up",
                                  k_input_help = "The number that goes in",
                                  k_closed_weight_help = "The score is −∞: its weight is 0";

/// A row that is Σ weight · row of `symbol`, from the terms of one of its cells, whose labels are the rows'
/// and whose left factors the weights: the largest weights that make up 95 % of all, at most four, and how
/// much the others are: "0.856 V(to) + 0.140 V(me) + 6 others, 0.004".
std::string mixture_text(std::span<const ProofTerm> terms, std::string_view symbol);

/// What hides a cell, in remarks and tooltips.
inline constexpr std::string_view k_closed_by_mask = "closed by the mask";
/// The remark on a result of a query all of whose keys are masked, which is then all zeros: "every key is
/// masked for this query: its weights are zeros".
std::string fully_masked_remark(std::string_view zeros = "its weights are zeros");

/// A number in a label: the fewest digits that identify it, at most six.
std::string number_text(double value);
/// A number with a fixed number of decimals.
std::string number_text(double value, int digits);

namespace op {

/// A cell of a gradient, and what one operation passes back to it from (core/op/gradient_proof.h).
struct GradientCell;

/// What the surrounding trace contributes to an operation's proof.
struct CellWords {
    std::function<std::string(std::size_t input)> symbol;                    ///< "Q", "W_q"
    std::function<std::string(std::size_t input, int column)> column_label;  ///< a token, or a number from 1
    std::function<std::string(std::size_t input, int row)> row_label;        ///< a token, or a number from 1
    std::function<std::string(int row)> table_row;  ///< "“you” is row 3 of the table, counted from 0"
    std::function<Proof(std::size_t input)> prove;  ///< the proof of the same cell of an input
};

/// The cell to explain, and the values it was computed from.
struct Cell {
    std::span<const Buffer* const> inputs;
    std::span<const Buffer* const> results;  ///< all results of the operation
    std::size_t result = 0;                  ///< the result that contains the cell
    int head = 0, row = 0, column = 0;       ///< from 0
    float value = 0;
    const CellWords& words;

    /// The head of an input that corresponds to the cell's; a matrix without heads is shared by all heads.
    int head_of(std::size_t input) const { return std::min(head, inputs[input]->shape().heads - 1); }
    /// The value of an input in the cell's place, or in another place of the same head.
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
