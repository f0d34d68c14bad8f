// A part of an operation's result, for results that are too large to be computed whole.
#pragma once

#include <algorithm>
#include <span>

#include "core/cpu/kernels.h"
#include "core/tensor/buffer.h"

namespace attnscope::op {

/// The inputs of an operation, and the region of its result that `cells` computes, on the calling thread.
struct RegionWork {
    std::span<const Buffer* const> inputs;
    int head;
    Region region;
    std::span<const RowSum> rows = {};  ///< of the region's rows, for a softmax

    std::size_t count() const { return inputs.size(); }
    const Shape& shape(std::size_t input) const { return inputs[input]->shape(); }
    int head_of(std::size_t input) const { return std::min(head, shape(input).heads - 1); }
    /// An input that is in memory: one head, whole.
    ConstMatrixView whole(std::size_t input) const { return inputs[input]->head(head_of(input)); }
    ConstMatrixView whole_rows(std::size_t input, int first, int count) const {
        const ConstMatrixView all = whole(input);
        return {all.data() + Eigen::Index{first} * all.cols(), count, all.cols()};
    }
    /// The region itself, or another one, of an input.
    void read(std::size_t input, MatrixView out) const { read(input, region, out); }
    void read(std::size_t input, const Region& of, MatrixView out) const {
        inputs[input]->read(head_of(input), of, out);
    }
    Coverage coverage(std::size_t input) const { return inputs[input]->coverage(head_of(input), region); }
};

}  // namespace attnscope::op
