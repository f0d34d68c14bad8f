#include "core/graph/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/graph/stage_table.h"
#include "core/image/patches.h"

namespace attnscope {

using enum Axis;

std::span<const StageInfo> stage_table() { return stage_table_rows::k_stages; }

const StageInfo* find_stage_info(std::string_view name) { return find_in_table(split_layer(name).name); }

bool is_parameter(const StageInfo& info) { return &info >= k_first_parameter; }

bool is_of_seq2seq(const StageInfo& info) {
    return &info >= (is_parameter(info) ? k_first_parameter_of_seq2seq : k_first_of_seq2seq);
}

std::string stage_heading(const StageInfo& info) {
    std::string heading(info.name);
    if (!is_parameter(info)) std::ranges::replace(heading, '_', ' ');
    return heading;
}

std::string stage_heading(const StageKey& key) {
    return stage_heading(*key.stage) + (key.layer > 0 ? fmt::format(" · layer {}", key.layer) : "");
}

bool may_name(std::string_view name, const Stage& stage) {
    const LayerName parts = split_layer(name);
    return stage.info->name == parts.name &&
           (parts.layer == 0 || stage.layer == 0 || stage.layer == parts.layer);
}

const StageInfo* mask_of(const StageInfo& info) { return find_in_table(info.mask); }

const StageRecord* Trace::record(StageKey key) const {
    const auto found = std::ranges::find(records, key, [](const StageRecord& r) { return r.stage->key(); });
    return found == records.end() ? nullptr : &*found;
}

const Stage* Trace::find(StageKey key) const {
    const StageRecord* found = record(key);
    return found ? found->stage.get() : nullptr;
}

const Stage* Trace::find(StageRole role, int layer) const {
    for (const StageRecord& record : records)
        if (record.stage->info->role == role && (layer == 0 || record.stage->layer == layer))
            return record.stage.get();
    return nullptr;
}

const Stage* Trace::find_named(std::string_view name) const {
    for (const StageRecord& record : records)
        if (may_name(name, *record.stage)) return record.stage.get();
    return nullptr;
}

std::vector<StagePtr> Trace::stages() const {
    std::vector<StagePtr> found;
    for (const StageRecord& record : records)
        if (!is_parameter(*record.stage->info)) found.push_back(record.stage);
    return found;
}

std::vector<StagePtr> Trace::parameters() const {
    std::vector<StagePtr> found;
    for (const StageRecord& record : records)
        if (is_parameter(*record.stage->info)) found.push_back(record.stage);
    return found;
}

std::string Trace::label(Axis axis, int index) const {
    if (axis == key_hidden && experiment.weighting.hidden > 1)
        return fmt::format("{}·{}", label(key_token, index / experiment.weighting.hidden),
                           index % experiment.weighting.hidden + 1);
    const std::vector<std::string>* labels = axis == query_token                       ? &rows
                                             : axis == key_token || axis == key_hidden ? &columns
                                             : axis == table_row                       ? &table
                                             : axis == target_row                      ? &target_table
                                                                                       : nullptr;
    if (axis == single) return "";
    if (axis == pixel) return pixel_label(index, experiment.input.patch_size);
    const auto i = static_cast<std::size_t>(index);
    return labels && i < labels->size() ? (*labels)[i] : std::to_string(index + 1);
}

bool Trace::fully_masked(int row) const {
    const Stage* masked = find(StageRole::masked_scores);
    if (!masked || row < 0 || row >= masked->shape().rows) return false;
    for (int h = 0; h < masked->shape().heads; ++h)
        if (masked->buffer.row_largest(h)[static_cast<std::size_t>(row)] != -INFINITY) return false;
    return true;
}

bool Trace::fully_masked_column(int column) const {
    const Stage* masked = experiment.over_queries() ? find(StageRole::masked_scores) : nullptr;
    if (!masked || column < 0 || column >= masked->shape().columns) return false;
    for (int h = 0; h < masked->shape().heads; ++h)
        if (masked->buffer.column_largest(h)[static_cast<std::size_t>(column)] != -INFINITY) return false;
    return true;
}

}  // namespace attnscope
