// Tiles of matrices that lie on a graphics card, made there.
#pragma once

#include "app/window/heatmap_source.h"
#include "core/gpu/gl.h"
#include "core/gpu/programs.h"

namespace attnscope {

/// An OpenGL context that shares its buffers with the card's is current in every call.
class CardTiles {
public:
    /// Fills `texture` with what pooled_cells gives for `range`, if the source's values, and its mask, lie on
    /// the card and a shader can see as much of them as a row of the tile needs. Else false: the texture is
    /// as it was. Throws Error(backend) if the shader does not compile.
    bool fill(const gl::Texture2D& texture, const HeatmapSource& source, Pooling pooling, TileRange range);
    /// As GpuPrograms has it.
    std::string problem() const { return programs_.problem(); }

private:
    GpuPrograms programs_;
    std::size_t block_floats_ = 0;  ///< that a shader sees at once; 0: not asked for yet
    std::size_t aligned_floats_ = 1;
};

}  // namespace attnscope
