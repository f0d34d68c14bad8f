#include "core/mechanism/seq2seq/step_words.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/session/examples.h"
#include "tests/sessions.h"

namespace attnscope {
namespace {

TEST(StepWordsTest, ATaughtStepSaysTheNextWordAndTheLastOneTheEnd) {
    Experiment e = test::test_session("random-alignment").experiment;
    e.input.text2 = "un deux un";
    const Trace trace = evaluate(e);
    EXPECT_EQ(said_words(trace), (std::vector<std::string>{"un", "deux", "un", "<eos>"}));
    EXPECT_EQ(trace.label(Axis::target_row, fed_word(trace, 0)), "<bos>");
    EXPECT_EQ(fed_word(trace, 3), said_word(trace, 2));
}

TEST(StepWordsTest, AGreedyStepSaysWhatItFindsLikeliest) {
    Experiment e = test::test_session("random-alignment").experiment;
    e.seq2seq.decode = Decode::greedy;
    const Trace trace = evaluate(e);
    for (int i = 0; i < trace.find("picked_tokens"_stage)->shape().rows; ++i)
        EXPECT_EQ(likely_words(trace, i, 1).front().word, said_word(trace, i)) << i;
}

TEST(StepWordsTest, LikelyWordsAreInOrderWithTheWantedOneAmongThem) {
    const Trace trace = evaluate(test::test_session("random-alignment").experiment);
    const Stage& probabilities = *trace.find("probabilities"_stage);
    const int all = probabilities.shape().columns;
    for (int i = 0; i < probabilities.shape().rows; ++i) {
        const auto every = likely_words(trace, i, all + 5);
        ASSERT_EQ(every.size(), static_cast<std::size_t>(all));
        double sum = 0;
        for (std::size_t k = 0; k < every.size(); ++k) {
            EXPECT_EQ(every[k].rank, static_cast<int>(k) + 1);
            EXPECT_DOUBLE_EQ(every[k].probability, probabilities.buffer.at(0, i, every[k].word));
            if (k > 0) {
                EXPECT_LE(every[k].probability, every[k - 1].probability);
            }
            sum += every[k].probability;
        }
        EXPECT_NEAR(sum, 1, 1e-5);  // of float32
        const auto some = likely_words(trace, i, 3);
        ASSERT_EQ(some.size(), 3u);
        EXPECT_EQ(some[0].word, every[0].word);
        EXPECT_EQ(some[1].word, every[1].word);
        const auto said = std::ranges::find(every, said_word(trace, i), &LikelyWord::word);
        const LikelyWord& last = said->rank <= 3 ? every[2] : *said;
        EXPECT_EQ(some[2].word, last.word);
        EXPECT_EQ(some[2].rank, last.rank);
    }
}

}  // namespace
}  // namespace attnscope
