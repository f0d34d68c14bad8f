// The inputs and the context that an operation computes with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <stop_token>

#include "core/canceled.h"
#include "core/cpu/row_blocks.h"
#include "core/random/draws.h"
#include "core/tensor/buffer.h"
#include "core/tensor/tensor.h"

namespace attnscope::op {

/// The shapes of an operation's inputs.
using Shapes = std::span<const Shape>;

/// The values of an operation's inputs, in the order given in its header.
struct Work {
    std::span<const Buffer* const> inputs;
    DrawSequence& draws;
    std::stop_token cancel = {};

    std::size_t count() const { return inputs.size(); }
    const Shape& shape(std::size_t input) const { return inputs[input]->shape(); }
    /// rows × columns of one head (from 0); a matrix without heads is shared by all heads.
    ConstMatrixView head(std::size_t input, int h = 0) const {
        return inputs[input]->head(std::min(h, shape(input).heads - 1));
    }
};

/// The shape h × rows × columns.
inline Shape per_head(int heads, int rows, int columns) {
    return {.heads = heads, .rows = rows, .columns = columns, .per_head = true};
}
/// The shape rows × columns, without heads.
inline Shape matrix(int rows, int columns) { return {.heads = 1, .rows = rows, .columns = columns}; }

/// The loop over the rows of all heads of a result whose every cell takes this many multiply-adds. It ends
/// with Canceled when the work is canceled.
inline RowLoop row_loop(const Work& in, const Shape& shape, double work_per_cell) {
    return {shape.heads, shape.rows, work_per_cell * shape.columns, in.cancel};
}

/// The approximate cost of a tanh or an exponential, in multiply-adds.
constexpr double k_exponential_work = 16;

}  // namespace attnscope::op
