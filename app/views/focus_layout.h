// Where the parts of the focus stand.
#pragma once

#include "app/views/matrix_painter.h"

namespace attnscope {

/// One axis of the focused matrix on screen: `count` cells, of which `view` shows a part when zoomed in.
struct AxisPlace {
    int count;
    float view_min, view_max;  ///< pixels on screen that the matrix may cover
    float origin;              ///< where cell 0 begins; may lie before view_min
    float pitch;               ///< pixels of a cell

    float begin(int i) const { return origin + static_cast<float>(i) * pitch; }
    float middle(int i) const { return origin + (static_cast<float>(i) + 0.5f) * pitch; }
    float end() const { return begin(count); }
    int first() const;  ///< the first and the last cell in sight
    int last() const;
    int at(float position) const;  ///< the cell there, within 0 … count − 1
};

/// How column labels are written.
enum class ColumnLabels { level, upright, none };

/// Everything in pixels.
struct FocusLayout {
    AxisPlace rows, columns;
    Area view;  ///< the part of the screen that shows the matrix
    std::optional<ShownStage> left, above;
    Area left_area,
        above_area;  ///< whole operands, as far as they reach; clipped to the view along the tokens
    ColumnLabels column_labels;
    int column_group;       ///< columns that one label stands for
    float row_label_right;  ///< row labels end here
    float row_label_width;
    float column_label_bottom;
    float column_label_room;  ///< above that, for labels that stand upright
    Area bar;                 ///< the colour bar
};

/// The pixels one zoom step in or out is limited to: from the whole matrix to one cell.
double largest_zoom(const FocusLayout& layout);

/// Where there is little room, operands, margins and the colour bar give way to the matrix.
bool is_narrow(const Ui& ui, const Area& area);
bool is_low(const Ui& ui, const Area& area);

FocusLayout lay_out_focus(Ui& ui, const ShownStage& shown, const Area& body);

}  // namespace attnscope
