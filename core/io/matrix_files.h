// One matrix of a stage as a file of data. All numbers are in the C locale; nine significant digits where
// they are text, so that every float32 is read back as it was.
#pragma once

#include <string>

#include "core/attention/trace.h"
#include "core/io/session.h"
#include "core/picture/progress.h"

namespace attnscope {

/// Comma-separated values (RFC 4180, UTF-8, lines end in \n): the first row holds an empty cell and the
/// labels of the columns, each further row its label and its values. A masked cell is its value: `-inf` in
/// `masked`, 0 in `weights`. `nan`, `inf`, `-inf` as NumPy and pandas read them. Throws Error(bad_input) as
/// shown_matrix(): one head or the mean; Cancelled.
std::string to_csv(const Trace& trace, const Stage& stage, const HeadChoice& head,
                   const Progress& progress = {});

/// NumPy's format, version 1.0: little-endian float32, C order, rows × columns; heads × rows × columns if
/// `head` says all. Throws Error(bad_input) as shown_matrix().
std::string to_npy(const Stage& stage, const HeadChoice& head);
/// The same of one matrix.
std::string to_npy(const Matrix& matrix);

/// `{"stage": …, "head": 1 … h | "mean" | null, "shape": [rows, columns], "rows": [labels], "columns":
/// [labels], "data": [[…]]}`, one row of the matrix a line; −∞ is null, NaN "nan", +∞ "inf". Throws
/// Error(bad_input) as shown_matrix(): one head or the mean; Cancelled.
std::string to_json(const Trace& trace, const Stage& stage, const HeadChoice& head,
                    const Progress& progress = {});

}  // namespace attnscope
