// The layout of the focused matrix and its surroundings.
#pragma once

#include "app/views/axis_place.h"
#include "app/views/matrix_painter.h"

namespace attnscope {

/// How column labels are written.
enum class ColumnLabels { level, upright, none };

/// All in pixels.
struct FocusLayout : MatrixPlace {
    std::optional<ShownStage> left, above;
    bool above_transposed;
    Area left_area,
        above_area;  ///< of whole operands, possibly beyond the area; clipped to the view along the tokens
    ColumnLabels column_labels;
    int column_group;       ///< columns that share one label
    float row_label_right;  ///< row labels end here
    float row_label_width;
    float column_label_bottom;
    float column_label_room;      ///< above that, for vertical labels
    Area bar;                     ///< the color bar
    std::optional<Area> profile;  ///< of a row, below a matrix with many columns
};

/// If there is little room, operands, margins and the color bar shrink in favor of the matrix.
bool is_narrow(const Ui& ui, const Area& area);
bool is_low(const Ui& ui, const Area& area);

FocusLayout lay_out_focus(Desk& desk, const Ui& ui, const ShownStage& shown, const Area& body);

}  // namespace attnscope
