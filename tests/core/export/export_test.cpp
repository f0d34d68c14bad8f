// Which files an export writes, and their contents.
#include "core/export/export.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "core/error.h"
#include "core/files/png.h"
#include "core/files/read_matrix.h"
#include "core/files/svg.h"
#include "core/graph/graph.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/picture/compose.h"
#include "core/picture/shown_matrix.h"
#include "core/session/examples.h"
#include "core/session/options.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;
using Kind = HeadChoice::Kind;

/// The default experiment on a short sentence, with small cells, so that pictures are quick to draw.
Session small_session(int heads) {
    Session session;
    session.experiment.input.text = "Can you help";
    session.experiment.input.dim = 4;
    session.experiment.attention.heads = heads;
    session.experiment.weighting.mask = {{MaskForm::causal, {}}};
    session.presentation.cell_size = 8;
    session.note = "look “here”";
    return session;
}

Names names_of(const Trace& trace, const ExportRequest& request) {
    Names names;
    for (const ExportItem& item : plan_export(trace, request)) names.push_back(item.file_name);
    return names;
}

std::string refusal(const Trace& trace, const ExportRequest& request) {
    try {
        plan_export(trace, request);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::bad_input);
        return error.what();
    }
    return "accepted";
}

std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

ExportItem only(const Trace& trace, const ExportRequest& request) {
    const auto items = plan_export(trace, request);
    EXPECT_EQ(items.size(), 1u);
    return items.at(0);
}

TEST(ExportTest, OneHeadIsNotNamedInTheFiles) {
    const Trace trace = evaluate(small_session(1).experiment);
    EXPECT_EQ(names_of(trace, {{}, {}, {FileFormat::png}}),
              (Names{"embedding.png", "query.png", "key.png", "value.png", "scores.png", "scaled.png",
                     "mask.png", "masked.png", "weights.png", "context.png"}));
    for (const HeadChoice head : {HeadChoice{Kind::all}, HeadChoice{Kind::mean}, HeadChoice{Kind::one, 5}})
        EXPECT_EQ(names_of(trace, {{"weights"}, head, {FileFormat::png}}), Names{"weights.png"});
}

TEST(ExportTest, SeveralHeadsAreNamedByNumberFrom1OrAsMean) {
    const Trace trace = evaluate(small_session(2).experiment);
    EXPECT_EQ(names_of(trace, {{"weights"}, {Kind::one, 1}, {FileFormat::png}}), Names{"weights-head2.png"});
    EXPECT_EQ(names_of(trace, {{"weights"}, {Kind::mean}, {FileFormat::png}}), Names{"weights-mean.png"});
    EXPECT_EQ(names_of(trace, {{"weights", "context"}, {Kind::all}, {FileFormat::csv}}),
              (Names{"weights-head1.csv", "weights-head2.csv", "context-head1.csv", "context-head2.csv"}));
    EXPECT_EQ(names_of(trace, {{"mask", "concat"}, {Kind::all}, {FileFormat::csv}}),
              (Names{"mask.csv", "concat.csv"}));
}

TEST(ExportTest, FormatsStandInTheOrderTheyAreAskedFor) {
    const Trace trace = evaluate(small_session(1).experiment);
    EXPECT_EQ(names_of(trace, {{"mask", "weights"}, {}, {FileFormat::npy, FileFormat::png}}),
              (Names{"mask.npy", "mask.png", "weights.npy", "weights.png"}));
}

TEST(ExportTest, TokensHaveDataAndAPictureOnlyByName) {
    const Trace trace = evaluate(small_session(1).experiment);
    EXPECT_EQ(names_of(trace, {{}, {}, {FileFormat::csv}}).front(), "tokens.csv");
    EXPECT_EQ(names_of(trace, {{}, {}, {FileFormat::png}}).front(), "embedding.png");
    EXPECT_EQ(names_of(trace, {{"tokens"}, {}, {FileFormat::png}}), Names{"tokens.png"});
}

TEST(ExportTest, ParametersAreWrittenWhenAskedForByName) {
    const Trace trace = evaluate(small_session(2).experiment);
    EXPECT_EQ(names_of(trace, {{"W_q", "table"}, {Kind::mean}, {FileFormat::npy}}),
              (Names{"W_q.npy", "table.npy"}));
}

