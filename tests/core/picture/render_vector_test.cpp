// Figures as SVG and PDF.
#include "core/picture/render_vector.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/svg.h"
#include "core/picture/figure_cells.h"
#include "core/picture/render_png.h"
#include "tests/picture_fixture.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

using namespace test;

float magnitude(int, int r, int c) { return std::abs(noise(r, c)); }

Figure weights(int n, int cell_size, const Formula& mask, const std::string& title = "",
               bool values = false) {
    const StagePtr open = make_stage(k_mask, 1, n, n, mask);
    const StagePtr stage = make_stage(k_weights, 1, n, n, magnitude);
    Presentation presentation;
    presentation.cell_size = cell_size;
    presentation.values = values;
    presentation.title = title;
    return make_figure(make_trace(words(n), {open, stage}), *stage, k_first, presentation);
}

float all_open(int, int, int) { return 1; }
float causal(int, int r, int c) { return c <= r ? 1.f : 0.f; }

Figure causal_example() { return weights(8, 48, causal, "Wörter & <Weights>", true); }

std::size_t count(std::string_view text, std::string_view what) {
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
    return n;
}

std::string hex(Rgb8 color) {
    std::array<char, 8> text;
    std::snprintf(text.data(), text.size(), "#%02x%02x%02x", color.red, color.green, color.blue);
    return text.data();
}

/// The fill of the shape that begins at the cell's corner and has its size.
std::string fill_at(const std::string& svg, const Box& cell) {
    const auto number = [](int n) { return std::to_string(n); };
    const std::size_t at =
        svg.find("d=\"M " + number(cell.x) + " " + number(cell.y) + " L " + number(cell.right()) + " " +
                 number(cell.y) + " L " + number(cell.right()) + " " + number(cell.bottom()) + " ");
    if (at == svg.npos) return "no shape";
    const std::size_t line = svg.rfind('\n', at);
    return svg.substr(svg.find('#', line), 7);
}

/// The only image of an SVG.
Pixels image_in(const std::string& svg) {
    EXPECT_EQ(count(svg, "<image "), 1u);
    const std::string opening = "data:image/png;base64,";
    std::size_t at = svg.find(opening) + opening.size();
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    for (std::uint32_t bits = 0, have = 0; digits.find(svg[at]) != digits.npos; ++at) {
        bits = (bits & 0xff) << 6 | static_cast<std::uint32_t>(digits.find(svg[at]));
        have += 6;
        if (have < 8) continue;
        have -= 8;
        bytes += static_cast<char>(bits >> have & 0xff);
    }
    return decode_png(bytes, "image");
}

