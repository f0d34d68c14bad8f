#include "core/op/decoder.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "core/op/gradient_proof.h"
#include "core/op/gru_proof.h"
#include "core/op/local_window.h"
#include "core/op/normalizers.h"
#include "core/op/op.h"
#include "core/op/recurrent.h"
#include "core/op/weighted_sum.h"

namespace attnscope::op {
namespace {

using enum Decode::Input;

/// Calls `use` with the decoder that an operation's inputs describe.
template <typename Use>
void with_decoder(const DecoderRule& rule, const Work& in, const Use& use) {
    const ConstMatrixView h = in.head(annotations), none(nullptr, 0, 0);
    Row last(h.cols());
    for_each_last_state(rule.encoder, h.rows(), h.cols(), [&](auto word, auto column, auto width) {
        last.segment(column, width) = h.row(word).segment(column, width);
    });
    const bool predicts = rule.aligns && predicts_window(rule.normalizer);
    const Alignment alignment{.W_a = rule.aligns ? in.head(W_a) : none,
                              .v_a = rule.aligns ? in.head(v_a) : none,
                              .keys = rule.aligns ? in.head(keys) : none,
                              .W_p = predicts ? in.head(W_p) : none,
                              .v_p = predicts ? in.head(v_p) : none,
                              .mask = rule.alignment_mask(static_cast<int>(h.rows())),
                              .normalizer = &normalizer_of(rule.normalizer),
                              .temperature = rule.temperature};
    use(Decoder{.gru = {in.head(gru), in.head(gru + 1), in.head(gru + 2), in.head(gru + 3)},
                .initial_state = in.head(initial_state),
                .annotations = h,
                .alignment = rule.aligns ? &alignment : nullptr,
                .fixed_context = last,
                .align_current = queries_current(rule.query_state)});
}

const Row& part_of(const DecoderStep& step, DecoderPart part) {
    switch (part) {
        case DecoderPart::scores: return step.alignment.scores;
        case DecoderPart::scaled: return step.alignment.scaled;
        case DecoderPart::center: return step.alignment.center;
        case DecoderPart::mask: return step.alignment.open;
        case DecoderPart::masked: return step.alignment.masked;
        case DecoderPart::softmax: return step.alignment.softmax;
        case DecoderPart::gauss: return step.alignment.gauss;
        case DecoderPart::weights: return step.alignment.weights;
        case DecoderPart::context: return step.context;
        case DecoderPart::gate_r: return step.gru.r;
        case DecoderPart::gate_z: return step.gru.z;
        case DecoderPart::gate_n: return step.gru.n;
        case DecoderPart::state: break;
    }
    return step.gru.state;
}

/// annotations S × C, initial state 1 × D.
int width_of(DecoderPart part, const Shape& annotations, const Shape& state) {
    if (part == DecoderPart::center) return 1;
    if (part == DecoderPart::context) return annotations.columns;
    return part < DecoderPart::context ? annotations.rows : state.columns;
}

}  // namespace

bool DecoderRule::has_window() const { return attnscope::has_window(normalizer); }

Mask DecoderRule::alignment_mask(int words) const {
    return {.queries = mask_steps, .keys = words, .rules = mask, .window = window, .custom = custom_mask};
}

std::vector<DecoderPart> DecoderRule::parts() const {
    using enum DecoderPart;
    std::vector<DecoderPart> parts;
    if (aligns) {
        parts = {scores};
        if (open_scores() == scaled) parts.push_back(scaled);
        if (has_window()) parts.push_back(center);
        if (logits() == masked) parts.insert(parts.end(), {DecoderPart::mask, masked});
        if (predicts_window(normalizer)) parts.insert(parts.end(), {softmax, gauss});
        parts.push_back(weights);
    }
    parts.insert(parts.end(), {context, gate_r, gate_z, gate_n, state});
    return parts;
}

std::vector<Shape> Decode::shapes(Shapes in) const {
    std::vector<Shape> shapes;
    for (const DecoderPart part : rule.parts())
        shapes.push_back(matrix(in.back().rows, width_of(part, in[1], in[0])));
    return shapes;
}

std::vector<Tensor> Decode::results(const Work& in) const {
    std::vector<DecoderStep> steps;
    with_decoder(rule, in, [&](const Decoder& decoder) {
        steps = decode(decoder, in.head(in.count() - 1), in.cancel);
    });
    std::vector<Tensor> results;
    for (const DecoderPart part : rule.parts()) {
        const auto columns = static_cast<int>(part_of(steps.front(), part).size());
        Tensor& rows = results.emplace_back(matrix(static_cast<int>(steps.size()), columns));
        for (std::size_t i = 0; i < steps.size(); ++i)
            rows.head(0).row(static_cast<Eigen::Index>(i)) = part_of(steps[i], part);
    }
    return results;
}

std::vector<Tensor> DecodeGreedily::results(const Work& in) const {
    const std::size_t table = in.count() - 3;
    std::vector<int> fed;
    with_decoder(rule, in, [&](const Decoder& decoder) {
        std::vector<DecoderStep> steps;
        fed = decode_greedily(decoder, {in.head(table), in.head(table + 1), in.head(table + 2)}, first, last,
                              max_steps, steps, in.cancel);
    });
    std::vector<Tensor> results;
    Tensor& rows = results.emplace_back(matrix(static_cast<int>(fed.size()), 1));
    std::ranges::transform(fed, rows.values().begin(), [](int word) { return static_cast<float>(word); });
    return results;
}

void OutputLogits::forward(const Work& in, Tensor& out) const {
    const Vocabularies vocabularies{in.head(1), in.head(3), in.head(4)};
    for (int i = 0; i < out.shape().rows; ++i) {
        stop_if_canceled(in.cancel);
        out.head(0).row(i) =
            output_logits(vocabularies, in.head(0).row(i), in.head(1).row(i), in.head(2).row(i));
    }
}

namespace {

/// The query of an alignment is a state.
constexpr CenterWords k_center_words{.query = "step", .letter = "s", .keys = "S"};

/// A cell of a decoder's result, with the other results of its step. What an operation of its own computes
/// elsewhere is explained by that operation.
class StepCell {
public:
    StepCell(const DecoderRule& rule, const Cell& cell) : rule_(rule), parts_(rule.parts()), cell_(cell) {}

