#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/op/normalizers.h"
#include "core/op/op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <set>

#include "core/error.h"
#include "core/graph/backend.h"
#include "core/graph/formula.h"
#include "core/graph/gradient.h"
#include "core/graph/graph.h"
#include "core/graph/stage_table.h"
#include "core/random/initializers.h"
#include "tests/computed.h"
#include "tests/drawn.h"
#include "tests/fake_backend.h"
#include "tests/refusal.h"

namespace attnscope {
namespace {

using namespace test;

const Matrix& kept_matrix(int rows, int columns, unsigned seed) {
    static std::map<std::tuple<int, int, unsigned>, Matrix> kept;
    auto& matrix = kept[{rows, columns, seed}];
    if (matrix.size() == 0) {
        std::mt19937 engine(seed);
        std::normal_distribution<float> normal;
        matrix.resize(rows, columns);
        for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = normal(engine);
    }
    return matrix;
}

bool identical(const Trace& a, const Trace& b) {
    if (a.records.size() != b.records.size()) return false;
    for (std::size_t i = 0; i < a.records.size(); ++i) {
        const Tensor& x = a.records[i].stage->buffer.host();
        const Tensor& y = b.records[i].stage->buffer.host();
        if (a.records[i].stage->info != b.records[i].stage->info || !(x.shape() == y.shape()) ||
            std::memcmp(x.values().data(), y.values().data(), x.values().size_bytes()) != 0)
            return false;
    }
    return true;
}

std::string message_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

float cell(const Trace& trace, const char* stage, int row, int column, int head = 0) {
    return trace.find_named(stage)->buffer.at(head, row, column);
}

TEST(EvaluateTest, TheDefaultExperimentGivesTheNumbersPrintedInNotebook1) {
    const Trace trace = evaluate({});
    const auto printed = [](float value, const char* format) {
        char text[32];
        std::snprintf(text, sizeof text, format, static_cast<double>(value));
        return std::string(text);
    };
    const char* scores[] = {"-25.1623", "9.3602",  "14.3667", "32.1482",
                            "53.8976",  "46.6626", "-1.2131", "-32.9392"};
    const char* weights[] = {"2.2317e-09", "1.2499e-05", "4.3696e-05", "3.7242e-03",
                             "8.5596e-01", "1.4026e-01", "8.8897e-07", "3.1935e-10"};
    const char* context[] = {"-1.2226", "-3.4387", "-4.3928", "-5.2125", "-1.1249", "-3.3041",
                             "-1.4316", "-3.2765", "-2.5114", "-2.6105", "-1.5793", "-2.8433",
                             "-2.4142", "-0.3998", "-1.9917", "-3.3499"};
    for (int j = 0; j < 8; ++j) {
        EXPECT_EQ(printed(cell(trace, "scores", 1, j), "%.4f"), scores[j]);
        EXPECT_EQ(printed(cell(trace, "weights", 1, j), "%.4e"), weights[j]);
    }
    for (int j = 0; j < 16; ++j) EXPECT_EQ(printed(cell(trace, "context", 1, j), "%.4f"), context[j]);
}

TEST(EvaluateTest, TheStagesStandInTheOrderOfTheComputation) {
    Experiment e;
    e.attention.heads = 2;
    e.attention.output_projection = true;
    std::vector<std::string> names;
    for (const StagePtr& stage : evaluate(e).stages()) names.emplace_back(stage->name());
    EXPECT_EQ(names, (std::vector<std::string>{"tokens", "embedding", "query", "key", "value", "query_heads",
                                               "key_heads", "value_heads", "scores", "scaled", "mask",
                                               "masked", "weights", "context", "concat", "output"}));
}

TEST(EvaluateTest, OneHeadHasNoSplitAndNoConcatAndKeepsItsHeadDimension) {
    const Trace trace = evaluate({});
    EXPECT_EQ(trace.find("query_heads"_stage), nullptr);
    EXPECT_EQ(trace.find("concat"_stage), nullptr);
    EXPECT_EQ(trace.find("output"_stage), nullptr);
    EXPECT_EQ(trace.find("scores"_stage)->shape(), (Shape{1, 8, 8, true}));
    EXPECT_EQ(trace.find("mask"_stage)->shape(), (Shape{1, 8, 8, false}));
}

/// Which stages each kind of change computes again; everything else is the very same object as before.
struct Change {
    const char* name;
    std::function<void(Experiment&)> make;
    std::set<std::string> computed;
};

const std::set<std::string> k_from_scores = {"scores", "scaled", "masked", "weights", "context"};
std::set<std::string> with(std::set<std::string> more, const std::set<std::string>& base = k_from_scores) {
    more.insert(base.begin(), base.end());
    return more;
}

TEST(EvaluateTest, AChangeComputesTheStagesThatDependOnItAndNoOthers) {
    const std::vector<Change> changes = {
        {"nothing", [](Experiment&) {}, {}},
        {"temperature",
         [](Experiment& e) { e.weighting.temperature = 2; },
         {"scaled", "masked", "weights", "context"}},
        {"scale",
         [](Experiment& e) { e.attention.scale = {Scale::Kind::none}; },
         {"scaled", "masked", "weights", "context"}},
        {"the same scale as a number",
         [](Experiment& e) {
             e.attention.scale = {Scale::Kind::number, 0.25};
         },
         {}},
        {"mask",
         [](Experiment& e) {
             e.weighting.mask = {{MaskForm::causal, {}}};
         },
         {"mask", "masked", "weights", "context"}},
        {"a mask that closes nothing",
         [](Experiment& e) {
             e.weighting.mask = {{MaskForm::valid, {8}}};
         },
         {"mask"}},
        {"projection seed",
         [](Experiment& e) {
             e.weights.projection_seed = {ProjectionSeed::Kind::own, 5};
         },
         with({"W_q", "W_k", "W_v", "query", "key", "value"})},
        {"seed", [](Experiment& e) { e.weights.seed = 124; },
         with({"table", "embedding", "W_q", "W_k", "W_v", "query", "key", "value"})},
        {"the case of a word", [](Experiment& e) { e.input.text[0] = 'c'; }, {}},
        {"a space at the end", [](Experiment& e) { e.input.text += " "; }, {}},
        {"the word order", [](Experiment& e) { e.input.text = "you Can help me to translate this sentence"; },
         with({"tokens", "embedding", "query", "key", "value"})},
        {"output projection", [](Experiment& e) { e.attention.output_projection = true; }, {"W_o", "output"}},
        {"heads", [](Experiment& e) { e.attention.heads = 2; },
         with({"query_heads", "key_heads", "value_heads", "concat"})},
    };
    const Trace before = evaluate({});
    for (const Change& change : changes) {
        Experiment changed;
        change.make(changed);
        const Trace after = evaluate(changed, before);
        EXPECT_EQ(computed(after), change.computed) << change.name;
        EXPECT_TRUE(identical(after, evaluate(changed))) << change.name;
    }
}

TEST(EvaluateTest, WhatIsReusedEqualsWhatIsComputedAgainOverALongWalkOfRandomChanges) {
    std::mt19937 random(7);
    const auto pick = [&](auto... values) {
        const std::array options{values...};
        return options[random() % options.size()];
    };
    Experiment e;
    Trace trace;
    int compared = 0;
    for (int step = 0; step < 1500; ++step) {
        switch (random() % 24) {
            case 0: e.weights.seed = pick(1, 123, -5); break;
            case 1: e.attention.heads = pick(1, 2, 4); break;
            case 2: e.input.dim = pick(4, 8, 16); break;
            case 3:
                e.attention.scale = pick(Scale{}, Scale{Scale::Kind::none}, Scale{Scale::Kind::number, 0.5});
                break;
            case 4: e.weighting.temperature = pick(1.0, 0.1, 10.0); break;
            case 5:
                e.weighting.mask =
                    random() % 2 ? std::vector<MaskRule>{} : std::vector<MaskRule>{{MaskForm::causal, {}}};
                break;
            case 6: e.weighting.mask.push_back({MaskForm::valid, {std::int64_t(random() % 5)}}); break;
            case 7:
                e.attention.projection =
                    pick(Projection::none, Projection::uniform, Projection::mha, Projection::linear);
                break;
            case 8: e.attention.output_projection = !e.attention.output_projection; break;
            case 9:
                e.input.text = pick("one", "a b c a", "Can you help me to translate this sentence");
                break;
            case 10:
                e.input.vocabulary =
                    pick(VocabularyOrder::alphabetical, VocabularyOrder::appearance, VocabularyOrder::stable);
                break;
            case 11:
                e.weights.projection_seed =
                    pick(ProjectionSeed{}, ProjectionSeed{ProjectionSeed::Kind::proceed, 0},
                         ProjectionSeed{ProjectionSeed::Kind::own, 9});
                break;
            case 12:
                e.weights.embedding =
                    pick(Initialization::normal, Initialization::uniform, Initialization::xavier);
                break;
            case 13:
                e.input.tokenizer = pick(TokenizerKind::words, TokenizerKind::characters);
                e.input.table_size = pick(0, 3, 30);
                break;
            case 14:
                e.attention.score = pick(Score::dot, Score::general, Score::additive, Score::concat,
                                         Score::cosine, Score::location);
                break;
            case 15:
                e.weighting.normalizer = pick(Normalization::softmax, Normalization::hard,
                                              Normalization::local_m, Normalization::local_p);
                break;
            case 16: e.attention.softmax_axis = pick(SoftmaxAxis::keys, SoftmaxAxis::queries); break;
            case 17:
                e.attention.position =
                    pick(Position::none, Position::sinusoidal, Position::rope, Position::alibi);
                break;
            case 18: e.input.text2 = pick("", "b c", "Kannst du mir bitte helfen"); break;
            case 19: e.attention.block = pick(Block::none, Block::post_norm, Block::pre_norm); break;
            case 20:
                e.attention.dropout = pick(0.0, 0.5);
                e.attention.dropout_seed = pick(0, 1);
                e.attention.training = random() % 2;
                break;
            case 21:
                e.weights.score_seed =
                    pick(ProjectionSeed{}, ProjectionSeed{ProjectionSeed::Kind::proceed, 0},
                         ProjectionSeed{ProjectionSeed::Kind::own, 9});
                e.weights.block_seed =
                    pick(ProjectionSeed{}, ProjectionSeed{ProjectionSeed::Kind::proceed, 0});
                break;
            case 22:
                e.weighting.hidden = pick(1, 8);
                e.weighting.local_window = pick(1, 3);
                e.attention.sharpening = pick(1.0, 3.0);
                e.attention.projection_bias = random() % 2;
                e.attention.activation = pick(Activation::relu, Activation::gelu);
                e.attention.rope_layout = pick(RopeLayout::interleaved, RopeLayout::half);
                break;
            case 23:
                if (random() % 2)
                    e.weights.custom.insert_or_assign("mask", CustomMatrix(Matrix::Identity(3, 3)));
                else
                    e.weights.custom.clear();
                break;
        }
        if (e.weighting.mask.size() > 2) e.weighting.mask.clear();
        // What does not fit together is refused alike; the walk goes on from the trace before.
        try {
            trace = evaluate(e, trace);
        } catch (const Error&) {
            EXPECT_THROW(evaluate(e), Error);
            continue;
        }
        ASSERT_TRUE(identical(trace, evaluate(e))) << "step " << step;
        ++compared;
    }
    EXPECT_GT(compared, 700);
}

TEST(EvaluateTest, AStableWordKeepsItsVectorWhateverElseIsTyped) {
    Experiment e;
    e.input.vocabulary = VocabularyOrder::stable;
    e.input.text = "help me";
    const Trace few = evaluate(e);
    e.input.text = "please do help somebody else";
    const Trace many = evaluate(e);
    EXPECT_EQ(few.find("embedding"_stage)->buffer.host().head(0).row(0),
              many.find("embedding"_stage)->buffer.host().head(0).row(2));
}

TEST(EvaluateTest, TheResultIsTheSameToTheBitForAnyNumberOfThreads) {
    Experiment e;
    e.input.text.clear();
    for (int i = 0; i < 300; ++i) e.input.text += "w" + std::to_string(i % 97) + " ";
    e.input.dim = 64;
    e.attention.heads = 4;
    e.weighting.mask = {{MaskForm::causal, {}}};
    e.attention.output_projection = true;
    const Trace one = evaluate(e, {}, {.threads = 1, .memory_limit = 0, .cancel = {}});
    for (const int threads : {2, 3, 8})
        EXPECT_TRUE(identical(one, evaluate(e, {}, {.threads = threads, .memory_limit = 0, .cancel = {}})))
            << threads;
}

TEST(EvaluateTest, AFullyMaskedRowHasWeightsAndContextOfExactlyZeroAndIsFlagged) {
    Experiment e;
    e.weighting.mask = {{MaskForm::valid, {8, 0, 3, 8, 8, 8, 8, 1}}};
    const Trace trace = evaluate(e);
    EXPECT_TRUE(trace.fully_masked(1));
    EXPECT_FALSE(trace.fully_masked(2));
    for (int j = 0; j < 8; ++j) EXPECT_EQ(cell(trace, "weights", 1, j), 0);
    for (int j = 0; j < 16; ++j) EXPECT_EQ(cell(trace, "context", 1, j), 0);
    EXPECT_EQ(cell(trace, "weights", 7, 0), 1);
    EXPECT_EQ(cell(trace, "weights", 7, 1), 0);
}

TEST(EvaluateTest, AFullyMaskedColumnIsFlaggedWhereItsWeightsWouldSumToOne) {
    Experiment e;
    e.input.text2 = "a b c d e f g h i j k";
    e.weighting.mask = {{MaskForm::window, {1, 0}}};
    EXPECT_FALSE(evaluate(e).fully_masked_column(8));
    e.attention.softmax_axis = SoftmaxAxis::queries;
    const Trace trace = evaluate(e);
    EXPECT_FALSE(trace.fully_masked_column(7));
    EXPECT_TRUE(trace.fully_masked_column(8));
    EXPECT_TRUE(trace.fully_masked_column(10));
    EXPECT_FALSE(trace.fully_masked_column(11)) << "there is none";
    for (int i = 0; i < 8; ++i) EXPECT_EQ(cell(trace, "weights", i, 8), 0);
    for (int i = 0; i < 8; ++i) EXPECT_FALSE(trace.fully_masked(i)) << i;
}

TEST(EvaluateTest, ANormalizerWithAnAxisNormalizesAlongIt) {
    for (const Normalizer& each : normalizers()) {
        SCOPED_TRACE(name_of(each.choice));
        Experiment e;
        e.weighting.normalizer = each.choice;
        e.attention.softmax_axis = SoftmaxAxis::queries;
        EXPECT_EQ(evaluate(e).over_queries(), each.has_axis);
        EXPECT_TRUE(each.has_axis || has_window(each.choice) ||
                    each.op(SoftmaxAxis::queries) == each.op(SoftmaxAxis::keys));
    }
}

TEST(EvaluateTest, AnAxisThatAMechanismDoesNotUseChangesNothing) {
    for (const MechanismKind mechanism : {MechanismKind::seq2seq, MechanismKind::transformer}) {
        Experiment e;
        e.mechanism = mechanism;
        e.input.text = "one two pad pad";
        e.input.text2 = mechanism == MechanismKind::seq2seq ? "un deux" : "";
        e.weighting.mask = {{MaskForm::valid, {2}}};
        Experiment over_queries = e;
        over_queries.attention.softmax_axis = SoftmaxAxis::queries;
        const Trace a = evaluate(e), b = evaluate(over_queries);
        ASSERT_EQ(a.records.size(), b.records.size());
        for (std::size_t i = 0; i < a.records.size(); ++i)
            EXPECT_TRUE(std::ranges::equal(a.records[i].stage->buffer.host().values(),
                                           b.records[i].stage->buffer.host().values()))
                << a.records[i].stage->name();
        EXPECT_FALSE(b.over_queries());
        EXPECT_FALSE(b.fully_masked_column(3, {}, mechanism == MechanismKind::transformer ? 1 : 0))
            << "no picture marks a key, as each row is normalized on its own";
    }
}

TEST(EvaluateTest, ARowIsFullyMaskedOnlyWhereEveryHeadClosesIt) {
    Tensor values({.heads = 2, .rows = 2, .columns = 2, .per_head = true});
    values.head(0).setConstant(-INFINITY);
    values.head(1).setConstant(-INFINITY);
    values.head(1)(1, 0) = 0.5f;
    Trace trace;
    trace.records.push_back(
        {std::make_shared<const Stage>(find_stage_info("masked"), Buffer(std::move(values))), {}, {}});
    EXPECT_TRUE(trace.fully_masked(0));
    EXPECT_FALSE(trace.fully_masked(1));
}

TEST(EvaluateTest, AMaskedCellIsMinusInfinityAndItsWeightExactlyZero) {
    Experiment e;
    e.weighting.mask = {{MaskForm::causal, {}}};
    const Trace trace = evaluate(e);
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
            EXPECT_EQ(cell(trace, "mask", i, j), j <= i ? 1 : 0);
            EXPECT_EQ(std::isinf(cell(trace, "masked", i, j)), j > i);
            if (j > i) {
                EXPECT_EQ(cell(trace, "weights", i, j), 0);
                EXPECT_FALSE(std::signbit(cell(trace, "weights", i, j)));
            }
        }
}

Experiment custom_qkv(int n, int m, int d) {
    Experiment e;
    e.input.dim = d;
    e.weights.custom.emplace("query", CustomMatrix(kept_matrix(n, d, 1)));
    e.weights.custom.emplace("key", CustomMatrix(kept_matrix(m, d, 2)));
    e.weights.custom.emplace("value", CustomMatrix(kept_matrix(m, d, 3)));
    return e;
}

TEST(EvaluateTest, KeysThatAreGivenInAnotherNumberHaveNoWords) {
    Experiment e;
    e.input.text = "one two three";
    e.weights.custom.emplace("embedding_kv", CustomMatrix(kept_matrix(5, e.input.dim, 4)));
    Trace trace = evaluate(e);
    EXPECT_EQ(trace.rows, (std::vector<std::string>{"one", "two", "three"}));
    EXPECT_EQ(trace.columns, std::vector<std::string>{});
    EXPECT_EQ(trace.label(Axis::key_token, 0), "1");
    EXPECT_EQ(trace.find("weights"_stage)->shape(), (Shape{1, 3, 5, true}));
    e.weights.custom = {{"query", CustomMatrix(kept_matrix(2, e.input.dim, 5))}};
    trace = evaluate(e);
    EXPECT_EQ(trace.rows, std::vector<std::string>{});
    EXPECT_EQ(trace.columns, (std::vector<std::string>{"one", "two", "three"}));
}

TEST(EvaluateTest, ANanInOneQueryStaysInItsRow) {
    Experiment e = custom_qkv(5, 5, 4);
    Matrix Q = e.weights.custom.at("query").values();
    Q(2, 1) = NAN;
    e.weights.custom.insert_or_assign("query", CustomMatrix(Q));
    e.weighting.mask = {{MaskForm::causal, {}}};
    const Trace trace = evaluate(e);
    for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 5; ++j)
            EXPECT_EQ(std::isnan(cell(trace, "weights", i, j)), i == 2 && j <= 2) << i << j;
    for (int i = 0; i < 5; ++i) EXPECT_EQ(std::isnan(cell(trace, "context", i, 0)), i == 2);
}

