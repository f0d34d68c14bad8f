// Curves over the steps of a run, in the window.
#pragma once

#include <vector>

#include "app/ui/ui.h"
#include "core/picture/curve_picture.h"

namespace attnscope {

/// Draws curves over the same steps with their scales, and a line at step `marked`.
void draw_curves(const Ui& ui, const Area& plot, const std::vector<Curve>& curves, int marked);
/// Numbers of steps below curves, from 0 to `last`.
void draw_step_ticks(const Ui& ui, const Area& area, int last);

}  // namespace attnscope