    bool has(DecoderPart part) const { return std::ranges::find(parts_, part) != parts_.end(); }
    const Buffer& of(DecoderPart part) const {
        return *cell_.results[static_cast<std::size_t>(std::ranges::find(parts_, part) - parts_.begin())];
    }
    float here(DecoderPart part) const { return of(part).at(0, cell_.row, cell_.column); }
    Eigen::RowVectorXf row(DecoderPart part) const { return of(part).row(0, cell_.row); }
    /// s of step i; of step −1 the initial state.
    Eigen::RowVectorXf state(int i) const {
        return i < 0 ? cell_.row_of(initial_state, 0) : of(DecoderPart::state).row(0, i);
    }
    /// The step whose state is the query of the alignment.
    int query_step() const { return cell_.row - (queries_current(rule_.query_state) ? 0 : 1); }
    int words() const { return cell_.shape(annotations).rows; }

    void explain(Proof& proof) const {
        switch (parts_[cell_.result]) {
            case DecoderPart::scores: return explain_score(proof);
            case DecoderPart::scaled: return explain_scaled(proof);
            case DecoderPart::center: return explain_center(proof);
            case DecoderPart::mask: return explain_mask(proof);
            case DecoderPart::masked: return explain_masked(proof);
            case DecoderPart::softmax: return explain_softmax(proof);
            case DecoderPart::gauss:
                return explain_as(proof, GaussianWindow{words(), rule_.window}, DecoderPart::gauss,
                                  {{&of(DecoderPart::center)}});
            case DecoderPart::weights: return explain_weights(proof);
            case DecoderPart::context: return explain_context(proof);
            case DecoderPart::gate_r: return explain_unit_part(proof, UnitPart::r);
            case DecoderPart::gate_z: return explain_unit_part(proof, UnitPart::z);
            case DecoderPart::gate_n: return explain_unit_part(proof, UnitPart::n);
            case DecoderPart::state: return explain_unit_part(proof, UnitPart::state);
        }
    }

private:
    struct Input {
        const Buffer* values;
        void (StepCell::*explain)(Proof&) const = nullptr;  ///< its own cell
    };
    /// Explains the cell of `part` as an operation that computes it from these inputs; nothing is explained
    /// yet.
    void explain_as(Proof& proof, const Op& op, DecoderPart part, const std::vector<Input>& inputs) const {
        std::vector<const Buffer*> values;
        for (const Input& input : inputs) values.push_back(input.values);
        CellWords words = cell_.words;
        words.column_label = [&](std::size_t, int j) { return cell_.words.row_label(annotations, j); };
        words.prove = [&](std::size_t input) {
            Proof of_input;
            (this->*inputs[input].explain)(of_input);
            return of_input;
        };
        proof = attnscope::explain(op, {.inputs = values,
                                        .results = cell_.results,
                                        .result = cell_.result,
                                        .row = cell_.row,
                                        .column = cell_.column,
                                        .value = here(part),
                                        .words = words});
    }
    void explain_score(Proof& proof) const {
        const Eigen::RowVectorXd s = state(query_step()).cast<double>();
        proof.sum_name = "e";
        proof.terms_title = {
            "v_a · tanh( W_a s + U_a h )", "unit by unit",
            "The alignment score of a source word at this step of the decoder: a small network's "
            "hidden units, each between −1 and 1, weighted by v_a"};
        for (int k = 0; k < cell_.shape(v_a).columns; ++k) {
            const double sum = cell_.at(keys, cell_.column, k) + cell_.row_of(W_a, k).cast<double>().dot(s);
            proof.add_term(std::to_string(k + 1), cell_.at(v_a, 0, k), static_cast<float>(std::tanh(sum)));
        }
        proof.terms_result = here(DecoderPart::scores);
    }
    void explain_scaled(Proof& proof) const {
        if (has(DecoderPart::scaled))
            return explain_as(proof, rule_.scale(), DecoderPart::scaled,
                              {{&of(DecoderPart::scores), &StepCell::explain_score}});
        explain_score(proof);
        proof.begin_with_score(here(DecoderPart::scores));
    }
    void explain_center(Proof& proof) const {
        if (!predicts_window(rule_.normalizer))
            return QueryPlaces{of(DecoderPart::center).shape().rows}.explain(proof, cell_, k_center_words);
        const int step = query_step();
        const Buffer* const inputs[] = {step < 0 ? cell_.inputs[initial_state] : &of(DecoderPart::state),
                                        cell_.inputs[W_p], cell_.inputs[v_p]};
        Cell cell = cell_;
        cell.inputs = inputs;
        cell.row = std::max(step, 0);
        PredictedCenters{words()}.explain(proof, cell, k_center_words);
    }
    void explain_mask(Proof& proof) const {
        std::vector<Input> centers;
        if (rule_.has_window()) centers = {{&of(DecoderPart::center)}};
        explain_as(proof, rule_.alignment_mask(words()), DecoderPart::mask, centers);
    }
    void explain_masked(Proof& proof) const {
        explain_as(proof, MaskedFill{}, DecoderPart::masked,
                   {{&of(rule_.open_scores()), &StepCell::explain_scaled},
                    {&of(DecoderPart::mask), &StepCell::explain_mask}});
    }
    void explain_logits(Proof& proof) const {
        if (has(DecoderPart::masked)) return explain_masked(proof);
        explain_scaled(proof);
        if (here(rule_.logits()) == -INFINITY) proof.remark = k_closed_by_score;
    }
    /// `part`: softmax, or weights where there is no Gaussian window.
    void explain_normalized(Proof& proof, DecoderPart part) const {
        explain_as(proof, normalizer_of(rule_.normalizer).op(SoftmaxAxis::keys), part,
                   {{&of(rule_.logits()), &StepCell::explain_logits}});
    }
    void explain_softmax(Proof& proof) const { explain_normalized(proof, DecoderPart::softmax); }
    void explain_weights(Proof& proof) const {
        if (!has(DecoderPart::gauss)) return explain_normalized(proof, DecoderPart::weights);
        explain_as(proof, ApplyWindow{}, DecoderPart::weights,
                   {{&of(DecoderPart::softmax), &StepCell::explain_softmax}, {&of(DecoderPart::gauss)}});
    }
    void explain_context(Proof& proof) const {
        if (!rule_.aligns) {
            const int states = cell_.shape(annotations).columns / (reads_backward(rule_.encoder) ? 2 : 1);
            proof.remark = cell_.column < states ? "no attention: the forward state at the last word"
                                                 : "no attention: the backward state at the first word";
            return;
        }
        explain_as(proof, WeightedSum{}, DecoderPart::context,
                   {{&of(DecoderPart::weights)}, {&of(rule_.logits())}, {cell_.inputs[annotations]}});
        proof.terms_title = {"weight × annotation", "word by word",
                             "Each source word's annotation times its weight, all added up"};
    }
    void explain_unit_part(Proof& proof, UnitPart part) const {
        std::vector<std::pair<std::string, Eigen::RowVectorXf>> input;
        input.emplace_back("y", cell_.row_of(cell_.inputs.size() - 1, cell_.row));
        if (!queries_current(rule_.query_state)) input.emplace_back("c", row(DecoderPart::context));
        const UnitCell unit{cell_,
                            gru,
                            std::move(input),
                            state(cell_.row - 1),
                            here(DecoderPart::gate_r),
                            here(DecoderPart::gate_z),
                            here(DecoderPart::gate_n)};
        explain_unit(proof, unit, part);
    }

