// A, B and B − A of the comparison view, side by side.
#pragma once

#include "app/views/compare_scene.h"

namespace attnscope {

/// Draws the matrices that exist, which zoom and scroll as one; returns the bottom of the lowest. Hovering or
/// locking a cell does so in all of them.
float compare_matrices(Desk& desk, const Ui& ui, const CompareScene& scene, const Area& area);

}  // namespace attnscope
