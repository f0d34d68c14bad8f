// What the alignment view shows of a trace.
#pragma once

#include "app/views/choosing.h"

namespace attnscope {

/// Weights N × S of N steps over S source words; without attention the context N × C in their place.
struct AlignmentScene {
    const Trace& trace;
    ShownStage matrix;
    ColorScale scale;
    bool aligned;
    std::vector<std::string> said;  ///< what each step is to say
    int words;                      ///< S
    int step;                       ///< the chosen one
    int lit_word;                   ///< −1: none
    bool by_word;                   ///< a source word is pointed at, and no step

    int steps() const { return matrix.rows(); }
    std::string word(int j) const { return trace.label(Axis::key_token, j); }
    std::span<const float> weights(int i) const {
        const auto row = matrix.stage->buffer.host().head(0).row(i);
        return {row.data(), static_cast<std::size_t>(row.size())};
    }
    /// A stage of the trace; nullopt if it has none of that name.
    std::optional<ShownStage> stage(std::string_view name) const { return shown_stage(trace, name, {}); }
};

/// What the decoder does in the chosen step, from its state before to the word it says.
void decoder_step(Ui& ui, const AlignmentScene& scene, const Area& area);

}  // namespace attnscope
