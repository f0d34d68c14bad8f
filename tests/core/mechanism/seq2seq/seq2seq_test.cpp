// Sequence to sequence: properties of every sentence, and the effect of each setting.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "core/graph/explain.h"
#include "core/graph/formula.h"
#include "core/graph/graph.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/op/gru.h"
#include "tests/computed.h"
#include "tests/refusal.h"
#include "tests/translation.h"

namespace attnscope {
namespace {

using namespace test;

Experiment with(const std::function<void(Experiment&)>& change) {
    Experiment e = translation();
    change(e);
    return e;
}

ConstMatrixView matrix(const Trace& trace, std::string_view stage) {
    const Stage* found = trace.find_named(stage);
    if (!found) throw std::runtime_error("no stage " + std::string(stage));
    return found->buffer.host().head(0);
}

bool equal(ConstMatrixView a, ConstMatrixView b) {
    return a.rows() == b.rows() && a.cols() == b.cols() && (a.array() == b.array()).all();
}

/// The sentences have as many words as the cases' tables have rows.
TEST(Seq2seqTest, TheParametersAreDrawnAsPytorchDrawsThemBitForBit) {
    const auto expect_drawn = [](const char* id, const Experiment& e) {
        std::ifstream file(std::string(ATTNSCOPE_SOURCE_DIR "/tests/reference/cases/") + id + ".json");
        const auto reference = nlohmann::json::parse(file);
        const Trace trace = evaluate(e);
        int compared = 0;
        for (const auto& draw : reference.at("draws")) {
            if (!draw.contains("name") || draw.at("op") == "values") continue;
            const std::string name = draw.at("name");
            const auto data = reference.at("inputs").at(name).at("data").get<std::vector<float>>();
            const auto drawn = trace.find_named(name)->buffer.host().values();
            const float factor = draw.value("mul", 1.f);
            ASSERT_EQ(drawn.size(), data.size()) << name;
            for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(drawn[i] * factor, data[i]) << name;
            ++compared;
        }
        EXPECT_EQ(compared, 21);
    };
    Experiment e = translation();
    e.weights.seed = 300;
    e.input.text2 = "a b c d e f";
    e.input.table_size = 9;
    e.input.dim = 4;
    e.seq2seq.encoder_size = 3;
    e.seq2seq.decoder_size = 5;
    e.weighting.hidden = 6;
    expect_drawn("seq2seq-bahdanau", e);
    e.weights.seed = 301;
    e.input.text2 = "a b c d e";
    e.input.table_size = 7;
    e.input.dim = 3;
    e.seq2seq.encoder_size = e.seq2seq.decoder_size = 4;
    e.weighting.hidden = 5;
    e.seq2seq.alignment_state = AlignmentState::current;
    expect_drawn("seq2seq-current-state", e);
}

TEST(Seq2seqTest, TheStagesStandInTheOrderOfTheComputation) {
    std::vector<std::string> names;
    for (const StagePtr& stage : evaluate(translation()).stages()) names.emplace_back(stage->name());
    EXPECT_EQ(names, (std::vector<std::string>{"source",           "source_embedding",
                                               "encoder_r_fwd",    "encoder_z_fwd",
                                               "encoder_n_fwd",    "h_fwd",
                                               "encoder_r_bwd",    "encoder_z_bwd",
                                               "encoder_n_bwd",    "h_bwd",
                                               "annotations",      "initial_state",
                                               "keys_projected",   "fed_tokens",
                                               "target_embedding", "alignment_scores",
                                               "alignment",        "decoder_context",
                                               "gate_r",           "gate_z",
                                               "gate_n",           "decoder_state",
                                               "logits",           "log_probs",
                                               "probabilities",    "picked_tokens",
                                               "target_tokens",    "loss"}));
}

TEST(Seq2seqTest, TeacherForcingFeedsBosAndTheWordsAndWantsTheWordsAndEos) {
    const Trace trace = evaluate(translation());
    EXPECT_EQ(trace.columns, (std::vector<std::string>{"I", "am", "a", "student"}));
    EXPECT_EQ(trace.rows,
              (std::vector<std::string>{"<bos>→je", "je→suis", "suis→étudiant", "étudiant→<eos>"}));
    EXPECT_EQ(trace.target_table, (std::vector<std::string>{"<bos>", "<eos>", "je", "suis", "étudiant"}));
    EXPECT_EQ(matrix(trace, "logits").cols(), 5);
    EXPECT_EQ(trace.label(Axis::target_row, 1), "<eos>");
    double loss = 0;
    for (int i = 0; i < 4; ++i)
        loss -= matrix(trace, "log_probs")(i, static_cast<int>(matrix(trace, "target_tokens")(i, 0))) / 4;
    EXPECT_NEAR(matrix(trace, "loss")(0, 0), loss, 1e-6);
}

TEST(Seq2seqTest, WithoutASecondSentenceTheTargetIsTheSource) {
    const Trace trace = evaluate(with([](Experiment& e) { e.input.text2.clear(); }));
    EXPECT_EQ(trace.rows.front(), "<bos>→i");
    EXPECT_EQ(trace.rows.size(), 5u);
}

TEST(Seq2seqTest, EachRowOfTheAlignmentSumsToOne) {
    for (const AlignmentState state : {AlignmentState::previous, AlignmentState::current})
        for (const Encoder encoder : {Encoder::bidirectional, Encoder::forward}) {
            const Trace trace = evaluate(with([&](Experiment& e) {
                e.seq2seq.alignment_state = state;
                e.seq2seq.encoder = encoder;
            }));
            const auto sums = matrix(trace, "alignment").rowwise().sum().eval();
            EXPECT_LE((sums.array() - 1).abs().maxCoeff(), 1e-6f);
            EXPECT_EQ(matrix(trace, "annotations").cols(), encoder == Encoder::forward ? 5 : 10);
        }
}

TEST(Seq2seqTest, AForwardEncoderAnnotatesWithItsForwardStatesAlone) {
    const Trace both = evaluate(translation());
    const Trace forward = evaluate(with([](Experiment& e) { e.seq2seq.encoder = Encoder::forward; }));
    EXPECT_EQ(forward.find("h_bwd"_stage), nullptr);
    EXPECT_TRUE(equal(matrix(forward, "annotations"), matrix(forward, "h_fwd")));
    EXPECT_TRUE(equal(matrix(forward, "h_fwd"), matrix(both, "h_fwd")));
    // What stands before the first difference in shape is drawn as ever: s_0 reads the last state instead.
    EXPECT_TRUE(equal(matrix(forward, "W_init"), matrix(both, "W_init")));
    const Eigen::RowVectorXf expected =
        (matrix(forward, "h_fwd").row(3) * matrix(forward, "W_init").transpose() + matrix(forward, "b_init"))
            .array()
            .tanh();
    EXPECT_LE((matrix(forward, "initial_state").row(0) - expected).cwiseAbs().maxCoeff(), 1e-6f);
}

TEST(Seq2seqTest, TheLastWordIsReadFirstByTheBackwardEncoder) {
    const auto short_source = with([](Experiment& e) { e.input.text = "student"; });
    Experiment of_one = short_source;
    const Trace whole = evaluate(translation());
    of_one.weights.custom.emplace("src", CustomMatrix(Matrix::Constant(1, 1, matrix(whole, "source")(3, 0))));
    of_one.weights.custom.emplace("E_src", CustomMatrix(matrix(whole, "E_src")));
    for (const char* name : {"enc_bwd.W_ih", "enc_bwd.W_hh", "enc_bwd.b_ih", "enc_bwd.b_hh"})
        of_one.weights.custom.emplace(name, CustomMatrix(matrix(whole, name)));
    EXPECT_TRUE(
        (matrix(evaluate(of_one), "h_bwd").row(0).array() == matrix(whole, "h_bwd").row(3).array()).all());
}

TEST(Seq2seqTest, WithoutAttentionEveryContextIsTheLastStateOfEachDirection) {
    for (const AlignmentState state : {AlignmentState::previous, AlignmentState::current}) {
        const Trace trace = evaluate(with([&](Experiment& e) {
            e.seq2seq.decoder_attention = DecoderAttention::none;
            e.seq2seq.alignment_state = state;
        }));
        for (const char* absent : {"alignment", "alignment_scores", "keys_projected", "W_a", "U_a", "v_a"})
            EXPECT_EQ(trace.find_named(absent), nullptr) << absent;
        const auto context = matrix(trace, "decoder_context");
        EXPECT_EQ(context.rows(), 4);
        for (int i = 0; i < 4; ++i) {
            EXPECT_TRUE((context.row(i).head(5).array() == matrix(trace, "h_fwd").row(3).array()).all());
            EXPECT_TRUE((context.row(i).tail(5).array() == matrix(trace, "h_bwd").row(0).array()).all());
        }
        const Trace with_attention =
            evaluate(with([&](Experiment& e) { e.seq2seq.alignment_state = state; }));
        EXPECT_TRUE(equal(matrix(trace, "dec.W_hh"), matrix(with_attention, "dec.W_hh")));
    }
}

TEST(Seq2seqTest, TheCurrentStateDoesNotDependOnTheAlignment) {
    const auto current = [](double temperature) {
        return evaluate(with([&](Experiment& e) {
            e.seq2seq.alignment_state = AlignmentState::current;
            e.weighting.temperature = temperature;
        }));
    };
    const Trace a = current(1), b = current(0.1);
    EXPECT_FALSE(equal(matrix(a, "decoder_context"), matrix(b, "decoder_context")));
    EXPECT_TRUE(equal(matrix(a, "decoder_state"), matrix(b, "decoder_state")));
    const Trace c = evaluate(translation()),
                d = evaluate(with([](Experiment&e) { e.weighting.temperature = 0.1; }));
    EXPECT_FALSE(equal(matrix(c, "decoder_state"), matrix(d, "decoder_state")));
}

TEST(Seq2seqTest, GreedyDecodingFeedsWhatItPicked) {
    const Trace trace = evaluate(with([](Experiment& e) {
        e.seq2seq.decode = Decode::greedy;
        e.seq2seq.max_steps = 6;
    }));
    const auto fed = matrix(trace, "fed_tokens"), picked = matrix(trace, "picked_tokens");
    EXPECT_EQ(fed(0, 0), 0);
    for (Eigen::Index i = 1; i < fed.rows(); ++i) EXPECT_EQ(fed(i, 0), picked(i - 1, 0));
    EXPECT_EQ(trace.find("loss"_stage), nullptr);
    EXPECT_EQ(trace.rows.size(), std::size_t(fed.rows()));
    EXPECT_EQ(trace.rows[0], "<bos>→" + trace.target_table[std::size_t(picked(0, 0))]);
}

TEST(Seq2seqTest, GreedyDecodingStopsAtEosAndAtTheLastStepAllowed) {
    const auto favoring = [](int word) {
        return with([&](Experiment& e) {
            e.seq2seq.decode = Decode::greedy;
            e.seq2seq.max_steps = 3;
            Matrix bias = Matrix::Zero(1, 5);
            bias(0, word) = 100;
            e.weights.custom.emplace("b_out", CustomMatrix(bias));
        });
    };
    EXPECT_EQ(matrix(evaluate(favoring(1)), "fed_tokens").rows(), 1);
    EXPECT_EQ(evaluate(favoring(1)).rows, std::vector<std::string>{"<bos>→<eos>"});
    EXPECT_EQ(matrix(evaluate(favoring(3)), "fed_tokens").rows(), 3);
}

TEST(Seq2seqTest, GreedyDecodingIsTeacherForcingWithTheWordsThatItPicked) {
    const Experiment greedy = with([](Experiment& e) { e.seq2seq.decode = Decode::greedy; });
    const Trace trace = evaluate(greedy);
    Experiment forced = translation();
    forced.weights.custom.emplace("tgt_in", CustomMatrix(matrix(trace, "fed_tokens").transpose()));
    const Trace again = evaluate(forced);
    for (const char* name : {"alignment", "decoder_state", "logits", "picked_tokens"})
        EXPECT_TRUE(equal(matrix(trace, name), matrix(again, name))) << name;
    EXPECT_EQ(again.find("loss"_stage), nullptr);
    EXPECT_EQ(again.rows, trace.rows);
}

TEST(Seq2seqTest, HardAlignmentIsOneAtTheLargestScore) {
    const Trace trace = evaluate(with([](Experiment& e) { e.weighting.normalizer = Normalization::hard; }));
    const auto alignment = matrix(trace, "alignment"), scores = matrix(trace, "alignment_scores");
    for (Eigen::Index i = 0; i < alignment.rows(); ++i) {
        Eigen::Index best = 0;
        scores.row(i).maxCoeff(&best);
        EXPECT_EQ(alignment(i, best), 1);
        EXPECT_EQ(alignment.row(i).sum(), 1);
        EXPECT_TRUE((matrix(trace, "decoder_context").row(i).array() ==
                     matrix(trace, "annotations").row(best).array())
                        .all());
    }
}

TEST(Seq2seqTest, LocalMLooksAroundTheStepsOwnPlace) {
    const Trace trace = evaluate(with([](Experiment& e) {
        e.weighting.normalizer = Normalization::local_m;
        e.weighting.local_window = 1;
    }));
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(matrix(trace, "alignment_center")(i, 0), i);
        for (int j = 0; j < 4; ++j) {
            const bool open = std::abs(i - j) <= 1;
            EXPECT_EQ(matrix(trace, "alignment_mask")(i, j), open);
            EXPECT_EQ(matrix(trace, "alignment")(i, j) > 0, open);
            EXPECT_EQ(matrix(trace, "alignment_masked")(i, j) == -INFINITY, !open);
        }
    }
}

TEST(Seq2seqTest, LocalPWeightsTheSoftmaxAroundAPredictedPlace) {
    const Trace trace =
        evaluate(with([](Experiment& e) { e.weighting.normalizer = Normalization::local_p; }));
    const auto center = matrix(trace, "alignment_center");
    Row state = matrix(trace, "initial_state").row(0);
    for (int i = 0; i < 4; ++i) {
        const Eigen::RowVectorXf units =
            (matrix(trace, "W_p") * state.transpose()).array().tanh().matrix().transpose();
        EXPECT_NEAR(center(i, 0), 4 / (1 + std::exp(-units.dot(matrix(trace, "v_p").row(0)))), 1e-5);
        for (int j = 0; j < 4; ++j) {
            const double gauss = std::exp(-std::pow(j - center(i, 0), 2) / 2);  // D = 2
            EXPECT_NEAR(matrix(trace, "alignment_gauss")(i, j), gauss, 1e-6);
            EXPECT_NEAR(matrix(trace, "alignment")(i, j), matrix(trace, "alignment_softmax")(i, j) * gauss,
                        1e-6);
        }
        state = matrix(trace, "decoder_state").row(i);
    }
}

TEST(Seq2seqTest, AMaskClosesSourceWordsAndNothingOpenGivesZeros) {
    const Trace trace = evaluate(with([](Experiment& e) {
        e.weighting.mask = {{MaskForm::valid, {0, 1, 2, 4}}};
    }));
    EXPECT_TRUE(trace.fully_masked(0));
    EXPECT_FALSE(trace.fully_masked(1));
    EXPECT_TRUE((matrix(trace, "alignment").row(0).array() == 0).all());
    EXPECT_TRUE((matrix(trace, "decoder_context").row(0).array() == 0).all());
    EXPECT_EQ(matrix(trace, "alignment")(1, 0), 1);
    EXPECT_EQ(refusal(with([](Experiment& e) {
                  e.weighting.mask = {{MaskForm::valid, {1, 2}}};
              })).empty(),
              false);
}

TEST(Seq2seqTest, OneWordOnEachSideIsASentence) {
    const Trace trace = evaluate(with([](Experiment& e) {
        e.input.text = "hello";
        e.input.text2 = "bonjour";
        e.input.dim = e.seq2seq.encoder_size = e.seq2seq.decoder_size = e.weighting.hidden = 1;
    }));
    EXPECT_EQ(trace.rows, (std::vector<std::string>{"<bos>→bonjour", "bonjour→<eos>"}));
    EXPECT_TRUE((matrix(trace, "alignment").array() == 1).all());
}

/// Everything else is the very same object as before.
TEST(Seq2seqTest, AChangeComputesTheStagesThatDependOnItAndNoOthers) {
    const std::set<std::string> words = {"logits", "log_probs", "loss", "picked_tokens", "probabilities"};
    const std::set<std::string> decoder = {"alignment_scores", "alignment", "decoder_context", "gate_r",
                                           "gate_z",           "gate_n",    "decoder_state"};
    const auto both = [](std::set<std::string> a, const std::set<std::string>& b) {
        a.insert(b.begin(), b.end());
        return a;
    };
    struct Edit {
        const char* name;
        std::function<void(Experiment&)> make;
        std::set<std::string> computed;
    };
    const std::vector<Edit> changes = {
        {"nothing", [](Experiment&) {}, {}},
        {"what attention alone reads", [](Experiment& e) { e.attention.heads = 3; }, {}},
        {"the output's bias",
         [](Experiment& e) { e.weights.custom.emplace("b_out", CustomMatrix(Matrix::Zero(1, 5))); },
         both({"b_out"}, words)},
        {"the normalizer", [](Experiment& e) { e.weighting.normalizer = Normalization::hard; },
         both(decoder, words)},
    };
    const Trace before = evaluate(translation());
    EXPECT_EQ(computed(before).size(), before.records.size());
    for (const Edit& change : changes) {
        const Trace after = evaluate(with(change.make), before);
        EXPECT_EQ(computed(after), change.computed) << change.name;
        for (const StageRecord& record : after.records)
            if (!record.computed) {
                EXPECT_EQ(record.stage.get(), before.find_named(record.stage->name()));
            }
    }
}

TEST(Seq2seqTest, AGreedyDecoderThatPicksTheSameWordsKeepsItsStates) {
    const auto greedy = [](float bias) {
        return with([&](Experiment& e) {
            e.seq2seq.decode = Decode::greedy;
            e.weights.custom.emplace("b_out", CustomMatrix(Matrix::Constant(1, 5, bias)));
        });
    };
    const Trace before = evaluate(greedy(0));
    // Every logit a little higher, none nearer to another.
    EXPECT_EQ(computed(evaluate(greedy(0.5), before)),
              (std::set<std::string>{"b_out", "fed_tokens", "logits", "log_probs", "picked_tokens",
                                     "probabilities"}));
}

TEST(Seq2seqTest, WhatIsReusedEqualsWhatIsComputedAgain) {
    const std::vector<std::function<void(Experiment&)>> changes = {
        [](Experiment& e) { e.input.text2 = "je suis"; },
        [](Experiment& e) { e.input.text = "a student"; },
        [](Experiment& e) { e.seq2seq.decode = Decode::greedy; },
        [](Experiment& e) { e.seq2seq.encoder = Encoder::forward; },
        [](Experiment& e) { e.weights.seed = 5; },
        [](Experiment& e) { e.input.vocabulary = VocabularyOrder::stable; },
        [](Experiment& e) { e.weighting.temperature = 2; },
        [](Experiment& e) { e.seq2seq.decoder_attention = DecoderAttention::none; },
        [](Experiment& e) { e.weighting.normalizer = Normalization::local_p; },
        [](Experiment& e) { e.mechanism = MechanismKind::attention; },
        [](Experiment& e) { e.seq2seq.alignment_state = AlignmentState::current; }};
    Trace previous;
    Experiment e = translation();
    for (const auto& change : changes) {
        change(e);
        const Trace anew = evaluate(e);
        const Trace taken = evaluate(e, previous);
        ASSERT_EQ(anew.records.size(), taken.records.size());
        for (std::size_t i = 0; i < anew.records.size(); ++i)
            EXPECT_TRUE(equal(anew.records[i].stage->buffer.host().head(0),
                              taken.records[i].stage->buffer.host().head(0)))
                << anew.records[i].stage->name();
        EXPECT_EQ(anew.rows, taken.rows);
        previous = taken;
        if (e.mechanism == MechanismKind::attention) e.mechanism = MechanismKind::seq2seq;
    }
}

TEST(Seq2seqTest, ThreadsDoNotChangeABit) {
    const Experiment large = with([](Experiment& e) {
        e.input.dim = e.seq2seq.encoder_size = e.seq2seq.decoder_size = e.weighting.hidden = 96;
        for (int i = 0; i < 6; ++i) e.input.text += " and " + std::string(1, static_cast<char>('a' + i));
    });
    const Trace one = evaluate(large, {}, {.threads = 1, .memory_limit = 0, .cancel = {}});
    const Trace four = evaluate(large, {}, {.threads = 4, .memory_limit = 0, .cancel = {}});
    for (const char* name : {"alignment", "decoder_state", "logits"})
        EXPECT_TRUE(equal(matrix(one, name), matrix(four, name))) << name;
}

TEST(Seq2seqTest, AStableVocabularyKeepsAWordsVector) {
    const auto stable = [](const char* text) {
        return evaluate(with([&](Experiment& e) {
            e.input.vocabulary = VocabularyOrder::stable;
            e.input.text = text;
        }));
    };
    const Trace a = stable("I am a student"), b = stable("a student");
    EXPECT_TRUE(
        (matrix(a, "source_embedding").row(3).array() == matrix(b, "source_embedding").row(1).array()).all());
    EXPECT_TRUE(equal(matrix(a, "dec.W_ih"), matrix(b, "dec.W_ih")));
}

TEST(Seq2seqTest, ItStopsWhenAskedTo) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(evaluate(translation(), {}, {.threads = 0, .memory_limit = 0, .cancel = stop.get_token()}),
                 Canceled);
}

