#include "core/graph/strongest_links.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/canceled.h"

namespace attnscope {
namespace {

bool comes_first(const Link& a, const Link& b) {
    if (a.value != b.value) return a.value > b.value;
    return std::tie(a.row, a.column) < std::tie(b.row, b.column);
}

/// The rows by their largest value, the largest first. One with NaN may contain any value: it comes first.
std::vector<int> rows_by_largest(std::vector<float>& largest) {
    for (float& each : largest)
        if (std::isnan(each)) each = std::numeric_limits<float>::infinity();
    std::vector<int> rows(largest.size());
    std::iota(rows.begin(), rows.end(), 0);
    std::ranges::stable_sort(rows, std::greater<>(),
                             [&](int row) { return largest[static_cast<std::size_t>(row)]; });
    return rows;
}

/// Puts a link in its place among the `count` strongest, each of other words.
void add(std::vector<Link>& links, const Link& link, const LinkedWords& words, std::size_t count) {
    const auto of = [&](const Link& each) {
        return std::pair(words.rows[static_cast<std::size_t>(each.row)],
                         words.columns[static_cast<std::size_t>(each.column)]);
    };
    const auto same = std::ranges::find(links, of(link), of);
    if (same != links.end() && !comes_first(link, *same)) return;
    if (same != links.end()) links.erase(same);
    links.insert(std::ranges::upper_bound(links, link, comes_first), link);
    if (links.size() > count) links.pop_back();
}

}  // namespace

std::vector<Link> strongest_links(const Buffer& values, int head, const LinkedWords& words, std::size_t count,
                                  const std::stop_token& cancel) {
    constexpr std::size_t k_most_rows = 2048;
    // Its levels stay as long as rows are chosen by them.
    const OnDemandValues* on_demand = values.on_demand();
    const KeptSurvey kept = on_demand ? on_demand->survey(head, {}, cancel) : nullptr;
    std::vector<float> largest = values.row_largest(head);
    std::vector<Link> links;
    // Equal rows of a word have the same links; such as look equal are read a few times.
    constexpr int k_alike = 16;
    std::map<std::pair<int, float>, int> read;
    std::size_t count_of_read = 0;
    for (const int row : rows_by_largest(largest)) {
        stop_if_canceled(cancel);
        const auto at = static_cast<std::size_t>(row);
        const bool is_full = links.size() == count;
        if (count == 0 || (is_full && largest[at] <= links.back().value) || count_of_read == k_most_rows)
            break;
        if (++read[{words.rows[at], largest[at]}] > k_alike) continue;
        ++count_of_read;
        const Matrix numbers = values.rows(head, row, 1);
        for (int column = 0; column < numbers.cols(); ++column)
            if (std::isfinite(numbers(0, column)) &&
                (links.size() < count || numbers(0, column) >= links.back().value))
                add(links, {row, column, numbers(0, column)}, words, count);
    }
    return links;
}

}  // namespace attnscope
