// The thread that draws what an export would write.
#include "app/document/previewer.h"

#include <gtest/gtest.h>

#include "core/mechanism/evaluate.h"
#include "core/session/examples.h"

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

}  // namespace
}  // namespace attnscope
