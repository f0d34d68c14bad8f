// A plain float32 array of heads × rows × columns, and its views as Eigen matrices.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/tensor/memory.h"

namespace attnscope {

/// Row-major: one token is one contiguous row.
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixView = Eigen::Map<Matrix>;
using ConstMatrixView = Eigen::Map<const Matrix>;
/// Columns of a wider matrix.
using ColumnsView = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;
using ConstColumnsView = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;

/// heads × rows × columns. A stage without a head dimension has heads = 1 and per_head = false, and is listed
/// as rows × columns; a stage with one keeps it in every listing, even when h = 1.
struct Shape {
    int heads = 1;
    int rows = 0;
    int columns = 0;
    bool per_head = false;
    int depth = 1;  ///< width of a group of columns: a key's hidden units, side by side

    std::size_t head_size() const {
        return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    }
    std::size_t size() const { return static_cast<std::size_t>(heads) * head_size(); }
    bool operator==(const Shape&) const = default;
};

/// Cells of one head: `rows` × `columns` of them from (row, column), counted from 0.
struct Region {
    int row = 0;
    int column = 0;
    int rows = 0;
    int columns = 0;

    int end_row() const { return row + rows; }
    int end_column() const { return column + columns; }
    std::size_t size() const { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns); }
    bool operator==(const Region&) const = default;
};

/// Which pairs of a region a mask leaves open: none, some but not all, all, or unknown without checking each
/// pair.
enum class Coverage { none, some, all, unknown };

/// How many numbers apart rows of so many columns begin in a copy that products read: whole lines of a cache,
/// an odd number of them from 128 columns on, as a cache keeps few lines that are a power of two apart.
constexpr int spread_apart(int columns) {
    constexpr int k_line = 16, k_least = 128;
    if (columns < k_least) return columns;
    const int lines = (columns + k_line - 1) / k_line;
    return (lines | 1) * k_line;
}

/// Owns size() uninitialized floats, row-major, one head after the other; the first is aligned to 64 bytes,
/// so that vectorized sums group the same way in every run.
class Tensor {
public:
    explicit Tensor(Shape shape) : shape_(shape), data_(allocate_floats(shape.size()), {shape.size()}) {}

    const Shape& shape() const { return shape_; }
    std::span<float> values() { return {data_.get(), shape_.size()}; }
    std::span<const float> values() const { return {data_.get(), shape_.size()}; }

    /// rows × columns of one head, counted from 0.
    MatrixView head(int h) { return {data_.get() + offset(h), shape_.rows, shape_.columns}; }
    ConstMatrixView head(int h) const { return {data_.get() + offset(h), shape_.rows, shape_.columns}; }

private:
    struct Free {
        std::size_t count;
        void operator()(float* floats) const { free_floats(floats, count); }
    };
    std::size_t offset(int h) const { return static_cast<std::size_t>(h) * shape_.head_size(); }

    Shape shape_;
    std::unique_ptr<float[], Free> data_;
};

}  // namespace attnscope
