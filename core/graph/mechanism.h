// A mechanism: how its experiments become graphs, and what is its own in words and settings.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/experiment/option_names.h"
#include "core/experiment/option_section.h"
#include "core/graph/trace.h"

namespace attnscope {

struct Graph;

/// A sentence of the input, and what the mechanism makes of it.
struct SentenceRole {
    bool is_of_keys;                   ///< its tokens are the keys, else the queries
    const StageInfo* tokens;           ///< the stage of its tokens
    std::string words;                 ///< "queries", "source"
    const char* hint;                  ///< in the empty field
    bool says_rows = false;            ///< shown are the words of its table's rows, not those of its axis
    bool has_own_table = false;        ///< words2 lists its words, not words
    const StageInfo* table = nullptr;  ///< whose rows its tokens are; nullptr: that of the other sentence
    std::string table_words = {};      ///< the variable of its recipe that lists the table's words
};

/// When an option changes a number: always, never, or under a condition.
struct OptionRule {
    OptionName option;
    std::string_view when = "";  ///< the condition in words
    /// Why it changes no number of an experiment; empty if it does. nullptr: it always does.
    std::string (*why_unused)(const Experiment& experiment) = nullptr;

    bool is_never_used() const { return when.empty() && why_unused; }

    consteval OptionRule(const char* name) : option(name) {}
    consteval OptionRule(const char* name, std::string (*why)(const Experiment& experiment))
        : option(name), why_unused(why) {}
    consteval OptionRule(const char* name, std::string_view words,
                         std::string (*why)(const Experiment& experiment))
        : option(name), when(words), why_unused(why) {}
};

/// All that is known of a mechanism beside its operations; mechanism_of() has one for each kind.
struct Mechanism {
    MechanismKind choice;
    std::string_view summary;  ///< one line
    Graph (*build)(const Experiment& experiment);
    std::span<const OptionRule> options;  ///< which change something
    std::string_view other_options;       ///< why all others change nothing
    /// Why no sentence fits its sizes, which check() accepts; empty if one may. nullptr: one always may.
    std::string (*why_no_sentence_fits)(const Experiment& experiment);
    std::string_view why_not_trained;  ///< empty: there are tasks that it learns
    /// The labels of the rows, where only the computation shows them; nullptr: those of the graph.
    std::vector<std::string> (*row_labels)(const Trace& trace);
    /// The words of the queries in pictures of words: those that a decoder predicts; nullptr: their labels.
    std::vector<std::string> (*query_words)(const Trace& trace);
    std::string_view query_words_name = "";     ///< the title of their axis: "target words"
    std::span<const StageInfo* const> results;  ///< the first of them that a trace has is its main stage
    const StageInfo* mask;
    const StageInfo* center;  ///< the centers of local windows
    std::string_view query = "query", queries = "queries", key = "key", keys = "keys";  ///< on the axes
    std::span<const OptionSection> sections;  ///< of the panel, with the settings that it uses
    SentenceRole first, second;               ///< of text and text2
    std::string second_sentence;              ///< what adding one does
    /// What is computed, as the title of its recipe: "Scaled dot-product attention with 2 heads".
    std::string (*title)(const Experiment& experiment);
    /// The parameters that training learns, as far as the settings use them, and the sizes that they must
    /// have; a custom table keeps its rows if there is one for each word that is listed. nullptr: nothing is
    /// learned.
    std::vector<Overridable> (*parameters)(const Experiment& experiment) = nullptr;
};

}  // namespace attnscope
