// Which of a stage's matrices is on show.
#pragma once

#include <string>

#include "core/attention/trace.h"
#include "core/io/session.h"

namespace attnscope {

/// One matrix of a stage: a head of a buffer that outlives it.
struct ShownMatrix {
    const Buffer* buffer;
    int head;  ///< from 0, within *buffer
    bool mean;

    int rows() const { return buffer->shape().rows; }
    int columns() const { return buffer->shape().columns; }
    ConstMatrixView values() const { return buffer->host().head(head); }
    const ValueRange& range() const { return buffer->range(head); }
};

/// Whether a mean over the stage's heads is computed: of pairs of tokens, which all heads share, not of
/// features, of which each head has its own.
bool has_mean(const Stage& stage);

/// Why the stage has no matrix under this choice, in one line: a head that it lacks, a mean that means
/// nothing, "all", which is no one matrix. Empty where shown_matrix() gives one. Window, clipboard, files and
/// proofs all ask this.
std::string why_not_shown(const Stage& stage, const HeadChoice& choice);

/// The head or the mean that `choice` names; a stage without heads has one matrix, whatever the choice.
/// Throws Error(bad_input) with why_not_shown().
ShownMatrix shown_matrix(const Stage& stage, const HeadChoice& choice);

/// What a window, which shows one matrix at a time, shows of a stage: the chosen head, within those of the
/// stage, or the mean where the mean or all heads are chosen. For why_not_shown() and shown_matrix().
HeadChoice head_on_screen(const Stage& stage, const HeadChoice& chosen);

/// The formula() of what is shown: the stage's, under a mean that of its heads' mean.
std::string formula_shown(const Experiment& experiment, const Stage& stage, const HeadChoice& choice);

}  // namespace attnscope
