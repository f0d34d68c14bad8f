// Maps values to colors.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/trace.h"
#include "core/picture/colormap.h"
#include "core/picture/presentation.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {

/// A color table and the values at its two ends; min < max, both finite. Spaced by the logarithm, min > 0, or
/// −min = max: then by that of the magnitude above max / 1000, and evenly through 0 (as SymLogNorm of
/// Matplotlib, without its kink).
struct ColorScale {
    const Colormap* map;
    double min;
    double max;
    ColorSpacing spacing = ColorSpacing::linear;

    /// The position of a value, 0 … 1 from min to max, and beyond for values outside.
    double position(double value) const;
    /// The value at a position of 0 … 1.
    double value_at(double position) const;
    /// The table's entry, 0 … 255, of 256 equal parts of all positions. Values beyond an end (and ±∞) get the
    /// end's entry; NaN, which has a mark of its own and no color, gets 0.
    int index(double value) const;
    /// The index() of each value into `indices`, which has as many places.
    void index_all(std::span<const float> values, std::span<std::uint8_t> indices) const;
    /// The smallest float of each entry: index(value) is the last entry whose float is not above the value.
    /// Comparing with these, as a shader does, gives the same colors as index(), whatever the precision of
    /// its division. The first is min, although values below it have its color as well.
    std::array<float, 256> first_values() const;
    Rgb8 color(double value) const;
};

/// The scale selected by `presentation.range`.
/// - probability: `presentation.colormap`, from 0 (or the smallest value, if negative) to the largest value.
/// - real: the diverging map, from −m to m, where m is the largest magnitude.
/// - boolean: 0 … 1; token_id: from the smallest to the largest; both whatever the range, unless it is fixed.
/// With `presentation.spacing` log, probabilities have the four decades below the range's end.
/// A fixed range on a diverging map is widened to be symmetric, so that 0 keeps the neutral color. If nothing
/// is finite, or all values are equal, the scale still has a width. Throws Error(bad_input) for a fixed range
/// that is not finite and increasing, and as shown_matrix().
ColorScale color_scale(const Trace& trace, const Stage& stage, const HeadChoice& head,
                       const Presentation& presentation);

/// The color_scale() if nothing has to be computed for it; nullopt before the facts about the values that it
/// needs (ranges, percentiles, the mean over heads) are known.
std::optional<ColorScale> known_color_scale(const Trace& trace, const Stage& stage, const HeadChoice& head,
                                            const Presentation& presentation);

/// The matrices whose values color_scale() reads, if any. Throws as shown_matrix().
std::vector<ShownMatrix> matrices_of_scale(const Trace& trace, const Stage& stage, const HeadChoice& head,
                                           const Presentation& presentation);

/// What the ends of that scale are, in a few words: "0 … 1", "all heads", "this matrix, log".
std::string range_caption(const Stage& stage, const HeadChoice& head, const Presentation& presentation);

/// `chosen`, but 0 … 1 for weights whose range is their own: so pictures of several steps and heads compare.
RangeChoice range_across_steps(const Stage& stage, const RangeChoice& chosen);

}  // namespace attnscope
