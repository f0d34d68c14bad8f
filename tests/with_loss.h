// Experiments that have a loss, and so gradients.
#pragma once

#include <algorithm>
#include <string>

#include "core/graph/gradient.h"
#include "core/mechanism/evaluate.h"
#include "core/random/generator.h"

namespace attnscope::test {

/// The experiment with the loss Σ loss_weights ∘ its result, if it has none and may have that one.
inline Experiment with_loss(Experiment e) {
    const Trace trace = evaluate(e);
    const auto weights =
        std::ranges::find(trace.overridable, std::string("loss_weights"), &Overridable::name);
    if (why_no_gradients(trace).empty() || weights == trace.overridable.end()) return e;
    Matrix values(weights->rows, weights->columns);
    Generator generator(9);
    generator.normal({values.data(), static_cast<std::size_t>(values.size())});
    e.weights.custom.emplace("loss_weights", CustomMatrix(std::move(values)));
    return e;
}

/// The trace with its gradients; without a loss there are none.
inline Trace with_gradients(const Experiment& e) {
    Trace trace = evaluate(e);
    if (why_no_gradients(trace).empty()) trace.gradients = gradients(trace);
    return trace;
}

}  // namespace attnscope::test
