#include "core/attention/stages.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/attention/masks.h"
#include "core/attention/normalizers.h"
#include "core/attention/patches.h"
#include "core/attention/scores.h"
#include "core/attention/stages_seq2seq.h"

namespace attnscope {
namespace {

using enum Axis;
using enum Unit;

// name, symbol, caption, rows, columns, unit, per head, left operand, upper operand, upper transposed
constexpr std::array k_stages = {
    StageInfo{"tokens", "", "table row", query_token, single, token_id, false, "", "", false},
    StageInfo{"tokens_kv", "", "keys' side", key_token, single, token_id, false, "", "", false},
    StageInfo{"embedding", "X", "table[tokens]", query_token, feature, real, false, "", "", false},
    StageInfo{"patches", "P", "pixels", key_token, pixel, probability, false, "", "", false},
    StageInfo{"embedding_kv", "Y", "keys' side", key_token, feature, real, false, "patches", "W_patch", true},
    StageInfo{"embedding_v", "Y_v", "values' side", key_token, feature, real, false, "", "", false},
    StageInfo{"position", "PE", "sin, cos", query_token, feature, real, false, "", "", false},
    StageInfo{"positioned", "X+PE", "with place", query_token, feature, real, false, "", "", false},
    StageInfo{"positioned_kv", "Y+PE", "with place", key_token, feature, real, false, "", "", false},
    StageInfo{"query", "Q", "X·W_qᵀ", query_token, feature, real, false, "embedding", "W_q", true},
    StageInfo{"key", "K", "X·W_kᵀ", key_token, feature, real, false, "embedding_kv", "W_k", true},
    StageInfo{"value", "V", "X·W_vᵀ", key_token, feature, real, false, "embedding_v", "W_v", true},
    StageInfo{"query_heads", "Qₕ", "Q by head", query_token, head_feature, real, true, "", "", false},
    StageInfo{"key_heads", "Kₕ", "K by head", key_token, head_feature, real, true, "", "", false},
    StageInfo{"value_heads", "Vₕ", "V by head", key_token, head_feature, real, true, "", "", false},
    StageInfo{"score_hidden", "H", "tanh", query_token, key_hidden, real, true, "query", "key", true},
    StageInfo{"cosine", "cos", "q·k ÷ |q||k|", query_token, key_token, real, true, "query", "key", true},
    StageInfo{"scores", "S", "Q·Kᵀ", query_token, key_token, real, true, "query", "key", true},
    StageInfo{"scaled", "S′", "÷√d_k", query_token, key_token, real, true, "query", "key", true},
    StageInfo{"slopes", "m", "ALiBi", head, single, real, false, "", "", false},
    StageInfo{"bias", "B", "−m·distance", query_token, key_token, real, true, "", "", false},
    StageInfo{"biased", "S′+B", "biased", query_token, key_token, real, true, "query", "key", true},
    StageInfo{"center", "p", "centre", query_token, single, real, true, "", "", false},
    StageInfo{"mask", "M", "open", query_token, key_token, boolean, false, "", "", false},
    StageInfo{"masked", "S″", "−∞", query_token, key_token, real, true, "query", "key", true},
    StageInfo{"align", "A₀", "softmax", query_token, key_token, probability, true, "query", "key", true},
    StageInfo{"gauss", "G", "bell", query_token, key_token, probability, true, "", "", false},
    StageInfo{"weights", "A", "softmax", query_token, key_token, probability, true, "query", "key", true},
    StageInfo{"weights_dropped", "A′", "dropout", query_token, key_token, probability, true, "query", "key",
              true},
    StageInfo{"context", "C", "A·V", query_token, head_feature, real, true, "weights", "value", false},
    StageInfo{"concat", "[C]", "joined", query_token, feature, real, false, "", "", false},
    StageInfo{"output", "O", "C·W_oᵀ", query_token, feature, real, false, "concat", "W_o", true},
    StageInfo{"residual_1", "X+O", "add", query_token, feature, real, false, "", "", false},
    StageInfo{"norm_1", "N₁", "layer norm", query_token, feature, real, false, "", "", false},
    StageInfo{"feed_forward_hidden", "F₁", "N₁·W_1ᵀ", query_token, feature, real, false, "norm_1", "W_1",
              true},
    StageInfo{"feed_forward_active", "F₂", "activation", query_token, feature, real, false, "", "", false},
    StageInfo{"feed_forward", "F", "F₂·W_2ᵀ", query_token, feature, real, false, "feed_forward_active", "W_2",
              true},
    StageInfo{"residual_2", "N₁+F", "add", query_token, feature, real, false, "", "", false},
    StageInfo{"norm_2", "N₂", "layer norm", query_token, feature, real, false, "", "", false},
    StageInfo{"logits", "L", "words", query_token, target_row, real, false, "norm_2", "W_out", true},
    StageInfo{"log_probs", "log p", "log softmax", query_token, target_row, real, false, "", "", false},
    StageInfo{"loss", "ℓ", "loss", single, single, real, false, "", "", false},
    // sequence to sequence
    StageInfo{"source", "x", "source word", key_token, single, token_id, false, "", "", false},
    StageInfo{"source_embedding", "X", "E_src[x]", key_token, feature, real, false, "", "", false},
    StageInfo{"encoder_r_fwd", "r→", "reset", key_token, feature, probability, false, "", "", false},
    StageInfo{"encoder_z_fwd", "z→", "update", key_token, feature, probability, false, "", "", false},
    StageInfo{"encoder_n_fwd", "n→", "candidate", key_token, feature, real, false, "", "", false},
    StageInfo{"h_fwd", "h→", "read forward", key_token, feature, real, false, "", "", false},
    StageInfo{"encoder_r_bwd", "r←", "reset", key_token, feature, probability, false, "", "", false},
    StageInfo{"encoder_z_bwd", "z←", "update", key_token, feature, probability, false, "", "", false},
    StageInfo{"encoder_n_bwd", "n←", "candidate", key_token, feature, real, false, "", "", false},
    StageInfo{"h_bwd", "h←", "read backward", key_token, feature, real, false, "", "", false},
    StageInfo{"annotations", "h", "[h→; h←]", key_token, feature, real, false, "", "", false},
    StageInfo{"initial_state", "s₀", "tanh", single, feature, real, false, "", "", false},
    StageInfo{"keys_projected", "U_a·h", "h·U_aᵀ", key_token, feature, real, false, "annotations", "U_a",
              true},
    StageInfo{"fed_tokens", "y", "fed", query_token, single, token_id, false, "", "", false},
    StageInfo{"target_embedding", "Y", "E_tgt[y]", query_token, feature, real, false, "", "", false},
    StageInfo{"alignment_scores", "e", "additive", query_token, key_token, real, false, "", "", false},
    StageInfo{"alignment_scaled", "e′", "÷T", query_token, key_token, real, false, "", "", false},
    StageInfo{"alignment_center", "p", "centre", query_token, single, real, false, "", "", false},
    StageInfo{"alignment_mask", "M", "open", query_token, key_token, boolean, false, "", "", false},
    StageInfo{"alignment_masked", "e″", "−∞", query_token, key_token, real, false, "", "", false},
    StageInfo{"alignment_softmax", "α₀", "softmax", query_token, key_token, probability, false, "", "",
              false},
    StageInfo{"alignment_gauss", "G", "bell", query_token, key_token, probability, false, "", "", false},
    StageInfo{"alignment", "α", "softmax", query_token, key_token, probability, false, "", "", false},
    StageInfo{"decoder_context", "c", "α·h", query_token, feature, real, false, "alignment", "annotations",
              false},
    StageInfo{"gate_r", "r", "reset", query_token, feature, probability, false, "", "", false},
    StageInfo{"gate_z", "z", "update", query_token, feature, probability, false, "", "", false},
    StageInfo{"gate_n", "n", "candidate", query_token, feature, real, false, "", "", false},
    StageInfo{"decoder_state", "s", "(1−z)∘n + z∘s", query_token, feature, real, false, "", "", false},
    StageInfo{"picked_tokens", "ŷ", "likeliest", query_token, single, token_id, false, "", "", false},
    StageInfo{"target_tokens", "y*", "wanted", query_token, single, token_id, false, "", "", false},
    // the parameters
    StageInfo{"table", "E", "vocabulary", table_row, feature, real, false, "", "", false},
    StageInfo{"W_patch", "W_patch", "d × pixels", feature, pixel, real, false, "", "", false},
    StageInfo{"W_q", "W_q", "h·d_k × d", feature, feature, real, false, "", "", false},
    StageInfo{"W_k", "W_k", "h·d_k × d", feature, feature, real, false, "", "", false},
    StageInfo{"W_v", "W_v", "h·d_v × d", feature, feature, real, false, "", "", false},
    StageInfo{"W_o", "W_o", "d × h·d_v", feature, feature, real, false, "", "", false},
    StageInfo{"b_q", "b_q", "bias", single, feature, real, false, "", "", false},
    StageInfo{"b_k", "b_k", "bias", single, feature, real, false, "", "", false},
    StageInfo{"b_v", "b_v", "bias", single, feature, real, false, "", "", false},
    StageInfo{"b_o", "b_o", "bias", single, feature, real, false, "", "", false},
    StageInfo{"W_score", "W_score", "d_q × d_k", feature, feature, real, false, "", "", false},
    StageInfo{"W_aq", "W_aq", "hidden × d_q", feature, feature, real, false, "", "", false},
    StageInfo{"W_ak", "W_ak", "hidden × d_k", feature, feature, real, false, "", "", false},
    StageInfo{"b_a", "b_a", "bias", single, feature, real, false, "", "", false},
    StageInfo{"v_a", "v_a", "1 × hidden", single, feature, real, false, "", "", false},
    StageInfo{"W_c", "W_c", "hidden × 2 d_k", feature, feature, real, false, "", "", false},
    StageInfo{"v_c", "v_c", "1 × hidden", single, feature, real, false, "", "", false},
    StageInfo{"W_loc", "W_loc", "M × d_q", key_token, feature, real, false, "", "", false},
    StageInfo{"W_p", "W_p", "hidden × d_q", feature, feature, real, false, "", "", false},
    StageInfo{"v_p", "v_p", "1 × hidden", single, feature, real, false, "", "", false},
    StageInfo{"mask_additive", "B", "given bias", query_token, key_token, real, false, "", "", false},
    StageInfo{"dropout_keep", "D", "kept", query_token, key_token, boolean, true, "", "", false},
    StageInfo{"ln1_g", "ln1_g", "gain", single, feature, real, false, "", "", false},
    StageInfo{"ln1_b", "ln1_b", "shift", single, feature, real, false, "", "", false},
    StageInfo{"W_1", "W_1", "hidden × d", feature, feature, real, false, "", "", false},
    StageInfo{"b_1", "b_1", "bias", single, feature, real, false, "", "", false},
    StageInfo{"W_2", "W_2", "d × hidden", feature, feature, real, false, "", "", false},
    StageInfo{"b_2", "b_2", "bias", single, feature, real, false, "", "", false},
    StageInfo{"ln2_g", "ln2_g", "gain", single, feature, real, false, "", "", false},
    StageInfo{"ln2_b", "ln2_b", "shift", single, feature, real, false, "", "", false},
    StageInfo{"W_out", "W_out", "words × d", target_row, feature, real, false, "", "", false},
    StageInfo{"b_out", "b_out", "bias", single, target_row, real, false, "", "", false},
    StageInfo{"targets", "y", "targets", single, query_token, token_id, false, "", "", false},
    StageInfo{"loss_weights", "G", "loss weights", query_token, feature, real, false, "", "", false},
    // of sequence to sequence
    StageInfo{"E_src", "E_src", "vocabulary", table_row, feature, real, false, "", "", false},
    StageInfo{"E_tgt", "E_tgt", "vocabulary", target_row, feature, real, false, "", "", false},
    StageInfo{"enc_fwd.W_ih", "W_ih→", "3E × d", feature, feature, real, false, "", "", false},
    StageInfo{"enc_fwd.W_hh", "W_hh→", "3E × E", feature, feature, real, false, "", "", false},
    StageInfo{"enc_fwd.b_ih", "b_ih→", "bias", single, feature, real, false, "", "", false},
    StageInfo{"enc_fwd.b_hh", "b_hh→", "bias", single, feature, real, false, "", "", false},
    StageInfo{"enc_bwd.W_ih", "W_ih←", "3E × d", feature, feature, real, false, "", "", false},
    StageInfo{"enc_bwd.W_hh", "W_hh←", "3E × E", feature, feature, real, false, "", "", false},
    StageInfo{"enc_bwd.b_ih", "b_ih←", "bias", single, feature, real, false, "", "", false},
    StageInfo{"enc_bwd.b_hh", "b_hh←", "bias", single, feature, real, false, "", "", false},
    StageInfo{"W_init", "W_init", "D × E", feature, feature, real, false, "", "", false},
    StageInfo{"b_init", "b_init", "bias", single, feature, real, false, "", "", false},
    StageInfo{"W_a", "W_a", "hidden × D", feature, feature, real, false, "", "", false},
    StageInfo{"U_a", "U_a", "hidden × C", feature, feature, real, false, "", "", false},
    StageInfo{"dec.W_ih", "W_ih", "3D × in", feature, feature, real, false, "", "", false},
    StageInfo{"dec.W_hh", "W_hh", "3D × D", feature, feature, real, false, "", "", false},
    StageInfo{"dec.b_ih", "b_ih", "bias", single, feature, real, false, "", "", false},
    StageInfo{"dec.b_hh", "b_hh", "bias", single, feature, real, false, "", "", false},
};
constexpr std::string_view k_first_parameter = "table";

std::string short_number(double value) {
    std::array<char, 32> text;
    return {text.data(),
            std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 6).ptr};
}

std::string scale_text(const Experiment& e) {
    const std::string temperature = e.temperature == 1 ? "" : " ÷ T";
    switch (e.scale.kind) {
        case Scale::Kind::sqrt: return " ÷ √d_k" + temperature;
        case Scale::Kind::none: return temperature;
        case Scale::Kind::number: return " × s" + temperature;
    }
    return {};
}

std::string projection_text(const Experiment& e, std::string_view side, const std::string& letter) {
    const bool projected = e.projection != Projection::none || e.is_given("W_" + letter);
    std::string text(side);
    if (projected) text += " W_" + letter + "ᵀ";
    if (projected && (e.projection_bias || e.is_given("b_" + letter))) text += " + b_" + letter;
    return text;
}

/// The score function as a product of matrices, or of a query and a key; given scores by their symbol.
std::string score_text(const Experiment& e) {
    if (e.is_given("scores")) return "S";
    return e.score == Score::dot ? "Q Kᵀ" : std::string(score_function(e.score).formula);
}

std::string softmax_argument(const Experiment& e) {
    const bool biased = e.position == Position::alibi || e.is_given("mask_additive");
    const bool masked = !e.mask.empty() || e.is_given("mask") ||
                        normalizer_of(e.normalizer).window != Normalizer::Window::none;
    return score_text(e) + scale_text(e) + (biased ? " + B" : "") + (masked ? ", masked" : "");
}

std::string weights_text(const Experiment& e) {
    const std::string argument = "( " + softmax_argument(e) + " )";
    if (e.normalizer == Normalization::hard) return "1 at the first largest of " + argument;
    if (e.normalizer == Normalization::local_p) return "align ∘ gauss";
    if (e.over_queries()) return "softmax" + argument + " over queries, each column sums to 1";
    return "softmax" + argument + " over keys, each row sums to 1";
}

std::string mask_text(const Experiment& e) {
    std::string text = mask_formula(e.mask);
    const auto join = [&](const std::string& more) {
        const bool first = e.mask.empty() && text.starts_with("all");
        text = first ? "open where " + more : text + " and " + more;
    };
    if (e.is_given("mask")) join("the given mask is");
    if (e.is_given("mask_additive")) join("the given bias is not −∞");
    const std::string D = window_text(e.local_window);
    if (e.normalizer == Normalization::local_m) join("|j − i| ≤ " + D);
    if (e.normalizer == Normalization::local_p) join("|j − p| ≤ " + D);
    return text;
}

/// What the score function's parameters and the block's are, and where they come from.
std::string parameter_text(const Experiment& e, std::string_view name) {
    if (name == "table") return "one row per word of the vocabulary";
    if (name == "dropout_keep") return "1 with probability 1 − p = " + short_number(1 - e.dropout);
    if (name.starts_with("ln")) return name.ends_with("g") ? "ones" : "zeros";
    if (name == "W_q" || name == "W_k" || name == "W_v")
        return "drawn by " + std::string(name_of(e.projection));
    if (name == "W_o")
        return "drawn by " + std::string(e.projection == Projection::none ? "linear" : name_of(e.projection));
    return "drawn by linear";
}

/// Keys and values are not of the queries' tokens.
bool has_own_keys(const Experiment& e) { return !e.text2.empty() || e.image || e.is_given("embedding_kv"); }

}  // namespace

