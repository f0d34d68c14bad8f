// The window compared with stored pictures of it: every visible cell of every matrix exactly, all else with a
// tolerance, since FreeType and the drivers render text slightly differently. ATTNSCOPE_UPDATE=1 updates the
// stored pictures.
#include "core/graph/stage_table.h"
#include "core/picture/color_scale.h"
#include "tests/drawn_sessions.h"
#include "tests/interface.h"
#include "tests/window_picture.h"

namespace attnscope {
namespace {

using namespace test;

class WindowPicturesTest : public InterfaceTest {
protected:
    void SetUp() override {}

    /// One point in each cell in sight that shows a value.
    std::vector<ExactPixel> cells() {
        std::vector<ExactPixel> found;
        const Trace& trace = *document().trace();
        const Stage* mask = trace.find("mask"_stage);
        for (const SeenMatrix& matrix : seen_matrices()) {
            const std::string name(matrix.stage->name());
            const bool hatched = name == "mask" || name == "masked" || name == "weights";
            for (int i = 0; i < matrix.drawn.rows; ++i)
                for (int j = 0; j < matrix.drawn.columns; ++j) {
                    const ImVec2 at = bare_point(matrix, i, j);
                    // The hatch of a closed cell belongs to the tolerance.
                    if (!matrix.sees(at) || (hatched && mask->buffer.at(0, i, j) == 0)) continue;
                    found.push_back({static_cast<int>(at.x), static_cast<int>(at.y),
                                     name + " " + std::to_string(i + 1) + ", " + std::to_string(j + 1)});
                }
        }
        return found;
    }

    void show(const Session& session, int width, int height) {
        start(session, width, height);
        if (!window) return;
        if (!window->host().layer().font_warning().empty())
            GTEST_SKIP() << window->host().layer().font_warning();
        play({MouseMove{2, 2}});
        interaction().notice = {};
        seen = without_alpha(picture());
        points = cells();
        EXPECT_GT(points.size(), 500U);
    }

    void compare(const std::string& name) {
        if (IsSkipped()) return;
        expect_stored_picture(ATTNSCOPE_SOURCE_DIR "/tests/pictures/" + name + ".png", seen, points);
    }

    Pixels seen;
    std::vector<ExactPixel> points;
};

TEST_F(WindowPicturesTest, DarkWithScaledDotProducts) {
    show(load_example("scaled-dot-product"), 1600, 1000);
    compare("dark");
}

TEST_F(WindowPicturesTest, LightAndSmallWithACausalMask) {
    Session session = load_example("causal");
    session.presentation.theme = ThemeKind::light;
    show(session, 1024, 700);
    compare("causal-light-small");
}

TEST_F(WindowPicturesTest, TheMeanOfSeveralHeads) {
    Session session = test::four_heads();
    session.presentation.head = {HeadChoice::Kind::mean};
    show(session, 1600, 1000);
    compare("multi-head-mean");
}

TEST_F(WindowPicturesTest, OneStepOfOneCellsColorIsADifference) {
    show(load_example("scaled-dot-product"), 1600, 1000);
    if (IsSkipped()) return;
    ASSERT_EQ(difference(seen, seen, points), "");
    const SeenMatrix weights = focused();
    const ColorScale scale =
        color_scale(*document().trace(), *weights.stage, HeadChoice{}, document().presentation());
    const float value = weights.stage->buffer.at(0, 4, 2);
    const int index = scale.index(value);
    const Rgb8 next = scale.map->colors[static_cast<std::size_t>(index < 255 ? index + 1 : 254)];
    const Rgb8 before = scale.color(value);
    Pixels changed = seen;
    const ImVec2 from = weights.at(2, 4), to = weights.at(3, 5);
    int repainted = 0;
    for (int y = static_cast<int>(from.y); y < static_cast<int>(to.y); ++y)
        for (int x = static_cast<int>(from.x); x < static_cast<int>(to.x); ++x) {
            std::uint8_t* at = const_cast<std::uint8_t*>(first_byte_of(changed, x, y));
            if (at[0] != before.red || at[1] != before.green || at[2] != before.blue) continue;
            at[0] = next.red;
            at[1] = next.green;
            at[2] = next.blue;
            ++repainted;
        }
    ASSERT_GT(repainted, 100);
    EXPECT_NE(difference(seen, changed, points).find("weights 5, 3"), std::string::npos)
        << difference(seen, changed, points);
}

TEST_F(WindowPicturesTest, TextMayDifferALittleAndNoMore) {
    show(load_example("scaled-dot-product"), 1600, 1000);
    if (IsSkipped()) return;
    const auto with_line_of_status_changed = [&](int lines) {
        Pixels changed = seen;
        for (int y = seen.height - lines; y < seen.height; ++y)
            for (int x = 0; x < seen.width; ++x)
                const_cast<std::uint8_t*>(first_byte_of(changed, x, y))[0] ^= 0x80;
        return changed;
    };
    EXPECT_EQ(difference(seen, with_line_of_status_changed(15), points), "");
    EXPECT_NE(difference(seen, with_line_of_status_changed(25), points), "");
}

}  // namespace
}  // namespace attnscope
