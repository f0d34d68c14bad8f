#include "app/heatmap/image_textures.h"

#include <algorithm>
#include <vector>

#include "app/platform/imgui_compat.h"

namespace attnscope {
namespace {

gl::Texture2D texture_of(const Image& image) {
    std::vector<std::uint8_t> rgba;
    rgba.reserve(image.rgb.size() / 3 * 4);
    for (std::size_t i = 0; i < image.rgb.size(); i += 3)
        rgba.insert(rgba.end(), {image.rgb[i], image.rgb[i + 1], image.rgb[i + 2], 255});
    gl::Texture2D texture(gl::Texture2D::Format::rgba8, image.width, image.height);
    texture.upload(rgba);
    texture.smooth();
    return texture;
}

}  // namespace

void ImageTextures::begin_frame() {
    entries_.remove_if([](const Entry& entry) { return !entry.drawn; });
    for (Entry& entry : entries_) entry.drawn = false;
}

void ImageTextures::draw(ImDrawList& list, const CustomImage& image, ImVec2 top_left, ImVec2 bottom_right) {
    auto entry = std::ranges::find(entries_, image.identity(),
                                   [](const Entry& each) { return each.image.identity(); });
    if (entry == entries_.end())
        entry = entries_.insert(entries_.end(), {image, texture_of(image.image()), true});
    entry->drawn = true;
    list.AddImage(compat::texture_id(entry->texture.id()), top_left, bottom_right);
}

}  // namespace attnscope