TEST(Seq2seqTest, TooLargeATraceIsRefusedBeforeItIsMade) {
    EXPECT_THROW(evaluate(translation(), {}, {.threads = 0, .memory_limit = 1000, .cancel = {}}), Error);
    // The estimate is no less than what the stages take.
    std::size_t bytes = 0;
    for (const StageRecord& record : evaluate(translation()).records)
        bytes += record.stage->shape().size() * sizeof(float);
    EXPECT_GE(bytes_of(build(translation())), bytes);
}

TEST(Seq2seqTest, NonsenseIsRefusedInOneClearLine) {
    const std::vector<std::pair<std::function<void(Experiment&)>, std::string>> cases = {
        {[](Experiment& e) { e.seq2seq.max_steps = 0; }, "max-steps 0 is out of range: use 1 to 4096"},
        {[](Experiment& e) { e.seq2seq.encoder_size = 0; }, "encoder-size 0 is out of range"},
        {[](Experiment& e) { e.seq2seq.decoder_size = 2000; }, "decoder-size 2000 is out of range"},
        {[](Experiment& e) { e.input.text = " "; }, "the sentence has no tokens"},
        {[](Experiment& e) { e.input.text2 = " "; }, "the target sentence has no tokens"},
        {[](Experiment& e) { e.weights.custom.emplace("U_a", CustomMatrix(Matrix::Zero(7, 9))); },
         "U_a is 7 × 9, but must be 7 × 10"},
        {[](Experiment& e) { e.weights.custom.emplace("src", CustomMatrix(Matrix::Constant(1, 2, 10))); },
         "src 1 is not a row of the table: use 0 to 9"},
        {[](Experiment& e) { e.weights.custom.emplace("tgt_out", CustomMatrix(Matrix::Zero(1, 3))); },
         "tgt_out is 1 × 3, but must be 1 × 4"},
        {[](Experiment& e) { e.weights.custom.emplace("E_tgt", CustomMatrix(Matrix::Zero(4, 6))); },
         "E_tgt is 4 × 6, but needs 5 rows, one per word"},
    };
    for (const auto& [make, expected] : cases)
        EXPECT_EQ(refusal(with(make)).substr(0, expected.size()), expected);
}

