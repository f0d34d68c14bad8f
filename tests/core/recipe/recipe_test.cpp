// The text of the PyTorch script and, where PyTorch is installed, its numbers.
#include "core/recipe/recipe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/error.h"
#include "core/experiment/masks.h"
#include "core/export/trace_json.h"
#include "core/files/file.h"
#include "core/mechanism/attention/scores.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/op/normalizers.h"
#include "core/session/examples.h"
#include "core/session/session.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"
#include "core/utf8.h"
#include "tests/dice.h"
#include "tests/drawn_sessions.h"
#include "tests/image_fixture.h"
#include "tests/python.h"
#include "tests/random_attention.h"
#include "tests/random_seq2seq.h"
#include "tests/random_transformer.h"
#include "tests/recipe_text.h"
#include "tests/with_loss.h"
#include "tests/written.h"

namespace attnscope {
namespace {

using namespace test;

using nlohmann::json;
using test::Dice, test::random_rule, test::random_text, test::run_python;

// ---- The text

TEST(RecipeTest, TheDefaultIsTheNotebooksComputation) {
    const std::string script = recipe_of({});
    for (const char* line :
         {"words = [\"can\", \"help\", \"me\", \"sentence\", \"this\", \"to\", \"translate\", \"you\"]",
          "tokens = torch.tensor([0, 7, 1, 2, 5, 6, 4, 3])",
          "torch.manual_seed(123)\ntable = torch.randn(10, 16)",
          "torch.manual_seed(123)\nW_q = torch.rand(16, 16)", "W_k = torch.rand(16, 16)",
          "W_v = torch.rand(16, 16)", "query = embedding @ W_q.T", "scores = query @ key.T",
          "scaled = scores / 16**0.5", "weights = masked.softmax(dim=-1)", "context = weights @ value"})
        EXPECT_TRUE(contains(script, std::string(line) + "\n")) << line << "\n" << script;
}

TEST(RecipeTest, HoldsOnlyTheStepsThatApply) {
    struct Step {
        const char* code;  ///< absent by default
        void (*change)(Experiment&);
    };
    const Step steps[] = {
        {"tokens_kv", [](Experiment& e) { e.input.text2 = "you can"; }},
        {"W_patch", [](Experiment& e) { e.input.image = drawn_picture(); }},
        {"seeds = {", [](Experiment& e) { e.input.vocabulary = VocabularyOrder::stable; }},
        {"a column for each feature", [](Experiment& e) { e.input.vocabulary = VocabularyOrder::lexicon; }},
        {"position =", [](Experiment& e) { e.attention.position = Position::sinusoidal; }},
        {"def rotate", [](Experiment& e) { e.attention.position = Position::rope; }},
        {"slopes", [](Experiment& e) { e.attention.position = Position::alibi; }},
        {"MultiheadAttention", [](Experiment& e) { e.attention.projection = Projection::mha; }},
        {"b_q", [](Experiment& e) { e.attention.projection_bias = true; }},
        {"chunk", [](Experiment& e) { e.attention.heads = 4; }},
        {"W_score", [](Experiment& e) { e.attention.score = Score::general; }},
        {"score_hidden", [](Experiment& e) { e.attention.score = Score::additive; }},
        {"W_c", [](Experiment& e) { e.attention.score = Score::concat; }},
        {"cosine", [](Experiment& e) { e.attention.score = Score::cosine; }},
        {"W_loc", [](Experiment& e) { e.attention.score = Score::location; }},
        {"temperature", [](Experiment& e) { e.weighting.temperature = 2; }},
        {"mask &= j <= i",
         [](Experiment& e) {
             e.weighting.mask = {{MaskForm::causal, {}}};
         }},
        {"mask &= j < 3",
         [](Experiment& e) {
             e.weighting.mask = {{MaskForm::valid, {3}}};
         }},
        {"(i - 1 <= j) & (j <= i + 2)",
         [](Experiment& e) {
             e.weighting.mask = {{MaskForm::window, {1, 2}}};
         }},
        {"== -inf, 0)",
         [](Experiment& e) {
             e.weighting.mask = {{MaskForm::valid, {0}}};
         }},
        {"argmax", [](Experiment& e) { e.weighting.normalizer = Normalization::hard; }},
        {"center", [](Experiment& e) { e.weighting.normalizer = Normalization::local_m; }},
        {"gauss", [](Experiment& e) { e.weighting.normalizer = Normalization::local_p; }},
        {"dim=-2", [](Experiment& e) { e.attention.softmax_axis = SoftmaxAxis::queries; }},
        {"dropout_keep", [](Experiment& e) { e.attention.dropout = 0.1; }},
        {"output =", [](Experiment& e) { e.attention.output_projection = true; }},
        {"layer_norm", [](Experiment& e) { e.attention.block = Block::post_norm; }},
        {"nll_loss",
         [](Experiment& e) {
             e.weights.custom.emplace("W_out", Matrix::Ones(5, 16));
             e.weights.custom.emplace("targets", Matrix::Ones(1, 8));
         }},
    };
    const std::string plain = recipe_of({});
    for (const Step& step : steps) {
        Experiment e;
        step.change(e);
        EXPECT_FALSE(contains(plain, step.code)) << step.code;
        EXPECT_TRUE(contains(recipe_of(e), step.code)) << step.code << "\n" << recipe_of(e);
    }
}

TEST(RecipeTest, IsTheSameForTheSameExperiment) {
    Experiment e;
    const Trace first = evaluate(e);
    e.weights.seed = 7;
    const Trace other = evaluate(e, first);
    e.weights.seed = 123;
    EXPECT_EQ(recipe(evaluate(e, other)), recipe(first));
    EXPECT_NE(recipe(other), recipe(first));
}

/// Without PyTorch, too, it is noticed that one has no line.
TEST(RecipeTest, EveryScoreFunctionAndNormalizerComputesItsStage) {
    const auto expect_line = [](const Experiment& e, std::string_view name, const std::string& stage) {
        const std::string script = recipe(evaluate(e));
        EXPECT_TRUE(contains(script, "\n" + stage + " = ") || contains(script, "    " + stage + " = "))
            << name << ": nothing computes " << stage;
    };
    for (const auto& [score, name] : choices<Score>()) {
        Experiment e;
        e.attention.score = score;
        expect_line(e, name, "scores");
    }
    for (const auto& [normalizer, name] : choices<Normalization>()) {
        Experiment e;
        e.weighting.normalizer = normalizer;
        expect_line(e, name, "weights");
    }
}

TEST(RecipeTest, ListsEveryStageAndParameter) {
    for (const std::string& name : example_names()) {
        const Trace trace = evaluate(load_example(name).experiment);
        const std::string script = recipe(trace);
        for (const StageRecord& record : trace.records) {
            const std::string stage(record.stage->name());
            EXPECT_TRUE(contains(script, stage + "=" + stage) || contains(script, "\"" + stage + "\": "))
                << name << ": " << stage;
        }
    }
}

TEST(RecipeTest, OfALargePictureItHoldsThePixelsThatAttentionSees) {
    Experiment e;
    e.input.image = CustomImage(gradient(8, 8));
    EXPECT_TRUE(contains(recipe_of(e), "picture = differences"));
    Image noise{.width = 200, .height = 200, .rgb = std::vector<std::uint8_t>(std::size_t{200} * 200 * 3)};
    test::Dice dice(1);
    for (std::uint8_t& value : noise.rgb) value = static_cast<std::uint8_t>(dice.below(256));
    e.input.image = CustomImage(noise);
    e.input.grid = e.input.patch_size = 4;
    EXPECT_TRUE(contains(recipe_of(e), "pixels = torch.frombuffer"));
    EXPECT_LT(recipe_of(e).size(), 10000u);
}

TEST(RecipeTest, NoTextBreaksOutOfItsLine) {
    Experiment e;
    e.input.tokenizer = TokenizerKind::characters;
    e.input.text = "a\n\"\\\r'''#\t日本";
    std::istringstream lines(recipe_of(e));
    int found = 0;
    for (std::string line; std::getline(lines, line);) {
        EXPECT_EQ(line.find('\r'), std::string::npos);
        found += line == R"(# "a\n\"\\\r'''#\t日本")";
        found += line == R"(words = ["\t", "\n", "\r", "\"", "#", "'", "\\", "a", "日", "本"])";
    }
    EXPECT_EQ(found, 2) << recipe_of(e);
}

