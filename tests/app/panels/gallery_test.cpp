// The gallery of examples, by mouse and keys.
#include "app/document/gallery.h"
#include "core/session/examples.h"
#include "tests/interface.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

class GalleryTest : public InterfaceTest {
protected:
    void open_gallery() {
        press(Key::f4);
        ASSERT_EQ(interaction().dialog, Dialog::gallery);
        workspace->gallery().wait();
        step_through_input();
        ASSERT_TRUE(workspace->gallery().known());
    }
    std::string shown_example() {
        const NamedExample* example = example_with_note(document().session().note);
        return example ? example->name : "";
    }
};

TEST_F(GalleryTest, EveryCardOpensItsExampleWithTheTellingCellLocked) {
    if (!window) GTEST_SKIP();
    std::size_t visited = 0;
    for (const ExampleCard& card : example_cards()) {
        if (!test::is_visited(visited++, 4)) continue;
        open_gallery();
        click(place_of("/cards_", {std::string(card.name)}));
        EXPECT_EQ(interaction().dialog, Dialog::none);
        EXPECT_EQ(shown_example(), card.name);
        EXPECT_EQ(document().session().presentation.locked, load_example(card.name).presentation.locked);
    }
}

TEST_F(GalleryTest, ArrowsGoFromCardToCardAndEnterOpensOne) {
    if (!window) GTEST_SKIP();
    open_gallery();
    press(Key::tab);
    press(Key::right);
    press(Key::right);
    press(Key::left);
    press(Key::enter);
    EXPECT_EQ(shown_example(), example_cards()[1].name);
}

TEST_F(GalleryTest, EscapeLeavesWhatWasOpen) {
    if (!window) GTEST_SKIP();
    const Session before = document().session();
    open_gallery();
    press(Key::escape);
    EXPECT_EQ(interaction().dialog, Dialog::none);
    EXPECT_EQ(document().session(), before);
}

TEST_F(GalleryTest, FitsIntoASmallWindow) {
    if (!window) GTEST_SKIP();
    for (const auto& [width, height, scale] :
         {std::tuple{1024, 700, 1.f}, std::tuple{640, 480, 1.f}, std::tuple{3840, 2160, 2.f}}) {
        if (test::k_sanitized && width > 2000) continue;  // more pixels show it nothing new
        start(load_example("causal"), width, height, scale);
        open_gallery();
        ImGuiWindow* dialog = find_window("Examples##dialog");
        ASSERT_NE(dialog, nullptr);
        EXPECT_GE(dialog->Pos.x, 0);
        EXPECT_GE(dialog->Pos.y, 0);
        EXPECT_LE(dialog->Pos.x + dialog->Size.x, static_cast<float>(width));
        EXPECT_LE(dialog->Pos.y + dialog->Size.y, static_cast<float>(height));
        place_of("/cards_", {std::string(example_cards().back().name)});
        press(Key::escape);
    }
}

TEST(ExamplePicturesTest, HaveTheColorOfEveryCell) {
    const ExamplePictures found = example_pictures({ThemeKind::dark}, nullptr, {});
    ASSERT_EQ(found.pictures.size(), example_cards().size());
    const auto index = static_cast<std::size_t>(
        std::ranges::find(example_cards(), "soft-and-hard", &ExampleCard::name) - example_cards().begin());
    const Image& image = found.pictures[index].image();
    EXPECT_EQ(image.width, image.height) << "8 × 8 weights";
    const int block = image.width / 8;
    const auto pixel = [&](int row, int column) {
        const auto at =
            static_cast<std::size_t>((row * block + block / 2) * image.width + column * block + block / 2) *
            3;
        return std::array{image.rgb[at], image.rgb[at + 1], image.rgb[at + 2]};
    };
    EXPECT_EQ(pixel(1, 7), (std::array<std::uint8_t, 3>{253, 231, 37})) << "1 is viridis' last color";
    EXPECT_EQ(pixel(1, 0), (std::array<std::uint8_t, 3>{68, 1, 84})) << "0 is its first";
}

TEST(ExamplePicturesTest, ClosedCellsHaveTheMasksColor) {
    const Theme& theme = theme_of(ThemeKind::light);
    const ExamplePictures found = example_pictures({ThemeKind::light}, nullptr, {});
    const auto index = static_cast<std::size_t>(
        std::ranges::find(example_cards(), "causal", &ExampleCard::name) - example_cards().begin());
    const Image& image = found.pictures[index].image();
    const auto at = static_cast<std::size_t>(image.width - 1) * 3;
    EXPECT_EQ(image.rgb[at], theme.masked.red);
    EXPECT_EQ(image.rgb[at + 1], theme.masked.green);
}

}  // namespace
}  // namespace attnscope
