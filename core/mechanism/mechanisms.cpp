#include "core/mechanism/mechanisms.h"

#include <algorithm>
#include <array>

#include "core/graph/graph.h"
#include "core/mechanism/attention/mechanism.h"
#include "core/mechanism/seq2seq/mechanism.h"
#include "core/mechanism/transformer/mechanism.h"

namespace attnscope {

namespace {

constexpr std::array k_mechanisms = {&k_attention_mechanism, &k_seq2seq_mechanism, &k_transformer_mechanism};
static_assert(k_mechanisms.size() == choices<MechanismKind>().size());

}  // namespace

std::span<const Mechanism* const> mechanisms() { return k_mechanisms; }

const Mechanism& mechanism_of(const Experiment& experiment) {
    return **std::ranges::find(k_mechanisms, experiment.mechanism,
                               [](const Mechanism* each) { return each->choice; });
}

Graph build(const Experiment& experiment) { return mechanism_of(experiment).build(experiment); }

std::string why_no_sentence_fits(const Experiment& experiment) {
    const auto why = mechanism_of(experiment).why_no_sentence_fits;
    return why ? why(experiment) : "";
}

std::vector<Overridable> parameters_of(const Experiment& experiment) {
    const auto parameters = mechanism_of(experiment).parameters;
    return parameters ? parameters(experiment) : std::vector<Overridable>();
}

const Stage& main_stage(const Trace& trace) {
    for (const StageInfo* result : mechanism_of(trace.experiment).results)
        if (const Stage* stage = trace.find_chosen(result)) return *stage;
    return *trace.records.front().stage;
}

int layers_of(const Trace& trace) {
    int layers = 0;
    for (const StageRecord& record : trace.records) layers = std::max(layers, record.stage->layer);
    return layers;
}

const Stage& focused_stage(const Trace& trace, const StageKey& chosen) {
    const Stage* stage = trace.find_chosen(chosen);
    if (!stage) stage = trace.find_chosen(chosen.as(StageKey::Part::value));
    return stage ? *stage : main_stage(trace);
}

}  // namespace attnscope
