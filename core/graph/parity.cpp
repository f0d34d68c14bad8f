#include "core/graph/parity.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"
#include "core/graph/run_options.h"

namespace attnscope {
namespace {

/// How many numbers are copied from a card at a time; at least one row.
constexpr int k_numbers_at_once = 1 << 20;

/// `count` rows starting at `first`; values from a card are not kept.
Matrix rows(const Buffer& buffer, int head, int first, int count) {
    if (!buffer.is_on_device()) return buffer.host().head(head).middleRows(first, count);
    Matrix numbers(count, buffer.shape().columns);
    buffer.device()->read(head, first, count, numbers.data());
    return numbers;
}

bool same_kind(float a, float b) {
    if (std::isfinite(a) || std::isfinite(b)) return std::isfinite(a) == std::isfinite(b);
    return std::isnan(a) == std::isnan(b) && (std::isnan(a) || a == b);
}

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
    const Shape& shape = a.stage->shape();
    if (shape != b.stage->shape())
        throw Error(ErrorKind::bad_input,
                    std::string(a.stage->name()) +
                        " has different shapes: compare two traces of the same experiment");
    StageDifference difference{.info = a.stage->info,
                               .shape = shape,
                               .milliseconds_a = a.milliseconds,
                               .milliseconds_b = b.milliseconds};
    if (a.stage == b.stage) return difference;
    const int at_once = std::max(1, k_numbers_at_once / std::max(1, shape.columns));
    for (int head = 0; head < shape.heads; ++head)
        for (int first = 0; first < shape.rows; first += at_once) {
            if (cancel.stop_requested()) throw Cancelled{};
            const int count = std::min(at_once, shape.rows - first);
            const Matrix left = rows(a.stage->buffer, head, first, count);
            const Matrix right = rows(b.stage->buffer, head, first, count);
            for (int i = 0; i < count; ++i)
                for (int j = 0; j < shape.columns; ++j)
                    compare_cell(left(i, j), right(i, j), {head, first + i, j}, difference);
        }
    return difference;
}

}  // namespace

std::vector<StageDifference> compare(const Trace& a, const Trace& b, std::stop_token cancel) {
    std::vector<StageDifference> differences;
    for (const StageRecord& left : a.records)
        for (const StageRecord& right : b.records)
            if (left.stage->info == right.stage->info) differences.push_back(compare(left, right, cancel));
    return differences;
}

}  // namespace attnscope
