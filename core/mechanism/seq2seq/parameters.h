// The parameters of encoder and decoder: their shapes, and how they are drawn.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/experiment/experiment.h"
#include "core/random/draws.h"

namespace attnscope {

struct Seq2seqSizes {
    int source_words;   ///< rows of E_src
    int target_words;   ///< V, rows of E_tgt
    int embedding;      ///< d
    int encoder;        ///< E, states per direction
    int annotation;     ///< C: 2 E, or E for a forward encoder
    int decoder;        ///< D
    int decoder_input;  ///< d + C, or d where the current state is the alignment's query
    int hidden;         ///< A, units of the alignment's hidden layer
    bool operator==(const Seq2seqSizes&) const = default;
};

/// The sizes of an experiment whose tables have this many rows.
Seq2seqSizes seq2seq_sizes(const Experiment& experiment, int source_words, int target_words);

struct Seq2seqParameter {
    std::string_view name;
    enum class Part {
        source_table,
        target_table,
        encoder,
        backward_encoder,
        decoder,
        alignment,
        center
    } part;
    int (*rows)(const Seq2seqSizes& sizes);
    int (*columns)(const Seq2seqSizes& sizes);
    enum class Draw {
        table,      ///< as the experiment draws embeddings
        recurrent,  ///< as torch.nn.GRU: U(−1/√h, 1/√h)
        linear,     ///< as torch.nn.Linear's weight
        bias,       ///< as torch.nn.Linear's bias
    } draw;
    int (*fan)(
        const Seq2seqSizes& sizes);  ///< h for recurrent, the number of inputs for a bias; else nullptr
};

/// Whether the settings use the parameters of this part.
bool is_used(Seq2seqParameter::Part part, const Experiment& experiment);

/// Every parameter, in the order in which one generator, seeded once, draws them: E_src, E_tgt; W_ih, W_hh,
/// b_ih, b_hh of enc_fwd, then of enc_bwd; W_init, b_init; W_a, U_a, v_a; W_ih, W_hh, b_ih, b_hh of dec;
/// W_out, b_out; W_p, v_p. Weights are out × in, biases 1 × out. All are drawn, including those that the
/// settings leave unused (enc_bwd of a forward encoder; W_a, U_a, v_a of a decoder without attention) and
/// those that are custom, so that the others keep their numbers.
std::span<const Seq2seqParameter> seq2seq_parameters();
const Seq2seqParameter* find_seq2seq_parameter(std::string_view name);

/// How a parameter is drawn; a table as the experiment draws embeddings.
Draw draw_of(const Seq2seqParameter& parameter, const Seq2seqSizes& sizes, Initialization embedding);

}  // namespace attnscope
