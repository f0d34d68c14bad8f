#include "core/op/word_table.h"

namespace attnscope {

Op word_table(const Experiment& e, std::vector<std::string> words) {
    if (e.input.uses_lexicon()) return op::LexiconTable{std::move(words), e.input.dim};
    return op::StableTable{e.weights.seed, std::move(words), e.input.dim, e.weights.embedding};
}

}  // namespace attnscope