TEST(RecipeTest, LinesAreOfReadableLength) {
    Experiment e = test::four_heads().experiment;
    e.attention.block = Block::post_norm;
    e.weighting.normalizer = Normalization::local_p;
    e.attention.score = Score::concat;
    e.attention.dropout = 0.1;
    e.weights.custom.emplace("W_o", CustomMatrix(Matrix::Constant(16, 16, 0.123456789f)));
    std::istringstream lines(recipe_of(e));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110u) << line;
}

TEST(RecipeTest, NoLineOfAnExampleIsLongerThanAHundredCharacters) {
    for (const std::string& name : example_names()) {
        std::istringstream lines(recipe_of(load_example(name).experiment));
        for (std::string line; std::getline(lines, line);)
            EXPECT_LE(count_code_points(line), 100u) << name << ": " << line;
    }
}

TEST(RecipeTest, GoesOnWithTheGeneratorAfterDrawsThatItDoesNotUse) {
    Experiment e;
    e.weights.projection_seed.kind = ProjectionSeed::Kind::proceed;
    e.weights.custom.emplace("embedding", CustomMatrix(Matrix::Ones(3, 16)));
    EXPECT_TRUE(contains(recipe_of(e), "torch.manual_seed(123)\ntorch.randn(10, 16)  # drawn earlier"))
        << recipe_of(e);
}

