// What every operation computes, as fast as it can, against its formula in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/mechanism/evaluate.h"
#include "core/op/op.h"
#include "tests/core/op/in_double.h"
#include "tests/random_attention.h"
#include "tests/random_seq2seq.h"
#include "tests/random_transformer.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

using test::Values;

/// Sentences of several blocks of rows.
Experiment long_sentence(Score score) {
    Experiment e;
    e.input.text.clear();
    for (int i = 0; i < 150; ++i) e.input.text += "w" + std::to_string(i * 7 % 31) + " ";
    e.attention.projection = Projection::xavier;
    e.attention.heads = 2;
    e.attention.score = score;
    e.attention.output_projection = true;
    e.weighting.mask.push_back(parse_mask_rule("causal"));
    return e;
}

/// The largest magnitude of what is finite.
double magnitude(const Values& values) {
    double largest = 0;
    for (const Eigen::MatrixXd& each : values)
        for (const double value : each.reshaped())
            if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    return largest;
}

void expect_formula(const StageRecord& record) {
    std::vector<Values> inputs;
    double largest = 1;
    for (const StagePtr& input : record.inputs)
        largest = std::max(largest, magnitude(inputs.emplace_back(test::in_double(input->buffer))));
    const Values formula = test::in_double(*record.op, inputs);
    // Of numbers rounded to 2^-24 of themselves, tens are added up.
    const double near = 64 * 0x1p-24 * std::max(largest, magnitude(formula));
    const Values found = test::in_double(record.stage->buffer);
    ASSERT_GE(found.size(), formula.size());
    for (std::size_t h = 0; h < formula.size(); ++h) {
        ASSERT_EQ(found[h].rows(), formula[h].rows());
        ASSERT_EQ(found[h].cols(), formula[h].cols());
        for (Eigen::Index i = 0; i < formula[h].rows(); ++i)
            for (Eigen::Index j = 0; j < formula[h].cols(); ++j)
                if (std::isfinite(formula[h](i, j)))
                    EXPECT_NEAR(found[h](i, j), formula[h](i, j), near) << h << " " << i << " " << j;
                else
                    EXPECT_EQ(found[h](i, j), formula[h](i, j)) << h << " " << i << " " << j;
    }
}

TEST(ForwardTest, EveryOperationIsItsFormulaInDouble) {
    std::set<std::size_t> operations;
    const auto check = [&](const auto& make) {
        Trace trace;
        try {
            trace = evaluate(make());
        } catch (const Error&) {
            return;  // settings that exclude each other
        }
        for (const StageRecord& record : trace.records) {
            if (!why_no_gradient(*record.op).empty() || !has_rows(*record.op)) continue;
            SCOPED_TRACE(std::string(record.stage->name()));
            expect_formula(record);
            operations.insert(record.op->index());
        }
    };
    for (const auto& choice : choices<Score>()) check([&] { return long_sentence(choice.value); });
    test::Dice dice(11);
    for (int trial = 0; trial < (test::k_sanitized ? 60 : 300); ++trial)
        check([&] {
            return trial % 6 == 0   ? test::random_seq2seq(dice)
                   : trial % 6 == 1 ? test::random_transformer(dice)
                                    : test::random_attention(dice);
        });
    EXPECT_GE(operations.size(), 15U);
}

}  // namespace
}  // namespace attnscope
