// The color of a cell in a picture: of its value, by the scale; masked, NaN and infinite, the theme's. The
// window's are in shaders/heatmap.frag.
#include "core/picture/figure.h"

namespace attnscope {

Rgb8 Figure::fill(std::size_t cell) const {
    switch (marks[cell]) {
        case CellMark::value:
        case CellMark::chosen: return scale.color(values[cell]);
        case CellMark::masked:
        case CellMark::not_compared: return hatches ? theme->masked : theme->line;
        case CellMark::open: return theme->raised;
        case CellMark::nan: return theme->nan;
        case CellMark::plus_infinity: return theme->plus_infinity;
        case CellMark::minus_infinity: return theme->minus_infinity;
    }
    return {};
}

double Figure::cover(std::size_t cell) const {
    if (!image) return 1;
    if (marks[cell] == CellMark::chosen) return 0;
    return marks[cell] == CellMark::masked ? k_cover_closed : cover_of(scale, values[cell]);
}

Rgb8 Figure::surface(std::size_t cell) const {
    return image ? mixed(image->patches[cell], fill(cell), cover(cell)) : fill(cell);
}

}  // namespace attnscope
