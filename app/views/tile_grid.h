// Small pictures in rows and columns: the heads of all layers, the steps of a film.
#pragma once

#include "app/views/matrix_painter.h"

namespace attnscope {

/// A grid of small pictures, which are as large as an area allows. Lengths are in pixels.
struct Grid {
    int columns;
    float side;  ///< of a picture
    float gap,
        under;  ///< between two pictures; below each, where its text stands: without room for it, `gap`

    bool has_texts() const { return under > gap; }
    Area place(const Area& area, int index) const {
        const int row = index / columns, column = index % columns;
        const float x = area.min.x + static_cast<float>(column) * (side + gap),
                    y = area.min.y + static_cast<float>(row) * (side + under);
        return {{x, y}, {x + side, y + side}};
    }
};

Grid grid_of(const Ui& ui, const Area& area, int rows, int columns);
/// The grid for this many pictures in which the pictures are largest.
Grid grid_for(const Ui& ui, const Area& area, int count);
/// Where a small picture stands: not wider than its cells are high.
Area picture_in(const Area& place, const ShownStage& shown);

/// Ablates a head, or restores it. Layers of a stack are counted from 1.
void toggle_ablation(Desk& desk, const HeadPlace& place);

}  // namespace attnscope
