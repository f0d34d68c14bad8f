// One sentence to learn from.
#pragma once

#include <vector>

namespace attnscope {

/// Words are rows of the model's tables.
struct TaskSentence {
    std::vector<int> source = {};   ///< what an encoder reads; empty for a stack of layers
    std::vector<int> tokens = {};   ///< what the stack reads, or the decoder is fed
    std::vector<int> targets = {};  ///< of each token; −1: none
    /// The token (of `source` if there is one) that a head which has learned the task attends to from each
    /// token, by which heads are scored; −1: any. Empty: any for all.
    std::vector<int> keys = {};
};

}  // namespace attnscope
