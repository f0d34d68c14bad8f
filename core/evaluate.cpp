// Which mechanism evaluates an experiment.
#include "core/attention/evaluate.h"

#include "core/attention/backend.h"
#include "core/attention/evaluation.h"
#include "core/attention/given_values.h"
#include "core/seq2seq/evaluation.h"

namespace attnscope {

Trace evaluate(const Experiment& experiment, const Trace& previous, const EvaluateOptions& options) {
    check(experiment);
    check_given_cells(experiment);
    const bool recurrent =
        experiment.mechanism == MechanismKind::seq2seq;  // step after step: the processor's
    const std::string backend(options.backend && !recurrent ? options.backend->name() : "cpu");
    // Backends differ in the last bits, so neither takes over the other's.
    const Trace nothing;
    const Trace& before = previous.backend == backend ? previous : nothing;
    Trace trace;
    with_threads(options.threads, [&] {
        trace = recurrent ? Seq2seqEvaluation(experiment, before, options).run()
                          : AttentionEvaluation(experiment, before, options).run();
    });
    trace.backend = backend;
    return trace;
}

std::size_t trace_bytes(const Experiment& experiment, int queries, int keys) {
    return experiment.mechanism == MechanismKind::seq2seq
               ? seq2seq_trace_bytes(experiment, queries, keys)
               : attention_trace_bytes(experiment, queries, keys).whole;
}

}  // namespace attnscope
