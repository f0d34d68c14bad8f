#include "core/picture/head_names.h"

#include <gtest/gtest.h>

#include "core/export/export.h"
#include "core/mechanism/evaluate.h"
#include "core/session/examples.h"

namespace attnscope {
namespace {

TEST(HeadNamesTest, StandHeadByHeadOneLayerAfterTheOther) {
    Presentation presentation;
    presentation.head_names = "first ; ;third;  in layer 2";
    EXPECT_EQ(head_name(presentation, 3, 0, 0), "first");
    EXPECT_EQ(head_name(presentation, 3, 1, 0), "first");
    EXPECT_EQ(head_name(presentation, 3, 1, 1), "");
    EXPECT_EQ(head_name(presentation, 3, 1, 2), "third");
    EXPECT_EQ(head_name(presentation, 3, 2, 0), "in layer 2");
    EXPECT_EQ(head_name(presentation, 3, 2, 1), "");
    EXPECT_EQ(head_title(presentation, 3, 0, 2), "head 3: third");
    EXPECT_EQ(head_title(presentation, 3, 0, 1), "head 2");
    EXPECT_EQ(head_title({}, 3, 0, 1), "head 2");
}

TEST(HeadNamesTest, AreInThePictureOfAllHeads) {
    Session session = load_example("designed-heads");
    session.presentation.compose = Compose::heads;
    const Trace trace = evaluate(session.experiment);
    const auto pixels_of = [&](const std::string& names) {
        session.presentation.head_names = names;
        const ExportItem item = plan_export(
            trace,
            {.stages = {"weights"}, .head = {}, .formats = {FileFormat::png}, .compose = Compose::heads})[0];
        return export_pixels(trace, session, item).bytes;
    };
    EXPECT_EQ(pixels_of(";"), pixels_of(""));
    EXPECT_NE(pixels_of("pronoun → noun"), pixels_of(""));
}

}  // namespace
}  // namespace attnscope