TEST(EvaluateTest, AMaskedKeyContributesNothingNotEvenNan) {
    Experiment e = custom_qkv(5, 5, 4);
    Matrix K = e.weights.custom.at("key").values(), V = e.weights.custom.at("value").values();
    K.row(3).setConstant(NAN);
    V.row(3).setConstant(INFINITY);
    e.weights.custom.insert_or_assign("key", CustomMatrix(K));
    e.weights.custom.insert_or_assign("value", CustomMatrix(V));
    e.weighting.mask = {{MaskForm::valid, {3, 3, 3, 4, 3}}};
    const Trace trace = evaluate(e);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(std::isfinite(cell(trace, "context", i, 0)), i != 3) << i;
}

TEST(EvaluateTest, EachRowOfWeightsSumsToOneAndHugeScoresGiveNoNan) {
    Experiment e = custom_qkv(7, 9, 8);
    for (const double scale : {1e-6, 1.0, 300.0, 1e4}) {
        e.attention.scale = {Scale::Kind::number, scale};
        const Trace trace = evaluate(e);
        // Seven additions of numbers below 1 round by at most 7 · 2⁻²⁴.
        for (int i = 0; i < 7; ++i)
            EXPECT_NEAR(trace.find("weights"_stage)->buffer.host().head(0).row(i).cast<double>().sum(), 1,
                        1e-6)
                << scale;
    }
}

