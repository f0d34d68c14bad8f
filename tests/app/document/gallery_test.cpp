// The thread that draws the pictures of the examples.
#include "app/document/gallery.h"

#include <gtest/gtest.h>

#include <set>

#include "core/canceled.h"
#include "core/session/examples.h"

namespace attnscope {
namespace {

TEST(GalleryThreadTest, EveryExampleHasAPictureOfSeveralColors) {
    Gallery gallery([] {});
    gallery.request({ThemeKind::light});
    gallery.request({ThemeKind::dark});
    gallery.wait();
    ASSERT_TRUE(gallery.update());
    ASSERT_EQ(gallery.known()->pictures.size(), example_cards().size());
    for (const CustomImage& picture : gallery.known()->pictures) {
        const std::vector<std::uint8_t>& rgb = picture.image().rgb;
        std::set<std::uint8_t> reds;
        for (std::size_t i = 0; i < rgb.size(); i += 3) reds.insert(rgb[i]);
        EXPECT_GT(reds.size(), 1u);
    }
}

TEST(GalleryThreadTest, ACanceledRequestGivesNothing) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(example_pictures({ThemeKind::dark}, nullptr, stop.get_token()), Canceled);
}

}  // namespace
}  // namespace attnscope
