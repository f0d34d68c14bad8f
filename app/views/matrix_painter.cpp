#include "app/views/matrix_painter.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include "core/graph/trace.h"
#include "core/number_text.h"
#include "core/picture/colormap.h"

namespace attnscope {
namespace {

/// The mask that a stage is drawn with; nullptr for the mask itself and for stages without one.
StagePtr drawn_with_mask(const Trace& trace, const Stage& stage) {
    const StageInfo* mask = mask_of(*stage.info);
    const StageRecord* record = mask == stage.info ? nullptr : trace.record(mask);
    return record ? record->stage : nullptr;
}

/// The mask for a head, or for the mean (−1): if masks differ between heads, their mean is 0 exactly where
/// all heads are closed. nullopt for a mean that is not known yet.
std::optional<ShownMatrix> mask_matrix(const Stage& mask, int head) {
    const int heads = mask.shape().heads;
    if (head >= 0) return ShownMatrix{&mask.buffer, std::min(head, heads - 1), false};
    const Buffer* mean = mask.buffer.known_mean();
    return mean ? std::optional(ShownMatrix{mean, 0, heads > 1}) : std::nullopt;
}

/// The pooled levels of a matrix as far as they are known. Those of values on a card are requested only if
/// the card cannot make a tile itself.
HeatmapSource::Levels levels_of(const std::optional<ShownMatrix>& matrix) {
    return [matrix](int level) -> std::optional<ConstMatrixView> {
        if (!matrix) return std::nullopt;
        const auto& [buffer, head, is_mean] = *matrix;
        return buffer->is_on_device() ? buffer->pooled(head, level) : buffer->known_pooled(head, level);
    };
}

HeatmapSource::OnCard on_card(const std::optional<ShownMatrix>& matrix) {
    return matrix ? HeatmapSource::OnCard{matrix->buffer->device(), matrix->head} : HeatmapSource::OnCard{};
}

/// What a heatmap draws for the pooled values of blocks, −∞ where no pair is open.
std::vector<float> cells_of_blocks(const Matrix& values) {
    std::vector<float> cells(values.data(), values.data() + values.size());
    std::ranges::replace(cells, -std::numeric_limits<float>::infinity(), k_closed_cell);
    return cells;
}

/// Parts of a stage on demand, as far as they are computed. Rows and columns are pooled alike; where one side
/// is pooled further, its blocks are joined, or, for means, the other side is pooled as far.
class MadeTiles {
public:
    MadeTiles(TileMaker& maker, const ShownStage& shown, Pool pool)
        : maker_(maker), stage_(shown.stage), head_(shown.head_index()), pool_(pool) {}

    std::optional<std::vector<float>> operator()(Pooling pooling, Region range) const {
        const Buffer* buffer = head_ < 0 ? stage_->buffer.known_mean() : &stage_->buffer;
        if (!buffer) return std::nullopt;
        return pool_ == Pool::mean ? means(*buffer, pooling, range) : strongest(*buffer, pooling, range);
    }

private:
    std::optional<std::vector<float>> strongest(const Buffer& buffer, Pooling pooling, Region range) const {
        const int level = std::min(pooling.rows, pooling.columns);
        const int down = pooling.rows - level, across = pooling.columns - level;
        const Shape& shape = stage_->shape();
        const Region region = finer({range.row, range.column, range.rows, range.columns}, down, across,
                                    pooled_size(shape.rows, level), pooled_size(shape.columns, level));
        const auto made = tile(buffer, level, region);
        if (!made) return std::nullopt;
        if (down == 0 && across == 0) return cells_of_blocks(*made);
        Matrix joined = Matrix::Constant(range.rows, range.columns, -std::numeric_limits<float>::infinity());
        for (Eigen::Index i = 0; i < made->rows(); ++i)
            for (Eigen::Index j = 0; j < made->cols(); ++j) {
                float& cell = joined(i >> down, j >> across);
                cell = dominant(cell, (*made)(i, j));
            }
        return cells_of_blocks(joined);
    }

