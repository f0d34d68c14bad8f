#include "core/attention/buffer.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace attnscope {
namespace {

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

/// Which of two values stands for both when there is room for one: NaN before +∞ before the larger magnitude
/// before −∞. Of two equal magnitudes the positive one, so that the order of the cells does not matter.
float dominant(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<float>::quiet_NaN();
    if (std::isinf(a)) return a > 0 ? a : b;
    if (std::isinf(b)) return b > 0 ? b : a;
    if (std::abs(a) == std::abs(b)) return std::max(a, b);
    return std::abs(a) > std::abs(b) ? a : b;
}

Tensor halved(ConstMatrixView from) {
    const int rows = static_cast<int>((from.rows() + 1) / 2);
    const int columns = static_cast<int>((from.cols() + 1) / 2);
    Tensor result(Shape{.heads = 1, .rows = rows, .columns = columns});
    MatrixView to = result.head(0);
    for (int r = 0; r < rows; ++r) {
        // The last row or column of an odd size stands for itself.
        const Eigen::Index r1 = std::min<Eigen::Index>(2 * r + 1, from.rows() - 1);
        for (int c = 0; c < columns; ++c) {
            const Eigen::Index c1 = std::min<Eigen::Index>(2 * c + 1, from.cols() - 1);
            to(r, c) = dominant(dominant(from(2 * r, 2 * c), from(2 * r, c1)),
                                dominant(from(r1, 2 * c), from(r1, c1)));
        }
    }
    return result;
}

/// Sums in double, head by head, so that the order and the rounding never depend on the size.
Tensor mean_of(const Tensor& values) {
    const Shape& shape = values.shape();
    Tensor result(Shape{.heads = 1, .rows = shape.rows, .columns = shape.columns});
    const std::size_t size = shape.head_size();
    const std::span<const float> from = values.values();
    const std::span<float> to = result.values();
    for (std::size_t i = 0; i < size; ++i) {
        double sum = 0;
        for (int h = 0; h < shape.heads; ++h) sum += from[static_cast<std::size_t>(h) * size + i];
        to[i] = static_cast<float>(sum / shape.heads);
    }
    return result;
}

}  // namespace

struct Buffer::Derived {
    struct Head {
        std::once_flag range_once;
        ValueRange range;
        std::once_flag pyramid_once;
        std::vector<Tensor> pyramid;  ///< levels 1, 2, …
    };
    explicit Derived(int heads) : head(static_cast<std::size_t>(heads)) {}

    std::vector<Head> head;
    std::once_flag all_once;
    ValueRange all;
    std::once_flag mean_once;
    std::unique_ptr<const Buffer> mean;
};

Buffer::Buffer(Tensor values)
    : host_(std::move(values)), derived_(std::make_unique<Derived>(host_.shape().heads)) {}

Buffer::~Buffer() = default;

float Buffer::at(int head, int row, int column) const {
    assert(row >= 0 && row < shape().rows && column >= 0 && column < shape().columns);
    return host_.head(head)(row, column);
}

const ValueRange& Buffer::range(int head) const {
    Derived::Head& own = derived_->head.at(static_cast<std::size_t>(head));
    std::call_once(own.range_once, [&] {
        const std::size_t size = shape().head_size();
        own.range = range_of(host_.values().subspan(static_cast<std::size_t>(head) * size, size));
    });
    return own.range;
}

const ValueRange& Buffer::range() const {
    std::call_once(derived_->all_once, [&] {
        for (int h = 0; h < shape().heads; ++h) derived_->all = united(derived_->all, range(h));
    });
    return derived_->all;
}

const Buffer& Buffer::mean() const {
    if (shape().heads == 1) return *this;
    std::call_once(derived_->mean_once,
                   [&] { derived_->mean = std::make_unique<const Buffer>(mean_of(host_)); });
    return *derived_->mean;
}

ConstMatrixView Buffer::pooled(int head, int level) const {
    assert(level >= 0 && level <= levels());
    if (level == 0) return host_.head(head);
    Derived::Head& own = derived_->head.at(static_cast<std::size_t>(head));
    std::call_once(own.pyramid_once, [&] {
        std::vector<Tensor> pyramid;
        for (int l = 1; l <= levels(); ++l) {
            pyramid.push_back(halved(l == 1 ? host_.head(head) : std::as_const(pyramid.back()).head(0)));
        }
        own.pyramid = std::move(pyramid);
    });
    return std::as_const(own.pyramid.at(static_cast<std::size_t>(level - 1))).head(0);
}

int Buffer::levels() const {
    int level = 0;
    for (int side = std::max(shape().rows, shape().columns); side > 1; side = (side + 1) / 2) ++level;
    return level;
}

}  // namespace attnscope
