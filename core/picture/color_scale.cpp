#include "core/picture/color_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/graph/stage_table.h"
#include "core/number_text.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {
namespace {

constexpr double k_decades_of_weights =
    1e-4;                               ///< the smallest weight with a color of its own, of the largest
constexpr double k_linear_part = 1e-3;  ///< around 0, of the largest magnitude

/// Whether the stage is one of the scores before the softmax, which share a range under "this head", so that
/// the effect of scaling and masking is visible.
bool is_of_scores(const Stage& stage) {
    return stage.info->role == StageRole::scores || stage.info->role == StageRole::masked_scores;
}

struct Interval {
    double min = 0;
    double max = 0;
    bool empty = true;

    void add(const ValueRange& range) {
        if (range.finite == 0) return;
        min = empty ? range.min : std::min<double>(min, range.min);
        max = empty ? range.max : std::max<double>(max, range.max);
        empty = false;
    }
};

/// What `automatic` chooses for a stage.
RangeChoice::Kind kind_for(const Stage& stage, RangeChoice::Kind chosen) {
    if (chosen != RangeChoice::Kind::automatic) return chosen;
    if (stage.buffer.on_demand()) return RangeChoice::Kind::percentile;  // one pair may outweigh a book
    const bool of_weights = stage.info->unit == Unit::probability && stage.part == StageKey::Part::value;
    return of_weights && stage.shape().columns <= k_few_keys ? RangeChoice::Kind::automatic
                                                             : RangeChoice::Kind::all;
}

/// Facts about values; those that are not known yet are computed.
struct Computed {
    static std::optional<ShownMatrix> matrix(const Stage& stage, const HeadChoice& head) {
        return shown_matrix(stage, head);
    }
    static const ValueRange* range(const ShownMatrix& shown) { return &shown.range(); }
    static const std::pair<float, float>* percentiles(const ShownMatrix& shown, Pool pool) {
        return &shown.buffer->percentiles(shown.head, pool);
    }
};

/// Facts about values; nullopt or nullptr if they are not known yet.
struct Known {
    static std::optional<ShownMatrix> matrix(const Stage& stage, const HeadChoice& head) {
        return known_matrix(stage, head);
    }
    static const ValueRange* range(const ShownMatrix& shown) { return shown.buffer->known_range(shown.head); }
    static const std::pair<float, float>* percentiles(const ShownMatrix& shown, Pool pool) {
        return shown.buffer->known_percentiles(shown.head, pool);
    }
};

/// The matrices whose values a range stands for; nullopt if one is not known.
template <class Facts>
std::optional<std::vector<ShownMatrix>> matrices_of(const Trace& trace, const Stage& stage,
                                                    const HeadChoice& head, RangeChoice::Kind kind) {
    std::vector<ShownMatrix> matrices;
    const auto add_shown = [&](const Stage& each) {
        const std::optional<ShownMatrix> shown = Facts::matrix(each, head);
        if (shown) matrices.push_back(*shown);
        return shown.has_value();
    };
    if (kind == RangeChoice::Kind::automatic) return matrices;
    if (kind == RangeChoice::Kind::all) {
        for (int h = 0; h < stage.shape().heads; ++h) matrices.push_back({&stage.buffer, h, false});
        return matrices;
    }
    if (kind != RangeChoice::Kind::head || !is_of_scores(stage))
        return add_shown(stage) ? std::optional(matrices) : std::nullopt;
    for (const StagePtr& each : trace.stages())
        if (is_of_scores(*each) && !add_shown(*each)) return std::nullopt;
    return matrices;
}

/// The values that the range which is chosen stands for; nullopt if a fact about them is not known.
template <class Facts>
std::optional<Interval> values_of(const Trace& trace, const Stage& stage, const HeadChoice& head,
                                  const Presentation& presentation) {
    const RangeChoice::Kind kind = kind_for(stage, presentation.range.kind);
    if (kind == RangeChoice::Kind::automatic) return Interval{0, 1, false};
    const std::optional<std::vector<ShownMatrix>> matrices = matrices_of<Facts>(trace, stage, head, kind);
    if (!matrices) return std::nullopt;
    Interval result;
    for (const ShownMatrix& each : *matrices) {
        const ValueRange* range = Facts::range(each);
        if (!range) return std::nullopt;
        result.add(*range);
    }
    if (kind != RangeChoice::Kind::percentile || result.empty) return result;
    const std::pair<float, float>* ends =
        Facts::percentiles(matrices->front(), pooling_of(*stage.info, presentation));
    return ends ? std::optional(Interval{ends->first, ends->second, false}) : std::nullopt;
}

Interval fixed_interval(const RangeChoice& range) {
    // The width is checked as well: finite ends may have an infinite difference.
    if (range.min < range.max && std::isfinite(range.max - range.min)) return {range.min, range.max, false};
    throw Error(ErrorKind::bad_input, "range " + exact_text(range.min) + "," + exact_text(range.max) +
                                          ": give two numbers, the smaller one first");
}

const Colormap& map_for(Unit unit, const Presentation& presentation) {
    if (unit == Unit::real) return diverging_colormap();
    return colormap_of(presentation.colormap);
}

/// The position of a float in the order of all floats, −0 and 0 as one.
std::int64_t place_of(float value) {
    const auto magnitude = static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU);
    return std::signbit(value) ? -magnitude : magnitude;
}
float float_at(std::int64_t place) {
    const float magnitude = std::bit_cast<float>(static_cast<std::uint32_t>(std::abs(place)));
    return place < 0 ? -magnitude : magnitude;
}
const std::int64_t k_last_place = place_of(std::numeric_limits<float>::infinity());
const std::int64_t k_first_place = -k_last_place;

