// The JSON of a whole trace, as read by scripts.
#include "core/export/trace_json.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/session/session.h"
#include "tests/special_numbers.h"
#include "tests/written.h"

namespace attnscope {
namespace {

using namespace test;

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

Json parsed(const Trace& trace, const Names& names = {}) {
    return Json::parse(written_trace_json(trace, names));
}

Names keys(const Json& object) {
    Names names;
    for (const auto& [name, value] : object.items()) names.push_back(name);
    return names;
}

float number(const Json& value) {
    if (value.is_null()) return -k_infinity;
    if (value == "nan") return std::numeric_limits<float>::quiet_NaN();
    if (value == "inf") return k_infinity;
    EXPECT_TRUE(value.is_number()) << value;
    return value.get<float>();
}

/// Every value of every stage and parameter, through the text, to the bit; and the shapes.
void expect_all_values(const Trace& trace) {
    const Json json = parsed(trace);
    for (const StageRecord& record : trace.records) {
        const Stage& stage = *record.stage;
        const std::string name(stage.name());
        const Json& written = json[json["stages"].contains(name) ? "stages" : "parameters"][name];
        const Shape& shape = stage.shape();
        std::vector<int> expected_shape;
        if (shape.per_head) expected_shape.push_back(shape.heads);
        expected_shape.push_back(shape.rows);
        if (name != "tokens") expected_shape.push_back(shape.columns);
        EXPECT_EQ(written["shape"], Json(expected_shape)) << name;
        EXPECT_EQ(keys(written), (Names{"shape", "data"}));
        const Json& data = written["data"];
        ASSERT_EQ(data.size(), static_cast<std::size_t>(expected_shape[0])) << name;
        for (int h = 0; h < shape.heads; ++h) {
            const Json& matrix = shape.per_head ? data[std::size_t(h)] : data;
            ASSERT_EQ(matrix.size(), std::size_t(shape.rows)) << name;
            for (int i = 0; i < shape.rows; ++i) {
                if (name != "tokens") {
                    ASSERT_EQ(matrix[std::size_t(i)].size(), std::size_t(shape.columns));
                }
                for (int j = 0; j < shape.columns; ++j) {
                    const Json& cell =
                        name == "tokens" ? matrix[std::size_t(i)] : matrix[std::size_t(i)][std::size_t(j)];
                    const float value = stage.buffer.at(h, i, j);
                    if (std::isnan(value)) {
                        EXPECT_EQ(cell, "nan");
                    } else {
                        EXPECT_EQ(std::bit_cast<std::uint32_t>(number(cell)),
                                  std::bit_cast<std::uint32_t>(value))
                            << name << " " << cell;
                    }
                }
            }
        }
    }
}

TEST(TraceJsonTest, TheOutlineIsFixed) {
    const Trace trace = evaluate({});
    const Json json = parsed(trace);
    EXPECT_EQ(keys(json), (Names{"format", "version", "experiment", "backend", "rows", "columns", "stages",
                                 "parameters"}));
    EXPECT_EQ(json["format"], "attnscope-trace");
    EXPECT_EQ(json["version"], 1);
    EXPECT_EQ(json["backend"], "cpu");
    EXPECT_EQ(json["rows"], Json({"Can", "you", "help", "me", "to", "translate", "this", "sentence"}));
    EXPECT_EQ(json["columns"], json["rows"]);
    EXPECT_EQ(keys(json["stages"]), (Names{"tokens", "embedding", "query", "key", "value", "scores", "scaled",
                                           "mask", "masked", "weights", "context"}));
    EXPECT_EQ(keys(json["parameters"]), (Names{"table", "W_q", "W_k", "W_v"}));
    EXPECT_EQ(json["stages"]["tokens"]["shape"], Json({8}));
    EXPECT_EQ(json["stages"]["mask"]["shape"], Json({8, 8}));
}

TEST(TraceJsonTest, OneHeadKeepsItsDimension) {
    const Json json = parsed(evaluate({}));
    for (const char* name : {"scores", "scaled", "masked", "weights"})
        EXPECT_EQ(json["stages"][name]["shape"], Json({1, 8, 8})) << name;
    EXPECT_EQ(json["stages"]["context"]["shape"], Json({1, 8, 16}));
    EXPECT_EQ(json["stages"]["embedding"]["shape"], Json({8, 16}));
}

TEST(TraceJsonTest, SeveralHeadsHaveAllTheirStages) {
    Experiment experiment;
    experiment.attention.heads = 4;
    experiment.attention.output_projection = true;
    const Json json = parsed(evaluate(experiment));
    EXPECT_EQ(json["stages"]["query_heads"]["shape"], Json({4, 8, 4}));
    EXPECT_EQ(json["stages"]["weights"]["shape"], Json({4, 8, 8}));
    EXPECT_EQ(json["stages"]["concat"]["shape"], Json({8, 16}));
    EXPECT_EQ(json["stages"]["output"]["shape"], Json({8, 16}));
    EXPECT_EQ(json["parameters"]["W_o"]["shape"], Json({16, 16}));
}

TEST(TraceJsonTest, EveryValueIsReadBackToTheBit) {
    expect_all_values(evaluate({}));
    Experiment experiment;
    experiment.attention.heads = 4;
    experiment.attention.projection = Projection::mha;
    experiment.attention.output_projection = true;
    experiment.weighting.mask = {{MaskForm::causal, {}}, {MaskForm::valid, {0, 1, 2, 3, 4, 5, 6, 7}}};
    expect_all_values(evaluate(experiment));
}

TEST(TraceJsonTest, ExtremeValuesAreReadBackToTheBit) {
    Matrix scores(2, 5);
    scores << 1e-45f, 3.4028235e38f, -0.f, 16777217.f, 1.17549435e-38f,  //
        std::numeric_limits<float>::quiet_NaN(), k_infinity, -k_infinity, 1.0000001f, -1e10f;
    Experiment experiment;
    experiment.attention.scale = {Scale::Kind::none};
    experiment.weights.custom.emplace("scores", CustomMatrix(scores));
    const Trace trace = evaluate(experiment);
    expect_all_values(trace);
    const Json data = parsed(trace)["stages"]["scores"]["data"][0];
    EXPECT_EQ(data[1][0], "nan");
    EXPECT_EQ(data[1][1], "inf");
    EXPECT_TRUE(data[1][2].is_null());
    EXPECT_EQ(parsed(trace)["rows"], Json::array());
}

TEST(TraceJsonTest, MaskedCellsAreNullInMaskedAndZeroInWeights) {
    Experiment experiment;
    experiment.weighting.mask = {{MaskForm::causal, {}}};
    const Json json = parsed(evaluate(experiment));
    for (std::size_t i = 0; i < 8; ++i)
        for (std::size_t j = 0; j < 8; ++j) {
            EXPECT_EQ(json["stages"]["masked"]["data"][0][i][j].is_null(), j > i);
            EXPECT_EQ(json["stages"]["mask"]["data"][i][j], j > i ? 0 : 1);
            EXPECT_FALSE(json["stages"]["scaled"]["data"][0][i][j].is_null());
            if (j > i) {
                EXPECT_EQ(json["stages"]["weights"]["data"][0][i][j], 0);
            }
        }
}

TEST(TraceJsonTest, NumbersHaveAtMostNineSignificantDigits) {
    const std::string text = written_trace_json(evaluate({}), Names{"scores"});
    std::size_t longest = 0;
    for (std::size_t i = text.find("\"data\""); i < text.find("\"parameters\"");) {
        i = text.find_first_of("0123456789", i);
        if (i == std::string::npos) break;
        std::size_t digits = 0;
        bool leading = true;
        for (; i < text.size() && std::string_view("0123456789.").find(text[i]) != std::string_view::npos;
             ++i) {
            if (text[i] != '0' && text[i] != '.') leading = false;
            if (!leading && text[i] != '.') ++digits;
        }
        longest = std::max(longest, digits);
    }
    EXPECT_EQ(longest, 9u);
}

TEST(TraceJsonTest, NamesPickStagesAndParameters) {
    const Trace trace = evaluate({});
    const Json json = parsed(trace, {"weights", "W_q"});
    EXPECT_EQ(keys(json["stages"]), Names{"weights"});
    EXPECT_EQ(keys(json["parameters"]), Names{"W_q"});
    try {
        written_trace_json(trace, Names{"output"});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::bad_input);
        EXPECT_NE(std::string(error.what()).find("no stage output"), std::string::npos);
    }
}

TEST(TraceJsonTest, AHeadOrTheMeanStandsAloneInItsDimension) {
    Experiment experiment;
    experiment.attention.heads = 4;
    const Trace trace = evaluate(experiment);
    const auto stages = [&](HeadChoice head) {
        return Json::parse(written_trace_json(trace, {}, head))["stages"];
    };
    const Json all = stages({HeadChoice::Kind::all});
    EXPECT_EQ(all, parsed(trace)["stages"]);
    const Json third = stages({HeadChoice::Kind::one, 2});
    EXPECT_EQ(third["weights"]["shape"], Json({1, 8, 8}));
    for (const char* name : {"weights", "context", "query_heads"})
        EXPECT_EQ(third[name]["data"], Json::array({all[name]["data"][2]})) << name;
    EXPECT_EQ(third["concat"], all["concat"]);
    const Json mean = stages({HeadChoice::Kind::mean});
    EXPECT_EQ(mean["weights"]["shape"], Json({1, 8, 8}));
    EXPECT_EQ(number(mean["weights"]["data"][0][1][4]),
              trace.find("weights"_stage)->buffer.mean().at(0, 1, 4));
    EXPECT_EQ(mean["context"], all["context"]) << "not N × M: every head";
    EXPECT_THROW(stages({HeadChoice::Kind::one, 4}), Error);
}

TEST(TraceJsonTest, TheExperimentIsASessions) {
    Experiment experiment;
    experiment.input.text = "a \"b\"\n語";
    experiment.weights.seed = Seed::from_unsigned(18446744073709551615u);
    experiment.input.dim = 4;
    const Json json = parsed(evaluate(experiment));
    const std::string session = Json{{"experiment", json["experiment"]}}.dump();
    EXPECT_TRUE(session_from_json(session, "trace").experiment == experiment);
    EXPECT_EQ(json["rows"], Json({"a", "\"", "b", "\"", "語"}));
}

TEST(TraceJsonTest, TheSameExperimentGivesTheSameBytes) {
    const std::string text = written_trace_json(evaluate({}));
    EXPECT_EQ(text, written_trace_json(evaluate({})));
    EXPECT_TRUE(text.ends_with("}\n"));
}

TEST(TraceJsonTest, ItGoesOutRowByRow) {
    Experiment experiment;
    experiment.input.text.clear();
    for (int i = 0; i < 300; ++i) experiment.input.text += "w" + std::to_string(i) + " ";
    const Trace trace = evaluate(experiment);
    std::size_t whole = 0, longest = 0;
    write_trace_json(trace, Names{"weights"}, {HeadChoice::Kind::all}, {}, [&](std::string_view bytes) {
        whole += bytes.size();
        longest = std::max(longest, bytes.size());
    });
    EXPECT_GT(whole, 90'000u * 4);
    EXPECT_LT(longest, 300u * 24) << "a row of numbers, or the words";
}

TEST(TraceJsonTest, WhatTheTraceDoesNotHaveIsRefusedBeforeAnythingIsWritten) {
    const Trace trace = evaluate({});
    const auto refused = [&](const Names& names, const HeadChoice& head,
                             const std::optional<Region>& region) {
        bool is_written = false;
        EXPECT_THROW(
            write_trace_json(trace, names, head, region, [&](std::string_view) { is_written = true; }),
            Error);
        EXPECT_FALSE(is_written);
    };
    refused({"output"}, {HeadChoice::Kind::all}, {});
    refused({"weights"}, {HeadChoice::Kind::all}, Region{0, 0, 8, 9});
    Experiment two;
    two.attention.heads = 2;
    const Trace heads = evaluate(two);
    bool is_written = false;
    EXPECT_THROW(write_trace_json(heads, {}, {HeadChoice::Kind::one, 2}, {},
                                  [&](std::string_view) { is_written = true; }),
                 Error);
    EXPECT_FALSE(is_written);
}

TEST(TraceJsonTest, HiddenUnitsAreNestedBelowTheirKey) {
    Experiment e;
    e.input.text = "a b c";
    e.attention.score = Score::additive;
    e.weighting.hidden = 2;
    const Trace trace = evaluate(e);
    const std::vector<std::string> names = {"score_hidden"};
    const auto json = nlohmann::json::parse(written_trace_json(trace, names));
    const auto& stage = json["stages"]["score_hidden"];
    EXPECT_EQ(stage["shape"], nlohmann::json({1, 3, 3, 2}));
    EXPECT_EQ(stage["data"][0][1][2][1].get<float>(), trace.find("score_hidden"_stage)->buffer.at(0, 1, 5));
}

}  // namespace
}  // namespace attnscope
