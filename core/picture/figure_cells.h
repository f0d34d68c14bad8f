// Draws the matrix of a figure: its cells, hatching, marks and numbers.
#pragma once

#include "core/picture/figure_layout.h"

namespace attnscope {

/// Beyond this many cells (256 × 256), and for cells without a line between them, the matrix is one image
/// instead of one shape per cell: it is drawn quickly, has no seams where viewers smooth edges, and an SVG of
/// that many shapes (about 10 MB) already opens slowly.
inline constexpr std::size_t k_max_cell_shapes = 65536;
/// Whether a vector file of the figure contains pixels besides shapes.
bool needs_pixels(const Figure& figure);

void draw_cells(const Figure& figure, const FigureLayout& layout, cairo_t* cairo, Medium medium);
/// Throws Canceled.
void draw_values(const Figure& figure, const FigureLayout& layout, const TextFace& face, cairo_t* cairo,
                 const DrawOptions& options);
/// How text is passed to cairo.
TextMode text_mode(const DrawOptions& options);
/// Draws a cell's surface and mark in `box`: for cells and for the swatches of the legend.
void draw_swatch(const Figure& figure, CellMark mark, const Box& box, cairo_t* cairo);

void set_source(cairo_t* cairo, Rgb8 color, double opacity = 1);
void fill_box(cairo_t* cairo, const Box& box);

}  // namespace attnscope
