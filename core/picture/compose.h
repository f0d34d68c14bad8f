// Pictures of more than one matrix, as sheets.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/picture/difference.h"
#include "core/picture/sheet.h"
#include "core/picture/view_figure.h"

namespace attnscope {

/// Whether the picture of a stage is a sheet: it has a width on paper, or shows more than the stage's matrix.
bool is_sheet(const Presentation& presentation);

/// What a comparison is with: A, and what A and B differ in, as words below their names; may be empty.
struct PinnedSide {
    ComparedSide side;
    std::string about_a = {}, about_b = {};
};

/// Why there is no such picture of the stage, in one line; empty if there is. `pinned` is A, if there is one.
std::string why_not_composed(Compose compose, const Trace& trace, const Stage& stage, const HeadChoice& head,
                             const std::optional<PinnedSide>& pinned = {});

/// One frame of a film: what is shown of a trace, and its name below the others.
struct SheetFrame {
    std::shared_ptr<const Trace> trace;
    StagePtr stage;
    HeadChoice head;
    std::string name;            ///< "Seed 124"
    bool marks_centers = false;  ///< of local windows
};
/// The presentation with the range of all frames: 0 … 1 for weights, unless it has another; else from the
/// smallest to the largest number.
Presentation on_one_range(std::span<const SheetFrame> frames, Presentation presentation);

/// All frames in lines, on one range. With `statistics`, the mean over the frames and their spread (standard
/// deviation) follow, where all have the same shape. Throws as make_figure().
Sheet contact_sheet(std::span<const SheetFrame> frames, const Presentation& presentation, bool statistics);

/// A figure alone on a sheet: its title is the sheet's.
Sheet sheet_of(Figure figure, const Presentation& presentation);

/// The picture that a view has of each head, beside each other; of a view that draws all heads in one.
Sheet sheet_of_heads(const ViewFigure& view, const Trace& trace, const Stage& stage,
                     const Presentation& presentation);

/// The picture of a stage as `presentation.compose` and its paper say. The heads have one range, as have A
/// and B; the strip has every stage of the trace but numbers of tokens, whatever `stage`. Reads whole
/// matrices. Throws Error(bad_input) with why_not_composed(), and as make_figure().
Sheet compose(const Trace& trace, const Stage& stage, const HeadChoice& head,
              const Presentation& presentation, const std::optional<PinnedSide>& pinned = {});

}  // namespace attnscope
