#include "core/op/recurrent.h"

#include <fmt/format.h>

#include "core/op/gradient_proof.h"
#include "core/op/gru_backward.h"
#include "core/op/gru_proof.h"
#include "core/op/linear.h"

namespace attnscope::op {

std::vector<Shape> GruEncoder::shapes(Shapes in) const {
    return std::vector<Shape>(k_results, matrix(in[0].rows, in[2].columns));
}

std::vector<Tensor> GruEncoder::results(const Work& in) const {
    const std::vector<GruStep> steps =
        encode({in.head(1), in.head(2), in.head(3), in.head(4)}, in.head(0), direction, in.cancel);
    const Shape shape = matrix(in.shape(0).rows, in.shape(2).columns);
    std::vector<Tensor> results;
    for (Row GruStep::*part : {&GruStep::r, &GruStep::z, &GruStep::n, &GruStep::state}) {
        Tensor& rows = results.emplace_back(shape);
        for (int i = 0; i < shape.rows; ++i) rows.head(0).row(i) = steps[static_cast<std::size_t>(i)].*part;
    }
    return results;
}

Shape JoinColumns::shape(Shapes in) const {
    int columns = 0;
    for (const Shape& each : in) columns += each.columns;
    return matrix(in[0].rows, columns);
}

void JoinColumns::forward(const Work& in, Tensor& out) const {
    Eigen::Index first = 0;
    for (std::size_t i = 0; i < in.count(); ++i) {
        out.head(0).middleCols(first, in.shape(i).columns) = in.head(i);
        first += in.shape(i).columns;
    }
}

void InitialState::forward(const Work& in, Tensor& out) const {
    const Eigen::Index row = word == Of::first ? 0 : in.shape(0).rows - 1;
    const Eigen::ArrayXd sums = product_in_double(in.head(1), in.head(0).row(row)) +
                                in.head(2).row(0).transpose().cast<double>().array();
    out.head(0).row(0) = sums.tanh().cast<float>().matrix().transpose();
}

void LinearInDouble::forward(const Work& in, Tensor& out) const {
    for (int i = 0; i < out.shape().rows; ++i)
        out.head(0).row(i) =
            product_in_double(in.head(1), in.head(0).row(i)).cast<float>().matrix().transpose();
}

void GruEncoder::explain(Proof& proof, const Cell& cell) const {
    const Buffer& states = *cell.results[3];
    const int before = direction == Direction::forward ? cell.row - 1 : cell.row + 1;
    const bool first = before < 0 || before >= states.shape().rows;
    const auto gate = [&](std::size_t part) { return cell.results[part]->at(0, cell.row, cell.column); };
    const UnitCell unit{cell,
                        1,
                        {{"x", cell.row_of(0, cell.row)}},
                        first ? Eigen::RowVectorXf::Zero(states.shape().columns) : states.row(0, before),
                        gate(0),
                        gate(1),
                        gate(2)};
    explain_unit(proof, unit, static_cast<UnitPart>(cell.result));
}

namespace {

UnitSteps steps_of(const GruEncoder& encoder, const GradientCell& cell) {
    const auto old_state = [&cell, &encoder](int j) -> Eigen::RowVectorXf {
        const int before = encoder.direction == Direction::forward ? j - 1 : j + 1;
        if (before < 0 || before >= cell.result_shape(3).rows)
            return Eigen::RowVectorXf::Zero(cell.result_shape(3).columns);
        return cell.out_row(0, before, 3);
    };
    return {cell, 1, 0, [&cell](int j) { return cell.in_row(0, 0, j); }, old_state};
}

}  // namespace

void GruEncoder::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const UnitSteps unit = steps_of(*this, cell);
    if (cell.input == 0) return explain_unit_input(proof, unit, cell.row, cell.column);
    explain_unit_parameter(proof, unit, cell.input - 1, cell.row, cell.column);
}

