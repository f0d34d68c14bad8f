// Which of a stage's matrices is on show.
#pragma once

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

/// Whether the mean over the stage's heads is shown: of pairs of tokens, not of features.
bool has_mean(const Stage& stage);

/// The head or the mean that `choice` names; a stage without heads has one matrix, whatever the choice.
/// Throws Error(bad_input) for a head that the stage lacks, and for "all", which is no one matrix.
ShownMatrix shown_matrix(const Stage& stage, const HeadChoice& choice);

}  // namespace attnscope
