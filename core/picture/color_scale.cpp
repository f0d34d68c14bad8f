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
    const bool of_weights = stage.info->unit == Unit::probability && stage.part == StageKey::Part::value;
    return of_weights && stage.shape().columns <= k_few_keys ? RangeChoice::Kind::automatic
                                                             : RangeChoice::Kind::all;
}

Interval values_of(const Trace& trace, const Stage& stage, const HeadChoice& head, RangeChoice::Kind kind) {
    Interval result;
    if (kind == RangeChoice::Kind::automatic) return {0, 1, false};
    if (kind == RangeChoice::Kind::percentile) {
        const ShownMatrix shown = shown_matrix(stage, head);
        const auto [low, high] = shown.buffer->percentiles(shown.head);
        if (shown.range().finite > 0) result = {low, high, false};
        return result;
    }
    if (kind == RangeChoice::Kind::all) {
        result.add(stage.buffer.range());
        return result;
    }
    result.add(shown_matrix(stage, head).range());
    if (kind != RangeChoice::Kind::head || !is_of_scores(stage)) return result;
    for (const StagePtr& each : trace.stages())
        if (is_of_scores(*each)) result.add(shown_matrix(*each, head).range());
    return result;
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

}  // namespace

double ColorScale::position(double value) const {
    if (spacing == ColorSpacing::linear) return (value - min) / (max - min);
    if (min > 0) return value > 0 ? std::log(value / min) / std::log(max / min) : -INFINITY;
    const double part = std::asinh(value / (max * k_linear_part)) / std::asinh(1 / k_linear_part);
    return 0.5 + 0.5 * part;
}

double ColorScale::value_at(double position) const {
    if (spacing == ColorSpacing::linear) return min + position * (max - min);
    if (min > 0) return min * std::pow(max / min, position);
    return max * k_linear_part * std::sinh((2 * position - 1) * std::asinh(1 / k_linear_part));
}

int ColorScale::index(double value) const {
    const double part = position(value) * 256;
    if (!(part >= 0)) return 0;
    return part >= 255 ? 255 : static_cast<int>(part);
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

ColorScale color_scale(const Trace& trace, const Stage& stage, const HeadChoice& head,
                       const Presentation& presentation) {
    const Unit unit = stage.info->unit;
    const Colormap& map = map_for(unit, presentation);
    const bool fixed = presentation.range.kind == RangeChoice::Kind::fixed;
    Interval interval = fixed ? fixed_interval(presentation.range)
                              : values_of(trace, stage, head, kind_for(stage, presentation.range.kind));
    if (!fixed && unit == Unit::probability) interval.min = std::min(0.0, interval.min);
    if (!fixed && unit == Unit::boolean) interval = {0, 1, false};
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
            case RangeChoice::Kind::percentile: return "1st to 99th %";
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
