// The generator compared bit for bit with PyTorch 1.13.1: every program of every file in reference/rng, and
// the inputs of the cases in reference/cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/random/draws.h"
#include "core/random/generator.h"
#include "core/random/initializers.h"
#include "core/random/seed.h"

namespace attnscope {
namespace {

using nlohmann::json;

/// What a call returned, written as the reference files write it.
struct Drawn {
    std::vector<std::string> values;  ///< hexadecimal bits of floats, integers in decimal
    std::string fnv1a64;              ///< over all values as little-endian bytes
};

std::string hexadecimal(std::uint64_t bits, std::size_t digits) {
    std::ostringstream text;
    text << std::hex << std::setfill('0') << std::setw(static_cast<int>(digits)) << bits;
    return text.str();
}

std::uint64_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }
std::uint64_t bits_of(std::int64_t value) { return std::bit_cast<std::uint64_t>(value); }

template <typename Value>
std::string written(Value value) {
    return hexadecimal(bits_of(value), 2 * sizeof(Value));
}
std::string written(std::int64_t value) { return std::to_string(value); }

template <typename Value>
Drawn drawn(const std::vector<Value>& values) {
    Drawn result;
    std::uint64_t hash = 0xCBF29CE484222325u;
    for (const Value value : values) {
        result.values.push_back(written(value));
        for (std::size_t byte = 0; byte < sizeof(Value); ++byte) {
            hash = (hash ^ (bits_of(value) >> 8 * byte & 0xFF)) * 0x100000001B3u;
        }
    }
    result.fnv1a64 = hexadecimal(hash, 16);
    return result;
}

/// n values of the call's dtype, filled by fill(generator, span).
template <typename Fill>
Drawn floats(const json& call, Fill fill) {
    const std::size_t n = call.at("n");
    const std::string dtype = call.value("dtype", "f32");
    if (dtype == "f32") {
        std::vector<float> values(n);
        fill(std::span<float>(values));
        return drawn(values);
    }
    if (dtype == "f64") {
        std::vector<double> values(n);
        fill(std::span<double>(values));
        return drawn(values);
    }
    throw std::runtime_error("unknown dtype " + dtype);
}

void append(std::vector<float>& values, const Matrix& matrix) {
    values.insert(values.end(), matrix.data(), matrix.data() + matrix.size());
}

Matrix initialized(Generator& generator, Initialization initializer, int out, int in) {
    Matrix matrix(out, in);
    initializer_of(initializer).fill(generator, MatrixView(matrix.data(), out, in));
    return matrix;
}

void append_uniform(std::vector<float>& values, Generator& generator, std::size_t count, double bound) {
    values.resize(values.size() + count);
    generator.uniform(std::span(values).last(count), -bound, bound);
}

Drawn call_seed(Generator& generator, const json& call) {
    const json& seed = call.at("seed");
    generator.manual_seed(seed.is_number_unsigned() ? Seed::from_unsigned(seed.get<std::uint64_t>())
                                                    : Seed(seed.get<std::int64_t>()));
    return {};
}

Drawn call_rand(Generator& generator, const json& call) {
    return floats(call, [&](auto out) { generator.rand(out); });
}

Drawn call_uniform(Generator& generator, const json& call) {
    return floats(call, [&](auto out) { generator.uniform(out, call.at("a"), call.at("b")); });
}

Drawn call_randn(Generator& generator, const json& call) {
    return floats(call, [&](auto out) { generator.normal(out); });
}

Drawn call_normal(Generator& generator, const json& call) {
    return floats(call, [&](auto out) { generator.normal(out, call.at("mean"), call.at("std")); });
}

Drawn call_randint(Generator& generator, const json& call) {
    std::vector<std::int64_t> values(call.at("n").get<std::size_t>());
    generator.randint(values, call.at("low"), call.at("high"));
    return drawn(values);
}

Drawn call_randperm(Generator& generator, const json& call) {
    std::vector<std::int64_t> values(call.at("n").get<std::size_t>());
    generator.randperm(values);
    return drawn(values);
}

Drawn call_bernoulli(Generator& generator, const json& call) {
    return floats(call, [&](auto out) { generator.bernoulli(out, call.at("p")); });
}

Drawn call_bernoulli_of(Generator& generator, const json& call) {
    return floats(call, [&]<typename Real>(std::span<Real> out) {
        const std::vector<Real> probabilities(out.size(), static_cast<Real>(call.at("p").get<double>()));
        generator.bernoulli_of(std::span<const Real>(probabilities), out);
    });
}

Drawn call_dropout_ones(Generator& generator, const json& call) {
    return floats(call, [&]<typename Real>(std::span<Real> out) {
        const double keep = 1 - call.at("p").get<double>();
        if (keep == 0 || keep == 1) {
            std::ranges::fill(out, static_cast<Real>(keep));
            return;
        }
        generator.bernoulli(out, keep);
        for (Real& value : out) value /= static_cast<Real>(keep);
    });
}

Drawn call_linear(Generator& generator, const json& call) {
    const int in = call.at("in");
    const int out = call.at("out");
    std::vector<float> values;
    append(values, initialized(generator, Initialization::linear, out, in));
    append_uniform(values, generator, static_cast<std::size_t>(out), 1 / std::sqrt(in));
    return drawn(values);
}

Drawn call_embedding(Generator& generator, const json& call) {
    std::vector<float> values;
    append(values, initialized(generator, Initialization::normal, call.at("rows"), call.at("dim")));
    return drawn(values);
}

Drawn call_xavier_uniform(Generator& generator, const json& call) {
    std::vector<float> values;
    append(values, initialized(generator, Initialization::xavier, call.at("out"), call.at("in")));
    return drawn(values);
}

Drawn call_gru(Generator& generator, const json& call) {
    const std::size_t in = call.at("in");
    const std::size_t hidden = call.at("hidden");
    const int directions = call.value("bidirectional", false) ? 2 : 1;
    std::vector<float> values;
    for (int direction = 0; direction < directions; ++direction) {
        for (const std::size_t width : {in, hidden, std::size_t{1}, std::size_t{1}}) {
            append_uniform(values, generator, 3 * hidden * width, 1 / std::sqrt(hidden));
        }
    }
    return drawn(values);
}

Drawn call_multihead(Generator& generator, const json& call) {
    const int d = call.at("embed_dim").get<int>();
    std::map<ProjectionParameter, Matrix> weights;
    for (const ProjectionDraw& each : projection_draws(Projection::mha, ProjectionSizes::square(d, true))) {
        const Matrix matrix =
            initialized(generator, each.draw.initialization, each.draw.rows, each.draw.columns);
        for (const ProjectionDraw::Part& part : each.parts)
            weights[part.parameter] = matrix.middleRows(part.first_row, d);
    }
    std::vector<float> values;
    using enum ProjectionParameter;
    for (const ProjectionParameter each : {W_q, W_k, W_v, W_o}) append(values, weights.at(each));
    return drawn(values);
}

Drawn run(Generator& generator, const json& call) {
    static const std::map<std::string, Drawn (*)(Generator&, const json&)> operations{
        {"seed", call_seed},
        {"rand", call_rand},
        {"uniform_", call_uniform},
        {"randn", call_randn},
        {"normal_", call_normal},
        {"randint", call_randint},
        {"randperm", call_randperm},
        {"bernoulli_", call_bernoulli},
        {"bernoulli_of", call_bernoulli_of},
        {"dropout_ones", call_dropout_ones},
        {"linear", call_linear},
        {"embedding", call_embedding},
        {"xavier_uniform", call_xavier_uniform},
        {"gru", call_gru},
        {"multihead", call_multihead},
    };
    const std::string name = call.at("op");
    const auto operation = operations.find(name);
    if (operation == operations.end()) throw std::runtime_error("unknown op " + name);
    return operation->second(generator, call);
}

void expect_as_recorded(const json& call, const Drawn& result) {
    using Strings = std::vector<std::string>;
    ASSERT_EQ(result.values.size(), call.at("count").get<std::size_t>());
    EXPECT_EQ(result.fnv1a64, call.at("fnv1a64").get<std::string>());
    if (call.contains("values")) {
        EXPECT_EQ(result.values, call.at("values").get<Strings>());
        return;
    }
    const Strings first = call.at("first");
    const Strings last = call.at("last");
    ASSERT_LE(std::max(first.size(), last.size()), result.values.size());
    EXPECT_TRUE(std::ranges::equal(first, std::span(result.values).first(first.size())));
    EXPECT_TRUE(std::ranges::equal(last, std::span(result.values).last(last.size())));
}

void expect_as_recorded(const json& program) {
    Generator generator(Seed(0));
    for (const json& call : program.at("calls")) {
        SCOPED_TRACE(program.at("name").get<std::string>() + ": " + call.dump().substr(0, 160));
        const Drawn result = run(generator, call);
        if (call.at("op") != "seed") expect_as_recorded(call, result);
    }
}

/// The JSON files of a folder of the reference data, by name. Throws where one cannot be read.
std::map<std::string, json> reference_files(const std::string& folder) {
    const char* const given = std::getenv("ATTNSCOPE_REFERENCE_DIR");
    const std::filesystem::path path(given ? given : ATTNSCOPE_SOURCE_DIR "/tests/reference");
    std::map<std::string, json> files;
    for (const auto& entry : std::filesystem::directory_iterator(path / folder)) {
        if (entry.path().extension() != ".json") continue;
        std::ifstream stream(entry.path());
        files.emplace(entry.path().stem().string(), json::parse(stream));
    }
    return files;
}

/// All programs, by their file's name and their own.
std::vector<std::pair<std::string, json>> recorded_programs() {
    std::vector<std::pair<std::string, json>> programs;
    for (const auto& [name, file] : reference_files("rng")) {
        for (const json& program : file.at("programs")) {
            programs.emplace_back(name + " " + program.at("name").get<std::string>(), program);
        }
    }
    return programs;
}

void draw_matrix(Generator& generator, const json& draw, std::span<float> out, Initialization initializer) {
    const int rows = draw.at("shape").at(0);
    const int columns = draw.at("shape").at(1);
    initializer_of(initializer).fill(generator, MatrixView(out.data(), rows, columns));
}

void draw_symmetric(Generator& generator, std::span<float> out, double width) {
    generator.uniform(out, -1 / std::sqrt(width), 1 / std::sqrt(width));
}

/// Draws one random input of a reference case.
void draw_input(Generator& generator, const json& draw, std::span<float> out) {
    using Draw = void (*)(Generator&, const json&, std::span<float>);
    using Out = std::span<float>;
    static const std::map<std::string, Draw> operations{
        {"normal",
         [](Generator& g, const json& d, Out o) { g.normal(o, d.value("mean", 0.0), d.value("std", 1.0)); }},
        {"rand", [](Generator& g, const json&, Out o) { g.rand(o); }},
        {"uniform", [](Generator& g, const json& d, Out o) { g.uniform(o, d.at("a"), d.at("b")); }},
        {"bernoulli", [](Generator& g, const json& d, Out o) { g.bernoulli(o, d.at("p")); }},
        {"xavier_uniform",
         [](Generator& g, const json& d, Out o) { draw_matrix(g, d, o, Initialization::xavier); }},
        {"linear_weight",
         [](Generator& g, const json& d, Out o) { draw_matrix(g, d, o, Initialization::linear); }},
        {"linear_bias", [](Generator& g, const json& d, Out o) { draw_symmetric(g, o, d.at("fan_in")); }},
        {"rnn_param", [](Generator& g, const json& d, Out o) { draw_symmetric(g, o, d.at("hidden")); }},
    };
    const std::string name = draw.at("op");
    const auto operation = operations.find(name);
    if (operation == operations.end()) throw std::runtime_error("unknown op " + name);
    operation->second(generator, draw, out);
}

std::vector<float> drawn_input(Generator& generator, const json& draw) {
    std::size_t count = 1;
    for (const std::size_t extent : draw.at("shape")) count *= extent;
    std::vector<float> values(count);
    draw_input(generator, draw, values);
    const float factor = draw.value("mul", 1.0f);
    for (float& value : values) value *= factor;
    return values;
}

bool is_constant(const json& draw) { return draw.at("op") == "full" || draw.at("op") == "values"; }

/// Makes all random inputs of a case in order, compares those it keeps and gives how many these are.
int expect_drawn_inputs(const json& reference_case) {
    Generator generator(Seed(0));
    int compared = 0;
    for (const json& draw : reference_case.at("draws")) {
        SCOPED_TRACE(draw.dump());
        if (draw.contains("seed")) {
            call_seed(generator, draw);
        } else if (!is_constant(draw)) {
            const std::vector<float> values = drawn_input(generator, draw);
            if (!draw.value("keep", true)) continue;
            const json& input = reference_case.at("inputs").at(draw.at("name").get<std::string>());
            EXPECT_EQ(values, input.at("data").get<std::vector<float>>());
            ++compared;
        }
    }
    return compared;
}

class RngTest : public testing::Test {};

class RecordedProgram : public RngTest {
public:
    explicit RecordedProgram(json program) : program_(std::move(program)) {}
    void TestBody() override { expect_as_recorded(program_); }

private:
    json program_;
};

std::string test_name(std::string text) {
    std::ranges::replace_if(
        text, [](unsigned char c) { return !std::isalnum(c); }, '_');
    return text;
}

/// One test per program. A folder that cannot be read is left to the test below to report.
bool register_recorded_programs() try {
    for (const auto& [name, program] : recorded_programs()) {
        testing::RegisterTest("RngTest", test_name(name).c_str(), nullptr, nullptr, __FILE__, __LINE__,
                              [program = program]() -> RngTest* { return new RecordedProgram(program); });
    }
    return true;
} catch (const std::exception&) {
    return false;
}
const bool k_registered = register_recorded_programs();

// ctest knows the programs by name from when the tests were built; this runs those of a folder set since as
// well.
TEST_F(RngTest, EveryRecordedProgramOfTheReferenceFolder) {
    const auto programs = recorded_programs();
    EXPECT_TRUE(k_registered);
    EXPECT_FALSE(programs.empty());
    for (const auto& [name, program] : programs) {
        SCOPED_TRACE(name);
        expect_as_recorded(program);
    }
}

TEST_F(RngTest, AnUnknownOperationOfARecordedProgramIsAnError) {
    Generator generator(Seed(0));
    EXPECT_THROW(run(generator, json{{"op", "cauchy_"}, {"n", 3}}), std::runtime_error);
}

TEST_F(RngTest, LargeFloatNormalsTakeTheRoundingsOfTheVectorisedBoxMuller) {
    Generator generator(Seed(123));
    std::array<float, 16> block{};
    generator.normal(block);
    const std::array<std::pair<std::size_t, std::uint32_t>, 6> worked{{{0, 0x3eacbbc9},
                                                                       {8, 0x3f446121},
                                                                       {1, 0xbe360b3b},
                                                                       {9, 0xbf98a3e8},
                                                                       {5, 0x3f290c1b},
                                                                       {13, 0x3ff29436}}};
    for (const auto& [position, bits] : worked)
        EXPECT_EQ(written(block[position]), hexadecimal(bits, 8)) << position;
}

TEST_F(RngTest, ANewGeneratorEqualsOneSeededAgain) {
    Generator fresh(Seed(-7));
    Generator again(Seed(1));
    std::array<float, 3> leaves_a_cached_normal{};
    again.normal(leaves_a_cached_normal);
    again.manual_seed(Seed(-7));
    std::array<float, 5> expected{};
    std::array<float, 5> values{};
    fresh.normal(expected);
    again.normal(values);
    EXPECT_EQ(values, expected);
}

TEST_F(RngTest, DrawingNothingUsesNoOutput) {
    Generator generator(Seed(0));
    generator.normal(std::span<float>{});
    generator.rand(std::span<double>{});
    generator.randperm(std::span<std::int64_t>{});
    std::array<float, 1> value{};
    generator.rand(value);
    EXPECT_EQ(value[0], 0.49625658988952637f);
}

TEST_F(RngTest, RandintCoversTheWholeSignedRange) {
    Generator generator(Seed(0));
    std::array<std::int64_t, 64> values{};
    generator.randint(values, INT64_MIN, INT64_MAX);
    EXPECT_LT(std::ranges::min(values), 0);
    EXPECT_GT(std::ranges::max(values), 0);
}

TEST_F(RngTest, RandintRefusesAnEmptyRange) {
    Generator generator(Seed(0));
    std::array<std::int64_t, 1> value{};
    EXPECT_THROW(generator.randint(value, 3, 3), Error);
    EXPECT_THROW(generator.randint(value, 4, 3), Error);
}

TEST_F(RngTest, ProjectionsAreDrawnQueryKeyValueOutputOneAfterTheOther) {
    for (const Initializer& initializer : initializers()) {
        const std::string_view name = name_of(initializer.choice);
        SCOPED_TRACE(std::string(name));
        const std::vector<ProjectionDraw> draws =
            projection_draws(find_choice<Projection>(name).value(), ProjectionSizes::square(5, true));
        ASSERT_EQ(draws.size(), 4u);
        DrawSequence sequence;
        std::vector<Draw> drawn_so_far;
        Generator one_by_one(Seed(9));
        for (std::size_t i = 0; i < 4; ++i) {
            using enum ProjectionParameter;
            constexpr ProjectionParameter k_order[] = {W_q, W_k, W_v, W_o};
            ASSERT_EQ(draws[i].parts.size(), 1u);
            EXPECT_EQ(draws[i].parts[0].parameter, k_order[i]);
            drawn_so_far.push_back(draws[i].draw);
            EXPECT_EQ(sequence.last_of(Seed(9), drawn_so_far),
                      initialized(one_by_one, initializer.choice, 5, 5));
        }
    }
}

TEST_F(RngTest, ASequenceThatBeginsOtherwiseOrEndsBeforeBeginsAnew) {
    const Draw a = Draw::by(Initialization::normal, 3, 4), b = Draw::by_fan(4, 2, 2);
    DrawSequence kept;
    const auto alone = [](Seed seed, std::vector<Draw> draws) { return DrawSequence().last_of(seed, draws); };
    for (const auto& [seed, draws] : std::vector<std::pair<int, std::vector<Draw>>>{
             {1, {a, b}}, {1, {a, b, a}}, {1, {a, b, a}}, {1, {a}}, {2, {a}}, {2, {b}}, {2, {b, a}}})
        EXPECT_EQ(kept.last_of(Seed(seed), draws), alone(Seed(seed), draws));
}

TEST_F(RngTest, TheOutputProjectionIsDrawnOnlyOnRequestButByMha) {
    for (const ProjectionRule& rule : projection_rules()) {
        SCOPED_TRACE(std::string(name_of(rule.choice)));
        const auto without = projection_draws(rule.choice, ProjectionSizes::square(6, false));
        const auto with = projection_draws(rule.choice, ProjectionSizes::square(6, true));
        const auto output = [](const std::vector<ProjectionDraw>& draws) {
            return std::ranges::count_if(draws, [](const ProjectionDraw& each) {
                return !each.parts.empty() && each.parts[0].parameter == ProjectionParameter::W_o;
            });
        };
        EXPECT_EQ(output(with), 1);
        EXPECT_EQ(output(without), rule.choice == Projection::mha);
        EXPECT_EQ(with.size() == without.size(), rule.choice == Projection::mha);
    }
}

TEST(ReferenceCasesTest, HaveRandomInputsThatAreDrawnToTheBit) {
    int compared = 0;
    for (const auto& [name, reference_case] : reference_files("cases")) {
        SCOPED_TRACE(name);
        compared += expect_drawn_inputs(reference_case);
    }
    EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace attnscope
