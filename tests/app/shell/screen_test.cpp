// The interface at all window sizes, scales and sentence lengths.
#include <set>

#include "tests/drawn_sessions.h"
#include "tests/interface.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

struct Screen {
    int width, height;
    float scale;
};

void PrintTo(const Screen& screen, std::ostream* out) {
    *out << screen.width << " × " << screen.height << " at " << screen.scale;
}

class ScreenTest : public InterfaceTest, public ::testing::WithParamInterface<Screen> {
protected:
    void SetUp() override {
        Session session = test::four_heads();
        session.experiment.weighting.mask = {{MaskForm::causal, {}}};
        start(session, GetParam().width, GetParam().height, GetParam().scale);
    }
};

TEST_P(ScreenTest, DrawsDarkAndLight) {
    workspace->run(*find_action("view.dark"));
    const gl::Pixels dark = picture();
    workspace->run(*find_action("view.light"));
    const gl::Pixels light = picture();
    EXPECT_NE(dark, light);
    EXPECT_NE(dark.at(dark.width / 2, 3), light.at(light.width / 2, 3));
    EXPECT_TRUE(document().trace());
}

/// In large windows every fifth picture is rasterized: it is ImGui that knows what a size does.
TEST_P(ScreenTest, DrawsEveryDialogAndPanel) {
    const std::size_t every = GetParam().width > 1024 ? 5 : 1;
    for (std::size_t i = 0; i < actions().size(); ++i) {
        const Action& action = actions()[i];
        if (action.id == "file.quit") continue;
        workspace->run(action);
        settle();
        window->set_theme(workspace->theme());
        step(i % every == 0);
        if (interaction().dialog != Dialog::none) {
            EXPECT_NE(find_window("##dialog"), nullptr) << action.id;
        }
        interaction().dialog = Dialog::none;
    }
}

TEST_P(ScreenTest, DialogsFitIntoTheWindow) {
    for (const Dialog dialog : {Dialog::open, Dialog::save, Dialog::exporting, Dialog::keys, Dialog::about,
                                Dialog::palette, Dialog::gallery, Dialog::parity}) {
        interaction().open(dialog);
        settle();
        workspace->parity().wait();
        settle();
        const ImGuiWindow* shown = find_window("##dialog");
        ASSERT_TRUE(shown && shown->Active);
        EXPECT_GE(shown->Pos.x, 0);
        EXPECT_GE(shown->Pos.y, 0);
        EXPECT_LE(shown->Pos.x + shown->Size.x, static_cast<float>(GetParam().width));
        EXPECT_LE(shown->Pos.y + shown->Size.y, static_cast<float>(GetParam().height));
        EXPECT_LE(shown->ScrollMax.x, 1) << shown->Name << " is wider than the window";
        press(Key::escape);
    }
}

TEST_P(ScreenTest, ThumbnailsAreShownWholeOrNotAtAll) {
    for (const StageInfo* stage : {"embedding"_stage, "scores"_stage, "weights"_stage, "output"_stage}) {
        document().change([&](Session& s) { s.presentation.stage = stage; });
        settle();
        step();
        std::set<std::string_view> seen;
        for (const SeenMatrix& matrix : seen_matrices()) {
            if (!seen.insert(matrix.stage->name()).second) break;  // the focus begins
            EXPECT_GE(matrix.drawn.top_left.x + 1, matrix.drawn.clip_min.x) << matrix.stage->name();
            EXPECT_LE(matrix.drawn.bottom_right.x, matrix.drawn.clip_max.x + 1) << matrix.stage->name();
        }
    }
}

using SmallScreenTest = InterfaceTest;

TEST_F(SmallScreenTest, HeadRangeAndColorsAreWithinReach) {
    std::size_t row = 0;
    for (const std::string& name : example_names())
        for (const int width : {1024, 1100, 1280, 1600}) {
            if (!test::is_visited(row++, 15)) continue;
            SCOPED_TRACE(name + " " + std::to_string(width));
            start(load_example(name), width, 700);
            ImGuiWindow* root = find_window("attnscope");
            const auto& drawn = drawn_controls();
            const auto there = [&](const char* id) {
                return std::ranges::find(drawn, id_of(*root, {id})) != drawn.end();
            };
            EXPECT_TRUE(there("more") || (there("head") && there("range") && there("colors")));
        }
}

TEST_F(SmallScreenTest, TheFoldedMenuSetsTheRange) {
    Session session = test::four_heads();
    session.presentation.head = {HeadChoice::Kind::mean};
    start(std::move(session), 1024, 700);
    click(place_of("attnscope", {"more"}));
    click(place_of("##Popup", {"range"}));
    click(place_of("##Menu", {"all heads"}));
    EXPECT_EQ(document().presentation().range.kind, RangeChoice::Kind::all);
}

TEST_F(SmallScreenTest, EightTokensHaveCellsForNumbers) {
    for (const StageInfo* stage : {"weights"_stage, "scores"_stage, "masked"_stage}) {
        Session session = load_example("scaled-dot-product");
        session.presentation.stage = stage;
        start(session, 1024, 700);
        const float number = text_width(window->host().layer().fonts().mono_small, "-0.000");
        EXPECT_GE(focused().pitch_x(), number + 3) << stage->name;
        EXPECT_GE(focused().pitch_y(), 16) << stage->name;
    }
}

