// The words of the decoder's steps, from a trace of sequence to sequence.
#pragma once

#include <string>
#include <vector>

#include "core/graph/trace.h"

namespace attnscope {

/// The word that a step is fed, as a row of E_tgt; and the word that it predicts or should predict: the
/// target, or the picked word where there is no target.
int fed_word(const Trace& trace, int step);
int said_word(const Trace& trace, int step);
/// said_word() of all steps, as text.
std::vector<std::string> said_words(const Trace& trace);

/// A word of the target's vocabulary, with its probability at a step.
struct LikelyWord {
    int word;  ///< its row of E_tgt
    double probability;
    int rank;  ///< 1 = most likely; of equals, the first row ranks higher
};

/// The `count` (1 or more) most likely words of a step, most likely first. The step's said_word() is always
/// included; if it is less likely than the others, it comes last.
std::vector<LikelyWord> likely_words(const Trace& trace, int step, int count);

}  // namespace attnscope
