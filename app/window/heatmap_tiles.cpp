#include "app/window/heatmap_tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace attnscope {

namespace {

constexpr float k_infinity = std::numeric_limits<float>::infinity();
constexpr int k_most_levels = 30;

/// Which of two cells stands for both. Does not depend on their order.
float stronger(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<float>::quiet_NaN();
    if (a == k_infinity || b == k_infinity) return k_infinity;
    if (a == -k_infinity) return b;
    if (b == -k_infinity) return a;
    if (std::abs(a) != std::abs(b)) return std::abs(a) > std::abs(b) ? a : b;
    return std::max(a, b);
}

/// A number that happens to be the mark of a closed cell is its neighbour.
float unlike_closed(float value) { return value == k_closed_cell ? std::nextafter(value, 0.0F) : value; }

int level_for(double pixels) {
    int level = 0;
    while (level < k_most_levels && pixels * (1 << level) < 1 - 1e-6) ++level;
    return level;
}

/// A half-open range of rows or columns.
struct Span {
    int first;
    int end;
};
Span block(int index, int level, int size) {
    const std::int64_t first = static_cast<std::int64_t>(index) << level;
    const std::int64_t end = std::min<std::int64_t>(first + (std::int64_t{1} << level), size);
    return {static_cast<int>(first), static_cast<int>(end)};
}

float pool(const ConstMatrixView& values, const ConstMatrixView* open, Span rows, Span columns) {
    float strongest = -k_infinity;
    bool any = false;
    for (int row = rows.first; row < rows.end; ++row) {
        for (int column = columns.first; column < columns.end; ++column) {
            if (open && (*open)(row, column) == 0) continue;
            const float value = unlike_closed(values(row, column));
            strongest = any ? stronger(strongest, value) : value;
            any = true;
        }
    }
    return any ? strongest : k_closed_cell;
}

HeatmapTiles::Needs needs_of(const std::vector<float>& cells) {
    const auto finite = [](float cell) { return std::isfinite(cell); };
    if (!std::all_of(cells.begin(), cells.end(), finite)) return HeatmapTiles::Needs::marks;
    const bool closed = std::find(cells.begin(), cells.end(), k_closed_cell) != cells.end();
    return closed ? HeatmapTiles::Needs::hatch : HeatmapTiles::Needs::colors;
}

}  // namespace

HeatmapSource HeatmapSource::of(ConstMatrixView values, std::uint64_t key) {
    HeatmapSource source;
    source.rows = static_cast<int>(values.rows());
    source.columns = static_cast<int>(values.cols());
    source.values = [values](int) { return values; };
    source.key = key;
    return source;
}

Pooling pooling_for(double width, double height) {
    return {.rows = level_for(height), .columns = level_for(width)};
}

int pooled_size(int size, int level) {
    return static_cast<int>((static_cast<std::int64_t>(size) + (std::int64_t{1} << level) - 1) >> level);
}

std::vector<float> pooled_cells(const HeatmapSource& source, Pooling pooling, TileRange range) {
    if (source.transposed) {
        std::swap(pooling.rows, pooling.columns);
        std::swap(range.row, range.column);
        std::swap(range.rows, range.columns);
    }
    const int level = std::clamp(std::min(pooling.rows, pooling.columns), 0, source.levels - 1);
    const ConstMatrixView values = source.values(level);
    const ConstMatrixView open = source.open ? source.open(level) : values;
    const ConstMatrixView* mask = source.open ? &open : nullptr;
    std::vector<Span> blocks;
    for (int c = 0; c < range.columns; ++c) {
        blocks.push_back(block(range.column + c, pooling.columns - level, static_cast<int>(values.cols())));
    }
    std::vector<float> cells(static_cast<std::size_t>(range.rows) * static_cast<std::size_t>(range.columns));
    for (int r = 0; r < range.rows; ++r) {
        const Span rows = block(range.row + r, pooling.rows - level, static_cast<int>(values.rows()));
        for (int c = 0; c < range.columns; ++c) {
            const int at = source.transposed ? c * range.rows + r : r * range.columns + c;
            cells[static_cast<std::size_t>(at)] =
                pool(values, mask, rows, blocks[static_cast<std::size_t>(c)]);
        }
    }
    return cells;
}

TileRange tile_range(const HeatmapSource& source, Pooling pooling, int tile_row, int tile_column) {
    const int rows = pooled_size(source.drawn_rows(), pooling.rows);
    const int columns = pooled_size(source.drawn_columns(), pooling.columns);
    const int row = tile_row * HeatmapTiles::k_size;
    const int column = tile_column * HeatmapTiles::k_size;
    return {.row = row,
            .column = column,
            .rows = std::min(HeatmapTiles::k_size, rows - row),
            .columns = std::min(HeatmapTiles::k_size, columns - column)};
}

bool HeatmapTiles::Before::operator()(const Key& a, const Key& b) const {
    if (a.owner.owner_before(b.owner)) return true;
    if (b.owner.owner_before(a.owner)) return false;
    const auto rest = [](const Key& key) {
        return std::tuple(key.content, key.pooling.rows, key.pooling.columns, key.transposed, key.tile_row,
                          key.tile_column);
    };
    return rest(a) < rest(b);
}

void HeatmapTiles::begin_frame() {
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

const HeatmapTiles::Tile& HeatmapTiles::tile(const HeatmapSource& source, Pooling pooling, int tile_row,
                                             int tile_column) {
    Key key{.content = source.key,
            .owner = source.owner,
            .pooling = pooling,
            .transposed = source.transposed,
            .tile_row = tile_row,
            .tile_column = tile_column};
    auto found = tiles_.find(key);
    if (found == tiles_.end()) {
        const TileRange range = tile_range(source, pooling, tile_row, tile_column);
        const std::vector<float> cells = pooled_cells(source, pooling, range);
        gl::Texture2D texture(gl::Texture2D::Format::r32f, range.columns, range.rows);
        texture.upload(std::span<const float>(cells));
        bytes_ += texture.bytes();
        ++uploads_;
        Tile tile{.texture = std::move(texture), .needs = needs_of(cells), .last_frame = frame_};
        found = tiles_.emplace(std::move(key), std::move(tile)).first;
    }
    found->second.last_frame = frame_;
    return found->second;
}

}  // namespace attnscope