TEST_F(SmallScreenTest, TheFocusedThumbnailStaysInSightWhenStagesComeBeforeIt) {
    for (const int width : {1024, 1280, 1600})
        for (const StageInfo* stage : {"embedding"_stage, "scores"_stage, "weights"_stage, "output"_stage}) {
            Session session = test::four_heads();
            session.experiment.attention.heads = 1;
            session.experiment.input.dim = 64;
            session.presentation.stage = stage;
            start(session, width, 700);
            for (const int heads : {2, 4, 8, 16, 1, 16}) {
                document().change([&](Session& s) { s.experiment.attention.heads = heads; }, "drag heads");
                document().settle();
                for (int frame = 0; frame < 3; ++frame) step();
                ASSERT_FALSE(document().stale()) << document().problem();
                int drawn = 0;
                for (const SeenMatrix& matrix : seen_matrices()) drawn += matrix.stage->info == stage;
                EXPECT_EQ(drawn, 2) << stage->name << " with " << heads << " heads, " << width << " wide";
            }
        }
}

TEST_F(SmallScreenTest, TheLargestScaleLeavesPanelsAndStrip) {
    for (const auto& [width, height] : {std::pair{1024, 700}, {1280, 720}, {1366, 768}, {1920, 1080}}) {
        const float scale = scale_that_fits(3, static_cast<float>(width), static_cast<float>(height));
        EXPECT_GT(scale, 1.2f);
        start(load_example("scaled-dot-product"), width, height, scale);
        for (const char* part : {"/experiment_", "/inspector_", "/strip_"}) {
            const ImGuiWindow* panel = find_window(part);
            EXPECT_TRUE(panel && panel->WasActive) << part << width << " × " << height << " at " << scale;
        }
    }
    EXPECT_EQ(scale_that_fits(1.5, 2560, 1440), 1.5f);
}

/// The screens to test. One code draws every size: a sanitizer sees enough in two of them.
std::vector<Screen> screens() {
    if (test::k_sanitized) return {{1024, 700, 1}, {2560, 1440, 2}};
    return {{1024, 700, 0.5f}, {1024, 700, 0.75f},  {1024, 700, 1},  {1024, 700, 2},
            {1024, 700, 3},    {2560, 1440, 0.75f}, {2560, 1440, 1}, {2560, 1440, 2},
            {2560, 1440, 3},   {3840, 2160, 0.5f},  {3840, 2160, 4}};
}

INSTANTIATE_TEST_SUITE_P(Sizes, ScreenTest, ::testing::ValuesIn(screens()), [](const auto& screen) {
    return std::to_string(screen.param.width) + "x" + std::to_string(screen.param.height) + "at" +
           std::to_string(static_cast<int>(screen.param.scale * 100));
});

class LengthTest : public InterfaceTest {
protected:
    void show(const std::string& sentence) {
        Session session = load_example("scaled-dot-product");
        session.experiment.input.text = sentence;
        start(session);
        ASSERT_FALSE(document().stale()) << document().problem();
        for (const StagePtr& stage : document().trace()->stages()) {
            if (stage->info->unit == Unit::token_id) continue;
            document().change([&](Session& s) { s.presentation.stage = stage->key(); });
            const gl::Pixels pixels = picture();
            EXPECT_EQ(focused().stage, stage.get());
            EXPECT_EQ(pixels.width, 1600);
        }
    }
};

TEST_F(LengthTest, ThreeHundredWordsDraw) {
    std::string sentence;
    for (int i = 0; i < 300; ++i) sentence += "word" + std::to_string(i % 83) + " ";
    show(sentence);
    EXPECT_EQ(document().trace()->rows.size(), 300U);
    document().change([](Session& s) { s.presentation.stage = "weights"_stage; });
    settle();
    move(cell_place(150, 299));
    ASSERT_TRUE(interaction().hovered);
    EXPECT_NEAR(interaction().hovered->cell.row, 150, 1);
    EXPECT_NEAR(interaction().hovered->cell.column, 299, 1);
}

TEST_F(LengthTest, OneTokenDraws) {
    show("alone");
    document().change([](Session& s) { s.presentation.stage = "weights"_stage; });
    settle();
    click(cell_place(0, 0));
    EXPECT_EQ(document().presentation().locked, (Cell{0, 0}));
    picture();
}

TEST_F(LengthTest, NoTokenDraws) {
    Session session;
    session.experiment.input.text.clear();
    start(session);
    picture();
    EXPECT_FALSE(document().trace());
    for (const Action& action : actions())
        if (action.id != "file.quit") press(action.shortcut.key, action.shortcut.mods);
    picture();
}

TEST_F(LengthTest, AFullyMaskedRowDraws) {
    Session session = load_example("scaled-dot-product");
    session.experiment.weighting.mask = {{MaskForm::valid, {0}}};
    start(session);
    click(cell_place(0, 0));
    picture();
    EXPECT_TRUE(document().trace()->fully_masked(0));
}

}  // namespace
}  // namespace attnscope
