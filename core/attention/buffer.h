// Where the values of a stage live, and the small questions a picture asks of them.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "core/attention/tensor.h"

namespace attnscope {

/// Smallest and largest finite value, and how many are not finite, or zero.
struct ValueRange {
    float min = 0;  ///< 0 when no value is finite
    float max = 0;
    std::size_t finite = 0;
    std::size_t zero = 0;
    std::size_t nan = 0;
    std::size_t plus_infinity = 0;
    std::size_t minus_infinity = 0;

    float magnitude() const { return std::max(-min, max); }
};

/// Immutable values of one stage. Every const member may be called from several threads; what is derived
/// (ranges, mean, pooled levels) is computed at the first call and kept.
class Buffer {
public:
    explicit Buffer(Tensor values);
    ~Buffer();

    const Shape& shape() const { return host_.shape(); }
    const Tensor& host() const { return host_; }
    float at(int head, int row, int column) const;

    /// Over one head (from 0), or over all of them.
    const ValueRange& range(int head) const;
    const ValueRange& range() const;

    /// The mean over the heads, 1 × rows × columns; this buffer's own values if there is one head.
    const Buffer& mean() const;

    /// Level 0 is the matrix itself; each further level halves rows and columns (rounded up), a cell standing
    /// for up to 2 × 2 below it: NaN if any is NaN, else +∞, else the value of largest magnitude, else −∞ if
    /// all are. So a single peak, and a single NaN, is seen at every zoom.
    ConstMatrixView pooled(int head, int level) const;
    /// The first level with at most one row and one column.
    int levels() const;

private:
    struct Derived;
    Tensor host_;
    std::unique_ptr<Derived> derived_;
};

}  // namespace attnscope