TEST(EvaluateTest, SeveralHeadsEqualSingleHeadsOnTheirColumns) {
    Experiment e = custom_qkv(6, 6, 8);
    e.attention.heads = 2;
    const Trace both = evaluate(e);
    for (int h = 0; h < 2; ++h) {
        Experiment one = e;
        one.attention.heads = 1;
        one.attention.scale = {Scale::Kind::number, 0.5};  // 1/√4
        for (const char* name : {"query", "key", "value"})
            one.weights.custom.insert_or_assign(
                name, CustomMatrix(e.weights.custom.at(name).values().middleCols(4 * h, 4)));
        const Trace alone = evaluate(one);
        EXPECT_EQ(alone.find("context"_stage)->buffer.host().head(0),
                  both.find("context"_stage)->buffer.host().head(h));
        EXPECT_EQ(alone.find("context"_stage)->buffer.host().head(0),
                  both.find("concat"_stage)->buffer.host().head(0).middleCols(4 * h, 4));
    }
}

TEST(EvaluateTest, OneTokenOneDimensionAndOneHeadWork) {
    Experiment e;
    e.input.text = "word";
    e.input.dim = 1;
    e.attention.output_projection = true;
    const Trace trace = evaluate(e);
    EXPECT_EQ(cell(trace, "weights", 0, 0), 1);
    EXPECT_EQ(trace.find("output"_stage)->shape(), (Shape{1, 1, 1, false}));
}

