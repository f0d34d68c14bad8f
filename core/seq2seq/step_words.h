// The words of the decoder's steps, read off a trace of sequence to sequence.
#pragma once

#include <string>
#include <vector>

#include "core/attention/trace.h"

namespace attnscope {

/// The word that a step is fed, a row of E_tgt; and the one that it is to say: the wanted one, or the one
/// that it picks where none is wanted.
int fed_word(const Trace& trace, int step);
int said_word(const Trace& trace, int step);
/// said_word of all steps, as they are written.
std::vector<std::string> said_words(const Trace& trace);

/// A word of the target's vocabulary, as a step finds it.
struct LikelyWord {
    int word;  ///< its row of E_tgt
    double probability;
    int rank;  ///< 1 = the likeliest; of equals the first row is the likelier
};

/// The `count` (1 or more) likeliest words of a step, the likeliest first. The one that the step is to say is
/// among them, in the last one's place where it is less likely.
std::vector<LikelyWord> likely_words(const Trace& trace, int step, int count);

}  // namespace attnscope
