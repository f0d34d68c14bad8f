// The thread that draws what an export would write.
#include "app/document/previewer.h"

#include <gtest/gtest.h>

#include "core/files/file.h"
#include "core/files/png.h"
#include "core/mechanism/evaluate.h"
#include "core/session/examples.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

PreviewRequest request_for(const Session& session, ExportRequest files, int side = 300) {
    return {std::make_shared<const Trace>(evaluate(session.experiment)), session, std::move(files), side};
}

TEST(PreviewerTest, ShowsTheFileAtItsOwnSizeIfItFits) {
    const Session session = load_example("scaled-dot-product");
    Previewer previewer({});
    const PreviewRequest request = request_for(session, {.stages = {"weights"}, .head = {}}, 4000);
    previewer.request(request);
    previewer.wait();
    ASSERT_TRUE(previewer.update());
    const Preview& preview = *previewer.known();
    ASSERT_TRUE(preview.image) << preview.problem;
    const auto items = plan_export(*request.trace, request.files);
    EXPECT_EQ(preview.image->image().rgb, export_pixels(*request.trace, session, items.front()).bytes);
}

TEST(PreviewerTest, IsAtMostAsLargeAsAskedAndSaysTheSizeOfTheFile) {
    Session session = load_example("scaled-dot-product");
    session.presentation.width = 84;
    Previewer previewer({});
    previewer.request(request_for(session, {.stages = {"weights"}, .head = {}}));
    previewer.wait();
    previewer.update();
    const Preview& preview = *previewer.known();
    ASSERT_TRUE(preview.image) << preview.problem;
    EXPECT_LE(std::max(preview.image->image().width, preview.image->image().height), 300);
    EXPECT_TRUE(preview.facts.starts_with("84 × ")) << preview.facts;
    EXPECT_NE(preview.facts.find(" mm · 992 × "), std::string::npos) << preview.facts;
}

TEST(PreviewerTest, OfAVeryLongTextItKeepsTheSurveyOfItsPicture) {
    Session session = load_example("scaled-dot-product");
    PreviewRequest request = request_for(session, {.stages = {"weights"}, .head = {}});
    request.trace = std::make_shared<const Trace>(
        evaluate(session.experiment, {}, {.on_demand = {.most_cells = 0, .kept_cells = 4}}));
    const OnDemandValues& weights = *request.trace->find("weights"_stage)->buffer.on_demand();
    Previewer previewer({});
    for (const int side : {300, 200}) {
        request.side = side;
        previewer.request(request);
        previewer.wait();
        ASSERT_TRUE(previewer.update());
        ASSERT_TRUE(previewer.known()->image) << previewer.known()->problem;
        EXPECT_TRUE(weights.is_surveyed(0));
    }
    previewer.forget();
    EXPECT_FALSE(weights.is_surveyed(0));
}

TEST(PreviewerTest, WhatCannotBeDrawnIsAProblemAndDataHaveNoPicture) {
    Session session = load_example("scaled-dot-product");
    session.presentation.compose = Compose::compare;
    Previewer previewer({});
    previewer.request(request_for(session, {.stages = {"weights"}, .head = {}, .compose = Compose::compare}));
    previewer.wait();
    previewer.update();
    EXPECT_NE(previewer.known()->problem.find("nothing is pinned"), std::string::npos);
    session.presentation.compose = Compose::none;
    previewer.request(
        request_for(session, {.stages = {"weights"}, .head = {}, .formats = {FileFormat::csv}}));
    previewer.wait();
    previewer.update();
    EXPECT_FALSE(previewer.known()->image);
    EXPECT_EQ(previewer.known()->problem, "");
}

/// A film of seeds.
PreviewRequest film_request(Compose compose, std::vector<FileFormat> formats, int frames) {
    Session session = load_example("scaled-dot-product");
    session.presentation.sweep = Sweep::seed;
    session.presentation.compose = compose;
    PreviewRequest request = request_for(
        session, {.stages = {"weights"}, .formats = std::move(formats), .compose = compose}, 8000);
    request.film_frames = frames;
    return request;
}

TEST(PreviewerTest, OfAFilmItShowsTheFirstPictureThatIsWritten) {
    const test::TemporaryFolder folder;
    Previewer previewer({});
    for (const Compose compose : {Compose::none, Compose::film}) {
        const PreviewRequest request = film_request(compose, {FileFormat::png}, 3);
        previewer.request(request);
        previewer.wait();
        ASSERT_TRUE(previewer.update());
        const Preview& preview = *previewer.known();
        ASSERT_TRUE(preview.image) << preview.problem;
        const std::vector<std::string> files =
            export_film(request.session, {request.files, 3}, folder.path(), {});
        EXPECT_EQ(preview.image->image().rgb, decode_png(read_file(files.front()), files.front()).bytes)
            << files.front();
    }
}

TEST(PreviewerTest, AFilmsFramesAreKeptWhereOnlyItsStyleChanges) {
    PreviewRequest request = film_request(Compose::film, {FileFormat::png}, 3);
    const Preview first = previewed(request, nullptr, {});
    request.session.presentation.colormap = ColormapKind::ink;
    const Preview recolored = previewed(request, &first, {});
    EXPECT_EQ(recolored.film, first.film);
    EXPECT_NE(recolored.image->image().rgb, first.image->image().rgb);
    request.session.experiment.weights.seed = Seed(7);
    EXPECT_NE(previewed(request, &recolored, {}).film, first.film);
}

TEST(PreviewerTest, AFilmWithoutPicturesHasNoPreviewAndAGifsIsItsFirstFrame) {
    EXPECT_FALSE(previewed(film_request(Compose::none, {FileFormat::csv}, 2), nullptr, {}).image);
    EXPECT_EQ(previewed(film_request(Compose::none, {FileFormat::gif}, 2), nullptr, {}).image->image().rgb,
              previewed(film_request(Compose::none, {FileFormat::png}, 2), nullptr, {}).image->image().rgb);
    PreviewRequest none = film_request(Compose::none, {FileFormat::png}, 2);
    none.session.presentation.sweep = Sweep::none;
    EXPECT_NE(previewed(none, nullptr, {}).problem.find("no training run"), std::string::npos);
}

}  // namespace
}  // namespace attnscope
