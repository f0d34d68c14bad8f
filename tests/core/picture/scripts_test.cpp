// Labels of any script are the same in PNG, SVG and PDF.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/files/file.h"
#include "core/picture/render_png.h"
#include "core/picture/render_vector.h"
#include "tests/picture_fixture.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

using namespace test;

/// Arabic, Hebrew, Hindi, Thai, Chinese, Japanese, Korean, emoji alone and joined, marks that do not compose.
std::vector<std::string> words_of_many_scripts() {
    return {"مرحبا",      "العالم", "שלום", "नमस्ते",        "दुनिया", "สวัสดี",  "你好",  "世界",
            "こんにちは", "한국어", "😀",    "👩‍🏫", "x̂ȳ",    "naïve", "Ωμέγα", "привет"};
}

/// How dark each pixel of a row's label is, blurred: renderers place and smooth letters a little differently.
std::vector<double> ink_of_label(const Pixels& pixels, const FigureLayout& layout, const Figure& figure,
                                 int row) {
    constexpr int k_blur = 2;
    const Box cell = layout.cell(figure, row, 0);
    const auto darkness = [&](int x, int y) {
        const Rgb8 color = pixel(pixels, x, y), paper = pixel(pixels, 1, 1);
        return std::abs(color.red - paper.red) + std::abs(color.green - paper.green) +
               std::abs(color.blue - paper.blue);
    };
    std::vector<double> ink;
    for (int y = cell.y + k_blur; y < cell.bottom() - k_blur; ++y)
        for (int x = k_blur; x < layout.matrix.x - k_blur; ++x) {
            double sum = 0;
            for (int dy = -k_blur; dy <= k_blur; ++dy)
                for (int dx = -k_blur; dx <= k_blur; ++dx) sum += darkness(x + dx, y + dy);
            ink.push_back(sum);
        }
    return ink;
}

/// The cosine of two pictures: 1 if they are the same but for their contrast, 0 if they have no ink in
/// common.
double likeness(const std::vector<double>& a, const std::vector<double>& b) {
    double ab = 0, aa = 0, bb = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        ab += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

constexpr int k_token_edge = 12;  ///< pixels beside the matrix that may hold the hue of the tokens

/// The largest difference between two of the three primary colors in a row's label.
int most_color(const Pixels& pixels, const FigureLayout& layout, const Figure& figure, int row) {
    const Box cell = layout.cell(figure, row, 0);
    int most = 0;
    for (int y = cell.y; y < cell.bottom(); ++y)
        for (int x = 0; x < layout.matrix.x - k_token_edge; ++x) {
            const Rgb8 color = pixel(pixels, x, y);
            most = std::max(most, std::abs(color.red - color.blue));
        }
    return most;
}

Pixels converted(const TemporaryFolder& folder, const std::string& command) {
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return decode_png(read_file(folder.file("out.png")), "out.png");
}

constexpr double k_least_likeness = 0.97;  ///< the least is 0.991, of strokes that PDF smooths otherwise
constexpr int k_emoji = 10, k_joined_emoji = 11;

TEST(ScriptsTest, EveryLabelOfAPngIsTheSameInSvgAndPdf) {
    if (std::system("command -v rsvg-convert pdftoppm > /dev/null") != 0)
        GTEST_SKIP() << "rsvg-convert or pdftoppm is not installed";
    const std::vector<std::string> words = words_of_many_scripts();
    const int n = static_cast<int>(words.size());
    const auto row = [](int, int r, int) { return 0.06f * static_cast<float>(r); };
    const StagePtr stage = make_stage(*"weights"_stage, 1, n, n, row);
    Presentation presentation;
    presentation.theme = ThemeKind::print;
    presentation.cell_size = 40;
    const Figure figure = make_figure(make_trace(words, {stage}), *stage, k_first, presentation);
    const TextFace face;
    const FigureLayout layout = lay_out(figure, face);
    const Pixels png = render_pixels(figure, face);
    const TemporaryFolder folder;
    const std::string out = folder.file("out"), of_svg = folder.file("a.svg"), of_pdf = folder.file("a.pdf");
    write_file(of_svg, render_svg(figure, face, "{}"));
    write_file(of_pdf, render_pdf(figure, face));
    const Pixels svg = converted(folder, "rsvg-convert -o " + out + ".png " + of_svg);
    const Pixels pdf =
        converted(folder, "pdftoppm -png -singlefile -scale-to-x " + std::to_string(png.width) +
                              " -scale-to-y " + std::to_string(png.height) + " " + of_pdf + " " + out);
    const auto inks = [&](const Pixels& pixels) {
        std::vector<std::vector<double>> all;
        for (int i = 0; i < n; ++i) all.push_back(ink_of_label(pixels, layout, figure, i));
        return all;
    };
    const std::vector<std::vector<double>> own = inks(png);
    for (const auto& [name, other] :
         {std::pair{"PNG", &png}, std::pair{"SVG", &svg}, std::pair{"PDF", &pdf}}) {
        SCOPED_TRACE(name);
        for (const int i : {k_emoji, k_joined_emoji})
            EXPECT_GT(most_color(*other, layout, figure, i), 100) << "an emoji has colors";
        EXPECT_LT(most_color(*other, layout, figure, 0), 60) << "letters have the theme's";
        ASSERT_EQ((Size{other->width, other->height}), (Size{png.width, png.height}));
        const std::vector<std::vector<double>> theirs = inks(*other);
        for (std::size_t i = 0; i < words.size(); ++i) {
            const double same = likeness(own[i], theirs[i]);
            EXPECT_GT(same, k_least_likeness) << words[i];
            for (std::size_t j = 0; j < words.size(); ++j)
                if (j != i) {
                    EXPECT_LT(likeness(own[i], theirs[j]), same) << words[i] << " " << words[j];
                }
        }
    }
}

}  // namespace
}  // namespace attnscope