TEST(Seq2seqTest, HeadsThatDoNotDivideTheEmbeddingDoNotMatter) {
    EXPECT_EQ(refusal(with([](Experiment& e) { e.attention.heads = 5; })), "");
}

TEST(Seq2seqTest, EveryStageHasAFormulaAndACaption) {
    for (const Normalization normalizer :
         {Normalization::softmax, Normalization::hard, Normalization::local_m, Normalization::local_p}) {
        const Trace trace = evaluate(with([&](Experiment& e) { e.weighting.normalizer = normalizer; }));
        for (const StageRecord& record : trace.records) {
            EXPECT_FALSE(formula(trace, *record.stage).empty()) << record.stage->name();
            EXPECT_FALSE(caption(trace, *record.stage).empty()) << record.stage->name();
        }
    }
    const Trace trace = evaluate(translation());
    EXPECT_EQ(formula(trace, *trace.find("gate_z"_stage)),
              "z = sigmoid( W_iz [y; c] + b_iz + W_hz s of the previous step + b_hz )");
    EXPECT_EQ(formula(trace, *trace.find("alignment"_stage)),
              "α = softmax( e ) over the source, each row sums to 1");
}

/// Every cell of every stage: the terms' sum is what they are said to give, the last step is the value.
TEST(Seq2seqTest, EveryProofLeadsToTheValue) {
    const std::vector<std::function<void(Experiment&)>> settings = {
        [](Experiment&) {},
        [](Experiment& e) { e.seq2seq.alignment_state = AlignmentState::current; },
        [](Experiment& e) { e.weighting.normalizer = Normalization::local_p; },
        [](Experiment& e) { e.weighting.normalizer = Normalization::hard; },
        [](Experiment& e) {
            e.weighting.temperature = 0.5;
            e.weighting.mask = {{MaskForm::valid, {0, 1, 2, 4}}};
        },
        [](Experiment& e) {
            e.seq2seq.encoder = Encoder::forward;
            e.seq2seq.decoder_attention = DecoderAttention::none;
        },
        [](Experiment& e) { e.seq2seq.decode = Decode::greedy; }};
    const std::set<std::string_view> with_terms = {
        "encoder_r_fwd",  "encoder_z_bwd",    "encoder_n_bwd", "h_fwd",        "h_bwd",
        "keys_projected", "gate_r",           "gate_z",        "gate_n",       "logits",
        "decoder_state",  "alignment_scores", "alignment",     "initial_state"};
    for (const auto& change : settings) {
        const Trace trace = evaluate(with(change));
        for (const StagePtr& stage : trace.stages())
            for (int i = 0; i < stage->shape().rows; ++i)
                for (int j = 0; j < stage->shape().columns; ++j) {
                    const Proof proof = explain(trace, *stage, 0, i, j);
                    const std::string where =
                        std::string(stage->name()) + " " + std::to_string(i) + "," + std::to_string(j);
                    EXPECT_EQ(proof.value, stage->buffer.at(0, i, j)) << where;
                    EXPECT_FALSE(proof.terms.empty() && proof.steps.empty() && proof.remark.empty()) << where;
                    EXPECT_EQ(!proof.terms.empty(), !proof.terms_title.empty()) << where;
                    EXPECT_NEAR(proof.terms_sum, proof.terms_result, 1e-5) << where;
                    if (with_terms.contains(stage->name())) {
                        EXPECT_FALSE(proof.terms.empty()) << where;
                    }
                    if (!proof.steps.empty()) {
                        EXPECT_EQ(static_cast<float>(proof.steps.back().value), proof.value) << where;
                    }
                }
    }
}