// ---- The numbers, by PyTorch

void flatten(const nlohmann::ordered_json& data, std::vector<float>& values) {
    if (data.is_array())
        for (const auto& each : data) flatten(each, values);
    else if (data.is_null())
        values.push_back(-INFINITY);
    else if (data.is_string())
        values.push_back(data == "nan" ? NAN : INFINITY);
    else
        values.push_back(data.get<float>());
}

std::vector<float> flat(const nlohmann::ordered_json& stage) {
    std::vector<float> values;
    flatten(stage.at("data"), values);
    return values;
}

/// The largest finite magnitude, or `least`.
double magnitude(const std::vector<float>& values, double least) {
    for (const float x : values)
        if (std::isfinite(x)) least = std::max(least, double{std::abs(x)});
    return least;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.size() != b.size()) return INFINITY;
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
        const bool finite = std::isfinite(a[i]) && std::isfinite(b[i]);
        worst = std::max(worst, finite ? std::abs(double{a[i]} - b[i]) : INFINITY);
    }
    return worst;
}

/// What is drawn, given or decided is equal. What is computed is float32 on both sides, each summing in its
/// own order, and stays within the reference's tolerance, 2e-6 · max(1, m). m is the largest magnitude of the
/// stage and of those before it: an exponential turns an error of its argument into as large a share of the
/// weight. A log-probability has the error of its logit and that of the row's sum.
void expect_same(const nlohmann::ordered_json& ours, const nlohmann::ordered_json& torchs) {
    const std::set<std::string> exact = {"tokens",        "tokens_kv",        "embedding",
                                         "mask",          "source",           "source_embedding",
                                         "fed_tokens",    "target_embedding", "picked_tokens",
                                         "target_tokens", "alignment_mask",   "patches"};
    double m = 1;
    for (const char* group : {"parameters", "stages"}) {
        ASSERT_EQ(torchs.at(group).size(), ours.at(group).size());
        for (const auto& [name, stage] : ours.at(group).items()) {
            ASSERT_TRUE(torchs.at(group).contains(name)) << name;
            const auto& other = torchs.at(group).at(name);
            EXPECT_EQ(other.at("shape"), stage.at("shape")) << name;
            const std::vector<float> expected = flat(stage);
            m = magnitude(expected, m);
            const bool equal = std::string(group) == "parameters" || exact.contains(name);
            const double share = equal ? 0 : name == "log_probs" ? 4e-6 : 2e-6;
            EXPECT_LE(largest_difference(expected, flat(other)), share * m) << name << ", m " << m;
        }
    }
}

