// Films as GIF files, read back by giflib.
#include "core/files/gif.h"

#include <gif_lib.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>

#include "core/error.h"

namespace attnscope {
namespace {

using Color = std::array<std::uint8_t, 3>;

Pixels plain(int width, int height, Color color) {
    Pixels pixels{width, height, 3, {}};
    for (int i = 0; i < width * height; ++i)
        pixels.bytes.insert(pixels.bytes.end(), color.begin(), color.end());
    return pixels;
}

struct Close {
    void operator()(GifFileType* gif) const { DGifCloseFile(gif, nullptr); }
};
using Gif = std::unique_ptr<GifFileType, Close>;

Gif read(std::string_view& rest) {
    const auto take = [](GifFileType* gif, GifByteType* bytes, int count) {
        auto& from = *static_cast<std::string_view*>(gif->UserData);
        const std::size_t taken = std::min(from.size(), static_cast<std::size_t>(count));
        std::memcpy(bytes, from.data(), taken);
        from.remove_prefix(taken);
        return static_cast<int>(taken);
    };
    Gif gif(DGifOpen(&rest, take, nullptr));
    if (gif && DGifSlurp(gif.get()) == GIF_ERROR) gif.reset();
    return gif;
}

Color color_at(const SavedImage& image, int x, int y) {
    const GifByteType index = image.RasterBits[y * image.ImageDesc.Width + x];
    const GifColorType& color = image.ImageDesc.ColorMap->Colors[index];
    return {color.Red, color.Green, color.Blue};
}

int delay_of(GifFileType& gif, int frame) {
    GraphicsControlBlock block;
    return DGifSavedExtensionToGCB(&gif, frame, &block) == GIF_OK ? block.DelayTime : -1;
}

/// Expects two colors to be near: giflib quantizes each channel to five bits.
void expect_near(Color actual, Color expected) {
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(actual[c], expected[c], 8) << c;
}

TEST(GifTest, EveryFrameIsThereForItsTime) {
    const std::array frames{plain(7, 5, {200, 0, 0}), plain(4, 3, {0, 120, 0}), plain(7, 5, {0, 0, 240})};
    const std::string bytes = encode_gif(frames, 200);
    std::string_view rest = bytes;
    const Gif gif = read(rest);
    ASSERT_TRUE(gif);
    EXPECT_TRUE(rest.empty());
    EXPECT_EQ(gif->SWidth, 7);
    EXPECT_EQ(gif->SHeight, 5);
    ASSERT_EQ(gif->ImageCount, 3);
    for (int i = 0; i < 3; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const Color expected{frames[at].bytes[0], frames[at].bytes[1], frames[at].bytes[2]};
        expect_near(color_at(gif->SavedImages[i], 0, 0), expected);
        // A smaller frame is filled up with its own color.
        expect_near(color_at(gif->SavedImages[i], 6, 4), expected);
        EXPECT_EQ(delay_of(*gif, i), i == 2 ? 80 : 20) << "hundredths of a second";
    }
    EXPECT_NE(bytes.find("NETSCAPE2.0"), std::string::npos) << "it begins again";
}

TEST(GifTest, PixelsKeepTheirPlaces) {
    Pixels frame = plain(3, 2, {0, 0, 0});
    for (std::size_t c = 0; c < 3; ++c) frame.bytes[15 + c] = 255;  // row 2, column 3
    const std::string bytes = encode_gif(std::array{frame}, 100);
    std::string_view rest = bytes;
    const Gif gif = read(rest);
    ASSERT_TRUE(gif);
    for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 3; ++x)
            expect_near(color_at(gif->SavedImages[0], x, y),
                        x == 2 && y == 1 ? Color{255, 255, 255} : Color{0, 0, 0});
}

TEST(GifTest, InvalidFilmsAreRefused) {
    EXPECT_THROW(encode_gif({}, 100), Error);
    Pixels gray = plain(2, 2, {0, 0, 0});
    gray.channels = 1;
    EXPECT_THROW(encode_gif(std::array{gray}, 100), Error);
    Pixels wide = plain(1, 1, {0, 0, 0});
    wide.width = 70000;
    wide.bytes.resize(210000);
    EXPECT_THROW(encode_gif(std::array{wide}, 100), Error);
    EXPECT_THROW(encode_gif(std::array{plain(2, 2, {0, 0, 0})}, 100, [](double) { return false; }), Canceled);
}

}  // namespace
}  // namespace attnscope
