#include "core/mechanism/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/experiment/masks.h"
#include "core/graph/stage_table.h"
#include "core/image/patches.h"
#include "core/mechanism/attention/scores.h"
#include "core/mechanism/seq2seq/stages.h"
#include "core/op/normalizers.h"

namespace attnscope {
namespace {

using enum Axis;

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

/// The score function as a product of matrices, or of a query and a key; custom scores by their symbol.
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
    if (e.normalizer == Normalization::hard) return "1 at the row's maximum of " + argument;
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
    if (e.is_given("mask")) join("painted by hand");
    if (e.is_given("mask_additive")) join("the custom bias is not −∞");
    const std::string D = fmt::format("{}", e.local_window);
    if (e.normalizer == Normalization::local_m) join("|j − i| ≤ " + D);
    if (e.normalizer == Normalization::local_p) join("|j − p| ≤ " + D);
    return text;
}

/// What the parameters of the score function and of the block are, and how they are drawn.
std::string parameter_text(const Experiment& e, std::string_view name) {
    if (name == "table") return "one row per word of the vocabulary";
    if (name == "dropout_keep")
        return "1 (kept) with probability 1 − p = " + fmt::format("{:.6g}", 1 - e.dropout);
    if (name.starts_with("ln")) return name.ends_with("g") ? "ones" : "zeros";
    if (name == "W_q" || name == "W_k" || name == "W_v")
        return "drawn by " + std::string(name_of(e.projection));
    if (name == "W_o")
        return "drawn by " + std::string(e.projection == Projection::none ? "linear" : name_of(e.projection));
    return "drawn by linear";
}

/// Whether keys and values have a source of their own.
bool has_own_keys(const Experiment& e) { return !e.text2.empty() || e.image || e.is_given("embedding_kv"); }

}  // namespace

std::string formula(const Experiment& e, const StageInfo& info) {
    const std::string_view name = info.name;
    if (e.mechanism == MechanismKind::seq2seq) return seq2seq_formula(e, info);
    const bool pre_norm = e.block == Block::pre_norm, positions = e.position == Position::sinusoidal;
    const bool two_sides = has_own_keys(e);
    const std::string plus = positions ? " + PE" : "";
    const std::string X = pre_norm ? "N₁" : positions ? "(X" + plus + ")" : "X";
    const std::string Y = !two_sides ? X : positions ? "(Y" + plus + ")" : "Y";
    if (e.is_given(name)) return name == "mask" ? mask_text(e) : "custom";
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
        e.position == Position::rope ? ", each pair rotated by p · 10000^(−2k ÷ d_k)" : "";
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
    if (name == "masked") return "the scores before the softmax, −∞ where masked";
    if (name == "align") return "softmax( " + softmax_argument(e) + " ) over keys";
    if (name == "gauss") return "exp( −(j − p)² ÷ 2(D ÷ 2)² ), D = " + fmt::format("{}", e.local_window);
    if (name == "weights") return weights_text(e);
    if (name == "weights_dropped") return "A ∘ kept ÷ (1 − p), p = " + fmt::format("{:.6g}", e.dropout);
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
    if (name == "scores" && e.is_given(name)) return "custom";
    if (name == "scores" && e.score != Score::dot) return std::string(name_of(e.score));
    if (name == "scaled") {
        if (e.scale.kind == Scale::Kind::none) return e.temperature == 1 ? "× 1" : "÷ T";
        return std::string(e.scale.kind == Scale::Kind::sqrt ? "÷ √d_k" : "× s") +
               (e.temperature == 1 ? "" : "÷T");
    }
    if (name == "embedding") return std::string(info.symbol);
    if (name == "embedding_kv" && e.image && !e.is_given(name)) return "P·W_patchᵀ";
    if (name == "mask") {
        const std::string rules = e.mask.empty() && e.is_given("mask") ? "custom" : mask_caption(e.mask);
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

}  // namespace attnscope
