#include "core/op/gru_proof.h"

namespace attnscope::op {
namespace {

/// The rows of the gates in W_ih and W_hh, in the order r, z, n.
void explain_gate(Proof& proof, const UnitCell& unit, UnitPart gate) {
    const Cell& cell = unit.cell;
    const int row = static_cast<int>(gate) * static_cast<int>(unit.state.size()) + cell.column;
    const Eigen::RowVectorXf W_i = cell.row_of(unit.parameters, row);
    proof.terms_title = "W_i input and W_h state, term by term";
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
        proof.add_step("their sum", input + b_i + (state + b_h) * unit.r);
        proof.add_step("tanh", cell.value);
    } else {
        proof.add_step("their sum", input + b_i + state + b_h);
        proof.add_step("sigmoid", cell.value);
    }
}

}  // namespace

void explain_unit(Proof& proof, const UnitCell& unit, UnitPart part) {
    if (part != UnitPart::state) return explain_gate(proof, unit, part);
    proof.terms_title = "(1 − z) · n + z · old state";
    proof.add_term("(1 − z) · n", 1 - unit.z, unit.n);
    proof.add_term("z · old", unit.z, unit.state(unit.cell.column));
    proof.terms_result = unit.cell.value;
}

}  // namespace attnscope::op
