// The profile of a row below its matrix: the values of all columns in sight, as bars.
#pragma once

#include "app/views/axis_place.h"
#include "app/views/matrix_painter.h"

namespace attnscope {

/// Draws the row's values in `area`, each in the columns of its cells in `place` and in the colors of
/// `scale`; of the cells that share a pixel the strongest one. Bars are as high as the strongest open value
/// of the whole row is. `row` −1: a hint.
void row_profile(const Ui& ui, const ShownStage& shown, const MatrixPlace& place, const Area& area, int row,
                 const ColorScale& scale);

}  // namespace attnscope
