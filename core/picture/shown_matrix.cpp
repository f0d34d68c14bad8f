#include "core/picture/shown_matrix.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/cpu/row_blocks.h"
#include "core/error.h"
#include "core/graph/formula.h"
#include "core/limits.h"
#include "core/mechanism/mechanisms.h"

namespace attnscope {
namespace {

/// Whether the stage has one matrix, whichever head is chosen.
bool is_single(const Stage& stage) { return !stage.shape().per_head && stage.shape().heads == 1; }

void require_shown(const Stage& stage, const HeadChoice& choice) {
    if (const std::string why = why_not_shown(stage, choice, stage.name()); !why.empty())
        throw Error(ErrorKind::bad_input, why);
}

}  // namespace

bool has_mean(const Stage& stage) {
    return stage.shape().heads > 1 && is_of_pairs(*stage.info) && stage.info->unit != Unit::boolean;
}

std::string why_not_shown(const Stage& stage, const HeadChoice& choice) {
    return why_not_shown(stage, choice, stage_heading(stage.key()));
}

std::string why_not_shown(const Stage& stage, const HeadChoice& choice, std::string_view name) {
    const int heads = stage.shape().heads;
    if (is_single(stage)) return "";
    switch (choice.kind) {
        case HeadChoice::Kind::mean:
            if (heads == 1 || has_mean(stage)) return "";
            if (stage.info->unit == Unit::boolean)
                return fmt::format("{}: a mask has no mean over heads, so choose a head", name);
            return fmt::format(
                "{} has no mean over heads, which only stages of queries × keys have: choose a head", name);
        case HeadChoice::Kind::one:
            if (choice.head >= 0 && choice.head < heads) return "";
            return fmt::format("stage \"{}\" has no head {}: choose one from 1 to {}", name, choice.head + 1,
                               heads);
        case HeadChoice::Kind::all: break;
    }
    return fmt::format("a picture of \"{}\" shows one head or the mean: choose which", name);
}

ShownMatrix shown_matrix(const Stage& stage, const HeadChoice& choice) {
    require_shown(stage, choice);
    if (choice.kind == HeadChoice::Kind::mean) stage.buffer.mean();
    return known_matrix(stage, choice).value();
}

std::optional<ShownMatrix> known_matrix(const Stage& stage, const HeadChoice& choice) {
    require_shown(stage, choice);
    if (is_single(stage)) return ShownMatrix{&stage.buffer, 0, false};
    if (choice.kind != HeadChoice::Kind::mean) return ShownMatrix{&stage.buffer, choice.head, false};
    const Buffer* mean = stage.buffer.known_mean();
    return mean ? std::optional(ShownMatrix{mean, 0, stage.shape().heads > 1}) : std::nullopt;
}

Pool pooling_of(const StageInfo& stage, const Presentation& presentation) {
    return is_of_pairs(stage) && stage.unit != Unit::boolean ? presentation.pooling : Pool::dominant;
}

Region exported_region(const Stage& stage, const std::optional<Region>& chosen) {
    const Region whole{0, 0, stage.shape().rows, stage.shape().columns};
    if (!chosen || !is_of_pairs(*stage.info)) return whole;
    if (chosen->end_row() > whole.rows || chosen->end_column() > whole.columns)
        throw Error(
            ErrorKind::bad_input,
            fmt::format("the region ends at query {} and key {}, but {} is {} × {}", chosen->end_row(),
                        chosen->end_column(), stage.name(), whole.rows, whole.columns));
    return *chosen;
}

void require_written(const Region& region) {
    if (region.size() > k_max_written_numbers)
        throw Error(ErrorKind::too_large,
                    fmt::format("{} × {} values are too many to write, at most {}: choose a smaller "
                                "region",
                                region.rows, region.columns, k_max_written_numbers));
}

void for_each_row(const ShownMatrix& shown, const Region& region,
                  const std::function<void(int row, std::span<const float> values)>& each) {
    require_written(region);
    constexpr int k_numbers_at_once = 1 << 24, k_parts = 8, k_most_rows_of_part = 64;
    // A row on demand may take as long as all its pairs, however few columns are asked for.
    constexpr int k_rows_on_demand = 256;
    int at_once = std::max(1, k_numbers_at_once / std::max(region.columns, 1));
    if (shown.buffer->on_demand()) at_once = std::min(at_once, k_rows_on_demand);
    const int rows_of_part = std::clamp(at_once / k_parts, 1, k_most_rows_of_part);
    Matrix values;
    for (int row = 0; row < region.rows; row += at_once) {
        const int count = std::min(at_once, region.rows - row);
        values.resize(count, region.columns);
        const auto read = [&](Eigen::Index part) {
            const int first = static_cast<int>(part) * rows_of_part;
            const int rows = std::min(rows_of_part, count - first);
            shown.buffer->read(shown.head, {region.row + row + first, region.column, rows, region.columns},
                               {values.row(first).data(), rows, region.columns});
        };
        // Only what is computed on demand is worth threads.
        const int parts = (count + rows_of_part - 1) / rows_of_part;
        if (shown.buffer->on_demand())
            run_parallel(parts, read);
        else
            for (int part = 0; part < parts; ++part) read(part);
        for (int i = 0; i < count; ++i)
            each(row + i, {values.row(i).data(), static_cast<std::size_t>(region.columns)});
    }
}

HeadChoice head_on_screen(const Stage& stage, const HeadChoice& chosen) {
    const int heads = stage.shape().heads;
    if (heads == 1) return {};
    if (chosen.kind != HeadChoice::Kind::one) return {HeadChoice::Kind::mean};
    return {HeadChoice::Kind::one, std::clamp(chosen.head, 0, heads - 1)};
}

MaskedMatrix masked_matrix(const Trace& trace, const Stage& stage, const HeadChoice& choice) {
    const ShownMatrix shown = shown_matrix(stage, choice);
    MaskedMatrix matrix{shown.values(), {}};
    const StageInfo* info = mask_of(*stage.info);
    const Stage* mask = info && info != stage.info ? trace.find(info) : nullptr;
    if (!mask || mask->shape().rows != stage.shape().rows || mask->shape().columns != stage.shape().columns)
        return matrix;
    const int heads = mask->shape().heads;
    const int first = shown.mean ? 0 : std::min(shown.head, heads - 1), end = shown.mean ? heads : first + 1;
    matrix.open = mask->buffer.rows(first, 0, mask->shape().rows);
    for (int h = first + 1; h < end; ++h)
        matrix.open = matrix.open.cwiseMax(mask->buffer.rows(h, 0, mask->shape().rows));
    return matrix;
}

std::vector<float> window_centers(const Trace& trace, const HeadChoice& choice) {
    const Stage* stage = trace.find(mechanism_of(trace.experiment).center);
    if (!stage) return {};
    const int heads = stage->shape().heads;
    if (choice.kind != HeadChoice::Kind::one && heads > 1) return {};
    const Eigen::VectorXf centers = stage->buffer.column(std::clamp(choice.head, 0, heads - 1), 0);
    return {centers.begin(), centers.end()};
}

std::string formula_shown(const Trace& trace, const Stage& stage, const HeadChoice& choice) {
    std::string whole = formula(trace, stage);
    const int heads = stage.shape().heads;
    if (choice.kind != HeadChoice::Kind::mean || heads == 1) return whole;
    return fmt::format("mean over {} heads of {}", heads, whole);
}

}  // namespace attnscope
