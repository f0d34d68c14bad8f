// One matrix of a trace on screen: what every view draws stages with.
#pragma once

#include "app/window/ui.h"
#include "core/picture/color_scale.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {

/// A stage of a trace, and which of its matrices.
struct ShownStage {
    const Trace* trace;
    StagePtr stage;
    HeadChoice head;  ///< one head, or the mean; heads = 1 for stages without

    int rows() const { return stage->shape().rows; }
    int columns() const { return stage->shape().columns; }
    /// −1 for the mean.
    int head_index() const { return head.kind == HeadChoice::Kind::mean ? -1 : head.head; }
    ShownMatrix matrix() const;
    float at(int row, int column) const;
    /// Closed by the mask: drawn hatched.
    bool closed(int row, int column) const;
};

/// The stage of that name as the presentation shows it. nullopt if the trace has none, or no matrix of it to
/// show (why_not_shown).
std::optional<ShownStage> shown_stage(const Trace& trace, std::string_view name,
                                      const Presentation& presentation);

/// The colours of a stage under the presentation.
ColorScale scale_of(const ShownStage& shown, const Presentation& presentation);

/// What is on screen is of another experiment than the current one, which has nothing to show: an emptied
/// sentence. Matrices are faint then, without their numbers.
bool is_behind(const Ui& ui);

/// The whole matrix over `area` (which may reach beyond the clip rectangle), or its transpose.
void paint_matrix(Ui& ui, ImDrawList& list, const ShownStage& shown, const Area& area,
                  bool transposed = false);

/// The table of a scale from bottom to top, with numbers at its right.
void paint_scale(Ui& ui, const ColorScale& scale, const Area& bar);

/// An outline around rows first … last of a matrix that fills `area` with `rows` rows; columns likewise.
void outline_row(Ui& ui, ImDrawList& list, const Area& area, int row, int rows, float alpha = 0.9f);
void outline_column(Ui& ui, ImDrawList& list, const Area& area, int column, int columns, float alpha = 0.9f);

}  // namespace attnscope
