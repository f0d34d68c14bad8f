#include <cairo.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "core/error.h"
#include "core/picture/fonts.h"
#include "core/picture/text.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

/// A folder with empty files of given names.
class FontFolder {
public:
    explicit FontFolder(std::initializer_list<const char*> names) {
        std::string pattern = (fs::temp_directory_path() / "attnscope-fonts-XXXXXX").string();
        path_ = ::mkdtemp(pattern.data());
        for (const char* name : names) std::ofstream(path_ / name) << "";
    }
    ~FontFolder() { fs::remove_all(path_); }
    FontFolder(const FontFolder&) = delete;
    FontFolder& operator=(const FontFolder&) = delete;
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

/// Sets ATTNSCOPE_FONTS for as long as it lives.
class FontVariable {
public:
    explicit FontVariable(const std::string& value) {
        const char* before = std::getenv("ATTNSCOPE_FONTS");
        if (before) before_ = std::make_unique<std::string>(before);
        ::setenv("ATTNSCOPE_FONTS", value.c_str(), 1);
    }
    ~FontVariable() {
        before_ ? ::setenv("ATTNSCOPE_FONTS", before_->c_str(), 1) : ::unsetenv("ATTNSCOPE_FONTS");
    }
    FontVariable(const FontVariable&) = delete;
    FontVariable& operator=(const FontVariable&) = delete;

private:
    std::unique_ptr<std::string> before_;
};

TEST(FontsTest, EachRoleTakesItsOwnFaceFromTheFirstFolderThatHasIt) {
    const FontFolder first({"Inter-Regular.otf", "DejaVuSans.ttf"});
    const FontFolder second({"Inter-Regular.otf", "Inter-SemiBold.otf", "JetBrainsMono-Regular.ttf"});
    const fs::path folders[] = {first.path(), second.path()};
    const FontFiles files = find_fonts(folders);
    EXPECT_EQ(files.sans, first.path() / "Inter-Regular.otf");
    EXPECT_EQ(files.sans_semibold, second.path() / "Inter-SemiBold.otf");
    EXPECT_EQ(files.mono, second.path() / "JetBrainsMono-Regular.ttf");
    EXPECT_EQ(files.mono_semibold, files.mono);
    EXPECT_EQ(files.fallback, first.path() / "DejaVuSans.ttf");
    EXPECT_EQ(files.fallback_bold, files.fallback);
    EXPECT_EQ(files.all().size(), 4u);
}

TEST(FontsTest, DejavuAloneServesEveryRole) {
    const FontFolder folder({"DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf"});
    const FontFiles files = find_fonts({{folder.path()}});
    EXPECT_EQ(files.sans, folder.path() / "DejaVuSans.ttf");
    EXPECT_EQ(files.sans_semibold, folder.path() / "DejaVuSans-Bold.ttf");
    EXPECT_EQ(files.mono, folder.path() / "DejaVuSansMono.ttf");
}

TEST(FontsTest, TheChosenFolderCountsAlone) {
    const FontFolder folder({});
    const FontVariable variable(folder.path().string());
    EXPECT_EQ(font_folders(), std::vector<fs::path>{folder.path()});
    try {
        find_fonts();
        ADD_FAILURE() << "nothing thrown";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::backend);
        const std::string message = error.what();
        EXPECT_EQ(message.find("no fonts found in " + folder.path().string() + ": install fonts-dejavu-core"),
                  0u);
    }
}

TEST(TextTest, AFileThatIsNotAFontIsNamed) {
    const FontFolder folder({"DejaVuSans.ttf"});
    try {
        const TextFace face(find_fonts({{folder.path()}}));
        ADD_FAILURE() << "nothing thrown";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::backend);
        EXPECT_NE(std::string(error.what()).find("DejaVuSans.ttf"), std::string::npos);
    }
}

TEST(TextTest, DigitsOfTheMonospacedFaceStandInColumns) {
    const TextFace face;
    const TextStyle style{.font = Font::mono, .size = 12};
    EXPECT_EQ(face.extent("0.111", style).width, face.extent("8.888", style).width);
    EXPECT_NEAR(face.extent("00000000", style).width, 8 * face.extent("0", style).width, 0.05);
}

TEST(TextTest, WhatIsTooWideEndsInAnEllipsisOrGoesOnInAFurtherLine) {
    const TextFace face;
    const std::string text = "Donaudampfschifffahrtsgesellschaftskapitän is a long word";
    const TextExtent free = face.extent(text, {});
    const TextExtent cut = face.extent(text, {.max_width = 100});
    const TextExtent wrapped = face.extent(text, {.max_width = 100, .wrap = true});
    EXPECT_GT(free.width, 300);
    EXPECT_LE(cut.width, 100);
    EXPECT_EQ(cut.height, free.height);
    EXPECT_LE(wrapped.width, 100);
    EXPECT_GE(wrapped.height, 3 * free.height);
    EXPECT_EQ(face.extent("you", {.max_width = 100}).width, face.extent("you", {}).width);
}

