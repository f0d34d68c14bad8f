// The matrix of a figure: its cells, hatching, marks and numbers.
#pragma once

#include "core/picture/figure_layout.h"

namespace attnscope {

/// Beyond so many cells (256 × 256), and for cells without a line between them, the matrix is one image
/// instead of one shape per cell: quick to draw, no seams where a viewer smooths edges, and an SVG of as many
/// shapes (about 10 MB) is already slow to open.
inline constexpr std::size_t k_max_cell_shapes = 65536;
/// A document of the figure holds pixels, too, and not shapes alone.
bool needs_pixels(const Figure& figure);

void draw_cells(const Figure& figure, const FigureLayout& layout, cairo_t* cairo, Medium medium);
/// Throws Cancelled.
void draw_values(const Figure& figure, const FigureLayout& layout, const TextFace& face, cairo_t* cairo,
                 const DrawOptions& options);
/// How letters are given to cairo.
TextMode text_mode(Medium medium);
/// One cell's surface and mark in `box`: for cells and for the legend's swatches alike.
void draw_swatch(const Figure& figure, CellMark mark, const Box& box, cairo_t* cairo);

void set_source(cairo_t* cairo, Rgb8 color, double opacity = 1);
void fill_box(cairo_t* cairo, const Box& box);

}  // namespace attnscope