TEST(ExportTest, TheMeanLeavesStagesOfOtherShapesToTheirHeads) {
    const Trace trace = evaluate(small_session(2).experiment);
    const Names names = names_of(trace, {{}, {Kind::mean}, {FileFormat::npy}});
    const auto has = [&](const char* name) { return std::ranges::count(names, name) == 1; };
    for (const char* name : {"scores-mean.npy", "scaled-mean.npy", "masked-mean.npy", "weights-mean.npy",
                             "query_heads-head1.npy", "query_heads-head2.npy", "context-head1.npy",
                             "context-head2.npy", "mask.npy", "concat.npy"})
        EXPECT_TRUE(has(name)) << name;
    EXPECT_FALSE(has("context-mean.npy"));
    EXPECT_EQ(refusal(trace, {{"context"}, {Kind::mean}, {FileFormat::npy}}),
              "context has no mean over heads, which only stages of queries × keys have: choose a head");
}

TEST(ExportTest, WhatIsNotThereIsRefused) {
    const Trace trace = evaluate(small_session(2).experiment);
    EXPECT_EQ(refusal(trace, {{"output"}, {}, {FileFormat::png}}),
              "this experiment has no stage output: its settings leave it out");
    EXPECT_EQ(refusal(trace, {{"gate_r"}, {}, {FileFormat::png}}),
              "this experiment has no stage gate_r: choose mechanism seq2seq");
    EXPECT_EQ(refusal(trace, {{"target_tokens"}, {}, {FileFormat::png}}),
              "this experiment has no stage target_tokens: choose mechanism seq2seq or transformer");
    EXPECT_EQ(refusal(trace, {{"nonsense"}, {}, {FileFormat::png}}),
              "this experiment has no stage nonsense: see the names that trace prints");
    EXPECT_EQ(refusal(trace, {{"weights"}, {Kind::one, 2}, {FileFormat::png}}),
              "head 3 was requested, but there are 2 heads");
    EXPECT_EQ(refusal(trace, {{}, {}, {FileFormat::gif}}),
              "gif is for films: use png, svg, pdf, csv, npy, json");
}

TEST(ExportTest, WhatIsTooLargeInPixelsLeavesInShapes) {
    Session session = small_session(1);
    session.experiment.input.text.clear();
    for (int i = 0; i < 100; ++i) session.experiment.input.text += "word ";
    session.presentation.cell_size = 400;
    const Trace trace = evaluate(session.experiment);
    const auto bytes = [&](FileFormat format) {
        return export_bytes(trace, session, only(trace, {{"weights"}, {}, {format}}));
    };
    try {
        bytes(FileFormat::png);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::too_large);
        EXPECT_STREQ(error.what(),
                     "a picture of \"weights\" (100 × 100) with cells of 400 pixels is larger than 32767 "
                     "pixels a side or 256 megapixels: use a cell size of at most 154");
    }
    EXPECT_NE(bytes(FileFormat::svg).substr(0, 400).find("width=\"4"), std::string::npos)
        << "over 40000 pixels";
    EXPECT_TRUE(bytes(FileFormat::pdf).starts_with("%PDF-"));
}

TEST(ExportTest, APictureCarriesTheLockedCellAndItsStage) {
    Session session = small_session(1);
    session.presentation.locked = Cell{2, 3};
    const Trace trace = evaluate(session.experiment);
    const auto carried = [&](const StageInfo* stage) {
        const std::string name(stage->name);
        const ExportItem item = only(trace, {{name}, {}, {FileFormat::png}});
        return session_from_json(read_png_session(export_bytes(trace, session, item), name), name);
    };
    for (const StageInfo* stage : {"context"_stage, "weights"_stage}) {
        EXPECT_EQ(carried(stage).presentation.stage, stage);
        EXPECT_EQ(carried(stage).presentation.locked, (Cell{2, 3}));
        EXPECT_EQ(carried(stage).presentation.locked_stage(), session.presentation.stage);
    }
}

TEST(ExportTest, AStageNamedTwiceIsWrittenOnce) {
    const Trace trace = evaluate(small_session(1).experiment);
    EXPECT_EQ(names_of(trace, {{"mask", "mask"}, {}, {FileFormat::csv, FileFormat::csv}}), Names{"mask.csv"});
}

