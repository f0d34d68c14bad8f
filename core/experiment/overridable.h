// The matrices that can be overridden, and a type that holds the name of one.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>

#include "core/layer_name.h"

namespace attnscope {

/// A matrix that can be overridden.
struct OverridableMatrix {
    std::string_view name;
    std::string_view what;              ///< its meaning and shape
    bool in_layers = false;             ///< each layer of a stack has one, "2.W_q"
    float start = 0;                    ///< its cells where nothing is known yet
    std::string_view zero_or_one = "";  ///< what 1 and 0 mean, where no other value is allowed
    bool is_row = false;                ///< it has one row, "1 × N"
};

constexpr OverridableMatrix row(OverridableMatrix given) {
    given.is_row = true;
    return given;
}

/// - Stages, which are then not computed: `embedding`, `embedding_kv`, `embedding_v` (X, Y, and a Y for the
///   values alone), `query`, `key`, `value`, `scores`.
/// - `mask` (N × M, 1 = open, 0 = closed) and `mask_additive` (N × M, added to the scaled scores, −∞ closes)
///   are combined with the mask's rules. `dropout_keep` is h·N × M, the heads stacked.
/// - Parameters, which are then not drawn: weights (out × in), biases (1 × out). A custom bias is added
///   whether or not biases are drawn.
/// - `targets` (1 × N, whole numbers): the target of each row of `logits`. `loss_weights` (shaped as the
///   output): the loss is Σ loss_weights ∘ output.
/// - For a transformer: `tokens` (1 × N, rows of E instead of the sentence's words), `E`, `P`, and the
///   parameters of each layer with its number, as `2.W_q`; `targets` may hold −1 where there is none.
/// - For seq2seq: `src`, `tgt_in`, `tgt_out` (1 × S, 1 × N, 1 × N), rows of E_src and E_tgt instead of the
///   sentences' words, and every parameter of core/mechanism/seq2seq/parameters.h. Row 0 of E_tgt is
///   `<bos>`, row 1 `<eos>`.
inline constexpr std::array k_overridable_matrices = {
    row({"tokens", "transformer: 1 × N, rows of E"}),
    OverridableMatrix{"embedding", "X, N × d"},
    OverridableMatrix{"embedding_kv", "Y, the embedding of keys and values, M × d"},
    OverridableMatrix{"embedding_v", "the embedding of the values, M × d"},
    OverridableMatrix{"query", "Q, N × h·d_k"},
    OverridableMatrix{"key", "K, M × h·d_k"},
    OverridableMatrix{"value", "V, M × h·d_v"},
    OverridableMatrix{"scores", "N × M"},
    OverridableMatrix{"mask", "N × M, 1 = open, 0 = closed", false, 1,
                      "a mask holds 1 (open) and 0 (closed)"},
    OverridableMatrix{"mask_additive", "N × M, added to the scaled scores"},
    OverridableMatrix{"dropout_keep", "h·N × M, 1 = kept, 0 = dropped", false, 1,
                      "it holds 1 (kept) and 0 (dropped)"},
    OverridableMatrix{"W_patch", "image: d × 3·patch-size²"},
    OverridableMatrix{"W_q", "h·d_k × d", true},
    OverridableMatrix{"W_k", "h·d_k × d", true},
    OverridableMatrix{"W_v", "h·d_v × d", true},
    OverridableMatrix{"W_o", "d × h·d_v", true},
    row({"b_q", "1 × h·d_k"}),
    row({"b_k", "1 × h·d_k"}),
    row({"b_v", "1 × h·d_v"}),
    row({"b_o", "1 × d"}),
    OverridableMatrix{"W_score", "general: d_q × d_k"},
    OverridableMatrix{"W_aq", "additive: hidden × d_q"},
    OverridableMatrix{"W_ak", "additive: hidden × d_k"},
    row({"b_a", "additive: 1 × hidden"}),
    row({"v_a", "additive, seq2seq: 1 × hidden"}),
    OverridableMatrix{"W_c", "concat: hidden × (d_q + d_k)"},
    row({"v_c", "concat: 1 × hidden"}),
    OverridableMatrix{"W_loc", "location: M × d_q"},
    OverridableMatrix{"W_p", "local-p: hidden × d_q; seq2seq: hidden × decoder's states"},
    row({"v_p", "local-p: 1 × hidden"}),
    row({"ln1_g", "first layer norm's gain, 1 × d", true, 1}),
    row({"ln1_b", "first layer norm's shift, 1 × d", true}),
    OverridableMatrix{"W_1", "feed-forward: hidden × d", true},
    row({"b_1", "feed-forward: 1 × hidden", true}),
    OverridableMatrix{"W_2", "feed-forward: d × hidden", true},
    row({"b_2", "feed-forward: 1 × d", true}),
    row({"ln2_g", "second layer norm's gain, 1 × d", true, 1}),
    row({"ln2_b", "second layer norm's shift, 1 × d", true}),
    OverridableMatrix{"E", "transformer: words × d, the embedding table"},
    OverridableMatrix{"P", "learned positions: context length × d"},
    row({"ln_f_g", "transformer: last layer norm's gain, 1 × d", false, 1}),
    row({"ln_f_b", "transformer: last layer norm's shift, 1 × d"}),
    OverridableMatrix{"W_out", "words × d, projects to logits; seq2seq: words × (states + d + context)"},
    row({"b_out", "1 × words"}),
    row({"targets", "1 × N, the target words of the loss"}),
    OverridableMatrix{"loss_weights", "N × d, the loss is Σ loss_weights ∘ output"},
    row({"src", "seq2seq: 1 × S, rows of E_src"}),
    row({"tgt_in", "seq2seq: 1 × N, the rows of E_tgt that the decoder is fed"}),
    row({"tgt_out", "seq2seq: 1 × N, the rows of E_tgt that are the targets"}),
    OverridableMatrix{"E_src", "seq2seq: source words × d"},
    OverridableMatrix{"E_tgt", "seq2seq: target words × d, <bos> and <eos> first"},
    OverridableMatrix{"enc_fwd.W_ih", "forward encoder: 3 states × d, gates in the order r, z, n"},
    OverridableMatrix{"enc_fwd.W_hh", "forward encoder: 3 states × states"},
    row({"enc_fwd.b_ih", "forward encoder: 1 × 3 states"}),
    row({"enc_fwd.b_hh", "forward encoder: 1 × 3 states"}),
    OverridableMatrix{"enc_bwd.W_ih", "backward encoder: 3 states × d"},
    OverridableMatrix{"enc_bwd.W_hh", "backward encoder: 3 states × states"},
    row({"enc_bwd.b_ih", "backward encoder: 1 × 3 states"}),
    row({"enc_bwd.b_hh", "backward encoder: 1 × 3 states"}),
    OverridableMatrix{"W_init", "seq2seq: decoder's states × encoder's"},
    row({"b_init", "seq2seq: 1 × decoder's states"}),
    OverridableMatrix{"W_a", "seq2seq: hidden × decoder's states"},
    OverridableMatrix{"U_a", "seq2seq: hidden × annotation"},
    OverridableMatrix{"dec.W_ih", "decoder: 3 states × (d + annotation), or d for the current state"},
    OverridableMatrix{"dec.W_hh", "decoder: 3 states × states"},
    row({"dec.b_ih", "decoder: 1 × 3 states"}),
    row({"dec.b_hh", "decoder: 1 × 3 states"}),
};
inline std::span<const OverridableMatrix> overridable_matrices() { return k_overridable_matrices; }
/// nullptr for a name that no matrix has.
constexpr const OverridableMatrix* find_overridable(std::string_view name) {
    const LayerName parts = split_layer(name);
    const auto found = std::ranges::find(k_overridable_matrices, parts.name, &OverridableMatrix::name);
    if (found == k_overridable_matrices.end() || (parts.layer > 0 && !found->in_layers)) return nullptr;
    return &*found;
}

/// The name of a matrix that can be overridden. A literal that is none of k_overridable_matrices does not
/// compile.
class CustomName {
public:
    template <std::size_t Size>
    consteval CustomName(const char (&name)[Size]) : text_(name, Size - 1) {
        if (!find_overridable(text_)) throw "no matrix of this name can be overridden";
    }
    /// A name that is known only when the program runs.
    template <std::convertible_to<std::string_view> Text>
    CustomName(const Text& name) : text_(name) {}

    std::string_view text() const { return text_; }
    friend constexpr bool operator==(const CustomName& a, const CustomName& b) { return a.text_ == b.text_; }

private:
    std::string_view text_;
};

}  // namespace attnscope
