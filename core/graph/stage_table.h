// Every stage of every mechanism, and the literal that names a stage.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "core/graph/trace.h"

namespace attnscope {
namespace stage_table_rows {

using enum Axis;
using enum Unit;

/// A stage of some mechanisms alone.
constexpr StageInfo only(MechanismSet mechanisms, StageInfo stage) {
    stage.mechanisms = mechanisms;
    return stage;
}
constexpr StageInfo seq2seq(StageInfo stage) { return only({MechanismKind::seq2seq}, stage); }
constexpr StageInfo transformer(StageInfo stage) { return only({MechanismKind::transformer}, stage); }

// name, symbol, caption, rows, columns, unit, per head, mask, role
inline constexpr std::array k_stages = {
    StageInfo{"tokens", "", "table row", query_token, single, token_id, false},
    StageInfo{"tokens_kv", "", "of the keys", key_token, single, token_id, false},
    StageInfo{"embedding", "X", "X", query_token, feature, real, false},
    StageInfo{"patches", "P", "pixels", key_token, pixel, probability, false},
    StageInfo{"embedding_kv", "Y", "of the keys", key_token, feature, real, false},
    StageInfo{"embedding_v", "Y_v", "of the values", key_token, feature, real, false},
    StageInfo{"position", "PE", "sin, cos", query_token, feature, real, false},
    StageInfo{"positioned", "X+PE", "with position", query_token, feature, real, false},
    StageInfo{"positioned_kv", "Y+PE", "with position", key_token, feature, real, false},
    StageInfo{"query", "Q", "Q", query_token, feature, real, false},
    StageInfo{"key", "K", "K", key_token, feature, real, false},
    StageInfo{"value", "V", "V", key_token, feature, real, false},
    StageInfo{"query_heads", "Qₕ", "Q by head", query_token, head_feature, real, true},
    StageInfo{"key_heads", "Kₕ", "K by head", key_token, head_feature, real, true},
    StageInfo{"value_heads", "Vₕ", "V by head", key_token, head_feature, real, true},
    StageInfo{"score_hidden", "H", "tanh", query_token, key_hidden, real, true},
    StageInfo{"cosine", "cos", "q·k ÷ |q||k|", query_token, key_token, real, true},
    StageInfo{"scores", "S", "Q·Kᵀ", query_token, key_token, real, true, "", StageRole::scores},
    StageInfo{"scaled", "S′", "÷√d_k", query_token, key_token, real, true, "", StageRole::scores},
    StageInfo{"slopes", "m", "ALiBi", head, single, real, false},
    StageInfo{"bias", "B", "−m·distance", query_token, key_token, real, true},
    StageInfo{"biased", "S′+B", "biased", query_token, key_token, real, true, "", StageRole::scores},
    StageInfo{"center", "p", "center", query_token, single, real, true},
    StageInfo{"mask", "M", "open", query_token, key_token, boolean, false, "mask", StageRole::mask},
    StageInfo{"masked", "S″", "−∞", query_token, key_token, real, true, "mask", StageRole::masked_scores},
    StageInfo{"align", "A₀", "softmax", query_token, key_token, probability, true, "mask",
              StageRole::weights},
    StageInfo{"gauss", "G", "Gaussian", query_token, key_token, probability, true},
    StageInfo{"weights", "A", "softmax", query_token, key_token, probability, true, "mask",
              StageRole::weights},
    StageInfo{"weights_dropped", "A′", "dropout", query_token, key_token, probability, true, "mask"},
    StageInfo{"context", "C", "A·V", query_token, head_feature, real, true, "", StageRole::context},
    only({MechanismKind::attention, MechanismKind::transformer},
         {"ablated", "C̃", "ablated", query_token, head_feature, real, true}),
    StageInfo{"concat", "[C]", "joined", query_token, feature, real, false},
    StageInfo{"output", "O", "C·W_oᵀ", query_token, feature, real, false},
    StageInfo{"residual_1", "X+O", "add", query_token, feature, real, false},
    StageInfo{"norm_1", "N₁", "layer norm", query_token, feature, real, false},
    StageInfo{"feed_forward_hidden", "F₁", "N₁·W_1ᵀ", query_token, feature, real, false},
    StageInfo{"feed_forward_active", "F₂", "activation", query_token, feature, real, false},
    StageInfo{"feed_forward", "F", "F₂·W_2ᵀ", query_token, feature, real, false},
    StageInfo{"residual_2", "N₁+F", "add", query_token, feature, real, false},
    StageInfo{"norm_2", "N₂", "layer norm", query_token, feature, real, false},
    transformer({"norm_final", "N_f", "layer norm", query_token, feature, real, false}),
    StageInfo{"logits", "L", "word scores", query_token, target_row, real, false},
    StageInfo{"log_probs", "log p", "log softmax", query_token, target_row, real, false},
    StageInfo{"probabilities", "p(w)", "of words", query_token, target_row, probability, false},
    StageInfo{"loss", "ℓ", "loss", single, single, real, false},
    // sequence to sequence
    seq2seq({"source", "x", "source word", key_token, single, token_id, false}),
    seq2seq({"source_embedding", "X", "E_src[x]", key_token, feature, real, false}),
    seq2seq({"encoder_r_fwd", "r→", "reset", key_token, feature, probability, false}),
    seq2seq({"encoder_z_fwd", "z→", "update", key_token, feature, probability, false}),
    seq2seq({"encoder_n_fwd", "n→", "candidate", key_token, feature, real, false}),
    seq2seq({"h_fwd", "h→", "read forward", key_token, feature, real, false}),
    seq2seq({"encoder_r_bwd", "r←", "reset", key_token, feature, probability, false}),
    seq2seq({"encoder_z_bwd", "z←", "update", key_token, feature, probability, false}),
    seq2seq({"encoder_n_bwd", "n←", "candidate", key_token, feature, real, false}),
    seq2seq({"h_bwd", "h←", "read backward", key_token, feature, real, false}),
    seq2seq({"annotations", "h", "[h→; h←]", key_token, feature, real, false}),
    seq2seq({"initial_state", "s₀", "tanh", single, feature, real, false}),
    seq2seq({"keys_projected", "U_a·h", "h·U_aᵀ", key_token, feature, real, false}),
    seq2seq({"fed_tokens", "y", "fed", query_token, single, token_id, false}),
    seq2seq({"target_embedding", "Y", "E_tgt[y]", query_token, feature, real, false}),
    seq2seq(
        {"alignment_scores", "e", "additive", query_token, key_token, real, false, "", StageRole::scores}),
    seq2seq({"alignment_scaled", "e′", "÷T", query_token, key_token, real, false, "", StageRole::scores}),
    seq2seq({"alignment_center", "p", "center", query_token, single, real, false}),
    seq2seq({"alignment_mask", "M", "open", query_token, key_token, boolean, false, "alignment_mask",
             StageRole::mask}),
    seq2seq({"alignment_masked", "e″", "−∞", query_token, key_token, real, false, "alignment_mask",
             StageRole::masked_scores}),
    seq2seq({"alignment_softmax", "α₀", "softmax", query_token, key_token, probability, false,
             "alignment_mask", StageRole::weights}),
    seq2seq({"alignment_gauss", "G", "Gaussian", query_token, key_token, probability, false}),
    seq2seq({"alignment", "α", "softmax", query_token, key_token, probability, false, "alignment_mask",
             StageRole::weights}),
    seq2seq({"decoder_context", "c", "α·h", query_token, feature, real, false, "", StageRole::context}),
    seq2seq({"gate_r", "r", "reset", query_token, feature, probability, false}),
    seq2seq({"gate_z", "z", "update", query_token, feature, probability, false}),
    seq2seq({"gate_n", "n", "candidate", query_token, feature, real, false}),
    seq2seq({"decoder_state", "s", "(1−z)∘n + z∘s", query_token, feature, real, false}),
    only({MechanismKind::seq2seq, MechanismKind::transformer},
         {"picked_tokens", "ŷ", "most likely", query_token, single, token_id, false}),
    only({MechanismKind::seq2seq, MechanismKind::transformer},
         {"target_tokens", "y*", "target", query_token, single, token_id, false}),
    // the parameters
    StageInfo{"table", "E", "vocabulary", table_row, feature, real, false},
    StageInfo{"W_patch", "W_patch", "d × pixels", feature, pixel, real, false},
    StageInfo{"W_q", "W_q", "h·d_k × d", feature, feature, real, false},
    StageInfo{"W_k", "W_k", "h·d_k × d", feature, feature, real, false},
    StageInfo{"W_v", "W_v", "h·d_v × d", feature, feature, real, false},
    StageInfo{"W_o", "W_o", "d × h·d_v", feature, feature, real, false},
    StageInfo{"b_q", "b_q", "bias", single, feature, real, false},
    StageInfo{"b_k", "b_k", "bias", single, feature, real, false},
    StageInfo{"b_v", "b_v", "bias", single, feature, real, false},
    StageInfo{"b_o", "b_o", "bias", single, feature, real, false},
    StageInfo{"W_score", "W_score", "d_q × d_k", feature, feature, real, false},
    StageInfo{"W_aq", "W_aq", "hidden × d_q", feature, feature, real, false},
    StageInfo{"W_ak", "W_ak", "hidden × d_k", feature, feature, real, false},
    StageInfo{"b_a", "b_a", "bias", single, feature, real, false},
    StageInfo{"v_a", "v_a", "1 × hidden", single, feature, real, false},
    StageInfo{"W_c", "W_c", "hidden × (d_q + d_k)", feature, feature, real, false},
    StageInfo{"v_c", "v_c", "1 × hidden", single, feature, real, false},
    StageInfo{"W_loc", "W_loc", "M × d_q", key_token, feature, real, false},
    StageInfo{"W_p", "W_p", "hidden × d_q", feature, feature, real, false},
    StageInfo{"v_p", "v_p", "1 × hidden", single, feature, real, false},
    StageInfo{"mask_additive", "B", "custom bias", query_token, key_token, real, false},
    StageInfo{"dropout_keep", "D", "kept", query_token, key_token, boolean, true},
    StageInfo{"ln1_g", "ln1_g", "gain", single, feature, real, false},
    StageInfo{"ln1_b", "ln1_b", "shift", single, feature, real, false},
    StageInfo{"W_1", "W_1", "hidden × d", feature, feature, real, false},
    StageInfo{"b_1", "b_1", "bias", single, feature, real, false},
    StageInfo{"W_2", "W_2", "d × hidden", feature, feature, real, false},
    StageInfo{"b_2", "b_2", "bias", single, feature, real, false},
    StageInfo{"ln2_g", "ln2_g", "gain", single, feature, real, false},
    StageInfo{"ln2_b", "ln2_b", "shift", single, feature, real, false},
    transformer({"ln_f_g", "ln_f_g", "gain", single, feature, real, false}),
    transformer({"ln_f_b", "ln_f_b", "shift", single, feature, real, false}),
    StageInfo{"P", "P", "learned", place, feature, real, false},
    StageInfo{"W_out", "W_out", "words × in", target_row, feature, real, false},
    StageInfo{"b_out", "b_out", "bias", single, target_row, real, false},
    StageInfo{"targets", "y", "targets", single, query_token, token_id, false},
    StageInfo{"loss_weights", "G", "loss weights", query_token, feature, real, false},
    // parameters of sequence to sequence
    seq2seq({"E_src", "E_src", "vocabulary", table_row, feature, real, false}),
    seq2seq({"E_tgt", "E_tgt", "vocabulary", target_row, feature, real, false}),
    seq2seq({"enc_fwd.W_ih", "W_ih→", "3E × d", feature, feature, real, false}),
    seq2seq({"enc_fwd.W_hh", "W_hh→", "3E × E", feature, feature, real, false}),
    seq2seq({"enc_fwd.b_ih", "b_ih→", "bias", single, feature, real, false}),
    seq2seq({"enc_fwd.b_hh", "b_hh→", "bias", single, feature, real, false}),
    seq2seq({"enc_bwd.W_ih", "W_ih←", "3E × d", feature, feature, real, false}),
    seq2seq({"enc_bwd.W_hh", "W_hh←", "3E × E", feature, feature, real, false}),
    seq2seq({"enc_bwd.b_ih", "b_ih←", "bias", single, feature, real, false}),
    seq2seq({"enc_bwd.b_hh", "b_hh←", "bias", single, feature, real, false}),
    seq2seq({"W_init", "W_init", "D × E", feature, feature, real, false}),
    seq2seq({"b_init", "b_init", "bias", single, feature, real, false}),
    seq2seq({"W_a", "W_a", "hidden × D", feature, feature, real, false}),
    seq2seq({"U_a", "U_a", "hidden × C", feature, feature, real, false}),
    seq2seq({"dec.W_ih", "W_ih", "3D × in", feature, feature, real, false}),
    seq2seq({"dec.W_hh", "W_hh", "3D × D", feature, feature, real, false}),
    seq2seq({"dec.b_ih", "b_ih", "bias", single, feature, real, false}),
    seq2seq({"dec.b_hh", "b_hh", "bias", single, feature, real, false}),
};

}  // namespace stage_table_rows

/// nullptr for a name that is not in the table.
constexpr const StageInfo* find_in_table(std::string_view name) {
    for (const StageInfo& info : stage_table_rows::k_stages)
        if (info.name == name) return &info;
    return nullptr;
}

static_assert(std::ranges::all_of(stage_table_rows::k_stages, [](const StageInfo& info) {
    return info.mask.empty() || find_in_table(info.mask);
}));

/// "weights"_stage: a name that the table does not have does not compile.
consteval const StageInfo* operator""_stage(const char* name, std::size_t length) {
    const StageInfo* info = find_in_table({name, length});
    if (info == nullptr) throw "no stage has this name";
    return info;
}

/// The stages come before this parameter, the other parameters after it.
inline constexpr const StageInfo* k_first_parameter = "table"_stage;

/// Before the symbol of a stage: the gradient of the loss, ℓ, with respect to it.
inline constexpr std::string_view k_gradient_symbol = "∂ℓ/∂";

}  // namespace attnscope