/// Each is a sum over all that lies between its stage and the loss: within 1e-5 of the largest of any of the
/// stages, as the gradients of the reference.
void expect_same_gradients(const nlohmann::ordered_json& ours, const nlohmann::ordered_json& torchs) {
    ASSERT_EQ(ours.contains("gradients"), torchs.contains("gradients"));
    if (!ours.contains("gradients")) return;
    ASSERT_EQ(torchs.at("gradients").size(), ours.at("gradients").size());
    double m = 1;
    for (const auto& [name, stage] : ours.at("gradients").items()) m = magnitude(flat(stage), m);
    for (const auto& [name, stage] : ours.at("gradients").items()) {
        ASSERT_TRUE(torchs.at("gradients").contains(name)) << name;
        const auto& other = torchs.at("gradients").at(name);
        EXPECT_EQ(other.at("shape"), stage.at("shape")) << name;
        EXPECT_LE(largest_difference(flat(stage), flat(other)), 1e-5 * m) << name << ", m " << m;
    }
}

class RecipeTorchTest : public test::TorchTest {
protected:
    /// Compares what the scripts of all `experiments` print with what evaluate gives, by one Python.
    void compare(const std::vector<Experiment>& experiments, bool gradients = false) {
        std::string arguments = ATTNSCOPE_SOURCE_DIR "/tests/run_recipes.py";
        std::vector<Trace> traces;
        for (const Experiment& e : experiments) {
            traces.push_back(gradients ? test::with_gradients(e) : evaluate(e));
            const std::string file = folder_.file(std::to_string(traces.size()) + ".py");
            write_file(file, recipe(traces.back()));
            arguments += " " + file;
        }
        const std::string out = folder_.file("out");
        const int status = run_python(arguments, out);
        std::istringstream lines(read_file(out));
        for (const Trace& trace : traces) {
            std::string line;
            std::getline(lines, line);
            const std::string context = trace_context(trace);
            SCOPED_TRACE(context);
            ASSERT_TRUE(line.starts_with("{")) << read_file(out + ".err") << recipe(trace);
            using nlohmann::ordered_json;
            const ordered_json ours = ordered_json::parse(written_trace_json(trace)),
                               torchs = ordered_json::parse(line);
            expect_same(ours, torchs);
            if (gradients) expect_same_gradients(ours, torchs);
            if (HasFailure()) {
                ADD_FAILURE() << recipe(trace);
                return;
            }
        }
        EXPECT_EQ(status, 0);
    }

private:
    static std::string trace_context(const Trace& trace) {
        json experiment = json::parse(
            written_trace_json(trace, std::vector{std::string(main_stage(trace).name())}))["experiment"];
        experiment.erase("given");
        return experiment.dump();
    }
};

/// `count` experiments that evaluate takes; a quarter is of sequence to sequence, a quarter transformers.
std::vector<Experiment> random_experiments(unsigned count, unsigned first) {
    std::vector<Experiment> experiments;
    for (unsigned seed = first; experiments.size() < count; ++seed) {
        Dice dice(seed);
        const std::size_t turn = experiments.size() % 4;
        try {
            experiments.push_back(turn == 3   ? test::random_seq2seq(dice)
                                  : turn == 2 ? test::random_transformer(dice)
                                              : test::random_attention(dice));
        } catch (const Error&) {  // settings that exclude each other
        }
    }
    return experiments;
}

TEST_F(RecipeTorchTest, EveryExamplePrintsTheTrace) {
    std::vector<Experiment> experiments;
    for (const std::string& name : example_names()) experiments.push_back(load_example(name).experiment);
    compare(experiments);
}

