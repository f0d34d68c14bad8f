// Selects which of a stage's matrices is shown.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/graph/trace.h"
#include "core/picture/presentation.h"

namespace attnscope {

/// One matrix of a stage: a head in a buffer that outlives it.
struct ShownMatrix {
    const Buffer* buffer;
    int head;  ///< from 0, within *buffer
    bool mean;

    int rows() const { return buffer->shape().rows; }
    int columns() const { return buffer->shape().columns; }
    Matrix values() const { return buffer->rows(head, 0, rows()); }  ///< a copy
    const ValueRange& range() const { return buffer->range(head); }
};

/// Whether a mean over the stage's heads is defined: for numbers of pairs of tokens, which all heads share,
/// not for features, which differ from head to head, and not for masks. All that concerns a mean asks this.
bool has_mean(const Stage& stage);

/// Why the stage has no single matrix under this choice, in one line: a missing head, a mean without meaning,
/// or "all". Empty if shown_matrix() returns one. Window, clipboard, files and proofs all use this. The stage
/// is named by its heading, as on screen, or by `name`.
std::string why_not_shown(const Stage& stage, const HeadChoice& choice);
std::string why_not_shown(const Stage& stage, const HeadChoice& choice, std::string_view name);

/// The head or mean that `choice` selects; a stage without heads has one matrix, whatever the choice. Throws
/// Error(bad_input) with why_not_shown(), which gives the name that one types.
ShownMatrix shown_matrix(const Stage& stage, const HeadChoice& choice);

/// The matrix of shown_matrix() if nothing has to be computed for it: nullopt for a mean that is not known
/// yet. Throws as shown_matrix().
std::optional<ShownMatrix> known_matrix(const Stage& stage, const HeadChoice& choice);

/// How the values of a stage are pooled where many share a cell: as chosen for numbers of pairs, else so that
/// none is missed.
Pool pooling_of(const StageInfo& stage, const Presentation& presentation);

/// The part of a stage that is exported: of a stage of pairs `chosen`, else all of it. Throws
/// Error(bad_input) if the stage does not have these pairs.
Region exported_region(const Stage& stage, const std::optional<Region>& chosen);

/// Throws Error(too_large) for a part of more than k_max_written_numbers.
void require_written(const Region& region);

/// Calls `each` with every row of a part of a matrix, from 0, and its region.columns values. Some rows, up to
/// 64 MiB, are read before they are passed on. Throws as require_written(), and what `each` throws.
void for_each_row(const ShownMatrix& shown, const Region& region,
                  const std::function<void(int row, std::span<const float> values)>& each);

/// The choice for a window, which shows one matrix at a time: the chosen head, limited to those of the stage,
/// or the mean if the mean or all heads are chosen. For why_not_shown() and shown_matrix().
HeadChoice head_on_screen(const Stage& stage, const HeadChoice& chosen);

/// A copy of the shown matrix, and which of its cells the mask leaves open (not 0): for the mean, those that
/// are open in any head. `open` is empty where no mask closes cells of the stage.
struct MaskedMatrix {
    Matrix values, open;

    bool is_open(Eigen::Index row, Eigen::Index column) const {
        return open.size() == 0 || open(row, column) != 0;
    }
};
/// Throws as shown_matrix().
MaskedMatrix masked_matrix(const Trace& trace, const Stage& stage, const HeadChoice& choice);

/// The key, from 0, that the local window of each row is centered on, as the trace computed it; empty where
/// there are no windows, and for a mean of heads whose windows differ.
std::vector<float> window_centers(const Trace& trace, const HeadChoice& choice);

/// The formula() of what is shown: the stage's, or that of the mean of its heads.
std::string formula_shown(const Trace& trace, const Stage& stage, const HeadChoice& choice);

}  // namespace attnscope