    std::optional<std::vector<float>> means(const Buffer& buffer, Pooling pooling, Region range) const {
        const int level = std::max(pooling.rows, pooling.columns);
        const int down = level - pooling.rows, across = level - pooling.columns;
        const Region region{range.row >> down, range.column >> across,
                            ((range.end_row() - 1) >> down) - (range.row >> down) + 1,
                            ((range.end_column() - 1) >> across) - (range.column >> across) + 1};
        const auto made = tile(buffer, level, region);
        if (!made) return std::nullopt;
        Matrix cells(range.rows, range.columns);
        for (int i = 0; i < range.rows; ++i)
            for (int j = 0; j < range.columns; ++j)
                cells(i, j) = (*made)(((range.row + i) >> down) - region.row,
                                      ((range.column + j) >> across) - region.column);
        return cells_of_blocks(cells);
    }

    /// nullptr until it is computed, or if that would take too long.
    std::shared_ptr<const Matrix> tile(const Buffer& buffer, int level, const Region& region) const {
        const OnDemandValues& values = *buffer.on_demand();
        // A survey knows, or rules tell of a mask, what a block holds, without its pairs.
        const bool is_known = stage_->info->role == StageRole::mask ||
                              (level >= values.first_kept_level() && values.is_surveyed(std::max(head_, 0)));
        const bool is_between = is_of_pairs(*stage_->info) && level < values.first_kept_level();
        const double most = is_between ? k_most_pairs_between : k_most_pairs_of_tile;
        if (!is_known && pairs_of(region, level) > most) return nullptr;
        return maker_.find({stage_, head_, TileRequest::What::tile, level, region, pool_});
    }

    double pairs_of(const Region& region, int level) const {
        const double rows = std::ldexp(region.rows, level), columns = std::ldexp(region.columns, level);
        return rows * (is_of_pairs(*stage_->info) ? columns : static_cast<double>(stage_->shape().rows));
    }
    static Region finer(const Region& of, int down, int across, int rows, int columns) {
        const Region all{of.row << down, of.column << across, of.rows << down, of.columns << across};
        return {all.row, all.column, std::min(all.rows, rows - all.row),
                std::min(all.columns, columns - all.column)};
    }

