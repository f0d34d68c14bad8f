// Figures on one sheet, which is a picture of its own: placed by their matrices, with one title, color bar
// and legend.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/picture/figure_layout.h"

namespace attnscope {

/// A figure on a sheet. Its rows and columns are the sheet's: matrices in one of them are aligned.
struct SheetPanel {
    Figure figure;
    int row = 0, column = 0;  ///< from 0
    /// Whether it has the rows of the panel before it in its line, whose labels stand for both.
    bool repeats_rows = false;
    /// The height of its cells, and their width, relative to those of the sheet, at most 1: an operand of
    /// many features leaves room to the result.
    double row_squeeze = 1, column_squeeze = 1;
};

/// What the rows or the columns of panels are: "layers" and their numbers. Empty: nothing is said.
struct SheetAxis {
    std::string title;
    std::vector<std::string> names;
};

/// A plain value, as Figure is. The panels have the type of paper.
struct Sheet {
    bool typesets_title = false;     ///< as that of a figure
    std::string title, subtitle;     ///< empty: none
    std::vector<SheetPanel> panels;  ///< at least one
    bool flows = false;  ///< the panels follow one another in lines, whatever their rows and columns
    /// The panels stand in lines of equal length, and fit_cells() takes the longest lines with which no word
    /// beside a matrix is left out, else those with the largest cells.
    bool is_series = false;
    SheetAxis row_axis = {}, column_axis = {};
    /// Many small matrices, for fit_cells(): if not all of their words fit, none is written, and the matrices
    /// move together.
    bool may_be_dense = false;
    int gap = 14;            ///< between panels
    bool one_scale = false;  ///< one color bar, of the first panel, stands for all
    const Theme* theme = nullptr;
    std::optional<Paper> paper = {};  ///< none: in pixels
};

struct SheetLayout {
    Size size;             ///< in units
    int needed = 0;        ///< the width that the panels need, which may exceed that of the paper
    double points = 0.75;  ///< of a unit, on paper; a unit is a pixel on screen
    FigureLayout frame;    ///< title, subtitle, and the bar and the legend of all
    struct Panel {
        FigureLayout layout;
        int x, y;  ///< where the panel's own layout starts
    };
    std::vector<Panel> panels;
    /// A name or title of the sheet's axes, from its baseline's start or middle.
    struct Heading {
        std::string text;
        double x, y;
        double align;  ///< 0 … 1
        bool turned;
        bool is_title;
    };
    std::vector<Heading> headings;
};

/// Gives all panels the largest cell size, 1 … 512, with which the sheet is no wider than its paper and, if
/// possible, no higher than an A4 page of that width; without paper the cells stay as they are, but for those
/// of squeezed operands. Throws Error(bad_input), naming a width that is enough, if not even the labels fit.
void fit_cells(Sheet& sheet, const TextFace& face);

/// The positions of everything on a sheet whose cells fit.
SheetLayout lay_out(const Sheet& sheet, const TextFace& face);

/// Draws on the background from (0, 0) to the layout's size, whatever the surface of `cairo`. Throws
/// Canceled.
void draw(const Sheet& sheet, const SheetLayout& layout, const TextFace& face, cairo_t* cairo,
          const DrawOptions& options = {});

}  // namespace attnscope