TEST(EvaluateTest, TheTableHasAtLeastTheRowsThatAreAskedFor) {
    Experiment e;
    e.input.table_size = 3;
    EXPECT_EQ(evaluate(e).find("table"_stage)->shape().rows, 8);
    e.input.table_size = 50;
    EXPECT_EQ(evaluate(e).find("table"_stage)->shape().rows, 50);
}

TEST(EvaluateTest, BadExperimentsAreRefusedWithOneLineThatSaysWhatToDo) {
    struct Bad {
        std::function<void(Experiment&)> make;
        const char* says;
    };
    const std::vector<Bad> bad = {
        {[](Experiment& e) { e.input.text.clear(); }, "no tokens"},
        {[](Experiment& e) { e.input.text = "   "; }, "no tokens"},
        {[](Experiment& e) { e.input.text = "a\xff"; }, "UTF-8"},
        {[](Experiment& e) {
             e.mechanism = MechanismKind::transformer;
             for (int i = 0; i < 5000; ++i) e.input.text += " w";
         },
         "5008 tokens and the limit is 4096"},
        {[](Experiment& e) { e.input.dim = 0; }, "dim 0 is out of range: use 1 to 1024"},
        {[](Experiment& e) { e.input.dim = 2000; }, "dim 2000"},
        {[](Experiment& e) { e.attention.heads = 3; }, "heads 3 does not divide dim 16"},
        {[](Experiment& e) { e.attention.heads = -1; }, "heads -1"},
        {[](Experiment& e) { e.weighting.temperature = 0; }, "temperature"},
        {[](Experiment& e) { e.weighting.temperature = NAN; }, "temperature"},
        {[](Experiment& e) {
             e.attention.scale = {Scale::Kind::number, INFINITY};
         },
         "scale"},
        {[](Experiment& e) {
             e.weighting.mask = {{MaskForm::causal, {3}}};
         },
         "takes no numbers"},
        {[](Experiment& e) {
             e.weighting.mask = {{MaskForm::valid, {1, 2, 3}}};
         },
         "3 lengths for 8 queries"},
        {[](Experiment& e) { e.input.table_size = -1; }, "table-size -1"},
        {[](Experiment& e) { e.weights.custom.emplace("W_q", CustomMatrix(Matrix::Zero(4, 5))); },
         "W_q is 4 × 5"},
    };
    for (const Bad& each : bad) {
        Experiment e;
        each.make(e);
        const std::string message = message_of([&] { evaluate(e); });
        EXPECT_NE(message.find(each.says), std::string::npos) << "got: " << message;
        EXPECT_EQ(message.find('\n'), std::string::npos);
    }
}

