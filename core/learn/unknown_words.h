// The words of a sentence that its task does not know.
#pragma once

#include <cstddef>
#include <vector>

#include "core/experiment/experiment.h"

namespace attnscope {

/// Bytes of a text, up to `end`.
struct TextPart {
    std::size_t begin, end;

    bool operator==(const TextPart&) const = default;
};

/// The positions of words in the sentence, or in the second one, that the task does not know; empty without a
/// task.
std::vector<TextPart> unknown_words(const Experiment& experiment, bool in_second);

}  // namespace attnscope
