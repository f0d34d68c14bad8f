// The proofs of the gradients of a decoder.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "core/op/alignment.h"
#include "core/op/decoder.h"
#include "core/op/gradient_proof.h"
#include "core/op/gru_proof.h"
#include "core/op/local_window.h"
#include "core/op/normalizers.h"
#include "core/op/op.h"
#include "core/op/weighted_sum.h"

namespace attnscope::op {
namespace {

using enum Decode::Input;

/// What the steps of a decoder pass back to a cell, read off their complete gradients.
class DecoderGradient {
public:
    DecoderGradient(const DecoderRule& rule, const GradientCell& cell)
        : rule_(rule),
          parts_(rule.parts()),
          cell_(cell),
          unit_{cell, gru, of(DecoderPart::gate_r), [this](int i) { return input(i); },
                [this](int i) { return state(i - 1); }} {}

    /// Explains the gradient of a cell of an input.
    void explain_input(Proof& proof) const {
        const int row = cell_.row, column = cell_.column;
        if (cell_.input == words()) return explain_unit_input(proof, unit_, row, column);
        switch (cell_.input) {
            case initial_state: return explain_state(proof, -1);
            case annotations: return explain_annotation(proof);
            case keys: return explain_key(proof);
            case W_a: return explain_asked(proof);
            case v_a: return explain_units(proof);
            case W_p:
            case v_p: return explain_center_input(proof, cell_.input - W_p + 1, row, column);
            case gru:
            case gru + 1:
            case gru + 2:
            case gru + 3: return explain_unit_parameter(proof, unit_, cell_.input - gru, row, column);
            default: throw std::logic_error("a decoder has no other input");
        }
    }

    /// Explains the gradient of a cell of a result, which later parts and steps read.
    void explain_result(Proof& proof) const {
        switch (parts_[cell_.input]) {
            case DecoderPart::scores:
                if (has(DecoderPart::scaled))
                    return explain_as(proof, rule_.scale(), 0, {DecoderPart::scores}, DecoderPart::scaled);
                return explain_logits(proof, DecoderPart::scores);
            case DecoderPart::scaled: return explain_logits(proof, DecoderPart::scaled);
            case DecoderPart::masked: return explain_normalized(proof, DecoderPart::masked);
            case DecoderPart::softmax: return explain_window(proof, 0);
            case DecoderPart::gauss: return explain_window(proof, 1);
            case DecoderPart::center:
                if (!has(DecoderPart::gauss)) return say_unread(proof);
                return explain_as(proof, GaussianWindow{cell_.shape(annotations).rows, rule_.window}, 0,
                                  {DecoderPart::center}, DecoderPart::gauss);
            case DecoderPart::mask: return say_unread(proof);
            case DecoderPart::weights: return explain_sum(proof, 0);
            case DecoderPart::context:
                if (!queries_previous()) return say_unread(proof);
                return explain_unit_input(proof, unit_, cell_.row,
                                          cell_.shape(words()).columns + cell_.column);
            case DecoderPart::gate_r: return explain_gate(proof, UnitPart::r);
            case DecoderPart::gate_z: return explain_gate(proof, UnitPart::z);
            case DecoderPart::gate_n: return explain_gate(proof, UnitPart::n);
            case DecoderPart::state: return explain_state(proof, cell_.row);
        }
    }

private:
    bool has(DecoderPart part) const { return std::ranges::find(parts_, part) != parts_.end(); }
    std::size_t of(DecoderPart part) const {
        return static_cast<std::size_t>(std::ranges::find(parts_, part) - parts_.begin());
    }
    std::size_t words() const { return cell_.inputs.size() - 1; }
    int steps() const { return cell_.shape(words()).rows; }
    bool queries_previous() const { return !queries_current(rule_.query_state); }

    static void say_unread(Proof& proof) {
        proof.remark = "nothing in the decoder that has a gradient reads it";
    }

    /// The state after step i; before the first step, −1, the initial one.
    Eigen::RowVectorXf state(int i) const {
        return i < 0 ? cell_.in_row(initial_state, 0, 0) : cell_.out_row(0, i, of(DecoderPart::state));
    }
    /// The state that queries the alignment of step i.
    Eigen::RowVectorXf query(int i) const { return state(queries_previous() ? i - 1 : i); }
    Eigen::RowVectorXf input(int i) const {
        Eigen::RowVectorXf word = cell_.in_row(words(), 0, i);
        if (!queries_previous()) return word;
        const Eigen::RowVectorXf context = cell_.out_row(0, i, of(DecoderPart::context));
        Eigen::RowVectorXf both(word.size() + context.size());
        both << word, context;
        return both;
    }