TEST(EvaluateTest, WhatDoesNotFitInMemoryIsRefusedBeforeItIsAllocated) {
    Experiment e;
    e.input.text.clear();
    for (int i = 0; i < 4096; ++i) e.input.text += "w ";
    e.input.dim = 1024;
    e.attention.heads = 64;
    e.input.tokenizer = TokenizerKind::whitespace;
    const std::string message = message_of(
        [&] { evaluate(e, {}, {.threads = 0, .memory_limit = std::size_t{1} << 30, .cancel = {}}); });
    EXPECT_NE(message.find("4096 × 4096 tokens with 64 heads need"), std::string::npos) << message;
    EXPECT_NE(message.find("MiB of this machine's memory and 1024 MiB are free"), std::string::npos)
        << message;
}

TEST(EvaluateTest, WhatABackendComputesCountsAgainstItsMemoryAndTheRestAgainstThisMachines) {
    constexpr std::size_t k_mib = std::size_t{1} << 20;
    Experiment e;
    e.input.text.clear();
    for (int i = 0; i < 512; ++i) e.input.text += "w ";
    e.attention.heads = 4;
    const auto said = [&](std::size_t on_card, std::size_t here) -> std::string {
        test::FakeBackend backend;
        backend.free_bytes = on_card;
        try {
            evaluate(e, {}, {.threads = 0, .backend = &backend, .memory_limit = here, .cancel = {}});
            return "";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::too_large);
            return error.what();
        }
    };
    const std::size_t whole = bytes_of(build(e));
    ASSERT_GT(whole, 20 * k_mib);
    EXPECT_EQ(said(2 * whole, k_mib), "") << "scores and weights lie on the card";
    EXPECT_EQ(said(10 * k_mib, 2 * whole),
              "512 × 512 tokens with 4 heads need " + std::to_string(whole / k_mib) +
                  " MiB of the GPU's memory and 9 MiB are free: shorten the sentence or use fewer heads");
    EXPECT_NE(said(2 * whole, 1000).find("MiB of this machine's memory and 0 MiB are free"),
              std::string::npos)
        << said(2 * whole, 1000);
    EXPECT_NE(said(0, k_mib).find("MiB of this machine's memory and 1 MiB are free"), std::string::npos)
        << "a backend without memory of its own takes this machine's: " << said(0, k_mib);
    e.attention.dropout = 0.5;
    EXPECT_NE(said(4 * whole, 2 * k_mib), "") << "which weights dropout keeps is drawn here";
}