    const DecoderRule& rule_;
    const std::vector<DecoderPart> parts_;
    const Cell& cell_;
};

}  // namespace

void Decode::explain(Proof& proof, const Cell& cell) const { StepCell(rule, cell).explain(proof); }

void DecodeGreedily::explain(Proof& proof, const Cell& cell) const {
    proof.remark = cell.words.table_row(static_cast<int>(cell.value));
}

void OutputLogits::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const std::string dY = cell.words.gradient(0);
    std::size_t part = cell.input;
    int column = cell.column;
    if (part == 3)
        for (part = 0; column >= cell.shape(part).columns; ++part) column -= cell.shape(part).columns;
    if (cell.input < 3) {
        int first = 0;
        for (std::size_t i = 0; i < cell.input; ++i) first += cell.shape(i).columns;
        proof.terms_title = {dY + " · W_out", "word by word"};
        return add_products(proof, cell, SumOver::columns, 0, cell.d_row(0, cell.row),
                            cell.in_column(3, 0, first + cell.column));
    }
    if (cell.input == 3) {
        proof.terms_title = {fmt::format("{} · {}", dY, cell.words.symbol(part)), "step by step"};
        return add_products(proof, cell, SumOver::rows, 0, cell.d_column(0, cell.row),
                            cell.in_column(part, 0, column));
    }
    proof.terms_title = {dY, "step by step"};
    add_numbers(proof, cell, SumOver::rows, 0, cell.d_column(0, cell.column));
}

