// Lines from words to the words they attend to.
#pragma once

#include <span>
#include <vector>

#include "core/picture/color_scale.h"

namespace attnscope {

/// One line of a row.
struct WordLine {
    int column;
    double strength;  ///< 0 … 1: the weight's position in the scale
};

/// The lines of one row of weights, weakest first, at most `most`; none for a weight too small to be visible
/// or not finite.
std::vector<WordLine> word_lines(std::span<const float> weights, const ColorScale& scale, int most);

/// The number of lines of the emphasized row, and of each of the other rows.
inline constexpr int k_lines_that_stand_out = 300;
int lines_per_row(int rows);

/// The strength of other rows' lines relative to the emphasized one: weaker if there are many.
double others_opacity(int rows);

/// The strength of lines when none is emphasized: weaker if there are many.
double crowd_opacity(std::size_t lines);
/// The opacity of one of many lines, and of one of a few that are drawn alone.
double line_opacity(double strength);
double opacity_alone(double strength);

/// The width of a line where words are `pitch` pixels apart.
double line_width(double strength, double pitch);

/// The position, after `part` (0 … 1) of its way, of a line from 0 to 1 that is level at both ends: a Bézier
/// curve with its handles in the middle.
double line_height(double part);

}  // namespace attnscope
