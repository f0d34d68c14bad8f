// Draws one matrix of a trace: the common part of all views.
#pragma once

#include "app/document/desk.h"
#include "app/document/screen_scale.h"
#include "app/ui/ui.h"
#include "core/picture/color_scale.h"
#include "core/picture/difference.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {

/// Pairs of tokens that one tile of a very long text may need: what needs more waits for the survey or, of
/// features, for a closer look.
inline constexpr double k_most_pairs_of_tile = 1 << 26;
/// Pairs of a tile that is finer than all that a survey keeps, of a text of up to a million tokens: up to two
/// seconds.
inline constexpr double k_most_pairs_between = 1 << 30;

/// A stage of a trace, and which of its matrices is shown.
struct ShownStage {
    const Trace* trace;
    StagePtr stage;
    HeadChoice head;  ///< one head, or the mean; ignored for stages without heads

    int rows() const { return stage->shape().rows; }
    int columns() const { return stage->shape().columns; }
    /// −1 for the mean.
    int head_index() const { return head.index(); }
    std::string row_label(int i) const { return trace->row_label(*stage, i); }
    std::string column_label(int j) const { return trace->column_label(*stage, j, head_index()); }
    /// nullopt for a mean over heads that is not known yet: a plain surface is drawn instead.
    std::optional<ShownMatrix> matrix() const;
    /// One cell, one row or one column, which never waits for the whole mean.
    float at(int row, int column) const;
    Eigen::RowVectorXf row(int row) const;
    Eigen::VectorXf column(int column) const;
    /// Closed by the mask: drawn hatched.
    bool closed(int row, int column) const;
    /// Whether the row has no open pair in the head shown, or for a mean in any head: its label bears ∅.
    bool row_fully_masked(int row) const { return trace->fully_masked(*stage, row, head_shown()); }
    bool column_fully_masked(int column) const {
        return trace->fully_masked_column(*stage, column, head_shown());
    }

private:
    std::optional<int> head_shown() const {
        return head_index() < 0 ? std::nullopt : std::optional(head_index());
    }
};

/// The stage as the presentation shows it. nullopt if the trace lacks it, or has no matrix of it
/// to show (why_not_shown).
std::optional<ShownStage> shown_stage(const Trace& trace, StageKey key, const Presentation& presentation);

/// The color scale of a stage under the presentation; until the values that this asks for are known, that of
/// all heads.
ColorScale scale_of(const ShownStage& shown, const Presentation& presentation);

/// Whether what is on screen belongs to an older experiment because the current one, with an empty sentence,
/// has nothing to show. Matrices are then dimmed and without numbers.
bool is_behind(const Desk& desk);

/// The opacity of what belongs to an older experiment.
inline constexpr float k_behind = 0.3f;

/// Draws the whole matrix over `area` (which may extend beyond the clip rectangle), or its transpose.
void paint_matrix(Desk& desk, const Ui& ui, ImDrawList& list, const ShownStage& shown, const Extent& whole,
                  bool transposed = false);
/// Draws the matrix on a color scale of its own.
void paint_matrix(Desk& desk, const Ui& ui, ImDrawList& list, const ShownStage& shown, const Extent& whole,
                  const ColorScale& scale, bool transposed = false);

/// The color bar from bottom to top, with numbers at its right.
void paint_scale(const Ui& ui, const ColorScale& scale, const Area& bar);

/// Outlines rows first … last of a matrix with `rows` rows that fills `area`, or columns first … last.
void outline_row(const Ui& ui, ImDrawList& list, const Area& area, int row, int rows, float alpha = 0.9f);
void outline_column(const Ui& ui, ImDrawList& list, const Area& area, int column, int columns,
                    float alpha = 0.9f);
void outline_cell(const Ui& ui, ImDrawList& list, const Area& cell);

/// B − A, hatched where nothing is compared.
void paint_difference(Desk& desk, const Ui& ui, ImDrawList& list,
                      const std::shared_ptr<const Difference>& difference, const Extent& whole,
                      const ColorScale& scale);

}  // namespace attnscope
