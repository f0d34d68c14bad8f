// The values of a stage, wherever they live, and what is known of them besides.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/choice.h"
#include "core/progress.h"
#include "core/tensor/dominant.h"
#include "core/tensor/tensor.h"
#include "core/tensor/value_range.h"

namespace attnscope {

/// Values on a graphics card. Immutable; every member may be called from any thread and blocks until its
/// result is available. Throws Error(backend) if the card is lost.
class DeviceValues {
public:
    virtual ~DeviceValues() = default;
    virtual const Shape& shape() const = 0;
    /// Copies `count` rows of one head, starting at `first`, into `rows`, row-major.
    virtual void read(int head, int first, int count, float* rows) const = 0;
    /// One column of a head, shape().rows numbers.
    virtual Eigen::VectorXf column(int head, int column) const = 0;
    virtual ValueRange range(int head) const = 0;
    /// The largest value of each row, as Buffer::row_largest().
    virtual std::vector<float> row_largest(int head) const = 0;
    virtual std::vector<float> column_largest(int head) const = 0;
    /// The mean over the heads, 1 × rows × columns, on the same card.
    virtual std::shared_ptr<const DeviceValues> mean() const = 0;
};

/// How the cells of a block are pooled into one.
enum class Pool {
    dominant,  ///< dominant(), so that a single peak or NaN is seen from afar
    mean,      ///< of the cells that are not −∞
};
constexpr auto choice_names(Pool) {
    using enum Pool;
    return std::to_array<ChoiceName<Pool>>({{dominant, "strongest"}, {mean, "mean"}});
}

/// Keeps what OnDemandValues::survey() found of a head, for as long as one of them exists.
using KeptSurvey = std::shared_ptr<const void>;

/// Values that no memory holds and that are computed when they are asked for: the scores of every pair of
/// 100,000 tokens. Immutable; every member may be called from any thread and blocks until its result is
/// available; those that take a `cancel` throw Canceled.
class OnDemandValues {
public:
    virtual ~OnDemandValues() = default;
    virtual const Shape& shape() const = 0;
    /// Computes a region of one head into `out`, region.rows × region.columns, on the calling thread.
    virtual void read(int head, const Region& region, MatrixView out) const = 0;
    /// Which pairs of a region the mask leaves open.
    virtual Coverage coverage(int head, const Region& region) const = 0;
    /// Pooled cells of a region that is counted in cells of the level: one cell of level l stands for
    /// 2^l × 2^l cells, fewer at the edges. Pairs that the stage's mask closes do not count; a cell without
    /// any other pair is −∞. Computed on all cores, unless a survey has kept the level.
    virtual Matrix tile(int head, int level, Pool pool, const Region& region,
                        const std::stop_token& cancel) const = 0;

    /// Bands of rows, evenly spaced from the first to the last, each of up to four rows and pooled over these
    /// and over the columns of the first kept level that has up to 512: what can be shown of a head before it
    /// is surveyed.
    virtual Matrix preview(int head, int bands, Pool pool, const std::stop_token& cancel) const = 0;

    /// Rows of a head, evenly spaced: the middle one of each of `count` parts. Computed on all cores.
    virtual Matrix sample(int head, int count, const std::stop_token& cancel) const = 0;

    /// Reads all values of a head once, on all cores, unless that is done, for its facts and for the levels
    /// from first_kept_level() on. They stay in memory until the last copy of the result is gone; those of a
    /// mask, which are few, for good. `progress` receives values from 0 to 1.
    [[nodiscard]] virtual KeptSurvey survey(int head, const Progress& progress,
                                            const std::stop_token& cancel) const = 0;
    virtual bool is_surveyed(int head) const = 0;
    /// Whether a column takes no longer than a row: else it takes every pair.
    virtual bool reads_columns(int head) const = 0;
    virtual int first_kept_level() const = 0;
    /// Facts of a head. If it is not surveyed, it is, and stays so. Values that are 0 are counted only in a
    /// mask.
    virtual ValueRange range(int head) const = 0;
    virtual std::vector<float> row_largest(int head) const = 0;
    /// Without waiting: nullopt if the head is not surveyed.
    virtual std::optional<ValueRange> known_range(int head) const = 0;
    /// The mean over the heads, 1 × rows × columns.
    virtual std::shared_ptr<const OnDemandValues> mean() const = 0;
};

/// Heads whose values were not kept. Immutable; may be called from any thread.
class OmittedHeads {
public:
    virtual ~OmittedHeads() = default;
    /// Rows that are computed at once.
    virtual int rows_per_block() const = 0;
    /// Computes a block of rows of one head again, the same to the bit, on the calling thread.
    virtual void compute(int head, int block, MatrixView out) const = 0;
};

/// Facts that were found while values were computed, by head.
struct HeadFacts {
    std::vector<ValueRange> ranges = {};
    std::vector<std::vector<float>> row_largest = {};  ///< as Buffer::row_largest(); empty if not known
};

/// Immutable values of one stage, heads × rows × columns, in this machine's memory, on a graphics card, or
/// computed on demand. In memory, all values, or some heads, may be computed when they are first asked for. A
/// caller that needs a part asks for it: a cell, a row, some rows, a column, or a pooled level; only host()
/// copies everything from a card. Facts about the values (ranges, largest values, mean, pooled levels) are
/// cached beside them: the first call computes a fact, which reads all values of a head, while other callers
/// wait. A thread that must not wait asks for known_…, which answers "not known yet" instead.
///
/// Every const member may be called from several threads. Heads, rows and columns count from 0; a head that
/// does not exist throws std::out_of_range where facts are asked for. Members that read from a card throw
/// Error(backend) if it is lost.
class Buffer {
public:
    explicit Buffer(Tensor values);
    Buffer(Tensor values, HeadFacts facts);
    /// `kept`: the values of each head, 1 × rows × columns, or nullopt, where `omitted` computes them; empty:
    /// it computes all heads, and is_waiting() until then.
    Buffer(const Shape& shape, std::vector<std::optional<Tensor>> kept,
           std::shared_ptr<const OmittedHeads> omitted, HeadFacts facts);
    /// Values of this shape that `compute` computes when something first asks for them; is_waiting() until
    /// then. What it throws, members throw that read values.
    Buffer(const Shape& shape, std::function<Tensor()> compute);
    explicit Buffer(std::shared_ptr<const DeviceValues> values);
    explicit Buffer(std::shared_ptr<const OnDemandValues> values);
    Buffer(Buffer&&) noexcept;
    ~Buffer();

