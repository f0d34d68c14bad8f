#include "core/graph/head_scores.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/canceled.h"
#include "core/graph/row_entropy.h"
#include "core/graph/stage_table.h"
#include "core/number_text.h"

namespace attnscope {
namespace {

/// Where the tokens of a sentence stand that attends to itself.
struct Sentence {
    std::vector<std::vector<int>> same;  ///< per token, the positions of its word, in order
};

/// A row of weights, and what its scores ask for.
struct ScoredRow {
    std::span<const float> weights;
    int place;  ///< of the query, from 0
    int open;   ///< keys that the mask leaves open
    RowEntropy spread;
    const Sentence* sentence;  ///< nullptr: queries and keys are different tokens

    double at(int key) const { return weights[static_cast<std::size_t>(key)]; }
    const std::vector<int>& same() const { return sentence->same[static_cast<std::size_t>(place)]; }
};

std::optional<double> entropy(const ScoredRow& row) { return row.spread.entropy; }
std::optional<double> uniform(const ScoredRow& row) {
    return row.spread.effective_tokens / std::max(1, row.open);
}
std::optional<double> previous(const ScoredRow& row) {
    return row.place > 0 ? std::optional(row.at(row.place - 1)) : std::nullopt;
}
std::optional<double> first(const ScoredRow& row) {
    return row.place > 0 ? std::optional(row.at(0)) : std::nullopt;
}
std::optional<double> itself(const ScoredRow& row) { return row.at(row.place); }
std::optional<double> same(const ScoredRow& row) {
    if (row.same().size() < 2) return std::nullopt;
    double sum = 0;
    for (const int key : row.same())
        if (key != row.place) sum += row.at(key);
    return sum;
}
std::optional<double> induction(const ScoredRow& row) {
    std::optional<double> sum;
    for (const int key : row.same())
        if (key < row.place) sum = sum.value_or(0) + row.at(key + 1);
    return sum;
}

/// A score: what it is, and its value for a row.
struct ScoreRule {
    HeadScore choice;
    std::string_view help;
    bool of_places;
    std::optional<double> (*of)(const ScoredRow& row);
};

constexpr std::array k_rules = {
    ScoreRule{
        HeadScore::entropy,
        "−Σ p ln p of a row's shares p = w ÷ Σ w, in nat: 0 where all weight is on one key, at most ln M",
        false, entropy},
    ScoreRule{HeadScore::uniform,
              "effective tokens, exp(entropy), as a share of the open keys: 1 if all weights are equal",
              false, uniform},
    ScoreRule{HeadScore::previous, "the weight on the token before", true, previous},
    ScoreRule{HeadScore::first, "the weight on the first token, from all others", true, first},
    ScoreRule{HeadScore::itself, "the weight on the token itself, the diagonal", true, itself},
    ScoreRule{HeadScore::same, "the weight on other occurrences of the same word", true, same},
    ScoreRule{HeadScore::induction,
              "the weight on what followed the same word earlier (prefix matching, Olsson et al. 2022)", true,
              induction},
};
static_assert(is_table_of<HeadScore>(k_rules));

const ScoreRule& rule_of(HeadScore score) { return k_rules[static_cast<std::size_t>(score)]; }

std::optional<Sentence> sentence_of(const Trace& trace, const Shape& shape) {
    const auto words = static_cast<std::size_t>(shape.rows);
    if (shape.rows != shape.columns || trace.rows != trace.columns || trace.rows.size() != words)
        return std::nullopt;
    // A word is the same if it has the same row in the table, as "The" and "the".
    std::map<std::string, std::vector<int>> places;
    const Stage* tokens = trace.find("tokens"_stage);
    const bool has_rows = tokens && tokens->shape().rows == shape.rows;
    const auto word = [&](std::size_t i) {
        return has_rows ? shortest_text(tokens->buffer.at(0, static_cast<int>(i), 0)) : trace.rows[i];
    };
    for (std::size_t i = 0; i < words; ++i) places[word(i)].push_back(static_cast<int>(i));
    Sentence sentence;
    for (std::size_t i = 0; i < words; ++i) sentence.same.push_back(places[word(i)]);
    return sentence;
}

constexpr int k_rows_at_once = 64;

/// Calls `use` with the first row and the number of rows of each part of a matrix, from the top.
template <typename Use>
void for_each_part(int rows, const Use& use) {
    for (int first = 0; first < rows; first += k_rows_at_once)
        use(first, std::min(k_rows_at_once, rows - first));
}

/// Some rows of a head, or of the mean of all.
Matrix rows_of(const Stage& stage, int head, int first, int count) {
    return head < 0 ? stage.buffer.mean().rows(0, first, count) : stage.buffer.rows(head, first, count);
}

/// The mask's row sums: how many keys are open to each query.
std::vector<int> open_keys(const Trace& trace, const Stage& stage) {
    const Stage* mask = trace.find(mask_of(*stage.info));
    const Shape& shape = stage.shape();
    if (!mask || mask->shape().heads > 1 || mask->shape().rows != shape.rows)
        return std::vector<int>(static_cast<std::size_t>(shape.rows), shape.columns);
    std::vector<int> open;
    for_each_part(shape.rows, [&](int first, int count) {
        const Matrix pairs = rows_of(*mask, 0, first, count);
        for (int i = 0; i < count; ++i) open.push_back(static_cast<int>((pairs.row(i).array() != 0).count()));
    });
    return open;
}

/// The share of attention that two rows have in common; nullopt if every key is masked in both.
template <typename Row>
std::optional<double> common_attention(const Row& left, const Row& right) {
    const auto common = static_cast<double>(left.cwiseMin(right).sum());
    if (!(common > 0) && !(left.sum() > 0) && !(right.sum() > 0)) return std::nullopt;
    return common;
}

}  // namespace

std::string_view help_of(HeadScore score) { return rule_of(score).help; }
bool is_of_places(HeadScore score) { return rule_of(score).of_places; }

std::optional<HeadScore> best_pattern(const HeadScores& scores) {
    std::optional<HeadScore> best;
    const auto number = [&](HeadScore score) { return scores[static_cast<std::size_t>(score)]; };
    for (const ScoreRule& rule : k_rules)
        if (rule.choice != HeadScore::entropy && number(rule.choice) &&
            (!best || *number(rule.choice) > *number(*best)))
            best = rule.choice;
    return best;
}

HeadScores head_scores(const Trace& trace, const Stage& stage, int head, const std::stop_token& cancel) {
    const std::optional<Sentence> sentence = sentence_of(trace, stage.shape());
    const std::vector<int> open = open_keys(trace, stage);
    std::array<double, k_head_scores> sums{};
    std::array<int, k_head_scores> rows{};
    const auto score_row = [&](std::span<const float> row, int i) {
        const RowEntropy spread = row_entropy(row);
        if (!(spread.sum > 0)) return;
        const ScoredRow known{row, i, open[static_cast<std::size_t>(i)], spread,
                              sentence ? &*sentence : nullptr};
        for (const ScoreRule& rule : k_rules) {
            if (rule.of_places && !sentence) continue;
            const auto score = rule.of(known);
            if (!score) continue;
            sums[static_cast<std::size_t>(rule.choice)] += *score;
            ++rows[static_cast<std::size_t>(rule.choice)];
        }
    };
    for_each_part(stage.shape().rows, [&](int first, int count) {
        stop_if_canceled(cancel);
        const Matrix weights = rows_of(stage, head, first, count);
        for (int i = 0; i < count; ++i)
            score_row({weights.row(i).data(), static_cast<std::size_t>(weights.cols())}, first + i);
    });
    HeadScores scores;
    for (std::size_t i = 0; i < k_head_scores; ++i)
        if (rows[i] > 0) scores[i] = sums[i] / rows[i];
    return scores;
}

double similarity(const Stage& a, int head_a, const Stage& b, int head_b) {
    const Shape &left_shape = a.shape(), &right_shape = b.shape();
    if (left_shape.rows != right_shape.rows || left_shape.columns != right_shape.columns) return 0;
    double sum = 0;
    int rows = 0;
    for_each_part(left_shape.rows, [&](int first, int count) {
        const Matrix left = rows_of(a, head_a, first, count), right = rows_of(b, head_b, first, count);
        for (int i = 0; i < count; ++i) {
            const std::optional<double> common = common_attention(left.row(i), right.row(i));
            sum += common.value_or(0);
            rows += common.has_value();
        }
    });
    return rows ? sum / rows : 0;
}

std::vector<SurveyedHead> survey_heads(const Trace& trace, const StageInfo& info,
                                       const std::stop_token& cancel) {
    std::vector<SurveyedHead> heads;
    for (const StageRecord& record : trace.records) {
        const StagePtr& stage = record.stage;
        if (stage->info != &info) continue;
        const int count = stage->shape().heads;
        for (int h = 0; h < count; ++h)
            heads.push_back({{stage->layer, h}, stage, head_scores(trace, *stage, h, cancel), 0});
        if (count > 1)
            heads.push_back({{stage->layer, -1}, stage, head_scores(trace, *stage, -1, cancel), 0});
    }
    return heads;
}

Matrix similarities(std::span<const SurveyedHead> heads, const std::stop_token& cancel) {
    const auto count = static_cast<Eigen::Index>(heads.size());
    Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(count, count), rows = sums;
    if (heads.empty()) return Matrix();
    const Shape& shape = heads.front().stage->shape();
    for_each_part(shape.rows, [&](int first, int part) {
        std::vector<Matrix> weights;
        for (const SurveyedHead& each : heads) {
            stop_if_canceled(cancel);
            weights.push_back(rows_of(*each.stage, each.at.head, first, part));
        }
        for (Eigen::Index a = 0; a < count; ++a) {
            stop_if_canceled(cancel);
            for (Eigen::Index b = a; b < count; ++b)
                for (int i = 0; i < part; ++i) {
                    const std::optional<double> common =
                        common_attention(weights[static_cast<std::size_t>(a)].row(i),
                                         weights[static_cast<std::size_t>(b)].row(i));
                    sums(a, b) += common.value_or(0);
                    rows(a, b) += common.has_value();
                }
        }
    });
    const Eigen::MatrixXd upper = (rows.array() > 0).select(sums.array() / rows.array().max(1), 0).matrix();
    return Eigen::MatrixXd(upper.selfadjointView<Eigen::Upper>()).cast<float>();
}

void compare_with(std::vector<SurveyedHead>& heads, const HeadPosition& chosen,
                  const std::stop_token& cancel) {
    const auto own = std::ranges::find(heads, chosen, &SurveyedHead::at);
    const StagePtr stage = own == heads.end() ? nullptr : own->stage;
    for (SurveyedHead& each : heads) {
        stop_if_canceled(cancel);
        each.similarity = stage ? similarity(*stage, chosen.head, *each.stage, each.at.head) : 0;
    }
}

}  // namespace attnscope
