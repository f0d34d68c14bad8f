// Exports an experiment as a PyTorch script.
#pragma once

#include <string>

#include "core/graph/trace.h"

namespace attnscope {

/// A short commented Python script, the same bytes for the same experiment, that needs only torch (1.13 or
/// later), draws the random numbers with the same calls and seeds, computes every stage and parameter of
/// `trace` under its name and prints them; with --json as `{"stages": {…}, "parameters": {…}}` in the layout
/// of write_trace_json(), to which `"gradients": {…}` belongs if the trace has them. Its lines are those of
/// the trace's operations, in their order (op::TorchLines). Of the values of the trace they need only the
/// shapes, and whether NaN or ±∞ meet closed cells; the script computes all numbers itself.
std::string recipe(const Trace& trace);

}  // namespace attnscope
