// Which mechanism evaluates an experiment.
#include "core/attention/evaluate.h"

#include "core/attention/evaluation.h"
#include "core/seq2seq/evaluation.h"

namespace attnscope {

Trace evaluate(const Experiment& experiment, const Trace& previous, const EvaluateOptions& options) {
    check(experiment);
    Trace trace;
    with_threads(options.threads, [&] {
        trace = experiment.mechanism == "seq2seq" ? Seq2seqEvaluation(experiment, previous, options).run()
                                                  : AttentionEvaluation(experiment, previous, options).run();
    });
    return trace;
}

std::size_t trace_bytes(const Experiment& experiment, int queries, int keys) {
    return experiment.mechanism == "seq2seq" ? seq2seq_trace_bytes(experiment, queries, keys)
                                             : attention_trace_bytes(experiment, queries, keys);
}

}  // namespace attnscope