    TileMaker& maker_;
    StagePtr stage_;
    int head_;
    Pool pool_;
};

HeatmapSource source_of(Desk& desk, const ShownStage& shown, bool transposed) {
    const std::optional<ShownMatrix> matrix = shown.matrix();
    HeatmapSource source;
    source.rows = shown.rows();
    source.columns = shown.columns();
    source.values = levels_of(matrix);
    source.levels = shown.stage->buffer.levels() + 1;  // including the matrix itself
    source.card_values = on_card(matrix);
    if (matrix) source.card_range = matrix->range();
    source.transposed = transposed;
    source.key = static_cast<std::uint64_t>(std::int64_t{shown.head_index()} + 2);
    source.owner = shown.stage;
    if (shown.stage->buffer.on_demand()) {
        const Pool pool = pooling_of(*shown.stage->info, desk.document.presentation());
        source.key = 2 * source.key + (pool == Pool::mean ? 1 : 0);
        source.card_values = {};
        if (transposed)
            source.made = [](Pooling, Region) { return std::nullopt; };
        else
            source.made = MadeTiles(desk.document.tiles(), shown, pool);
        return source;
    }
    const StagePtr mask = drawn_with_mask(*shown.trace, *shown.stage);
    if (mask && mask->buffer.range().min == 0) {
        const std::optional<ShownMatrix> open = mask_matrix(*mask, shown.head_index());
        source.open = levels_of(open);
        source.card_open = on_card(open);
        source.mask_owner = mask;
    }
    return source;
}

int table_index(const Colormap& map) { return static_cast<int>(&map - colormaps().data()); }

HeatmapLook look_on(const Desk& desk, const Ui& ui, const ColorScale& scale) {
    HeatmapLook look;
    look.style = HeatmapLook::Style::colors;
    look.table = table_index(*scale.map);
    look.min = scale.min;
    look.max = scale.max;
    look.spacing = scale.spacing;
    look.scale = ui.scale;
    look.opacity = is_behind(desk) ? k_behind : 1;
    return look;
}

}  // namespace

std::optional<ShownMatrix> ShownStage::matrix() const {
    const std::optional<ShownMatrix> known = known_matrix(*stage, head);
    return known && known->buffer->known_range(known->head) ? known : std::nullopt;
}

float ShownStage::at(int row, int column) const {
    return head_index() < 0 ? stage->buffer.mean_at(row, column) : stage->buffer.at(head.head, row, column);
}

Eigen::RowVectorXf ShownStage::row(int row) const {
    return head_index() < 0 ? stage->buffer.mean_row(row) : stage->buffer.row(head.head, row);
}

Eigen::VectorXf ShownStage::column(int column) const {
    return head_index() < 0 ? stage->buffer.mean_column(column) : stage->buffer.column(head.head, column);
}

bool ShownStage::closed(int row, int column) const {
    const StagePtr mask = drawn_with_mask(*trace, *stage);
    if (!mask) return false;
    const int heads = mask->shape().heads;
    const int first = head_index() < 0 ? 0 : std::min(head_index(), heads - 1);
    const int end = head_index() < 0 ? heads : first + 1;
    for (int h = first; h < end; ++h)
        if (mask->buffer.at(h, row, column) != 0) return false;
    return true;
}

std::optional<ShownStage> shown_stage(const Trace& trace, StageKey key, const Presentation& presentation) {
    const StagePtr stage = trace.stage(key);
    if (!stage) return std::nullopt;
    const HeadChoice head = head_on_screen(*stage, presentation.head);
    if (!why_not_shown(*stage, head).empty()) return std::nullopt;
    return ShownStage{&trace, stage, head};
}

ColorScale scale_of(const ShownStage& shown, const Presentation& presentation) {
    if (const auto known = known_color_scale(*shown.trace, *shown.stage, shown.head, presentation))
        return *known;
    Presentation with_all = presentation;
    with_all.range = {RangeChoice::Kind::all};
    if (shown.stage->buffer.is_waiting()) with_all.range = {RangeChoice::Kind::fixed, 0, 1};
    return color_scale(*shown.trace, *shown.stage, shown.head, with_all);
}

bool is_behind(const Desk& desk) { return desk.document.stale() && !desk.document.busy(); }

void paint_matrix(Desk& desk, const Ui& ui, ImDrawList& list, const ShownStage& shown, const Extent& whole,
                  bool transposed) {
    const ColorScale scale = screen_scale(desk.document, *shown.trace, shown.stage, shown.head);
    paint_matrix(desk, ui, list, shown, whole, scale, transposed);
}

namespace {

/// Draws what is known of the whole of a stage on demand, coarsely: finer parts are drawn over it.
void paint_below(Desk& desk, const Ui& ui, ImDrawList& list, const ShownStage& shown, Pool pool,
                 const Extent& whole, const HeatmapLook& look) {
    constexpr int k_most_blocks = 1024;
    const Shape& shape = shown.stage->shape();
    const Buffer* buffer = shown.head_index() < 0 ? shown.stage->buffer.known_mean() : &shown.stage->buffer;
    const bool surveyed = buffer && buffer->on_demand()->is_surveyed(std::max(shown.head_index(), 0));
    int level = 0, rows = shape.rows, columns = shape.columns;
    if (surveyed) {
        level = buffer->on_demand()->first_kept_level();
        while (std::max(pooled_size(shape.rows, level), pooled_size(shape.columns, level)) > k_most_blocks)
            ++level;
        rows = pooled_size(shape.rows, level);
        columns = pooled_size(shape.columns, level);
    }
    const auto values = surveyed ? desk.document.tiles().find({shown.stage,
                                                               shown.head_index(),
                                                               TileRequest::What::tile,
                                                               level,
                                                               {0, 0, rows, columns},
                                                               pool})
                                 : known_preview(desk.document, shown.stage, shown.head_index());
    if (!values) return;
    HeatmapSource source;
    source.rows = static_cast<int>(values->rows());
    source.columns = static_cast<int>(values->cols());
    source.made = [values](Pooling pooling, Region range) {
        HeatmapSource all = HeatmapSource::of({values->data(), values->rows(), values->cols()}, 0);
        std::optional<std::vector<float>> cells = pooled_cells(all, pooling, range);
        if (cells) std::ranges::replace(*cells, -std::numeric_limits<float>::infinity(), k_closed_cell);
        return cells;
    };
    source.owner = values;
    // The last blocks may reach beyond the matrix.
    const auto grown = [&](double begin, double end, int size, int blocks) {
        return surveyed ? begin + (end - begin) * std::ldexp(blocks, level) / size : end;
    };
    list.PushClipRect({static_cast<float>(whole.left), static_cast<float>(whole.top)},
                      {static_cast<float>(whole.right), static_cast<float>(whole.bottom)}, true);
    ui.heatmaps.draw(list, source,
                     {whole.left, whole.top, grown(whole.left, whole.right, shape.columns, columns),
                      grown(whole.top, whole.bottom, shape.rows, rows)},
                     look);
    list.PopClipRect();
}

}  // namespace

void paint_matrix(Desk& desk, const Ui& ui, ImDrawList& list, const ShownStage& shown, const Extent& whole,
                  const ColorScale& scale, bool transposed) {
    HeatmapLook look = look_on(desk, ui, scale);
    if (shown.stage->info->unit == Unit::boolean) look.style = HeatmapLook::Style::dots;
    HeatmapSource source = source_of(desk, shown, transposed);
    if (source.made && !transposed) {
        paint_below(desk, ui, list, shown, pooling_of(*shown.stage->info, desk.document.presentation()),
                    whole, look);
        source.is_over_another = true;
    }
    ui.heatmaps.draw(list, source, whole, look);
}

void paint_difference(Desk& desk, const Ui& ui, ImDrawList& list,
                      const std::shared_ptr<const Difference>& difference, const Extent& whole,
                      const ColorScale& scale) {
    const Buffer& values = *difference->values;
    HeatmapSource source;
    source.rows = values.shape().rows;
    source.columns = values.shape().columns;
    source.values = levels_of(ShownMatrix{&values, 0, false});
    source.levels = values.levels() + 1;
    source.owner = difference;
    if (difference->open->range().min == 0) {
        source.open = levels_of(ShownMatrix{difference->open.get(), 0, false});
        source.mask_owner = difference;
    }
    ui.heatmaps.draw(list, source, whole, look_on(desk, ui, scale));
}

void paint_scale(const Ui& ui, const ColorScale& scale, const Area& bar) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    ui.heatmaps.draw_table(*list, table_index(*scale.map), bar.min, bar.max);
    constexpr int k_ticks = 5;
    for (int tick = 0; tick < k_ticks; ++tick) {
        const double t = tick / double(k_ticks - 1);
        const float y = bar.max.y - static_cast<float>(t) * bar.height();
        draw_text(list, ui.fonts.mono_small,
                  {bar.max.x + ui.px(8), y - compat::font_size(*ui.fonts.mono_small) / 2},
                  ink(ui.theme.secondary), short_text(scale.value_at(t)));
    }
}