double linear_position(double value, double min, double max) { return (value - min) / (max - min); }

/// The entry of a table for a position of 0 … 1.
int entry_at(double position) {
    const double part = position * 256;
    return part >= 0 ? static_cast<int>(std::min(part, 255.0)) : 0;
}

}  // namespace

double ColorScale::position(double value) const {
    if (spacing == ColorSpacing::linear) return linear_position(value, min, max);
    if (min > 0) return value > 0 ? std::log(value / min) / std::log(max / min) : -INFINITY;
    const double part = std::asinh(value / (max * k_linear_part)) / std::asinh(1 / k_linear_part);
    return 0.5 + 0.5 * part;
}

double ColorScale::value_at(double position) const {
    if (spacing == ColorSpacing::linear) return min + position * (max - min);
    if (min > 0) return min * std::pow(max / min, position);
    return max * k_linear_part * std::sinh((2 * position - 1) * std::asinh(1 / k_linear_part));
}

int ColorScale::index(double value) const { return entry_at(position(value)); }

void ColorScale::index_all(std::span<const float> values, std::span<std::uint8_t> indices) const {
    const auto all = [&](const auto& index_of) {
        std::ranges::transform(values, indices.begin(),
                               [&](float value) { return static_cast<std::uint8_t>(index_of(value)); });
    };
    // Where one formula holds for all values, several are computed at once.
    if (spacing == ColorSpacing::linear)
        all([from = min, to = max](double value) { return entry_at(linear_position(value, from, to)); });
    else
        all([this](double value) { return index(value); });
}

std::array<float, 256> ColorScale::first_values() const {
    std::array<float, 256> values{};
    values[0] = static_cast<float>(min);
    for (int i = 1; i < 256; ++i) {
        const auto reached = [&](std::int64_t place) { return index(float_at(place)) >= i; };
        // Usually a few floats from the edge; around 0 of a wide scale, millions of floats round to one sum.
        std::int64_t at = place_of(static_cast<float>(value_at(i / 256.0)));
        std::int64_t below = at, above = at;
        for (std::int64_t step = 1; reached(below); step *= 2) below = std::max(below - step, k_first_place);
        for (std::int64_t step = 1; !reached(above); step *= 2) above = std::min(above + step, k_last_place);
        while (above - below > 1) {
            at = std::midpoint(below, above);
            (reached(at) ? above : below) = at;
        }
        values[static_cast<std::size_t>(i)] = float_at(above);
    }
    return values;
}

Rgb8 ColorScale::color(double value) const { return map->colors[static_cast<std::size_t>(index(value))]; }

