#include "core/graph/gradient.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "tests/dice.h"

namespace attnscope {
namespace {

double loss_of(const Experiment& e) { return evaluate(e).find("loss"_stage)->buffer.at(0, 0, 0); }

/// Along one direction of a matrix that is set to its own values: the slope of the loss by central
/// differences in float32, whose rounding of about 1e-7 the step of 1e-2 enlarges to 1e-5, and by the
/// gradient.
void expect_slope(Experiment e, const Stage& parameter, const Stage& gradient, test::Dice& dice) {
    const Matrix own = parameter.buffer.host().head(0);
    const Matrix direction = dice.matrix(static_cast<int>(own.rows()), static_cast<int>(own.cols())) /
                             std::sqrt(static_cast<float>(own.size()));
    const auto at = [&](float step) {
        e.weights.custom.insert_or_assign(std::string(parameter.name()),
                                          CustomMatrix(Matrix(own + step * direction)));
        return loss_of(e);
    };
    constexpr float k_step = 1e-2f;
    const double above = at(k_step), below = at(-k_step), here = at(0);
    const double right = (above - here) / k_step, left = (here - below) / k_step;
    if (std::abs(right - left) > 0.05 * (1 + std::abs(right))) return;  // a word entered or left a window
    const double slope = (above - below) / (2 * k_step);
    const double expected =
        gradient.buffer.host().head(0).cwiseProduct(direction).template cast<double>().sum();
    EXPECT_NEAR(expected, slope, 2e-4 + 0.01 * std::abs(slope)) << parameter.name();
}

TEST(GradientTest, OfEveryParameterOfSequenceToSequenceIsTheLosssSlope) {
    for (const Normalization normalizer :
         {Normalization::softmax, Normalization::sparsemax, Normalization::local_m, Normalization::local_p})
        for (const AlignmentState state : {AlignmentState::previous, AlignmentState::current}) {
            Experiment e;
            e.mechanism = MechanismKind::seq2seq;
            e.input.text = "the black cat does not see a house";
            e.input.text2 = "le chat noir ne voit pas une maison";
            e.input.dim = e.seq2seq.encoder_size = e.seq2seq.decoder_size = e.weighting.hidden = 6;
            e.seq2seq.alignment_state = state;
            e.weighting.normalizer = normalizer;
            e.weighting.temperature = 0.5;
            e.weighting.local_window = 6;
            test::Dice dice(3);
            const Trace trace = evaluate(e);
            int tried = 0;
            for (const StagePtr& gradient : gradients(trace)) {
                if (!is_parameter(*gradient->info)) continue;
                expect_slope(e, *trace.find(gradient->key().stage), *gradient, dice);
                ++tried;
            }
            EXPECT_EQ(tried, normalizer == Normalization::local_p ? 23 : 21);
        }
}

TEST(GradientTest, WithoutALossThereIsNone) { EXPECT_THROW(gradients(evaluate(Experiment())), Error); }

}  // namespace
}  // namespace attnscope
