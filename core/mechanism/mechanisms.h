// The table of mechanisms, and what every mechanism has.
#pragma once

#include "core/graph/mechanism.h"

namespace attnscope {

/// Every mechanism, in the order of MechanismKind.
std::span<const Mechanism* const> mechanisms();
const Mechanism& mechanism_of(const Experiment& experiment);

/// The graph of the experiment. Throws Error(bad_input) for an experiment without tokens or whose shapes do
/// not fit, Error(too_large) for more tokens than MechanismRule::most_tokens.
Graph build(const Experiment& experiment);

/// The parameters that training learns under these settings, and the sizes that they must have.
std::vector<Overridable> parameters_of(const Experiment& experiment);

/// Why no sentence fits sizes that check() accepts, as an odd d_k with RoPE; empty if one may.
std::string why_no_sentence_fits(const Experiment& experiment);

/// The main result: `weights`; in seq2seq `alignment`, or `decoder_context` without attention.
const Stage& main_stage(const Trace& trace);

/// The stage in focus: the one chosen; of a gradient that is not there its stage; the main stage if this
/// experiment does not have it.
const Stage& focused_stage(const Trace& trace, const StageKey& chosen);
/// The layers of a stack; 0 for the other mechanisms.
int layers_of(const Trace& trace);

}  // namespace attnscope
