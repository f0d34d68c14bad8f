#include "core/op/location_score.h"

#include "core/cpu/kernels.h"
#include "core/op/gradient_proof.h"

namespace attnscope::op {

void LocationScore::rows(const RowWork& in, MatrixView out) const {
    in.multiply_transposed(in.rows(0), 1, out);
}

void LocationScore::backward(const Backward& at) const {
    for (int h = 0; h < at.heads(); ++h) {
        if (at.wants(0)) add_product(at.gradient(h), at.input(1), at.sum(0, h));
        if (at.wants(1)) add_transposed_product(at.gradient(h), at.input(0, h), at.sum(1));
    }
}

void LocationScore::explain_gradient(Proof& proof, const GradientCell& cell) const {
    add_score_products(proof, cell, "W_loc");
}

void LocationScore::explain(Proof& proof, const Cell& cell) const {
    proof.terms_title = {"row j of W_loc · q", "term by term",
                         "The query times the row of W_loc for this place: the key itself is not read"};
    proof.add_terms("", cell.row_of(0, cell.row), cell.row_of(1, cell.column));
    proof.terms_result = cell.value;
}

void LocationScore::torch(TorchLines& py) const {
    py.section = "Scores: computed from the queries alone, one for each position of a key.";
    py.line("{} = {} @ {}.T", py.out(), py.in(0), py.in(1));
}

}  // namespace attnscope::op