TEST(ExportTest, EveryFormatGivesTheSameBytesTwice) {
    const Session session = small_session(2);
    const Trace trace = evaluate(session.experiment), again = evaluate(session.experiment);
    const ExportRequest request{{},
                                {Kind::all},
                                {FileFormat::png, FileFormat::svg, FileFormat::pdf, FileFormat::csv,
                                 FileFormat::npy, FileFormat::json}};
    const auto items = plan_export(trace, request), other = plan_export(again, request);
    ASSERT_EQ(items.size(), other.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        EXPECT_EQ(export_bytes(trace, session, items[i]), export_bytes(again, session, other[i]))
            << items[i].file_name;
        EXPECT_FALSE(export_bytes(trace, session, items[i]).empty());
    }
}

TEST(ExportTest, APictureHoldsItsSessionWithTheStageAndTheHeadOnShow) {
    Session session = small_session(2);
    session.presentation.head = {Kind::all};
    const Trace trace = evaluate(session.experiment);
    for (const HeadChoice head : {HeadChoice{Kind::one, 1}, HeadChoice{Kind::mean}}) {
        const std::string bytes =
            export_bytes(trace, session, only(trace, {{"scores"}, head, {FileFormat::png}}));
        Session expected = session;
        expected.presentation.stage = "scores"_stage;
        expected.presentation.head = head;
        EXPECT_EQ(read_png_session(bytes, "picture"), to_json(expected));
        EXPECT_TRUE(session_from_json(read_png_session(bytes, "picture"), "picture") == expected);
    }
}

/// What NumPy's documentation says of version 1.0: magic, length, a header, little-endian values.
std::vector<float> parse_npy(const std::string& bytes, const std::string& shape) {
    EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    const std::size_t length =
        static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
    EXPECT_EQ((10 + length) % 64, 0u);
    const std::string header = bytes.substr(10, length);
    EXPECT_EQ(header.substr(0, header.find('}') + 1),
              "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }");
    EXPECT_EQ(header.back(), '\n');
    std::vector<float> values((bytes.size() - 10 - length) / sizeof(float));
    std::memcpy(values.data(), bytes.data() + 10 + length, values.size() * sizeof(float));
    EXPECT_EQ(bytes.size(), 10 + length + values.size() * sizeof(float));
    return values;
}

TEST(ExportTest, NpyHoldsTheValuesOfTheStage) {
    const Session session = small_session(2);
    const Trace trace = evaluate(session.experiment);
    const auto check = [&](const char* stage, int head, const std::string& shape) {
        const ConstMatrixView values = trace.find_named(stage)->buffer.host().head(head);
        EXPECT_EQ(parse_npy(export_bytes(trace, session,
                                         only(trace, {{stage}, {Kind::one, head}, {FileFormat::npy}})),
                            shape),
                  std::vector<float>(values.data(), values.data() + values.size()));
    };
    check("masked", 1, "3, 3");
    check("context", 0, "3, 2");
    check("embedding", 0, "3, 4");
    check("tokens", 0, "3, 1");
}

TEST(ExportTest, CsvHoldsTheLabelsAndTheValuesOfTheStage) {
    const Session session = small_session(1);
    const Trace trace = evaluate(session.experiment);
    std::istringstream csv(export_bytes(trace, session, only(trace, {{"masked"}, {}, {FileFormat::csv}})));
    std::string line;
    ASSERT_TRUE(std::getline(csv, line));
    EXPECT_EQ(line, ",Can,you,help");
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(std::getline(csv, line));
        std::istringstream cells(line);
        std::string cell;
        ASSERT_TRUE(std::getline(cells, cell, ','));
        EXPECT_EQ(cell, trace.rows[std::size_t(i)]);
        for (int j = 0; j < 3; ++j) {
            ASSERT_TRUE(std::getline(cells, cell, ','));
            if (j > i) {
                EXPECT_EQ(cell, "-inf");
            } else {
                EXPECT_EQ(std::stof(cell), trace.find("masked"_stage)->buffer.at(0, i, j));
            }
        }
    }
    EXPECT_FALSE(std::getline(csv, line));
}

