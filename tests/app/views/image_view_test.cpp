// The picture in the window, and how it is opened.
#include <filesystem>

#include "app/actions/files.h"
#include "core/files/file.h"
#include "core/files/png.h"
#include "core/image/patches.h"
#include "tests/drawn_sessions.h"
#include "tests/image_fixture.h"
#include "tests/interface.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

class ImageViewTest : public InterfaceTest {
protected:
    void SetUp() override {
        Session session = test::words_and_patches();
        session.presentation.view = ViewKind::image;
        start(std::move(session));
    }
    /// The middle of a patch of the large picture; rows and columns from 0.
    ImVec2 patch_place(int row, int column) {
        const ImRect picture = area_of("attnscope", {"picture"});
        const float pitch = picture.GetWidth() / 7;
        return {picture.Min.x + (static_cast<float>(column) + 0.5f) * pitch,
                picture.Min.y + (static_cast<float>(row) + 0.5f) * pitch};
    }
    bool runs(std::string_view id) {
        workspace->run(*find_action(id));
        settle();
        return true;
    }
};

TEST_F(ImageViewTest, PointingAtAPatchFindsItsWeight) {
    for (const Cell patch : {Cell{0, 0}, Cell{3, 3}, Cell{6, 2}}) {
        move(patch_place(patch.row, patch.column));
        ASSERT_TRUE(interaction().hovered);
        EXPECT_EQ(interaction().hovered->stage, "weights"_stage);
        EXPECT_EQ(interaction().hovered->cell, (Cell{0, patch.row * 7 + patch.column}));
    }
}

TEST_F(ImageViewTest, AClickLocksThePatchAndAnotherLetsGo) {
    const ImVec2 place = patch_place(2, 4);
    click(place);
    EXPECT_EQ(document().presentation().locked, (Cell{0, 2 * 7 + 4}));
    EXPECT_EQ(document().presentation().stage, "weights"_stage);
    click(place);
    EXPECT_FALSE(document().presentation().locked);
}

TEST_F(ImageViewTest, ALockedWordIsTheOneThatLooks) {
    document().change([](Session& s) { s.presentation.locked = Cell{5, 0}; });
    settle();
    move(patch_place(1, 1));
    ASSERT_TRUE(interaction().hovered);
    EXPECT_EQ(interaction().hovered->cell.row, 5);
}

TEST_F(ImageViewTest, ThePictureIsDrawnAndCoveredByTheWeights) {
    step(true);
    step(true);
    const gl::Pixels soft = window->pixels();
    document().change([](Session& s) { s.experiment.weighting.normalizer = Normalization::hard; });
    settle();
    const gl::Pixels hard = picture();
    EXPECT_NE(soft, hard);
    document().change([](Session& s) { s.presentation.locked = Cell{9, 0}; });
    settle();
    EXPECT_NE(picture(), hard);
}

TEST_F(ImageViewTest, TabsAndKeysOpenAndCloseIt) {
    click(place_of("attnscope", {"pipeline"}));
    EXPECT_EQ(document().presentation().view, ViewKind::pipeline);
    click(place_of("attnscope", {"image"}));
    EXPECT_EQ(document().presentation().view, ViewKind::image);
    press(Key::digit_1);
    EXPECT_EQ(document().presentation().view, ViewKind::pipeline);
    press(Key::digit_7);
    EXPECT_EQ(document().presentation().view, ViewKind::image);
}

TEST_F(ImageViewTest, WithoutAPictureTheTabIsDisabled) {
    start(load_example("scaled-dot-product"));
    click(place_of("attnscope", {"image"}));
    EXPECT_EQ(document().presentation().view, ViewKind::pipeline);
    press(Key::digit_7);
    EXPECT_EQ(document().presentation().view, ViewKind::pipeline);
    // A session that says so all the same shows the pipeline.
    document().change([](Session& s) { s.presentation.view = ViewKind::image; });
    settle();
    EXPECT_EQ(focused().stage->name(), "weights");
}

TEST_F(ImageViewTest, ActionsUseAndRemoveThePicture) {
    Session session;
    session.experiment.input.text2 = "its place is taken";
    start(session);
    ASSERT_FALSE(find_action("edit.remove_picture")
                     ->enabled({document(), interaction(), *std::make_unique<SavedState>(), {}}));
    runs("edit.drawn_picture");
    EXPECT_TRUE(document().experiment().input.image == drawn_picture());
    EXPECT_EQ(document().experiment().input.text2, "");
    EXPECT_EQ(document().presentation().view, ViewKind::image);
    EXPECT_EQ(document().problem(), "");
    runs("edit.remove_picture");
    EXPECT_FALSE(document().experiment().input.image);
    EXPECT_EQ(document().presentation().view, ViewKind::pipeline);
    press(Key::z, {.ctrl = true});
    EXPECT_TRUE(document().experiment().input.image);
}

