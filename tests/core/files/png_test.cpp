#include "core/files/png.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/cpu/row_blocks.h"
#include "core/error.h"

namespace attnscope {
namespace {

Pixels gradient(int width, int height, int channels) {
    Pixels pixels{.width = width, .height = height, .channels = channels, .bytes = {}};
    for (int i = 0; i < width * height * channels; ++i)
        pixels.bytes.push_back(static_cast<std::uint8_t>(i * 7));
    return pixels;
}

std::string with_session(const std::string& session) {
    const PngText text{std::string(k_png_session_key), session};
    return encode_png(gradient(40, 30, 3), {&text, 1});
}

std::string message_of(const std::string& bytes) {
    try {
        read_png_session(bytes, "figure.png");
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::bad_input);
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.what();
    }
    return "nothing thrown";
}

TEST(PngTest, PixelsComeBackExactly) {
    for (const int channels : {3, 4}) {
        const Pixels pixels = gradient(17, 5, channels);
        EXPECT_EQ(decode_png(encode_png(pixels, {}), "test"), pixels);
    }
}

/// `count` colors in turn, each row twice.
Pixels of_colors(int count) {
    Pixels pixels{.width = 101, .height = 24, .channels = 3, .bytes = {}};
    for (int y = 0; y < pixels.height; ++y)
        for (int x = 0; x < pixels.width; ++x) {
            const int color = (y / 2 * pixels.width + x) % count;
            for (const int byte : {color % 256, color / 256, 3 * color % 256})
                pixels.bytes.push_back(static_cast<std::uint8_t>(byte));
        }
    return pixels;
}

TEST(PngTest, APictureOf256ColorsIsStoredByTheirNumbers) {
    constexpr std::size_t k_color_type = 8 + 8 + 9;  // signature, frame of the header, sizes and depth
    constexpr char k_rgb = 2, k_numbers = 3;
    for (const int count : {1, 2, 255, 256, 257, 700}) {
        const Pixels pixels = of_colors(count);
        const std::string bytes = encode_png(pixels, {});
        EXPECT_EQ(bytes[k_color_type], count <= 256 ? k_numbers : k_rgb) << count;
        EXPECT_EQ(decode_png(bytes, "test"), pixels) << count;
    }
}

/// Noise of `colors` colors, in which every third row is the one above.
Pixels noise(int width, int height, int channels, std::uint32_t colors) {
    Pixels pixels{.width = width, .height = height, .channels = channels, .bytes = {}};
    std::mt19937 random(1);
    const auto row = static_cast<std::ptrdiff_t>(width) * channels;
    for (int y = 0; y < height; ++y) {
        if (y % 3 == 1) {
            const std::vector<std::uint8_t> above(pixels.bytes.end() - row, pixels.bytes.end());
            pixels.bytes.insert(pixels.bytes.end(), above.begin(), above.end());
            continue;
        }
        for (int x = 0; x < width; ++x) {
            const std::uint32_t color = random() % colors;
            for (int c = 0; c < channels; ++c)
                pixels.bytes.push_back(static_cast<std::uint8_t>(color >> 8 * c));
        }
    }
    return pixels;
}

TEST(PngTest, APictureInSeveralPartsIsTheSameOnAnyNumberOfThreads) {
    // Of several parts, and of rows longer than a part; by colors, with transparency, by a palette's numbers.
    for (const Pixels& pixels :
         {noise(1000, 1501, 3, 1 << 24), noise(400'000, 3, 4, 1 << 31), noise(3000, 2000, 3, 200)}) {
        std::string one, two;
        with_threads(1, [&] { one = encode_png(pixels, {}); });
        with_threads(2, [&] { two = encode_png(pixels, {}); });
        EXPECT_TRUE(one == two) << pixels.width;
        EXPECT_TRUE(decode_png(one, "test") == pixels) << pixels.width;
    }
}

TEST(PngTest, APictureGoesOutInPartsAndWhatItsSinkThrowsComesThrough) {
    const Pixels pixels = noise(4000, 4001, 3, 1 << 24);
    const PixelRows rows{
        .width = 4000, .height = 4001, .read = [&](int y, std::uint8_t* row) {
            std::memcpy(row, pixels.bytes.data() + std::size_t{12'000} * static_cast<std::size_t>(y), 12'000);
        }};
    std::size_t whole = 0, longest = 0;
    write_png(rows, {}, [&](std::string_view bytes) {
        whole += bytes.size();
        longest = std::max(longest, bytes.size());
    });
    EXPECT_EQ(whole, encode_png(pixels, {}).size());
    EXPECT_LT(longest, std::size_t{2} << 20) << "of " << whole;
    std::size_t taken = 0;
    const ByteSink full = [&](std::string_view bytes) {
        if (taken > 5'000'000) throw Error(ErrorKind::io, "the disk is full");
        taken += bytes.size();
    };
    try {
        write_png(rows, {}, full);
        ADD_FAILURE() << "nothing thrown";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::io);
    }
}

TEST(PngTest, WritingIsCanceledAfterSomeParts) {
    const Pixels pixels = noise(4000, 4001, 3, 1 << 24);
    std::vector<double> parts;
    const auto stop_at_half = [&](double part) {
        parts.push_back(part);
        return part < 0.5;
    };
    EXPECT_THROW(encode_png(pixels, {}, stop_at_half), Canceled);
    EXPECT_EQ(parts.front(), 0);
    EXPECT_GE(parts.back(), 0.5);
    EXPECT_LT(parts.back(), 1);
}

TEST(PngTest, TheSessionComesBackByteForByte) {
    for (const std::string& session : {std::string("{}"), std::string("{\"text\": \"Grüße, 你好 😀\\n\"}\n"),
                                       std::string(300000, 'x'), std::string()}) {
        EXPECT_EQ(read_png_session(with_session(session), "figure.png"), session);
    }
}

TEST(PngTest, TheSessionIsKeptCompressed) {
    EXPECT_LT(with_session(std::string(300000, 'x')).size(), 10000u);
}

TEST(PngTest, EqualPicturesAreEqualBytesWithoutATime) {
    EXPECT_EQ(with_session("{}"), with_session("{}"));
    EXPECT_EQ(with_session("{}").find("tIME"), std::string::npos);
    EXPECT_NE(with_session("{}"), with_session("{ }"));
}

TEST(PngTest, OtherTextsArePassedOver) {
    const PngText texts[] = {{"Title", "a title"}, {std::string(k_png_session_key), "{}"}, {"Comment", "no"}};
    EXPECT_EQ(read_png_session(encode_png(gradient(2, 2, 3), texts), "figure.png"), "{}");
}

TEST(PngTest, APictureCutOffAnywhereIsRefused) {
    const std::string whole = with_session("{\"version\": 1}");
    for (std::size_t part = 0; part < 20; ++part) {
        const std::string cut = whole.substr(0, whole.size() * part / 20);
        EXPECT_NE(message_of(cut), "nothing thrown") << part;
        EXPECT_THROW(decode_png(cut, "figure.png"), Error) << part;
    }
    for (std::size_t size = 0; size < whole.size(); ++size) {
        ASSERT_NE(message_of(whole.substr(0, size)), "nothing thrown") << size;
    }
    EXPECT_EQ(message_of(whole.substr(0, whole.size() - 1)),
              "figure.png is cut off: copy it again, or export the picture again");
}

TEST(PngTest, AChangedByteAnywhereIsRefused) {
    const std::string whole = with_session("{\"version\": 1}");
    for (std::size_t i = 0; i < whole.size(); ++i) {
        std::string damaged = whole;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
        ASSERT_NE(message_of(damaged), "nothing thrown") << i;
    }
}

TEST(PngTest, AFileThatIsNotAPictureAndOneWithoutASessionAreToldApart) {
    EXPECT_EQ(message_of("{\"version\": 1}"),
              "figure.png is not a PNG picture: open a session, or a PNG that attnscope exported");
    EXPECT_EQ(message_of(""), message_of("GIF89a"));
    EXPECT_EQ(message_of(encode_png(gradient(3, 3, 3), {})),
              "figure.png is a picture without an attnscope session: open one that attnscope exported");
    EXPECT_FALSE(is_png("PNG"));
    EXPECT_TRUE(is_png(with_session("")));
}

TEST(PngTest, ASessionThatUnpacksBeyondTheLimitIsRefused) {
    const std::string small = with_session(std::string(300'000, ' '));
    EXPECT_EQ(read_png_session(small, "figure.png", 300'000).size(), 300'000u);
    try {
        read_png_session(small, "figure.png", 299'999);
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::too_large);
        EXPECT_STREQ(
            error.what(),
            "figure.png holds a session of more than 299999 bytes: open the session's own file (.json)");
    }
    // Beyond the limit that holds without another: 65 MiB, in some 65 kB.
    EXPECT_THROW(read_png_session(with_session(std::string(std::size_t{65} << 20, ' ')), "figure.png"),
                 Error);
}

TEST(PngTest, PixelsThatDoNotFillThePictureAreRefused) {
    Pixels pixels = gradient(4, 4, 3);
    pixels.bytes.pop_back();
    EXPECT_THROW(encode_png(pixels, {}), Error);
    EXPECT_THROW(encode_png(Pixels{}, {}), Error);
    EXPECT_THROW(encode_png(gradient(4, 4, 1), {}), Error);
}

}  // namespace
}  // namespace attnscope
