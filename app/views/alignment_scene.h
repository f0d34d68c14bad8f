// The part of a trace that the alignment view shows.
#pragma once

#include "app/views/choosing.h"

namespace attnscope {

inline constexpr float k_most_step_row = 28;  ///< units, the height of a row in the panel of one step

/// Weights N × S of N steps over S source words; without attention the context N × C instead.
struct AlignmentScene {
    const Trace& trace;
    ShownStage matrix;
    ColorScale scale;
    bool aligned;
    std::vector<std::string> said;  ///< the word of each step: the target or the prediction
    int words;                      ///< S
    int step;                       ///< the chosen one
    int lit_word;                   ///< −1: none
    bool by_word;                   ///< a source word is pointed at, rather than a step

    int steps() const { return matrix.rows(); }
    std::string word(int j) const { return trace.label(Axis::key_token, j); }
    std::vector<float> weights(int i) const {
        const Eigen::RowVectorXf row = matrix.stage->buffer.row(0, i);
        return {row.begin(), row.end()};
    }
    /// A stage of the trace; nullopt if there is none of that name.
    std::optional<ShownStage> stage(StageKey key) const { return shown_stage(trace, key, {}); }
};

/// Draws the computation of the chosen decoder step, from the previous state to the word.
void decoder_step(Desk& desk, const Ui& ui, const AlignmentScene& scene, const Area& area);

}  // namespace attnscope