std::span<const StageInfo> stage_table() { return k_stages; }

const StageInfo* find_stage_info(std::string_view name) {
    for (const StageInfo& info : k_stages)
        if (info.name == name) return &info;
    return nullptr;
}

bool is_parameter(const StageInfo& info) { return &info >= find_stage_info(k_first_parameter); }

std::string formula(const Experiment& e, const StageInfo& info) {
    const std::string_view name = info.name;
    if (e.mechanism == MechanismKind::seq2seq) return seq2seq_formula(e, info);
    const bool pre_norm = e.block == Block::pre_norm, positions = e.position == Position::sinusoidal;
    const bool two_sides = has_own_keys(e);
    const std::string plus = positions ? " + PE" : "";
    const std::string X = pre_norm ? "N₁" : positions ? "(X" + plus + ")" : "X";
    const std::string Y = !two_sides ? X : positions ? "(Y" + plus + ")" : "Y";
    if (e.is_given(name)) return name == "mask" ? mask_text(e) : "given";
    if (name == "tokens" || name == "tokens_kv") return "each token's row in the table";
    if (name == "embedding") return "X = table[tokens]";
    if (name == "patches") return "red, green and blue of each patch's pixels, 0 … 1";
    if (name == "embedding_kv")
        return e.image ? "Y = P W_patchᵀ, the annotations" : "Y = table[tokens of the second sentence]";
    if (name == "position") return "sin and cos of p ÷ 10000^(2k ÷ d)";
    if (name == "positioned") return "X + PE";
    if (name == "positioned_kv") return "Y + PE";
    if (name == "query") return "Q = " + projection_text(e, X, "q");
    if (name == "key") return "K = " + projection_text(e, Y, "k");
    if (name == "value") return "V = " + projection_text(e, e.is_given("embedding_v") ? "Y_v" : Y, "v");
    const std::string turned =
        e.position == Position::rope ? ", each pair turned by p · 10000^(−2k ÷ d_k)" : "";
    const std::string cut = e.heads > 1 ? " cut into h blocks of d_k columns" : "";
    if (name == "query_heads") return "Q" + cut + turned;
    if (name == "key_heads") return "K" + cut + turned;
    if (name == "value_heads") return e.heads > 1 ? "V cut into h blocks of d_v columns" : "V";
    if (name == "score_hidden")
        return e.score == Score::concat
                   ? "tanh( W_c [q; k] )"
                   : std::string("tanh( W_aq q + W_ak k") + (e.is_given("b_a") ? " + b_a )" : " )");
    if (name == "cosine") return "q · k ÷ max( |q| |k|, 1e-8 )";
    if (name == "scores") return score_text(e);
    if (name == "scaled") return score_text(e) + scale_text(e);
    if (name == "slopes") return "m = 2^(−8 head ÷ h)";
    if (name == "bias") return "−m |i − j|";
    if (name == "biased") return score_text(e) + scale_text(e) + " + B";
    if (name == "center") return "p = M · sigmoid( v_p · tanh( W_p q ) )";
    if (name == "mask") return mask_text(e);
    if (name == "masked") return "the scores before the softmax, −∞ where the mask is closed";
    if (name == "align") return "softmax( " + softmax_argument(e) + " ) over keys";
    if (name == "gauss") return "exp( −(j − p)² ÷ 2(D ÷ 2)² ), D = " + window_text(e.local_window);
    if (name == "weights") return weights_text(e);
    if (name == "weights_dropped") return "A ∘ kept ÷ (1 − p), p = " + short_number(e.dropout);
    if (name == "context") return "A V, the values weighted by each row";
    if (name == "concat") return "the heads' contexts side by side";
    const bool output_bias = e.projection_bias || e.is_given("b_o");
    if (name == "output")
        return std::string(e.heads > 1 ? "concat" : "context") + " W_oᵀ" + (output_bias ? " + b_o" : "");
    if (name == "residual_1") return std::string(positions ? "X + PE" : "X") + " + attention";
    if (name == "norm_1") return pre_norm ? "layer norm of each row of X" + plus : "layer norm of each row";
    if (name == "feed_forward_hidden") return std::string(pre_norm ? "N₂" : "N₁") + " W_1ᵀ + b_1";
    if (name == "feed_forward_active") return std::string(name_of(e.activation));
    if (name == "feed_forward") return "F₂ W_2ᵀ + b_2";
    if (name == "residual_2") return pre_norm ? "residual_1 + F" : "N₁ + F";
    if (name == "norm_2") return "layer norm of each row";
    if (name == "logits") return e.is_given("b_out") ? "block W_outᵀ + b_out" : "block W_outᵀ";
    if (name == "log_probs") return "log softmax of each row";
    if (name == "loss") return e.is_given("targets") ? "mean of −log p at the targets" : "Σ G ∘ output";
    return parameter_text(e, name);
}

