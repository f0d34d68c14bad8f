// The embedding table of a vocabulary in which each word's row depends on that word alone.
#pragma once

#include <string>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/op/op.h"

namespace attnscope {

/// words × d: drawn, each row by its own generator (`stable`), or the words' features (`lexicon`).
Op word_table(const Experiment& experiment, std::vector<std::string> words);

}  // namespace attnscope
