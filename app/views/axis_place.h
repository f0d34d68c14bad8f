// Where the rows or columns of a matrix stand on screen, whole or zoomed.
#pragma once

#include "app/document/interaction.h"
#include "app/ui/ui.h"

namespace attnscope {

/// One axis of a matrix on screen: `count` cells, of which `view` shows a part when zoomed in.
struct AxisPlace {
    int count;
    float view_min, view_max;  ///< the pixel range available to the matrix
    double origin;             ///< the start of cell 0; may be far less than view_min
    double step;               ///< pixels from the start of a cell to that of the next

    float pitch() const { return static_cast<float>(step); }
    float begin(int i) const { return static_cast<float>(origin + i * step); }
    float middle(int i) const { return static_cast<float>(origin + (i + 0.5) * step); }
    float end() const { return begin(count); }
    double size() const { return count * step; }
    int first() const;  ///< the first and the last visible cell
    int last() const;
    int at(float position) const;  ///< the cell at a position, clamped to 0 … count − 1
};

/// Fits `count` cells of at most `cell` pixels between two pixels, magnified by `factor` around `center`, a
/// fraction of the whole.
AxisPlace place_axis(int count, float cell, float low, float high, double factor, double center);

/// Where the rows and columns of a matrix stand.
struct MatrixPlace {
    AxisPlace rows, columns;

    Area view() const { return {{columns.view_min, rows.view_min}, {columns.view_max, rows.view_max}}; }
    /// The whole matrix, of which view() may show a part.
    Area whole() const { return {{columns.begin(0), rows.begin(0)}, {columns.end(), rows.end()}}; }
    /// whole() in double, for the heatmap of a magnified matrix.
    Extent extent() const {
        return {columns.origin, rows.origin, columns.origin + columns.size(), rows.origin + rows.size()};
    }
    Area cell(const Cell& at) const {
        return {{columns.begin(at.column), rows.begin(at.row)},
                {columns.begin(at.column + 1), rows.begin(at.row + 1)}};
    }
    Cell at(ImVec2 position) const { return {rows.at(position.y), columns.at(position.x)}; }
};

/// The largest zoom factor, at which one cell fills the view.
double largest_zoom(const MatrixPlace& place);
/// Zooms by notches of the wheel; the point under the mouse stays in place.
void zoom_by(Zoom& zoom, const MatrixPlace& place, float notches);
/// Pans by the distance that the mouse has moved.
void pan(Zoom& zoom, const MatrixPlace& place);

/// Zooms and pans so that a cell is in sight and at least `least` pixels wide and high; then as large as
/// `preferred`.
void show_cell(Zoom& zoom, const MatrixPlace& place, const Cell& cell, float least, float preferred);

}  // namespace attnscope
