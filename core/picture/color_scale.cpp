#include "core/picture/color_scale.h"

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

/// Of the scores before the softmax: with "this head" they share a range, so that the effect of scaling and
/// masking is visible.
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

Interval values_of(const Trace& trace, const Stage& stage, const HeadChoice& head, RangeChoice::Kind kind) {
    Interval result;
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

int ColorScale::index(double value) const {
    const double part = (value - min) / (max - min) * 256;
    if (!(part >= 0)) return 0;
    return part >= 255 ? 255 : static_cast<int>(part);
}

std::array<float, 256> ColorScale::first_values() const {
    std::array<float, 256> values{};
    values[0] = static_cast<float>(min);
    for (int i = 1; i < 256; ++i) {
        const auto reached = [&](std::int64_t place) { return index(float_at(place)) >= i; };
        // Usually a few floats from the edge; around 0 of a wide scale, millions of floats round to one sum.
        std::int64_t at = place_of(static_cast<float>(min + (max - min) / 256 * i));
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
    Interval interval =
        fixed ? fixed_interval(presentation.range) : values_of(trace, stage, head, presentation.range.kind);
    if (!fixed && unit == Unit::probability) interval.min = std::min(0.0, interval.min);
    if (!fixed && unit == Unit::boolean) interval = {0, 1, false};
    if (map.diverging) {
        const double magnitude = std::max(std::abs(interval.min), std::abs(interval.max));
        interval = {-magnitude, magnitude, false};
    }
    if (!(interval.min < interval.max)) {
        if (map.diverging) return {&map, -1, 1};
        // A single value: it gets the low end of a scale as wide as a probability's.
        return {&map, interval.min, interval.min + std::max(1.0, std::abs(interval.min))};
    }
    return {&map, interval.min, interval.max};
}

RangeChoice range_across_steps(const Stage& stage, const RangeChoice& chosen) {
    const bool weights = stage.info->role == StageRole::weights && stage.part == StageKey::Part::value;
    if (!weights || chosen.kind != RangeChoice::Kind::matrix) return chosen;
    return {RangeChoice::Kind::fixed, 0, 1};
}

}  // namespace attnscope
