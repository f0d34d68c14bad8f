// Data files of one matrix of a stage. All numbers are in the C locale, with nine significant digits in text,
// so that every float32 is read back exactly.
#pragma once

#include <optional>
#include <string>

#include "core/files/byte_sink.h"
#include "core/graph/trace.h"
#include "core/progress.h"
#include "core/session/session.h"

namespace attnscope {

// Files are written row by row, so that a stage need not fit into memory. With a region, what is
// written is exported_region() of the stage. Throws what this, for_each_row() and the sink throw.

/// Comma-separated values (RFC 4180 but for lines that end in LF, UTF-8): the first row holds an empty cell
/// and the column labels, each further row its label and its values. A masked cell is written as its value:
/// `-inf` in `masked`, 0 in `weights`. `nan`, `inf`, `-inf` as read by NumPy and pandas. Throws
/// Error(bad_input) as shown_matrix() unless the choice is one head or the mean; Canceled.
void write_csv(const Trace& trace, const Stage& stage, const HeadChoice& head, const ByteSink& to,
               const Progress& progress = {}, const std::optional<Region>& region = {});

/// A LaTeX `tabular` that needs no package: the column labels above a rule, then each row's label and values,
/// with `decimals` decimals or, without them, as cell_text() writes them. Labels are escaped; an infinity is
/// $\infty$, a power of ten $10^{n}$. Throws Error(bad_input) as shown_matrix() unless the choice is one head
/// or the mean.
std::string to_latex(const Trace& trace, const Stage& stage, const HeadChoice& head,
                     std::optional<int> decimals);

/// NumPy's format, version 1.0: little-endian float32, C order, rows × columns; heads × rows × columns if
/// `head` selects all. Throws Error(bad_input) as shown_matrix(); Canceled.
void write_npy(const Stage& stage, const HeadChoice& head, const ByteSink& to, const Progress& progress = {},
               const std::optional<Region>& region = {});
/// One matrix in NumPy's format, as write_npy() writes it.
std::string to_npy(const Matrix& matrix);

/// `{"stage": …, "head": 1 … h | "mean" | null, "shape": [rows, columns], "rows": [labels], "columns":
/// [labels], "data": [[…]]}`, one row of the matrix per line; −∞ is null, NaN "nan", +∞ "inf". Throws
/// Error(bad_input) as shown_matrix() unless the choice is one head or the mean; Canceled.
void write_json(const Trace& trace, const Stage& stage, const HeadChoice& head, const ByteSink& to,
                const Progress& progress = {}, const std::optional<Region>& region = {});

}  // namespace attnscope