TEST(ExportTest, JsonHoldsTheLabelsAndTheValuesOfTheStage) {
    const Session session = small_session(2);
    const Trace trace = evaluate(session.experiment);
    const Json json = Json::parse(
        export_bytes(trace, session, only(trace, {{"masked"}, {Kind::one, 1}, {FileFormat::json}})));
    EXPECT_EQ(json["stage"], "masked");
    EXPECT_EQ(json["head"], 2);
    EXPECT_EQ(json["shape"], Json({3, 3}));
    EXPECT_EQ(json["rows"], Json({"Can", "you", "help"}));
    EXPECT_TRUE(json["data"][0][1].is_null());
    EXPECT_EQ(json["data"][2][1].get<float>(), trace.find("masked"_stage)->buffer.at(1, 2, 1));
}

/// Five words look at the patches of a picture.
Session image_session() {
    Session session = small_session(1);
    session.experiment.weighting.mask.clear();
    session.experiment.input.image = drawn_picture();
    session.experiment.input.grid = 2;
    session.presentation.view = ViewKind::image;
    return session;
}

TEST(ExportTest, AViewHasAPictureOfItsOwn) {
    const Trace trace = evaluate(image_session().experiment);
    EXPECT_EQ(
        names_of(trace, {{}, {}, {FileFormat::png, FileFormat::csv, FileFormat::svg}, ViewKind::image, true}),
        (Names{"image-view.png", "weights.csv", "image-view.svg"}));
    EXPECT_EQ(names_of(trace, {{"scores"}, {}, {FileFormat::png, FileFormat::csv}, ViewKind::image}),
              (Names{"image-view.png", "scores.png", "scores.csv"}));
    const Names all = names_of(trace, {{}, {}, {FileFormat::png}, ViewKind::image});
    EXPECT_EQ(all.front(), "image-view.png");
    EXPECT_EQ(all.back(), "context.png");
    EXPECT_EQ(names_of(trace, {{}, {}, {FileFormat::png}, ViewKind::pipeline, true}),
              names_of(trace, {{}, {}, {FileFormat::png}}));
    Experiment heads = image_session().experiment;
    heads.attention.heads = 2;
    const Trace several = evaluate(heads);
    EXPECT_EQ(names_of(several, {{}, {Kind::all}, {FileFormat::png}, ViewKind::image, true}),
              (Names{"image-view-head1.png", "image-view-head2.png"}));
    EXPECT_EQ(names_of(several, {{}, {Kind::mean}, {FileFormat::png}, ViewKind::image, true}),
              Names{"image-view-mean.png"});
}

TEST(ExportTest, AnAlignmentLeavesWithItsLines) {
    Session session = small_session(1);
    session.experiment.mechanism = MechanismKind::seq2seq;
    session.experiment.weighting.mask.clear();
    const Trace trace = evaluate(session.experiment);
    session.presentation.view = ViewKind::alignment;
    session.presentation.stage = "alignment"_stage;
    session.presentation.locked = Cell{1, 1};
    for (const FileFormat format : {FileFormat::png, FileFormat::svg, FileFormat::pdf}) {
        const ExportItem item = only(trace, {{}, {}, {format}, ViewKind::alignment, true});
        EXPECT_EQ(item.file_name, "alignment-view." + std::string(name_of(format)));
        const std::string bytes = export_bytes(trace, session, item);
        EXPECT_EQ(bytes, export_bytes(trace, session, item)) << name_of(format);
        EXPECT_NE(bytes, export_bytes(trace, session, only(trace, {{"alignment"}, {}, {format}})))
            << name_of(format);
    }
    EXPECT_EQ(session_from_json(
                  read_svg_session(
                      export_bytes(trace, session,
                                   only(trace, {{}, {}, {FileFormat::svg}, ViewKind::alignment, true})),
                      "it"),
                  "it"),
              session);
}

TEST(ExportTest, AViewThatShowsNothingIsRefusedWhereItIsAskedFor) {
    const Trace trace = evaluate(small_session(1).experiment);
    const std::string needs = "the view image needs a picture (--image)";
    EXPECT_EQ(refusal(trace, {{}, {}, {FileFormat::png}, ViewKind::image, true}), needs);
    EXPECT_EQ(refusal(trace, {{"weights"}, {}, {FileFormat::png}, ViewKind::image}), needs);
    EXPECT_EQ(names_of(trace, {{}, {}, {FileFormat::png}, ViewKind::image}),
              names_of(trace, {{}, {}, {FileFormat::png}}));
}