TEST(EvaluateTest, WhatMayBeReusedFromACardNeedsNoRoomThere) {
    Experiment e;
    e.input.text.clear();
    for (int i = 0; i < 512; ++i) e.input.text += "w ";
    e.attention.heads = 4;
    const std::size_t whole = bytes_of(build(e));
    const auto on_card = [](const Op&, const Shape& shape) {
        return std::make_shared<test::LostValues>(shape);
    };
    test::FakeBackend roomy(on_card), full(on_card);
    const Trace before = evaluate(e, {}, {.backend = &roomy});
    ASSERT_TRUE(before.find("scores"_stage)->buffer.is_on_device());
    full.free_bytes = whole / 2;
    e.weighting.temperature = 2;
    EXPECT_NO_THROW(evaluate(e, before, {.backend = &full})) << "the scores stay as they are";
    EXPECT_THROW(evaluate(e, {}, {.backend = &full}), Error);
}

TEST(EvaluateTest, ACanceledEvaluationThrowsAndLeavesThePreviousTraceAlone) {
    const Trace before = evaluate({});
    std::stop_source stop;
    stop.request_stop();
    Experiment e;
    e.weights.seed = 5;
    EXPECT_THROW(evaluate(e, before, {.threads = 0, .memory_limit = 0, .cancel = stop.get_token()}),
                 Canceled);
    EXPECT_TRUE(identical(before, evaluate({})));
}

/// "left, above" by name, "-" where there is none; ᵀ where the upper one is transposed.
std::string operand_names(const Trace& trace, const char* stage) {
    const StageOperands of = operands(trace, *trace.find_named(stage));
    const auto name = [](const Stage* operand) { return operand ? std::string(operand->name()) : "-"; };
    return name(of.left) + ", " + name(of.above) + (of.is_transposed ? "ᵀ" : "");
}

