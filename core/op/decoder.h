// The decoder of sequence to sequence.
#pragma once

#include <memory>
#include <vector>

#include "core/attention/choices.h"
#include "core/attention/masks.h"
#include "core/op/proof.h"
#include "core/op/work.h"
#include "core/seq2seq/decoder.h"

namespace attnscope::op {

/// What each step of the decoder gives, a row of a result for each step.
enum class DecoderPart {
    scores,   ///< e, S columns
    scaled,   ///< e ÷ T
    center,   ///< of the local window, 1 column
    mask,     ///< 1 where the step may look
    masked,   ///< −∞ where it may not
    softmax,  ///< before the Gaussian window
    gauss,
    weights,  ///< α
    context,  ///< c, C columns
    gate_r,   ///< D columns, likewise below
    gate_z,
    gate_n,
    state,
};

/// What decides a decoder beside its parameters.
struct DecoderRule {
    AlignmentState asks;  ///< which state asks for the alignment
    bool aligns;          ///< false: each context is the encoder's last states
    Encoder encoder;
    // of the alignment; left at these values without one
    Normalization normalizer = Normalization::softmax;
    double temperature = 1;
    double window = 0;  ///< D of a local normalizer
    std::vector<MaskRule> mask = {};
    std::shared_ptr<const Matrix> custom_mask =
        nullptr;         ///< mask_steps × S, closed where it is 0; may be none
    int mask_steps = 0;  ///< steps that the mask has rows for

    bool predicts_window() const { return normalizer == Normalization::local_p; }
    bool operator==(const DecoderRule&) const = default;
};

/// initial state (1 × D), annotations (S × C), dec.W_ih, dec.W_hh, dec.b_ih, dec.b_hh; with an alignment also
/// keys (S × A), W_a (A × D), v_a (1 × A); and for a predicted window W_p (A × D), v_p (1 × A); then the
/// embeddings of the words that are fed (N × d): decode_step() for each. A result for each of `parts`.
struct Decode {
    DecoderRule rule;
    std::vector<DecoderPart> parts;

    std::vector<Shape> shapes(Shapes in) const;
    std::vector<Tensor> results(const Work& in) const;
    void explain(Proof& proof, const Cell& cell) const;
    bool operator==(const Decode&) const = default;
};

/// The inputs of Decode, but for the words E_tgt (V × d), W_out (V × (D + d + C)), b_out (1 × V): what each
/// step is fed where it is the word that the step before finds likeliest (decode_greedily()); at most
/// max_steps × 1.
struct DecodeGreedily {
    DecoderRule rule;
    int first;  ///< the word that the first step is fed
    int last;   ///< the word that ends it; −1: none
    int max_steps;

    std::vector<Shape> shapes(Shapes) const { return {matrix(max_steps, 1)}; }
    std::vector<Tensor> results(const Work& in) const;
    void explain(Proof& proof, const Cell& cell) const;
    bool operator==(const DecodeGreedily&) const = default;
};

/// state (N × D), word (N × d), context (N × C), W_out (V × (D + d + C)), b_out (1 × V): output_logits() of
/// each row; N × V.
struct OutputLogits {
    Shape shape(Shapes in) const { return matrix(in[0].rows, in[3].rows); }
    void forward(const Work& in, Tensor& out) const;
    void explain(Proof& proof, const Cell& cell) const;
    bool operator==(const OutputLogits&) const = default;
};

}  // namespace attnscope::op
