// The GRU between its products, the alignment's hidden units and the rows of a softmax: what the graph and
// the training of many sentences share.
#include "core/op/gru_cell.h"

#include <gtest/gtest.h>

#include <numbers>

#include "core/op/alignment.h"
#include "core/op/decoder_step.h"
#include "core/op/softmax.h"

namespace attnscope {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Cells = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double k_gate_step = 1e-6;  // of a central difference, as torch.autograd.gradcheck takes it
constexpr double k_gate_difference =
    1e-8;  // what rounding, of 1e-16 / k_gate_step, and the step's square leave of one

/// Numbers between −2 and 2 without a pattern.
Cells some_numbers(Index rows, Index columns, int seed) {
    Cells cells(rows, columns);
    for (Index i = 0; i < cells.size(); ++i)
        cells.data()[i] = 2 * std::sin(static_cast<double>((i + 1) * (seed + 3)) * std::numbers::sqrt2);
    return cells;
}

/// The gradient of `loss` with respect to x, by central differences.
template <typename Loss>
Cells gradient_of(Cells x, const Loss& loss) {
    Cells gradient(x.rows(), x.cols());
    for (Index i = 0; i < x.size(); ++i) {
        const double old = x.data()[i];
        x.data()[i] = old + k_gate_step;
        const double above = loss(x);
        x.data()[i] = old - k_gate_step;
        gradient.data()[i] = (above - loss(x)) / (2 * k_gate_step);
        x.data()[i] = old;
    }
    return gradient;
}

double largest_difference(const Cells& a, const Cells& b) { return (a - b).abs().maxCoeff(); }

/// Some units of three states: what goes in, and the weights of a loss Σ over the gates and the new state.
struct Units {
    Cells input = some_numbers(3, 12, 1), hidden = some_numbers(3, 12, 2), old = some_numbers(3, 4, 3),
          of_gates = some_numbers(3, 12, 4), of_state = some_numbers(3, 4, 5);