TEST(RenderVectorTest, FilesBeginAndEndAsTheyMust) {
    const TextFace face;
    const std::string svg = render_svg(causal_example(), face, "{}"),
                      pdf = render_pdf(causal_example(), face);
    EXPECT_TRUE(svg.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg "));
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
    EXPECT_TRUE(is_svg(svg));
    EXPECT_TRUE(pdf.starts_with("%PDF-1."));
    EXPECT_TRUE(pdf.ends_with("%%EOF\n"));
    EXPECT_NE(pdf.find("/Title <FEFF005700F60072"), pdf.npos) << "Wör";
    EXPECT_NE(svg.find("<title>Wörter &amp; &lt;Weights&gt;</title>"), svg.npos);
}

TEST(RenderVectorTest, ThePictureIsAsLargeAsThePng) {
    const TextFace face;
    const Size size = measure(causal_example(), face);
    const std::string svg = render_svg(causal_example(), face, "{}");
    const std::string width = std::to_string(size.width), height = std::to_string(size.height);
    EXPECT_NE(svg.find("viewBox=\"0 0 " + width + " " + height + "\""), svg.npos);
    EXPECT_NE(svg.find("width=\"" + width + "px\" height=\"" + height + "px\""), svg.npos);
}

TEST(RenderVectorTest, EqualFiguresAreEqualBytesAfterOtherFilesInEveryProcessAndLocale) {
    const TextFace face;
    const auto both = [] {
        return render_svg(causal_example(), TextFace(), "{}") + render_pdf(causal_example(), TextFace());
    };
    const std::string bytes = both();
    render_svg(weights(8, 12, causal), face, "{}");
    render_png(causal_example(), "{}");
    render_pdf(weights(30, 12, causal), face);
    ::sleep(1);  // a file must not know when it was made
    EXPECT_EQ(both(), bytes);
    const TemporaryFolder folder;
    const pid_t child = ::fork();
    if (child == 0) {
        std::setlocale(LC_ALL, "de_DE.UTF-8");
        ::setenv("LANG", "ar_EG.UTF-8", 1);
        ::setenv("TZ", "Asia/Tokyo", 1);
        ::setenv("FONTCONFIG_FILE", "/nonexistent", 1);
        render_svg(weights(8, 12, all_open), TextFace(), "{}");
        write_file(folder.file("both"), both());
        std::_Exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    EXPECT_EQ(read_file(folder.file("both")), bytes);
}

TEST(RenderVectorTest, APdfSaysNothingOfItsTime) {
    const std::string pdf = render_pdf(causal_example(), TextFace());
    EXPECT_EQ(pdf.find("Date"), pdf.npos);
}

TEST(RenderVectorTest, IdentifiersCountFrom0AndColorsAreHexadecimal) {
    EXPECT_EQ(normalized_svg("<g id=\"surface17\" clip-path=\"url(#clip9)\"/><use xlink:href=\"#glyph3-12\"/>"
                             "<use xlink:href=\"#glyph3-4\"/><clipPath id=\"clip9\"/>"),
              "<g id=\"surface0\" clip-path=\"url(#clip0)\"/><use xlink:href=\"#glyph0\"/>"
              "<use xlink:href=\"#glyph1\"/><clipPath id=\"clip0\"/>");
    EXPECT_EQ(normalized_svg("fill:rgb(26.666667%,0.392157%,32.941176%);fill=\"rgb(0%, 100%, 50.2%)\""),
              "fill:#440154;fill=\"#00ff80\"");
    EXPECT_EQ(normalized_svg("rgb(1,2,3) rgb( \" id=\"a"), "rgb(1,2,3) rgb( \" id=\"a");
}

TEST(RenderVectorTest, EveryCellIsAShapeInExactlyItsColor) {
    const TextFace face;
    for (const auto& map : colormaps()) {
        const StagePtr stage = make_stage(map.diverging ? k_scores : k_weights, 1, 17, 17,
                                          [](int, int r, int c) { return 40 * noise(r, c); });
        Presentation presentation;
        presentation.colormap = find_choice<ColormapKind>(map.name).value_or(ColormapKind::viridis);
        const Figure figure = make_figure(make_trace(words(17), {stage}), *stage, k_first, presentation);
        const FigureLayout layout = lay_out(figure, face);
        const std::string svg = render_svg(figure, face, "");
        for (int r = 0; r < 17; ++r)
            for (int c = 0; c < 17; ++c)
                ASSERT_EQ(fill_at(svg, layout.cell(figure, r, c)), hex(figure.fill(figure.cell(r, c))))
                    << map.name << " " << r << "," << c;
    }
}

TEST(RenderVectorTest, CellsWithoutLinesBetweenThemAreOneImageOfTheirColors) {
    const TextFace face;
    const Figure figure = weights(20, 9, all_open);
    const Pixels image = image_in(render_svg(figure, face, ""));
    ASSERT_EQ(image.width, 20 * 9);
    ASSERT_EQ(image.height, 20 * 9);
    for (int r = 0; r < 20; ++r)
        for (int c = 0; c < 20; ++c)
            for (const int inside : {0, 8})
                ASSERT_EQ(pixel(image, 9 * c + inside, 9 * r + inside), figure.fill(figure.cell(r, c)));
}

TEST(RenderVectorTest, ImagesAreNotSmoothed) {
    const TextFace face;
    const std::string svg = render_svg(weights(20, 9, all_open), face, "");
    EXPECT_NE(
        svg.find(
            "<image image-rendering=\"optimizeSpeed\" style=\"image-rendering:pixelated\" id=\"image0\""),
        svg.npos);
    const std::string pdf = render_pdf(weights(20, 9, all_open), face);
    EXPECT_EQ(count(pdf, "/Interpolate false"), 1u);
    EXPECT_EQ(count(pdf, "/Interpolate true"), 0u);
}

TEST(RenderVectorTest, BeyondSoManyCellsTheMatrixIsAnImageWithItsLinesOverIt) {
    const TextFace face;
    const int n = 256;
    ASSERT_EQ(static_cast<std::size_t>(n * n), k_max_cell_shapes);
    const std::string shapes = render_svg(weights(n, 24, all_open), face, "");
    EXPECT_EQ(count(shapes, "<image "), 0u);
    EXPECT_GT(count(shapes, "<path "), k_max_cell_shapes);
    const Figure figure = weights(n + 1, 24, causal);
    const std::string svg = render_svg(figure, face, "");
    EXPECT_LT(count(svg, "<path "), 2000u);
    EXPECT_LT(svg.size(), std::size_t{2} << 20);
    EXPECT_LT(render_pdf(figure, face).size(), std::size_t{1} << 20);
    const Pixels image = image_in(svg);
    const int side = image.width / (n + 1);
    EXPECT_EQ(image.width, side * (n + 1));
    EXPECT_GT(side, 4);
    for (const auto& [r, c] : {std::pair{0, 0}, {256, 255}, {100, 31}, {31, 100}})
        EXPECT_EQ(pixel(image, side * c, side * r + side - 1), figure.fill(figure.cell(r, c)));
}

TEST(RenderVectorTest, AMaskTooRaggedForShapesIsInTheImage) {
    const TextFace face;
    const Figure figure = weights(520, 2, [](int, int r, int c) { return (r + c) % 2 == 0 ? 1.f : 0.f; });
    const std::string svg = render_svg(figure, face, "");
    EXPECT_EQ(image_in(svg).width, 520 * 2);
    EXPECT_LT(svg.size(), std::size_t{4} << 20);
}

TEST(RenderVectorTest, TheSessionIsInside) {
    const TextFace face;
    const std::string session = "{\"note\": \"a < b && c > d \\\"ü\\\" \xEF\xBF\xBF\"}\n";
    const std::string svg = render_svg(causal_example(), face, session);
    EXPECT_EQ(read_svg_session(svg, "test"), "{\"note\": \"a < b && c > d \\\"ü\\\" \\uffff\"}\n");
    std::string saved = svg;  // by a program that writes quotation marks otherwise
    for (std::size_t at = saved.find("{\"note\"") + 1; saved[at] == '"';) saved.replace(at, 1, "&quot;");
    EXPECT_EQ(read_svg_session(saved, "test"), read_svg_session(svg, "test"));
    for (const std::string& bare : {render_svg(causal_example(), face, ""), std::string("<svg/>")}) {
        try {
            read_svg_session(bare, "a.svg");
            FAIL();
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::bad_input);
            EXPECT_STREQ(error.what(),
                         "a.svg is a picture without an attnscope session: open one that attnscope exported");
        }
    }
    EXPECT_THROW(read_svg_session(svg.substr(0, svg.find("a &lt;")), "test"), Error);
    EXPECT_THROW(read_svg_session(svg, "test", 20), Error);
}

TEST(RenderVectorTest, APageIsNotLongerThanViewersShow) {
    const TextFace face;
    const StagePtr stage = make_stage(k_embedding, 1, 60, 2, magnitude);
    Presentation presentation;
    presentation.cell_size = 500;
    const std::string pdf =
        render_pdf(make_figure(make_trace(words(60), {stage}), *stage, k_first, presentation), face);
    const std::size_t box = pdf.find("/MediaBox [ 0 0 ");
    ASSERT_NE(box, pdf.npos);
    EXPECT_NE(pdf.substr(box, 60).find(" 14400 ]"), std::string::npos) << pdf.substr(box, 60);
}

TEST(RenderVectorTest, AnEmptyMatrixIsAPictureToo) {
    const TextFace face;
    const Figure figure = weights(0, 48, all_open);
    EXPECT_TRUE(render_svg(figure, face, "").ends_with("</svg>\n"));
    EXPECT_TRUE(render_pdf(figure, face).ends_with("%%EOF\n"));
}

TEST(RenderVectorTest, EveryStepCanBeTheLast) {
    const TextFace face;
    const Figure figure = weights(12, 48, causal, "", true);
    const auto stops = [&](const auto& render) {
        int steps = 0;
        double last = -1;
        const std::string whole = render([&](double part) {
            EXPECT_GE(part, last);
            EXPECT_LE(part, 1);
            last = part;
            return ++steps > 0;
        });
        EXPECT_GT(steps, 12);
        for (const int at : {1, 2, 12, steps - 1, steps}) {
            int step = 0;
            EXPECT_THROW(render([&](double) { return ++step < at; }), Canceled) << at << " of " << steps;
        }
        EXPECT_EQ(render({}), whole);
    };
    stops([&](const Progress& progress) {
        return collected([&](const ByteSink& to) { write_png(page_of(figure, face), "{}", to, progress); });
    });
    stops([&](const Progress& progress) { return render_svg(figure, face, "{}", progress); });
    stops([&](const Progress& progress) { return render_pdf(figure, face, progress); });
}

// With programs that need not be there
// -----------------------------------------------------------------------------------------------------

bool is_installed(const std::string& program) {
    return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

TEST(RenderVectorTest, RsvgConvertShowsTheCellsOfThePng) {
    if (!is_installed("rsvg-convert")) GTEST_SKIP() << "rsvg-convert is not installed";
    const TextFace face;
    const TemporaryFolder folder;
    for (const int cell_size : {10, 31, 48}) {
        const Figure figure = weights(12, cell_size, causal);
        const FigureLayout layout = lay_out(figure, face);
        write_file(folder.file("a.svg"), render_svg(figure, face, "{}"));
        ASSERT_EQ(
            std::system(("rsvg-convert -o " + folder.file("a.png") + " " + folder.file("a.svg")).c_str()), 0);
        const Pixels pixels = decode_png(read_file(folder.file("a.png")), "a.png");
        EXPECT_EQ((Size{pixels.width, pixels.height}), layout.size);
        for (int r = 0; r < 12; ++r)
            for (int c = 0; c <= r; ++c) {
                const Box cell = layout.cell(figure, r, c);
                ASSERT_EQ(pixel(pixels, cell.x + cell.width / 2, cell.y + cell.height / 2),
                          figure.fill(figure.cell(r, c)));
            }
    }
}

TEST(RenderVectorTest, PdftotextReadsTitleLabelsAndValues) {
    if (!is_installed("pdftotext")) GTEST_SKIP() << "pdftotext is not installed";
    const TemporaryFolder folder;
    const Figure figure = causal_example();
    write_file(folder.file("a.pdf"), render_pdf(figure, TextFace()));
    ASSERT_EQ(std::system(("pdftotext -layout " + folder.file("a.pdf") + " " + folder.file("a.txt")).c_str()),
              0);
    const std::string text = read_file(folder.file("a.txt"));
    for (const std::string& expected :
         {figure.title, figure.row_labels[5], figure.text(figure.cell(7, 2)), std::string("custom")})
        EXPECT_NE(text.find(expected), text.npos) << expected << " in\n" << text;
}

}  // namespace
}  // namespace attnscope
