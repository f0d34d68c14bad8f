// A laid-out text on a surface: its letters in one color, its emoji in their own.
#pragma once

#include "core/picture/text.h"

using PangoLayout = struct _PangoLayout;

namespace attnscope {

TextExtent extent_of(PangoLayout* layout);

/// Draws with the point `align` of the width (0 left, 1 right) at `x`.
void draw_layout(cairo_t* cairo, PangoLayout* layout, double align, double x, double baseline, TextMode mode);

/// `width` pixels of a layout from `left` on, and its margins.
TextShades shades_of(PangoLayout* layout, double left, double width);

}  // namespace attnscope
