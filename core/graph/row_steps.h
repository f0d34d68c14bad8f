// The computation of one row of weights, stage by stage, and what its weights make of the values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/trace.h"

namespace attnscope {

/// One step of the computation of a row: a number for each key, or what happens to the values.
struct RowStep {
    enum class Kind : std::uint8_t {
        scores,        ///< of any sign, before and after the scale, of closed keys as well
        signed_,       ///< of any sign: biased or masked scores, or what the softmax makes of them
        exponentials,  ///< 0 … 1
        weights,       ///< 0 … 1; after dropout they may exceed 1
        products,      ///< each key's value times its weight: no numbers here, see weighted_value()
        sum,           ///< of the products: a number for each feature
    };

    std::string title;    ///< "scores", "− row max"
    std::string symbol;   ///< of the stage: "S"; the title where there is none
    std::string caption;  ///< a few words: "÷ √d_k"
    std::string formula;  ///< in full: "Q Kᵀ ÷ √d_k"
    std::string sentence;
    Kind kind;
    const Stage* stage = nullptr;  ///< whose row the numbers are; nullptr within the softmax, and of products
    std::vector<double> numbers = {};
    std::string total =
        "";  ///< of the row, where the next step or the reader needs it: "max 5.66", "Σ 1.000"
};

/// The stages are those of the trace, which must outlive this.
struct RowSteps {
    int head;  ///< from 0
    int row;
    std::vector<bool> closed;  ///< for each key: masked, or its score is −∞
    std::vector<RowStep> steps;
    std::vector<double> weights;    ///< that the values get: the last stage of weights
    const Stage* values = nullptr;  ///< nullptr: there are none to weight
    std::string remark;             ///< "every key is masked for this query: …"; empty if there is none

    int keys() const { return static_cast<int>(closed.size()); }
};

/// The weights that the values get, after a window and dropout, in this layer if the trace has layers;
/// nullptr if there are none.
const Stage* last_weights(const Trace& trace, int layer);

/// The weight of last_weights() that a pair of a stage of scores gets, masked ones too, in one head (−1: the
/// mean over the heads); nullopt for other stages, and for a mean of several heads.
std::optional<double> weight_of_score(const Trace& trace, const Stage& scores, int head, int row, int column);

/// The scores that become these weights, the last ones before the mask: in the trace's order the last stage
/// of scores before them in their layer; nullptr if there is none.
const Stage* scores_before(const Trace& trace, const Stage& weights);

/// The steps of a row of last_weights() in one head: the stages of the trace from the scores on, in their
/// order; a softmax in three steps (less the maximum, exp, divided by the sum); then, where there are values,
/// the values times the weights and their sum, the context.
RowSteps row_steps(const Trace& trace, const Stage& weights, int head, int row);

/// The value of a key, one number for each feature. There must be values.
std::vector<double> value_of_key(const RowSteps& of, int key);

/// The value of a key times its weight, one number for each feature; zeros where the key is closed, even if
/// its value is NaN. There must be values.
std::vector<double> weighted_value(const RowSteps& of, int key);

}  // namespace attnscope