    /// Explains the cell as one of an input of `op`, which computes a part from other parts and matrices.
    void explain_with(Proof& proof, const Op& op, std::size_t input, const std::vector<const Buffer*>& inputs,
                      DecoderPart result) const {
        const std::size_t r = of(result);
        GradientWords words = cell_.words;
        words.symbol = [&](std::size_t i) {
            const auto part = std::ranges::find(cell_.results, inputs[i]);
            const auto matrix = std::ranges::find(cell_.inputs, inputs[i]);
            if (part != cell_.results.end())
                return cell_.words.result(static_cast<std::size_t>(part - cell_.results.begin()));
            if (matrix == cell_.inputs.end()) return std::string("s");
            return cell_.words.symbol(static_cast<std::size_t>(matrix - cell_.inputs.begin()));
        };
        words.gradient = [&](std::size_t) { return cell_.words.gradient(r); };
        words.row_label = [&](std::size_t, int i) { return cell_.words.row_label(r, i); };
        words.column_label = [&](std::size_t, int j) { return cell_.words.column_label(r, j); };
        proof = attnscope::explain_gradient(op, {.inputs = inputs,
                                                 .results = cell_.results.subspan(r, 1),
                                                 .gradients = cell_.gradients.subspan(r, 1),
                                                 .input = input,
                                                 .row = cell_.row,
                                                 .column = cell_.column,
                                                 .words = words});
    }
    void explain_as(Proof& proof, const Op& op, std::size_t input, const std::vector<DecoderPart>& from,
                    DecoderPart result) const {
        std::vector<const Buffer*> inputs;
        for (const DecoderPart part : from) inputs.push_back(cell_.results[of(part)]);
        explain_with(proof, op, input, inputs, result);
    }

    void explain_logits(Proof& proof, DecoderPart part) const {
        if (!has(DecoderPart::masked)) return explain_normalized(proof, part);
        explain_as(proof, MaskedFill{}, 0, {part, DecoderPart::mask}, DecoderPart::masked);
    }
    void explain_normalized(Proof& proof, DecoderPart part) const {
        const Op normalize = normalizer_of(rule_.normalizer).op(SoftmaxAxis::keys);
        const DecoderPart result = has(DecoderPart::softmax) ? DecoderPart::softmax : DecoderPart::weights;
        if (const std::string_view why = why_no_gradient(normalize); !why.empty())
            proof.remark = why;
        else
            explain_as(proof, normalize, 0, {part}, result);
    }
    void explain_window(Proof& proof, std::size_t which) const {
        explain_as(proof, ApplyWindow{}, which, {DecoderPart::softmax, DecoderPart::gauss},
                   DecoderPart::weights);
    }
    /// Explains what the context passes back to the weights (0) or the annotations (2).
    void explain_sum(Proof& proof, std::size_t which) const {
        explain_with(proof, WeightedSum{}, which,
                     {cell_.results[of(DecoderPart::weights)], cell_.results[of(rule_.logits())],
                      cell_.inputs[annotations]},
                     DecoderPart::context);
    }
    void explain_gate(Proof& proof, UnitPart gate) const {
        explain_unit_gate(proof, unit_, gate, cell_.row, cell_.column);
    }

    void explain_annotation(Proof& proof) const {
        if (rule_.aligns) return explain_sum(proof, 2);
        const int half = cell_.shape(annotations).columns / 2;
        const bool is_second = reads_backward(rule_.encoder) && cell_.column >= half;
        if (cell_.row != (is_second ? 0 : cell_.shape(annotations).rows - 1)) {
            proof.remark = "no attention: the contexts do not read this word";
            return;
        }
        const std::size_t context = of(DecoderPart::context);
        proof.terms_title = {cell_.words.gradient(context), "step by step"};
        for (int i = 0; i < steps(); ++i)
            proof.add_term(cell_.words.row_label(context, i), 1, cell_.d(0, i, cell_.column, context));
    }

