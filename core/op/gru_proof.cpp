#include "core/op/gru_proof.h"

#include <fmt/format.h>

#include "core/op/gru_cell.h"

namespace attnscope::op {
namespace {

/// The rows of the gates in W_ih and W_hh, in the order r, z, n.
void explain_gate(Proof& proof, const UnitCell& unit, UnitPart gate) {
    const Cell& cell = unit.cell;
    const int row = static_cast<int>(gate) * static_cast<int>(unit.state.size()) + cell.column;
    const Eigen::RowVectorXf W_i = cell.row_of(unit.parameters, row);
    proof.terms_title = {"W_i input and W_h state", "term by term"};
    double input = 0;
    Eigen::Index first = 0;
    for (const auto& [letter, values] : unit.input) {
        input += proof.add_terms(letter, values, W_i.segment(first, values.size()));
        first += values.size();
    }
    const double state = proof.add_terms("h", unit.state, cell.row_of(unit.parameters + 1, row));
    proof.terms_result = proof.terms_sum;
    const double b_i = cell.at(unit.parameters + 2, 0, row), b_h = cell.at(unit.parameters + 3, 0, row);
    proof.add_step("W_i input + b_i " + number_text(b_i), input + b_i);
    proof.add_step("W_h state + b_h " + number_text(b_h), state + b_h);
    if (gate == UnitPart::n) {
        proof.add_step("× r " + number_text(unit.r), (state + b_h) * unit.r);
        proof.add_step("their sum", input + b_i + (state + b_h) * unit.r,
                       "The input's part, and r times the state's part, added up");
        proof.add_step("tanh", cell.value, k_tanh_help);
    } else {
        proof.add_step("their sum", input + b_i + state + b_h, k_sum_help);
        proof.add_step("sigmoid", cell.value, k_sigmoid_help);
    }
}

}  // namespace

void explain_unit(Proof& proof, const UnitCell& unit, UnitPart part) {
    if (part != UnitPart::state) return explain_gate(proof, unit, part);
    proof.terms_title = {"(1 − z) · n + z · old state"};
    proof.add_term("(1 − z) · n", 1 - unit.z, unit.n);
    proof.add_term("z · old", unit.z, unit.state(unit.cell.column));
    proof.terms_result = unit.cell.value;
}

namespace {

/// The gradients before the gates r, z and n of a step, side by side; for the state's part of the sums, n's
/// is times r.
Eigen::RowVectorXf before_gates(const UnitSteps& unit, int step, bool of_state) {
    const GradientCell& cell = unit.cell;
    const auto value = [&](std::size_t part) {
        return Eigen::ArrayXd(cell.out_row(0, step, unit.gates + part).transpose().cast<double>().array());
    };
    const auto gradient = [&](std::size_t part) {
        return Eigen::ArrayXd(cell.d_row(0, step, unit.gates + part).transpose().cast<double>().array());
    };
    const Gates<Eigen::ArrayXd> gates{value(0), value(1), value(2)}, d{gradient(0), gradient(1), gradient(2)};
    Eigen::ArrayXd of_input_part(3 * d.r.size()), of_state_part(3 * d.r.size());
    before_gates(gates, d, gates_of(of_input_part), gates_of(of_state_part));
    return (of_state ? of_state_part : of_input_part).matrix().transpose().cast<float>();
}

/// The terms of Σ W(u, column) · (gradient before gate u).
void add_gates(Proof& proof, const UnitSteps& unit, std::size_t W, int step, int column) {
    const Eigen::RowVectorXf gates = before_gates(unit, step, W != unit.parameters),
                             weights = unit.cell.in_column(W, 0, column);
    const Eigen::Index size = gates.size() / 3;
    for (Eigen::Index u = 0; u < gates.size(); ++u)
        proof.add_term(fmt::format("{} {}", "rzn"[u / size], u % size + 1), gates(u), weights(u));
}

}  // namespace

void explain_unit_input(Proof& proof, const UnitSteps& unit, int step, int column) {
    proof.terms_title = {"before the gates, times W_ih", "unit by unit"};
    add_gates(proof, unit, unit.parameters, step, column);
}

void explain_unit_old_state(Proof& proof, const UnitSteps& unit, int step, int column) {
    proof.terms_title = {"z · new state and before the gates · W_hh", "unit by unit"};
    proof.add_term("z", unit.cell.out(0, step, column, unit.gates + 1),
                   unit.cell.d(0, step, column, unit.gates + 3));
    add_gates(proof, unit, unit.parameters + 1, step, column);
}

void explain_unit_parameter(Proof& proof, const UnitSteps& unit, std::size_t parameter, int row, int column) {
    const bool of_state = parameter % 2 == 1, is_bias = parameter > 1;
    proof.terms_title = {is_bias    ? "before the gate"
                         : of_state ? "before the gate, times the old state"
                                    : "before the gate, times the input",
                         "step by step"};
    for (int step = 0; step < unit.steps(); ++step)
        proof.add_term(unit.cell.words.row_label(unit.gates, step),
                       before_gates(unit, step, of_state)(is_bias ? column : row),
                       is_bias    ? 1
                       : of_state ? unit.old_state(step)(column)
                                  : unit.input(step)(column));
}

void explain_unit_gate(Proof& proof, const UnitSteps& unit, UnitPart gate, int step, int column) {
    const GradientCell& cell = unit.cell;
    const Eigen::RowVectorXf old = unit.old_state(step);
    const float z = cell.out(0, step, column, unit.gates + 1), n = cell.out(0, step, column, unit.gates + 2);
    if (gate == UnitPart::r) {
        const int row = 2 * static_cast<int>(old.size()) + column;
        const double u = cell.in_row(unit.parameters + 1, 0, row).cast<double>().dot(old.cast<double>()) +
                         cell.in(unit.parameters + 3, 0, 0, row);
        const double dn = cell.d(0, step, column, unit.gates + 2);
        proof.add_step(cell.words.gradient(unit.gates + 2), dn);
        proof.add_step("× (1 − n²) " + number_text(1 - double{n} * n, 4), dn * (1 - double{n} * n));
        proof.add_step("× (W_hn h + b_hn) " + number_text(u, 4), dn * (1 - double{n} * n) * u);
        return;
    }
    const double dstate = cell.d(0, step, column, unit.gates + 3);
    const double factor = gate == UnitPart::z ? double{old(column)} - n : 1 - double{z};
    proof.add_step(cell.words.gradient(unit.gates + 3), dstate);
    proof.add_step(
        fmt::format("× {} {}", gate == UnitPart::z ? "(old state − n)" : "(1 − z)", number_text(factor, 4)),
        dstate * factor);
}

}  // namespace attnscope::op
