// The decoder: from a word to an alignment, a context, a new state and the next word's logits.
#pragma once

#include "core/op/alignment.h"

namespace attnscope {

/// What every step of the decoder uses. C is the width of an annotation.
struct Decoder {
    GruWeights gru;                 ///< in = d + C, or d where the current state is the alignment's query
    ConstMatrixView initial_state;  ///< s_0, 1 × D
    ConstMatrixView annotations;    ///< h_j, S × C
    const Alignment* alignment = nullptr;  ///< nullptr: every step's context is `fixed_context`
    Row fixed_context = {};                ///< 1 × C
    bool align_current = false;            ///< e_ij from s_i, not from s_(i−1)
};

struct DecoderStep {
    AlignmentStep alignment;  ///< empty without attention
    Row context;              ///< c_i, 1 × C
    GruStep gru;              ///< the gates and s_i
};

/// Step i (from 0), given the embedding of the fed word (1 × d) and the previous state.
/// - `previous` (Bahdanau et al. 2015, §A.2.2): e_ij from s_(i−1), then s_i = GRU([y; c_i], s_(i−1)).
/// - `current` (Luong et al. 2015, §3; the seq2seq notebook): s_i = GRU(y, s_(i−1)), then e_ij from s_i.
DecoderStep decode_step(const Decoder& decoder, int i, const RowView& word, const RowView& state);

/// The encoder's last states in annotations of so many words and columns: calls use(word, first column,
/// columns) with the forward states at the last word and, if there are any, the backward ones at the first.
template <typename Use>
void for_each_last_state(Encoder encoder, Eigen::Index words, Eigen::Index columns, const Use& use) {
    switch (encoder) {
        case Encoder::forward: return use(words - 1, Eigen::Index{0}, columns);
        case Encoder::bidirectional:
            use(words - 1, Eigen::Index{0}, columns / 2);
            return use(Eigen::Index{0}, columns / 2, columns / 2);
    }
}

/// One step for each row of words (N × d): teacher forcing. Throws Canceled.
std::vector<DecoderStep> decode(const Decoder& decoder, const ConstMatrixView& words,
                                const std::stop_token& cancel);

/// What turns states into words, and words into inputs.
struct Vocabularies {
    ConstMatrixView embeddings;  ///< E_tgt, V × d
    ConstMatrixView W_out;       ///< V × (D + d + C)
    ConstMatrixView b_out;       ///< 1 × V
};

/// W_out [s; y; c] + b_out (Bahdanau et al. 2015, §A.2.2, without the maxout). Returns 1 × V.
Row output_logits(const Vocabularies& vocabularies, const RowView& state, const RowView& word,
                  const RowView& context);
/// The index of the maximum of a row, the first if several tie.
int largest(const RowView& row);

/// The word that each step is fed: first `first`, then the previous step's most likely word. Ends with the
/// step that predicts `last`, and after `max_steps` at the latest. `steps` receives the steps. Throws
/// Canceled.
std::vector<int> decode_greedily(const Decoder& decoder, const Vocabularies& vocabularies, int first,
                                 int last, int max_steps, std::vector<DecoderStep>& steps,
                                 const std::stop_token& cancel);

}  // namespace attnscope
