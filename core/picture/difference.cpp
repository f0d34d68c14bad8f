#include "core/picture/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "core/canceled.h"
#include "core/graph/explain.h"
#include "core/graph/parity.h"
#include "core/picture/axis_labels.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {
namespace {

/// Texts of more pairs than these are matched by their common beginning and end alone.
constexpr std::size_t k_most_pairs = std::size_t{1} << 24;

bool is_of_tokens(Axis axis) {
    return axis == Axis::query_token || axis == Axis::key_token || axis == Axis::key_hidden;
}

std::vector<int> by_number(int count, int available) {
    std::vector<int> same(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) same[static_cast<std::size_t>(i)] = i < available ? i : -1;
    return same;
}

/// Words of a table stand in it once.
std::vector<int> by_word(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    std::unordered_map<std::string_view, int> place;
    for (std::size_t i = 0; i < a.size(); ++i) place.emplace(a[i], static_cast<int>(i));
    std::vector<int> same;
    for (const std::string& word : b) {
        const auto found = place.find(word);
        same.push_back(found == place.end() ? -1 : found->second);
    }
    return same;
}

/// The longest common subsequence, as the index in `a` of each text of `b`.
std::vector<int> in_order(const std::vector<std::string>& a, const std::vector<std::string>& b,
                          const std::stop_token& cancel) {
    std::vector<int> same(b.size(), -1);
    std::size_t first = 0, end_a = a.size(), end_b = b.size();
    for (; first < end_a && first < end_b && a[first] == b[first]; ++first)
        same[first] = static_cast<int>(first);
    while (end_a > first && end_b > first && a[end_a - 1] == b[end_b - 1])
        same[--end_b] = static_cast<int>(--end_a);
    const std::size_t n = end_a - first, m = end_b - first;
    if (n == 0 || m == 0 || n > k_most_pairs / m) return same;
    // lengths[i][j]: of the longest common subsequence of what follows i in a and j in b
    std::vector<std::uint32_t> lengths((n + 1) * (m + 1), 0);
    const auto length = [&](std::size_t i, std::size_t j) -> std::uint32_t& {
        return lengths[i * (m + 1) + j];
    };
    for (std::size_t i = n; i-- > 0;) {
        stop_if_canceled(cancel);
        for (std::size_t j = m; j-- > 0;)
            length(i, j) = a[first + i] == b[first + j] ? length(i + 1, j + 1) + 1
                                                        : std::max(length(i + 1, j), length(i, j + 1));
    }
    for (std::size_t i = 0, j = 0; i < n && j < m;) {
        if (a[first + i] == b[first + j])
            same[first + j++] = static_cast<int>(first + i++);
        else
            length(i + 1, j) >= length(i, j + 1) ? ++i : ++j;
    }
    return same;
}

std::vector<std::string> tokens(const Trace& trace, Axis axis, int count) {
    return axis_labels(trace, axis == Axis::key_hidden ? Axis::key_token : axis, count);
}

std::vector<int> same_indices(const Trace& a, int of_a, const Trace& b, int of_b, Axis axis,
                              const std::stop_token& cancel) {
    if (is_of_tokens(axis)) return in_order(tokens(a, axis, of_a), tokens(b, axis, of_b), cancel);
    if (axis == Axis::table_row || axis == Axis::target_row)
        return by_word(axis_labels(a, axis, of_a), axis_labels(b, axis, of_b));
    return by_number(of_b, of_a);
}

/// The counterparts of the columns of hidden units, `depth` of which belong to each key.
std::vector<int> in_groups(const std::vector<int>& keys, int depth_a, int depth_b) {
    std::vector<int> same;
    for (const int key : keys)
        for (int unit = 0; unit < depth_b; ++unit)
            same.push_back(key < 0 || unit >= depth_a ? -1 : key * depth_a + unit);
    return same;
}

bool is_identity(const std::vector<int>& same) {
    for (std::size_t i = 0; i < same.size(); ++i)
        if (same[i] != static_cast<int>(i)) return false;
    return true;
}

/// Adds up numbers for their standard deviation.
struct Moments {
    double count = 0, sum = 0, squares = 0;

    void add(double x) {
        ++count;
        sum += x;
        squares += x * x;
    }
    double deviation() const {
        const double mean = sum / count;
        return count > 0 ? std::sqrt(std::max(0.0, squares / count - mean * mean)) : 0;
    }
};

HeadChoice choice_of(const ComparedSide& side, const Stage& stage) {
    return head_on_screen(stage, side.head);
}

Deviation deviation_of(const ComparedSide& side, const Stage& stage, const Moments& values, bool complete) {
    const HeadChoice head = choice_of(side, stage);
    const bool is_mean = head.kind == HeadChoice::Kind::mean && stage.shape().heads > 1;
    return {values.deviation(),
            is_mean || !complete ? std::nullopt : deviation_of_terms(*side.trace, stage, head.head)};
}

}  // namespace

const Stage* ComparedSide::find(const StageKey& key) const {
    if (const Stage* outside_layers = trace->find(StageKey{key.stage, 0, key.part})) return outside_layers;
    return trace->find(StageKey{key.stage, layer, key.part});
}

