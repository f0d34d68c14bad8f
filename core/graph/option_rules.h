// When an option applies, as several mechanisms say it in their Mechanism::options.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/op/normalizers.h"

namespace attnscope::option_rules {

inline constexpr std::string_view k_words = "no custom matrix replaces the words";
inline constexpr std::string_view k_table = "a table is drawn";
inline constexpr std::string_view k_table_size =
    "vocabulary is neither stable nor lexicon, and a table is drawn";
inline constexpr std::string_view k_seed = "something is drawn with it";
inline constexpr std::string_view k_learned = "position is learned";
inline constexpr std::string_view k_rope = "position is rope";
inline constexpr std::string_view k_local = "normalizer is local-m or local-p";

/// Why an option has no effect.
inline constexpr const char* k_one_row_per_word = "this vocabulary has exactly one row per word";
inline constexpr const char* k_lexicon_vectors = "the words' vectors are those of the lexicon";
inline constexpr const char* k_nothing_drawn = "nothing is drawn with this seed";
inline constexpr const char* k_no_ablation = "no head is ablated";

/// "rope": the positions whose rule has this member set.
inline std::string positions_with(bool PositionRule::*member) {
    std::vector<std::string_view> names;
    for (const PositionRule& rule : k_position_rules)
        if (rule.*member) names.push_back(name_of(rule.choice));
    return fmt::format("{}", fmt::join(names, " or "));
}

inline std::string no_rope(const Experiment& e) {
    if (position_rule(e.attention.position).rotates) return "";
    return "only " + positions_with(&PositionRule::rotates) + " rotates pairs of features";
}

inline std::string no_learned_positions(const Experiment& e) {
    if (position_rule(e.attention.position).has_table) return "";
    return "only position " + positions_with(&PositionRule::has_table) + " has a table";
}

inline std::string no_local_window(const Experiment& e) {
    return has_window(e.weighting.normalizer) ? "" : "only local attention has a window";
}

}  // namespace attnscope::option_rules
