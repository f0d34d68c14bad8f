#include "core/mechanism/attention/mechanism.h"

#include "core/graph/stage_table.h"
#include "core/mechanism/attention/build.h"

namespace attnscope {
namespace {

Graph build_attention(const Experiment& experiment) { return AttentionBuilder(experiment).build(); }

constexpr const StageInfo* k_results[] = {"weights"_stage};

}  // namespace

const Mechanism k_attention_mechanism = {
    .choice = MechanismKind::attention,
    .build = build_attention,
    .why_unused = why_unused_by_attention,
    .row_labels = nullptr,
    .is_recurrent = false,
    .results = k_results,
    .mask = "mask"_stage,
    .center = "center"_stage,
    .query = "query",
    .queries = "queries",
    .key = "key",
    .keys = "keys",
    .first = {false, "tokens"_stage, "queries", "Type a sentence"},
    .second = {true, "tokens_kv"_stage, "keys, values", "Second sentence (keys and values)"},
    .second_sentence = "Cross-attention: queries from the first sentence, keys and values from the second",
};

}  // namespace attnscope
