// Lines from queries to the keys that they attend to: of each query the largest weights that together make up
// a share of its weight, its mass.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/graph/trace.h"

namespace attnscope {

/// Which weights of a row are kept: those above `weight`, and of those equal to it the columns up to
/// `column`.
struct MassCutoff {
    float weight = std::numeric_limits<float>::infinity();
    int column = -1;

    /// Whether the row's weight in a column is kept.
    bool keeps(float value, int at) const;
    bool operator==(const MassCutoff&) const = default;
};

/// Keeps the fewest weights, the largest first and of equal ones the leftmost, that together make up `mass`
/// (0 … 1) of the row's sum; with mass 1 every weight. What is not finite or not above 0 is never kept.
MassCutoff mass_cutoff(std::span<const float> weights, double mass);

/// A kept weight, of a head from 0 or of the mean over the heads (−1).
struct MassLine {
    int query;
    int key;
    int head;
    float weight;
    bool operator==(const MassLine&) const = default;
};

/// The lines of some heads of a stage of weights.
struct MassLines {
    std::vector<int> heads;                        ///< from 0; −1: the mean over the heads
    std::vector<std::vector<MassCutoff>> cutoffs;  ///< by index into `heads`, then by query
    std::vector<MassLine> strongest;               ///< at most k_most_kept_lines, strongest first
    std::int64_t count = 0;                        ///< of all lines
    float largest = 0;                             ///< the largest weight of these heads
    std::vector<std::string> queries, keys;        ///< the words at both ends
    std::vector<bool> masked_queries;  ///< without an open key in any of these heads: they have no weight
    std::vector<bool> masked_keys;     ///< with the softmax over the queries, without an open query
};

inline constexpr std::size_t k_most_kept_lines = 200'000;
/// The most lines that a picture of all tokens has: more would be one surface.
inline constexpr std::size_t k_most_drawn_lines = 2000;

/// The stage whose weights are drawn as lines: `chosen`, if it holds attention weights, else the main stage
/// of its layer; nullptr where there are no weights.
const Stage* lines_stage(const Trace& trace, const StageKey& chosen);

/// Reads all weights of these heads. Throws Canceled.
MassLines find_mass_lines(const Trace& trace, const Stage& stage, std::vector<int> heads, double mass,
                          const std::stop_token& cancel = {});

/// The lines of one token, weakest first. They read one row or column of each head.
std::vector<MassLine> lines_of_query(const Stage& stage, const MassLines& lines, int query);
std::vector<MassLine> lines_of_key(const Stage& stage, const MassLines& lines, int key);

/// How much is drawn, in words: "the lines make up 90 % of each query's weight".
std::string mass_text(double mass, std::size_t drawn, std::int64_t count);
/// A share as a person reads it: "90 %", "62.5 %".
std::string percent_text(double share);

}  // namespace attnscope
