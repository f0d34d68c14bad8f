// The thread that draws the pictures of the examples, so that the window never waits.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "app/document/newest.h"
#include "core/image/image.h"
#include "core/picture/theme.h"

namespace attnscope {

struct GalleryRequest {
    ThemeKind theme;
    bool operator==(const GalleryRequest&) const = default;
};

/// What each example shows first, in the order of example_cards(): a square block of pixels for each cell,
/// colored as in the window.
struct ExamplePictures {
    std::vector<CustomImage> pictures;
};

/// Throws Canceled.
ExamplePictures example_pictures(GalleryRequest request, const ExamplePictures* before,
                                 const std::stop_token& cancel);

class Gallery : public Newest<GalleryRequest, ExamplePictures> {
public:
    explicit Gallery(std::function<void()> wake) : Newest(example_pictures, std::move(wake)) {}
};

}  // namespace attnscope
