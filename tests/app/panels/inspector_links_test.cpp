// The inspector's list of the strongest links.
#include <set>

#include "app/document/link_finder.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "tests/drawn_sessions.h"
#include "tests/interface.h"
#include "tests/screen_texts.h"

namespace attnscope {
namespace {

class InspectorLinksTest : public InterfaceTest {
protected:
    const std::vector<Link>& links() { return document().links()->links; }
    std::string id_of(const Link& link) {
        return "link " + std::to_string(link.row) + " " + std::to_string(link.column);
    }
};

TEST_F(InspectorLinksTest, AClickLocksALinkAndZoomsToIt) {
    Session session = load_example("scaled-dot-product");
    session.experiment.input.text.clear();
    for (int i = 0; i < 400; ++i) session.experiment.input.text += "w" + std::to_string(i * i % 97) + " ";
    session.experiment.input.tokenizer = TokenizerKind::whitespace;
    start(session);
    ASSERT_TRUE(document().links());
    ASSERT_EQ(links().size(), 50U);
    const Link link = links()[3];
    click(place_of("inspector", {id_of(link)}));
    EXPECT_EQ(document().presentation().locked, (Cell{link.row, link.column}));
    EXPECT_TRUE(focused().sees(cell_place(link.row, link.column)));
    EXPECT_GT(focused().pitch_x(), 6);
}

TEST_F(InspectorLinksTest, TheyAreOfTheMatrixAndTheHeadInFocus) {
    start(test::four_heads());
    for (const StageKey key : {StageKey("scores"_stage), StageKey("weights"_stage)})
        for (const HeadChoice& head :
             {HeadChoice{HeadChoice::Kind::one, 2}, HeadChoice{HeadChoice::Kind::mean}}) {
            document().change([&](Session& s) {
                s.presentation.focus(key);
                s.presentation.head = head;
            });
            settle();
            ASSERT_TRUE(document().links()) << stage_name(key);
            const Stage& stage = *document().trace()->find(key);
            const bool is_mean = head.kind == HeadChoice::Kind::mean;
            EXPECT_EQ(document().links()->of,
                      (LinksRequest{document().trace(), document().trace()->stage(key), is_mean ? -1 : 2}));
            const Buffer& values = is_mean ? stage.buffer.mean() : stage.buffer;
            const std::vector<float>& largest = values.row_largest(is_mean ? 0 : 2);
            EXPECT_EQ(links().front().value, *std::ranges::max_element(largest)) << stage_name(key);
        }
}

TEST_F(InspectorLinksTest, AStageOfFeaturesAndAMaskHaveNone) {
    for (const StageKey key : {StageKey("query"_stage), StageKey("context"_stage), StageKey("mask"_stage)}) {
        document().change([&](Session& s) { s.presentation.focus(key); });
        settle();
        EXPECT_FALSE(document().links()) << stage_name(key);
    }
}

TEST_F(InspectorLinksTest, OtherViewsAskForNone) {
    EXPECT_TRUE(document().links());
    document().change([](Session& s) { s.presentation.view = ViewKind::heads; });
    settle();
    EXPECT_FALSE(document().links());
}

TEST_F(InspectorLinksTest, TheSameTwoWordsAreListedOnce) {
    Session session = load_example("scaled-dot-product");
    session.experiment.input.text = "one two one two one two one Two";
    start(session);
    EXPECT_EQ(links().size(), 4U) << "one and two, each to each";
}

TEST_F(InspectorLinksTest, OfLongWordsBothAreSeen) {
    Session session = load_example("scaled-dot-product");
    session.experiment.input.text.clear();
    for (int i = 0; i < 4; ++i)
        session.experiment.input.text += "incomprehensibilities counterrevolutionaries ";
    start(session);
    std::multiset<std::string> seen, expected;
    const auto is_link = [](const std::string& text) {
        return text.starts_with("in") || text.starts_with("co");
    };
    for (const test::ScreenText& each : test::texts_on_screen()) {
        const std::size_t arrow = each.text.find("→");
        if (!is_link(each.text) || arrow == std::string::npos) continue;
        const std::string row = each.text.substr(0, arrow), column = each.text.substr(arrow + 3);
        if (row.find("…") != row.npos && column.find("…") != column.npos)
            seen.insert(row.substr(0, 2) + row.substr(row.size() - 2) + column.substr(0, 2) +
                        column.substr(column.size() - 2));
    }
    for (const Link& each : links())
        expected.insert(std::string(each.row % 2 == 0 ? "ines" : "coes") +
                        (each.column % 2 == 0 ? "ines" : "coes"));
    EXPECT_EQ(expected.size(), 4U);
    EXPECT_EQ(seen, expected);
}

}  // namespace
}  // namespace attnscope
