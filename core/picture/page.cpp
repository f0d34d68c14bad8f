#include "core/picture/page.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/picture/figure_cells.h"

namespace attnscope {

Page page_of(Figure figure, const TextFace& face) {
    const auto drawn = std::make_shared<const Figure>(std::move(figure));
    const auto layout = std::make_shared<const FigureLayout>(lay_out(*drawn, face));
    Page page{
        .title = layout->title_text, .size = layout->size, .has_pixels = needs_pixels(*drawn), .draw = {}};
    page.draw = [drawn, layout, &face](cairo_t* cairo, const DrawOptions& options) {
        draw(*drawn, *layout, face, cairo, options);
    };
    return page;
}

Page page_of(Sheet sheet, const TextFace& face) {
    fit_cells(sheet, face);
    const auto drawn = std::make_shared<const Sheet>(std::move(sheet));
    const auto layout = std::make_shared<const SheetLayout>(lay_out(*drawn, face));
    const double points_per_pixel = drawn->paper ? 72 / drawn->paper->dpi : 0.75;
    Page page{.title = layout->frame.title_text,
              .size = layout->size,
              .points = layout->points,
              .pixels = layout->points / points_per_pixel,
              .paper = drawn->paper,
              .has_pixels = std::ranges::any_of(
                  drawn->panels, [](const SheetPanel& panel) { return needs_pixels(panel.figure); }),
              .draw = {}};
    page.draw = [drawn, layout, &face](cairo_t* cairo, const DrawOptions& options) {
        draw(*drawn, *layout, face, cairo, options);
    };
    return page;
}

}  // namespace attnscope
