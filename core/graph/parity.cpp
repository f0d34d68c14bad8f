#include "core/graph/parity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/graph/run_options.h"

namespace attnscope {
namespace {

/// How many numbers are copied from a card at a time; at least one row.
constexpr int k_numbers_at_once = 1 << 20;

void compare_cell(float a, float b, const CellPlace& at, StageDifference& difference) {
    if (!same_kind(a, b)) {
        if (difference.other_kind++ == 0) difference.other_kind_at = at;
        return;
    }
    if (!std::isfinite(a)) return;
    const double absolute = std::abs(static_cast<double>(a) - b);
    if (absolute > difference.absolute) {
        difference.absolute = absolute;
        difference.absolute_at = at;
    }
    const double magnitude = std::max(std::abs(a), std::abs(b));
    if (magnitude > k_relative_floor && absolute / magnitude > difference.relative) {
        difference.relative = absolute / magnitude;
        difference.relative_at = at;
    }
}

StageDifference compare(const StageRecord& a, const StageRecord& b, const std::stop_token& cancel) {
    using enum StageDifference::State;
    const Shape& shape = a.stage->shape();
    StageDifference difference{.key = a.stage->key(),
                               .shape = shape,
                               .milliseconds_a = a.milliseconds,
                               .milliseconds_b = b.milliseconds};
    if (shape != b.stage->shape()) {
        difference.state = shapes_differ;
        difference.shape_b = b.stage->shape();
        return difference;
    }
    if (a.stage == b.stage) return difference;
    const int at_once = std::max(1, k_numbers_at_once / std::max(1, shape.columns));
    for (int head = 0; head < shape.heads; ++head)
        for (int first = 0; first < shape.rows; first += at_once) {
            stop_if_canceled(cancel);
            const int count = std::min(at_once, shape.rows - first);
            const Matrix left = a.stage->buffer.rows(head, first, count);
            const Matrix right = b.stage->buffer.rows(head, first, count);
            for (int i = 0; i < count; ++i)
                for (int j = 0; j < shape.columns; ++j)
                    compare_cell(left(i, j), right(i, j), {head, first + i, j}, difference);
        }
    return difference;
}

std::string shape_text(const Shape& shape) {
    const std::string matrix = fmt::format("{} × {}", shape.rows, shape.columns);
    return shape.heads > 1 ? fmt::format("{} × {}", shape.heads, matrix) : matrix;
}

}  // namespace

bool same_kind(float a, float b) {
    if (std::isfinite(a) || std::isfinite(b)) return std::isfinite(a) == std::isfinite(b);
    return std::isnan(a) == std::isnan(b) && (std::isnan(a) || a == b);
}

std::string why_not_compared(const StageDifference& stage) {
    switch (stage.state) {
        case StageDifference::State::shapes_differ:
            return "shapes differ: " + shape_text(stage.shape) + " and " + shape_text(stage.shape_b);
        case StageDifference::State::only_in_a: return "only in the first";
        case StageDifference::State::only_in_b: return "only in the second";
        case StageDifference::State::compared: break;
    }
    return "";
}

std::vector<StageDifference> compare(const Trace& a, const Trace& b, std::stop_token cancel) {
    std::vector<StageDifference> differences;
    const auto alone = [&](const StageRecord& record, StageDifference::State state) {
        differences.push_back({.key = record.stage->key(), .state = state, .shape = record.stage->shape()});
    };
    for (const StageRecord& left : a.records)
        if (const StageRecord* right = b.record(left.stage->key()))
            differences.push_back(compare(left, *right, cancel));
        else
            alone(left, StageDifference::State::only_in_a);
    for (const StageRecord& right : b.records)
        if (!a.record(right.stage->key())) alone(right, StageDifference::State::only_in_b);
    return differences;
}

}  // namespace attnscope
