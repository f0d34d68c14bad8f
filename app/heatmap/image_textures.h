// Pictures in ImGui's draw lists.
#pragma once

#include <imgui.h>

#include <list>

#include "core/gpu/gl.h"
#include "core/image/image.h"

namespace attnscope {

/// A cache of textures for the most recent frames. An OpenGL context must be current in every call, and when
/// the frame is drawn.
class ImageTextures {
public:
    /// Call before the first draw of a frame: drops what the previous frame did not draw.
    void begin_frame();
    /// Draws the whole image from `top_left` to `bottom_right` (pixels), smoothed if it is scaled.
    void draw(ImDrawList& list, const CustomImage& image, ImVec2 top_left, ImVec2 bottom_right);

private:
    struct Entry {
        CustomImage image;
        gl::Texture2D texture;
        bool drawn;
    };
    std::list<Entry> entries_;
};

}  // namespace attnscope