Counterparts counterparts(const Trace& a, const Stage& of_a, const Trace& b, const Stage& of_b,
                          const std::stop_token& cancel) {
    const Shape &sa = of_a.shape(), &sb = of_b.shape();
    Counterparts same;
    same.rows = same_indices(a, sa.rows, b, sb.rows, of_b.info->rows, cancel);
    const int keys_a = sa.columns / sa.depth, keys_b = sb.columns / sb.depth;
    same.columns = same_indices(a, keys_a, b, keys_b, of_b.info->columns, cancel);
    if (sa.depth > 1 || sb.depth > 1) same.columns = in_groups(same.columns, sa.depth, sb.depth);
    same.complete =
        sa.rows == sb.rows && sa.columns == sb.columns && is_identity(same.rows) && is_identity(same.columns);
    return same;
}

std::string why_not_compared(const StageComparison& stage) {
    switch (stage.state) {
        case StageComparison::State::compared:
            return stage.cells ? "" : "they have no rows or columns in common";
        case StageComparison::State::only_in_a: return "only A has it";
        case StageComparison::State::only_in_b: return "only B has it";
        case StageComparison::State::not_shown: return "it has no mean over heads; choose a head";
    }
    return "";
}

std::string why_no_difference(const ComparedSide& a, const ComparedSide& b, const StageKey& key) {
    const auto without = without_comparison(a, b, key);
    if (!without) return "";
    return fmt::format("{} cannot be compared: {}", stage_heading(key), why_not_compared(*without));
}

std::optional<StageComparison> without_comparison(const ComparedSide& a, const ComparedSide& b,
                                                  const StageKey& key) {
    using enum StageComparison::State;
    const Stage *of_a = a.find(key), *of_b = b.find(key);
    if (!of_b) return StageComparison{.key = of_a ? of_a->key() : key, .state = only_in_a};
    if (!of_a) return StageComparison{.key = of_b->key(), .state = only_in_b};
    if (why_not_shown(*of_a, choice_of(a, *of_a)).empty() &&
        why_not_shown(*of_b, choice_of(b, *of_b)).empty())
        return std::nullopt;
    return StageComparison{.key = of_b->key(), .state = not_shown};
}

std::optional<Difference> difference(const ComparedSide& a, const ComparedSide& b, const StageKey& key,
                                     const std::stop_token& cancel) {
    if (without_comparison(a, b, key)) return std::nullopt;
    const Stage &of_a = *a.find(key), &of_b = *b.find(key);
    Counterparts same = counterparts(*a.trace, of_a, *b.trace, of_b, cancel);
    const MaskedMatrix left = masked_matrix(*a.trace, of_a, choice_of(a, of_a)),
                       right = masked_matrix(*b.trace, of_b, choice_of(b, of_b));
    const int rows = of_b.shape().rows, columns = of_b.shape().columns;
    Tensor values({.rows = rows, .columns = columns}), open({.rows = rows, .columns = columns});
    StageComparison facts{.key = of_b.key(), .complete = same.complete};
    double largest_a = 0;
    const bool is_of_scores = of_b.info->role == StageRole::scores && of_b.part == StageKey::Part::value;
    Moments of_left, of_right;
    for (int i = 0; i < rows; ++i) {
        stop_if_canceled(cancel);
        const int row = same.rows[static_cast<std::size_t>(i)];
        for (int j = 0; j < columns; ++j) {
            const int column = same.columns[static_cast<std::size_t>(j)];
            float &value = values.head(0)(i, j) = 0, &is_open = open.head(0)(i, j) = 0;
            if (row < 0 || column < 0 || (!left.is_open(row, column) && !right.is_open(i, j))) continue;
            is_open = 1;
            ++facts.cells;
            const float x = left.values(row, column), y = right.values(i, j);
            if (!same_kind(x, y)) {
                ++facts.other_kind;
                value = y - x;
                continue;
            }
            if (!std::isfinite(x)) continue;
            if (is_of_scores) {
                of_left.add(x);
                of_right.add(y);
            }
            value = y - x;
            const double magnitude = std::abs(static_cast<double>(y) - x);
            largest_a = std::max(largest_a, std::abs(static_cast<double>(x)));
            if (magnitude <= facts.largest) continue;
            facts.largest = magnitude;
            facts.at = Cell{i, j};
        }
    }
    if (largest_a > 0) facts.relative = facts.largest / largest_a;
    if (is_of_scores) {
        facts.deviation_a = deviation_of(a, of_a, of_left, same.complete);
        facts.deviation_b = deviation_of(b, of_b, of_right, same.complete);
    }
    return Difference{facts, std::make_shared<const Buffer>(std::move(values)),
                      std::make_shared<const Buffer>(std::move(open)), std::move(same.rows),
                      std::move(same.columns)};
}

ColorScale difference_scale(const Difference& difference) {
    const double magnitude = difference.values->range(0).magnitude();
    return {&diverging_colormap(), magnitude > 0 ? -magnitude : -1, magnitude > 0 ? magnitude : 1};
}

std::vector<StageComparison> compare_stages(const ComparedSide& a, const ComparedSide& b,
                                            const std::stop_token& cancel) {
    std::vector<StageComparison> stages;
    const auto add = [&](const StageKey& key) {
        if (const auto without = without_comparison(a, b, key))
            stages.push_back(*without);
        else
            stages.push_back(difference(a, b, key, cancel)->facts);
    };
    const auto of_side = [](const ComparedSide& side) {
        std::vector<StagePtr> found = side.trace->stages();
        std::erase_if(found, [&](const StagePtr& stage) {
            return stage->info->unit == Unit::token_id || (stage->layer > 0 && stage->layer != side.layer);
        });
        return found;
    };
    for (const StagePtr& stage : of_side(b)) add(stage->key());
    for (const StagePtr& stage : of_side(a))
        if (!b.find(stage->key())) add(stage->key());
    return stages;
}

}  // namespace attnscope
