#include "core/tensor/buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/canceled.h"
#include "core/error.h"

namespace attnscope {

namespace {

/// Sums in double, head by head, so that the order and the rounding never depend on the size.
Tensor mean_of(const Buffer& values, const std::stop_token& cancel) {
    constexpr std::size_t k_cells = 1024;  // whose sums stay in the cache
    const Shape& shape = values.shape();
    std::vector<const float*> heads;
    for (int h = 0; h < shape.heads; ++h) {
        stop_if_canceled(cancel);
        heads.push_back(values.head(h).data());
    }
    Tensor result(Shape{.heads = 1, .rows = shape.rows, .columns = shape.columns});
    const std::size_t size = shape.head_size();
    const std::span<float> to = result.values();
    for (std::size_t first = 0; first < size; first += k_cells) {
        stop_if_canceled(cancel);
        const std::size_t count = std::min(k_cells, size - first);
        std::array<double, k_cells> sums{};
        for (const float* const head : heads)
            for (std::size_t i = 0; i < count; ++i) sums[i] += head[first + i];
        for (std::size_t i = 0; i < count; ++i) to[first + i] = static_cast<float>(sums[i] / shape.heads);
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
    /// What is known before anyone asks.
    void set(T value) {
        value_ = std::move(value);
        is_known_ = true;
    }

private:
    std::mutex mutex_;
    T value_{};
    std::atomic<bool> is_known_ = false;
};

constexpr int k_rows_at_once = 16;
/// Values on demand that are copied at once: 256 MiB.
constexpr std::size_t k_largest_part = std::size_t{1} << 26;

constexpr std::size_t k_parts_of_a_screen = 64;  ///< at most

/// How many rows or columns of values on demand are kept: 16 MiB, but some.
std::size_t kept_lines(int length) {
    return std::clamp((std::size_t{1} << 22) / static_cast<std::size_t>(length), std::size_t{4},
                      k_parts_of_a_screen);
}

/// Parts that were copied from the card or computed recently.
template <class Part>
class Copies {
public:
    /// Copies without holding the lock: the card's thread may need the buffer before it answers.
    std::shared_ptr<const Part> get(int index, const std::function<Part()>& copy,
                                    std::size_t most = k_parts_of_a_screen) {
        {
            const std::lock_guard lock(mutex_);
            if (const auto found = parts_.find(index); found != parts_.end()) return found->second;
        }
        auto part = std::make_shared<const Part>(copy());
        const std::lock_guard lock(mutex_);
        if (parts_.size() >= most) parts_.clear();
        parts_.insert_or_assign(index, part);
        return part;
    }

private:
    std::mutex mutex_;
    std::map<int, std::shared_ptr<const Part>> parts_;
};

}  // namespace

struct Buffer::State {
    struct Head {
        Fact<ValueRange> range;
        Fact<std::vector<Tensor>> pyramid;                   ///< levels 1, 2, …
        Fact<std::pair<float, float>> percentiles;           ///< of the values, or of the strongest of blocks
        Fact<std::pair<float, float>> percentiles_of_means;  ///< of blocks of values on demand
        Fact<std::vector<float>> row_largest;
        Fact<std::vector<float>> column_largest;
        Fact<std::optional<Tensor>> transposed;
        Copies<Matrix> rows;              ///< by block of rows
        Copies<Eigen::VectorXf> columns;  ///< by column
        std::mutex computing;             ///< of `values` if they were not kept
        std::optional<Tensor> values;     ///< of this head alone, where some were not kept
        std::atomic<bool> is_here = false;
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

    void set(HeadFacts facts) {
        for (std::size_t h = 0; h < facts.ranges.size(); ++h) head[h].range.set(facts.ranges[h]);
        for (std::size_t h = 0; h < facts.row_largest.size(); ++h)
            head[h].row_largest.set(std::move(facts.row_largest[h]));
    }

    Head& of_head(int index) { return head.at(static_cast<std::size_t>(index)); }

    Fact<std::pair<float, float>>& percentiles(int index, Pool pool) {
        Head& own = of_head(index);
        return on_demand && pool == Pool::mean ? own.percentiles_of_means : own.percentiles;
    }

    /// Whether the values of a head can be read.
    bool has_head(int index) { return is_here || (omitted && of_head(index).is_here); }

    Tensor computed(int index) const {
        Tensor result(Shape{.heads = 1, .rows = shape.rows, .columns = shape.columns});
        const int rows = omitted->rows_per_block();
        for (int first = 0; first < shape.rows; first += rows)
            omitted->compute(
                index, first / rows,
                {result.head(0).row(first).data(), std::min(rows, shape.rows - first), shape.columns});
        return result;
    }

