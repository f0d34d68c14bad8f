// Pictures: read from files, cut into patches.
#include "core/files/decode_image.h"

#include <gtest/gtest.h>
#include <jpeglib.h>
#include <zlib.h>

#include <cmath>
#include <cstdlib>

#include "core/error.h"
#include "core/files/png.h"
#include "core/image/patches.h"
#include "tests/image_fixture.h"

namespace attnscope {
namespace {

std::string big_endian(std::size_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
    return bytes;
}

std::string chunk(const std::string& type, const std::string& data) {
    const std::string checked = type + data;
    const auto sum =
        crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
    return big_endian(data.size()) + checked + big_endian(sum);
}

/// A PNG of any kind; `rows` begin with their filter byte each.
std::string raw_png(int width, int height, char depth, char color_type, const std::string& rows,
                    const std::string& palette = {}) {
    std::string packed(compressBound(rows.size()), '\0');
    uLongf size = packed.size();
    compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
             rows.size());
    packed.resize(size);
    const std::string header = big_endian(std::size_t(width)) + big_endian(std::size_t(height)) + depth +
                               color_type + std::string(3, '\0');
    return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + (palette.empty() ? "" : chunk("PLTE", palette)) +
           chunk("IDAT", packed) + chunk("IEND", "");
}

/// `inks` 1 (gray), 3 or 4 bytes a pixel; `exif` is the content of an APP1 marker.
std::string jpeg_of(int width, int height, int inks, const std::vector<std::uint8_t>& bytes,
                    const std::string& exif = {}, bool progressive = false) {
    jpeg_compress_struct jpeg{};
    jpeg_error_mgr errors{};
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    unsigned char* memory = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&jpeg, &memory, &size);
    jpeg.image_width = static_cast<JDIMENSION>(width);
    jpeg.image_height = static_cast<JDIMENSION>(height);
    jpeg.input_components = inks;
    jpeg.in_color_space = inks == 1 ? JCS_GRAYSCALE : inks == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    if (progressive) jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    if (!exif.empty())
        jpeg_write_marker(&jpeg, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(exif.data()),
                          static_cast<unsigned>(exif.size()));
    std::vector<std::uint8_t> copy = bytes;
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW row = copy.data() + std::size_t{jpeg.next_scanline} * std::size_t(width * inks);
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    const std::string result(reinterpret_cast<const char*>(memory), size);
    std::free(memory);
    return result;
}

std::string refusal(const std::string& bytes) {
    try {
        decode_image(bytes, "photo");
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.what();
    }
    return "nothing thrown";
}

// ---- files

TEST(ImageFileTest, APngComesBackExactly) {
    const Image image = gradient(9, 6);
    EXPECT_EQ(decode_image(png_of(image), "photo"), image);
}

TEST(ImageFileTest, EveryKindOfPngBecomesBytesOfRedGreenAndBlue) {
    const std::string zero(1, '\0');
    EXPECT_EQ(decode_image(raw_png(2, 1, 8, 0, zero + "\x10\xF0"), "gray").rgb,
              (std::vector<std::uint8_t>{16, 16, 16, 240, 240, 240}));
    EXPECT_EQ(
        decode_image(raw_png(2, 1, 8, 3, zero + "\x01" + zero, std::string("\x01\x02\x03\xFF\x80\x40", 6)),
                     "palette")
            .rgb,
        (std::vector<std::uint8_t>{255, 128, 64, 1, 2, 3}));
    EXPECT_EQ(
        decode_image(raw_png(1, 1, 16, 2, zero + "\xFF\xFF\x80\x80" + std::string(2, '\0')), "deep").rgb,
        (std::vector<std::uint8_t>{255, 128, 0}));
}

TEST(ImageFileTest, WhatIsTransparentStandsOverWhite) {
    const Pixels pixels{
        .width = 3, .height = 1, .channels = 4, .bytes = {10, 20, 30, 255, 10, 20, 30, 0, 0, 100, 255, 51}};
    EXPECT_EQ(decode_image(encode_png(pixels, {}), "photo").rgb,
              (std::vector<std::uint8_t>{10, 20, 30, 255, 255, 255, 204, 224, 255}));
}

TEST(ImageFileTest, AJpegIsReadInColorAndInGray) {
    const std::vector<std::uint8_t> flat = {200, 40, 90};
    std::vector<std::uint8_t> bytes;
    for (int i = 0; i < 16 * 8; ++i) bytes.insert(bytes.end(), flat.begin(), flat.end());
    const Image image = decode_image(jpeg_of(16, 8, 3, bytes), "photo");
    EXPECT_EQ(image.width, 16);
    EXPECT_EQ(image.height, 8);
    for (std::size_t i = 0; i < image.rgb.size(); ++i)
        ASSERT_NEAR(image.rgb[i], flat[i % 3], 2);  // JPEG rounds its colors
    const Image gray = decode_image(jpeg_of(8, 8, 1, std::vector<std::uint8_t>(64, 77)), "photo");
    EXPECT_EQ(gray.rgb, std::vector<std::uint8_t>(3 * 64, 77));
}