    template <typename Functions>
    std::pair<Gates<Cells>, Cells> compute() const {
        Gates<Cells> gates;
        Cells state;
        gru_cell<Functions>(gates_of(input), gates_of(hidden), old, gates, state);
        return {gates, state};
    }
    double loss() const {
        const auto [gates, state] = compute<StandardFunctions>();
        const Gates direct = gates_of(of_gates);
        return (of_state * state).sum() +
               (direct.r * gates.r + direct.z * gates.z + direct.n * gates.n).sum();
    }
    double loss_of(Cells Units::*changed, const Cells& value) const {
        Units other = *this;
        other.*changed = value;
        return other.loss();
    }
};

TEST(GruCellTest, ARowOfManyIsTheColumnOfOne) {
    const Units units;
    const auto [gates, states] = units.compute<StandardFunctions>();
    for (Index i = 0; i < 3; ++i) {
        const ArrayXd input = units.input.row(i).transpose(), hidden = units.hidden.row(i).transpose(),
                      old = units.old.row(i).transpose();
        Gates<ArrayXd> alone;
        ArrayXd state;
        gru_cell<StandardFunctions>(gates_of(input), gates_of(hidden), old, alone, state);
        for (Index k = 0; k < 4; ++k) {
            // A fused multiply-add may round one of them differently.
            EXPECT_NEAR(gates.r(i, k), alone.r(k), 1e-15);
            EXPECT_NEAR(gates.z(i, k), alone.z(k), 1e-15);
            EXPECT_NEAR(gates.n(i, k), alone.n(k), 1e-15);
            EXPECT_NEAR(states(i, k), state(k), 1e-15);
        }
    }
}

TEST(GruCellTest, AStateIsBetweenTheCandidateAndTheOldOne) {
    Gates<ArrayXd> gates;
    ArrayXd state;
    // Reset is open for the first unit alone, update (which keeps the old state) for the second.
    const ArrayXd input = (ArrayXd(6) << 100, -100, -100, 100, 0.25, 0.25).finished(),
                  hidden = (ArrayXd(6) << 0, 0, 0, 0, 0.5, 0.5).finished(), old = ArrayXd::Constant(2, 7);
    gru_cell<StandardFunctions>(gates_of(input), gates_of(hidden), old, gates, state);
    EXPECT_DOUBLE_EQ(gates.n(0), std::tanh(0.75));
    EXPECT_DOUBLE_EQ(gates.n(1), std::tanh(0.25));
    EXPECT_DOUBLE_EQ(state(0), std::tanh(0.75));
    EXPECT_DOUBLE_EQ(state(1), 7);
}

TEST(GruCellTest, TheGradientsAreThoseOfDifferences) {
    const Units units;
    const auto [gates, state] = units.compute<StandardFunctions>();
    Cells d_gates = units.of_gates, of_input(3, 12), of_hidden(3, 12);
    Gates d = gates_of(d_gates);
    add_to_gates(gates, gates_of(units.hidden).n, units.old, units.of_state, d);
    before_gates(gates, d, gates_of(of_input), gates_of(of_hidden));
    const auto expect = [&](Cells Units::*of, const Cells& gradient) {
        const auto loss = [&](const Cells& changed) { return units.loss_of(of, changed); };
        EXPECT_LT(largest_difference(gradient, gradient_of(units.*of, loss)), k_gate_difference);
    };
    expect(&Units::input, of_input);
    expect(&Units::hidden, of_hidden);
    before_gates(gates, d, d, gates_of(of_hidden));
    EXPECT_EQ(largest_difference(d_gates, of_input), 0) << "in the memory of the gates' gradients";
}

TEST(FunctionsTest, TheVectorizedOnesAreTheStandardOnesButForTheLastBits) {
    const ArrayXd x = ArrayXd::LinSpaced(4001, -40, 40);
    const ArrayXd tanh = VectorizedFunctions::tanh(x) - StandardFunctions::tanh(x),
                  sigmoid = VectorizedFunctions::sigmoid(x) - StandardFunctions::sigmoid(x);
    EXPECT_LT(tanh.abs().maxCoeff(), 4e-16);  // four units of the last place below 1
    EXPECT_LT(sigmoid.abs().maxCoeff(), 4e-16);
    const ArrayXd far = (ArrayXd(4) << -1e4, -800, 800, 1e4).finished();
    EXPECT_TRUE((ArrayXd(VectorizedFunctions::tanh(far)) == ArrayXd(StandardFunctions::tanh(far))).all());
    EXPECT_LT((VectorizedFunctions::sigmoid(far) - StandardFunctions::sigmoid(far)).abs().maxCoeff(), 1e-300);
}

TEST(AlignmentFormulasTest, TheGradientOfTheSumsIsThatOfDifferences) {
    const Eigen::RowVectorXd asked = some_numbers(1, 5, 1), v = some_numbers(1, 5, 2);
    const Cells keys = some_numbers(3, 5, 3);
    const Eigen::VectorXd d_scores = some_numbers(3, 1, 4).matrix();
    const auto loss = [&](const Cells& of_keys) {
        const Eigen::MatrixXd hidden = alignment_hidden<StandardFunctions>(asked, of_keys.matrix());
        return d_scores.dot(hidden * v.transpose());
    };
    const Eigen::MatrixXd hidden = alignment_hidden<StandardFunctions>(asked, keys.matrix());
    EXPECT_EQ(hidden(2, 1), std::tanh(keys(2, 1) + asked(1)));
    EXPECT_LT(largest_difference(alignment_back(d_scores, v, hidden), gradient_of(keys, loss)),
              k_gate_difference);
}

TEST(SoftmaxFormulasTest, TheGradientsAreThoseOfDifferences) {
    const Cells x = some_numbers(1, 6, 1), d = some_numbers(1, 6, 2);
    const auto row = [](const Cells& cells) { return ArrayXd(cells.row(0).transpose()); };
    const auto loss = [&](const Cells& scores) { return (row(d) * op::softmax_of(row(scores))).sum(); };
    const auto log_loss = [&](const Cells& scores) {
        return (d * (scores - op::log_sum_exp(scores, scores.maxCoeff()))).sum();
    };
    const ArrayXd A = op::softmax_of(row(x)), Y = row(x) - op::log_sum_exp(x, x.maxCoeff());
    EXPECT_NEAR(A.sum(), 1, 1e-15);
    EXPECT_LT((A - Y.exp()).abs().maxCoeff(), 1e-15);
    EXPECT_LT((op::softmax_back(A, row(d)) - row(gradient_of(x, loss))).abs().maxCoeff(), k_gate_difference);
    EXPECT_LT((op::log_softmax_back(Y, row(d)) - row(gradient_of(x, log_loss))).abs().maxCoeff(),
              k_gate_difference);
}

TEST(SoftmaxFormulasTest, LargeScoresDoNotOverflow) {
    const ArrayXd x = (ArrayXd(3) << 5000, 5000, -5000).finished();
    EXPECT_TRUE((op::softmax_of(x) == (ArrayXd(3) << 0.5, 0.5, 0).finished()).all());
    EXPECT_EQ(op::log_sum_exp(x, 5000), 5000 + std::log(2.0));
}

TEST(LastStatesTest, TheBackwardOnesStandAtTheFirstWord) {
    using Part = std::array<Index, 3>;
    const auto parts = [](Encoder encoder) {
        std::vector<Part> found;
        for_each_last_state(encoder, 5, 8, [&](Index word, Index column, Index columns) {
            found.push_back({word, column, columns});
        });
        return found;
    };
    EXPECT_EQ(parts(Encoder::forward), (std::vector<Part>{{4, 0, 8}}));
    EXPECT_EQ(parts(Encoder::bidirectional), (std::vector<Part>{{4, 0, 4}, {0, 4, 4}}));
}

}  // namespace
}  // namespace attnscope
