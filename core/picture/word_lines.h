// Lines from words to the words that they look at.
#pragma once

#include <span>
#include <vector>

#include "core/picture/color_scale.h"

namespace attnscope {

/// One line of a row.
struct WordLine {
    int column;
    double strength;  ///< 0 … 1: the weight's place in the scale
};

/// The lines of one row of weights, the weakest first, no more than `most`; none for what is too weak to be
/// seen or no finite number.
std::vector<WordLine> word_lines(std::span<const float> weights, const ColorScale& scale, int most);

/// How many lines are drawn of the row that stands out, and of each of so many others.
inline constexpr int k_lines_that_stand_out = 300;
int lines_per_row(int rows);

/// How strong the lines of a row are beside those of the one that stands out: less where there are many.
double others_opacity(int rows);

/// How wide a line is where the words are `pitch` pixels apart.
double line_width(double strength, double pitch);

/// Where a line that begins at 0 and ends at 1, level at both ends, stands after `part` (0 … 1) of its way.
/// Its Bézier curve has its handles in the middle.
double line_height(double part);

}  // namespace attnscope