void GruEncoder::explain_own_gradient(Proof& proof, const GradientCell& cell) const {
    const UnitSteps unit = steps_of(*this, cell);
    const auto part = static_cast<UnitPart>(cell.input);
    if (part != UnitPart::state) return explain_unit_gate(proof, unit, part, cell.row, cell.column);
    const int next = direction == Direction::forward ? cell.row + 1 : cell.row - 1;
    if (next >= 0 && next < unit.steps()) return explain_unit_old_state(proof, unit, next, cell.column);
    proof.remark = "the last state read: no later one depends on it";
}

void JoinColumns::backward(const Backward& at) const {
    Eigen::Index first = 0;
    for (std::size_t i = 0; i < at.count(); ++i) {
        if (at.wants(i)) at.sum(i) += at.gradient().middleCols(first, at.shape(i).columns);
        first += at.shape(i).columns;
    }
}

void InitialState::backward(const Backward& at) const {
    const Eigen::Index row = word == Of::first ? 0 : at.shape(0).rows - 1;
    const Eigen::VectorXd du = at.gradient_row(0, 0) * (1 - at.result_row(0, 0).square());
    at.add_row(0, row, (at.input(1).cast<double>().transpose() * du).array());
    at.add(1, du * at.input_row(0, row).matrix().transpose());
    at.add_row(2, 0, du.array());
}

void LinearInDouble::backward(const Backward& at) const {
    const Eigen::MatrixXd dY = at.gradient().cast<double>();
    at.add(0, dY * at.input(1).cast<double>());
    at.add(1, dY.transpose() * at.input(0).cast<double>());
}

void GruEncoder::backward(const Backward& at) const {
    const Eigen::Index words = at.shape(0).rows, size = at.shape(2).columns;
    GruBackward gru({at.input(1), at.input(2), at.input(3), at.input(4)});
    Eigen::ArrayXd carried = Eigen::ArrayXd::Zero(size);
    for (Eigen::Index read = words; read-- > 0;) {
        const bool is_forward = direction == Direction::forward;
        const Eigen::Index j = is_forward ? read : words - 1 - read, before = is_forward ? j - 1 : j + 1;
        const Eigen::ArrayXd old =
            read == 0 ? Eigen::ArrayXd(Eigen::ArrayXd::Zero(size)) : at.result_row(3, before);
        carried = gru.step(at, 0, j, at.input_row(0, j), old, carried);
        at.add_row(0, j, gru.of_input);
    }
    gru.add_to(at, 1);
}

void JoinColumns::explain_gradient(Proof& proof, const GradientCell& cell) const {
    int first = 0;
    for (std::size_t i = 0; i < cell.input; ++i) first += cell.shape(i).columns;
    pass_on(proof, cell, 0, cell.row, first + cell.column);
}

void JoinColumns::explain(Proof& proof, const Cell& cell) const {
    int column = cell.column;
    std::size_t input = 0;
    for (; column >= cell.shape(input).columns; ++input) column -= cell.shape(input).columns;
    proof.remark = fmt::format("{}, dimension {}", cell.words.symbol(input), column + 1);
}

void InitialState::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const int row = word == Of::first ? 0 : cell.shape(0).rows - 1;
    const Eigen::ArrayXd Y = cell.out_row(0, 0).transpose().cast<double>().array();
    const Eigen::ArrayXd du = cell.d_row(0, 0).transpose().cast<double>().array() * (1 - Y.square());
    if (cell.input == 0) {
        if (cell.row != row) {
            proof.remark = "the state of another word is used";
            return;
        }
        proof.terms_title = {"before tanh, times W_init", "column by column"};
        return add_products(proof, cell, SumOver::columns, 0, du.cast<float>().matrix().transpose(),
                            cell.in_column(1, 0, cell.column));
    }
    const int unit = cell.input == 1 ? cell.row : cell.column;
    pass_on(proof, cell, 0, 0, unit);
    proof.add_step("× (1 − tanh²) " + number_text(1 - Y(unit) * Y(unit), 4), du(unit));
    if (cell.input == 1) {
        const float h = cell.in(0, 0, row, cell.column);
        proof.add_step("× h " + number_text(h), du(unit) * h);
    }
}