TEST(TextTest, ChineseAndJapaneseAreDrawn) {
    const TextFace face;
    if (!face.has_glyph(U'咖')) GTEST_SKIP() << "fonts-droid-fallback is not installed";
    EXPECT_EQ(face.displayable("咖啡 カフェ", Spaces::kept), "咖啡 カフェ");
    const double em = face.extent("咖", {.size = 100}).width;
    EXPECT_NEAR(em, 100, 5) << "an ideograph fills its square";
    const TextShades shades = face.shades("咖啡", {.size = 40});
    EXPECT_GT(std::ranges::count_if(shades.alpha, [](int alpha) { return alpha > 128; }), 200);
}

TEST(TextTest, WhatNoFontHasIsWrittenAsItsCodePoint) {
    const TextFace face;
    ASSERT_FALSE(face.has_glyph(U'\U0001FA00')) << "a font with this emoji was added: choose another here";
    EXPECT_EQ(face.displayable("\U0001FA00"), "U+1FA00");
    EXPECT_EQ(face.displayable("a\U0001FA00b"), "a U+1FA00 b");
    EXPECT_EQ(face.displayable("\U0001FA00\uFE0F\u200D\U0001FA00"), "U+1FA00 U+1FA00");
    EXPECT_EQ(face.displayable("\n"), "U+000A");
    EXPECT_EQ(face.displayable("a b\u00A0"), "a␣b␣");
    EXPECT_EQ(face.displayable("a b", Spaces::kept), "a b");
    EXPECT_EQ(face.displayable("two\nlines\tand\r", Spaces::kept), "two lines and ");
    EXPECT_EQ(face.displayable("\xff\xfe"), face.displayable("\uFFFD\uFFFD"));
    EXPECT_EQ(face.displayable("Grüße שלום مرحبا QKᵀ √ ∞", Spaces::kept), "Grüße שלום مرحبا QKᵀ √ ∞");
    EXPECT_EQ(face.displayable(""), "");
}

/// Ink of `text` drawn black on white at x = 200, as the columns where it begins and ends.
std::pair<int, int> ink(const TextFace& face, const std::string& text, const TextStyle& style) {
    constexpr int k_width = 400;
    cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_A8, k_width, 40);
    cairo_t* cairo = cairo_create(surface);
    face.draw(cairo, text, style, 200, 28, TextMode::outlines);
    cairo_destroy(cairo);
    cairo_surface_flush(surface);
    const unsigned char* data = cairo_image_surface_get_data(surface);
    const int stride = cairo_image_surface_get_stride(surface);
    std::pair<int, int> result{k_width, 0};
    for (int y = 0; y < 40; ++y) {
        for (int x = 0; x < k_width; ++x) {
            if (data[y * stride + x] < 64) continue;
            result = {std::min(result.first, x), std::max(result.second, x)};
        }
    }
    cairo_surface_destroy(surface);
    return result;
}

TEST(TextTest, FacesMayEndWhilePangoIsStillMatchingFonts) {
    std::set<double> widths;
    for (int i = 0; i < 300; ++i) widths.insert(TextFace().extent("weights", {.size = 8 + 0.25 * i}).width);
    EXPECT_EQ(widths.size(), 300U);
}

TEST(TextTest, TextOfEitherDirectionStandsWhereItIsAligned) {
    const TextFace face;
    // What is cut stays within its width, ending at a whole letter.
    for (const char* text : {"HIH", "שלום", "a very long text that is cut at some place"}) {
        TextStyle style{.size = 20, .max_width = 150};
        EXPECT_NEAR(ink(face, text, style).first, 200, 8) << text;
        style.align = 1;
        EXPECT_NEAR(ink(face, text, style).second, 200, 8) << text;
        style.align = 0.5;
        const auto [left, right] = ink(face, text, style);
        EXPECT_NEAR((left + right) / 2.0, 200, 3) << text;
    }
}

TEST(TextTest, EachFontIsTheFileThatWasAskedFor) {
    const TextFace face;
    const double regular = face.extent("weights", {.font = Font::sans}).width;
    const double semibold = face.extent("weights", {.font = Font::sans_semibold}).width;
    const double mono = face.extent("weights", {.font = Font::mono}).width;
    EXPECT_GT(semibold, regular);
    EXPECT_GT(mono, regular);
}

TEST(PictureTextTest, AFormulaHasSubscripts) {
    const TextFace face;
    const TextStyle plain{.size = 40}, formula{.size = 40, .formula = true};
    const auto width = [&](const char* text, const TextStyle& style) {
        return face.extent(text, style).width;
    };
    EXPECT_LT(width("√d_k", formula), width("√dk", plain)) << "the subscript is smaller";
    EXPECT_GT(width("√d_k", formula), width("√d", plain));
    EXPECT_LT(width("W_aq x", formula), width("Waq x", plain));
    for (const char* text : {"feed_forward", "d_", "_k", "a b", "2.5"})
        EXPECT_DOUBLE_EQ(width(text, formula), width(text, plain)) << text << " has none";
}

}  // namespace
}  // namespace attnscope
