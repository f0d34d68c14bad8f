// What a view shows beyond one matrix, as a figure to export.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/picture/figure.h"

namespace attnscope {

/// A view with a picture of its own.
struct ViewFigure {
    ViewKind view;
    bool of_all_heads;  ///< it draws all heads in one figure, if all are chosen, and can have one for each
    std::string_view file;   ///< name of its files, without extension
    std::string_view needs;  ///< what an experiment needs for it, for an error message
    /// The stage whose numbers it shows, if `chosen` is in focus; nullptr if the experiment has nothing for
    /// this view.
    const Stage* (*stage)(const Trace& trace, const StageKey& chosen);
    /// Makes the figure; throws as make_figure(), except for all heads if it has a figure of these.
    Figure (*make)(const Trace& trace, const Stage& stage, const HeadChoice& head,
                   const Presentation& presentation);
};

/// nullptr for a view that shows only stages.
const ViewFigure* find_view_figure(ViewKind view);

/// The text of the alignment view where there is no alignment.
inline constexpr const char* k_no_alignment = "no alignment: every step sees the last encoder state alone";

/// The query of a view of one query: the locked cell's, else the first.
int locked_query(const Presentation& presentation, int queries);

}  // namespace attnscope
