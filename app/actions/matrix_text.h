// The matrix in focus as text, for the clipboard.
#pragma once

#include <string>

#include "core/graph/trace.h"
#include "core/picture/presentation.h"

namespace attnscope {

/// The focused matrix (the chosen head, or the mean) as tab-separated text with labels. Throws
/// Error(bad_input) with why_not_shown() where there is none to show.
std::string focused_matrix_text(const Trace& trace, const Presentation& presentation);
/// The focused matrix as a LaTeX table with labels and the presentation's decimals. Throws as
/// focused_matrix_text().
std::string focused_matrix_latex(const Trace& trace, const Presentation& presentation);

}  // namespace attnscope
