// From a value to its colour.
#pragma once

#include <array>

#include "core/attention/trace.h"
#include "core/io/session.h"
#include "core/picture/colormap.h"

namespace attnscope {

/// The table and the values at its two ends; min < max, both finite.
struct ColorScale {
    const Colormap* map;
    double min;
    double max;

    /// The table's entry, 0 … 255: the interval is cut into 256 equal parts. Beyond an end (and for ±∞) the
    /// end's entry; 0 for NaN, which has a mark of its own and no colour.
    int index(double value) const;
    /// The smallest float of each entry: index(value) is the last place in it that is not above the value.
    /// What cuts by comparing with these, such as a shader, gives the same colors as index(), whatever
    /// precision it divides with. The first is min, though what lies below has its color as well.
    std::array<float, 256> first_values() const;
    Rgb8 color(double value) const;
};

/// The scale that `presentation.range` asks for.
/// - probability: `presentation.colormap`, from 0 (or the smallest value, if negative) to the largest value.
/// - real: the diverging map, from −m to m, m being the largest magnitude.
/// - boolean: 0 … 1; token_id: from the smallest to the largest; whatever the range says, unless it is fixed.
/// A fixed range on a diverging map is widened to be symmetric, so that 0 keeps the neutral colour. Where
/// nothing is finite, or all is equal, the scale still has a width. Throws Error(bad_input) for an unknown
/// colour map, a fixed range that is not finite and increasing, and as shown_matrix().
ColorScale color_scale(const Trace& trace, const Stage& stage, const HeadChoice& head,
                       const Presentation& presentation);

}  // namespace attnscope
