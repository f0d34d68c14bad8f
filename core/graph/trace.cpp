#include "core/graph/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "core/graph/stage_table.h"
#include "core/image/patches.h"
#include "core/op/op.h"

namespace attnscope {

using enum Axis;
using enum Unit;

std::span<const StageInfo> stage_table() { return stage_table_rows::k_stages; }

namespace {

const StageInfo& value_of(const StageInfo& info) { return info.value ? *info.value : info; }

std::string gradient_symbol(std::string_view symbol) {
    const bool is_sum = symbol.find('+') != std::string_view::npos;
    return fmt::format("{}{}{}{}", k_gradient_symbol, is_sum ? "(" : "", symbol, is_sum ? ")" : "");
}

/// The gradients of all stages, in the order of the table, and their names.
struct GradientTable {
    std::vector<StageInfo> stages;
    std::deque<std::string> texts;

    GradientTable() {
        for (const StageInfo& value : stage_table_rows::k_stages) {
            StageInfo gradient = value;
            gradient.name = texts.emplace_back(fmt::format("{}{}", k_gradient_prefix, value.name));
            gradient.symbol =
                texts.emplace_back(gradient_symbol(value.symbol.empty() ? value.name : value.symbol));
            gradient.caption = gradient.symbol;
            gradient.unit = real;
            gradient.role = StageRole::other;
            gradient.value = &value;
            stages.push_back(gradient);
        }
    }
};

}  // namespace

const StageInfo& gradient_info(const StageInfo& value) {
    static const GradientTable table;
    return table.stages[static_cast<std::size_t>(&value - stage_table_rows::k_stages.data())];
}

bool may_have_gradient(const StageInfo& info) { return info.unit == real || info.unit == probability; }

const StageInfo* find_stage_info(std::string_view name) {
    const std::string_view own = split_layer(name).name;
    if (!own.starts_with(k_gradient_prefix)) return find_in_table(own);
    const StageInfo* value = find_in_table(own.substr(k_gradient_prefix.size()));
    return value && may_have_gradient(*value) ? &gradient_info(*value) : nullptr;
}

bool is_parameter(const StageInfo& info) { return &value_of(info) >= k_first_parameter; }

std::string stage_heading(const StageInfo& info) {
    if (info.value) return std::string(k_gradient_symbol) + stage_heading(*info.value);
    std::string heading(info.name);
    if (!is_parameter(info)) std::ranges::replace(heading, '_', ' ');
    return heading;
}

const StageInfo& info_of(const StageKey& key) {
    return key.part == StageKey::Part::value ? *key.stage : gradient_info(*key.stage);
}

std::string stage_name(const StageKey& key) { return name_in_layer(key.layer, info_of(key).name); }

std::optional<StageKey> find_stage_key(std::string_view name) {
    const StageInfo* info = find_stage_info(name);
    if (!info) return std::nullopt;
    const auto part = info->value ? StageKey::Part::gradient : StageKey::Part::value;
    return StageKey{&value_of(*info), split_layer(name).layer, part};
}

std::string stage_heading(const StageKey& key) {
    return stage_heading(info_of(key)) + (key.layer > 0 ? fmt::format(" · layer {}", key.layer) : "");
}

bool may_mean(const StageKey& chosen, const Stage& stage) {
    return stage.info == &info_of(chosen) &&
           (chosen.layer == 0 || stage.layer == 0 || stage.layer == chosen.layer);
}

const StageInfo* mask_of(const StageInfo& info) { return find_in_table(info.mask); }

const StageRecord* Trace::record(StageKey key) const {
    const auto found = std::ranges::find(records, key, [](const StageRecord& r) { return r.stage->key(); });
    return found == records.end() ? nullptr : &*found;
}

std::vector<const StageRecord*> Trace::results_of(const StageRecord& record) const {
    std::vector<const StageRecord*> results;
    for (const StageRecord& each : records)
        if (each.op == record.op) results.push_back(&each);
    return results;
}

StagePtr Trace::stage(StageKey key) const {
    if (const StageRecord* found = record(key)) return found->stage;
    const auto found = std::ranges::find(gradients, key, &Stage::key);
    return found == gradients.end() ? nullptr : *found;
}

const Stage* Trace::find(StageRole role, int layer) const {
    for (const StageRecord& record : records)
        if (record.stage->info->role == role && (layer == 0 || record.stage->layer == layer))
            return record.stage.get();
    return nullptr;
}

const Stage* Trace::find_chosen(const StageKey& key) const {
    for (const StageRecord& record : records)
        if (may_mean(key, *record.stage)) return record.stage.get();
    for (const StagePtr& gradient : gradients)
        if (may_mean(key, *gradient)) return gradient.get();
    return nullptr;
}

bool Trace::is_on_demand() const {
    return std::ranges::any_of(
        records, [](const StageRecord& record) { return record.stage->buffer.on_demand() != nullptr; });
}

const Stage* Trace::find_named(std::string_view name) const {
    const auto key = find_stage_key(name);
    return key ? find_chosen(*key) : nullptr;
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

namespace {

/// nullptr where there is no name.
const std::string* name_at(const std::vector<std::string>& names, int index) {
    const auto i = static_cast<std::size_t>(index);
    return i < names.size() && !names[i].empty() ? &names[i] : nullptr;
}

}  // namespace

std::string Trace::row_label(const Stage& stage, int row) const {
    const auto known = features.find(stage.info);
    const std::string* name = known == features.end() ? nullptr : name_at(known->second.rows, row);
    return name ? *name : label(stage.info->rows, row);
}

std::string Trace::column_label(const Stage& stage, int column, int head) const {
    const auto known = features.find(stage.info);
    const int first = stage.shape().heads > 1 ? std::max(head, 0) * stage.shape().columns : 0;
    const std::string* name =
        known == features.end() ? nullptr : name_at(known->second.columns, first + column);
    return name ? *name : label(stage.info->columns, column);
}

namespace {

/// Whether the mask closes a row of masked scores on demand in these heads.
bool all_masked_on_demand(const Buffer& masked, int row, int first, int end, const Stage* mask) {
    const Coverage open = masked.coverage(first, {row, 0, 1, masked.shape().columns});
    if (open != Coverage::unknown || !mask) return open == Coverage::none;
    for (int h = first; h < std::min(end, mask->shape().heads); ++h)
        if (mask->buffer.row_largest(h)[static_cast<std::size_t>(row)] != 0) return false;
    return true;
}

/// Whether `largest` of the masked scores is −∞ at `index`, in one head or in every one.
bool all_masked(const Stage* masked, const Stage* mask,
                const std::vector<float>& (Buffer::*largest)(int) const, int index, std::optional<int> head) {
    const int heads = masked->shape().heads;
    const int first = head ? std::min(*head, heads - 1) : 0, end = head ? first + 1 : heads;
    if (masked->buffer.on_demand()) return all_masked_on_demand(masked->buffer, index, first, end, mask);
    for (int h = first; h < end; ++h)
        if ((masked->buffer.*largest)(h)[static_cast<std::size_t>(index)] != -INFINITY) return false;
    return true;
}

}  // namespace

bool Trace::fully_masked(int row, std::optional<int> head, int layer) const {
    const Stage* masked = find(StageRole::masked_scores, layer);
    return masked && row >= 0 && row < masked->shape().rows &&
           all_masked(masked, find(StageRole::mask, layer), &Buffer::row_largest, row, head);
}

bool Trace::fully_masked(const Stage& stage, int row, std::optional<int> head) const {
    const bool concerned = mask_of(*stage.info) || stage.info->role == StageRole::context;
    return concerned && fully_masked(row, head, stage.layer);
}

bool Trace::over_queries() const {
    for (const StageRecord& record : records)
        if (record.stage->info->role == StageRole::weights) return attnscope::over_queries(*record.op);
    return false;
}

bool Trace::fully_masked_column(int column, std::optional<int> head, int layer) const {
    const Stage* masked = over_queries() ? find(StageRole::masked_scores, layer) : nullptr;
    return masked && column >= 0 && column < masked->shape().columns &&
           all_masked(masked, nullptr, &Buffer::column_largest, column, head);
}

bool Trace::fully_masked_column(const Stage& stage, int column, std::optional<int> head) const {
    return mask_of(*stage.info) && fully_masked_column(column, head, stage.layer);
}

}  // namespace attnscope