TEST_F(RecipeTorchTest, TheGradientsOfEveryExampleAreThoseOfTheTrace) {
    std::vector<Experiment> experiments;
    for (const std::string& name : example_names())
        experiments.push_back(test::with_loss(load_example(name).experiment));
    compare(experiments, true);
}

TEST_F(RecipeTorchTest, TheGradientsOfRandomExperimentsAreThoseOfTheTrace) {
    std::vector<Experiment> experiments;
    for (const Experiment& e : random_experiments(60, 500)) experiments.push_back(test::with_loss(e));
    compare(experiments, true);
}

TEST_F(RecipeTorchTest, WithoutJsonItPrintsEveryStageToRead) {
    const std::string file = folder_.file("recipe.py"), out = folder_.file("out");
    write_file(file, recipe_of({}));
    ASSERT_EQ(run_python(file, out), 0) << read_file(out + ".err");
    const std::string printed = read_file(out);
    EXPECT_TRUE(contains(printed, "tokens (8,)\ntensor([0, 7, 1, 2, 5, 6, 4, 3])\n")) << printed;
    EXPECT_TRUE(contains(printed, "scores (1, 8, 8)\ntensor([[[")) << printed;
    EXPECT_TRUE(contains(printed, "-25.1623")) << "as the notebook prints it\n" << printed;
}

TEST_F(RecipeTorchTest, ANumberThatIsNotFiniteSpreadsNoFurtherThanInTheTrace) {
    std::vector<Experiment> experiments;
    for (const Normalization normalizer :
         {Normalization::softmax, Normalization::hard, Normalization::local_m, Normalization::local_p})
        for (const char* name : {"query", "value"}) {
            Experiment e;
            e.input.text = "one two three four";
            e.input.dim = 2;
            e.weighting.mask = {{MaskForm::causal, {}}};
            e.weighting.normalizer = normalizer;
            Matrix values = Matrix::Ones(4, 2);
            values(2, 0) = NAN;
            values(1, 1) = INFINITY;
            e.weights.custom.emplace(name, CustomMatrix(values));
            experiments.push_back(e);
            // NaN comes of it, and is not given: +∞ − ∞.
            e.weights.custom.insert_or_assign(name, CustomMatrix(Matrix::Constant(4, 2, INFINITY)));
            e.weights.custom.insert_or_assign("key", CustomMatrix(Matrix{{1, -1}, {1, 1}, {-1, 1}, {1, 1}}));
            experiments.push_back(e);
        }
    compare(experiments);
}

TEST_F(RecipeTorchTest, NaNInTheDecoderSpreadsNoFurtherThanInTheTrace) {
    std::vector<Experiment> experiments;
    for (const Normalization normalizer :
         {Normalization::softmax, Normalization::hard, Normalization::local_m, Normalization::local_p})
        for (const char* name : {"E_src", "v_a", "v_p", "b_out"})
            for (const Decode decode : {Decode::teacher, Decode::greedy}) {
                Experiment e;
                e.mechanism = MechanismKind::seq2seq;
                e.seq2seq.decode = decode;
                e.input.text = e.input.text2 = "one two three four";
                e.weighting.mask = {{MaskForm::causal, {}}};
                e.weighting.normalizer = normalizer;
                Matrix values = Matrix::Ones(1, 8);
                if (name == std::string("E_src")) values = Matrix::Ones(10, 16);
                if (name == std::string("b_out")) values = Matrix::Ones(1, 6);
                values(0, 1) = NAN;
                e.weights.custom.emplace(name, CustomMatrix(values));
                experiments.push_back(e);
            }
    compare(experiments);
}

TEST_F(RecipeTorchTest, AHandfulOfRandomExperimentsPrintsTheTrace) { compare(random_experiments(20, 1000)); }

TEST_F(RecipeTorchTest, TwoHundredRandomExperimentsPrintTheTrace) {
    if (!std::getenv("ATTNSCOPE_WITH_TORCH")) GTEST_SKIP() << "scripts/test --with-torch runs it";
    compare(random_experiments(200, 1));
}