namespace {

/// The interval of values that the scale is for, before it is fitted to the unit.
template <class Facts>
std::optional<Interval> interval_of(const Trace& trace, const Stage& stage, const HeadChoice& head,
                                    const Presentation& presentation) {
    if (presentation.range.kind == RangeChoice::Kind::fixed) return fixed_interval(presentation.range);
    if (stage.info->unit == Unit::boolean) return Interval{0, 1, false};
    return values_of<Facts>(trace, stage, head, presentation);
}

ColorScale scale_for(Interval interval, Unit unit, const Presentation& presentation) {
    const Colormap& map = map_for(unit, presentation);
    const bool fixed = presentation.range.kind == RangeChoice::Kind::fixed;
    if (!fixed && unit == Unit::probability) interval.min = std::min(0.0, interval.min);
    if (map.diverging) {
        const double magnitude = std::max(std::abs(interval.min), std::abs(interval.max));
        interval = {-magnitude, magnitude, false};
    }
    const ColorSpacing spacing =
        unit == Unit::probability || map.diverging ? presentation.spacing : ColorSpacing::linear;
    if (spacing == ColorSpacing::log && !map.diverging) {
        const double end = interval.max > 0 ? interval.max : 1;
        return {&map, end * k_decades_of_weights, end, spacing};
    }
    if (!(interval.min < interval.max)) {
        if (map.diverging) return {&map, -1, 1, spacing};
        // A single value: it gets the low end of a scale as wide as a probability's.
        return {&map, interval.min, interval.min + std::max(1.0, std::abs(interval.min))};
    }
    return {&map, interval.min, interval.max, map.diverging ? spacing : ColorSpacing::linear};
}

}  // namespace

ColorScale color_scale(const Trace& trace, const Stage& stage, const HeadChoice& head,
                       const Presentation& presentation) {
    return scale_for(*interval_of<Computed>(trace, stage, head, presentation), stage.info->unit,
                     presentation);
}

std::optional<ColorScale> known_color_scale(const Trace& trace, const Stage& stage, const HeadChoice& head,
                                            const Presentation& presentation) {
    const std::optional<Interval> interval = interval_of<Known>(trace, stage, head, presentation);
    return interval ? std::optional(scale_for(*interval, stage.info->unit, presentation)) : std::nullopt;
}

std::vector<ShownMatrix> matrices_of_scale(const Trace& trace, const Stage& stage, const HeadChoice& head,
                                           const Presentation& presentation) {
    if (presentation.range.kind == RangeChoice::Kind::fixed || stage.info->unit == Unit::boolean) return {};
    return *matrices_of<Computed>(trace, stage, head, kind_for(stage, presentation.range.kind));
}

std::string range_caption(const Stage& stage, const HeadChoice& head, const Presentation& presentation) {
    const bool per_head = stage.shape().per_head;
    const bool mean = head.kind == HeadChoice::Kind::mean;
    const auto words = [&]() -> std::string {
        switch (kind_for(stage, presentation.range.kind)) {
            case RangeChoice::Kind::automatic: return "0 … 1";
            case RangeChoice::Kind::matrix: return "this matrix";
            case RangeChoice::Kind::head:
                return !per_head ? "this matrix"
                       : mean    ? "mean of heads"
                                 : fmt::format("head {}", head.head + 1);
            case RangeChoice::Kind::all: return per_head ? "all heads" : "this matrix";
            case RangeChoice::Kind::percentile:
                return stage.buffer.on_demand() ? "99 % of blocks" : "1st to 99th %";
            case RangeChoice::Kind::fixed: return "fixed";
        }
        return "";
    };
    const bool log = presentation.spacing == ColorSpacing::log && stage.info->unit != Unit::token_id;
    return words() + (log ? ", log" : "");
}

RangeChoice range_across_steps(const Stage& stage, const RangeChoice& chosen) {
    const bool weights = stage.info->role == StageRole::weights && stage.part == StageKey::Part::value;
    const bool own = chosen.kind == RangeChoice::Kind::matrix ||
                     chosen.kind == RangeChoice::Kind::percentile ||
                     chosen.kind == RangeChoice::Kind::automatic;
    if (!weights || !own) return chosen;
    return {RangeChoice::Kind::fixed, 0, 1};
}

}  // namespace attnscope
