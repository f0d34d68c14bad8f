#include "core/picture/mass_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "core/canceled.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/picture/axis_labels.h"

namespace attnscope {
namespace {

constexpr int k_rows_at_once = 64;

bool is_weight(float value) { return std::isfinite(value) && value > 0; }

bool holds_weights(const Stage& stage) {
    const bool dropped = stage.info == &info_of("weights_dropped"_stage);
    return (dropped || stage.info->role == StageRole::weights) && stage.part == StageKey::Part::value;
}

/// The values of a head, or of the mean over the heads.
struct HeadValues {
    const Buffer& buffer;
    int head;
};
HeadValues values_of(const Stage& stage, int head) {
    return head < 0 ? HeadValues{stage.buffer.mean(), 0} : HeadValues{stage.buffer, head};
}

bool is_stronger(const MassLine& a, const MassLine& b) {
    if (a.weight != b.weight) return a.weight > b.weight;
    return std::tie(a.query, a.key, a.head) < std::tie(b.query, b.key, b.head);
}

/// Keeps the strongest lines, in any order.
void prune(std::vector<MassLine>& lines) {
    if (lines.size() <= k_most_kept_lines) return;
    const auto end = lines.begin() + static_cast<std::ptrdiff_t>(k_most_kept_lines);
    std::nth_element(lines.begin(), end, lines.end(), is_stronger);
    lines.erase(end, lines.end());
}

void add_row(MassLines& lines, const MassCutoff& cutoff, std::span<const float> row, int query, int head) {
    for (int key = 0; key < static_cast<int>(row.size()); ++key) {
        const float weight = row[static_cast<std::size_t>(key)];
        if (!cutoff.keeps(weight, key)) continue;
        lines.strongest.push_back({query, key, head, weight});
        ++lines.count;
    }
    if (lines.strongest.size() > 2 * k_most_kept_lines) prune(lines.strongest);
}

/// Whether no head that is drawn has an open pair in this row or column.
template <typename Masked>
bool in_all(std::span<const int> heads, const Masked& masked) {
    return std::ranges::all_of(
        heads, [&](int head) { return masked(head < 0 ? std::nullopt : std::optional(head)); });
}

}  // namespace

bool MassCutoff::keeps(float value, int at) const {
    return is_weight(value) && (value > weight || (value == weight && at <= column));
}

MassCutoff mass_cutoff(std::span<const float> weights, double mass) {
    std::vector<float> sorted;
    for (const float value : weights)
        if (is_weight(value)) sorted.push_back(value);
    if (sorted.empty()) return {};
    if (mass >= 1) return {0, -1};
    std::ranges::sort(sorted, std::greater{});
    double total = 0, sum = 0;
    for (const float value : sorted) total += value;
    std::size_t kept = 0;
    while (kept < sorted.size() && (kept == 0 || sum < mass * total)) sum += sorted[kept++];
    // Of the weights that equal the last one, as many as are kept, from the left.
    const float last = sorted[kept - 1];
    auto equal = std::count(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(kept), last);
    for (int column = 0;; ++column)
        if (weights[static_cast<std::size_t>(column)] == last && --equal == 0) return {last, column};
}

const Stage* lines_stage(const Trace& trace, const StageKey& chosen) {
    const Stage& focused = focused_stage(trace, chosen);
    if (holds_weights(focused)) return &focused;
    const Stage& main = main_stage(trace);
    const Stage* in_layer = trace.find_chosen({main.info, chosen.layer});
    return holds_weights(main) ? (in_layer ? in_layer : &main) : nullptr;
}

MassLines find_mass_lines(const Trace& trace, const Stage& stage, std::vector<int> heads, double mass,
                          const std::stop_token& cancel) {
    MassLines lines;
    lines.heads = std::move(heads);
    const Shape& shape = stage.shape();
    for (const int head : lines.heads) {
        const HeadValues from = values_of(stage, head);
        std::vector<MassCutoff>& cutoffs = lines.cutoffs.emplace_back();
        for (int first = 0; first < shape.rows; first += k_rows_at_once) {
            stop_if_canceled(cancel);
            const Matrix rows =
                from.buffer.rows(from.head, first, std::min(k_rows_at_once, shape.rows - first));
            for (int r = 0; r < rows.rows(); ++r) {
                const std::span row(rows.row(r).data(), static_cast<std::size_t>(rows.cols()));
                cutoffs.push_back(mass_cutoff(row, mass));
                add_row(lines, cutoffs.back(), row, first + r, head);
            }
        }
    }
    prune(lines.strongest);
    std::ranges::sort(lines.strongest, is_stronger);
    if (!lines.strongest.empty()) lines.largest = lines.strongest.front().weight;
    lines.queries = row_words(trace, stage);
    lines.keys = column_labels(trace, stage, 0);
    for (int i = 0; i < shape.rows; ++i)
        lines.masked_queries.push_back(
            in_all(lines.heads, [&](auto head) { return trace.fully_masked(stage, i, head); }));
    for (int j = 0; j < shape.columns; ++j)
        lines.masked_keys.push_back(
            in_all(lines.heads, [&](auto head) { return trace.fully_masked_column(stage, j, head); }));
    return lines;
}

namespace {

/// The kept weights among those that `values` gives of each head, `place` of each (query, key).
template <typename Values, typename Place>
std::vector<MassLine> lines_among(const Stage& stage, const MassLines& lines, const Values& values,
                                  const Place& place) {
    std::vector<MassLine> found;
    for (std::size_t h = 0; h < lines.heads.size(); ++h) {
        const auto all = values(values_of(stage, lines.heads[h]));
        for (int i = 0; i < static_cast<int>(all.size()); ++i) {
            const auto [query, key] = place(i);
            if (lines.cutoffs[h][static_cast<std::size_t>(query)].keeps(all[i], key))
                found.push_back({query, key, lines.heads[h], all[i]});
        }
    }
    std::ranges::sort(found, [](const MassLine& a, const MassLine& b) { return is_stronger(b, a); });
    return found;
}

}  // namespace

std::vector<MassLine> lines_of_query(const Stage& stage, const MassLines& lines, int query) {
    return lines_among(
        stage, lines, [&](const HeadValues& from) { return from.buffer.row(from.head, query); },
        [&](int key) { return std::pair(query, key); });
}

std::vector<MassLine> lines_of_key(const Stage& stage, const MassLines& lines, int key) {
    return lines_among(
        stage, lines, [&](const HeadValues& from) { return from.buffer.column(from.head, key); },
        [&](int query) { return std::pair(query, key); });
}

std::string percent_text(double share) {
    const double percent = std::round(share * 1e4) / 100;
    return short_text(percent) + " %";
}

std::string mass_text(double mass, std::size_t drawn, std::int64_t count) {
    const std::string share =
        (mass >= 1 ? "all" : percent_text(mass)) + std::string(" of each query's weight");
    if (static_cast<std::int64_t>(drawn) >= count) return "the lines make up " + share;
    return fmt::format("the {} strongest of {} lines that make up {}", drawn, count, share);
}

}  // namespace attnscope
