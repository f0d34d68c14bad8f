#include "core/mechanism/seq2seq/step_words.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/graph/stage_table.h"

namespace attnscope {
namespace {

int word_at(const Stage& stage, int step) { return static_cast<int>(stage.buffer.at(0, step, 0)); }

}  // namespace

int fed_word(const Trace& trace, int step) { return word_at(*trace.find("fed_tokens"_stage), step); }

int said_word(const Trace& trace, int step) {
    const Stage* targets = trace.find("target_tokens"_stage);
    return word_at(targets ? *targets : *trace.find("picked_tokens"_stage), step);
}

std::vector<std::string> said_words(const Trace& trace) {
    std::vector<std::string> words;
    for (int i = 0; i < trace.find("fed_tokens"_stage)->shape().rows; ++i)
        words.push_back(trace.label(Axis::target_row, said_word(trace, i)));
    return words;
}

std::vector<LikelyWord> likely_words(const Trace& trace, int step, int count) {
    const auto p = trace.find("probabilities"_stage)->buffer.head(0).row(step);
    std::vector<int> order(static_cast<std::size_t>(p.size()));
    std::iota(order.begin(), order.end(), 0);
    // NaN compares with nothing and sorts last.
    const auto value = [&](int word) { return std::isnan(p[word]) ? -INFINITY : p[word]; };
    const auto likelier = [&](int a, int b) {
        return value(a) > value(b) || (value(a) == value(b) && a < b);
    };
    const auto shown = std::min(order.begin() + count, order.end());
    std::partial_sort(order.begin(), shown, order.end(), likelier);
    std::vector<LikelyWord> words;
    for (auto at = order.begin(); at != shown; ++at)
        words.push_back({*at, double{p[*at]}, static_cast<int>(words.size()) + 1});
    const int said = said_word(trace, step);
    if (std::ranges::find(words, said, &LikelyWord::word) != words.end()) return words;
    const auto before = std::ranges::count_if(order, [&](int other) { return likelier(other, said); });
    words.back() = {said, double{p[said]}, static_cast<int>(before) + 1};
    return words;
}

}  // namespace attnscope
