// The decoder of sequence to sequence.
#pragma once

#include <memory>
#include <vector>

#include "core/experiment/choices.h"
#include "core/op/backward.h"
#include "core/op/decoder_step.h"
#include "core/op/formula.h"
#include "core/op/mask.h"
#include "core/op/proof.h"
#include "core/op/scale.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// The results of the decoder, each with one row per step.
enum class DecoderPart {
    scores,   ///< e, S columns
    scaled,   ///< e ÷ T
    center,   ///< center of the local window, 1 column
    mask,     ///< 1 = open
    masked,   ///< −∞ where the mask is closed
    softmax,  ///< before the Gaussian window is applied
    gauss,
    weights,  ///< α
    context,  ///< c, C columns
    gate_r,   ///< the gates and the state, D columns each
    gate_z,
    gate_n,
    state,
};

/// The settings of a decoder, besides its parameters.
struct DecoderRule {
    AlignmentState query_state;  ///< which state is the query of the alignment
    bool aligns;                 ///< false: every context is the encoder's last states
    Encoder encoder;
    // The alignment's settings; unused without one.
    Normalization normalizer = Normalization::softmax;
    double temperature = 1;
    double window = 0;  ///< D of a local normalizer
    std::vector<MaskRule> mask = {};
    std::shared_ptr<const Matrix> custom_mask = nullptr;  ///< mask_steps × S, 0 = closed; may be null
    int mask_steps = 0;                                   ///< number of rows of the mask

    /// Whether the alignment is limited to a window, and whether rules or a custom matrix close words.
    bool has_window() const;
    bool has_mask() const { return !mask.empty() || custom_mask; }
    /// The mask of the alignment to so many words; its inputs are the centers if there is a window.
    Mask alignment_mask(int words) const;
    /// The scale of its scores: the temperature alone.
    Scale scale() const { return {{attnscope::Scale::Kind::none}, 1, temperature}; }
    /// The scores that the mask limits, and those that the normalizer turns into weights.
    DecoderPart open_scores() const { return temperature == 1 ? DecoderPart::scores : DecoderPart::scaled; }
    DecoderPart logits() const { return has_window() || has_mask() ? DecoderPart::masked : open_scores(); }
    /// The results of a decoder with these settings, in order.
    std::vector<DecoderPart> parts() const;
    bool operator==(const DecoderRule&) const = default;
};

/// Inputs: initial state (1 × D), annotations (S × C), dec.W_ih, dec.W_hh, dec.b_ih, dec.b_hh; with an
/// alignment also keys (S × A), W_a (A × D), v_a (1 × A); for a predicted window W_p (A × D), v_p (1 × A);
/// then the embeddings of the fed words (N × d). Runs decode_step() for each; one result for each of the
/// rule's parts.
struct Decode {
    DecoderRule rule;

    /// The inputs, by index; those of the GRU are four, and the words the last.
    enum Input : std::size_t { initial_state, annotations, gru, keys = 6, W_a, v_a, W_p, v_p };

    std::vector<Shape> shapes(Shapes in) const;
    std::string formula(const Symbols& in) const;
    std::string caption(const Symbols& in) const;  ///< empty: as usual
    std::string sentence(std::size_t result) const;
    Operands operands(std::size_t result) const;
    std::vector<Tensor> results(const Work& in) const;
    /// Goes through the steps from the last to the first; completes the gradients of all results, in double.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    /// Explains what later steps pass back to a cell of the result `cell.input`.
    void explain_own_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Decode&) const = default;
};

/// The inputs of Decode, with E_tgt (V × d), W_out (V × (D + d + C)) and b_out (1 × V) instead of the words.
/// The result is the word that each step is fed, the most likely one of the previous step
/// (decode_greedily()); at most max_steps × 1.
struct DecodeGreedily {
    DecoderRule rule;
    int first;  ///< the word fed to the first step
    int last;   ///< the word that ends decoding; −1: none
    int max_steps;

    static constexpr std::string_view k_no_gradient = "integers, which are not differentiable";

    std::vector<Shape> shapes(Shapes) const { return {matrix(max_steps, 1)}; }
    std::string formula(const Symbols&) const { return "<bos>, then the previous step's most likely word"; }
    std::vector<Tensor> results(const Work& in) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const DecodeGreedily&) const = default;
};

/// state (N × D), word (N × d), context (N × C), W_out (V × (D + d + C)), b_out (1 × V): output_logits() of
/// each row; N × V.
struct OutputLogits {
    Shape shape(Shapes in) const { return matrix(in[0].rows, in[3].rows); }
    std::string formula(const Symbols& in) const {
        return fmt::format("{} [s; y; c] + {}", in.of(3), in.of(4));
    }
    void forward(const Work& in, Tensor& out) const;
    /// d[s; y; c] = dY W_out, dW_out = dYᵀ [s; y; c], db_out: the sum of the rows of dY, in double.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const OutputLogits&) const = default;
};

}  // namespace attnscope::op
