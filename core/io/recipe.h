// An experiment as a script for PyTorch.
#pragma once

#include <string>

#include "core/attention/trace.h"

namespace attnscope {

/// A short commented Python script, the same bytes for the same experiment, that needs torch alone (1.13 or
/// later), draws the random numbers with the same calls from the same seeds, computes every stage and
/// parameter of `trace` under its name and prints them; with --json as `{"stages": {…}, "parameters": {…}}`
/// in the layout of trace_json(). Of the trace it takes which stages there are, their shapes and the tokens'
/// rows in the table, and whether NaN or ±∞ meet closed cells; all other numbers it computes itself.
std::string recipe(const Trace& trace);

}  // namespace attnscope
