// What the gallery says of the examples.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/session/examples.h"

namespace attnscope {
namespace {

TEST(ExampleCardsTest, ThereIsOneForEachExample) {
    std::vector<std::string> named;
    for (const ExampleCard& card : example_cards()) named.emplace_back(card.name);
    std::vector<std::string> names = example_names();
    std::ranges::sort(named);
    std::ranges::sort(names);
    EXPECT_EQ(named, names);
}

TEST(ExampleCardsTest, ThoseOfAThemeFollowEachOther) {
    std::set<std::string_view> ended;
    std::string_view theme;
    for (const ExampleCard& card : example_cards()) {
        if (card.theme == theme) continue;
        EXPECT_FALSE(ended.contains(card.theme)) << card.theme;
        ended.insert(theme);
        theme = card.theme;
    }
}

TEST(ExampleCardsTest, TitlesAreShortAndPromisesAreSentences) {
    std::set<std::string_view> titles;
    for (const ExampleCard& card : example_cards()) {
        EXPECT_LE(card.title.size(), 40u) << card.title;
        EXPECT_TRUE(titles.insert(card.title).second) << card.title << " stands twice";
        EXPECT_TRUE(card.promise.ends_with('.')) << card.promise;
        EXPECT_LE(card.promise.size(), 100u) << card.promise;
    }
}

TEST(ExampleCardsTest, EveryExampleLocksACellOfWhatItShows) {
    for (const auto& [name, session] : all_examples()) {
        ASSERT_TRUE(session.presentation.locked) << name;
        const Trace trace = evaluate(session.experiment);
        const Stage& stage = focused_stage(trace, session.presentation.stage);
        const auto& [row, column] = *session.presentation.locked;
        EXPECT_LT(row, stage.shape().rows) << name;
        EXPECT_LT(column, stage.shape().columns) << name;
    }
}

/// Row and column from 1, of the weights of the head that the example shows.
float weight(const std::string& name, int row, int column) {
    const Session session = load_example(name);
    const Trace trace = evaluate(session.experiment);
    return trace.find("weights"_stage)->buffer.at(session.presentation.head.head, row - 1, column - 1);
}

TEST(ExampleCardsTest, PromisesHold) {
    EXPECT_NEAR(weight("scaled-dot-product", 2, 5), 0.86, 0.005) << "“you” gives 86 % to “to”";
    for (int i = 1; i <= 8; ++i) EXPECT_GT(weight("self-attention", i, i), 0.9f) << "mostly to itself";
    EXPECT_GT(weight("designed-heads", 10, 3), 0.5f) << "“it” finds the cat";
    EXPECT_EQ(weight("valid-length", 2, 6), 0) << "padding gets no weight";
    EXPECT_EQ(weight("masked-softmax", 1, 3), 0) << "closed cells are exactly 0";
    EXPECT_EQ(weight("soft-and-hard", 2, 8), 1) << "one key has the whole weight";
}

}  // namespace
}  // namespace attnscope
