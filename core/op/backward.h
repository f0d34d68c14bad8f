// What an operation computes the gradients of its inputs from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <stop_token>
#include <utility>

#include "core/tensor/buffer.h"
#include "core/tensor/tensor.h"

namespace attnscope::op {

/// The values of an operation's inputs and results, and the loss's gradients with respect to its results. An
/// operation adds to the gradients of its inputs (an input may be used elsewhere, and a matrix without heads
/// is used by all of them); one whose results depend on each other, as a decoder's steps do, completes their
/// gradients as well. In the formulas of the headers, dX is ∂loss/∂X.
struct Backward {
    std::span<const Buffer* const> inputs;
    std::span<const Buffer* const> results;
    std::span<Tensor* const> gradients;  ///< of the results, from what uses them
    std::span<Tensor* const> sums;       ///< of the inputs; nullptr where none is asked for
    std::stop_token cancel = {};

    std::size_t count() const { return inputs.size(); }
    bool wants(std::size_t input) const { return input < count() && sums[input] != nullptr; }
    int heads() const { return results[0]->shape().heads; }
    const Shape& shape(std::size_t input) const { return inputs[input]->shape(); }

    /// One head (from 0); a matrix without heads is shared by all.
    ConstMatrixView input(std::size_t i, int h = 0) const {
        return inputs[i]->head(std::min(h, shape(i).heads - 1));
    }
    ConstMatrixView result(int h = 0, std::size_t r = 0) const { return results[r]->head(h); }
    ConstMatrixView gradient(int h = 0, std::size_t r = 0) const {
        return std::as_const(*gradients[r]).head(h);
    }
    /// One row, in double.
    Eigen::ArrayXd input_row(std::size_t i, Eigen::Index row) const { return in_double(input(i).row(row)); }
    Eigen::ArrayXd result_row(std::size_t r, Eigen::Index row) const {
        return in_double(result(0, r).row(row));
    }
    Eigen::ArrayXd gradient_row(std::size_t r, Eigen::Index row) const {
        return in_double(gradient(0, r).row(row));
    }
    void add_row(std::size_t i, Eigen::Index row, const Eigen::ArrayXd& values) const {
        if (wants(i)) sum(i).row(row) += values.cast<float>().matrix().transpose();
    }
    void add(std::size_t i, const Eigen::MatrixXd& values) const {
        if (wants(i)) sum(i) += values.cast<float>();
    }
    MatrixView sum(std::size_t i, int h = 0) const {
        return sums[i]->head(std::min(h, sums[i]->shape().heads - 1));
    }

    template <typename Row>
    static Eigen::ArrayXd in_double(const Row& row) {
        return row.transpose().template cast<double>().array();
    }
};

}  // namespace attnscope::op