TEST(StagesTest, TheOperandsOfAStageStandWhereTheMathematicsPutsThem) {
    Experiment e;
    const Trace plain = evaluate(e);
    EXPECT_EQ(operand_names(plain, "query"), "embedding, W_qᵀ");
    EXPECT_EQ(operand_names(plain, "embedding"), "-, -");
    for (const char* stage : {"scores", "scaled", "masked", "weights"})
        EXPECT_EQ(operand_names(plain, stage), "query, keyᵀ") << stage;
    EXPECT_EQ(operand_names(plain, "context"), "weights, value");
    EXPECT_EQ(operand_names(plain, "mask"), "-, -");
    e.attention.heads = 4;
    e.attention.output_projection = true;
    e.attention.dropout = 0.5;
    e.attention.position = Position::sinusoidal;
    const Trace trace = evaluate(e);
    EXPECT_EQ(operand_names(trace, "query"), "positioned, W_qᵀ");
    EXPECT_EQ(operand_names(trace, "weights_dropped"), "query_heads, key_headsᵀ");
    EXPECT_EQ(operand_names(trace, "context"), "weights_dropped, value_heads");
    EXPECT_EQ(operand_names(trace, "output"), "concat, W_oᵀ");
    e.attention.heads = 1;
    e.attention.position = Position::none;
    e.attention.score = Score::location;
    EXPECT_EQ(operand_names(evaluate(e), "weights"), "query, W_locᵀ");
    e.weights.custom.emplace("scores", CustomMatrix(Matrix::Zero(8, 8)));
    e.attention.scale = {Scale::Kind::none};
    EXPECT_EQ(operand_names(evaluate(e), "weights"), "-, -");
    Experiment decoder;
    decoder.mechanism = MechanismKind::seq2seq;
    const Trace decoded = evaluate(decoder);
    EXPECT_EQ(operand_names(decoded, "decoder_context"), "alignment, annotations");
    EXPECT_EQ(operand_names(decoded, "keys_projected"), "annotations, U_aᵀ");
}

TEST(EvaluateTest, AMatrixTwiceAsWideMayHaveDecimalCommas) {
    Experiment e;
    e.attention.score = Score::additive;
    e.weights.custom.insert_or_assign("v_a", CustomMatrix(Matrix::Constant(1, 16, 5)));
    EXPECT_EQ(
        refusal(e),
        "v_a is 1 × 16, but must be 1 × 8 (commas were read as separators: write decimals with a point)");
    e.weights.custom.insert_or_assign("v_a", CustomMatrix(Matrix::Constant(1, 16, -5)));
    EXPECT_EQ(refusal(e), "v_a is 1 × 16, but must be 1 × 8");
    e.weights.custom.insert_or_assign("v_a", CustomMatrix(Matrix::Constant(1, 15, 5)));
    EXPECT_EQ(refusal(e), "v_a is 1 × 15, but must be 1 × 8");
}

TEST(EvaluateTest, ValuesThatADrawnOutputDoesNotFitAreToldSo) {
    Experiment e;
    e.attention.projection = Projection::mha;
    e.attention.output_projection = true;
    e.weights.custom.insert_or_assign("value", CustomMatrix(Matrix::Ones(8, 3)));
    EXPECT_EQ(
        refusal(e),
        "value has 3 columns and projection mha draws a W_o for 16: set a W_o with 3 columns, or choose "
        "another projection");
    e.weights.custom.insert_or_assign("W_o", CustomMatrix(Matrix::Ones(2, 3)));
    EXPECT_EQ(evaluate(e).find("output"_stage)->shape().columns, 2);
}

TEST(EvaluateTest, RopeHasHeadsOfAllThreeAlsoWhereThereIsOne) {
    Experiment e;
    EXPECT_EQ(evaluate(e).find("value_heads"_stage), nullptr);
    e.attention.position = Position::rope;
    const Trace trace = evaluate(e);
    for (const char* name : {"query_heads", "key_heads", "value_heads"}) {
        ASSERT_NE(trace.find_named(name), nullptr) << name;
        EXPECT_TRUE(trace.find_named(name)->shape().per_head) << name;
    }
    EXPECT_EQ(Matrix(trace.find("value_heads"_stage)->buffer.host().head(0)),
              Matrix(trace.find("value"_stage)->buffer.host().head(0)));
    EXPECT_EQ(formula(trace, *trace.find("value_heads"_stage)), "V");
}

TEST(EvaluateTest, AMaskThatIsNeitherOpenNorClosedIsRefused) {
    Experiment e;
    Matrix mask = Matrix::Ones(8, 8);
    mask(3, 4) = NAN;
    e.weights.custom.insert_or_assign("mask", CustomMatrix(mask));
    const std::string said = "mask: row 4, column 5 is nan: a mask holds 1 (open) and 0 (closed)";
    EXPECT_EQ(refusal(e), said);
    e.mechanism = MechanismKind::seq2seq;
    EXPECT_EQ(refusal(e), said);
}

