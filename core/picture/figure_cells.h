// The matrix of a figure: its cells, hatching, marks and numbers.
#pragma once

#include "core/picture/figure_layout.h"

namespace attnscope {

/// Beyond so many cells, and for cells without a line between them, the matrix is one image instead of one
/// shape per cell: quick to draw, and no seams where a viewer smooths edges.
inline constexpr std::size_t k_max_cell_shapes = 65536;

void draw_cells(const Figure& figure, const FigureLayout& layout, cairo_t* cairo);
void draw_values(const Figure& figure, const FigureLayout& layout, const TextFace& face, cairo_t* cairo,
                 TextMode mode);
/// One cell's surface and mark in `box`: for cells and for the legend's swatches alike.
void draw_swatch(const Figure& figure, CellMark mark, const Box& box, cairo_t* cairo);

void set_source(cairo_t* cairo, Rgb8 color);
void fill_box(cairo_t* cairo, const Box& box);

}  // namespace attnscope