bool identical(const Trace& a, const Trace& b) {
    if (a.records.size() != b.records.size()) return false;
    return std::ranges::equal(a.records, b.records, [](const StageRecord& x, const StageRecord& y) {
        const Tensor &left = x.stage->buffer.host(), &right = y.stage->buffer.host();
        return x.stage->name() == y.stage->name() && left.shape() == right.shape() &&
               std::memcmp(left.values().data(), right.values().data(), left.values().size_bytes()) == 0;
    });
}

TEST(RandomExperimentsTest, WhatIsReusedIsWhatWouldBeComputed) {
    for (const Experiment& e : random_experiments(200, 1)) {
        Experiment with_less = e;
        for (const auto& [name, matrix] : e.weights.custom)
            if (with_less.weights.custom.size() > e.weights.custom.size() / 2)
                with_less.weights.custom.erase(name);
        Experiment with_nothing = e;
        with_nothing.weights.custom.clear();
        for (const Experiment& other : {with_less, with_nothing}) {
            try {
                const Trace trace = evaluate(e), others = evaluate(other);
                EXPECT_TRUE(identical(evaluate(e, others), trace)) << to_json({e, {}, {}});
                EXPECT_TRUE(identical(evaluate(other, trace), others)) << to_json({other, {}, {}});
            } catch (const Error&) {  // without what was given it does not fit
            }
        }
    }
}

TEST(RandomExperimentsTest, CoverEverySetting) {
    std::set<std::string> seen, stages;
    for (const Experiment& e : random_experiments(400, 1)) {
        const json settings = json::parse(to_json({e, {}, {}}))["experiment"];
        for (const auto& [field, value] : settings.items())
            if (value.is_string()) seen.insert(field + " " + value.get<std::string>());
        for (const MaskRule& rule : e.weighting.mask) seen.insert("mask " + std::string(name_of(rule.kind)));
        for (const auto& [name, matrix] : e.weights.custom)
            seen.insert("given " + std::string(split_layer(name).name));
        for (const StageRecord& record : evaluate(e).records)
            stages.insert(std::string(record.stage->info->name));
    }
    const auto expect_all = [&](const std::string& field, const auto& table) {
        for (const auto& entry : table) {
            const std::string value = field + " " + std::string(entry.name);
            EXPECT_TRUE(seen.contains(value)) << value;
        }
    };
    expect_all("tokenizer", choices<TokenizerKind>());
    expect_all("vocabulary", choices<VocabularyOrder>());
    expect_all("embedding", choices<Initialization>());
    expect_all("projection", choices<Projection>());
    expect_all("score", choices<Score>());
    expect_all("mask", choices<MaskForm>());
    expect_all("normalizer", choices<Normalization>());
    for (const OverridableMatrix& given : overridable_matrices())
        EXPECT_TRUE(seen.contains("given " + std::string(given.name))) << given.name;
    expect_all("position", choices<Position>());
    expect_all("rope_layout", choices<RopeLayout>());
    expect_all("softmax_axis", choices<SoftmaxAxis>());
    expect_all("block", choices<Block>());
    expect_all("activation", choices<Activation>());
    expect_all("mechanism", choices<MechanismKind>());
    expect_all("encoder", choices<Encoder>());
    expect_all("decoder_attention", choices<DecoderAttention>());
    expect_all("alignment_state", choices<AlignmentState>());
    expect_all("decode", choices<Decode>());
    expect_all("norm", choices<Norm>());
    expect_all("objective", choices<Objective>());
    for (const char* value : {"projection_seed continue", "score_seed continue", "block_seed continue",
                              "image_seed continue", "scale none", "scale sqrt"})
        EXPECT_TRUE(seen.contains(value)) << value;
    for (const StageInfo& info : stage_table())
        EXPECT_TRUE(stages.contains(std::string(info.name))) << info.name;
}

}  // namespace
}  // namespace attnscope
