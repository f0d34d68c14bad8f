// Many curved lines between two columns, with few triangles each.
#pragma once

#include <string>
#include <vector>

#include "app/ui/ui.h"

namespace attnscope {

/// Curves from the vertical line x = left to x = right that are level at both ends: a Bézier curve with its
/// handles in the middle, as lines are drawn in pictures. All share what depends on x alone.
class Ribbons {
public:
    Ribbons(ImDrawList& list, float left, float right, int segments);

    /// Adds a curve from the height `from` to the height `to`, `width` pixels wide, with smooth edges.
    void add(float from, float to, float width, ImU32 color) const;

private:
    struct Point {
        float x;
        float part;   ///< of the way from `from` to `to`
        float slope;  ///< of the curve, for a way of one pixel
    };
    ImDrawList& list_;
    std::vector<Point> points_;
};

/// The width that words beside the lines need: that of the widest of the first 512 with `margin` pixels, at
/// least 44 units and at most `most` pixels.
float words_room(const Ui& ui, const std::vector<std::string>& words, float margin, float most);

}  // namespace attnscope