TEST(ImageFileTest, AJpegIsTurnedAsItsCameraSays) {
    // Gray rises along the rows and, less, down the columns: each corner tells where it came from.
    std::vector<std::uint8_t> bytes;
    for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 16; ++x)
            bytes.push_back(static_cast<std::uint8_t>(10 + (x > 7) * 100 + (y > 3) * 40));
    // Top left and bottom right of what is shown, for orientation 1 … 8.
    const int corners[8][2] = {{10, 150}, {110, 50}, {150, 10}, {50, 110},
                               {10, 150}, {50, 110}, {150, 10}, {110, 50}};
    for (int orientation = 1; orientation <= 8; ++orientation)
        for (const bool big : {false, true}) {
            const std::string o(1, static_cast<char>(orientation)), zero(1, '\0');
            const auto number = [&](const std::string& low, std::size_t size) {
                const std::string zeros(size - 1, '\0');
                return big ? zeros + low : low + zeros;
            };
            const std::string tag = big ? std::string("\x01\x12", 2) : std::string("\x12\x01", 2);
            const std::string exif = std::string("Exif\0\0", 6) + (big ? "MM" : "II") + number("\x2A", 2) +
                                     number("\x08", 4) + number("\x01", 2) + tag + number("\x03", 2) +
                                     number("\x01", 4) + number(o, 2) + zero + zero + std::string(4, '\0');
            const Image image = decode_image(jpeg_of(16, 8, 1, bytes, exif), "photo");
            EXPECT_EQ(image.width, orientation < 5 ? 16 : 8) << orientation;
            EXPECT_NEAR(*image.pixel(0, 0), corners[orientation - 1][0], 2) << orientation;
            EXPECT_NEAR(*image.pixel(image.width - 1, image.height - 1), corners[orientation - 1][1], 2)
                << orientation;
        }
    const std::string nonsense = std::string("Exif\0\0MM\0*\xFF\xFF\xFF\xFF", 14);
    EXPECT_EQ(decode_image(jpeg_of(16, 8, 1, bytes, nonsense), "photo").width, 16);
}

TEST(ImageFileTest, AFileCutOffAnywhereIsRefused) {
    const Image image = gradient(40, 40);
    const std::string png = png_of(image), jpeg = jpeg_of(40, 40, 3, image.rgb);
    // After the last pixel stand a checksum and an empty chunk, which a picture can do without.
    for (std::size_t size = 0; size < png.size() - 16; size += 7)
        ASSERT_TRUE(refusal(png.substr(0, size)).starts_with("photo is ")) << size;
    EXPECT_NE(refusal(png.substr(0, png.size() / 2)).find(": copy it again"), std::string::npos);
    for (std::size_t size = 0; size < jpeg.size() - 2; size += 7)
        ASSERT_TRUE(refusal(jpeg.substr(0, size)).starts_with("photo is ")) << size;
}

TEST(ImageFileTest, AFileChangedAnywhereIsReadOrRefused) {
    const Image image = gradient(24, 24);
    for (const std::string& whole : {png_of(image), jpeg_of(24, 24, 3, image.rgb)})
        for (std::size_t i = 0; i < whole.size(); ++i) {
            std::string changed = whole;
            changed[i] = static_cast<char>(changed[i] ^ 0x55);
            refusal(changed);
        }
}

TEST(ImageFileTest, AFileThatIsNotAPictureIsRefusedWithWhatToDo) {
    EXPECT_EQ(refusal("GIF89a…"), "photo is not a supported picture: use a PNG or a JPEG");
    EXPECT_EQ(refusal(""), "photo is not a supported picture: use a PNG or a JPEG");
    EXPECT_EQ(refusal(jpeg_of(8, 8, 4, std::vector<std::uint8_t>(256, 9))),
              "photo is a CMYK JPEG: save it as RGB");
    EXPECT_EQ(refusal(jpeg_of(40, 40, 3, gradient(40, 40).rgb).substr(0, 700)),
              "photo is cut off: copy it again");
}

/// The picture's last scan `times` over.
std::string with_last_scan(const std::string& jpeg, int times) {
    const std::size_t scan = jpeg.rfind("\xFF\xDA"), end = jpeg.rfind("\xFF\xD9");
    std::string result = jpeg.substr(0, end);
    for (int i = 1; i < times; ++i) result += jpeg.substr(scan, end - scan);
    return result + jpeg.substr(end);
}

