#include "core/tensor/buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "core/canceled.h"
#include "core/error.h"

namespace attnscope {

ValueRange range_of(std::span<const float> values) {
    ValueRange range;
    float min = std::numeric_limits<float>::infinity();
    float max = -min;
    for (const float v : values) {
        if (std::isfinite(v)) {
            min = std::min(min, v);
            max = std::max(max, v);
            ++range.finite;
            range.zero += v == 0;
        } else if (std::isnan(v)) {
            ++range.nan;
        } else {
            ++(v > 0 ? range.plus_infinity : range.minus_infinity);
        }
    }
    if (range.finite > 0) {
        range.min = min;
        range.max = max;
    }
    return range;
}

ValueRange united(ValueRange a, const ValueRange& b) {
    if (b.finite > 0) {
        a.min = a.finite > 0 ? std::min(a.min, b.min) : b.min;
        a.max = a.finite > 0 ? std::max(a.max, b.max) : b.max;
    }
    a.finite += b.finite;
    a.zero += b.zero;
    a.nan += b.nan;
    a.plus_infinity += b.plus_infinity;
    a.minus_infinity += b.minus_infinity;
    return a;
}

namespace {

Tensor halved(ConstMatrixView from) {
    const int rows = static_cast<int>((from.rows() + 1) / 2);
    const int columns = static_cast<int>((from.cols() + 1) / 2);
    Tensor result(Shape{.heads = 1, .rows = rows, .columns = columns});
    MatrixView to = result.head(0);
    for (int r = 0; r < rows; ++r) {
        // Where the size is odd, the last row or column stands alone.
        const Eigen::Index r0 = Eigen::Index{2} * r, r1 = std::min(r0 + 1, from.rows() - 1);
        for (int c = 0; c < columns; ++c) {
            const Eigen::Index c0 = Eigen::Index{2} * c, c1 = std::min(c0 + 1, from.cols() - 1);
            to(r, c) = dominant(dominant(from(r0, c0), from(r0, c1)), dominant(from(r1, c0), from(r1, c1)));
        }
    }
    return result;
}

/// Sums in double, head by head, so that the order and the rounding never depend on the size.
Tensor mean_of(const Tensor& values, const std::stop_token& cancel) {
    constexpr std::size_t k_between_looks = std::size_t{1} << 16;
    const Shape& shape = values.shape();
    Tensor result(Shape{.heads = 1, .rows = shape.rows, .columns = shape.columns});
    const std::size_t size = shape.head_size();
    const std::span<const float> from = values.values();
    const std::span<float> to = result.values();
    for (std::size_t i = 0; i < size; ++i) {
        if (i % k_between_looks == 0) stop_if_canceled(cancel);
        double sum = 0;
        for (int h = 0; h < shape.heads; ++h) sum += from[static_cast<std::size_t>(h) * size + i];
        to[i] = static_cast<float>(sum / shape.heads);
    }
    return result;
}

/// A fact that the first call computes and keeps; it can be asked for without waiting. If computing it
/// throws, the next call tries again.
template <class T>
class Fact {
public:
    template <class FindOut>
    const T& get(const FindOut& find_out) {
        if (is_known_) return value_;
        const std::lock_guard lock(mutex_);
        if (!is_known_) value_ = find_out();
        is_known_ = true;
        return value_;
    }
    const T* known() const { return is_known_ ? &value_ : nullptr; }

private:
    std::mutex mutex_;
    T value_{};
    std::atomic<bool> is_known_ = false;
};

constexpr int k_rows_at_once = 16;
/// Values on demand that are copied at once: 256 MiB.
constexpr std::size_t k_largest_part = std::size_t{1} << 26;

/// Parts copied from the card recently.
template <class Part>
class Copies {
public:
    /// Copies without holding the lock: the card's thread may need the buffer before it answers.
    std::shared_ptr<const Part> get(int index, const std::function<Part()>& copy) {
        constexpr std::size_t k_most = 64;  // more than a screen shows
        {
            const std::lock_guard lock(mutex_);
            if (const auto found = parts_.find(index); found != parts_.end()) return found->second;
        }
        auto part = std::make_shared<const Part>(copy());
        const std::lock_guard lock(mutex_);
        if (parts_.size() >= k_most) parts_.clear();
        parts_.insert_or_assign(index, part);
        return part;
    }

private:
    std::mutex mutex_;
    std::map<int, std::shared_ptr<const Part>> parts_;
};

}  // namespace

float dominant(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<float>::quiet_NaN();
    if (std::isinf(a)) return a > 0 ? a : b;
    if (std::isinf(b)) return b > 0 ? b : a;
    if (std::abs(a) == std::abs(b)) return std::max(a, b);
    return std::abs(a) > std::abs(b) ? a : b;
}

struct Buffer::State {
    struct Head {
        Fact<ValueRange> range;
        Fact<std::vector<Tensor>> pyramid;  ///< levels 1, 2, …
        Fact<std::pair<float, float>> percentiles;
        Fact<std::vector<float>> row_largest;
        Fact<std::vector<float>> column_largest;
        Copies<Matrix> rows;              ///< by block of rows
        Copies<Eigen::VectorXf> columns;  ///< by column
    };
    explicit State(const Shape& own, std::shared_ptr<const OnDemandValues> computed = nullptr)
        : shape(own), on_demand(std::move(computed)), head(static_cast<std::size_t>(own.heads)) {}

