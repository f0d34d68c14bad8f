// The thread that finds lines, and when the document asks it.
#include "app/document/line_finder.h"

#include <gtest/gtest.h>

#include "app/document/document.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "tests/drawn_sessions.h"

namespace attnscope {
namespace {

TEST(LineFinderTest, FindsTheLinesOfTheNewestRequest) {
    const auto trace = std::make_shared<const Trace>(evaluate(test::four_heads().experiment));
    const StagePtr stage = trace->stage("weights"_stage);
    LineFinder finder([] {});
    finder.request({trace, stage, {0}, 0.9});
    finder.request({trace, stage, {1, -1}, 0.6});
    finder.wait();
    ASSERT_TRUE(finder.update());
    const FoundLines& found = *finder.known();
    EXPECT_EQ(found.problem, "");
    EXPECT_EQ(found.of.mass, 0.6);
    EXPECT_EQ(found.lines.heads, (std::vector{1, -1}));
    EXPECT_EQ(found.lines.strongest, find_mass_lines(*trace, *stage, {1, -1}, 0.6).strongest);
}

TEST(LineFinderTest, TheDocumentAsksWhileTheViewIsOpen) {
    Document document(test::four_heads(), {}, [] {});
    document.settle();
    EXPECT_FALSE(document.lines()) << "the pipeline is open";
    const auto change = [&](const std::function<void(Session&)>& edit) {
        document.change(edit);
        document.settle();
    };
    change([](Session& s) { s.presentation.view = ViewKind::lines; });
    ASSERT_TRUE(document.lines());
    EXPECT_EQ(document.lines()->lines.heads, std::vector{0});
    EXPECT_EQ(document.lines()->of.mass, k_default_mass);
    document.draw_lines_of({1, 3});
    change([](Session& s) { s.presentation.mass = 0.5; });
    EXPECT_EQ(document.lines()->lines.heads, (std::vector{1, 3}));
    EXPECT_EQ(document.lines()->of.mass, 0.5);
    change([](Session& s) { s.experiment.attention.heads = 2; });
    EXPECT_EQ(document.lines()->of.trace, document.trace());
    EXPECT_EQ(document.lines()->lines.heads, std::vector{1}) << "there is no head 4";
    change([](Session& s) { s.presentation.view = ViewKind::heads; });
    EXPECT_FALSE(document.lines());
}

}  // namespace
}  // namespace attnscope
