// The designed heads, on sentences that were written after the heads were designed: how often the largest
// weight of a word's row is where it should be.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/explain.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/session/examples.h"
#include "core/text/tokenizer.h"

namespace attnscope {
namespace {

/// A sentence, and what is expected of a head (p, a, v: pronoun, adjective, verb): "p its cat|dog": the row
/// of "its" is largest at "cat" or at "dog".
struct Case {
    std::string_view sentence;
    std::vector<std::string_view> expected;
};

const std::vector<Case> k_cases = {
    {"The nurse gave the old man his medicine before she went home",
     {"p his man", "p she nurse", "a old man", "v gave nurse", "v went she"}},
    {"My uncle's dog barks whenever it sees the postman", {"p it dog", "v barks dog", "v sees it"}},
    {"Susan dropped the glass, and it shattered on the hard floor",
     {"p it glass", "a hard floor", "v dropped Susan", "v shattered it"}},
    {"The clever fox escaped although the hunters were fast",
     {"a clever fox", "a fast hunters", "v escaped fox", "v were hunters"}},
    {"When the guests arrived, they were hungry and thirsty",
     {"p they guests", "a hungry they|guests", "a thirsty they|guests", "v arrived guests", "v were they"}},
    {"The city built a large bridge because the river is dangerous",
     {"a large bridge", "a dangerous river", "v built city", "v is river"}},
    {"David does not like spinach, but he eats it",
     {"p he David", "p it spinach", "v does David", "v like David", "v eats he"}},
    {"A yellow taxi stopped in front of the expensive hotel",
     {"a yellow taxi", "a expensive hotel", "v stopped taxi"}},
    {"The twins forgot their umbrellas, so they got wet",
     {"p their twins", "p they twins", "a wet they|twins", "v forgot twins", "v got they"}},
    {"Nobody believed the stranger until he showed his passport",
     {"p he stranger", "p his stranger", "v believed Nobody", "v showed he"}},
    {"The soup is too hot for the baby", {"a hot soup", "v is soup"}},
    {"Our new neighbors have a garden where roses grow",
     {"a new neighbors", "v have neighbors", "v grow roses"}},
    {"The princess kissed the green frog and it turned into a prince",
     {"p it frog", "a green frog", "v kissed princess", "v turned it"}},
    {"I read a long letter from my cousin, who lives in Berlin",
     {"a long letter", "v read I", "v lives who|cousin"}},
    {"Tom washed the car because it was dirty", {"p it car", "a dirty it|car", "v washed Tom", "v was it"}},
    {"The brave firefighters saved the cat from the burning house",
     {"a brave firefighters", "a burning house", "v saved firefighters"}},
    {"Alice met Robert at the station, and she hugged him",
     {"p she Alice", "p him Robert", "v met Alice", "v hugged she"}},
    {"Snow covered the mountains, and the roads were closed",
     {"a closed roads", "v covered Snow", "v were roads"}},
    {"The committee rejected the proposal since it would cost money",
     {"p it proposal", "v rejected committee", "v would it", "v cost it"}},
    {"A heavy storm destroyed the wooden barn last night",
     {"a heavy storm", "a wooden barn", "a last night", "v destroyed storm"}},
    {"The musicians played softly while the audience listened",
     {"v played musicians", "v listened audience"}},
    {"Grandmother tells funny stories, and we love them",
     {"p them stories", "a funny stories", "v tells Grandmother", "v love we"}},
    {"The lamp on the desk is broken, so I bought another one", {"a broken lamp", "v is lamp", "v bought I"}},
    {"These apples taste sweet because they are ripe",
     {"p they apples", "a sweet apples", "a ripe they|apples", "v taste apples", "v are they"}},
    {"The pilot landed the damaged plane, and the passengers thanked her",
     {"p her pilot", "a damaged plane", "v landed pilot", "v thanked passengers"}},
    {"Michael's sister never drinks black coffee", {"a black coffee", "v drinks sister"}},
    {"The tall boy with the blue jacket won the race", {"a tall boy", "a blue jacket", "v won boy"}},
    {"Sharks are dangerous, but they rarely attack people",
     {"p they Sharks", "a dangerous Sharks", "v are Sharks", "v attack they"}},
    {"The judge asked the witness whether she was certain",
     {"p she judge|witness", "a certain she", "v asked judge", "v was she"}},
    {"Because the shop was empty, the owner closed it early",
     {"p it shop", "a empty shop", "v was shop", "v closed owner"}},
};

/// Heads of the example designed-heads, from 0.
enum Head { pronoun, adjective, verb, previous_word, same_word };

Trace trace_of(std::string_view sentence) {
    Experiment e = load_example("designed-heads").experiment;
    e.input.text = sentence;
    return evaluate(e);
}

Eigen::RowVectorXf row_of(const Trace& trace, Head head, std::size_t word) {
    return trace.find("weights"_stage)->buffer.row(head, static_cast<int>(word));
}

/// The word with the largest weight, −1 if several share it.
int found_by(const Trace& trace, Head head, std::size_t word) {
    Eigen::Index at = 0;
    const Eigen::RowVectorXf row = row_of(trace, head, word);
    const float largest = row.maxCoeff(&at);
    return (row.array() == largest).count() == 1 ? static_cast<int>(at) : -1;
}

std::vector<std::string> split(std::string_view text, char at) {
    std::istringstream stream{std::string(text)};
    std::vector<std::string> parts;
    for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
    return parts;
}

struct Count {
    int found = 0, of = 0;
};

/// Counts, and says what was found instead.
void count(Count& counts, const Trace& trace, Head head, std::size_t word,
           const std::vector<std::string>& expected) {
    const int at = found_by(trace, head, word);
    const std::string found = at < 0 ? "nothing" : trace.rows[static_cast<std::size_t>(at)];
    const bool right = std::ranges::count(expected, found) > 0;
    counts.found += right;
    ++counts.of;
    if (!right)
        std::printf("    %s: %s -> %s\n", trace.experiment.input.text.c_str(), trace.rows[word].c_str(),
                    found.c_str());
}

/// The counts are lower bounds, which a better lexicon or better heads may raise.
TEST(DesignedHeadsTest, FindWhatTheySayOnThirtySentencesThatWereNotWrittenForThem) {
    ASSERT_EQ(k_cases.size(), 30u);
    std::array<Count, 3> counts{};
    for (const Case& each : k_cases) {
        const Trace trace = trace_of(each.sentence);
        for (const std::string_view expected : each.expected) {
            const std::vector<std::string> parts = split(expected, ' ');
            const auto head = Head(std::string_view("pav").find(parts[0]));
            const auto word = std::ranges::find(trace.rows, parts[1]) - trace.rows.begin();
            ASSERT_LT(word, std::ssize(trace.rows)) << each.sentence << ": " << expected;
            count(counts[head], trace, head, static_cast<std::size_t>(word), split(parts[2], '|'));
        }
    }
    std::printf("pronoun %d of %d, adjective %d of %d, verb's subject %d of %d\n", counts[pronoun].found,
                counts[pronoun].of, counts[adjective].found, counts[adjective].of, counts[verb].found,
                counts[verb].of);
    EXPECT_EQ(counts[pronoun].of, 22);
    EXPECT_GE(counts[pronoun].found, 20);
    EXPECT_EQ(counts[adjective].of, 33);
    EXPECT_GE(counts[adjective].found, 26);
    EXPECT_EQ(counts[verb].of, 56);
    EXPECT_GE(counts[verb].found, 49);
}

TEST(DesignedHeadsTest, FindTheWordBeforeAndTheSameWordAlways) {
    Count previous, same;
    for (const Case& each : k_cases) {
        const Trace trace = trace_of(each.sentence);
        for (std::size_t i = 0; i < trace.rows.size(); ++i) {
            const Eigen::RowVectorXf row = row_of(trace, same_word, i);
            float at_same = 0;
            for (std::size_t j = 0; j < trace.rows.size(); ++j)
                if (fold(trace.rows[j]) == fold(trace.rows[i])) at_same += row(static_cast<Eigen::Index>(j));
            same.found += at_same > 0.5f;
            ++same.of;
            if (i == 0) continue;
            previous.found += found_by(trace, previous_word, i) + 1 == static_cast<int>(i);
            ++previous.of;
        }
    }
    std::printf("previous word %d of %d, same word %d of %d\n", previous.found, previous.of, same.found,
                same.of);
    EXPECT_EQ(previous.found, previous.of);
    EXPECT_EQ(same.found, same.of);
}

TEST(DesignedHeadsTest, LetAWordWithoutAQuestionLookAtAllWordsAlike) {
    const Trace trace = trace_of("The black cat slept");
    for (const Head head : {pronoun, adjective, verb}) {
        const Eigen::RowVectorXf row = row_of(trace, head, 0);
        EXPECT_EQ(row.minCoeff(), row.maxCoeff()) << head;
    }
}

TEST(DesignedHeadsTest, ProveAScoreByTheNamesOfFeatures) {
    const Trace trace = trace_of("The black cat did not cross the street because it was tired");
    const auto term_of = [&](const StageInfo* stage, int head, int row, int column, std::string_view label) {
        const Proof proof = explain(trace, *trace.find(stage), head, row, column);
        const auto term = std::ranges::find(proof.terms, label, &ProofTerm::label);
        EXPECT_NE(term, proof.terms.end()) << label;
        return term == proof.terms.end() ? ProofTerm{} : *term;
    };
    const ProofTerm score = term_of("scores"_stage, pronoun, 9, 2, "animal");  // it → cat
    EXPECT_NEAR(score.left, 1, 1e-4);
    EXPECT_NEAR(score.right, 1, 1e-4);
    const ProofTerm key = term_of("key"_stage, 0, 2, 14, "animal");  // exact: it is not yet rotated
    EXPECT_EQ(key.left, 1);
    EXPECT_EQ(key.right, 1);
    EXPECT_EQ(trace.column_label(*trace.find("embedding"_stage), 1), "noun");
    EXPECT_EQ(trace.column_label(*trace.find("query_heads"_stage), 14, pronoun), "animal");
    EXPECT_EQ(trace.row_label(*trace.find("W_q"_stage), 14), "animal");
}

TEST(DesignedHeadsTest, AreDesignedAndOthersAreNot) {
    for (const char* name : {"designed-heads", "transformer-heads", "multi-head", "image-attention"})
        EXPECT_TRUE(is_designed(load_example(name).experiment)) << name;
    EXPECT_FALSE(is_designed(Experiment()));
    EXPECT_FALSE(is_designed(load_example("learned-reverse").experiment));
}

/// The row and column, from 0, of the patch that a word looks at most.
std::pair<int, int> patch_of(const Trace& trace, std::string_view word) {
    const auto row = static_cast<std::size_t>(std::ranges::find(trace.rows, word) - trace.rows.begin());
    Eigen::Index patch = 0;
    trace.find("weights"_stage)->buffer.row(0, static_cast<int>(row)).maxCoeff(&patch);
    return {static_cast<int>(patch) / 7, static_cast<int>(patch) % 7};
}

TEST(DesignedHeadsTest, FindThePatchesOfTheDrawnPicturesThings) {
    const Trace trace = evaluate(load_example("image-attention").experiment);
    // Where the things are drawn, in patches of 32 pixels: core/image/drawn_picture.cpp.
    const auto [sun_row, sun_column] = patch_of(trace, "sun");
    EXPECT_LE(sun_row, 1);
    EXPECT_GE(sun_column, 5);
    const auto [tree_row, tree_column] = patch_of(trace, "tree");
    EXPECT_TRUE(tree_row >= 2 && tree_row <= 4 && tree_column >= 4 && tree_column <= 6);
    const auto [house_row, house_column] = patch_of(trace, "house");
    EXPECT_TRUE(house_row >= 2 && house_row <= 5 && house_column >= 0 && house_column <= 3);
}

}  // namespace
}  // namespace attnscope
