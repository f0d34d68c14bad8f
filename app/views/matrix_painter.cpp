#include "app/views/matrix_painter.h"

#include <algorithm>
#include <functional>

#include "core/attention/stages.h"
#include "core/picture/colormap.h"
#include "core/picture/number_text.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {
namespace {

/// The mask under which a stage is drawn, but the mask itself; empty for the others.
std::string_view drawn_with_mask(const Stage& stage) {
    const std::string_view mask = mask_of(*stage.info);
    return mask == stage.name() ? "" : mask;
}

/// A mask may be one for all heads.
int mask_head(const Stage& mask, int head) { return std::clamp(head, 0, mask.shape().heads - 1); }

StagePtr stage_pointer(const Trace& trace, std::string_view name) {
    for (const StageRecord& record : trace.records)
        if (record.stage->name() == name) return record.stage;
    return nullptr;
}

const Buffer& buffer_of(const ShownStage& shown) {
    return shown.head_index() < 0 ? shown.stage->buffer.mean() : shown.stage->buffer;
}

int head_in_buffer(const ShownStage& shown) { return std::max(shown.head_index(), 0); }

HeatmapSource source_of(const ShownStage& shown, bool transposed) {
    const Buffer& buffer = buffer_of(shown);
    const int head = head_in_buffer(shown);
    HeatmapSource source;
    source.rows = shown.rows();
    source.columns = shown.columns();
    source.values = [&buffer, head](int level) { return buffer.pooled(head, level); };
    source.levels = buffer.levels() + 1;  // with the matrix itself
    source.card_values = {buffer.device(), head};
    if (source.card_values.values) source.card_range = buffer.range(head);
    source.transposed = transposed;
    source.key = static_cast<std::uint64_t>(shown.head_index() + 2);
    source.owner = shown.stage;
    const StagePtr mask = stage_pointer(*shown.trace, drawn_with_mask(*shown.stage));
    // The mean over heads that mask differently has no mask of its own.
    const bool one_mask = mask && (mask->shape().heads == 1 || shown.head_index() >= 0);
    if (one_mask && mask->buffer.range().min == 0) {
        const Buffer* open = &mask->buffer;
        const int masked_head = mask_head(*mask, head);
        source.open = [open, masked_head](int level) { return open->pooled(masked_head, level); };
        source.card_open = {open->device(), masked_head};
        source.mask_owner = mask;
    }
    return source;
}

int table_index(const Colormap& map) { return static_cast<int>(&map - colormaps().data()); }

}  // namespace

float ShownStage::at(int row, int column) const {
    return buffer_of(*this).at(head_in_buffer(*this), row, column);
}

bool ShownStage::closed(int row, int column) const {
    const Stage* mask = trace->find(drawn_with_mask(*stage));
    if (mask && head_index() < 0 && mask->shape().heads > 1) return false;  // the mean has no mask of its own
    return mask && mask->buffer.at(mask_head(*mask, head_in_buffer(*this)), row, column) == 0;
}

std::optional<ShownStage> shown_stage(const Trace& trace, std::string_view name,
                                      const Presentation& presentation) {
    using Kind = HeadChoice::Kind;
    StagePtr stage = stage_pointer(trace, name);
    if (!stage) return std::nullopt;
    HeadChoice head;
    const int heads = stage->shape().heads;
    if (heads > 1) {
        if (presentation.head.kind == Kind::one)
            head.head = std::min(presentation.head.head, heads - 1);
        else if (has_mean(*stage))
            head.kind = Kind::mean;
    }
    return ShownStage{&trace, std::move(stage), head};
}

ColorScale scale_of(const ShownStage& shown, const Presentation& presentation) {
    return color_scale(*shown.trace, *shown.stage, shown.head, presentation);
}

void paint_matrix(Ui& ui, ImDrawList& list, const ShownStage& shown, const Area& area, bool transposed) {
    const ColorScale scale = scale_of(shown, ui.document.presentation());
    HeatmapLook look;
    look.style =
        shown.stage->info->unit == Unit::boolean ? HeatmapLook::Style::dots : HeatmapLook::Style::colors;
    look.table = table_index(*scale.map);
    look.min = scale.min;
    look.max = scale.max;
    look.scale = ui.scale;
    ui.heatmaps.draw(list, source_of(shown, transposed), area.min, area.max, look);
}

void paint_scale(Ui& ui, const ColorScale& scale, const Area& bar) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    ui.heatmaps.draw_table(*list, table_index(*scale.map), bar.min, bar.max);
    constexpr int k_ticks = 5;
    for (int tick = 0; tick < k_ticks; ++tick) {
        const double t = tick / double(k_ticks - 1);
        const float y = bar.max.y - static_cast<float>(t) * bar.height();
        draw_text(list, ui.fonts.mono_small,
                  {bar.max.x + ui.px(8), y - compat::font_size(*ui.fonts.mono_small) / 2},
                  ink(ui.theme.secondary), short_text(scale.min + t * (scale.max - scale.min)));
    }
}

void outline_row(Ui& ui, ImDrawList& list, const Area& area, int row, int rows, float alpha) {
    if (row < 0 || row >= rows) return;
    const float pitch = area.height() / static_cast<float>(rows);
    const float top = area.min.y + static_cast<float>(row) * pitch;
    list.AddRect({area.min.x - 1, top - 1}, {area.max.x + 1, std::max(top + pitch, top + 2) + 1},
                 ink(ui.theme.accent, alpha), 2, 0, ui.px(1.2f));
}

void outline_column(Ui& ui, ImDrawList& list, const Area& area, int column, int columns, float alpha) {
    if (column < 0 || column >= columns) return;
    const float pitch = area.width() / static_cast<float>(columns);
    const float left = area.min.x + static_cast<float>(column) * pitch;
    list.AddRect({left - 1, area.min.y - 1}, {std::max(left + pitch, left + 2) + 1, area.max.y + 1},
                 ink(ui.theme.accent, alpha), 2, 0, ui.px(1.2f));
}

}  // namespace attnscope
