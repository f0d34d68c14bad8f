// Pictures in ImGui's draw lists.
#pragma once

#include <imgui.h>

#include <list>

#include "core/attention/image.h"
#include "core/gpu/gl.h"

namespace attnscope {

/// Keeps what the newest frames drew as textures. An OpenGL context is current in every call, and when the
/// frame is drawn.
class ImageTextures {
public:
    /// Before the first draw of a frame: forgets what the frame before did not draw.
    void begin_frame();
    /// The whole image from `top_left` to `bottom_right` (pixels), smoothed where it is larger or smaller.
    void draw(ImDrawList& list, const GivenImage& image, ImVec2 top_left, ImVec2 bottom_right);

private:
    struct Entry {
        GivenImage image;
        gl::Texture2D texture;
        bool drawn;
    };
    std::list<Entry> entries_;
};

}  // namespace attnscope