    /// Throws Error(too_large) if so many values on demand are wanted at once.
    void require_part(std::size_t values_wanted) const {
        if (values_wanted > k_largest_part)
            throw Error(ErrorKind::too_large,
                        fmt::format("{} × {} values are too many at once: choose a region of them (region)",
                                    shape.rows, shape.columns));
    }

    Head& of_head(int index) { return head.at(static_cast<std::size_t>(index)); }

    const Tensor& host() {
        if (on_demand) require_part(shape.size() + k_largest_part);
        std::call_once(host_once, [&] {
            if (values) return;
            Tensor copy(shape);
            for (int h = 0; h < shape.heads; ++h) device->read(h, 0, shape.rows, copy.head(h).data());
            values.emplace(std::move(copy));
            is_here = true;
        });
        return *values;
    }

    const Shape shape;
    std::once_flag host_once;
    std::optional<Tensor> values;       ///< absent until host() where the truth is on the card
    std::atomic<bool> is_here = false;  ///< whether `values` can be read
    bool is_on_device = false;
    mutable std::mutex device_mutex;
    std::shared_ptr<const DeviceValues> device;
    const std::shared_ptr<const OnDemandValues> on_demand;

    std::vector<Head> head;
    Fact<ValueRange> all;
    Fact<std::unique_ptr<const Buffer>> mean;
};

Buffer::Buffer(Tensor values) : state_(std::make_unique<State>(values.shape())) {
    state_->values.emplace(std::move(values));
    state_->is_here = true;
}

Buffer::Buffer(std::shared_ptr<const DeviceValues> values)
    : state_(std::make_unique<State>(values->shape())) {
    state_->device = std::move(values);
    state_->is_on_device = true;
}

Buffer::Buffer(std::shared_ptr<const OnDemandValues> values)
    : state_(std::make_unique<State>(values->shape(), values)) {}

Buffer::Buffer(Buffer&&) noexcept = default;
Buffer::~Buffer() = default;

const Shape& Buffer::shape() const { return state_->shape; }
const Tensor& Buffer::host() const { return state_->host(); }
bool Buffer::is_on_device() const { return state_->is_on_device; }
const OnDemandValues* Buffer::on_demand() const { return state_->on_demand.get(); }

Coverage Buffer::coverage(int head, const Region& region) const {
    return on_demand() ? on_demand()->coverage(head, region) : Coverage::unknown;
}

void Buffer::read(int head, const Region& region, MatrixView out) const {
    assert(out.rows() == region.rows && out.cols() == region.columns);
    if (on_demand()) return on_demand()->read(head, region, out);
    if (is_on_device() && !state_->is_here) {
        out = rows(head, region.row, region.rows).middleCols(region.column, region.columns);
        return;
    }
    out = host().head(head).block(region.row, region.column, region.rows, region.columns);
}

std::shared_ptr<const DeviceValues> Buffer::device() const {
    const std::lock_guard lock(state_->device_mutex);
    return state_->device;
}

void Buffer::keep_on_device(std::shared_ptr<const DeviceValues> copy) const {
    assert(!is_on_device() && copy->shape() == shape());
    const std::lock_guard lock(state_->device_mutex);
    state_->device = std::move(copy);
}

float Buffer::at(int head, int row, int column) const {
    assert(row >= 0 && row < shape().rows && column >= 0 && column < shape().columns);
    if (on_demand()) {
        float value = 0;
        read(head, {row, column, 1, 1}, {&value, 1, 1});
        return value;
    }
    if (state_->is_here || is_small()) return host().head(head)(row, column);
    return (*rows_around(head, row))(row % k_rows_at_once, column);
}

/// Small enough that copying everything takes no longer than copying one row.
bool Buffer::is_small() const {
    constexpr std::size_t k_numbers = 1 << 16;
    return shape().size() <= k_numbers;
}

Eigen::RowVectorXf Buffer::row(int head, int row) const {
    assert(row >= 0 && row < shape().rows);
    if (on_demand()) return *state_->of_head(head).rows.get(row, [&] { return rows(head, row, 1); });
    if (state_->is_here || is_small()) return host().head(head).row(row);
    return rows_around(head, row)->row(row % k_rows_at_once);
}

/// Rows are fetched in blocks, because each request waits for the card's current work.
std::shared_ptr<const Matrix> Buffer::rows_around(int head, int row) const {
    const int block = row / k_rows_at_once, first = block * k_rows_at_once;
    return state_->of_head(head).rows.get(block, [&] {
        const int count = std::min(k_rows_at_once, shape().rows - first);
        Matrix numbers(count, shape().columns);
        state_->device->read(head, first, count, numbers.data());
        return numbers;
    });
}

Eigen::VectorXf Buffer::column(int head, int column) const {
    assert(column >= 0 && column < shape().columns);
    if (state_->is_here || (is_small() && !on_demand())) return host().head(head).col(column);
    return *state_->of_head(head).columns.get(column, [&] {
        if (!on_demand()) return state_->device->column(head, column);
        Eigen::VectorXf values(shape().rows);
        read(head, {0, column, shape().rows, 1}, {values.data(), values.size(), 1});
        return values;
    });
}

Matrix Buffer::rows(int head, int first, int count) const {
    assert(first >= 0 && count >= 0 && first + count <= shape().rows);
    if (state_->is_here) return host().head(head).middleRows(first, count);
    if (on_demand())
        state_->require_part(static_cast<std::size_t>(count) * static_cast<std::size_t>(shape().columns));
    Matrix numbers(count, shape().columns);
    if (on_demand()) {
        read(head, {first, 0, count, shape().columns}, {numbers.data(), count, shape().columns});
        return numbers;
    }
    state_->device->read(head, first, count, numbers.data());
    return numbers;
}

const ValueRange& Buffer::range(int head) const {
    return state_->of_head(head).range.get([&] {
        const std::size_t size = shape().head_size();
        if (on_demand()) return on_demand()->range(head);
        return state_->is_on_device
                   ? state_->device->range(head)
                   : range_of(host().values().subspan(static_cast<std::size_t>(head) * size, size));
    });
}

const ValueRange& Buffer::range() const {
    return state_->all.get([&] {
        ValueRange all;
        for (int h = 0; h < shape().heads; ++h) all = united(all, range(h));
        return all;
    });
}

const ValueRange* Buffer::known_range(int head) const {
    if (on_demand() && on_demand()->is_surveyed(head)) return &range(head);
    return state_->of_head(head).range.known();
}

const ValueRange* Buffer::known_range() const {
    for (int h = 0; on_demand() && h < shape().heads; ++h)
        if (!known_range(h)) return nullptr;
    return on_demand() ? &range() : state_->all.known();
}

Matrix Buffer::strongest_blocks(int head) const {
    constexpr std::size_t k_most = std::size_t{1} << 20;
    on_demand()->survey(head, {}, {});
    const auto pooled = [](int size, int level) { return ((size - 1) >> level) + 1; };
    int level = on_demand()->first_kept_level();
    const auto region = [&] {
        return Region{0, 0, pooled(shape().rows, level), pooled(shape().columns, level)};
    };
    while (region().size() > k_most) ++level;
    return on_demand()->tile(head, level, Pool::dominant, region(), {});
}

const std::pair<float, float>& Buffer::percentiles(int head) const {
    return state_->of_head(head).percentiles.get([&] {
        const Matrix values = on_demand() ? strongest_blocks(head) : rows(head, 0, shape().rows);
        std::vector<float> finite;
        finite.reserve(static_cast<std::size_t>(values.size()));
        for (const float each : std::span(values.data(), static_cast<std::size_t>(values.size())))
            if (std::isfinite(each)) finite.push_back(each);
        const auto at_rank = [&](double part) {
            const double rank = std::ceil(part * static_cast<double>(finite.size()));
            const auto nth = finite.begin() + std::max(0, static_cast<int>(rank) - 1);
            std::ranges::nth_element(finite, nth);
            return *nth;
        };
        return finite.empty() ? std::pair(0.0f, 0.0f) : std::pair(at_rank(0.01), at_rank(0.99));
    });
}

const std::pair<float, float>* Buffer::known_percentiles(int head) const {
    return state_->of_head(head).percentiles.known();
}

const std::vector<float>& Buffer::row_largest(int head) const {
    return state_->of_head(head).row_largest.get([&] {
        if (on_demand()) return on_demand()->row_largest(head);
        if (state_->is_on_device && !state_->is_here) return state_->device->row_largest(head);
        std::vector<float> largest;
        const ConstMatrixView values = host().head(head);
        for (Eigen::Index i = 0; i < values.rows(); ++i)
            largest.push_back(values.row(i).maxCoeff<Eigen::PropagateNaN>());
        return largest;
    });
}

const std::vector<float>& Buffer::column_largest(int head) const {
    return state_->of_head(head).column_largest.get([&] {
        if (state_->is_on_device && !state_->is_here) return state_->device->column_largest(head);
        std::vector<float> largest;
        const ConstMatrixView values = host().head(head);
        for (Eigen::Index j = 0; j < values.cols(); ++j)
            largest.push_back(values.col(j).maxCoeff<Eigen::PropagateNaN>());
        return largest;
    });
}

const Buffer& Buffer::mean(const std::stop_token& cancel) const {
    if (shape().heads == 1) return *this;
    return *state_->mean.get([&] {
        if (on_demand()) return std::make_unique<const Buffer>(on_demand()->mean());
        return state_->is_on_device ? std::make_unique<const Buffer>(state_->device->mean())
                                    : std::make_unique<const Buffer>(mean_of(host(), cancel));
    });
}

const Buffer* Buffer::known_mean() const {
    if (shape().heads == 1) return this;
    const auto* mean = state_->mean.known();
    return mean ? mean->get() : nullptr;
}

float Buffer::mean_at(int row, int column) const {
    if (const Buffer* mean = known_mean()) return mean->at(0, row, column);
    double sum = 0;
    for (int h = 0; h < shape().heads; ++h) sum += at(h, row, column);
    return static_cast<float>(sum / shape().heads);
}

Eigen::RowVectorXf Buffer::mean_row(int row) const {
    if (const Buffer* mean = known_mean()) return mean->row(0, row);
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(shape().columns);
    for (int h = 0; h < shape().heads; ++h) sum += this->row(h, row).cast<double>();
    return (sum / shape().heads).cast<float>();
}

Eigen::VectorXf Buffer::mean_column(int column) const {
    if (const Buffer* mean = known_mean()) return mean->column(0, column);
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(shape().rows);
    for (int h = 0; h < shape().heads; ++h) sum += this->column(h, column).cast<double>();
    return (sum / shape().heads).cast<float>();
}

ConstMatrixView Buffer::pooled(int head, int level) const {
    assert(level >= 0 && level <= levels());
    if (level == 0) return host().head(head);
    state_->of_head(head).pyramid.get([&] {
        std::vector<Tensor> pyramid;
        for (int l = 1; l <= levels(); ++l) {
            pyramid.push_back(halved(l == 1 ? host().head(head) : std::as_const(pyramid.back()).head(0)));
        }
        return pyramid;
    });
    return *known_pooled(head, level);
}

std::optional<ConstMatrixView> Buffer::known_pooled(int head, int level) const {
    assert(level >= 0 && level <= levels());
    State::Head& own = state_->of_head(head);
    if (level == 0) return state_->is_here ? std::optional(host().head(head)) : std::nullopt;
    const std::vector<Tensor>* pyramid = own.pyramid.known();
    if (!pyramid) return std::nullopt;
    return pyramid->at(static_cast<std::size_t>(level - 1)).head(0);
}

int Buffer::levels() const {
    int level = 0;
    for (int side = std::max(shape().rows, shape().columns); side > 1; side = (side + 1) / 2) ++level;
    return level;
}

}  // namespace attnscope
