// A drawing of known size, for any surface: a figure in pixels, or a sheet on paper.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/picture/figure_layout.h"
#include "core/picture/sheet.h"

namespace attnscope {

struct Page {
    std::string title;
    Size size;             ///< in units
    double points = 0.75;  ///< of a unit, in a PDF
    double pixels = 1;     ///< of a unit, in a PNG
    std::optional<Paper> paper = {};
    bool has_pixels = false;  ///< whether a vector file of it contains pixels besides shapes
    /// Draws on the background from (0, 0) to `size`. Throws Canceled.
    std::function<void(cairo_t* cairo, const DrawOptions& options)> draw;
};

/// `face` must outlive the page. Throws Error(bad_input) as fit_cells().
Page page_of(Figure figure, const TextFace& face);
Page page_of(Sheet sheet, const TextFace& face);

}  // namespace attnscope
