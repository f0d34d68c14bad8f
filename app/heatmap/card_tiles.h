// Makes the tiles of matrices that are stored on the graphics card, on the card.
#pragma once

#include <deque>
#include <memory>

#include "app/heatmap/heatmap_source.h"
#include "core/gpu/gl.h"
#include "core/gpu/programs.h"

namespace attnscope {

/// Fills textures on the card. In every call an OpenGL context that shares the card's buffers must be
/// current.
class CardTiles {
public:
    explicit CardTiles(ShaderSource shaders) : programs_(std::move(shaders)) {}

    /// Lets go of what the card has read since.
    void begin_frame();

    /// Fills `texture` with what pooled_cells gives for `range`, if the source's values and mask are on the
    /// card and a shader can access enough of them for a row of the tile. Otherwise returns false and leaves
    /// the texture as it was. Throws Error(backend) if the shader does not compile.
    bool fill(const gl::Texture2D& texture, const HeatmapSource& source, Pooling pooling, Region range);
    /// See GpuPrograms for the function of this name.
    std::string problem() const { return programs_.problem(); }

private:
    /// Values that the card still reads. The storage of those that nothing uses is written again by the
    /// device's own context, which knows nothing of commands of this one.
    struct Reading {
        std::unique_ptr<gl::Fence> done;
        std::shared_ptr<const DeviceValues> values, open;
    };
    GpuPrograms programs_;
    std::deque<Reading> reading_;   ///< in the order of the commands
    std::size_t block_floats_ = 0;  ///< that a shader can access at once; 0: not queried yet
    std::size_t aligned_floats_ = 1;
};

}  // namespace attnscope