void InitialState::explain(Proof& proof, const Cell& cell) const {
    const int row = word == Of::first ? 0 : cell.shape(0).rows - 1;
    proof.terms_title = {"W_init h", "term by term"};
    proof.add_terms("h", cell.row_of(0, row), cell.row_of(1, cell.column));
    proof.terms_result = proof.terms_sum;
    const float b = cell.at(2, 0, cell.column);
    proof.add_step("+ b " + number_text(b), proof.terms_sum + b, k_bias_help);
    proof.add_step("tanh", cell.value, k_tanh_help);
}

void LinearInDouble::explain_gradient(Proof& proof, const GradientCell& cell) const {
    explain_linear_gradient(proof, cell);
}

void LinearInDouble::explain(Proof& proof, const Cell& cell) const {
    proof.terms_title = {cell.words.symbol(0) + " · " + cell.words.symbol(1), "term by term"};
    proof.add_terms("", cell.row_of(0, cell.row), cell.row_of(1, cell.column));
    proof.terms_result = cell.value;
}

std::string gate_formula(char gate, const std::string& input, const std::string& state) {
    if (gate == 'n') return fmt::format("n = tanh( W_in {} + b_in + r ∘ (W_hn {} + b_hn) )", input, state);
    return fmt::format("{0} = sigmoid( W_i{0} {1} + b_i{0} + W_h{0} {2} + b_h{0} )", gate, input, state);
}

std::string GruEncoder::formula(const Symbols& in) const {
    const std::string neighbor =
        direction == Direction::forward ? "h of the previous word" : "h of the next word";
    if (in.result == 3) return "h = (1 − z) ∘ n + z ∘ " + neighbor;
    return gate_formula("rzn"[in.result], "x", neighbor);
}

void GruEncoder::torch(TorchLines& py) const {
    const bool backward = direction == Direction::backward;
    py.section = backward ? "A second encoder reads the words from the last to the first."
                          : "The encoder reads the words from the first to the last.";
    py.functions.emplace_back("gru", py.gradients ? k_gru_gates_python : k_gru_python);
    if (py.gradients) py.functions.push_back(k_stacked_python);
    py.functions.emplace_back("read", fmt::format("def read(cell, words):\n"
                                                  "    h, steps = torch.zeros(cell.hidden_size), []\n"
                                                  "    for x in words:\n"
                                                  "        steps.append(gru(cell, x, h))\n"
                                                  "        h = steps[-1][-1]\n"
                                                  "    return [{} for each in zip(*steps)]\n",
                                                  py.gradients ? "list(each)" : "torch.stack(each)"));
    if (py.gradients)
        return py.line("{}, {}, {}, {} = [stacked(each{}) for each in read({}, {}{})]", py.out(0), py.out(1),
                       py.out(2), py.out(3), backward ? "[::-1]" : "", py.module(1), py.in(0),
                       backward ? ".flip(0)" : "");
    if (backward) py.line("backward = read({}, {}.flip(0))", py.module(1), py.in(0));
    py.line("{}, {}, {}, {} = {}", py.out(0), py.out(1), py.out(2), py.out(3),
            backward ? "[x.flip(0) for x in backward]" : fmt::format("read({}, {})", py.module(1), py.in(0)));
}

void JoinColumns::torch(TorchLines& py) const {
    if (py.inputs.size() == 1) return py.line("{} = {}", py.out(), py.in(0));
    py.line("{} = torch.cat([{}, {}], dim=-1)", py.out(), py.in(0), py.in(1));
}

void InitialState::torch(TorchLines& py) const {
    py.section = fmt::format("The decoder's first state, from the encoder's state at the {} word.",
                             word == Of::first ? "first" : "last");
    py.line("{} = torch.tanh({} @ {}[{}] + {})", py.out(), py.in(1), py.in(0), word == Of::first ? 0 : -1,
            py.in(2));
}

void LinearInDouble::torch(TorchLines& py) const { py.line("{} = {} @ {}.T", py.out(), py.in(0), py.in(1)); }

}  // namespace attnscope::op
