// The layout of the focused matrix and its surroundings.
#pragma once

#include "app/views/matrix_painter.h"

namespace attnscope {

/// One axis of the focused matrix on screen: `count` cells, of which `view` shows a part when zoomed in.
struct AxisPlace {
    int count;
    float view_min, view_max;  ///< the pixel range available to the matrix
    float origin;              ///< the start of cell 0; may be less than view_min
    float pitch;               ///< pixels per cell

    float begin(int i) const { return origin + static_cast<float>(i) * pitch; }
    float middle(int i) const { return origin + (static_cast<float>(i) + 0.5f) * pitch; }
    float end() const { return begin(count); }
    int first() const;  ///< the first and the last visible cell
    int last() const;
    int at(float position) const;  ///< the cell at a position, clamped to 0 … count − 1
};

/// How column labels are written.
enum class ColumnLabels { level, upright, none };

/// All in pixels.
struct FocusLayout {
    AxisPlace rows, columns;
    Area view;  ///< the part of the screen that shows the matrix
    std::optional<ShownStage> left, above;
    bool above_transposed;
    Area left_area,
        above_area;  ///< of whole operands, possibly beyond the area; clipped to the view along the tokens
    ColumnLabels column_labels;
    int column_group;       ///< columns that share one label
    float row_label_right;  ///< row labels end here
    float row_label_width;
    float column_label_bottom;
    float column_label_room;  ///< above that, for vertical labels
    Area bar;                 ///< the color bar
};

/// Limits of the zoom: from the whole matrix to one cell.
double largest_zoom(const FocusLayout& layout);

/// If there is little room, operands, margins and the color bar shrink in favor of the matrix.
bool is_narrow(const Ui& ui, const Area& area);
bool is_low(const Ui& ui, const Area& area);

FocusLayout lay_out_focus(Desk& desk, const Ui& ui, const ShownStage& shown, const Area& body);

}  // namespace attnscope