void outline_row(const Ui& ui, ImDrawList& list, const Area& area, int row, int rows, float alpha) {
    if (row < 0 || row >= rows) return;
    const float pitch = area.height() / static_cast<float>(rows);
    const float top = area.min.y + static_cast<float>(row) * pitch;
    list.AddRect({area.min.x - 1, top - 1}, {area.max.x + 1, std::max(top + pitch, top + 2) + 1},
                 ink(ui.theme.accent, alpha), 2, 0, ui.px(1.2f));
}

void outline_column(const Ui& ui, ImDrawList& list, const Area& area, int column, int columns, float alpha) {
    if (column < 0 || column >= columns) return;
    const float pitch = area.width() / static_cast<float>(columns);
    const float left = area.min.x + static_cast<float>(column) * pitch;
    list.AddRect({left - 1, area.min.y - 1}, {std::max(left + pitch, left + 2) + 1, area.max.y + 1},
                 ink(ui.theme.accent, alpha), 2, 0, ui.px(1.2f));
}

void outline_cell(const Ui& ui, ImDrawList& list, const Area& cell) {
    // A cell may have the color of the text: the line lies on a wider one of the background's.
    for (const auto& [color, width] : {std::pair(ui.theme.background, 3.8f), std::pair(ui.theme.text, 1.8f)})
        list.AddRect({cell.min.x - 1, cell.min.y - 1}, {cell.max.x + 1, cell.max.y + 1}, ink(color), 2, 0,
                     ui.px(width));
}

}  // namespace attnscope
