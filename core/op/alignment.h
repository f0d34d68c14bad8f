// The alignment: how well each source word matches a step of the decoder.
#pragma once

#include "core/op/gru.h"
#include "core/op/mask.h"
#include "core/op/normalizers.h"
#include "core/op/sigmoid.h"

namespace attnscope {

/// The hidden units of an alignment, tanh(W_a s + U_a h_j): asked 1 × A is W_a s, row j of keys (S × A) is
/// U_a h_j; S × A.
template <typename Functions, typename Asked, typename Keys>
auto alignment_hidden(const Asked& asked, const Keys& keys) {
    return Functions::tanh((keys.rowwise() + asked).array());
}
/// The gradient of the sums W_a s + U_a h_j, from that of the scores e (S × 1), v_a (1 × A) and the hidden
/// units (S × A): de_j v_a (1 − tanh²); S × A.
template <typename DScores, typename V, typename Hidden>
auto alignment_back(const DScores& d_scores, const V& v_a, const Hidden& hidden) {
    return before_tanh((d_scores * v_a).array(), hidden.array());
}

/// e_j = v_a · tanh(W_a s + U_a h_j) for every annotation (Bahdanau et al. 2015, §A.1.2). state s 1 × D, W_a
/// A × D, v_a 1 × A, keys S × A with row j = U_a h_j. Returns 1 × S.
Row alignment_scores(const ConstMatrixView& W_a, const ConstMatrixView& v_a, const ConstMatrixView& keys,
                     const RowView& state);

/// c = Σ α_j h_j (Bahdanau et al. 2015, eq. 5) over the words whose masked score is not −∞. weights and
/// masked 1 × S, annotations S × C. Returns 1 × C. Summed in double, while op::WeightedSum multiplies float32
/// matrices: the results may differ in the last bits.
Row weighted_sum(const RowView& weights, const RowView& masked, const ConstMatrixView& annotations);

/// The inputs and settings of an alignment.
struct Alignment {
    ConstMatrixView W_a;
    ConstMatrixView v_a;
    ConstMatrixView keys;  ///< U_a h_j, S × A
    ConstMatrixView W_p;   ///< A × D, for the center of a predicted window; else empty
    ConstMatrixView v_p;   ///< 1 × A, for the center of a predicted window; else empty
    op::Mask mask;         ///< of all steps
    const Normalizer* normalizer;
    double temperature;
};

/// One step's alignment, 1 × S each.
struct AlignmentStep {
    Row scores;   ///< e
    Row scaled;   ///< e ÷ T
    Row center;   ///< center of the window, 1 × 1; empty without a window
    Row open;     ///< 1 where mask and window are open
    Row masked;   ///< −∞ where they are closed
    Row softmax;  ///< for a predicted window, else empty
    Row gauss;    ///< for a predicted window, else empty
    Row weights;  ///< α
};

/// The alignment of step i (from 0) to all source words, from state s: the scores are divided by the
/// temperature, limited to the mask and the window of a local normalizer (Luong et al. 2015, §3.2, with the
/// step as the query), and normalized.
AlignmentStep align(const Alignment& how, int i, const RowView& state);

}  // namespace attnscope