TEST(StagesTest, WithoutProjectionsKeysAreOfTheirOwnSide) {
    Experiment e;
    EXPECT_EQ(unprojected_text(e), "Q = K = V = X");
    e.input.text2 = "two words";
    EXPECT_EQ(unprojected_text(e), "Q = X, K = V = Y");
    e.weights.custom.insert_or_assign("embedding_v", CustomMatrix(Matrix::Ones(2, 16)));
    EXPECT_EQ(unprojected_text(e), "Q = X, K = Y, V = Y_v");
}

std::string formula_of(const Experiment& e, const char* stage) {
    const Trace trace = evaluate(e);
    return formula(trace, *trace.find_named(stage));
}

std::string caption_of(const Experiment& e, const char* stage) {
    const Trace trace = evaluate(e);
    return caption(trace, *trace.find_named(stage));
}

TEST(StagesTest, AFormulaFollowsTheSettings) {
    Experiment e;
    EXPECT_EQ(formula_of(e, "weights"), "softmax( Q Kᵀ ÷ √d_k ) over keys, each row sums to 1");
    EXPECT_EQ(formula_of(e, "query"), "Q = X W_qᵀ");
    EXPECT_EQ(formula_of(e, "embedding"), "X = E[tokens]");
    EXPECT_EQ(caption_of(e, "scaled"), "÷ √d_k");
    e.attention.projection = Projection::none;
    e.weighting.mask = {{MaskForm::causal, {}}, {MaskForm::valid, {3}}};
    e.weighting.temperature = 2;
    EXPECT_EQ(formula_of(e, "query"), "Q = X");
    EXPECT_EQ(formula_of(e, "mask"), "open where j ≤ i and j among the first 3");
    EXPECT_EQ(caption_of(e, "mask"), "causal + valid");
    EXPECT_EQ(formula_of(e, "weights"), "softmax( Q Kᵀ ÷ √d_k ÷ T, masked ) over keys, each row sums to 1");
    EXPECT_EQ(caption_of(e, "scaled"), "÷ √d_k÷T");
    e.weighting.mask.clear();
    e.attention.position = Position::alibi;
    e.attention.heads = 2;
    e.attention.output_projection = true;
    e.attention.block = Block::post_norm;
    EXPECT_EQ(formula_of(e, "biased"), "Qₕ Kₕᵀ ÷ √d_k ÷ T + B");
    EXPECT_EQ(formula_of(e, "output"), "O = [C] W_oᵀ");
    EXPECT_EQ(formula_of(e, "residual_1"), "X + O");
}

TEST(StagesTest, CustomScoresAreNotAProductOfQueriesAndKeys) {
    Experiment e;
    e.attention.scale = {Scale::Kind::number, 0.5};
    e.weighting.mask = {{MaskForm::causal, {}}};
    e.weights.custom.emplace("scores", CustomMatrix(Matrix::Zero(8, 8)));
    for (const Score score : {Score::dot, Score::cosine}) {
        e.attention.score = score;
        EXPECT_EQ(formula_of(e, "scores"), "custom");
        EXPECT_EQ(caption_of(e, "scores"), "custom");
        EXPECT_EQ(formula_of(e, "scaled"), "S × s");
        EXPECT_EQ(formula_of(e, "weights"), "softmax( S × s, masked ) over keys, each row sums to 1");
    }
}

TEST(EvaluateTest, TheScoresWeightsGoOnAfterTheOutputsBias) {
    Experiment e;
    e.attention.projection = Projection::none;
    e.attention.score = Score::general;
    e.weights.score_seed.kind = ProjectionSeed::Kind::proceed;
    e.attention.output_projection = e.attention.projection_bias = true;
    Generator generator(e.weights.seed);
    test::drawn_linear(generator, e.input.dim, e.input.dim);
    test::drawn_linear_bias(generator, e.input.dim, e.input.dim);
    const Matrix expected = test::drawn_linear(generator, e.input.dim, e.input.dim);
    EXPECT_EQ(evaluate(e).find("W_score"_stage)->buffer.host().head(0), expected);
}

TEST(MechanismsTest, EachKindHasItsRowAndSaysWhatGivesItALoss) {
    const char* const advice[] = {"set the custom matrices W_out and targets, or loss_weights",
                                  "set decode to teacher", "type a longer sentence"};
    Experiment e;
    e.input.text = "word";
    e.seq2seq.decode = Decode::greedy;
    for (const auto& [kind, name] : choices<MechanismKind>()) {
        e.mechanism = kind;
        EXPECT_EQ(mechanism_of(e).choice, kind);
        EXPECT_EQ(mechanisms()[static_cast<std::size_t>(kind)], &mechanism_of(e)) << "in the enum's order";
        EXPECT_EQ(why_no_gradients(evaluate(e)),
                  std::string("this experiment has no loss, so there are no gradients: ") +
                      advice[static_cast<std::size_t>(kind)])
            << name;
    }
}

}  // namespace
}  // namespace attnscope
