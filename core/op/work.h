// What an operation computes with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <stop_token>

#include "core/attention/buffer.h"
#include "core/attention/tensor.h"
#include "core/cancelled.h"
#include "core/cpu/row_blocks.h"
#include "core/random/draws.h"

namespace attnscope::op {

/// The shapes of an operation's inputs.
using Shapes = std::span<const Shape>;

/// The values of an operation's inputs, in the order that its header gives.
struct Work {
    std::span<const Buffer* const> inputs;
    DrawSequence& draws;
    std::stop_token cancel = {};

    std::size_t count() const { return inputs.size(); }
    const Shape& shape(std::size_t input) const { return inputs[input]->shape(); }
    /// rows × columns of one head (from 0); a matrix without heads serves every head.
    ConstMatrixView head(std::size_t input, int h = 0) const {
        return inputs[input]->host().head(std::min(h, shape(input).heads - 1));
    }
};

/// h × rows × columns.
inline Shape per_head(int heads, int rows, int columns) {
    return {.heads = heads, .rows = rows, .columns = columns, .per_head = true};
}
/// rows × columns without heads.
inline Shape matrix(int rows, int columns) { return {.heads = 1, .rows = rows, .columns = columns}; }

/// Over all rows of all heads of a result whose every cell takes so many multiply-adds.
inline RowLoop row_loop(const Shape& shape, double work_per_cell) {
    return {shape.heads, shape.rows, work_per_cell * shape.columns};
}

/// What a tanh or an exponential takes in multiply-adds, roughly.
constexpr double k_exponential_work = 16;

}  // namespace attnscope::op
