// Sums, cell by cell.
#pragma once

#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/region.h"
#include "core/op/row_work.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// x: the same numbers under another name, as where there are no projections.
struct Identity {
    Shape shape(Shapes in) const { return in[0]; }
    std::string formula(const Symbols& in) const { return in.own + " = " + in.of(0); }
    double work_per_cell(Shapes) const { return 1; }
    void rows(const RowWork& in, MatrixView out) const;
    /// dX = dY.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Identity&) const = default;
};

/// x, y: their sum; if y has more rows, only its first ones are used. Positions added to embeddings (Vaswani
/// et al. 2017, §3.5) and residual connections (He et al. 2016). With a `batch` of sentences, one below the
/// other in x, y is added to each.
struct Add {
    int batch = 1;

    Shape shape(Shapes in) const { return in[0]; }
    std::string formula(const Symbols& in) const { return in.of(0) + " + " + in.of(1); }
    bool has_rows() const { return batch == 1; }
    double work_per_cell(Shapes) const { return 1; }
    void rows(const RowWork& in, MatrixView out) const;
    /// For a batch of more than one.
    void forward(const Work& in, Tensor& out) const;
    /// The gradient of x and that of y are dY; with a batch, that of y is the sum over its sentences; rows of
    /// y that are not used get nothing.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Add&) const = default;
};

/// Scores (h × N × M) and one or two biases, each N × M or with heads: their sum, added in that order.
struct AddBias {
    Shape shape(Shapes in) const { return in[0]; }
    std::string formula(const Symbols& in) const {
        return in.formula_of(0) + " + " + in.of(1) + (in.count > 2 ? " + " + in.of(2) : "");
    }
    std::string sentence() const { return "Add the bias of each pair of query and key to its score."; }
    Operands operands() const { return {.same_as = 0}; }
    double work_per_cell(Shapes) const { return 1; }
    void rows(const RowWork& in, MatrixView out) const;
    void cells(const RegionWork& in, MatrixView out) const;
    /// dY for each; a bias without heads gets the sum over the heads.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const AddBias&) const = default;
};

}  // namespace attnscope::op
