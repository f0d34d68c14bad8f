#include "core/op/backward.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "core/error.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "tests/core/op/in_double.h"
#include "tests/random_attention.h"
#include "tests/random_seq2seq.h"
#include "tests/random_transformer.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

using test::Values;

constexpr double k_step = 1e-6;  // of a central difference, as torch.autograd.gradcheck takes it

bool is_real(const Stage& stage) {
    return stage.info->unit == Unit::real || stage.info->unit == Unit::probability;
}

/// What was tried with one operation.
struct Tried {
    int cells = 0, kinks = 0;
};

/// One operation of a trace, with a random gradient of its result.
class Checked {
public:
    Checked(const StageRecord& record, test::Dice& dice)
        : record_(record), dice_(dice), of_result_(record.stage->shape()) {
        for (const StagePtr& input : record.inputs) inputs_.push_back(test::in_double(input->buffer));
        const auto values = record.stage->buffer.host().values();
        for (std::size_t i = 0; i < values.size(); ++i)
            of_result_.values()[i] = std::isfinite(values[i]) ? dice.real() : 0;
    }

    void check(Tried& tried) {
        const std::vector<Tensor> sums = backward();
        for (std::size_t i = 0; i < inputs_.size(); ++i)
            if (is_real(*record_.inputs[i])) check_input(i, sums[i], tried);
    }

private:
    std::vector<Tensor> backward() {
        std::vector<const Buffer*> inputs;
        std::vector<Tensor> sums;
        std::vector<Tensor*> wanted;
        for (const StagePtr& input : record_.inputs) {
            inputs.push_back(&input->buffer);
            std::ranges::fill(sums.emplace_back(input->shape()).values(), 0.0f);
        }
        for (std::size_t i = 0; i < sums.size(); ++i)
            wanted.push_back(is_real(*record_.inputs[i]) ? &sums[i] : nullptr);
        const Buffer* results[] = {&record_.stage->buffer};
        Tensor* gradients[] = {&of_result_};
        attnscope::backward(*record_.op, {inputs, results, gradients, wanted});
        return sums;
    }

    /// Σ dY ∘ result, of the inputs as they are now.
    double total() const {
        const Values result = test::in_double(*record_.op, inputs_);
        double sum = 0;
        for (std::size_t h = 0; h < result.size(); ++h) {
            const auto dY = of_result_.head(static_cast<int>(h)).template cast<double>();
            for (Eigen::Index i = 0; i < dY.rows(); ++i)
                for (Eigen::Index j = 0; j < dY.cols(); ++j)
                    if (dY(i, j) != 0) sum += dY(i, j) * result[h](i, j);
        }
        return sum;
    }

    void check_input(std::size_t input, const Tensor& actual, Tried& tried) {
        double largest = 1;
        for (const float value : actual.values()) largest = std::max(largest, std::abs(double{value}));
        const Shape& shape = record_.inputs[input]->shape();
        for (int k = 0; k < 4; ++k) {
            const int h = dice_.below(shape.heads), i = dice_.below(shape.rows),
                      j = dice_.below(shape.columns);
            double& x = inputs_[input][static_cast<std::size_t>(h)](i, j);
            if (!std::isfinite(x)) continue;
            const double own = x, here = total();
            const auto at = [&](double value) {
                x = value;
                const double result = total();
                x = own;
                return result;
            };
            const double above = at(own + k_step), below = at(own - k_step);
            const double right = (above - here) / k_step, left = (here - below) / k_step;
            const double wanted = (above - below) / (2 * k_step);
            const double finer = (at(own + k_step / 8) - at(own - k_step / 8)) / (k_step / 4);
            ++tried.cells;
            const auto differ = [](double a, double b) {
                return std::abs(a - b) > 1e-3 * (1 + std::abs(a) + std::abs(b));
            };
            if (differ(right, left) || differ(wanted, finer)) {
                ++tried.kinks;  // no derivative here, or one that changes within the step
                continue;
            }
            EXPECT_NEAR(actual.head(h)(i, j), wanted, 1e-5 * largest + 1e-3 * std::abs(wanted))
                << record_.stage->name() << " to " << record_.inputs[input]->name() << " head " << h
                << " row " << i << " column " << j;
        }
    }

    const StageRecord& record_;
    test::Dice& dice_;
    std::vector<Values> inputs_;
    Tensor of_result_;
};

bool is_recurrent(const Op& op) {
    return std::holds_alternative<op::GruEncoder>(op) || std::holds_alternative<op::Decode>(op);
}

/// Every operation with a gradient, in many random experiments with masks, closed rows, one token or feature.
TEST(BackwardTest, IsTheCentralDifferenceInDouble) {
    test::Dice dice(20);
    std::map<std::size_t, Tried> tried;
    std::set<std::string> shapes;
    const int trials = test::k_sanitized ? 150 : 700;
    for (int trial = 0; trial < trials; ++trial) {
        Trace trace;
        try {
            trace = evaluate(trial % 6 == 0   ? test::random_seq2seq(dice)
                             : trial % 6 == 1 ? test::random_transformer(dice)
                                              : test::random_attention(dice));
        } catch (const Error&) {
            continue;  // its settings exclude each other
        }
        for (const StageRecord& record : trace.records) {
            if (!why_no_gradient(*record.op).empty() || is_recurrent(*record.op)) continue;
            if (record.stage->shape().size() > 4000) continue;  // too slow to difference
            std::string shape = std::to_string(record.op->index());
            for (const StagePtr& input : record.inputs)
                for (const int n : {input->shape().heads, input->shape().rows, input->shape().columns})
                    shape += "," + std::to_string(n);
            shapes.insert(shape);
            Checked(record, dice).check(tried[record.op->index()]);
        }
    }
    EXPECT_GE(shapes.size(), test::k_sanitized ? 300U : 1000U);
    for (const auto& [op, what] : tried) {
        // Under a sanitizer the fewer trials meet the rarest operations in a shape or two.
        EXPECT_GE(what.cells, test::k_sanitized ? 1 : 20) << op;
        EXPECT_LE(10 * what.kinks, what.cells) << op;
    }
    std::printf("%zu shapes of %zu operations\n", shapes.size(), tried.size());
}

}  // namespace
}  // namespace attnscope
