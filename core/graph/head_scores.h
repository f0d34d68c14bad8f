// What a head of attention does, as a few numbers by which heads are named, sorted and compared.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/choice.h"
#include "core/graph/trace.h"

namespace attnscope {

/// A number of one matrix of weights: the mean over its rows, of those for which it is defined. Rows whose
/// keys are all masked have none.
enum class HeadScore { entropy, uniform, previous, first, itself, same, induction };
constexpr auto choice_names(HeadScore) {
    using enum HeadScore;
    return std::to_array<ChoiceName<HeadScore>>({{entropy, "entropy"},
                                                 {uniform, "uniform"},
                                                 {previous, "previous token"},
                                                 {first, "first token"},
                                                 {itself, "itself"},
                                                 {same, "same word"},
                                                 {induction, "induction"}});
}
inline constexpr std::size_t k_head_scores = choice_names(HeadScore{}).size();

/// One line for a person: what the number is, its range, and where it is from.
std::string_view help_of(HeadScore score);
/// Whether the score asks where a token stands among the queries, which only self-attention has.
bool is_of_places(HeadScore score);

/// The scores of a matrix, by HeadScore; nullopt where no row has one.
using HeadScores = std::array<std::optional<double>, k_head_scores>;

/// The pattern that the weights match best: the share with the largest number, which the entropy is not;
/// nullopt where there is none.
std::optional<HeadScore> best_pattern(const HeadScores& scores);

/// The scores of one head (from 0) of a stage of queries × keys, or of the mean over its heads (−1). Reads
/// the whole matrix. Throws Canceled.
HeadScores head_scores(const Trace& trace, const Stage& stage, int head, const std::stop_token& cancel = {});

/// How alike two matrices of one shape are: the share of attention that they have in common, the mean over
/// the rows of Σ min(a, b); 0 … 1, 1 for equal rows that sum to 1. A head is counted from 0, −1 is the mean.
double similarity(const Stage& a, int head_a, const Stage& b, int head_b);

struct SurveyedHead;
/// The similarity of every pair of heads of one stage, all of one shape, in their order: symmetric, H × H.
/// Reads every matrix once. Throws Canceled.
Matrix similarities(std::span<const SurveyedHead> heads, const std::stop_token& cancel = {});

/// A head of one layer (from 1; 0 without layers), or the mean over the heads (−1).
struct HeadPosition {
    int layer = 0;
    int head = 0;
    bool operator==(const HeadPosition&) const = default;
};

/// A head with its scores.
struct SurveyedHead {
    HeadPosition at;
    StagePtr stage;
    HeadScores scores;
    double similarity = 0;  ///< to the chosen head
};

/// Every head of a stage in every layer that has it, each layer's heads followed by their mean, if there are
/// several. Throws Canceled; Error(backend) if a card is lost.
std::vector<SurveyedHead> survey_heads(const Trace& trace, const StageInfo& info,
                                       const std::stop_token& cancel = {});
/// Sets the similarity of each head to the chosen one; 0 if that is not among them. Throws as survey_heads().
void compare_with(std::vector<SurveyedHead>& heads, const HeadPosition& chosen,
                  const std::stop_token& cancel = {});

}  // namespace attnscope