void OutputLogits::explain(Proof& proof, const Cell& cell) const {
    const Eigen::RowVectorXf W = cell.row_of(3, cell.column);
    proof.terms_title = {"W_out [s; y; c]", "term by term"};
    Eigen::Index first = 0;
    for (std::size_t input = 0; input < 3; ++input) {
        constexpr const char* k_letters[] = {"s", "y", "c"};
        const Eigen::RowVectorXf x = cell.row_of(input, cell.row);
        proof.add_terms(k_letters[input], x, W.segment(first, x.size()));
        first += x.size();
    }
    proof.terms_result = proof.terms_sum;
    proof.add_step("+ b_out " + number_text(cell.at(4, 0, cell.column)), cell.value, k_bias_help);
}

namespace {

std::string center_formula(const DecoderRule& rule) {
    return predicts_window(rule.normalizer) ? PredictedCenters{}.formula({}, k_center_words)
                                            : QueryPlaces{}.formula({}, k_center_words);
}

/// The alignment's mask in words.
std::string mask_words(const DecoderRule& rule, std::string (Mask::*words)(const Symbols&) const) {
    return (rule.alignment_mask(0).*words)({.count = rule.has_window() ? 1U : 0U});
}

/// An operation's formula over these inputs.
std::string formula_over(const Op& op, const std::vector<std::string>& inputs) {
    const auto input = [&](std::size_t i) { return inputs[i]; };
    return attnscope::formula(
        op, {.count = inputs.size(), .keys = "the source", .of = input, .formula_of = input});
}

/// The normalizer's formula over the logits.
std::string normalized_formula(const DecoderRule& rule) {
    const std::string scaled = formula_over(rule.scale(), {"e"}),
                      logits = formula_over(MaskedFill{}, {scaled, mask_words(rule, &Mask::formula)});
    return formula_over(normalizer_of(rule.normalizer).op(SoftmaxAxis::keys), {logits});
}

std::string context_formula(const DecoderRule& rule) {
    if (rule.aligns) return "c = α h, the annotations weighted by each row";
    return reads_backward(rule.encoder) ? "c = [h→ at the last word; h← at the first], the same in each step"
                                        : "c = h→ at the last word, the same in each step";
}

}  // namespace