TEST(ImageFileTest, AJpegOfMoreScansThanAnyCameraWritesIsRefused) {
    const std::string jpeg = jpeg_of(40, 40, 3, gradient(40, 40).rgb, {}, true);
    EXPECT_EQ(decode_image(jpeg, "photo").width, 40);
    EXPECT_EQ(refusal(with_last_scan(jpeg, 100)), "photo has more than 50 scans: save it again with fewer");
}

TEST(ImageFileTest, AHugePictureIsRefusedByItsHeader) {
    std::string png = png_of(gradient(2, 2));
    png.replace(16, 8, big_endian(40000) + big_endian(40000));
    EXPECT_EQ(refusal(png),
              "photo has 40000 × 40000 pixels and the limit is 64000000 in total: make it smaller");
    std::string jpeg = jpeg_of(8, 8, 1, std::vector<std::uint8_t>(64, 9));
    const std::size_t frame = jpeg.find("\xFF\xC0");
    jpeg.replace(frame + 5, 4, "\xFF\xDC\xFF\xDC");
    EXPECT_EQ(refusal(jpeg),
              "photo has 65500 × 65500 pixels and the limit is 64000000 in total: make it smaller");
}

// ---- patches

TEST(PatchesTest, ATinyPictureIsCutRowByRow) {
    // 4 × 4 pixels, 2 × 2 patches of 2 × 2: pixel n has the bytes n, n + 100, n + 200 (n from 0).
    Image image{4, 4, {}};
    for (int n = 0; n < 16; ++n)
        for (const int channel : {0, 100, 200}) image.rgb.push_back(static_cast<std::uint8_t>(n + channel));
    const Tensor patches = image_patches(image, 2, 2);
    ASSERT_EQ(patches.shape().rows, 4);
    ASSERT_EQ(patches.shape().columns, 12);
    const int first[] = {0, 2, 8, 10};  // the upper left pixel of each patch
    for (int p = 0; p < 4; ++p)
        for (int k = 0; k < 12; ++k) {
            const int pixel = k / 3, byte = first[p] + pixel % 2 + 4 * (pixel / 2) + 100 * (k % 3);
            EXPECT_EQ(patches.head(0)(p, k), static_cast<float>(byte / 255.0)) << p << " " << k;
        }
    EXPECT_EQ(patch_label(1, 2), "1,2");
    EXPECT_EQ(pixel_label(7, 2), "2,1 green");
}

/// The mean over a rectangle by its definition, sampled finely enough to be exact.
double area_mean(const Image& image, int side, int x, int y, std::size_t channel) {
    const int square = std::min(image.width, image.height);
    const int left = (image.width - square) / 2, top = (image.height - square) / 2;
    double sum = 0;
    for (int v = y * square; v < (y + 1) * square; ++v)
        for (int u = x * square; u < (x + 1) * square; ++u)
            sum += image.pixel(left + u / side, top + v / side)[channel];
    return sum / square / square;
}

TEST(PatchesTest, ResamplingIsTheMeanOverEachArea) {
    const Image image = gradient(9, 7);
    for (const int side : {1, 3, 5, 7, 10, 21})
        resample(image, side, [&](int y, const float* pixels) {
            for (int i = 0; i < 3 * side; ++i)
                ASSERT_EQ(pixels[i],
                          static_cast<float>(area_mean(image, side, i / 3, y, std::size_t(i % 3)) / 255))
                    << side << " " << y << " " << i;
        });
}

TEST(PatchesTest, TheCentralSquareIsKeptAndMadeSmallerOnce) {
    const Image wide = gradient(9, 6);
    const Image square = central_square(wide);
    ASSERT_EQ(square.width, 6);
    ASSERT_EQ(square.height, 6);
    for (int y = 0; y < 6; ++y)
        for (int x = 0; x < 6; ++x)
            for (int c = 0; c < 3; ++c) EXPECT_EQ(square.pixel(x, y)[c], wide.pixel(x + 1, y)[c]);
    EXPECT_EQ(central_square(square), square);
    const Image small = central_square(gradient(8, 8), 3);
    EXPECT_EQ(small.width, 3);
    for (int c = 0; c < 3; ++c)
        EXPECT_EQ(small.pixel(1, 2)[c], std::lround(area_mean(gradient(8, 8), 3, 1, 2, std::size_t(c))));
}

TEST(PatchesTest, TheDrawnPictureIsAlwaysTheSame) {
    const Image& image = drawn_picture().image();
    EXPECT_EQ(image.width, 224);
    EXPECT_EQ(image.height, 224);
    EXPECT_EQ(crc32(0, image.rgb.data(), static_cast<uInt>(image.rgb.size())), 0x9ED60DA5UL);
}

}  // namespace
}  // namespace attnscope
