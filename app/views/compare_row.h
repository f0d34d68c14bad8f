// A row of the comparison view: A's and B's numbers as bars, key by key.
#pragma once

#include "app/views/compare_scene.h"

namespace attnscope {

/// Draws the chosen row; needs both sides. Of more keys than there is room for, the largest of either side.
void compare_row(Desk& desk, const Ui& ui, const CompareScene& scene, const Area& area);

}  // namespace attnscope
