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

/// Which of two values stands for both when there is room for one: NaN before +∞ before the larger magnitude
/// before −∞. Of two equal magnitudes the positive one, so that the order of the cells does not matter.
float dominant(float a, float b);

/// Values that lie on a graphics card. Immutable; every member may be called from any thread and waits until
/// it has what it asks for. Throws Error(backend) if the card is lost.
class DeviceValues {
public:
    virtual ~DeviceValues() = default;
    virtual const Shape& shape() const = 0;
    /// `count` rows of one head from `first` on, row by row, copied into `rows`.
    virtual void read(int head, int first, int count, float* rows) const = 0;
    /// rows() numbers.
    virtual Eigen::VectorXf column(int head, int column) const = 0;
    virtual ValueRange range(int head) const = 0;
    /// As Buffer has it.
    virtual std::vector<float> row_largest(int head) const = 0;
    virtual std::vector<float> column_largest(int head) const = 0;
    /// The mean over the heads, 1 × rows × columns, on the same card.
    virtual std::shared_ptr<const DeviceValues> mean() const = 0;
};

/// Immutable values of one stage, in this machine's memory or on a graphics card. Every const member may be
/// called from several threads; what is derived (ranges, mean, pooled levels), and the copy here of what lies
/// there, is made at the first call and kept. What reads from a card throws Error(backend) if it is lost.
class Buffer {
public:
    explicit Buffer(Tensor values);
    explicit Buffer(std::shared_ptr<const DeviceValues> values);
    Buffer(Buffer&&) noexcept;
    ~Buffer();

    const Shape& shape() const;
    /// All values, here.
    const Tensor& host() const;
    /// Copies from a card what is not here yet: the row and some beside it, or all of a small tensor.
    float at(int head, int row, int column) const;
    /// columns() numbers; likewise.
    Eigen::RowVectorXf row(int head, int row) const;
    /// rows() numbers; from a card they are copied alone.
    Eigen::VectorXf column(int head, int column) const;

    /// The values on the card: the truth if is_on_device(), else what keep_on_device() was given or nullptr.
    std::shared_ptr<const DeviceValues> device() const;
    bool is_on_device() const;
    /// A copy of host() on a card, so that it is not copied there again.
    void keep_on_device(std::shared_ptr<const DeviceValues> copy) const;

    /// Over one head (from 0), or over all of them.
    const ValueRange& range(int head) const;
    const ValueRange& range() const;

    /// The largest value of each row of one head, NaN where a row has one: −∞ is a row of nothing else.
    const std::vector<float>& row_largest(int head) const;
    /// The same of each column.
    const std::vector<float>& column_largest(int head) const;

    /// The mean over the heads, 1 × rows × columns; this buffer's own values if there is one head.
    const Buffer& mean() const;

    /// Level 0 is the matrix itself; each further level halves rows and columns (rounded up), a cell standing
    /// for up to 2 × 2 below it: NaN if any is NaN, else +∞, else the value of largest magnitude, else −∞ if
    /// all are. So a single peak, and a single NaN, is seen at every zoom.
    ConstMatrixView pooled(int head, int level) const;
    /// The first level with at most one row and one column.
    int levels() const;

private:
    struct State;
    bool is_small() const;
    std::shared_ptr<const Matrix> rows_around(int head, int row) const;
    std::unique_ptr<State> state_;
};

}  // namespace attnscope
