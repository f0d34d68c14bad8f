// The steps of a proof are explained on hover.
#include "app/panels/inspector_column.h"

#include <algorithm>

#include "core/graph/explain.h"
#include "core/graph/stage_table.h"
#include "core/session/comparisons.h"
#include "tests/interface.h"
#include "tests/screen_texts.h"

namespace attnscope {
namespace {

class InspectorColumnTest : public InterfaceTest {
protected:
    static std::string without_spaces(std::string text) {
        std::erase(text, ' ');
        return text;
    }
    static bool shows(const std::string& help) {
        std::string all;
        for (const test::ScreenText& each : test::texts_on_screen()) all += each.text;
        return all.find(without_spaces(help).substr(0, 12)) != std::string::npos;
    }
    /// Points at a label of the inspector and expects its help.
    void expect_help(const std::string& label, const std::string& help) {
        ASSERT_NE(help, "") << label;
        const float left = find_window("/inspector_")->Pos.x;
        const std::vector<test::ScreenText> texts = test::texts_on_screen();
        const auto found = std::ranges::find_if(texts, [&](const test::ScreenText& each) {
            return each.box.Min.x > left && each.text == without_spaces(label);
        });
        ASSERT_NE(found, texts.end()) << label;
        EXPECT_FALSE(shows(help)) << label;
        move({found->box.Min.x + 2, (found->box.Min.y + found->box.Max.y) / 2});
        step();
        step();
        EXPECT_TRUE(shows(help)) << label;
        move({-10, -10});
        step();
    }
};

TEST_F(InspectorColumnTest, PointingAtALabelExplainsIt) {
    document().change([](Session& s) { s.presentation.lock("weights"_stage, Cell{1, 4}); });
    settle();
    const Trace& trace = *document().trace();
    const Proof proof = explain(trace, *trace.stage("weights"_stage), 0, 1, 4);
    int explained = 0;
    for (const ProofStep& step : proof.steps) {
        if (step.label != "÷ √16" && step.label != "exp" && step.label != "q · k") continue;
        expect_help(step.label, step.help);
        ++explained;
    }
    EXPECT_EQ(explained, 3);
}

TEST_F(InspectorColumnTest, TheSumOfWeightedValuesIsNotTakenForAWeight) {
    document().change([](Session& s) {
        s = *with_preset(s, *find_comparison_preset("no scaling"));
        s.presentation.view = ViewKind::compare;
        s.presentation.lock("context"_stage, Cell{1, 4});
    });
    settle();
    move({-10, -10});
    const Trace& trace = *document().trace();
    const Proof proof = explain(trace, *trace.stage("context"_stage), 0, 1, 4);
    expect_help("weight × value", proof.terms_title.help);
}

}  // namespace
}  // namespace attnscope
