// A small vocabulary of English and its French translation, with a grammar small enough to be learned in
// seconds.
#pragma once

#include <string>
#include <vector>

#include "core/learn/task_sentence.h"
#include "core/random/generator.h"

namespace attnscope {

std::vector<std::string> english_words();
/// After <bos> and <eos>.
std::vector<std::string> french_words();

/// A sentence with a subject (a pronoun, or article, adjective and noun), a verb, negated at times, and an
/// object. French nouns have a gender, which article and adjective follow; most adjectives stand after the
/// noun, petit and grand before it; "ne … pas" stands around the verb. A word's key is the English word that
/// it translates; an article's is its noun, whose gender decides.
TaskSentence draw_translation(Generator& generator);

}  // namespace attnscope
