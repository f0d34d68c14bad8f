// How well each source word matches a step of the decoder.
#pragma once

#include "core/attention/normalizers.h"
#include "core/seq2seq/gru.h"

namespace attnscope {

/// e_j = v_a · tanh(W_a s + U_a h_j) for every annotation (Bahdanau et al. 2015, §A.1.2). state s 1 × D,
/// W_a A × D, v_a 1 × A, keys S × A with row j = U_a h_j. Gives 1 × S.
Row alignment_scores(const ConstMatrixView& W_a, const ConstMatrixView& v_a, const ConstMatrixView& keys,
                     const RowView& state);

/// c = Σ α_j h_j (Bahdanau et al. 2015, eq. 5) over the words whose masked score is not −∞. weights and
/// masked 1 × S, annotations S × C. Gives 1 × C.
Row weighted_sum(const RowView& weights, const RowView& masked, const ConstMatrixView& annotations);

/// What makes a step's alignment.
struct Alignment {
    ConstMatrixView W_a;
    ConstMatrixView v_a;
    ConstMatrixView keys;   ///< U_a h_j, S × A
    ConstMatrixView W_p;    ///< A × D, of a predicted window's centre; else empty
    ConstMatrixView v_p;    ///< 1 × A; likewise
    ConstMatrixView rules;  ///< steps × S, 0 where the mask's rules close; empty: all open
    const Normalizer* normalizer;
    double temperature;
    double window;  ///< D of a local normaliser
};

/// One step's alignment, 1 × S each.
struct AlignmentStep {
    Row scores;   ///< e
    Row scaled;   ///< e ÷ T
    Row center;   ///< of the window, 1 × 1; empty without one
    Row open;     ///< 1 where mask and window let the step look
    Row masked;   ///< −∞ where they do not
    Row softmax;  ///< of a predicted window alone, else empty
    Row gauss;    ///< likewise
    Row weights;  ///< α
};

/// The alignment of step i (from 0) to all source words, from state s: the scores, divided by the
/// temperature, within the window of a local normaliser (Luong et al. 2015, §3.2, with the step as the
/// query), normalised.
AlignmentStep align(const Alignment& how, int i, const RowView& state);

}  // namespace attnscope
