#include "app/heatmap/heatmap_tiles.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace attnscope {

namespace {

HeatmapTiles::Needs needs_of(const std::vector<float>& cells) {
    bool finite = true, closed = false;
    for (const float cell : cells) {  // all of them, so that several are compared at once
        finite &= std::isfinite(cell);
        closed |= cell == k_closed_cell;
    }
    if (!finite) return HeatmapTiles::Needs::marks;
    return closed ? HeatmapTiles::Needs::hatch : HeatmapTiles::Needs::colors;
}

/// The range over the whole matrix, as marks and hatching may be in any of its tiles.
HeatmapTiles::Needs needs_of(const HeatmapSource& source) {
    const ValueRange& range = source.card_range;
    if (range.nan + range.plus_infinity + range.minus_infinity > 0) return HeatmapTiles::Needs::marks;
    return source.open ? HeatmapTiles::Needs::hatch : HeatmapTiles::Needs::colors;
}

}  // namespace

bool HeatmapTiles::Before::operator()(const Key& a, const Key& b) const {
    if (a.owner.owner_before(b.owner)) return true;
    if (b.owner.owner_before(a.owner)) return false;
    if (a.mask_owner.owner_before(b.mask_owner)) return true;
    if (b.mask_owner.owner_before(a.mask_owner)) return false;
    const auto rest = [](const Key& key) {
        return std::tuple(key.content, key.pooling.rows, key.pooling.columns, key.transposed, key.tile_row,
                          key.tile_column);
    };
    return rest(a) < rest(b);
}

void HeatmapTiles::begin_frame() {
    card_.begin_frame();
    ++frame_;
    const auto forget = [&](auto which) {
        for (auto tile = tiles_.begin(); tile != tiles_.end();) {
            const bool gone = which(tile->second);
            if (gone) bytes_ -= tile->second.texture.bytes();
            tile = gone ? tiles_.erase(tile) : std::next(tile);
        }
    };
    forget([&](const Tile& tile) { return tile.last_frame + k_unused_frames < frame_; });
    for (std::uint64_t age = k_unused_frames; bytes_ > k_budget && age > 1; --age) {
        forget([&](const Tile& tile) { return tile.last_frame + age <= frame_; });
    }
}

void HeatmapTiles::forget() {
    tiles_.clear();
    bytes_ = 0;
}

std::optional<HeatmapTiles::Tile> HeatmapTiles::make(const HeatmapSource& source, Pooling pooling,
                                                     int tile_row, int tile_column) {
    const Region range = tile_range(source, pooling, tile_row, tile_column);
    Tile tile{.texture = {gl::Texture2D::Format::r32f, range.columns, range.rows},
              .needs = Needs::marks,
              .last_frame = frame_};
    if (card_.fill(tile.texture, source, pooling, range)) {
        tile.needs = needs_of(source);
        ++made_on_card_;
        return tile;
    }
    const std::optional<std::vector<float>> cells = pooled_cells(source, pooling, range);
    if (!cells) return std::nullopt;
    tile.texture.upload(std::span<const float>(*cells));
    tile.needs = needs_of(*cells);
    ++uploads_;
    return tile;
}

const HeatmapTiles::Tile* HeatmapTiles::tile(const HeatmapSource& source, Pooling pooling, int tile_row,
                                             int tile_column) {
    Key key{.content = source.key,
            .owner = source.owner,
            .mask_owner = source.mask_owner,
            .pooling = pooling,
            .transposed = source.transposed,
            .tile_row = tile_row,
            .tile_column = tile_column};
    auto found = tiles_.find(key);
    if (found == tiles_.end()) {
        std::optional<Tile> made = make(source, pooling, tile_row, tile_column);
        if (!made) return nullptr;
        found = tiles_.emplace(std::move(key), std::move(*made)).first;
        bytes_ += found->second.texture.bytes();
    }
    found->second.last_frame = frame_;
    return &found->second;
}

}  // namespace attnscope