    /// tanh(W_a s + U_a h) of step i, S × A.
    Eigen::MatrixXd hidden(int i) const {
        const Eigen::MatrixXd of_words = cell_.inputs[keys]->head(0).cast<double>();
        const Eigen::RowVectorXd asked =
            query(i).cast<double>() * cell_.inputs[W_a]->head(0).cast<double>().transpose();
        return alignment_hidden<StandardFunctions>(asked, of_words);
    }
    /// The gradient before the tanh, for each word and unit: de v_a (1 − tanh²).
    Eigen::MatrixXd before_units(int i) const {
        const Eigen::RowVectorXd de = cell_.d_row(0, i, of(DecoderPart::scores)).cast<double>(),
                                 v = cell_.in_row(v_a, 0, 0).cast<double>();
        return alignment_back(de.transpose(), v, hidden(i));
    }
    std::string de() const { return cell_.words.gradient(of(DecoderPart::scores)); }
    void add_step(Proof& proof, int i, double left, float right) const {
        proof.add_term(cell_.words.row_label(of(DecoderPart::scores), i), static_cast<float>(left), right);
    }
    void explain_key(Proof& proof) const {
        proof.terms_title = {"before tanh: " + de() + " ∘ v_a (1 − tanh²)", "step by step"};
        for (int i = 0; i < steps(); ++i) add_step(proof, i, before_units(i)(cell_.row, cell_.column), 1);
    }
    void explain_asked(Proof& proof) const {
        proof.terms_title = {"before tanh: " + de() + " ∘ v_a (1 − tanh²), times s", "step by step"};
        for (int i = 0; i < steps(); ++i)
            add_step(proof, i, before_units(i).col(cell_.row).sum(), query(i)(cell_.column));
    }
    void explain_units(Proof& proof) const {
        proof.terms_title = {de() + " · tanh(…)", "step by step"};
        for (int i = 0; i < steps(); ++i)
            add_step(proof, i,
                     cell_.d_row(0, i, of(DecoderPart::scores))
                         .cast<double>()
                         .dot(hidden(i).col(cell_.column).transpose()),
                     1);
    }
    /// Explains what the predicted centers pass back to the states they are predicted from (0), W_p (1) or
    /// v_p (2).
    void explain_center_input(Proof& proof, std::size_t which, int row, int column) const {
        Tensor queries(matrix(steps(), cell_.shape(initial_state).columns));
        for (int i = 0; i < steps(); ++i) queries.head(0).row(i) = query(i);
        const Buffer asked(std::move(queries));
        GradientCell there = cell_;
        there.row = row;
        there.column = column;
        DecoderGradient(rule_, there)
            .explain_with(proof, PredictedCenters{cell_.shape(annotations).rows}, which,
                          {&asked, cell_.inputs[W_p], cell_.inputs[v_p]}, DecoderPart::center);
    }

    /// What reads the state after step i, −1 for the initial one: the next step, and the alignment that it
    /// queries.
    void explain_state(Proof& proof, int i) const {
        if (i + 1 < steps()) explain_unit_old_state(proof, unit_, i + 1, cell_.column);
        const int asking = queries_previous() ? i + 1 : i;
        if (!rule_.aligns || asking < 0 || asking >= steps()) {
            if (proof.terms.empty()) proof.remark = "the last state: no later step depends on it";
            return;
        }
        proof.terms_title = {"what the step and its alignment pass back", "unit by unit"};
        const Eigen::RowVectorXd asked = before_units(asking).colwise().sum();
        for (Eigen::Index k = 0; k < asked.size(); ++k)
            proof.add_term(fmt::format("a {}", k + 1), static_cast<float>(asked(k)),
                           cell_.in(W_a, 0, static_cast<int>(k), cell_.column));
        if (!predicts_window(rule_.normalizer)) return;
        Proof of_center;
        explain_center_input(of_center, 0, asking, cell_.column);
        for (const ProofTerm& term : of_center.terms)
            proof.add_term("p " + term.label, term.left, term.right);
    }

    const DecoderRule& rule_;
    const std::vector<DecoderPart> parts_;
    const GradientCell& cell_;
    const UnitSteps unit_;
};

}  // namespace

void Decode::explain_gradient(Proof& proof, const GradientCell& cell) const {
    DecoderGradient(rule, cell).explain_input(proof);
}

void Decode::explain_own_gradient(Proof& proof, const GradientCell& cell) const {
    DecoderGradient(rule, cell).explain_result(proof);
}

}  // namespace attnscope::op