    ConstMatrixView values_of_head(int index) {
        if (!omitted || is_here) return host().head(index);
        Head& own = of_head(index);
        if (!own.is_here) {
            const std::lock_guard lock(own.computing);
            if (!own.is_here) own.values.emplace(computed(index));
            own.is_here = true;
            is_waiting = false;
        }
        return std::as_const(*own.values).head(0);
    }

    const Tensor& host() {
        if (on_demand) require_part(shape.size() + k_largest_part);
        std::call_once(host_once, [&] {
            if (values) return;
            Tensor copy = later ? later() : Tensor(shape);
            for (int h = 0; !later && h < shape.heads; ++h)
                if (omitted)
                    copy.head(h) = values_of_head(h);
                else
                    device->read(h, 0, shape.rows, copy.head(h).data());
            values.emplace(std::move(copy));
            is_here = true;
            is_waiting = false;
            later = nullptr;
        });
        return *values;
    }

    const Shape shape;
    std::once_flag host_once;
    std::optional<Tensor> values;       ///< absent until host() where the truth is on the card or by head
    std::atomic<bool> is_here = false;  ///< whether `values` can be read
    std::function<Tensor()> later;      ///< computes all values; for host() alone
    std::atomic<bool> is_waiting = false;
    std::shared_ptr<const OmittedHeads> omitted;
    bool is_on_device = false;
    mutable std::mutex device_mutex;
    std::shared_ptr<const DeviceValues> device;
    const std::shared_ptr<const OnDemandValues> on_demand;

