// Why a cell of a gradient has its value: what one operation passes back to it.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>

#include "core/op/proof.h"

namespace attnscope::op {

/// What the surrounding trace contributes to the proof of a gradient.
struct GradientWords {
    std::function<std::string(std::size_t input)> symbol;                     ///< "Q", "W_q"
    std::function<std::string(std::size_t result)> result;                    ///< "S"
    std::function<std::string(std::size_t result)> gradient;                  ///< of a result: "∂ℓ/∂S"
    std::function<std::string(std::size_t result, int row)> row_label;        ///< a token, or a number from 1
    std::function<std::string(std::size_t result, int column)> column_label;  ///< as row_label, of a column
};

/// A cell of an input, and what the operation computed its part of the cell's gradient from. In proofs of
/// gradients, dX is ∂ℓ/∂X, as in the headers.
struct GradientCell {
    std::span<const Buffer* const> inputs;
    std::span<const Buffer* const> results;
    std::span<const Buffer* const> gradients;  ///< of the results, complete; nullptr: there is none, zeros
    std::size_t input = 0;                     ///< whose gradient
    int head = 0, row = 0, column = 0;         ///< of that input, from 0
    const GradientWords& words;

    const Shape& shape(std::size_t i) const { return inputs[i]->shape(); }
    const Shape& result_shape(std::size_t r = 0) const { return results[r]->shape(); }

    /// A number, row or column of input `i`; a matrix without heads is shared by all heads.
    float in(std::size_t i, int h, int row_, int column_) const {
        return inputs[i]->at(head_of(i, h), row_, column_);
    }
    Eigen::RowVectorXf in_row(std::size_t i, int h, int row_) const {
        return inputs[i]->row(head_of(i, h), row_);
    }
    Eigen::RowVectorXf in_column(std::size_t i, int h, int column_) const {
        return inputs[i]->column(head_of(i, h), column_).transpose();
    }
    /// A number, row or column of result `r`.
    float out(int h, int row_, int column_, std::size_t r = 0) const {
        return results[r]->at(h, row_, column_);
    }
    Eigen::RowVectorXf out_row(int h, int row_, std::size_t r = 0) const { return results[r]->row(h, row_); }
    Eigen::RowVectorXf out_column(int h, int column_, std::size_t r = 0) const {
        return results[r]->column(h, column_).transpose();
    }
    /// A number, row or column of the gradient of result `r`, zeros where there is none.
    float d(int h, int row_, int column_, std::size_t r = 0) const {
        return gradients[r] ? gradients[r]->at(h, row_, column_) : 0;
    }
    Eigen::RowVectorXf d_row(int h, int row_, std::size_t r = 0) const {
        if (!gradients[r]) return Eigen::RowVectorXf::Zero(result_shape(r).columns);
        return gradients[r]->row(h, row_);
    }
    Eigen::RowVectorXf d_column(int h, int column_, std::size_t r = 0) const {
        if (!gradients[r]) return Eigen::RowVectorXf::Zero(result_shape(r).rows);
        return gradients[r]->column(h, column_).transpose();
    }

    /// The heads of the results that read the cell, the cell's own or, of a matrix without heads, all.
    int first_head() const { return shape(input).heads > 1 ? head : 0; }
    int last_head() const { return shape(input).heads > 1 ? head : result_shape().heads - 1; }

private:
    int head_of(std::size_t i, int h) const { return std::min(h, shape(i).heads - 1); }
};

/// What the labels of the terms of a sum are: the columns of the results, their rows, or numbers from 1.
enum class SumOver { columns, rows, numbers };

/// Adds the products left_k · right_k; `h` is named in their labels if several heads are summed.
void add_products(Proof& proof, const GradientCell& cell, SumOver over, int h, const Eigen::RowVectorXf& left,
                  const Eigen::RowVectorXf& right);
/// Adds the numbers, each times 1.
void add_numbers(Proof& proof, const GradientCell& cell, SumOver over, int h,
                 const Eigen::RowVectorXf& numbers);
/// Adds the products for a cell of Q or K where S = Q Kᵀ: dQ = dS K, dK = dSᵀ Q. Titles call the operands q
/// and `keys`.
void add_score_products(Proof& proof, const GradientCell& cell, std::string_view keys);
/// The gradient of a cell of a result, passed on as it is.
void pass_on(Proof& proof, const GradientCell& cell, int h, int row, int column);

}  // namespace attnscope::op
