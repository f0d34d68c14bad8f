#include "core/graph/trace.h"

#include <algorithm>
#include <cmath>

#include "core/graph/stage_table.h"
#include "core/image/patches.h"

namespace attnscope {

using enum Axis;

std::span<const StageInfo> stage_table() { return stage_table_rows::k_stages; }

const StageInfo* find_stage_info(std::string_view name) { return find_in_table(name); }

bool is_parameter(const StageInfo& info) { return &info >= k_first_parameter; }

std::string stage_heading(const StageInfo& info) {
    std::string heading(info.name);
    if (!is_parameter(info)) std::ranges::replace(heading, '_', ' ');
    return heading;
}

const Stage& main_stage(const Trace& trace) {
    for (const std::string_view name : {"weights", "alignment", "decoder_context"})
        if (const Stage* stage = trace.find(name)) return *stage;
    return *trace.records.front().stage;
}

const Stage& focused_stage(const Trace& trace, std::string_view wanted) {
    const Stage* stage = trace.find(wanted);
    return stage ? *stage : main_stage(trace);
}

std::string_view mask_of(const StageInfo& info) {
    constexpr std::string_view k_masked[] = {"mask", "masked", "align", "weights", "weights_dropped"};
    constexpr std::string_view k_aligned[] = {"alignment_mask", "alignment_masked", "alignment_softmax",
                                              "alignment"};
    if (std::ranges::find(k_masked, info.name) != std::end(k_masked)) return "mask";
    return std::ranges::find(k_aligned, info.name) != std::end(k_aligned) ? "alignment_mask" : "";
}

const Stage* operand(const Trace& trace, std::string_view name) {
    if (name.empty()) return nullptr;
    const auto first_of = [&](std::initializer_list<std::string_view> names) -> const Stage* {
        for (const std::string_view each : names)
            if (const Stage* stage = trace.find(each)) return stage;
        return nullptr;
    };
    const bool norm_first = trace.experiment.block == Block::pre_norm;
    // What the projections read: the embedding, with positions added, normalized first in a pre-norm block.
    if (name == "embedding") return norm_first ? trace.find("norm_1") : first_of({"positioned", "embedding"});
    if (name == "embedding_kv") {
        const Stage* own = first_of({"positioned_kv", "embedding_kv"});
        return own ? own : operand(trace, "embedding");
    }
    if (name == "embedding_v") {
        const Stage* own = trace.find("embedding_v");
        return own ? own : operand(trace, "embedding_kv");
    }
    if (name == "weights") return first_of({"weights_dropped", "weights"});
    if (name == "concat") return first_of({"concat", "context"});
    if (name == "norm_1") return first_of({norm_first ? "norm_2" : "norm_1"});
    if (name == "norm_2")
        return first_of({norm_first ? "residual_2" : "norm_2", "output", "concat", "context"});
    if (const Stage* heads = trace.find(std::string(name) + "_heads")) return heads;
    return trace.find(name);
}

const StageRecord* Trace::record(StageKey key) const {
    const auto found = std::ranges::find(records, key, [](const StageRecord& r) { return r.stage->key(); });
    return found == records.end() ? nullptr : &*found;
}

const Stage* Trace::find(StageKey key) const {
    const StageRecord* found = record(key);
    return found ? found->stage.get() : nullptr;
}

const Stage* Trace::find(std::string_view name) const {
    for (const StageRecord& record : records)
        if (record.stage->name() == name) return record.stage.get();
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
    if (axis == key_hidden && experiment.hidden > 1)
        return label(key_token, index / experiment.hidden) + "·" +
               std::to_string(index % experiment.hidden + 1);
    const std::vector<std::string>* labels = axis == query_token                       ? &rows
                                             : axis == key_token || axis == key_hidden ? &columns
                                             : axis == table_row                       ? &table
                                             : axis == target_row                      ? &target_table
                                                                                       : nullptr;
    if (axis == single) return "";
    if (axis == pixel) return pixel_label(index, experiment.patch_size);
    const auto i = static_cast<std::size_t>(index);
    return labels && i < labels->size() ? (*labels)[i] : std::to_string(index + 1);
}

bool Trace::fully_masked(int row) const {
    const Stage* masked =
        find(experiment.mechanism == MechanismKind::seq2seq ? "alignment_masked" : "masked");
    if (!masked || row < 0 || row >= masked->shape().rows) return false;
    for (int h = 0; h < masked->shape().heads; ++h)
        if (masked->buffer.row_largest(h)[static_cast<std::size_t>(row)] != -INFINITY) return false;
    return true;
}

bool Trace::fully_masked_column(int column) const {
    const Stage* masked = experiment.over_queries() ? find("masked") : nullptr;
    if (!masked || column < 0 || column >= masked->shape().columns) return false;
    for (int h = 0; h < masked->shape().heads; ++h)
        if (masked->buffer.column_largest(h)[static_cast<std::size_t>(column)] != -INFINITY) return false;
    return true;
}

}  // namespace attnscope