TEST_F(ImageViewTest, WhereNothingLooksAPictureIsRefusedWithTheReason) {
    start(load_example("scalar-cross-attention"));
    SavedState saved;
    const ActionContext context{document(), interaction(), saved, {}};
    EXPECT_FALSE(find_action("edit.drawn_picture")->enabled(context));
    const test::TemporaryFolder folder;
    const std::string photo = folder.file("photo.png");
    write_file(photo, png_of(gradient(4, 4)));
    play({Drop{{photo}}});
    EXPECT_FALSE(document().experiment().input.image);
    EXPECT_NE(interaction().notice.text.find("embedding of the keys is custom"), std::string::npos)
        << interaction().notice.text;
}

TEST_F(ImageViewTest, ThePanelChoosesAndCutsThePicture) {
    start(load_example("scaled-dot-product"));
    click(field_of("Picture", {"##choice"}));
    choose("drawn");
    EXPECT_TRUE(document().experiment().input.image == drawn_picture());
    click(field_of("Grid", {"number", "drag"}));
    push(pressing(Key::a, {.ctrl = true}));
    push(typing("5"));
    play(pressing(Key::enter));
    EXPECT_EQ(document().experiment().input.grid, 5);
    EXPECT_EQ(document().trace()->columns.size(), 25U);
    drag(field_of("Patch size", {"number", "drag"}), {60, 0});
    EXPECT_GT(document().experiment().input.patch_size, 8);
    click(field_of("Picture", {"##choice"}));
    choose("none");
    EXPECT_FALSE(document().experiment().input.image);
}

TEST_F(ImageViewTest, ADroppedPictureIsLookedAtAndASessionIsOpened) {
    const test::TemporaryFolder folder;
    Image image{30, 20, {}};
    for (int i = 0; i < 3 * 30 * 20; ++i) image.rgb.push_back(static_cast<std::uint8_t>(i * 11));
    const std::string photo = folder.file("photo.png"), exported = folder.file("exported.png");
    write_file(photo, png_of(image));
    start(load_example("scaled-dot-product"));
    play({Drop{{photo}}});
    ASSERT_TRUE(document().experiment().input.image);
    EXPECT_EQ(document().experiment().input.image->image(), central_square(image));
    EXPECT_EQ(document().presentation().view, ViewKind::image);
    EXPECT_EQ(interaction().notice.text, "loaded the picture " + photo);

    Session causal = load_example("causal");
    const PngText text{std::string(k_png_session_key), to_json(causal)};
    write_file(exported,
               encode_png({.width = 30, .height = 20, .channels = 3, .bytes = image.rgb}, {&text, 1}));
    play({Drop{{exported}}});
    EXPECT_TRUE(document().experiment() == causal.experiment);
    // As a picture it is one all the same.
    const std::function<void(const std::string&)> copy = [](const std::string&) {};
    SavedState saved;
    ActionContext context{document(), interaction(), saved, copy};
    take_opened(context, read_to_open(exported, true));
    EXPECT_EQ(document().experiment().input.image->image(), central_square(image));

    write_file(photo, png_of(image).substr(0, 60));
    play({Drop{{photo}}});
    EXPECT_TRUE(interaction().notice.problem);
    EXPECT_EQ(document().experiment().input.image->image(), central_square(image)) << "nothing is lost";
}

TEST_F(ImageViewTest, EverySizeOfWindowAndGridIsDrawn) {
    for (const auto& [width, height] : {std::pair(1024, 700), std::pair(640, 400), std::pair(2560, 1440)})
        for (const int grid : {1, 7, 32}) {
            Session session = test::words_and_patches();
            session.presentation.view = ViewKind::image;
            session.experiment.input.grid = grid;
            session.experiment.input.patch_size = 2;
            session.experiment.weighting.mask = {{MaskForm::window, {2, 2}}};
            start(std::move(session), width, height);
            picture();
            EXPECT_EQ(document().problem(), "");
        }
}

}  // namespace
}  // namespace attnscope
