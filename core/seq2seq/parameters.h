// The encoder's and the decoder's parameters: their shapes, and how they are drawn.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/random/draws.h"

namespace attnscope {

struct Seq2seqSizes {
    int source_words;   ///< rows of E_src
    int target_words;   ///< V, rows of E_tgt
    int embedding;      ///< d
    int encoder;        ///< E, states of each direction
    int annotation;     ///< C: 2 E, or E where the encoder reads forward alone
    int decoder;        ///< D
    int decoder_input;  ///< d + C, or d where the alignment asks with the current state
    int hidden;         ///< A, of the alignment
    bool operator==(const Seq2seqSizes&) const = default;
};

struct Seq2seqParameter {
    std::string_view name;
    int (*rows)(const Seq2seqSizes& sizes);
    int (*columns)(const Seq2seqSizes& sizes);
    enum class Draw {
        table,      ///< by the experiment's rule for embeddings
        recurrent,  ///< torch.nn.GRU's: U(−1/√h, 1/√h)
        linear,     ///< torch.nn.Linear's weight
        bias,       ///< torch.nn.Linear's bias
    } draw;
    int (*fan)(const Seq2seqSizes& sizes);  ///< h of recurrent, the inputs of a bias; else nullptr
};

/// In the order in which one generator, seeded once, draws them: E_src, E_tgt; enc_fwd and enc_bwd, each
/// W_ih, W_hh, b_ih, b_hh; W_init, b_init; W_a, U_a, v_a; dec, likewise four; W_out, b_out; W_p, v_p. Weights
/// are out × in, biases 1 × out. All are drawn, also those that the settings leave unused (enc_bwd of a
/// forward encoder; W_a, U_a, v_a of a decoder without attention) and those that are given, so that the
/// others keep their numbers.
std::span<const Seq2seqParameter> seq2seq_parameters();
const Seq2seqParameter* find_seq2seq_parameter(std::string_view name);

/// How the parameter is drawn; a table by the experiment's rule for embeddings.
Draw draw_of(const Seq2seqParameter& parameter, const Seq2seqSizes& sizes, Initialization embedding);

}  // namespace attnscope
