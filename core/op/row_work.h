// Some rows of an operation's result, for results each of whose rows depends on the same row of an input.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <optional>
#include <span>

#include "core/cpu/kernels.h"
#include "core/cpu/row_blocks.h"
#include "core/tensor/buffer.h"

namespace attnscope::op {

/// An input of an operation: whole, or inside a pass the rows that are being computed.
struct RowInput {
    const Buffer* whole = nullptr;
    std::optional<ConstMatrixView> rows = {};
};

/// The inputs of an operation, in the order given in its header, and the rows of its result that `rows`
/// computes, on the calling thread.
struct RowWork {
    std::span<const RowInput> inputs;
    RowBlock block;

    std::size_t count() const { return inputs.size(); }
    /// The block's rows of an input; a matrix without heads is shared by all heads.
    ConstMatrixView rows(std::size_t input) const {
        return inputs[input].rows ? *inputs[input].rows : block.of(head(input));
    }
    /// Whether it is known that no value of an input is 0, in this head: a mask closes nothing.
    bool is_known_without_zeros(std::size_t input) const {
        const Buffer* whole = inputs[input].whole;
        const ValueRange* range = whole ? whole->known_range(head_of(*whole)) : nullptr;
        return range && range->zero == 0;
    }
    /// rows × columns of an input, one that is read whole.
    ConstMatrixView head(std::size_t input) const {
        assert(inputs[input].whole);  // else the operation's reads_rows() is wrong
        const Buffer& whole = *inputs[input].whole;
        return whole.head(head_of(whole));
    }
    /// out = A Bᵀ for an input B, which is transposed once for all blocks of rows.
    void multiply_transposed(const ConstStrided& A, std::size_t input, Strided out) const {
        const ConstMatrixView B = head(input);
        if (!is_worth_transposing(A, B)) return product_transposed(A, B, out);
        const Buffer& whole = *inputs[input].whole;
        product(A, whole.transposed(head_of(whole), transpose), out);
    }

private:
    int head_of(const Buffer& whole) const { return std::min(block.head, whole.shape().heads - 1); }
};

}  // namespace attnscope::op
