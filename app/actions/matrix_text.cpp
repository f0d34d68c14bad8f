#include "app/actions/matrix_text.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "core/error.h"
#include "core/export/matrix_files.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {
namespace {

/// Cells of a matrix that is copied as text: some 200 MB.
constexpr std::size_t k_most_copied = std::size_t{1} << 24;

/// The stage in focus and what is shown of it. Throws Error(bad_input) where there is no matrix to show,
/// Error(too_large) where it is too large to be copied.
std::pair<const Stage&, HeadChoice> focused_matrix(const Trace& trace, const Presentation& presentation) {
    const Stage& stage = focused_stage(trace, presentation.stage);
    const HeadChoice head = head_on_screen(stage, presentation.head);
    if (const std::string why = why_not_shown(stage, head); !why.empty())
        throw Error(ErrorKind::bad_input, why);
    const Shape& shape = stage.shape();
    const bool takes_all_pairs = stage.buffer.on_demand() && !is_of_pairs(*stage.info);
    if (shape.head_size() > k_most_copied || takes_all_pairs)
        throw Error(ErrorKind::too_large,
                    fmt::format("{} is {} × {}, too large for the clipboard: export a region of it",
                                stage_heading(stage.key()), shape.rows, shape.columns));
    return {stage, head};
}

}  // namespace

std::string focused_matrix_latex(const Trace& trace, const Presentation& presentation) {
    const auto [stage, head] = focused_matrix(trace, presentation);
    return to_latex(trace, stage, head, presentation.decimals);
}

std::string focused_matrix_text(const Trace& trace, const Presentation& presentation) {
    const auto [stage, head] = focused_matrix(trace, presentation);
    const ShownMatrix shown = shown_matrix(stage, head);
    std::string text;
    for (int j = 0; j < stage.shape().columns; ++j) text += "\t" + trace.column_label(stage, j, shown.head);
    text += "\n";
    for (int i = 0; i < stage.shape().rows; ++i) {
        text += trace.row_label(stage, i);
        for (const float value : shown.buffer->row(shown.head, i)) text += "\t" + exact_text(value);
        text += "\n";
    }
    return text;
}

}  // namespace attnscope