std::string caption(const Experiment& e, const StageInfo& info) {
    const std::string_view name = info.name;
    if (e.mechanism == MechanismKind::seq2seq) return seq2seq_caption(e, info);
    if (name == "query" || name == "key" || name == "value") return std::string(info.symbol);
    if (name == "scores" && e.is_given(name)) return "given";
    if (name == "scores" && e.score != Score::dot) return std::string(name_of(e.score));
    if (name == "scaled") {
        if (e.scale.kind == Scale::Kind::none) return e.temperature == 1 ? "× 1" : "÷ T";
        return std::string(e.scale.kind == Scale::Kind::sqrt ? "÷ √d_k" : "× s") +
               (e.temperature == 1 ? "" : "÷T");
    }
    if (name == "embedding") return std::string(info.symbol);
    if (name == "embedding_kv" && e.image && !e.is_given(name)) return "P·W_patchᵀ";
    if (name == "mask") {
        const std::string rules = e.mask.empty() && e.is_given("mask") ? "given" : mask_caption(e.mask);
        return normalizer_of(e.normalizer).window != Normalizer::Window::none
                   ? (rules == "open" ? "local" : rules + " + local")
                   : rules;
    }
    if (name == "weights" && e.normalizer != Normalization::softmax)
        return std::string(name_of(e.normalizer));
    if (name == "feed_forward_active") return std::string(name_of(e.activation));
    return std::string(info.caption);
}