    const Shape& shape() const;
    /// All values, in this machine's memory. Throws Error(too_large) for values on demand.
    const Tensor& host() const;
    /// The values of one head.
    ConstMatrixView head(int head) const;
    /// The transpose of one head, columns × rows spread_apart(), which `transpose`, the same in each call,
    /// writes at the first.
    ConstColumnsView transposed(
        int head, const std::function<void(const ConstMatrixView& from, ColumnsView to)>& transpose) const;
    /// Whether no value was computed, as nothing has asked for one. No facts are known then.
    bool is_waiting() const;
    /// Whether the values of a head were not kept, and nothing has asked for all of them.
    bool is_omitted(int head) const;
    /// A block of rows of an omitted head, computed or kept from a moment ago.
    std::shared_ptr<const Matrix> omitted_block(int head, int block) const;
    /// Whether all values are in this machine's memory, and host() copies and computes nothing.
    bool is_here() const;
    /// One value. From a card it copies the row and some rows around it, or all of a small tensor.
    float at(int head, int row, int column) const;
    /// One row, columns() numbers; copies from a card as at() does.
    Eigen::RowVectorXf row(int head, int row) const;
    /// One column, rows() numbers; from a card it copies this column alone.
    Eigen::VectorXf column(int head, int column) const;
    /// `count` rows of one head, starting at `first`, count × columns(); a copy. Of an omitted head all
    /// values are computed and kept.
    Matrix rows(int head, int first, int count) const;
    /// A region of one head into `out`, region.rows × region.columns; a copy that is not kept.
    void read(int head, const Region& region, MatrixView out) const;
    /// Which pairs of a region the mask leaves open; unknown unless the values are computed on demand.
    Coverage coverage(int head, const Region& region) const;
    /// The values if they are computed on demand, else nullptr.
    const OnDemandValues* on_demand() const;
    /// One cell, one row or one column of mean(), which are computed alone if the mean is not known yet.
    float mean_at(int row, int column) const;
    Eigen::RowVectorXf mean_row(int row) const;
    Eigen::VectorXf mean_column(int column) const;

    /// The values on the card: the original if is_on_device(), else the copy passed to keep_on_device(), or
    /// nullptr.
    std::shared_ptr<const DeviceValues> device() const;
    bool is_on_device() const;
    /// Keeps a copy of host() on a card, so that it is not uploaded again.
    void keep_on_device(std::shared_ptr<const DeviceValues> copy) const;

    /// The range of one head, or of all heads.
    const ValueRange& range(int head) const;
    const ValueRange& range() const;
    const ValueRange* known_range(int head) const;  ///< nullptr: not known yet
    const ValueRange* known_range() const;

    /// The 1st and the 99th percentile of the finite values of one head, by the nearest rank; 0 and 0 where
    /// none is finite. Of values on demand those of the cells, pooled so, of the finest kept level that has
    /// up to 2²⁰ of them.
    const std::pair<float, float>& percentiles(int head, Pool pool = Pool::dominant) const;
    const std::pair<float, float>* known_percentiles(
        int head, Pool pool = Pool::dominant) const;  ///< nullptr: not known yet

    /// The largest value of each row of one head: NaN if the row contains one, −∞ if it contains nothing
    /// else.
    const std::vector<float>& row_largest(int head) const;
    /// The largest value of each column of one head, as row_largest().
    const std::vector<float>& column_largest(int head) const;

    /// The mean over the heads, 1 × rows × columns; this buffer's own values if there is one head. Throws
    /// Canceled, where it is not known yet.
    const Buffer& mean(const std::stop_token& cancel = {}) const;
    const Buffer* known_mean() const;  ///< nullptr: not known yet

    /// Level 0 is the matrix itself; each further level halves rows and columns (rounded up). A cell
    /// represents up to 2 × 2 cells of the level below: NaN if any is NaN, else +∞, else the value of largest
    /// magnitude, else −∞ if all are. A single peak or NaN is therefore visible at every zoom.
    ConstMatrixView pooled(int head, int level) const;
    std::optional<ConstMatrixView> known_pooled(int head, int level) const;  ///< nullopt: not known yet
    /// The first level that has at most one row and one column.
    int levels() const;

private:
    struct State;
    bool is_in_memory() const;
    bool has_whole_heads(int head) const;
    int rows_at_once() const;
    Matrix blocks(int head, Pool pool) const;
    std::shared_ptr<const Matrix> rows_around(int head, int row) const;
    std::unique_ptr<State> state_;
};

}  // namespace attnscope
