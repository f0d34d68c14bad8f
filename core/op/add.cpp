#include "core/op/add.h"

#include <fmt/format.h>

#include "core/op/gradient_proof.h"
#include "core/tensor/scratch.h"

namespace attnscope::op {
namespace {

/// The sum of the inputs, cell by cell; an input without heads is added in every head.
void sum_inputs(const RowWork& in, MatrixView out) {
    out = in.rows(0);
    for (std::size_t i = 1; i < in.count(); ++i) out += in.rows(i);
}

/// Adds the result's gradient to that of every input, whose further rows were not used.
void pass_on(const Backward& at) {
    for (int h = 0; h < at.heads(); ++h)
        for (std::size_t i = 0; i < at.count(); ++i)
            if (at.wants(i)) at.sum(i, h).topRows(at.gradient(h).rows()) += at.gradient(h);
}

}  // namespace

void Identity::rows(const RowWork& in, MatrixView out) const { sum_inputs(in, out); }

void Identity::backward(const Backward& at) const { pass_on(at); }

void Identity::explain_gradient(Proof& proof, const GradientCell& cell) const {
    pass_on(proof, cell, cell.head, cell.row, cell.column);
}

void Identity::explain(Proof& proof, const Cell& cell) const {
    proof.remark = fmt::format("no projection: the same as {}", cell.words.symbol(0));
}

void Add::rows(const RowWork& in, MatrixView out) const { sum_inputs(in, out); }

void Add::forward(const Work& in, Tensor& out) const {
    const Eigen::Index rows = out.shape().rows / batch;
    for (Eigen::Index b = 0; b < batch; ++b)
        out.head(0).middleRows(b * rows, rows) =
            in.head(0).middleRows(b * rows, rows) + in.head(1).topRows(rows);
}

void Add::backward(const Backward& at) const {
    if (batch == 1) return pass_on(at);
    const ConstMatrixView dY = at.gradient();
    const Eigen::Index rows = dY.rows() / batch;
    if (at.wants(0)) at.sum(0) += dY;
    for (Eigen::Index b = 0; at.wants(1) && b < batch; ++b)
        at.sum(1).topRows(rows) += dY.middleRows(b * rows, rows);
}

void Add::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const int rows = cell.result_shape().rows;
    if (cell.input == 0 || batch == 1) {
        if (cell.row < rows) return pass_on(proof, cell, cell.head, cell.row, cell.column);
        proof.remark = "beyond the sentence: this row is not used";
        return;
    }
    Eigen::RowVectorXf of_sentences(batch);
    for (int b = 0; b < batch; ++b) of_sentences(b) = cell.d(0, b * (rows / batch) + cell.row, cell.column);
    add_numbers(proof, cell, SumOver::numbers, 0, of_sentences);
}

void Add::explain(Proof& proof, const Cell& cell) const {
    proof.add_step(cell.words.symbol(0), cell.at(0));
    proof.add_step(fmt::format("+ {} {}", cell.words.symbol(1), number_text(cell.at(1))), cell.value);
}

void AddBias::rows(const RowWork& in, MatrixView out) const { sum_inputs(in, out); }

void AddBias::cells(const RegionWork& in, MatrixView out) const {
    in.read(0, out);
    Scratch bias(out.rows(), out.cols());
    for (std::size_t i = 1; i < in.count(); ++i) {
        in.read(i, bias.view());
        out += bias.view();
    }
}

void AddBias::backward(const Backward& at) const { pass_on(at); }

void AddBias::explain_gradient(Proof& proof, const GradientCell& cell) const {
    if (cell.first_head() == cell.last_head())
        return pass_on(proof, cell, cell.first_head(), cell.row, cell.column);
    for (int h = 0; h <= cell.last_head(); ++h)
        proof.add_term(fmt::format("head {}", h + 1), 1, cell.d(h, cell.row, cell.column));
    proof.terms_title = {"the sum over the heads of " + cell.words.gradient(0)};
}

void AddBias::explain(Proof& proof, const Cell& cell) const {
    proof = cell.words.prove(0);
    double bias = 0;
    for (std::size_t i = 1; i < cell.inputs.size(); ++i) bias += cell.at(i);
    proof.add_step("+ bias " + number_text(bias), cell.value,
                   "What is added to the score of this query and this key, whatever the words are");
}

void Identity::torch(TorchLines& py) const { py.line("{} = {}", py.out(), py.in(0)); }

void Add::torch(TorchLines& py) const {
    const int rows = py.shape(0).rows;
    const std::string first = rows < py.shape(1).rows ? fmt::format("[:{}]", rows) : "";
    py.line("{} = {} + {}{}", py.out(), py.in(0), py.in(1), first);
}

void AddBias::torch(TorchLines& py) const {
    std::string sum = py.in(0);
    for (std::size_t i = 1; i < py.inputs.size(); ++i) sum += " + " + py.in(i);
    py.section = "The bias, added to the scores.";
    py.line("{} = {}", py.out(), sum);
}

}  // namespace attnscope::op