std::string unprojected_text(const Experiment& e) {
    const bool two_sides = has_own_keys(e);
    const std::string keys = two_sides ? "Y" : "X";
    if (e.is_given("embedding_v")) return "Q = X, K = " + keys + ", V = Y_v";
    return two_sides ? "Q = X, K = V = Y" : "Q = K = V = X";
}

const Stage& main_stage(const Trace& trace) {
    for (const std::string_view name : {"weights", "alignment", "decoder_context"})
        if (const Stage* stage = trace.find(name)) return *stage;
    return *trace.records.front().stage;
}

const Stage& focused_stage(const Trace& trace, std::string_view wanted) {
    const Stage* stage = trace.find(wanted);
    return stage ? *stage : main_stage(trace);
}

std::string_view mask_of(const StageInfo& info) {
    constexpr std::string_view k_masked[] = {"mask", "masked", "align", "weights", "weights_dropped"};
    constexpr std::string_view k_aligned[] = {"alignment_mask", "alignment_masked", "alignment_softmax",
                                              "alignment"};
    if (std::ranges::find(k_masked, info.name) != std::end(k_masked)) return "mask";
    return std::ranges::find(k_aligned, info.name) != std::end(k_aligned) ? "alignment_mask" : "";
}

const Stage* operand(const Trace& trace, std::string_view name) {
    if (name.empty()) return nullptr;
    const auto first_of = [&](std::initializer_list<std::string_view> names) -> const Stage* {
        for (const std::string_view each : names)
            if (const Stage* stage = trace.find(each)) return stage;
        return nullptr;
    };
    const bool norm_first = trace.experiment.block == Block::pre_norm;
    // What attention reads: the embedding, with positions, normed before a block that norms first.
    if (name == "embedding") return norm_first ? trace.find("norm_1") : first_of({"positioned", "embedding"});
    if (name == "embedding_kv") {
        const Stage* own = first_of({"positioned_kv", "embedding_kv"});
        return own ? own : operand(trace, "embedding");
    }
    if (name == "embedding_v") {
        const Stage* own = trace.find("embedding_v");
        return own ? own : operand(trace, "embedding_kv");
    }
    if (name == "weights") return first_of({"weights_dropped", "weights"});
    if (name == "concat") return first_of({"concat", "context"});
    if (name == "norm_1") return first_of({norm_first ? "norm_2" : "norm_1"});
    if (name == "norm_2")
        return first_of({norm_first ? "residual_2" : "norm_2", "output", "concat", "context"});
    if (const Stage* heads = trace.find(std::string(name) + "_heads")) return heads;
    return trace.find(name);
}

