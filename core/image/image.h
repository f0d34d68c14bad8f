// The picture that attention is computed over.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace attnscope {

/// Pixels row by row from the top, three bytes (red, green, blue) each.
struct Image {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> rgb;

    const std::uint8_t* pixel(int x, int y) const {
        return rgb.data() + 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                                 static_cast<std::size_t>(x));
    }
    bool operator==(const Image&) const = default;
};

/// The image of an experiment. Shared, because experiments are copied freely; compared by value.
class CustomImage {
public:
    explicit CustomImage(Image image) : image_(std::make_shared<const Image>(std::move(image))) {}
    const Image& image() const { return *image_; }
    const std::shared_ptr<const Image>& shared() const { return image_; }
    /// Differs whenever the image may differ; equal only for the same image.
    const void* identity() const { return image_.get(); }
    bool operator==(const CustomImage& other) const {
        return image_ == other.image_ || *image_ == *other.image_;
    }

private:
    std::shared_ptr<const Image> image_;
};

/// The built-in picture, 224 × 224: a house, a tree, a person and the sun over a meadow. Drawn in integer
/// arithmetic, so that it is the same everywhere.
const CustomImage& drawn_picture();

}  // namespace attnscope