TEST(ExportTest, AViewsPictureOpensAsTheViewWithItsWord) {
    Session session = image_session();
    session.presentation.stage = "scores"_stage;
    session.presentation.locked = Cell{2, 1};
    const Trace trace = evaluate(session.experiment);
    for (const FileFormat format : {FileFormat::png, FileFormat::svg, FileFormat::pdf}) {
        const ExportItem item = only(trace, {{}, {}, {format}, ViewKind::image, true});
        const std::string bytes = export_bytes(trace, session, item);
        EXPECT_EQ(bytes, export_bytes(trace, session, item)) << name_of(format);
        session.presentation.locked = Cell{0, 1};
        EXPECT_NE(bytes, export_bytes(trace, session, item)) << name_of(format);
        session.presentation.locked = Cell{2, 1};
        if (format == FileFormat::pdf) continue;
        const std::string inside =
            format == FileFormat::png ? read_png_session(bytes, "it") : read_svg_session(bytes, "it");
        EXPECT_EQ(session_from_json(inside, "it"), session) << name_of(format);
    }
}

class ExportFilesTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("attnscope-export-test-" + std::to_string(::getpid()));
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }
    Names in_folder() const {
        Names names;
        for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename());
        std::ranges::sort(names);
        return names;
    }
    fs::path folder_;
};

TEST_F(ExportFilesTest, TheFilesAreThoseOfThePlan) {
    const Session session = small_session(2);
    const Trace trace = evaluate(session.experiment);
    const ExportRequest request{{"weights", "mask"}, {Kind::all}, {FileFormat::png, FileFormat::csv}};
    const Names paths = export_files(trace, session, request, folder_.string());
    const auto items = plan_export(trace, request);
    ASSERT_EQ(paths.size(), items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        EXPECT_EQ(paths[i], (folder_ / items[i].file_name).string());
        EXPECT_EQ(read(paths[i]), export_bytes(trace, session, items[i]));
    }
    EXPECT_EQ(in_folder().size(), items.size());
}

TEST_F(ExportFilesTest, APictureOpensAsTheSessionItWasMadeFrom) {
    Session session = small_session(2);
    session.presentation.title = "Abbildung 1: “Gewichte”";
    session.presentation.theme = ThemeKind::print;
    const Trace trace = evaluate(session.experiment);
    const Names paths =
        export_files(trace, session, {{"context"}, {Kind::one, 1}, {FileFormat::png}}, folder_.string());
    Session expected = session;
    expected.presentation.stage = "context"_stage;
    expected.presentation.head = {Kind::one, 1};
    EXPECT_TRUE(load_session(paths.at(0)) == expected);
    // Exported again, it is the same file.
    const Session again = load_session(paths.at(0));
    const Trace other = evaluate(again.experiment);
    EXPECT_EQ(
        export_bytes(other, again, only(other, {{"context"}, again.presentation.head, {FileFormat::png}})),
        read(paths.at(0)));
}

TEST_F(ExportFilesTest, AnSvgOpensAsItsSessionAndAPdfSaysThatItHasNone) {
    Session session = small_session(2);
    session.presentation.title = "a < b & \"c\"";
    const Trace trace = evaluate(session.experiment);
    const Names paths = export_files(
        trace, session, {{"context"}, {Kind::one, 1}, {FileFormat::svg, FileFormat::pdf}}, folder_.string());
    ASSERT_EQ(in_folder(), (Names{"context-head2.pdf", "context-head2.svg"}));
    Session expected = session;
    expected.presentation.stage = "context"_stage;
    expected.presentation.head = {Kind::one, 1};
    EXPECT_TRUE(load_session(paths.at(0)) == expected);
    try {
        load_session(paths.at(1));
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.what(), paths.at(1) + " is a PDF, which holds no session: open the PNG or the SVG");
    }
}

TEST_F(ExportFilesTest, AFileThatIsGivenUpIsNotThere) {
    const Session session = small_session(1);
    const Trace trace = evaluate(session.experiment);
    for (const FileFormat format :
         {FileFormat::png, FileFormat::svg, FileFormat::pdf, FileFormat::csv, FileFormat::json}) {
        double last = 0;
        const Names paths = export_files(trace, session, {{"weights"}, {}, {format}}, folder_.string(),
                                         [&](const ExportStep& step) {
                                             last = step.part;
                                             return step.part < 0.5;
                                         });
        EXPECT_EQ(paths, Names{}) << name_of(format);
        EXPECT_GE(last, 0.5) << name_of(format);
    }
    EXPECT_EQ(in_folder(), Names{});
}

