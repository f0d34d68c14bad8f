#include "core/attention/explain_seq2seq.h"

#include <array>
#include <cmath>

#include "core/attention/masks.h"

namespace attnscope {
namespace {

struct Cell {
    const Trace& trace;
    const Stage& stage;
    int row;
    int column;

    const Experiment& experiment() const { return trace.experiment; }
    bool has(std::string_view name) const { return trace.find(name) != nullptr; }
    float at(std::string_view name, int i, int j) const { return trace.find(name)->buffer.at(0, i, j); }
    /// The cell's own place in another stage.
    float here(std::string_view name) const { return at(name, row, column); }
    int columns(std::string_view name) const { return trace.find(name)->shape().columns; }
};

/// A row of features with the letter that it has in formulas.
struct Operand {
    std::string letter;
    std::vector<float> values;
};

Operand row_of(const Cell& cell, std::string letter, std::string_view stage, int row) {
    Operand operand{std::move(letter), {}};
    for (int k = 0; k < cell.columns(stage); ++k) operand.values.push_back(cell.at(stage, row, k));
    return operand;
}

Operand zeros(std::string letter, int count) {
    return {std::move(letter), std::vector<float>(static_cast<std::size_t>(count))};
}

/// s of step i; of step −1 the initial one.
Operand state_of(const Cell& cell, int i) {
    return i < 0 ? row_of(cell, "s", "initial_state", 0) : row_of(cell, "s", "decoder_state", i);
}

/// Σ_k operand_k · W(row, first + k), a term for each; gives the sum.
double add_products(Proof& proof, const Cell& cell, const Operand& operand, std::string_view W, int row,
                    int first = 0) {
    double sum = 0;
    for (int k = 0; k < static_cast<int>(operand.values.size()); ++k) {
        proof.terms.push_back({operand.letter + " " + std::to_string(k + 1),
                               operand.values[static_cast<std::size_t>(k)], cell.at(W, row, first + k)});
        sum += proof.terms.back().product();
    }
    proof.terms_sum += sum;
    return sum;
}

void add_step(Proof& proof, std::string label, double value) {
    proof.steps.push_back({std::move(label), value});
}

std::string short_number(double value) {
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "%.4g", value);
    return text.data();
}

// ---- encoder and decoder units

/// What a cell of a unit reads: its parameters' prefix, the stages of its gates, its input and old state.
struct Unit {
    std::string parameters, r, z, n;
    std::vector<Operand> input;
    Operand state;
    int size;
};

Unit encoder_unit(const Cell& cell) {
    const std::string side(cell.stage.name().substr(cell.stage.name().size() - 3));
    const std::string states = "h_" + side;
    const int E = cell.columns(states);
    const int before = side == "fwd" ? cell.row - 1 : cell.row + 1;
    const bool first = before < 0 || before >= cell.trace.find(states)->shape().rows;
    return {.parameters = "enc_" + side,
            .r = "encoder_r_" + side,
            .z = "encoder_z_" + side,
            .n = "encoder_n_" + side,
            .input = {row_of(cell, "x", "source_embedding", cell.row)},
            .state = first ? zeros("h", E) : row_of(cell, "h", states, before),
            .size = E};
}

Unit decoder_unit(const Cell& cell) {
    std::vector<Operand> input{row_of(cell, "y", "target_embedding", cell.row)};
    if (cell.experiment().alignment_state == AlignmentState::previous)
        input.push_back(row_of(cell, "c", "decoder_context", cell.row));
    return {.parameters = "dec",
            .r = "gate_r",
            .z = "gate_z",
            .n = "gate_n",
            .input = std::move(input),
            .state = state_of(cell, cell.row - 1),
            .size = cell.columns("decoder_state")};
}

Unit unit_of(const Cell& cell) {
    const std::string_view name = cell.stage.name();
    return name.ends_with("fwd") || name.ends_with("bwd") ? encoder_unit(cell) : decoder_unit(cell);
}

/// Gate 0, 1, 2 is r, z, n, as their rows lie in W_ih and W_hh.
void explain_gate(Proof& proof, const Cell& cell, int gate) {
    const Unit unit = unit_of(cell);
    const int row = gate * unit.size + cell.column;
    proof.terms_title = "W_i input and W_h state, term by term";
    double input = 0;
    int first = 0;
    for (const Operand& operand : unit.input) {
        input += add_products(proof, cell, operand, unit.parameters + ".W_ih", row, first);
        first += static_cast<int>(operand.values.size());
    }
    const double state = add_products(proof, cell, unit.state, unit.parameters + ".W_hh", row);
    proof.terms_result = proof.terms_sum;
    const double b_i = cell.at(unit.parameters + ".b_ih", 0, row);
    const double b_h = cell.at(unit.parameters + ".b_hh", 0, row);
    add_step(proof, "W_i input + b_i " + short_number(b_i), input + b_i);
    add_step(proof, "W_h state + b_h " + short_number(b_h), state + b_h);
    if (gate < 2) {
        add_step(proof, "their sum", input + b_i + state + b_h);
        add_step(proof, "sigmoid", proof.value);
    } else {
        const float r = cell.here(unit.r);
        add_step(proof, "× r " + short_number(r), (state + b_h) * r);
        add_step(proof, "their sum", input + b_i + (state + b_h) * r);
        add_step(proof, "tanh", proof.value);
    }
}

void explain_reset(Proof& proof, const Cell& cell) { explain_gate(proof, cell, 0); }
void explain_update(Proof& proof, const Cell& cell) { explain_gate(proof, cell, 1); }
void explain_candidate(Proof& proof, const Cell& cell) { explain_gate(proof, cell, 2); }

void explain_state(Proof& proof, const Cell& cell) {
    const Unit unit = unit_of(cell);
    const float z = cell.here(unit.z);
    proof.terms_title = "(1 − z) · n + z · old state";
    proof.terms.push_back({"(1 − z) · n", 1 - z, cell.here(unit.n)});
    proof.terms.push_back({"z · old", z, unit.state.values[static_cast<std::size_t>(cell.column)]});
    for (const ProofTerm& term : proof.terms) proof.terms_sum += term.product();
    proof.terms_result = proof.value;
}

// ---- the alignment

/// The state that asks in this step.
Operand asking_state(const Cell& cell) {
    return state_of(cell, cell.row - (cell.experiment().alignment_state == AlignmentState::current ? 0 : 1));
}

void explain_alignment_score(Proof& proof, const Cell& cell) {
    const Operand s = asking_state(cell);
    proof.terms_title = "v_a · tanh( W_a s + U_a h ), unit by unit";
    for (int k = 0; k < cell.columns("v_a"); ++k) {
        double sum = cell.at("keys_projected", cell.column, k);
        for (int i = 0; i < static_cast<int>(s.values.size()); ++i)
            sum += static_cast<double>(cell.at("W_a", k, i)) * s.values[static_cast<std::size_t>(i)];
        proof.terms.push_back(
            {std::to_string(k + 1), cell.at("v_a", 0, k), static_cast<float>(std::tanh(sum))});
        proof.terms_sum += proof.terms.back().product();
    }
    proof.terms_result = cell.here("alignment_scores");
}

void explain_scaled(Proof& proof, const Cell& cell) {
    explain_alignment_score(proof, cell);
    add_step(proof, "e", cell.here("alignment_scores"));
    if (cell.has("alignment_scaled"))
        add_step(proof, "÷ T " + short_number(cell.experiment().temperature), cell.here("alignment_scaled"));
}

/// What the softmax is taken of.
std::string_view logits_of(const Cell& cell) {
    for (const std::string_view name : {"alignment_masked", "alignment_scaled"})
        if (cell.has(name)) return name;
    return "alignment_scores";
}

bool is_closed(const Cell& cell, int j) { return cell.at(logits_of(cell), cell.row, j) == -INFINITY; }

bool nothing_open(const Cell& cell) {
    for (int j = 0; j < cell.columns("alignment_scores"); ++j)
        if (!is_closed(cell, j)) return false;
    return true;
}

std::string closed_remark(const Cell& cell) {
    if (cell.has("alignment_mask") && cell.here("alignment_mask") != 0) return "closed: the score is −∞";
    for (const MaskRule& rule : cell.experiment().mask)
        if (!find_mask_kind(rule.kind)->open(rule, cell.row, cell.column))
            return "closed by the mask: " + std::string(rule.kind);
    return cell.has("alignment_center") ? "closed: outside the window" : "closed by the given mask";
}

void explain_masked(Proof& proof, const Cell& cell) {
    explain_scaled(proof, cell);
    if (!is_closed(cell, cell.column)) return;
    proof.remark = closed_remark(cell);
    add_step(proof, "masked", -INFINITY);
}

void explain_softmax(Proof& proof, const Cell& cell) {
    explain_masked(proof, cell);
    const std::string_view name = cell.has("alignment_softmax") ? "alignment_softmax" : "alignment";
    const std::string_view logits = logits_of(cell);
    if (nothing_open(cell)) proof.remark = "nothing is open to this step: its weights are zeros";
    if (is_closed(cell, cell.column)) {
        add_step(proof, "weight", cell.here(name));
        return;
    }
    double largest = -INFINITY, sum = 0;
    for (int j = 0; j < cell.columns(logits); ++j)
        largest = std::max(largest, static_cast<double>(cell.at(logits, cell.row, j)));
    for (int j = 0; j < cell.columns(logits); ++j)
        if (!is_closed(cell, j)) sum += std::exp(cell.at(logits, cell.row, j) - largest);
    const double difference = cell.here(logits) - largest;
    add_step(proof, "− row max " + short_number(largest), difference);
    if (cell.experiment().normalizer == Normalization::hard) {
        add_step(proof, "1 at the first largest", cell.here(name));
        return;
    }
    add_step(proof, "exp", std::exp(difference));
    add_step(proof, "÷ row sum " + short_number(sum), cell.here(name));
}

void explain_alignment(Proof& proof, const Cell& cell) {
    explain_softmax(proof, cell);
    if (!cell.has("alignment_gauss")) return;
    add_step(proof, "× bell " + short_number(cell.here("alignment_gauss")), proof.value);
}

void explain_context(Proof& proof, const Cell& cell) {
    if (!cell.has("alignment")) {
        const bool forward = cell.column < cell.columns("h_fwd");
        proof.remark = forward ? "no attention: the forward state at the last word"
                               : "no attention: the backward state at the first word";
        return;
    }
    proof.terms_title = "weight × annotation, word by word";
    for (int j = 0; j < cell.columns("alignment"); ++j) {
        proof.terms.push_back({cell.trace.label(Axis::key_token, j), cell.at("alignment", cell.row, j),
                               cell.at("annotations", j, cell.column), is_closed(cell, j)});
        proof.terms_sum += proof.terms.back().product();
    }
    proof.terms_result = proof.value;
    if (nothing_open(cell)) proof.remark = "nothing is open to this step: its context is zero";
}

// ---- the rest

void explain_initial_state(Proof& proof, const Cell& cell) {
    const bool backward = cell.has("h_bwd");
    const std::string_view states = backward ? "h_bwd" : "h_fwd";
    const int word = backward ? 0 : cell.trace.find(states)->shape().rows - 1;
    proof.terms_title = "W_init h, term by term";
    add_products(proof, cell, row_of(cell, "h", states, word), "W_init", cell.column);
    proof.terms_result = proof.terms_sum;
    const float b = cell.at("b_init", 0, cell.column);
    add_step(proof, "+ b " + short_number(b), proof.terms_sum + b);
    add_step(proof, "tanh", proof.value);
}

void explain_key(Proof& proof, const Cell& cell) {
    proof.terms_title = "U_a h, term by term";
    add_products(proof, cell, row_of(cell, "h", "annotations", cell.row), "U_a", cell.column);
    proof.terms_result = proof.value;
}

void explain_logits(Proof& proof, const Cell& cell) {
    proof.terms_title = "W_out [s; y; c], term by term";
    int first = 0;
    for (const Operand& operand :
         {row_of(cell, "s", "decoder_state", cell.row), row_of(cell, "y", "target_embedding", cell.row),
          row_of(cell, "c", "decoder_context", cell.row)}) {
        add_products(proof, cell, operand, "W_out", cell.column, first);
        first += static_cast<int>(operand.values.size());
    }
    proof.terms_result = proof.terms_sum;
    add_step(proof, "+ b " + short_number(cell.at("b_out", 0, cell.column)), proof.value);
}

void explain_word(Proof& proof, const Cell& cell) {
    const bool source = cell.stage.name() == "source";
    const std::vector<std::string>& words = source ? cell.trace.table : cell.trace.target_table;
    const auto row = static_cast<std::size_t>(proof.value);
    const std::string table = source ? "E_src" : "E_tgt";
    proof.remark = (row < words.size() ? "\"" + words[row] + "\" is " : "") + "row " + std::to_string(row) +
                   " of " + table + ", counted from 0";
}

void explain_embedding(Proof& proof, const Cell& cell) {
    const bool source = cell.stage.name() == "source_embedding";
    const auto row = static_cast<int>(cell.at(source ? "source" : "fed_tokens", cell.row, 0));
    proof.remark = "row " + std::to_string(row) + (source ? " of E_src" : " of E_tgt") + ", dimension " +
                   std::to_string(cell.column + 1);
}

void explain_annotation(Proof& proof, const Cell& cell) {
    const int E = cell.columns("h_fwd");
    const bool forward = cell.column < E;
    proof.remark = std::string(forward ? "the forward" : "the backward") + " state, dimension " +
                   std::to_string(cell.column % E + 1);
}

void explain_mask(Proof& proof, const Cell& cell) {
    proof.remark = proof.value != 0 ? "open: this step may look at this word" : closed_remark(cell);
}

void explain_log_prob(Proof& proof, const Cell& cell) {
    double largest = -INFINITY, sum = 0;
    for (int k = 0; k < cell.columns("logits"); ++k)
        largest = std::max(largest, static_cast<double>(cell.at("logits", cell.row, k)));
    for (int k = 0; k < cell.columns("logits"); ++k)
        sum += std::exp(cell.at("logits", cell.row, k) - largest);
    add_step(proof, "logit", cell.here("logits"));
    add_step(proof, "− log Σ exp " + short_number(largest + std::log(sum)), proof.value);
}

void explain_loss(Proof& proof, const Cell& cell) {
    const int steps = cell.trace.find("target_tokens")->shape().rows;
    for (int i = 0; i < steps; ++i)
        add_step(proof, "−log p " + cell.trace.label(Axis::query_token, i),
                 -cell.at("log_probs", i, static_cast<int>(cell.at("target_tokens", i, 0))));
    add_step(proof, "their mean", proof.value);
}

void explain_parameter(Proof& proof, const Cell& cell) {
    proof.remark = cell.experiment().is_given(cell.stage.name()) ? "given" : "drawn";
}

void explain_bell(Proof& proof, const Cell& cell) {
    proof.remark = "of the distance to " + short_number(cell.at("alignment_center", cell.row, 0)) +
                   ", words counted from 0";
}

void explain_center(Proof& proof, const Cell& cell) {
    proof.remark = cell.experiment().normalizer == Normalization::local_m
                       ? "the step's own place, counted from 0"
                       : "predicted from the state that asks";
}

struct Explanation {
    std::string_view stage;
    void (*explain)(Proof&, const Cell&);
};

constexpr std::array k_explanations = {
    Explanation{"source", explain_word},
    Explanation{"source_embedding", explain_embedding},
    Explanation{"encoder_r_fwd", explain_reset},
    Explanation{"encoder_z_fwd", explain_update},
    Explanation{"encoder_n_fwd", explain_candidate},
    Explanation{"h_fwd", explain_state},
    Explanation{"encoder_r_bwd", explain_reset},
    Explanation{"encoder_z_bwd", explain_update},
    Explanation{"encoder_n_bwd", explain_candidate},
    Explanation{"h_bwd", explain_state},
    Explanation{"annotations", explain_annotation},
    Explanation{"initial_state", explain_initial_state},
    Explanation{"keys_projected", explain_key},
    Explanation{"fed_tokens", explain_word},
    Explanation{"target_embedding", explain_embedding},
    Explanation{"alignment_scores", explain_alignment_score},
    Explanation{"alignment_scaled", explain_scaled},
    Explanation{"alignment_center", explain_center},
    Explanation{"alignment_mask", explain_mask},
    Explanation{"alignment_masked", explain_masked},
    Explanation{"alignment_softmax", explain_softmax},
    Explanation{"alignment_gauss", explain_bell},
    Explanation{"alignment", explain_alignment},
    Explanation{"decoder_context", explain_context},
    Explanation{"gate_r", explain_reset},
    Explanation{"gate_z", explain_update},
    Explanation{"gate_n", explain_candidate},
    Explanation{"decoder_state", explain_state},
    Explanation{"logits", explain_logits},
    Explanation{"log_probs", explain_log_prob},
    Explanation{"picked_tokens", explain_word},
    Explanation{"target_tokens", explain_word},
    Explanation{"loss", explain_loss},
};

}  // namespace

void explain_seq2seq(Proof& proof, const Trace& trace, const Stage& stage, int row, int column) {
    void (*how)(Proof&, const Cell&) = explain_parameter;
    for (const Explanation& each : k_explanations)
        if (each.stage == stage.name()) how = each.explain;
    how(proof, Cell{trace, stage, row, column});
}

}  // namespace attnscope