    std::vector<Head> head;  ///< never resized: a head does not move
    Fact<ValueRange> all;
    Fact<std::unique_ptr<const Buffer>> mean;
};

Buffer::Buffer(Tensor values) : state_(std::make_unique<State>(values.shape())) {
    state_->values.emplace(std::move(values));
    state_->is_here = true;
}

Buffer::Buffer(Tensor values, HeadFacts facts) : Buffer(std::move(values)) { state_->set(std::move(facts)); }

Buffer::Buffer(const Shape& shape, std::vector<std::optional<Tensor>> kept,
               std::shared_ptr<const OmittedHeads> omitted, HeadFacts facts)
    : state_(std::make_unique<State>(shape)) {
    state_->omitted = std::move(omitted);
    state_->is_waiting = kept.empty();
    for (std::size_t h = 0; h < kept.size(); ++h) {
        state_->head[h].is_here = kept[h].has_value();
        state_->head[h].values = std::move(kept[h]);
    }
    state_->set(std::move(facts));
}

Buffer::Buffer(const Shape& shape, std::function<Tensor()> compute) : state_(std::make_unique<State>(shape)) {
    state_->later = std::move(compute);
    state_->is_waiting = true;
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
ConstMatrixView Buffer::head(int head) const { return state_->values_of_head(head); }

ConstColumnsView Buffer::transposed(
    int head, const std::function<void(const ConstMatrixView& from, ColumnsView to)>& transpose) const {
    const int rows = shape().columns, columns = shape().rows, apart = spread_apart(columns);
    const std::optional<Tensor>& result = state_->of_head(head).transposed.get([&] {
        std::optional<Tensor> made(Shape{.heads = 1, .rows = rows, .columns = apart});
        transpose(this->head(head), {made->values().data(), rows, columns, Eigen::OuterStride<>(apart)});
        return made;
    });
    return {result->values().data(), rows, columns, Eigen::OuterStride<>(apart)};
}

bool Buffer::is_on_device() const { return state_->is_on_device; }
bool Buffer::is_here() const { return state_->is_here; }
bool Buffer::is_waiting() const { return state_->is_waiting; }
bool Buffer::is_omitted(int head) const { return state_->omitted && !state_->has_head(head); }

std::shared_ptr<const Matrix> Buffer::omitted_block(int head, int block) const {
    constexpr std::size_t k_few = 4;  // of some MiB each
    const auto compute = [&] {
        const int rows = state_->omitted->rows_per_block(), first = block * rows;
        Matrix values(std::min(rows, shape().rows - first), shape().columns);
        state_->omitted->compute(head, block, {values.data(), values.rows(), values.cols()});
        return values;
    };
    return state_->of_head(head).rows.get(block, compute, k_few);
}
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
    out = this->head(head).block(region.row, region.column, region.rows, region.columns);
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
    if (has_whole_heads(head)) return this->head(head)(row, column);
    return (*rows_around(head, row))(row % rows_at_once(), column);
}

/// Whether all values are here, or are computed at once when any is asked for.
bool Buffer::is_in_memory() const { return !state_->omitted && !state_->is_on_device && !state_->on_demand; }

/// Whether a part is read from its head: all is here, or copying everything takes no longer than copying one
/// row.
bool Buffer::has_whole_heads(int head) const {
    constexpr std::size_t k_few_numbers = 1 << 16;
    return state_->has_head(head) || is_in_memory() || shape().size() <= k_few_numbers;
}

int Buffer::rows_at_once() const {
    return state_->omitted ? state_->omitted->rows_per_block() : k_rows_at_once;
}

Eigen::RowVectorXf Buffer::row(int head, int row) const {
    assert(row >= 0 && row < shape().rows);
    if (on_demand())
        return *state_->of_head(head).rows.get(
            row, [&] { return rows(head, row, 1); }, kept_lines(shape().columns));
    if (has_whole_heads(head)) return this->head(head).row(row);
    return rows_around(head, row)->row(row % rows_at_once());
}

/// Rows are fetched in blocks, because each request waits for the card's current work.
std::shared_ptr<const Matrix> Buffer::rows_around(int head, int row) const {
    if (state_->omitted) return omitted_block(head, row / rows_at_once());
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
    if ((has_whole_heads(head) || state_->omitted) && !on_demand()) return this->head(head).col(column);
    const auto compute = [&]() -> Eigen::VectorXf {
        if (!on_demand()) return state_->device->column(head, column);
        Eigen::VectorXf values(shape().rows);
        read(head, {0, column, shape().rows, 1}, {values.data(), values.size(), 1});
        return values;
    };
    const std::size_t most = on_demand() ? kept_lines(shape().rows) : k_parts_of_a_screen;
    return *state_->of_head(head).columns.get(column, compute, most);
}

Matrix Buffer::rows(int head, int first, int count) const {
    assert(first >= 0 && count >= 0 && first + count <= shape().rows);
    if (state_->is_here || is_in_memory() || state_->omitted)
        return this->head(head).middleRows(first, count);
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
        if (on_demand()) return on_demand()->range(head);
        if (state_->is_on_device && !state_->is_here) return state_->device->range(head);
        return range_of({this->head(head).data(), shape().head_size()});
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
    Fact<ValueRange>& fact = state_->of_head(head).range;
    if (!fact.known() && on_demand())
        if (const std::optional<ValueRange> known = on_demand()->known_range(head))
            return &fact.get([&] { return *known; });
    return fact.known();
}

const ValueRange* Buffer::known_range() const {
    for (int h = 0; on_demand() && h < shape().heads; ++h)
        if (!known_range(h)) return nullptr;
    return on_demand() ? &range() : state_->all.known();
}

Matrix Buffer::blocks(int head, Pool pool) const {
    constexpr std::size_t k_most = std::size_t{1} << 20;
    const KeptSurvey kept = on_demand()->survey(head, {}, {});
    const auto pooled = [](int size, int level) { return ((size - 1) >> level) + 1; };
    int level = on_demand()->first_kept_level();
    const auto region = [&] {
        return Region{0, 0, pooled(shape().rows, level), pooled(shape().columns, level)};
    };
    while (region().size() > k_most) ++level;
    return on_demand()->tile(head, level, pool, region(), {});
}

const std::pair<float, float>& Buffer::percentiles(int head, Pool pool) const {
    return state_->percentiles(head, pool).get([&] {
        const Matrix values = on_demand() ? blocks(head, pool) : rows(head, 0, shape().rows);
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

const std::pair<float, float>* Buffer::known_percentiles(int head, Pool pool) const {
    return state_->percentiles(head, pool).known();
}

const std::vector<float>& Buffer::row_largest(int head) const {
    return state_->of_head(head).row_largest.get([&] {
        if (on_demand()) return on_demand()->row_largest(head);
        if (state_->is_on_device && !state_->is_here) return state_->device->row_largest(head);
        std::vector<float> largest;
        const ConstMatrixView values = this->head(head);
        for (Eigen::Index i = 0; i < values.rows(); ++i) largest.push_back(largest_of_row(values, i));
        return largest;
    });
}

const std::vector<float>& Buffer::column_largest(int head) const {
    return state_->of_head(head).column_largest.get([&] {
        if (state_->is_on_device && !state_->is_here) return state_->device->column_largest(head);
        std::vector<float> largest;
        const ConstMatrixView values = this->head(head);
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
                                    : std::make_unique<const Buffer>(mean_of(*this, cancel));
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
    if (level == 0) return this->head(head);
    state_->of_head(head).pyramid.get([&] {
        std::vector<Tensor> pyramid;
        for (int l = 1; l <= levels(); ++l) {
            pyramid.push_back(halved(l == 1 ? this->head(head) : std::as_const(pyramid.back()).head(0)));
        }
        return pyramid;
    });
    return *known_pooled(head, level);
}

std::optional<ConstMatrixView> Buffer::known_pooled(int head, int level) const {
    assert(level >= 0 && level <= levels());
    State::Head& own = state_->of_head(head);
    if (level == 0) return state_->has_head(head) ? std::optional(this->head(head)) : std::nullopt;
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