TEST_F(ExportFilesTest, WhatAKilledExportLeftIsCleared) {
    namespace fs = std::filesystem;
    const fs::path left = folder_ / ".weights.png.attnscope-4711-0.part";
    std::ofstream(left) << "half";
    fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
    const Session session;
    export_files(evaluate(session.experiment), session, {{"weights"}, {}, {FileFormat::csv}},
                 folder_.string());
    EXPECT_FALSE(fs::exists(left));
}

TEST_F(ExportFilesTest, ProgressStopsIt) {
    const Session session = small_session(1);
    const Trace trace = evaluate(session.experiment);
    std::vector<std::size_t> seen;
    export_files(trace, session, {{"mask", "weights", "scores"}, {}, {FileFormat::csv}}, folder_.string(),
                 [&](const ExportStep& step) {
                     EXPECT_EQ(step.of, 3u);
                     if (seen.empty() || seen.back() != step.done) seen.push_back(step.done);
                     return step.done < 2;
                 });
    EXPECT_EQ(seen, (std::vector<std::size_t>{0, 1, 2}));
    EXPECT_EQ(in_folder(), (Names{"mask.csv", "weights.csv"}));
}

TEST_F(ExportFilesTest, ARefusedRequestWritesNothing) {
    const Session session = small_session(1);
    const Trace trace = evaluate(session.experiment);
    EXPECT_THROW(export_files(trace, session, {{"mask", "output"}, {}, {FileFormat::csv}}, folder_.string()),
                 Error);
    EXPECT_THROW(
        export_files(trace, session, {{"mask"}, {}, {FileFormat::csv, FileFormat::gif}}, folder_.string()),
        Error);
    EXPECT_EQ(in_folder(), Names{});
    EXPECT_THROW(
        export_files(trace, session, {{"mask"}, {}, {FileFormat::csv}}, (folder_ / "absent").string()),
        Error);
}

TEST(PlanExportTest, ACompositionHasAFileForEachStageThatHasIt) {
    const Session session = load_example("multi-head");
    const Trace trace = evaluate(session.experiment);
    const auto names = [&](ExportRequest request) {
        Names files;
        for (const ExportItem& item : plan_export(trace, request)) files.push_back(item.file_name);
        return files;
    };
    ExportRequest request{
        .stages = {"weights"}, .head = {Kind::one, 1}, .formats = {FileFormat::png, FileFormat::csv}};
    request.compose = Compose::heads;
    EXPECT_EQ(names(request), (Names{"weights-heads.png", "weights-head2.csv"}));
    request.compose = Compose::operands;
    EXPECT_EQ(names(request), (Names{"weights-operands-head2.png", "weights-head2.csv"}));
    request.compose = Compose::strip;
    request.formats = {FileFormat::pdf};
    EXPECT_EQ(names(request), (Names{"strip.pdf"}));
    request.stages.clear();
    request.compose = Compose::operands;
    for (const ExportItem& item : plan_export(trace, request))
        EXPECT_EQ(why_not_composed(Compose::operands, trace, *item.stage, item.head), "") << item.file_name;
    request.stages = {"embedding"};
    request.compose = Compose::heads;
    EXPECT_THROW(names(request), Error) << "it has no heads";
}

/// How many heads of all stages were surveyed.
std::size_t count_surveyed(const Trace& trace) {
    std::size_t count = 0;
    for (const StagePtr& each : trace.stages())
        for (int h = 0; each->buffer.on_demand() && h < each->shape().heads; ++h)
            count += each->buffer.on_demand()->is_surveyed(h) ? 1 : 0;
    return count;
}

