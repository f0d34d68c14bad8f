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
    std::string_view file;   ///< name of its files, without format
    std::string_view needs;  ///< what an experiment must have, for a refusal
    /// The stage whose numbers it shows; nullptr where the experiment has nothing for this view.
    const Stage* (*stage)(const Trace& trace);
    /// As make_figure(), whose errors it throws.
    Figure (*make)(const Trace& trace, const Stage& stage, const HeadChoice& head,
                   const Presentation& presentation);
};

/// image, alignment.
std::span<const ViewFigure> view_figures();
/// nullptr for a view that shows stages alone.
const ViewFigure* find_view_figure(ViewKind view);

/// What the view of the alignment says where there is none.
inline constexpr const char* k_no_alignment = "no alignment: every step sees the last encoder state alone";

/// The query that a view of one query is about: the locked cell's, else the first.
int locked_query(const Presentation& presentation, int queries);

}  // namespace attnscope
