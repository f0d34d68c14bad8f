// Finding words of the text, and going to one.
#include "app/actions/find_text.h"

#include "app/document/find_tokens.h"

#include <gtest/gtest.h>

#include "core/session/examples.h"

namespace attnscope {
namespace {

const std::string k_text = "The cat saw the dog. The dog saw a Catfish, and the cat ran";
//                           0   1   2   3   4 5   6   7   8 9 10    11 12  13  14  15

class FindTextTest : public ::testing::Test {
protected:
    void SetUp() override {
        document.change([](Session& session) {
            session.experiment.input.text = k_text;
            session.presentation.locked.reset();
        });
        document.settle();
    }
    ActionContext context() { return {document, interaction, saved, copy}; }
    std::vector<int> tokens(std::string_view text, std::size_t most = 100) {
        std::vector<int> found;
        for (const PointedToken& token :
             find_tokens(*document.trace(), document.presentation(), text, most)) {
            EXPECT_FALSE(token.of_keys);
            found.push_back(token.token);
        }
        return found;
    }
    int locked_query() {
        const auto& locked = document.presentation().locked;
        return locked ? locked->row : -1;
    }

    Document document{load_example("scaled-dot-product"), {}, {}};
    Interaction interaction;
    SavedState saved;
    std::function<void(const std::string&)> copy = [](const std::string&) {};
};

TEST_F(FindTextTest, AWordIsFoundInAnyCaseAndByItsBeginning) {
    EXPECT_EQ(tokens("DOG"), (std::vector{4, 7}));
    EXPECT_EQ(tokens("cat"), (std::vector{1, 10, 14}));
    EXPECT_EQ(tokens("catf"), std::vector{10});
    EXPECT_EQ(tokens("at"), std::vector<int>()) << "only the beginning of a word counts";
    EXPECT_EQ(tokens(""), std::vector<int>());
    EXPECT_EQ(tokens("cat", 2), (std::vector{1, 10}));
}

TEST_F(FindTextTest, WordsStandInARow) {
    EXPECT_EQ(tokens("the cat"), (std::vector{0, 13}));
    EXPECT_EQ(tokens("dog ."), std::vector{4});
    EXPECT_EQ(tokens("dog saw a c"), std::vector{7});
    EXPECT_EQ(tokens("ca saw"), std::vector<int>()) << "only the last word may be incomplete";
    EXPECT_EQ(tokens("ran the"), std::vector<int>()) << "the text does not begin again after its end";
}

TEST_F(FindTextTest, ANumberIsAToken) {
    EXPECT_EQ(tokens("#1"), std::vector{0});
    EXPECT_EQ(tokens("#16"), std::vector{15});
    for (const char* none : {"#17", "#0", "#-1", "#", "#1x", "#99999999999"})
        EXPECT_EQ(tokens(none), std::vector<int>()) << none;
}

TEST_F(FindTextTest, ItBeginsAfterTheLockedTokenAndGoesAround) {
    ActionContext c = context();
    go_to_token(c.document, c.interaction, {10});
    EXPECT_EQ(locked_query(), 10);
    EXPECT_EQ(tokens("cat"), (std::vector{14, 1, 10}));
}

TEST_F(FindTextTest, AnEntryShowsTheWordsAroundAndGoesThere) {
    const std::vector<SearchEntry> found = find_text(context(), "catfish", 10);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].title, "… The dog saw a Catfish , and the cat ran");
    EXPECT_EQ(found[0].kind, "token 11");
    const StageKey focused = document.presentation().stage;
    ActionContext c = context();
    found[0].run(c);
    EXPECT_EQ(locked_query(), 10);
    EXPECT_EQ(document.presentation().stage, focused);
    ASSERT_TRUE(interaction.cell_to_show);
    EXPECT_EQ(interaction.cell_to_show->cell.row, 10);
}

TEST_F(FindTextTest, TheNextAndThePreviousOneFollow) {
    ActionContext c = context();
    interaction.found_text = "cat";
    for (const int expected : {1, 10, 14, 1}) {
        find_again(c, 1);
        EXPECT_EQ(locked_query(), expected);
    }
    for (const int expected : {14, 10, 1, 14}) {
        find_again(c, -1);
        EXPECT_EQ(locked_query(), expected);
    }
    interaction.found_text = "whale";
    find_again(c, 1);
    EXPECT_EQ(interaction.notice.text, "“whale” does not occur in the text");
    EXPECT_EQ(locked_query(), 14);
    interaction.found_text.clear();
    find_again(c, 1);
    EXPECT_EQ(interaction.dialog, Dialog::find);
}

TEST_F(FindTextTest, TheKeysOfASecondSentenceAreFoundToo) {
    document.change([](Session& session) { session.experiment.input.text2 = "a cat and a whale"; });
    document.settle();
    const std::vector<PointedToken> found =
        find_tokens(*document.trace(), document.presentation(), "whale", 10);
    ASSERT_EQ(found, (std::vector<PointedToken>{{4, true}}));
    ActionContext c = context();
    go_to_token(c.document, c.interaction, found.front());
    ASSERT_TRUE(document.presentation().locked);
    EXPECT_EQ(document.presentation().locked->column, 4);
    document.change([](Session& session) { session.presentation.locked.reset(); });
    EXPECT_EQ(find_tokens(*document.trace(), document.presentation(), "cat", 10),
              (std::vector<PointedToken>{{1, false}, {10, false}, {14, false}, {1, true}}));
}

TEST_F(FindTextTest, TheNextOneMayBeAKey) {
    document.change([](Session& session) { session.experiment.input.text2 = "a cat and a cat"; });
    document.settle();
    ActionContext c = context();
    interaction.found_text = "cat";
    const std::vector<PointedToken> ring = {{1, false}, {10, false}, {14, false}, {1, true}, {4, true}};
    for (std::size_t i = 0; i < 12; ++i) {
        find_again(c, 1);
        EXPECT_EQ(interaction.found_token, ring[i % ring.size()]) << i;
    }
    for (std::size_t i = 10; i > 0; --i) {
        find_again(c, -1);
        EXPECT_EQ(interaction.found_token, ring[i % ring.size()]) << i;
    }
}

TEST_F(FindTextTest, TheSearchListsTokensLast) {
    const std::vector<SearchEntry> found = search(context(), "mask");
    EXPECT_NE(found.back().kind, "token 1");
    document.change([](Session& session) { session.experiment.input.text = "a mask of gold"; });
    document.settle();
    const std::vector<SearchEntry> with_text = search(context(), "mask");
    EXPECT_EQ(with_text.back().title, "a mask of gold");
    EXPECT_EQ(with_text.back().kind, "token 2");
    EXPECT_EQ(with_text.size(), found.size() + 1);
}

}  // namespace
}  // namespace attnscope
