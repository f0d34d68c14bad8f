#include "core/mechanism/seq2seq/stages.h"

#include <fmt/format.h>

#include "core/experiment/masks.h"
#include "core/op/normalizers.h"

namespace attnscope {
namespace {

bool is_windowed(const Experiment& e) {
    return normalizer_of(e.normalizer).window != Normalizer::Window::none;
}

/// The argument of the alignment's softmax.
std::string argument_text(const Experiment& e) {
    const bool masked = is_windowed(e) || !e.mask.empty() || e.is_given("mask");
    return std::string("( e") + (e.temperature == 1 ? "" : " ÷ T") + (masked ? ", masked" : "") + " )";
}

std::string alignment_text(const Experiment& e) {
    if (e.normalizer == Normalization::hard) return "α = 1 at the row's maximum of " + argument_text(e);
    if (e.normalizer == Normalization::local_p) return "α = softmax ∘ gauss";
    return "α = softmax" + argument_text(e) + " over the source, each row sums to 1";
}

std::string mask_text(const Experiment& e) {
    std::string text = mask_formula(e.mask);
    const auto join = [&](const std::string& more) {
        text = text.starts_with("all") ? "open where " + more : text + " and " + more;
    };
    if (e.is_given("mask")) join("painted by hand");
    const std::string D = fmt::format("{}", e.local_window);
    if (e.normalizer == Normalization::local_m) join("|j − i| ≤ " + D);
    if (e.normalizer == Normalization::local_p) join("|j − p| ≤ " + D);
    return text;
}

std::string context_text(const Experiment& e) {
    if (e.decoder_attention == DecoderAttention::additive)
        return "c = α h, the annotations weighted by each row";
    return e.encoder == Encoder::forward
               ? "c = h→ at the last word, the same in each step"
               : "c = [h→ at the last word; h← at the first], the same in each step";
}

/// One of the formulas of a GRU: which gate, and its input and state.
std::string gate_text(char gate, const std::string& input, const std::string& state) {
    const std::string g(1, gate);
    if (gate == 'n') return "n = tanh( W_in " + input + " + b_in + r ∘ (W_hn " + state + " + b_hn) )";
    return g + " = sigmoid( W_i" + g + " " + input + " + b_i" + g + " + W_h" + g + " " + state + " + b_h" +
           g + " )";
}

/// Gates and states: "encoder_r_fwd", "h_bwd", "gate_z", "decoder_state". Empty for other stages.
std::string unit_text(const Experiment& e, std::string_view name) {
    if (name.starts_with("gate_")) {
        const std::string input = e.alignment_state == AlignmentState::current ? "y" : "[y; c]";
        return gate_text(name.back(), input, "s of the previous step");
    }
    if (name == "decoder_state") return "s = (1 − z) ∘ n + z ∘ s of the previous step";
    const std::string neighbor = name.ends_with("fwd") ? "the previous word" : "the next word";
    if (name.starts_with("encoder_")) return gate_text(name[8], "x", "h of " + neighbor);
    if (name == "h_fwd" || name == "h_bwd") return "h = (1 − z) ∘ n + z ∘ h of " + neighbor;
    return "";
}

std::string parameter_text(std::string_view name) {
    if (name == "E_src") return "one row per word of the source's vocabulary";
    if (name == "E_tgt") return "one row per word of the target's vocabulary, <bos> and <eos> first";
    const bool recurrent = name.starts_with("enc_") || name.starts_with("dec.");
    return recurrent ? "drawn as torch.nn.GRU does, ±1 ÷ √states; rows of r, z, n" : "drawn by linear";
}

}  // namespace

std::string seq2seq_formula(const Experiment& e, const StageInfo& info) {
    const std::string_view name = info.name;
    if (e.is_given(name)) return "custom";
    if (name == "source") return "each source word's row in E_src";
    if (name == "source_embedding") return "X = E_src[source]";
    if (const std::string text = unit_text(e, name); !text.empty()) return text;
    if (name == "annotations") return e.encoder == Encoder::forward ? "h = h→" : "h = [h→; h←], side by side";
    if (name == "initial_state")
        return std::string("s₀ = tanh( W_init ") +
               (e.encoder == Encoder::forward ? "h→ at the last word" : "h← at the first word") +
               " + b_init )";
    if (name == "keys_projected") return "U_a h";
    if (name == "fed_tokens")
        return e.decode == Decode::greedy ? "<bos>, then the previous step's most likely word"
                                          : "<bos>, then the target's words";
    if (name == "target_embedding") return "Y = E_tgt[fed]";
    if (name == "alignment_scores")
        return std::string("e = v_a · tanh( W_a s") +
               (e.alignment_state == AlignmentState::current ? "" : " of the previous step") + " + U_a h )";
    if (name == "alignment_scaled") return "e ÷ T";
    if (name == "alignment_center")
        return e.normalizer == Normalization::local_m ? "p = i, the step's own position"
                                                      : "p = S · sigmoid( v_p · tanh( W_p s ) )";
    if (name == "alignment_mask") return mask_text(e);
    if (name == "alignment_masked") return "the scores before the softmax, −∞ where masked";
    if (name == "alignment_softmax") return "softmax" + argument_text(e) + " over the source";
    if (name == "alignment_gauss")
        return "exp( −(j − p)² ÷ 2(D ÷ 2)² ), D = " + fmt::format("{}", e.local_window);
    if (name == "alignment") return alignment_text(e);
    if (name == "decoder_context") return context_text(e);
    if (name == "logits") return "W_out [s; y; c] + b_out";
    if (name == "log_probs") return "log softmax of each row";
    if (name == "picked_tokens") return "the word with the largest logit";
    if (name == "target_tokens") return "the target's words, then <eos>";
    if (name == "loss") return "mean of −log p at the target words";
    return parameter_text(name);
}

std::string seq2seq_caption(const Experiment& e, const StageInfo& info) {
    const std::string_view name = info.name;
    if (name == "alignment" && e.normalizer != Normalization::softmax)
        return std::string(name_of(e.normalizer));
    if (name == "annotations" && e.encoder == Encoder::forward) return "h→";
    if (name == "decoder_context" && e.decoder_attention == DecoderAttention::none) return "last state";
    if (name == "alignment_mask") {
        const std::string rules = e.mask.empty() && e.is_given("mask") ? "custom" : mask_caption(e.mask);
        return is_windowed(e) ? (rules == "open" ? "local" : rules + " + local") : rules;
    }
    return std::string(info.caption);
}

}  // namespace attnscope