const Stage* Trace::find(std::string_view name) const {
    for (const StageRecord& record : records)
        if (record.stage->name() == name) return record.stage.get();
    return nullptr;
}

std::vector<StagePtr> Trace::stages() const {
    std::vector<StagePtr> found;
    for (const StageRecord& record : records)
        if (!is_parameter(*record.stage->info)) found.push_back(record.stage);
    return found;
}

std::vector<StagePtr> Trace::parameters() const {
    std::vector<StagePtr> found;
    for (const StageRecord& record : records)
        if (is_parameter(*record.stage->info)) found.push_back(record.stage);
    return found;
}

std::string Trace::label(Axis axis, int index) const {
    if (axis == key_hidden && experiment.hidden > 1)
        return label(key_token, index / experiment.hidden) + "·" +
               std::to_string(index % experiment.hidden + 1);
    const std::vector<std::string>* labels = axis == query_token                       ? &rows
                                             : axis == key_token || axis == key_hidden ? &columns
                                             : axis == table_row                       ? &table
                                             : axis == target_row                      ? &target_table
                                                                                       : nullptr;
    if (axis == single) return "";
    if (axis == pixel) return pixel_label(index, experiment.patch_size);
    const auto i = static_cast<std::size_t>(index);
    return labels && i < labels->size() ? (*labels)[i] : std::to_string(index + 1);
}

bool Trace::fully_masked(int row) const {
    const Stage* masked =
        find(experiment.mechanism == MechanismKind::seq2seq ? "alignment_masked" : "masked");
    if (!masked || row < 0 || row >= masked->shape().rows) return false;
    for (int h = 0; h < masked->shape().heads; ++h)
        if (masked->buffer.row_largest(h)[static_cast<std::size_t>(row)] != -INFINITY) return false;
    return true;
}

bool Trace::fully_masked_column(int column) const {
    const Stage* masked = experiment.over_queries() ? find("masked") : nullptr;
    if (!masked || column < 0 || column >= masked->shape().columns) return false;
    for (int h = 0; h < masked->shape().heads; ++h)
        if (masked->buffer.column_largest(h)[static_cast<std::size_t>(column)] != -INFINITY) return false;
    return true;
}

}  // namespace attnscope