TEST(ExportTest, AWholeStageThatNoMemoryHoldsLeavesAsData) {
    Session session = small_session(2);
    session.experiment.input.text.clear();
    constexpr int k_tokens = 300;  // are read in two batches, the first in several parts
    for (int i = 0; i < k_tokens; ++i) session.experiment.input.text += "w" + std::to_string(i) + " ";
    const Trace whole = evaluate(session.experiment);
    const Trace trace = evaluate(session.experiment, {}, {.on_demand = {.most_cells = 0, .kept_cells = 12}});
    for (const char* const stage : {"scores", "weights"})
        for (const HeadChoice& head : {HeadChoice{Kind::one, 1}, HeadChoice{Kind::mean}}) {
            const auto bytes = [&](const Trace& of, FileFormat format) {
                return export_bytes(of, session, only(of, {{stage}, head, {format}}));
            };
            const Matrix values = matrix_from_npy(bytes(trace, FileFormat::npy), "long"),
                         expected = matrix_from_npy(bytes(whole, FileFormat::npy), "short");
            ASSERT_EQ(values.rows(), k_tokens);
            // Sums are taken in another order.
            EXPECT_TRUE(values.isApprox(expected, 1e-5f)) << stage;
            EXPECT_EQ(matrix_from_csv(bytes(trace, FileFormat::csv), "long"), values) << stage;
            Session part = session;
            part.presentation.region = Region{7, 5, 290, 11};
            const Matrix of_part = matrix_from_npy(
                export_bytes(trace, part, only(trace, {{stage}, head, {FileFormat::npy}})), "part");
            EXPECT_TRUE(of_part.isApprox(expected.block(7, 5, 290, 11), 1e-5f)) << stage;
            const auto json = nlohmann::json::parse(bytes(trace, FileFormat::json));
            for (int i = 0; i < k_tokens; i += 7)
                for (int j = 0; j < k_tokens; ++j)
                    ASSERT_EQ(
                        json["data"][static_cast<std::size_t>(i)][static_cast<std::size_t>(j)].get<float>(),
                        values(i, j))
                        << stage;
        }
}

TEST(ExportTest, PicturesOfManyHeadsOfAVeryLongTextKeepTheNewestSurveyAndThoseThatWereThere) {
    Session session = small_session(8);
    session.experiment.input.dim = 8;
    session.experiment.input.text.clear();
    for (int i = 0; i < 60; ++i) session.experiment.input.text += "w" + std::to_string(i) + " ";
    for (const RangeChoice::Kind range : {RangeChoice::Kind::all, RangeChoice::Kind::matrix}) {
        session.presentation.range = {range};
        std::vector<std::vector<std::string>> files;
        for (const bool all_are_there : {false, true}) {
            const Trace trace =
                evaluate(session.experiment, {}, {.on_demand = {.most_cells = 0, .kept_cells = 12}});
            const OnDemandValues& weights = *trace.find("weights"_stage)->buffer.on_demand();
            std::vector<KeptSurvey> there;
            for (int h = 0; h < (all_are_there ? 8 : 1); ++h) there.push_back(weights.survey(h, {}, {}));
            std::size_t most = 0;
            files.emplace_back();
            for (const ExportItem& item :
                 plan_export(trace, {.stages = {"weights"},
                                    .head = {Kind::all},
                                    .formats = {FileFormat::png, FileFormat::svg}})) {
                files.back().push_back(export_bytes(trace, session, item));
                most = std::max(most, count_surveyed(trace));
            }
            EXPECT_EQ(files.back().size(), 16u);
            EXPECT_EQ(most, all_are_there ? 8u : 2u);
            EXPECT_EQ(count_surveyed(trace), there.size()) << "once the plan is over";
            there.clear();
            EXPECT_EQ(count_surveyed(trace), 0u);
        }
        EXPECT_EQ(files[0], files[1]);
    }
}

/// The heads of stages on demand whose range is known, which takes a survey.
std::size_t count_known_ranges(const Trace& trace) {
    std::size_t count = 0;
    for (const StagePtr& each : trace.stages())
        for (int h = 0; each->buffer.on_demand() && h < each->shape().heads; ++h)
            count += each->buffer.known_range(h) ? 1 : 0;
    return count;
}

