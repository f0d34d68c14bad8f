// Parts of matrices as textures, pooled so that no cell is smaller than a pixel.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "app/heatmap/card_tiles.h"
#include "app/heatmap/heatmap_source.h"
#include "core/gpu/gl.h"

namespace attnscope {

/// A cache of the textures of recently drawn tiles.
class HeatmapTiles {
public:
    static constexpr int k_size = k_tile_size;

    explicit HeatmapTiles(ShaderSource shaders) : card_(std::move(shaders)) {}

    /// Drops tiles unused for 60 frames, and the oldest ones beyond `k_budget` bytes.
    void begin_frame();

    /// What drawing a tile needs besides colors.
    enum class Needs { colors, hatch, marks };
    struct Tile {
        gl::Texture2D texture;  ///< the output of pooled_cells
        Needs needs;
        std::uint64_t last_frame;
    };
    /// Tile (tile_row, tile_column) of the drawn matrix; unless cached, it is made on the graphics card from
    /// values that are there, else uploaded. Valid until begin_frame; nullptr if its values are not known
    /// yet.
    const Tile* tile(const HeatmapSource& source, Pooling pooling, int tile_row, int tile_column);

    std::size_t bytes() const { return bytes_; }
    std::size_t uploads() const { return uploads_; }  ///< since construction
    std::size_t made_on_card() const { return made_on_card_; }
    /// Recreates all tiles when they are drawn next.
    void forget();
    /// Why a changed tile shader is not in use; empty if it is.
    std::string problem() const { return card_.problem(); }

private:
    std::optional<Tile> make(const HeatmapSource& source, Pooling pooling, int tile_row, int tile_column);

    static constexpr std::size_t k_budget = std::size_t{256} << 20;
    static constexpr std::uint64_t k_unused_frames = 60;

    struct Key {
        std::uint64_t content;
        std::weak_ptr<const void> owner, mask_owner;
        Pooling pooling;
        bool transposed;
        int tile_row;
        int tile_column;
    };
    struct Before {
        bool operator()(const Key& a, const Key& b) const;
    };

    std::map<Key, Tile, Before> tiles_;
    std::uint64_t frame_ = 0;
    std::size_t bytes_ = 0;
    std::size_t uploads_ = 0;
    std::size_t made_on_card_ = 0;
    CardTiles card_;
};

}  // namespace attnscope
