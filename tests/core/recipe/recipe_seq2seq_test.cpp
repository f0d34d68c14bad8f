// The text of the PyTorch script for sequence to sequence. recipe_test.cpp checks its numbers.
#include <gtest/gtest.h>

#include <sstream>

#include "core/mechanism/evaluate.h"
#include "core/recipe/recipe.h"
#include "core/session/examples.h"
#include "tests/recipe_text.h"
#include "tests/sessions.h"
#include "tests/translation.h"

namespace attnscope {
namespace {

using namespace test;

TEST(RecipeSeq2seqTest, DrawsWithTorchsModulesInOneOrder) {
    const std::string script = recipe_of(translation());
    std::size_t last = 0;
    for (const char* line : {"# Encoder–decoder with additive attention, with the numbers of attnscope.",
                             "source_words = [\"a\", \"am\", \"i\", \"student\"]",
                             "source = torch.tensor([2, 1, 0, 3])",
                             "torch.manual_seed(123)",
                             "E_src = torch.randn(10, 6)",
                             "E_tgt = torch.randn(5, 6)",
                             "enc_fwd = torch.nn.GRUCell(6, 5)",
                             "enc_bwd = torch.nn.GRUCell(6, 5)",
                             "annotations = torch.cat([h_fwd, h_bwd], dim=-1)",
                             "W_init, b_init = torch.nn.Linear(5, 4).parameters()",
                             "W_a = torch.nn.Linear(4, 7, bias=False).weight",
                             "U_a = torch.nn.Linear(10, 7, bias=False).weight",
                             "target_words = [\"<bos>\", \"<eos>\", \"je\", \"suis\", \"étudiant\"]",
                             "fed_tokens = torch.tensor([0, 2, 3, 4])",
                             "    e = torch.tanh(W_a @ s + keys_projected) @ v_a",
                             "    alpha = e.softmax(dim=-1)",
                             "    r, z, n, s = gru(dec, torch.cat([y, c]), s)",
                             "v_a = torch.nn.Linear(7, 1, bias=False).weight[0]",
                             "dec = torch.nn.GRUCell(16, 4)",
                             "for i, y in enumerate(target_embedding):",
                             "W_out, b_out = torch.nn.Linear(20, 5).parameters()",
                             "target_tokens = torch.tensor([2, 3, 4, 1])"}) {
        const std::size_t found = script.find(std::string(line) + "\n", last);
        ASSERT_NE(found, std::string::npos) << line << "\n" << script;
        last = found;
    }
    EXPECT_EQ(script.find("manual_seed"), script.rfind("manual_seed")) << script;
}

TEST(RecipeSeq2seqTest, HoldsOnlyTheStepsThatApply) {
    struct Step {
        const char* code;  ///< absent by default
        void (*change)(Experiment&);
    };
    const Step steps[] = {
        {"\"<bos>\": ", [](Experiment& e) { e.input.vocabulary = VocabularyOrder::stable; }},
        {"E_src = torch.rand(", [](Experiment& e) { e.weights.embedding = Initialization::uniform; }},
        {"annotations = h_fwd\n", [](Experiment& e) { e.seq2seq.encoder = Encoder::forward; }},
        {"torch.nn.GRUCell(6, 5)  # drawn earlier",
         [](Experiment& e) { e.seq2seq.encoder = Encoder::forward; }},
        {"c = torch.cat([annotations[-1, :5], annotations[0, 5:]])",
         [](Experiment& e) { e.seq2seq.decoder_attention = DecoderAttention::none; }},
        {"torch.nn.Linear(10, 7, bias=False).weight  # drawn earlier, unused",
         [](Experiment& e) { e.seq2seq.decoder_attention = DecoderAttention::none; }},
        {"without attention", [](Experiment& e) { e.seq2seq.decoder_attention = DecoderAttention::none; }},
        {"gru(dec, y, s)", [](Experiment& e) { e.seq2seq.alignment_state = AlignmentState::current; }},
        {"for i in range(3):",
         [](Experiment& e) {
             e.seq2seq.decode = Decode::greedy;
             e.seq2seq.max_steps = 3;
         }},
        {"if word == 1:", [](Experiment& e) { e.seq2seq.decode = Decode::greedy; }},
        {"scaled = e / 0.5", [](Experiment& e) { e.weighting.temperature = 0.5; }},
        {"mask &= j < 3",
         [](Experiment& e) {
             e.weighting.mask = {{MaskForm::valid, {3}}};
         }},
        {"alpha.masked_fill(masked == -inf, 0)",
         [](Experiment& e) {
             e.weighting.mask = {{MaskForm::valid, {0}}};
         }},
        {"custom_mask", [](Experiment& e) { e.weights.custom.emplace("mask", Matrix::Ones(4, 4)); }},
        {"e.argmax(dim=-1)", [](Experiment& e) { e.weighting.normalizer = Normalization::hard; }},
        {"p = torch.tensor(float(i))",
         [](Experiment& e) { e.weighting.normalizer = Normalization::local_m; }},
        {"alpha = softmax * gauss", [](Experiment& e) { e.weighting.normalizer = Normalization::local_p; }},
        {"W_p = torch.nn.Linear", [](Experiment& e) { e.weighting.normalizer = Normalization::local_p; }},
        {"dec.bias_hh.data = torch.tensor([",
         [](Experiment& e) { e.weights.custom.emplace("dec.b_hh", Matrix::Ones(1, 12)); }},
        {"source = torch.tensor([1, 0])",
         [](Experiment& e) {
             e.weights.custom.emplace("src", Matrix{{1, 0}});
         }},
    };
    const std::string plain = recipe_of(translation());
    for (const Step& step : steps) {
        Experiment e = translation();
        step.change(e);
        EXPECT_FALSE(contains(plain, step.code)) << step.code;
        EXPECT_TRUE(contains(recipe_of(e), step.code)) << step.code << "\n" << recipe_of(e);
    }
    for (const char* absent : {"loss", "target_tokens"}) {
        Experiment e = translation();
        e.seq2seq.decode = Decode::greedy;
        EXPECT_TRUE(contains(plain, absent)) << absent;
        EXPECT_FALSE(contains(recipe_of(e), absent)) << absent;
    }
}

TEST(RecipeSeq2seqTest, SeedsNothingWhereEveryMatrixIsGiven) {
    Experiment e = translation();
    for (const StagePtr& parameter : evaluate(e).parameters())
        e.weights.custom.emplace(parameter->name(), Matrix(parameter->buffer.host().head(0)));
    EXPECT_FALSE(contains(recipe_of(e), "manual_seed")) << recipe_of(e);
}

TEST(RecipeSeq2seqTest, LinesAreOfReadableLength) {
    Experiment e = test::test_session("random-alignment").experiment;
    e.weighting.normalizer = Normalization::local_p;
    e.weighting.mask = {{MaskForm::valid, {6}}, {MaskForm::causal, {}}};
    e.weights.custom.emplace("dec.W_ih", CustomMatrix(Matrix::Constant(24, 32, 0.123456789f)));
    std::istringstream lines(recipe_of(e));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110u) << line;
}

}  // namespace
}  // namespace attnscope