/// What a picture of a very long text is colored by is surveyed with progress, whichever range is chosen:
/// drawing it then surveys nothing.
TEST(ExportTest, AllThatAVeryLongTextIsColoredByIsSurveyedWithProgress) {
    using Range = RangeChoice::Kind;
    for (const Range kind :
         {Range::automatic, Range::matrix, Range::head, Range::all, Range::percentile, Range::fixed}) {
        Session session = small_session(2);
        session.experiment.input.text.clear();
        for (int i = 0; i < 60; ++i) session.experiment.input.text += "w" + std::to_string(i) + " ";
        session.presentation.range = {kind, -1, 1};
        for (const char* const stage : {"scores", "scaled", "weights"}) {
            const Trace trace =
                evaluate(session.experiment, {}, {.on_demand = {.most_cells = 0, .kept_cells = 12}});
            const ExportItem item = plan_export(trace, {.stages = {stage}, .head = {Kind::one, 1}}).front();
            double last = 0;
            std::size_t known = 0, largest_step = 0;
            const auto count = [&] {
                const std::size_t now = count_known_ranges(trace);
                largest_step = std::max(largest_step, now - std::exchange(known, now));
            };
            export_bytes(trace, session, item, [&](double part) {
                EXPECT_GE(part, last);
                last = part;
                count();
                return true;
            });
            count();
            // Each survey reports before it is complete: a second one without a report would be seen with it.
            EXPECT_EQ(largest_step, 1u) << stage << " " << static_cast<int>(kind);
            EXPECT_GE(known, kind == Range::all ? 2u : 1u) << stage;
        }
    }
}

TEST(ExportTest, CustomScoresOfAVeryLongTextAreInMemoryAndNotSurveyed) {
    Session session = small_session(1);
    session.experiment.input.text = "a b c d e f";
    session.experiment.weights.set_custom("scores", Matrix::Constant(6, 6, 0.5f));
    session.experiment.attention.scale = {Scale::Kind::none};
    session.presentation.range = {RangeChoice::Kind::head};
    const Trace trace = evaluate(session.experiment, {}, {.on_demand = {.most_cells = 0, .kept_cells = 12}});
    ASSERT_FALSE(trace.find("scores"_stage)->buffer.on_demand());
    for (const char* const stage : {"scores", "scaled", "weights"}) {
        const ExportItem item = plan_export(trace, {.stages = {stage}}).front();
        EXPECT_TRUE(is_png(export_bytes(trace, session, item))) << stage;
    }
}

TEST(ExportTest, OnlyWhatAFileReadsIsComputed) {
    constexpr std::size_t k_largest = 100'000;  // bytes of an example
    std::size_t fewer = 0, means = 0, row = 0;
    std::set<MechanismKind> mechanisms_seen;
    std::vector<NamedExample> examples = all_examples();
    examples.push_back({"two heads", {}});
    examples.back().session.experiment.attention.heads = 2;
    examples.back().session.experiment.weighting.mask = {{MaskForm::causal}};
    for (const auto& [name, example] : examples)
        for (const RangeChoice::Kind range : {RangeChoice::Kind::automatic, RangeChoice::Kind::head}) {
            Session session = example;
            session.presentation.range.kind = range;
            session.presentation.compose = Compose::none;
            session.presentation.gradients = false;
            session.presentation.lock("weights"_stage, {});  // whose gradient is not shown
            if (bytes_of(build(session.experiment)) > k_largest) continue;
            const Trace whole = evaluate(session.experiment);
            mechanisms_seen.insert(session.experiment.mechanism);
            std::set<std::pair<const StageInfo*, HeadChoice::Kind>> wanted;
            for (const StageRecord& record : whole.records) {
                wanted.emplace(record.stage->info, HeadChoice::Kind::one);
                if (has_mean(*record.stage)) wanted.emplace(record.stage->info, HeadChoice::Kind::mean);
            }
            for (const auto& [stage, kind] : wanted) {
                means += kind == HeadChoice::Kind::mean ? 1 : 0;
                if (!test::is_visited(row++, 4)) continue;
                const ExportRequest request{.stages = {std::string(stage->name)},
                                            .head = {kind, 0},
                                            .formats = {FileFormat::svg, FileFormat::json}};
                const Trace part = evaluate(session.experiment, {}, reading_only({}, session, request));
                fewer += whole.records.size() - part.records.size();
                const std::vector<ExportItem> items = plan_export(whole, request),
                                              of_part = plan_export(part, request);
                ASSERT_EQ(items.size(), of_part.size()) << name << " " << stage->name;
                for (std::size_t i = 0; i < items.size(); ++i)
                    EXPECT_EQ(export_bytes(whole, session, items[i]), export_bytes(part, session, of_part[i]))
                        << name << " " << items[i].file_name;
            }
        }
    EXPECT_GT(fewer, test::k_sanitized ? 250u : 1000u);
    EXPECT_EQ(means, 2u * 4u) << "scores, scaled, masked, weights";
    EXPECT_TRUE(mechanisms_seen.contains(MechanismKind::transformer));
}

}  // namespace
}  // namespace attnscope
