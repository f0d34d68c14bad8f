// A mechanism: how its experiments become graphs, and what is its own in words and settings.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/graph/trace.h"

namespace attnscope {

struct Graph;

/// A sentence of the input, and what the mechanism makes of it.
struct SentenceRole {
    bool is_of_keys;          ///< its tokens are the keys, else the queries
    const StageInfo* tokens;  ///< the stage of its tokens
    std::string words;        ///< "queries", "source"
    const char* hint;         ///< in the empty field
    bool says_rows = false;   ///< shown are the words of its table's rows, not those of its axis
};

/// All that is known of a mechanism beside its operations; mechanism_of() has one for each kind.
struct Mechanism {
    MechanismKind choice;
    std::string_view summary;  ///< one line
    Graph (*build)(const Experiment& experiment);
    /// Why changing an option changes no number (core/session/applies.h).
    std::string (*why_unused)(std::string_view option, const Experiment& experiment);
    /// Why no sentence fits its sizes, which check() accepts; empty if one may. nullptr: one always may.
    std::string (*why_no_sentence_fits)(const Experiment& experiment);
    std::string_view why_not_trained;  ///< empty: there are tasks that it learns
    /// The labels of the rows, where only the computation shows them; nullptr: those of the graph.
    std::vector<std::string> (*row_labels)(const Trace& trace);
    std::span<const StageInfo* const> results;  ///< the first of them that a trace has is its main stage
    const StageInfo* mask;
    const StageInfo* center;  ///< the centers of local windows
    std::string_view query = "query", queries = "queries", key = "key", keys = "keys";  ///< on the axes
    /// The groups of settings that it uses, as in options(): the sections of the panel.
    std::span<const std::string_view> sections;
    SentenceRole first, second;   ///< of text and text2
    std::string second_sentence;  ///< what adding one does
    /// What is computed, as the title of its recipe: "Scaled dot-product attention with 2 heads".
    std::string (*title)(const Experiment& experiment);
};

/// Why an option of the experiment changes nothing, of those that a mechanism uses at all.
struct OptionRule {
    std::string_view option;
    std::string (*why_unused)(const Experiment& experiment);
};

/// The option's reason in `rules`; `otherwise` if it is not among them.
inline std::string why_unused(std::span<const OptionRule> rules, std::string_view option,
                              const Experiment& experiment, std::string_view otherwise) {
    const auto rule = std::ranges::find(rules, option, &OptionRule::option);
    return rule == rules.end() ? std::string(otherwise) : rule->why_unused(experiment);
}

}  // namespace attnscope