std::string Decode::formula(const Symbols& in) const {
    const bool current = queries_current(rule.query_state);
    const std::string input = current ? "y" : "[y; c]", state = "s of the previous step";
    switch (rule.parts()[in.result]) {
        case DecoderPart::scores:
            return std::string("e = v_a · tanh( W_a s") + (current ? "" : " of the previous step") +
                   " + U_a h )";
        case DecoderPart::scaled: return formula_over(rule.scale(), {"e"});
        case DecoderPart::center: return center_formula(rule);
        case DecoderPart::mask: return mask_words(rule, &Mask::formula);
        case DecoderPart::masked: return "the scores before the softmax, −∞ where masked";
        case DecoderPart::softmax: return normalized_formula(rule);
        case DecoderPart::gauss: return GaussianWindow{0, rule.window}.formula({});
        case DecoderPart::weights:
            return "α = " + (predicts_window(rule.normalizer)
                                 ? formula_over(ApplyWindow{}, {"softmax", "gauss"})
                                 : normalized_formula(rule));
        case DecoderPart::context: return context_formula(rule);
        case DecoderPart::gate_r: return gate_formula('r', input, state);
        case DecoderPart::gate_z: return gate_formula('z', input, state);
        case DecoderPart::gate_n: return gate_formula('n', input, state);
        case DecoderPart::state: return "s = (1 − z) ∘ n + z ∘ " + state;
    }
    return "";
}

std::string Decode::caption(const Symbols& in) const {
    switch (rule.parts()[in.result]) {
        case DecoderPart::mask: return mask_words(rule, &Mask::caption);
        case DecoderPart::weights:
            return predicts_window(rule.normalizer)
                       ? ApplyWindow{}.caption(in)
                       : attnscope::caption(normalizer_of(rule.normalizer).op(SoftmaxAxis::keys), in);
        case DecoderPart::context: return rule.aligns ? "" : "last state";
        case DecoderPart::scores:
        case DecoderPart::scaled:
        case DecoderPart::center:
        case DecoderPart::masked:
        case DecoderPart::softmax:
        case DecoderPart::gauss:
        case DecoderPart::gate_r:
        case DecoderPart::gate_z:
        case DecoderPart::gate_n:
        case DecoderPart::state: break;
    }
    return "";
}

std::string Decode::sentence(std::size_t result) const {
    switch (rule.parts()[result]) {
        case DecoderPart::scores:
            return "Multiply each hidden unit of state and word by its weight in v_a and add up.";
        case DecoderPart::scaled: return rule.scale().sentence();
        case DecoderPart::weights: return predicts_window(rule.normalizer) ? ApplyWindow{}.sentence() : "";
        case DecoderPart::center:
        case DecoderPart::mask:
        case DecoderPart::masked:
        case DecoderPart::softmax:
        case DecoderPart::gauss:
        case DecoderPart::context:
        case DecoderPart::gate_r:
        case DecoderPart::gate_z:
        case DecoderPart::gate_n:
        case DecoderPart::state: break;
    }
    return "";
}

Operands Decode::operands(std::size_t result) const {
    const std::vector<DecoderPart> parts = rule.parts();
    const auto weights = std::ranges::find(parts, DecoderPart::weights);
    if (parts[result] != DecoderPart::context || weights == parts.end()) return {};
    return {.above = 1, .left_result = static_cast<int>(weights - parts.begin())};
}

}  // namespace attnscope::op
