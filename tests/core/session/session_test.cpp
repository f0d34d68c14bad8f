// Session files: they are read back as written, and errors name what cannot be read.
#include "core/session/session.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "core/error.h"
#include "core/experiment/masks.h"
#include "core/files/png.h"
#include "core/graph/trace.h"
#include "core/limits.h"
#include "core/mechanism/attention/scores.h"
#include "core/mechanism/evaluate.h"
#include "core/op/normalizers.h"
#include "core/random/initializers.h"
#include "core/session/examples.h"
#include "core/session/options.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"
#include "tests/drawn_sessions.h"
#include "tests/special_numbers.h"

namespace attnscope {
namespace {

using namespace test;

Session read_json(const std::string& text) { return session_from_json(text, "file.json"); }

std::string refusal_of(const std::string& text) {
    try {
        read_json(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::bad_input);
        const std::string message = error.what();
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
        EXPECT_LT(message.size(), 600u) << message;
        EXPECT_EQ(message.find("json.exception"), std::string::npos) << message;
        return message;
    }
    return "accepted";
}

/// The start of what `text` is refused with.
void expect_refusal(const std::string& text, const std::string& expected) {
    EXPECT_EQ(refusal_of(text).substr(0, expected.size()), expected) << text.substr(0, 200);
}

TEST(SessionTest, CaptionsThatNoScreenShowsAreRefused) {
    const auto with = [](const std::string& place, const std::string& field, const std::string& text) {
        return place.empty() ? "{\"" + field + "\": \"" + text + "\"}"
                             : "{\"" + place + "\": {\"" + field + "\": \"" + text + "\"}}";
    };
    struct Place {
        const char *object, *field;
        std::size_t bytes;
    };
    for (const auto& [place, field, bytes] : {Place{"", "note", k_max_note_bytes},
                                              {"presentation", "title", k_max_caption_bytes},
                                              {"presentation", "head_names", k_max_caption_bytes}}) {
        const std::string most(bytes, 'x');
        EXPECT_NO_THROW(read_json(with(place, field, most))) << field;
        EXPECT_THROW(read_json(with(place, field, most + "x")), Error) << field;
    }
    std::string heads;
    for (int head = 1; head <= 24 * 64 + 1; ++head) heads += (head > 1 ? ",1." : "1.") + std::to_string(head);
    EXPECT_THROW(read_json(with("experiment", "ablate", heads)), Error);
}

TEST(SessionTest, AnEmptyObjectIsTheDefaults) {
    EXPECT_TRUE(read_json("{}") == Session{});
    EXPECT_TRUE(read_json(R"({"version": 1, "experiment": {}, "presentation": {}, "note": ""})") ==
                Session{});
    EXPECT_TRUE(read_json("\xEF\xBB\xBF{}") == Session{}) << "with a byte order mark";
}

TEST(SessionTest, MissingFieldsTakeTheirDefaults) {
    const Session session =
        read_json(R"({"experiment": {"dim": 8, "heads": 2}, "presentation": {"head": "mean"}})");
    Session expected;
    expected.experiment.input.dim = 8;
    expected.experiment.attention.heads = 2;
    expected.presentation.head = {HeadChoice::Kind::mean};
    EXPECT_TRUE(session == expected);
}

TEST(SessionTest, EveryFieldIsWritten) {
    const Json json = Json::parse(to_json(Session{}));
    EXPECT_EQ(json["version"], 1);
    EXPECT_EQ(json["note"], "");
    for (const Option& option : options())
        EXPECT_TRUE(json[option.in_experiment() ? "experiment" : "presentation"].contains(option.json_name()))
            << option.name;
    EXPECT_TRUE(to_json(Session{}).ends_with("}\n"));
}

TEST(SessionTest, UnknownAndMisspelledFieldsAreRefusedByName) {
    expect_refusal(R"({"experimnt": {}})",
                   "file.json: the field \"experimnt\" is unknown; did you mean \"experiment\"?");
    expect_refusal(
        R"({"experiment": {"tempreature": 2}})",
        "file.json: the field \"experiment.tempreature\" is unknown; did you mean \"temperature\"?");
    expect_refusal(R"({"experiment": {"projection-seed": 2}})",
                   "file.json: the field \"experiment.projection-seed\" is unknown; did you mean "
                   "\"projection_seed\"?");
    expect_refusal(R"({"experiment": {"quite_another": 2}})",
                   "file.json: the field \"experiment.quite_another\" is unknown: remove it");
    expect_refusal(R"({"presentation": {"colourmap": "magma"}})",
                   "file.json: the field \"presentation.colourmap\" is unknown; did you mean \"colormap\"?");
    expect_refusal(R"({"presentation": {"seed": 1}})",
                   "file.json: the field \"presentation.seed\" is unknown");
    expect_refusal(R"({"experiment": {"theme": "dark"}})",
                   "file.json: the field \"experiment.theme\" is unknown");
    expect_refusal(R"({"experiment": {"given": {"W_Q": [[1]]}}})",
                   "file.json: the field \"experiment.given.W_Q\" is unknown; did you mean \"W_q\"?");
    expect_refusal(R"({"a\nb": 1})", "file.json: the field \"a\\nb\" is unknown");
    expect_refusal("{\"" + std::string(100'000, 'x') + "\": 1}", "file.json: the field \"xxx");
}

TEST(SessionTest, WrongTypesAreRefusedWithThePathOfTheField) {
    expect_refusal("[]", "file.json: expected an object {…}, not a list: open a session (.json)");
    expect_refusal("null", "file.json: expected an object {…}, not null: open a session (.json)");
    expect_refusal(R"({"experiment": []})", "file.json: experiment: expected an object {…}, not a list");
    expect_refusal(R"({"presentation": 3})", "file.json: presentation: expected an object {…}, not 3");
    expect_refusal(R"({"note": {}})", "file.json: note: expected a string, not an object");
    expect_refusal(R"({"experiment": {"text": 5}})", "file.json: experiment.text: expected a string, not 5");
    expect_refusal(R"({"experiment": {"dim": "16"}})",
                   "file.json: experiment.dim: expected a whole number, not \"16\"");
    expect_refusal(R"({"experiment": {"dim": 16.0}})",
                   "file.json: experiment.dim: expected a whole number, not 16.0");
    expect_refusal(R"({"experiment": {"output_projection": 1}})",
                   "file.json: experiment.output_projection: expected true or false, not 1");
    expect_refusal(R"({"experiment": {"mask": "causal"}})",
                   "file.json: experiment.mask: expected a list of rules such as [\"causal\"], not "
                   "\"causal\"");
    expect_refusal(R"({"experiment": {"mask": [3]}})",
                   "file.json: experiment.mask: expected a string, not 3");
    expect_refusal(R"({"presentation": {"head": 2.5}})",
                   "file.json: presentation.head: expected a head from 1 to 64, all or mean, not \"2.5\"");
    expect_refusal(
        R"({"experiment": {"tokenizer": "word"}})",
        "file.json: experiment.tokenizer: \"word\" is not known: use words, whitespace, characters");
}

TEST(SessionTest, SizesOutOfRangeAreRefusedWithTheirValue) {
    const auto sized = [](const std::string& field, const std::string& value) {
        return "{\"experiment\": {\"" + field + "\": " + value + "}}";
    };
    expect_refusal(sized("dim", "-1"), "file.json: experiment: dim -1 is out of range: use 1 to 1024");
    expect_refusal(sized("dim", "0"), "file.json: experiment: dim 0 is out of range: use 1 to 1024");
    expect_refusal(sized("dim", "1025"), "file.json: experiment: dim 1025 is out of range: use 1 to 1024");
    expect_refusal(sized("dim", "4294967312"), "file.json: experiment.dim: 4294967312 is out of range");
    expect_refusal(sized("dim", "18446744073709551632"),
                   "file.json: experiment.dim: 18446744073709551632 is out of range");
    expect_refusal(sized("dim", "-9223372036854775808"),
                   "file.json: experiment.dim: -9223372036854775808 is out of range");
    expect_refusal(sized("heads", "-4"), "file.json: experiment: heads -4 is out of range: use 1 to 64");
    expect_refusal(sized("heads", "65"), "file.json: experiment: heads 65 is out of range: use 1 to 64");
    expect_refusal(sized("heads", "3"), "file.json: experiment: heads 3 does not divide dim 16");
    expect_refusal(sized("table_size", "-1"), "file.json: experiment: table-size -1 is out of range");
    expect_refusal(sized("table_size", "1000001"),
                   "file.json: experiment: table-size 1000001 is out of range");
    expect_refusal(sized("temperature", "0"), "file.json: experiment: temperature must be above 0");
    expect_refusal(sized("temperature", "-1"), "file.json: experiment: temperature must be above 0");
    expect_refusal(sized("temperature", "1e-50"), "file.json: experiment: temperature must be above 0");
    expect_refusal(sized("temperature", "1e50"),
                   "file.json: experiment: temperature must be above 0 and finite");
    expect_refusal(sized("scale", "1e50"), "file.json: experiment: scale is not finite in float32");
}

TEST(SessionTest, SeedsAreExactToBothLimitsAndRefusedBeyond) {
    const auto seeded = [](const std::string& value) {
        return "{\"experiment\": {\"seed\": " + value + ", \"projection_seed\": " + value + "}}";
    };
    for (const char* value : {"-9223372036854775808", "-9223372036854775807", "-1", "0", "9007199254740993",
                              "9223372036854775807", "9223372036854775808", "18446744073709551615"}) {
        const Session session = read_json(seeded(value));
        EXPECT_EQ(session.experiment.weights.seed.text(), value);
        EXPECT_EQ(session.experiment.weights.projection_seed.seed.text(), value);
        EXPECT_NE(to_json(session).find("\"seed\": " + std::string(value) + ","), std::string::npos);
        EXPECT_TRUE(read_json(to_json(session)) == session);
    }
    for (const char* value : {"18446744073709551616", "-9223372036854775809", "1.5", "1e3", "\"1\"", "null"})
        expect_refusal(seeded(value),
                       "file.json: experiment.seed: expected a whole number from -2^63 to 2^64-1, not " +
                           std::string(value));
}

TEST(SessionTest, AWholeNumberBeyond64BitsIsQuotedAsTyped) {
    expect_refusal(R"({"experiment": {"projection_seed": -99999999999999999999}})",
                   "file.json: experiment.projection_seed: expected a whole number from -2^63 to 2^64-1, not "
                   "-99999999999999999999");
    expect_refusal(R"({"presentation": {"cell_size": 99999999999999999999}})",
                   "file.json: presentation.cell_size: 99999999999999999999 is out of range");
    EXPECT_LT(refusal_of(R"({"experiment": {"seed": )" + std::string(300, '9') + "}}").size(), 200u);
    EXPECT_EQ(
        read_json(R"({"experiment": {"scale": 100000000000000000000}})").experiment.attention.scale.number,
        1e20);
}

TEST(SessionTest, AFieldThatStandsTwiceIsRefusedByName) {
    expect_refusal(R"({"note": "a", "note": "a"})", "file.json: the field \"note\" is repeated: remove one");
    expect_refusal(R"({"experiment": {"seed": 1, "dim": 4, "seed": 2}})",
                   "file.json: the field \"experiment.seed\" is repeated");
    expect_refusal(R"({"experiment": {"given": {"query": [[1]], "query": [[1]]}}})",
                   "file.json: the field \"experiment.given.query\" is repeated");
    expect_refusal(R"({"experiment": {}, "presentation": {}, "experiment": {}})",
                   "file.json: the field \"experiment\" is repeated");
    EXPECT_TRUE(read_json(R"({"experiment": {"given": {}}, "presentation": {}})") == Session{});
}

TEST(SessionTest, OtherVersionsAreRefused) {
    expect_refusal(R"({"version": 2})",
                   "file.json: version: 2 is not supported: this attnscope reads version 1");
    expect_refusal(R"({"version": "1"})", "file.json: version: \"1\" is not supported");
    expect_refusal(R"({"version": null})", "file.json: version: null is not supported");
}

TEST(SessionTest, WhatIsNotJsonIsRefusedWithLineAndColumn) {
    const std::string start = "file.json: not a session: no valid JSON at ";
    expect_refusal("", start + "line 1, column 1");
    expect_refusal("hello", start + "line 1, column 1");
    expect_refusal("{\n  \"note\": x\n}", start + "line 2, column 11");
    expect_refusal("{\"note\": \"é\", x}", start + "line 1, column 15");
    expect_refusal("{} {}", start + "line 1, column 4");
    expect_refusal("{\"note\":", start + "line 1, column 9");
    expect_refusal("{\"note\": \"\xff\"}", start + "line 1, column 11");
    expect_refusal(std::string("{\0}", 3), start + "line 1, column 2");
    expect_refusal("{\"note\": NaN}", start + "line 1, column 10");
    EXPECT_NE(refusal_of("hello").find("open a session (.json) or a picture that attnscope exported"),
              std::string::npos);
    EXPECT_NE(
        refusal_of(R"({"experiment": {"scale": 1e999}})").find("not a session: a number in it is beyond"),
        std::string::npos);
}

TEST(SessionTest, DeepAndLongJunkIsRefusedQuickly) {
    const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
    expect_refusal(deep, "file.json: expected an object {…}, not a list: open a session (.json)");
    expect_refusal("{\"experiment\": {\"dim\": [[3]]}}",
                   "file.json: experiment.dim: expected a whole number, not a list");
    const std::string too_deep = ": more than 32 nested lists or objects";
    expect_refusal("{\"experiment\": {\"dim\": " + deep + "}}", "file.json: experiment.dim" + too_deep);
    expect_refusal("{\"experiment\": {\"given\": {\"query\": " + deep + "}}}",
                   "file.json: experiment.given.query" + too_deep);
    std::string objects, fields = "{\"experiment\": {";
    for (int i = 0; i < 100; ++i) objects += "{\"note\": ";
    expect_refusal(objects, "file.json: note.note");
    for (int i = 0; i < 10'001; ++i) fields += "\"" + std::to_string(i) + "\": 0, ";
    expect_refusal(fields, "file.json: it has more than 10000 fields");
    expect_refusal("{\"experiment\": {\"theme\": \"" + std::string(1'000'000, 'x') + "\"}}", "file.json: ");
    expect_refusal(R"({"experiment": {"tokenizer": ")" + std::string(1'000'000, 'x') + "\"}}", "file.json: ");
}

TEST(SessionTest, MoreValuesThanAnySessionHasAreRefusedBeforeTheyAreKept) {
    std::string text = "{\"experiment\": {\"given\": {\"query\": [[0";
    text.reserve(2 * k_max_json_elements + k_max_json_elements / 1000 * 4 + 100);
    for (std::size_t i = 1; i < k_max_json_elements; ++i) text += i % 1000 == 0 ? "],[0" : ",0";
    try {
        read_json(text);  // there is no end, which is not even looked for
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::too_large);
        EXPECT_STREQ(error.what(),
                     "file.json holds more than 20000000 values: use NPY files for its matrices (--given)");
    }
}

TEST(SessionTest, MoreRowsOrColumnsThanAMatrixMayHaveAreRefusedBeforeTheyAreKept) {
    const std::string start = "{\"experiment\": {\"given\": {\"query\": [";
    std::string row = "[0", rows = "[0]";
    for (std::size_t i = 0; i < k_max_matrix_side; ++i) {
        row += ",0";
        rows += ",[0]";
    }
    // There is no end, which is not even looked for.
    for (const std::string& many : {row, rows})
        expect_refusal(start + many,
                       "file.json: experiment.given.query: a matrix may have at most 65536 rows "
                       "and columns: use a part of it");
    row.resize(row.size() - 2);
    rows.resize(rows.size() - 4);
    EXPECT_EQ(read_json(start + row + "]]}}}").experiment.weights.custom.at("query").values().cols(), 65'536);
    EXPECT_EQ(read_json(start + rows + "]}}}").experiment.weights.custom.at("query").values().rows(), 65'536);
}

TEST(SessionTest, WhatAPictureMayHoldIsAlsoRead) {
    const auto written = [](int rows, int columns) {
        Session session;
        session.experiment.weights.custom.emplace("query", CustomMatrix(Matrix::Zero(rows, columns)));
        return to_json(session).size();
    };
    // The shortest number, in rows of any length: lists count as elements too.
    for (const int columns : {1, 1000}) {
        const auto bytes = static_cast<double>(written(20, columns) - written(10, columns));
        const double per_element = bytes / (10.0 * (columns + 1));
        EXPECT_LT(static_cast<double>(k_max_picture_session_bytes) / per_element + k_max_json_fields,
                  static_cast<double>(k_max_picture_json_elements));
    }
}

TEST(SessionTest, WhatCouldNotBeReadAgainIsNotWritten) {
    Session session;
    session.experiment.weights.custom.emplace("query", CustomMatrix(Matrix::Zero(20'000, 1'000)));
    try {
        to_json(session);
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::too_large);
    }
}

TEST(SessionTest, MoreMaskRulesThanAreAppliedAreRefused) {
    std::string rules = "\"causal\"";
    for (int i = 1; i < 32; ++i) rules += ", \"window:1,1\"";
    EXPECT_EQ(refusal_of("{\"experiment\": {\"mask\": [" + rules + "]}}"), "accepted");
    expect_refusal(
        "{\"experiment\": {\"mask\": [" + rules + ", \"causal\"]}}",
        "file.json: experiment.mask: the list has 33 rules, and up to 32 are supported: use fewer");
}

TEST(SessionTest, CustomMatricesRoundTripToTheBit) {
    Matrix matrix(2, 4);
    matrix << k_nan, k_infinity, -k_infinity, -0.f, 0.1f, 1e-45f, 3.4028235e38f, -16777217.f;
    Session session;
    session.experiment.weights.custom.emplace("scores", CustomMatrix(matrix));
    session.experiment.weights.custom.emplace("value", CustomMatrix(Matrix::Ones(4, 1)));
    session.experiment.attention.scale = {Scale::Kind::none};
    const Session again = read_json(to_json(session));
    EXPECT_TRUE(again == session);
    const Matrix& back = again.experiment.weights.custom.at("scores").values();
    EXPECT_EQ(std::memcmp(back.data(), matrix.data(), 8 * sizeof(float)), 0);
    EXPECT_EQ(to_json(again), to_json(session));
}

TEST(SessionTest, AGivenNanIsTheSameWhateverItsBits) {
    Session session;
    session.experiment.weights.custom.emplace("query", CustomMatrix(Matrix::Constant(1, 1, -k_nan)));
    EXPECT_TRUE(read_json(to_json(session)) == session);
    Session zero = session, minus_zero = session;
    zero.experiment.weights.custom.at("query") = CustomMatrix(Matrix::Constant(1, 1, 0.f));
    minus_zero.experiment.weights.custom.at("query") = CustomMatrix(Matrix::Constant(1, 1, -0.f));
    EXPECT_FALSE(zero == session);
    EXPECT_FALSE(zero == minus_zero);
}

TEST(SessionTest, InvalidCustomMatricesAreRefused) {
    const auto given = [](const std::string& matrix) {
        return R"({"experiment": {"given": {"query": )" + matrix + "}}}";
    };
    const std::string at = "file.json: experiment.given.query";
    for (const char* matrix : {"3", "[]", "[[]]", "[1,2]", "{}", "null"})
        expect_refusal(given(matrix), at + ": expected a matrix as a list of rows [[…], …]");
    expect_refusal(given("[[1,2],[3]]"), at + " row 2: expected 2 numbers, as in row 1");
    expect_refusal(given("[[1,2],3]"), at + " row 2: expected 2 numbers, as in row 1");
    // Room for all rows as long as the first would be 17 GB.
    std::string ragged = "[[0";
    for (int i = 1; i < 65'000; ++i) ragged += ",0";
    ragged += "]";
    for (int i = 1; i < 65'000; ++i) ragged += ",[0]";
    expect_refusal(given(ragged + "]"), at + " row 2: expected 65000 numbers, as in row 1");
    expect_refusal(given("[[1,\"x\"]]"),
                   at + " row 1: expected a number, \"nan\", \"inf\" or \"-inf\", not \"x\"");
    expect_refusal(given("[[1,null]]"), at + " row 1: expected a number");
    expect_refusal(given("[[1e39]]"), at + " row 1: 1e+39 is beyond the range of float32");
    for (const char* whole : {"16777217", "-16777217", "9223372036854775807"})
        expect_refusal(given("[[1], [" + std::string(whole) + "]]"),
                       at + " row 2: " + whole + " is a whole number that float32 cannot represent: write ");
    expect_refusal(given("[[100000000000000000001]]"),
                   at + ": 100000000000000000001 is a whole number that float32 cannot represent: write "
                        "100000002004087734272, or append .0 to have it rounded");
    for (const char* held : {"16777216", "-16777218", "16777217.0", "9223372036854775808", "1e20"})
        EXPECT_EQ(refusal_of(given("[[" + std::string(held) + "]]")), "accepted") << held;
    expect_refusal(R"({"experiment": {"given": [1]}})", "file.json: experiment.given: expected an object");
}

// ---- random sessions

class RandomSession {
    int whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
    template <typename Table>
    const auto& any(const Table& table) {
        return table[static_cast<std::size_t>(whole(0, static_cast<int>(table.size()) - 1))];
    }

public:
    explicit RandomSession(std::uint32_t seed) : random_(seed) {}

    Session make() {
        Session s;
        Experiment& e = s.experiment;
        e.input.text = text();
        e.input.tokenizer = any(tokenizers()).choice;
        e.input.vocabulary = any(vocabulary_rules()).choice;
        e.input.table_size = whole(0, k_max_table_size);
        e.weights.seed = seed();
        e.attention.heads = whole(1, k_max_heads);
        e.input.dim = e.attention.heads * whole(1, k_max_dim / e.attention.heads);
        e.weights.embedding = any(initializers()).choice;
        e.attention.projection = any(projection_rules()).choice;
        e.weights.projection_seed = {static_cast<ProjectionSeed::Kind>(whole(0, 2)), seed()};
        e.attention.score = any(score_functions()).choice;
        e.attention.scale = {static_cast<Scale::Kind>(whole(0, 2)), number()};
        for (int i = whole(0, 3); i > 0; --i) e.weighting.mask.push_back(rule());
        e.weighting.normalizer = any(normalizers()).choice;
        e.weighting.temperature = std::exp(std::uniform_real_distribution<double>(-5, 5)(random_));
        e.attention.output_projection = coin();
        for (const char* name : {"embedding", "query", "W_o", "b_q"})
            if (whole(0, 3) == 0) e.weights.custom.emplace(name, CustomMatrix(matrix()));
        Presentation& p = s.presentation;
        p.stage = &any(stage_table());
        p.head = {static_cast<HeadChoice::Kind>(whole(0, 2)), whole(0, k_max_heads - 1)};
        const double low = number();
        p.range = {static_cast<RangeChoice::Kind>(whole(0, 3)), low, low + std::abs(number()) + 1};
        p.colormap = any(choices<ColormapKind>()).value;
        p.theme = any(choices<ThemeKind>()).value;
        if (whole(0, 3) > 0) p.cell_size = whole(1, 512);
        p.values = coin();
        p.title = text();
        p.head_names = text();
        if (coin()) p.locked = Cell{whole(0, 5000), whole(0, 5000)};
        s.note = text();
        return s;
    }

private:
    bool coin() { return whole(0, 1) == 1; }
    double number() { return std::uniform_real_distribution<double>(-1000, 1000)(random_); }
    const char* pick(std::initializer_list<const char*> list) {
        return list.begin()[whole(0, static_cast<int>(list.size()) - 1)];
    }
    Seed seed() {
        const std::uint64_t bits = std::uniform_int_distribution<std::uint64_t>()(random_);
        return coin() ? Seed::from_unsigned(bits) : Seed(static_cast<std::int64_t>(bits));
    }
    MaskRule rule() {
        if (coin()) return {MaskForm::causal, {}};
        MaskRule valid{MaskForm::valid, {}};
        for (int i = whole(1, 4); i > 0; --i) valid.arguments.push_back(whole(0, 1'000'000'000));
        return valid;
    }
    Matrix matrix() {
        Matrix values(whole(1, 4), whole(1, 4));
        for (Eigen::Index i = 0; i < values.size(); ++i)
            values.data()[i] = whole(0, 9) == 0 ? k_nan : whole(0, 9) == 0 ? -k_infinity : float(number());
        return values;
    }
    std::string text() {
        std::string result;
        for (int i = whole(0, 12); i > 0; --i)
            result += pick({"a", "Z",  " ", "\"",     "\\", "\n",        "\t", "\x01", "\x7f", "é",
                            "ß", "語", "🎉", "\u2028", "/",  "</script>", "0",  "-",    "none", ","});
        return result;
    }

    std::mt19937 random_;
};

TEST(SessionTest, RandomSessionsSurviveJson) {
    RandomSession random(20240607);
    for (int i = 0; i < 400; ++i) {
        const Session session = random.make();
        const std::string json = to_json(session);
        const Session again = read_json(json);
        ASSERT_TRUE(again == session) << json;
        ASSERT_EQ(to_json(again), json);
    }
}

TEST(SessionTest, ARandomSessionDiffersByEachOption) {
    const Session session = RandomSession(7).make();
    int differing = 0;
    for (const Option& option : options())
        differing += text_of(session, option) != text_of(Session{}, option);
    EXPECT_GT(differing, 10) << "the random sessions are too tame to test anything";
}

TEST(SessionTest, RandomDamageIsRefusedOrReadAndNeverCrashes) {
    std::mt19937 random(99);
    const std::string whole = to_json(RandomSession(3).make());
    int refused = 0;
    for (int i = 0; i < 1000; ++i) {
        std::string damaged = whole;
        damaged[random() % damaged.size()] = static_cast<char>(random());
        if (i % 2) damaged.resize(random() % damaged.size());
        try {
            read_json(damaged);
        } catch (const Error& error) {
            ++refused;
            EXPECT_EQ(std::string(error.what()).find("json.exception"), std::string::npos) << error.what();
        }
    }
    EXPECT_GT(refused, 500);
}

// ---- files

class SessionFileTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ =
            std::filesystem::temp_directory_path() / ("attnscope-session-test-" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string write(const std::string& name, const std::string& bytes) {
        const std::string path = (folder_ / name).string();
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }
    std::filesystem::path folder_;
};

TEST_F(SessionFileTest, ASessionFileIsLoaded) {
    const Session session = RandomSession(11).make();
    EXPECT_TRUE(load_session(write("a.json", to_json(session))) == session);
}

TEST_F(SessionFileTest, APictureHoldsFewerValuesThanASession) {
    std::string text = "{\"experiment\": {\"given\": {\"query\": [[0";
    for (std::size_t i = 1; i < k_max_picture_json_elements; ++i) text += i % 1000 == 0 ? "],[0" : ",0";
    const PngText texts[] = {{std::string(k_png_session_key), text}};
    const std::string picture = encode_png({.width = 1, .height = 1, .bytes = {0, 0, 0}}, texts);
    EXPECT_LT(picture.size(), 100'000u);
    try {
        load_session(write("small.png", picture));
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::too_large);
        EXPECT_NE(std::string(error.what()).find("holds more than 5000000 values"), std::string::npos)
            << error.what();
    }
}

TEST_F(SessionFileTest, ARefusalNamesTheFile) {
    const std::string path = write("broken.json", "{");
    try {
        load_session(path);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).substr(0, path.size() + 15), path + ": not a session");
    }
    EXPECT_THROW(load_session((folder_ / "absent.json").string()), Error);
    EXPECT_THROW(load_session(folder_.string()), Error);
}

// ---- the examples

TEST(ExampleTest, AllLoadAndEvaluate) {
    for (const std::string& name : example_names()) {
        const Session session = load_example(name);
        EXPECT_GT(session.note.size(), 40u) << name;
        const Trace trace = evaluate(session.experiment);
        EXPECT_NE(trace.find_chosen(session.presentation.stage), nullptr) << name;
        EXPECT_TRUE(read_json(to_json(session)) == session) << name;
    }
}

TEST(ExampleTest, ScaledDotProductIsTheDefaults) {
    EXPECT_TRUE(load_example("scaled-dot-product").experiment == Experiment{});
}

TEST(ExampleTest, AnUnknownNameIsRefusedWithTheNearest) {
    const auto message = [](const char* name) {
        try {
            load_example(name);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(message("casual"), "there is no example \"casual\"; did you mean causal?");
    EXPECT_EQ(message("nonsense-of-mine"),
              "there is no example \"nonsense-of-mine\": `attnscope examples` lists them");
}

// torch.nn.MultiheadAttention: out_proj is made first (weight by nn.Linear's rule, then its bias, thrown
// away), in_proj_weight, 3d × d by xavier_uniform_, last; W_q, W_k, W_v are its rows.
TEST(ExampleTest, MhaDrawsItsWeightsInTheOrderOfMultiheadAttention) {
    const Experiment experiment = test::four_heads().experiment;
    const Trace trace = evaluate(experiment);
    const int d = experiment.input.dim;
    const auto floats = [](int n) { return std::vector<float>(static_cast<std::size_t>(n)); };
    Generator generator(experiment.weights.seed);
    std::vector<float> W_o = floats(d * d), bias = floats(d), in_proj = floats(3 * d * d);
    const double linear = 1 / std::sqrt(double(d)), xavier = std::sqrt(6.0 / (4 * d));
    generator.uniform(W_o, -linear, linear);
    generator.uniform(bias, -linear, linear);
    generator.uniform(in_proj, -xavier, xavier);
    const auto values = [&](const char* name) {
        const auto all = trace.find_named(name)->buffer.host().values();
        return std::vector<float>(all.begin(), all.end());
    };
    const auto rows = [&](int first) {
        return std::vector<float>(in_proj.begin() + first * d * d, in_proj.begin() + (first + 1) * d * d);
    };
    EXPECT_EQ(values("W_o"), W_o);
    EXPECT_EQ(values("W_q"), rows(0));
    EXPECT_EQ(values("W_k"), rows(1));
    EXPECT_EQ(values("W_v"), rows(2));
}

Session with_something_pinned() {
    Session session = load_example("multi-head");
    session.pinned = Pinned{session.experiment, {HeadChoice::Kind::one, 1}, 3, true};
    session.pinned->experiment.weights.seed = Seed::from_unsigned(18446744073709551615ULL);
    session.pinned->experiment.weights.custom.emplace("scores", CustomMatrix(Matrix::Constant(8, 8, 0.1f)));
    return session;
}

TEST(SessionTest, WhatIsPinnedIsReadBackFromBothKindsOfFile) {
    const Session session = with_something_pinned();
    EXPECT_EQ(session_from_json(to_json(session), "file.json"), session);
    EXPECT_EQ(session_from_safetensors(to_safetensors(session), "file.safetensors"), session);
    Session both = session;
    both.experiment.weights.custom.emplace("scores", CustomMatrix(Matrix::Constant(8, 8, 0.7f)));
    EXPECT_EQ(session_from_safetensors(to_safetensors(both), "file.safetensors"), both);
    EXPECT_EQ(to_json(Session{}).find("pinned"), std::string::npos);
    both.pinned->on_cpu = false;
    EXPECT_EQ(to_json(both).find("on_cpu"), std::string::npos);
    EXPECT_EQ(session_from_json(to_json(both), "file.json"), both);
}

TEST(SessionTest, WhatIsWrongWithWhatIsPinnedIsNamedByItsPath) {
    expect_refusal(R"({"pinned": 3})", "file.json: pinned: expected an object");
    expect_refusal(R"({"pinned": {"experiment": {"dim": "x"}}})",
                   "file.json: pinned.experiment.dim: expected");
    expect_refusal(R"({"pinned": {"experiment": {"dmi": 3}}})",
                   "file.json: the field \"pinned.experiment.dmi\" is unknown; did you mean \"dim\"?");
    expect_refusal(R"({"pinned": {"haed": 3}})",
                   "file.json: the field \"pinned.haed\" is unknown; did you mean \"head\"?");
    expect_refusal(R"({"pinned": {"theme": "dark"}})", "file.json: the field \"pinned.theme\" is unknown");
    expect_refusal(R"({"pinned": {"on_cpu": 1}})", "file.json: pinned.on_cpu: expected true or false");
    expect_refusal(R"({"pinned": {"head": "x"}})", "file.json: pinned.head: ");
    expect_refusal(R"({"pinned": {"experiment": {"heads": 3}}})", "file.json: pinned.experiment: ");
    expect_refusal(R"({"pinned": {"experiment": {"given": {"scores": [[1], [1, 2]]}}}})",
                   "file.json: pinned.experiment.given.scores row 2");
}

}  // namespace
}  // namespace attnscope
