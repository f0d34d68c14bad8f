#include "app/heatmap/heatmap_source.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace attnscope {

namespace {

constexpr float k_infinity = std::numeric_limits<float>::infinity();
constexpr int k_most_levels = 30;

/// Replaces a number that equals the mark of a closed cell by the adjacent one.
float unlike_closed(float value) {
    constexpr float adjacent = -0x1.fffffcp127F;
    return value == k_closed_cell ? adjacent : value;
}

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

float pool(const ConstMatrixView& values, const ConstMatrixView& open, Span rows, Span columns) {
    float strongest = -k_infinity;
    bool any = false;
    for (int row = rows.first; row < rows.end; ++row) {
        for (int column = columns.first; column < columns.end; ++column) {
            if (open(row, column) == 0) continue;
            const float value = unlike_closed(values(row, column));
            strongest = any ? dominant(strongest, value) : value;
            any = true;
        }
    }
    return any ? strongest : k_closed_cell;
}

/// What pool() gives for the cells of a range if every block is a cell.
std::vector<float> single_cells(const ConstMatrixView& values, const ConstMatrixView* open, Region range) {
    std::vector<float> cells(static_cast<std::size_t>(range.rows) * static_cast<std::size_t>(range.columns));
    float* row = cells.data();
    for (int r = 0; r < range.rows; ++r, row += range.columns) {
        const float* value = values.row(range.row + r).data() + range.column;
        std::transform(value, value + range.columns, row, unlike_closed);
        if (!open) continue;
        const float* is_open = open->row(range.row + r).data() + range.column;
        for (int c = 0; c < range.columns; ++c) row[c] = is_open[c] == 0 ? k_closed_cell : row[c];
    }
    return cells;
}

/// What pool() gives, block by block.
std::vector<float> blocks_under_mask(const ConstMatrixView& values, const ConstMatrixView& open,
                                     Pooling within, Region range) {
    std::vector<Span> blocks;
    for (int c = 0; c < range.columns; ++c)
        blocks.push_back(block(range.column + c, within.columns, static_cast<int>(values.cols())));
    std::vector<float> cells;
    cells.reserve(range.size());
    for (int r = 0; r < range.rows; ++r) {
        const Span rows = block(range.row + r, within.rows, static_cast<int>(values.rows()));
        for (const Span& columns : blocks) cells.push_back(pool(values, open, rows, columns));
    }
    return cells;
}

/// What pool() gives without a mask, row by row: of a matrix of few columns a cell may stand for many rows.
std::vector<float> blocks_of_rows(const ConstMatrixView& values, Pooling within, Region range) {
    std::vector<float> cells;
    cells.reserve(range.size());
    for (int r = 0; r < range.rows; ++r) {
        const Span rows = block(range.row + r, within.rows, static_cast<int>(values.rows()));
        const std::vector<float> strongest =
            dominant_of_columns({values.row(rows.first).data(), rows.end - rows.first, values.cols()});
        for (int c = 0; c < range.columns; ++c) {
            const Span of = block(range.column + c, within.columns, static_cast<int>(values.cols()));
            float cell = strongest[static_cast<std::size_t>(of.first)];
            for (int column = of.first + 1; column < of.end; ++column)
                cell = dominant(cell, strongest[static_cast<std::size_t>(column)]);
            cells.push_back(unlike_closed(cell));
        }
    }
    return cells;
}

std::vector<float> transposed(const std::vector<float>& cells, const Region& range) {
    std::vector<float> result;
    result.reserve(cells.size());
    for (int c = 0; c < range.columns; ++c)
        for (int r = 0; r < range.rows; ++r)
            result.push_back(cells[static_cast<std::size_t>(r) * static_cast<std::size_t>(range.columns) +
                                   static_cast<std::size_t>(c)]);
    return result;
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

std::optional<std::vector<float>> pooled_cells(const HeatmapSource& source, Pooling pooling, Region range) {
    if (source.made) return source.made(pooling, range);
    if (source.transposed) {
        std::swap(pooling.rows, pooling.columns);
        std::swap(range.row, range.column);
        std::swap(range.rows, range.columns);
    }
    const int level = std::clamp(std::min(pooling.rows, pooling.columns), 0, source.levels - 1);
    const std::optional<ConstMatrixView> known = source.values(level);
    const std::optional<ConstMatrixView> open = source.open ? source.open(level) : known;
    if (!known || !open) return std::nullopt;
    const ConstMatrixView& values = *known;
    const ConstMatrixView* mask = source.open ? &*open : nullptr;
    const Pooling within{pooling.rows - level, pooling.columns - level};
    std::vector<float> cells = within == Pooling{} ? single_cells(values, mask, range)
                               : mask              ? blocks_under_mask(values, *mask, within, range)
                                                   : blocks_of_rows(values, within, range);
    return source.transposed ? transposed(cells, range) : std::move(cells);
}

Region tile_range(const HeatmapSource& source, Pooling pooling, int tile_row, int tile_column) {
    const int rows = pooled_size(source.drawn_rows(), pooling.rows);
    const int columns = pooled_size(source.drawn_columns(), pooling.columns);
    const int row = tile_row * k_tile_size;
    const int column = tile_column * k_tile_size;
    return {.row = row,
            .column = column,
            .rows = std::min(k_tile_size, rows - row),
            .columns = std::min(k_tile_size, columns - column)};
}

}  // namespace attnscope
