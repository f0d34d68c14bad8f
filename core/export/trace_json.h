// A whole trace as JSON, for scripts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/files/byte_sink.h"
#include "core/graph/trace.h"
#include "core/session/session.h"

namespace attnscope {

/// Writes, row by row, `{"format": "attnscope-trace", "version": 1, "experiment": {…}, "backend": "cpu",
/// "rows": [tokens], "columns": [tokens], "stages": {NAME: {"shape": […], "data": […]}, …}, "parameters":
/// {…}}` on a few lines, with a final newline; the trace's gradients, if there are any, follow as
/// "gradients": {NAME: …}, each under the name of its stage and of its shape. Nested arrays of nine
/// significant digits; −∞ is null, NaN and +∞ are "nan" and "inf". A stage with a head dimension is h × N × M
/// even if h = 1, and 1 × N × M for one head or for the mean, as `head` selects (heads_of()). `names` selects
/// stages, with their gradients, or gradients alone, "grad.scores"; empty: all. Of stages of pairs only
/// `region` is written, and "shape" is the region's, which "region" tells as --region takes it; without one,
/// "data" is null for what is computed on demand (names_left_out()). Throws, before anything is written,
/// Error(bad_input) for a name, a head or a region that the trace does not have, and Error(too_large) as
/// require_written(); what `to` throws.
void write_trace_json(const Trace& trace, std::span<const std::string> names, const HeadChoice& head,
                      const std::optional<Region>& region, const ByteSink& to);

/// The stages whose numbers write_trace_json() leaves out.
std::vector<std::string> names_left_out(const Trace& trace, std::span<const std::string> names,
                                        const std::optional<Region>& region);

}  // namespace attnscope
