// The examples reproduce the numbers that the five notebooks print.
#include "core/session/examples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "core/mechanism/evaluate.h"

namespace attnscope {
namespace {

Trace trace_of(const char* example) { return evaluate(load_example(example).experiment); }

/// All cells of head 1, row by row.
std::vector<double> cells(const Trace& trace, const char* stage) {
    const ConstMatrixView values = trace.find(stage)->buffer.host().head(0);
    return {values.data(), values.data() + values.size()};
}

void expect_cells(const Trace& trace, const char* stage, const std::vector<double>& expected,
                  double tolerance) {
    const std::vector<double> actual = cells(trace, stage);
    ASSERT_EQ(actual.size(), expected.size()) << stage;
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(actual[i], expected[i], tolerance) << stage << i;
}

/// As the notebook prints it.
std::string printed(double value, const char* format) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

// Notebook 2's numbers were printed by TensorFlow, whose exponential rounds otherwise: within 1e-7.
constexpr double k_notebook_2 = 1e-7;
const std::vector<double> k_weights = {0.33554336, 0.35042074, 0.31403583, 0.33646366, 0.3597325,
                                       0.30380386, 0.33376372, 0.33628297, 0.3299533};

TEST(examples_test, scalar_self_attention_prints_notebook_2s_scores_weights_and_context) {
    const Trace trace = trace_of("scalar-self-attention");
    const std::vector<std::string> scores = {"0.08013367", "0.12351702", "0.01388957",
                                             "0.12351702", "0.19038758", "0.02140921",
                                             "0.01388957", "0.02140921", "0.00240748"};
    const std::vector<double> actual = cells(trace, "scores");
    for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(printed(actual[i], "%.8f"), scores[i]);
    expect_cells(trace, "weights", k_weights, k_notebook_2);
    expect_cells(trace, "context", {0.26329434, 0.26711583, 0.25740278}, k_notebook_2);
}

TEST(examples_test, scalar_softmax_axis_prints_the_transposed_weights) {
    std::vector<double> transposed;
    for (std::size_t i = 0; i < 9; ++i) transposed.push_back(k_weights[i % 3 * 3 + i / 3]);
    expect_cells(trace_of("scalar-softmax-axis"), "weights", transposed, k_notebook_2);
}

TEST(examples_test, scalar_cross_attention_prints_the_context_of_the_other_queries) {
    expect_cells(trace_of("scalar-cross-attention"), "context", {0.2564841, 0.2749517, 0.27088535},
                 k_notebook_2);
}

TEST(examples_test, a_single_query_is_the_first_row) {
    const Trace trace = trace_of("single-query");
    expect_cells(trace, "weights", {k_weights[0], k_weights[1], k_weights[2]}, k_notebook_2);
    expect_cells(trace, "context", {0.26329434}, k_notebook_2);
}

TEST(examples_test, pooling_of_like_keys_is_the_mean_of_the_open_values) {
    for (const char* example :
         {"dot-product-pooling", "additive-pooling"})  // printed within float32's rounding
        expect_cells(trace_of(example), "context", {2, 3, 4, 5, 10, 11, 12, 13}, 2e-6);
}

TEST(examples_test, masked_softmax_has_zeros_where_it_is_closed_and_rows_that_sum_to_one) {
    const Trace trace = trace_of("masked-softmax");
    const ConstMatrixView weights = trace.find("weights")->buffer.host().head(0);
    ASSERT_EQ(weights.rows(), 4);
    ASSERT_EQ(weights.cols(), 4);
    for (int i = 0; i < 4; ++i) {
        EXPECT_NEAR(weights.row(i).sum(), 1, 1e-6);
        for (int j = 0; j < 4; ++j) EXPECT_EQ(weights(i, j) == 0, j >= (i < 2 ? 2 : 3)) << i << j;
    }
}

TEST(examples_test, transformer_heads_are_eight_of_64_with_an_output) {
    const Trace trace = trace_of("transformer-heads");
    EXPECT_EQ(trace.find("key_heads")->shape().heads, 8);
    EXPECT_EQ(trace.find("key_heads")->shape().columns, 64);
    EXPECT_EQ(trace.find("output")->shape().columns, 512);
}

TEST(examples_test, soft_and_hard_has_one_key_a_query_and_global_and_local_a_window) {
    const Trace hard = trace_of("soft-and-hard");
    for (const double weight : cells(hard, "weights")) EXPECT_TRUE(weight == 0 || weight == 1);
    const Trace local = trace_of("global-and-local");
    const ConstMatrixView weights = local.find("weights")->buffer.host().head(0);
    const ConstMatrixView center = local.find("center")->buffer.host().head(0);
    for (int i = 0; i < weights.rows(); ++i)
        for (int j = 0; j < weights.cols(); ++j)
            if (std::abs(j - center(i, 0)) > 3) {
                EXPECT_EQ(weights(i, j), 0);
            }
}

TEST(examples_test, the_alignment_has_a_row_a_step_and_without_attention_every_step_sees_the_same) {
    const Trace aligned = trace_of("bahdanau-alignment");
    const ConstMatrixView alignment = aligned.find("alignment")->buffer.host().head(0);
    EXPECT_EQ(alignment.cols(), 12);
    EXPECT_EQ(alignment.rows(), 13);  // twelve words and <eos>
    for (int i = 0; i < alignment.rows(); ++i) EXPECT_NEAR(alignment.row(i).sum(), 1, 1e-6);
    const Trace plain = trace_of("encoder-decoder");
    EXPECT_EQ(plain.find("alignment"), nullptr);
    const ConstMatrixView context = plain.find("decoder_context")->buffer.host().head(0);
    for (int i = 1; i < context.rows(); ++i) EXPECT_EQ(Matrix(context.row(i)), Matrix(context.row(0)));
}

TEST(examples_test, image_attention_lets_each_word_look_at_49_patches) {
    const Trace trace = trace_of("image-attention");
    const Stage& weights = *trace.find("weights");
    ASSERT_EQ(weights.shape().columns, 49);
    EXPECT_EQ(trace.columns.front(), "1,1");
    EXPECT_EQ(trace.columns.back(), "7,7");
    // Words differ in where they look, and none looks everywhere alike.
    std::set<Eigen::Index> most;
    for (int i = 0; i < weights.shape().rows; ++i) {
        Eigen::Index at = 0;
        const float largest = weights.buffer.host().head(0).row(i).maxCoeff(&at);
        EXPECT_GT(largest, 1.5 / 49) << i;
        most.insert(at);
    }
    EXPECT_GT(most.size(), 2u);
}

TEST(examples_test, a_note_names_the_temperature_that_its_example_sets) {
    for (const std::string& name : example_names()) {
        const Session session = load_example(name);
        if (session.experiment.weighting.temperature == 0.1) {
            EXPECT_NE(session.note.find("temperature 0.1"), std::string::npos) << name;
        }
    }
}

TEST(examples_test, each_opens_on_a_stage_it_has_and_says_what_to_look_at) {
    for (const std::string& name : example_names()) {
        const Session session = load_example(name);
        EXPECT_NE(evaluate(session.experiment).find(session.presentation.stage), nullptr) << name;
        const auto sentences = std::count(session.note.begin(), session.note.end(), '.');
        EXPECT_GE(sentences, 2) << name;
        EXPECT_LE(sentences, 6) << name;
    }
}

}  // namespace
}  // namespace attnscope