TEST(Seq2seqTest, TheStepsOfAGateAreTheFormula) {
    const Trace trace = evaluate(translation());
    const Proof r = explain(trace, *trace.find("gate_r"_stage), 0, 2, 1);
    ASSERT_EQ(r.steps.size(), 4u);
    EXPECT_NEAR(r.steps[0].value + r.steps[1].value, r.steps[2].value, 1e-9);
    EXPECT_NEAR(1 / (1 + std::exp(-r.steps[2].value)), r.value, 1e-6);
    const Proof n = explain(trace, *trace.find("encoder_n_bwd"_stage), 0, 1, 3);
    ASSERT_EQ(n.steps.size(), 5u);
    EXPECT_NEAR(n.steps[0].value + n.steps[2].value, n.steps[3].value, 1e-9);
    EXPECT_NEAR(std::tanh(n.steps[3].value), n.value, 1e-6);
}

TEST(Seq2seqTest, AnAlignmentIsExplainedByTheOperationsOfAttention) {
    const Trace trace = evaluate(with([](Experiment& e) {
        e.weighting.temperature = 0.5;
        e.weighting.normalizer = Normalization::local_p;
    }));
    const auto labels = [&](StageKey stage) {
        std::vector<std::string> all;
        for (const ProofStep& step : explain(trace, *trace.find(stage), 0, 1, 0).steps)
            all.push_back(step.label);
        return all;
    };
    using Labels = std::vector<std::string>;
    EXPECT_EQ(labels("alignment_center"_stage), (Labels{"v_p · tanh(W_p s)", "sigmoid", "× S = 4"}));
    EXPECT_EQ(labels("alignment_scaled"_stage), (Labels{"e", "÷ T 0.5"}));
    EXPECT_EQ(formula(trace, *trace.find("alignment_center"_stage)),
              "p = S · sigmoid( v_p · tanh( W_p s ) )");
}

TEST(Seq2seqTest, OnlyAlignmentsAreSummedUpAsWeights) {
    const Trace trace = evaluate(translation());
    EXPECT_TRUE(explain(trace, *trace.find("alignment"_stage), 0, 0, 0).summary);
    EXPECT_FALSE(explain(trace, *trace.find("gate_r"_stage), 0, 0, 0).summary);
}

}  // namespace
}  // namespace attnscope
