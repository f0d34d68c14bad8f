#include "core/export/matrix_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/picture/figure.h"
#include "tests/picture_fixture.h"
#include "tests/written.h"

namespace attnscope {
namespace {

using namespace test;

constexpr HeadChoice k_all{HeadChoice::Kind::all, 0};

TEST(MatrixFilesTest, MoreNumbersThanAreWrittenAreRefusedBeforeTheFirstByte) {
    Experiment e;
    e.input.dim = 8;
    e.input.text.clear();
    for (int i = 0; i < 70'000; ++i) e.input.text += "w ";
    const Trace trace = evaluate(e);
    const Stage& weights = *trace.find("weights"_stage);
    bool is_written = false;
    const ByteSink to = [&](std::string_view) { is_written = true; };
    const std::vector<std::function<void()>> writers = {[&] { write_csv(trace, weights, {}, to); },
                                                        [&] { write_npy(weights, {}, to); },
                                                        [&] { write_json(trace, weights, {}, to); }};
    for (const auto& write : writers) {
        try {
            write();
            ADD_FAILURE() << "written";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::too_large);
            EXPECT_STREQ(
                error.what(),
                "70000 × 70000 values are too many to write, at most 4294967296: choose a smaller region");
        }
    }
    EXPECT_FALSE(is_written);
}

TEST(MatrixFilesTest, CsvHasLabelsOnBothSidesAndNineDigits) {
    const StagePtr scores =
        make_stage(k_scores, 2, 2, 2, [](int h, int r, int c) { return 0.1f * (h + 1) + r * 10.f - c; });
    const Trace trace = make_trace({"Can", "you"}, {scores});
    EXPECT_EQ(written_csv(trace, *scores, k_first),
              ",Can,you\nCan,0.100000001,-0.899999976\nyou,10.1000004,9.10000038\n");
    EXPECT_EQ(written_csv(trace, *scores, k_second).substr(0, 25), ",Can,you\nCan,0.200000003,");
    EXPECT_EQ(written_csv(trace, *scores, k_mean).substr(0, 25), ",Can,you\nCan,0.150000006,");
}

TEST(MatrixFilesTest, LatexIsATabularWithLabelsAndTheChosenDecimals) {
    const StagePtr scores =
        make_stage(k_scores, 2, 2, 2, [](int h, int r, int c) { return 0.1f * (h + 1) + r * 10.f - c; });
    const Trace trace = make_trace({"Can", "you"}, {scores});
    EXPECT_EQ(to_latex(trace, *scores, k_first, 2),
              "\\begin{tabular}{lrr}\n"
              " & Can & you \\\\\n"
              "\\hline\n"
              "Can & $0.10$ & $-0.90$ \\\\\n"
              "you & $10.10$ & $9.10$ \\\\\n"
              "\\end{tabular}\n");
    EXPECT_NE(to_latex(trace, *scores, k_second, std::nullopt).find("Can & $0.200$ & $-0.800$"),
              std::string::npos);
    EXPECT_NE(to_latex(trace, *scores, k_mean, 0).find("you & $10$ & $9$"), std::string::npos);
    EXPECT_THROW(to_latex(trace, *scores, k_all, 2), Error);
}

TEST(MatrixFilesTest, LatexEscapesWhatItWouldRead) {
    const StagePtr stage = make_stage(k_embedding, 1, 5, 1, [](int, int r, int) {
        const float values[] = {1, -k_infinity, k_infinity, std::nanf(""), 1e-9f};
        return values[r];
    });
    const Trace trace = make_trace({"50% & a_b", "#1 {$x^2~\\}", "a\nb", "Grüße", "<s>"}, {stage});
    EXPECT_EQ(to_latex(trace, *stage, k_first, std::nullopt),
              "\\begin{tabular}{lr}\n"
              " & 1 \\\\\n"
              "\\hline\n"
              "50\\% \\& a\\_b & $1.000$ \\\\\n"
              "\\#1 \\{\\$x\\^{}2\\~{}\\textbackslash{}\\} & $-\\infty$ \\\\\n"
              "a b & $\\infty$ \\\\\n"
              "Grüße & nan \\\\\n"
              "$<$s$>$ & $1 \\cdot 10^{-9}$ \\\\\n"
              "\\end{tabular}\n");
}

TEST(MatrixFilesTest, CsvQuotesWhatWouldBreakARow) {
    const StagePtr stage = make_stage(k_embedding, 1, 5, 1, [](int, int r, int) {
        const float values[] = {1, -k_infinity, k_infinity, std::nanf(""), 1e-9f};
        return values[r];
    });
    const Trace trace = make_trace({",", "say \"hi\"", "a\nb", "Grüße", ""}, {stage});
    EXPECT_EQ(written_csv(trace, *stage, k_first),
              ",1\n\",\",1\n\"say \"\"hi\"\"\",-inf\n\"a\nb\",inf\nGrüße,nan\n,9.99999972e-10\n");
}

TEST(MatrixFilesTest, NpyIsVersion1LittleEndianAndAlignedTo64Bytes) {
    const StagePtr scores =
        make_stage(k_scores, 2, 2, 3, [](int h, int r, int c) { return 100.f * h + 10.f * r + c; });
    const std::string bytes = written_npy(*scores, k_second);
    const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
    EXPECT_EQ(bytes.substr(10, 118), header + std::string(117 - header.size(), ' ') + "\n");
    ASSERT_EQ(bytes.size(), 128 + 6 * 4u);
    EXPECT_EQ(bytes.substr(128, 4), std::string("\x00\x00\xc8\x42", 4));  // 100
    float values[6];
    std::memcpy(values, bytes.data() + 128, sizeof values);
    EXPECT_EQ(values[1], 101);
    EXPECT_EQ(values[5], 112);
}

TEST(MatrixFilesTest, NpyHoldsAllHeadsWhenAsked) {
    const StagePtr scores =
        make_stage(k_scores, 2, 2, 3, [](int h, int, int) { return static_cast<float>(h); });
    const std::string bytes = written_npy(*scores, k_all);
    EXPECT_NE(bytes.find("'shape': (2, 2, 3), }"), std::string::npos);
    EXPECT_EQ(bytes.size() % 64, 12 * 4u % 64);
    const StagePtr mask = make_stage(k_mask, 1, 2, 3, [](int, int, int) { return 1.f; });
    EXPECT_NE(written_npy(*mask, k_all).find("'shape': (2, 3), }"), std::string::npos);
}

TEST(MatrixFilesTest, JsonIsReadBackAsItWas) {
    const StagePtr masked = make_stage(k_masked, 2, 2, 2, [](int h, int r, int c) {
        if (c > r) return -k_infinity;
        return h == 1 && r == 1 ? std::nanf("") : 0.1f * (h + 1);
    });
    const Trace trace = make_trace({"say \"hi\"", "\xff"}, {masked});
    const nlohmann::json json = nlohmann::json::parse(written_json(trace, *masked, k_second));
    EXPECT_EQ(json["stage"], "masked");
    EXPECT_EQ(json["head"], 2);
    EXPECT_EQ(json["shape"], (nlohmann::json{2, 2}));
    EXPECT_EQ(json["rows"][0], "say \"hi\"");
    EXPECT_EQ(json["data"][0][0].get<float>(), 0.2f);
    EXPECT_TRUE(json["data"][0][1].is_null());
    EXPECT_EQ(json["data"][1][1], "nan");
    EXPECT_EQ(nlohmann::json::parse(written_json(trace, *masked, k_mean))["head"], "mean");
}

TEST(MatrixFilesTest, ARegionIsWrittenWithItsLabels) {
    const StagePtr scores =
        make_stage(k_scores, 2, 4, 4, [](int h, int r, int c) { return h * 100.f + r * 10.f + c; });
    const Trace trace = make_trace({"a", "b", "c", "d"}, {scores});
    const Region region{1, 2, 2, 2};
    EXPECT_EQ(written_csv(trace, *scores, k_second, region), ",c,d\nb,112,113\nc,122,123\n");
    const nlohmann::json json = nlohmann::json::parse(written_json(trace, *scores, k_first, region));
    EXPECT_EQ(json["shape"], (nlohmann::json{2, 2}));
    EXPECT_EQ(json["rows"], (nlohmann::json{"b", "c"}));
    EXPECT_EQ(json["columns"], (nlohmann::json{"c", "d"}));
    EXPECT_EQ(json["data"], (nlohmann::json{{12, 13}, {22, 23}}));
    EXPECT_EQ(written_npy(*scores, k_second, region), to_npy(Matrix{{112, 113}, {122, 123}}));
    EXPECT_THROW(written_csv(trace, *scores, k_first, Region{3, 0, 2, 1}), Error);
}

TEST(MatrixFilesTest, CsvAndJsonHoldOneMatrix) {
    const StagePtr scores = make_stage(k_scores, 2, 1, 1, [](int, int, int) { return 1.f; });
    const Trace trace = make_trace(words(1), {scores});
    EXPECT_THROW(written_csv(trace, *scores, k_all), Error);
    EXPECT_THROW(written_json(trace, *scores, k_all), Error);
    EXPECT_THROW(written_npy(*scores, {HeadChoice::Kind::one, 2}), Error);
}

/// Two heads of 2 × 3 on a card, of which only the second can be read.
class SecondHead : public DeviceValues {
public:
    const Shape& shape() const override { return shape_; }
    void read(int head, int first, int count, float* rows) const override {
        if (head != 1) throw Error(ErrorKind::backend, "nobody asked for this head");
        for (int i = 0; i < count * 3; ++i) rows[i] = static_cast<float>(first * 3 + i);
    }
    Eigen::VectorXf column(int, int) const override { return {}; }
    ValueRange range(int) const override { return {.min = 0, .max = 5, .finite = 6}; }
    std::vector<float> row_largest(int) const override { return {}; }
    std::vector<float> column_largest(int) const override { return {}; }
    std::shared_ptr<const DeviceValues> mean() const override { return nullptr; }

private:
    Shape shape_{.heads = 2, .rows = 2, .columns = 3, .per_head = true};
};

TEST(MatrixFilesTest, OneHeadOfACardsValuesIsCopiedWithoutTheOthers) {
    const StagePtr scores(new Stage("scores"_stage, Buffer(std::make_shared<SecondHead>())));
    const Trace trace = make_trace({"Can", "you"}, {scores});
    EXPECT_EQ(written_npy(*scores, k_second).size(), 128 + 6 * 4u);
    EXPECT_NE(written_csv(trace, *scores, k_second).find("you,3,4,5"), std::string::npos);
    EXPECT_NE(written_json(trace, *scores, k_second).find("[3, 4, 5]"), std::string::npos);
    EXPECT_EQ(make_figure(trace, *scores, k_second, {}).values, (LargeVector<float>{0, 1, 2, 3, 4, 5}));
    EXPECT_THROW(written_npy(*scores, k_first), Error);
}

}  // namespace
}  // namespace attnscope
