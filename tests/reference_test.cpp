// Every case of reference/cases through the same evaluate as the window, against the float64 truth.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/attention/evaluate.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// reference/README.md: forward results computed in float32 may differ from f64 by 2e-6 · max(1, m).
constexpr double k_tolerance = 2e-6;

fs::path cases_folder() {
    const char* given = std::getenv("ATTNSCOPE_REFERENCE_DIR");
    return (given && *given ? fs::path(given) : fs::path(ATTNSCOPE_SOURCE_DIR) / "tests/reference") / "cases";
}

double number(const json& value) {
    if (value == "inf") return INFINITY;
    if (value == "-inf") return -INFINITY;
    return value.get<double>();
}

/// A tensor of a case: its shape, and its values in row-major order.
struct CaseTensor {
    std::vector<int> shape;
    std::vector<double> values;

    explicit CaseTensor(const json& tensor) : shape(tensor.at("shape").get<std::vector<int>>()) {
        for (const json& value : tensor.contains("f64") ? tensor.at("f64") : tensor.at("data"))
            values.push_back(number(value));
    }
    std::size_t matrix_size() const {
        return std::size_t(shape[shape.size() - 2]) * std::size_t(shape[shape.size() - 1]);
    }
    /// Batch element b of a tensor of rank 3, or all of one of rank 2; a vector is one row.
    Matrix matrix(int b) const {
        const int columns = shape.back();
        const int rows = shape.size() == 1 ? 1 : shape[shape.size() - 2];
        const std::size_t offset = shape.size() > 2 ? std::size_t(b) * matrix_size() : 0;
        Matrix m(rows, columns);
        for (Eigen::Index i = 0; i < m.size(); ++i)
            m.data()[i] = static_cast<float>(values.at(offset + std::size_t(i)));
        return m;
    }
};

/// Why attnscope cannot run a case yet, or "".
std::string not_covered(const json& c) {
    const json& config = c.at("config");
    const std::string kind = c.at("kind");
    if (kind != "attention" && kind != "multihead") return "kind " + kind;
    const std::string score = config.value("score", "dot");
    if (score != "dot" && score != "scaled_dot" && score != "given" && config.value("source", "") != "scores")
        return "score " + score;
    if (config.value("position", "none") != "none") return "position " + config.value("position", "");
    if (config.value("normalizer", "softmax") != "softmax")
        return "normalizer " + config.value("normalizer", "");
    if (config.value("softmax_axis", 1) != 1) return "softmax_axis 0";
    if (config.contains("dropout_p")) return "dropout";
    if (c.at("inputs").contains("Y_v")) return "values from a sequence of their own";
    for (const json& rule : config.at("mask"))
        if (rule.at("type") != "causal" && rule.at("type") != "valid_length")
            return "mask " + rule.at("type").get<std::string>();
    return "";
}

int batch_size(const json& c) {
    for (const char* name : {"X", "Q", "S"})
        if (c.at("inputs").contains(name)) {
            const auto shape = c["inputs"][name]["shape"].get<std::vector<int>>();
            return shape.size() > 2 ? shape[0] : 1;
        }
    return 1;
}

Matrix rows_of(const Matrix& table, const json& tokens) {
    Matrix X(static_cast<Eigen::Index>(tokens.at("data").size()), table.cols());
    for (Eigen::Index i = 0; i < X.rows(); ++i)
        X.row(i) = table.row(tokens["data"][std::size_t(i)].get<int>());
    return X;
}

const std::map<std::string, std::string> k_given_names = {
    {"X", "embedding"}, {"Y", "embedding_kv"}, {"Q", "query"}, {"K", "key"},   {"V", "value"},
    {"S", "scores"},    {"W_q", "W_q"},        {"W_k", "W_k"}, {"W_v", "W_v"}, {"W_o", "W_o"},
    {"b_q", "b_q"},     {"b_k", "b_k"},        {"b_v", "b_v"}, {"b_o", "b_o"}};

std::vector<MaskRule> mask_of(const json& config, int b) {
    std::vector<MaskRule> rules;
    for (const json& rule : config.at("mask")) {
        if (rule.at("type") == "causal") {
            rules.push_back({"causal", {}});
            continue;
        }
        const json& lengths = rule.at("lengths").at(std::size_t(b));
        rules.push_back({"valid", lengths.is_array()
                                      ? lengths.get<std::vector<std::int64_t>>()
                                      : std::vector<std::int64_t>{lengths.get<std::int64_t>()}});
    }
    return rules;
}

/// Batch element b of a case.
Experiment experiment_of(const json& c, int b) {
    const json& config = c.at("config");
    Experiment e;
    e.projection = "none";
    e.heads = config.value("heads", 1);
    e.temperature = config.value("temperature", 1.0);
    e.mask = mask_of(config, b);
    if (config.contains("scale") && config["scale"].is_number())
        e.scale = {Scale::Kind::number, config["scale"].get<double>()};
    const json& inputs = c.at("inputs");
    for (const auto& [name, given] : k_given_names)
        if (inputs.contains(name)) e.given.emplace(given, GivenMatrix(CaseTensor(inputs[name]).matrix(b)));
    if (inputs.contains("E")) {
        const Matrix table = CaseTensor(inputs["E"]).matrix(0);
        e.given.emplace("embedding", GivenMatrix(rows_of(table, inputs.at("tokens"))));
        if (inputs.contains("tokens_kv"))
            e.given.emplace("embedding_kv", GivenMatrix(rows_of(table, inputs.at("tokens_kv"))));
    }
    if (e.given.contains("query") || e.given.contains("embedding")) {
        const Matrix& m = e.given.at(e.given.contains("query") ? "query" : "embedding").values();
        e.dim = static_cast<int>(m.cols());
    }
    return e;
}

/// The stage that a tensor of a case names.
const Stage* stage_for(const Trace& trace, const std::string& name) {
    static const std::map<std::string, std::vector<std::string>> names = {
        {"X", {"embedding"}},
        {"Y", {"embedding_kv"}},
        {"Q", {"query"}},
        {"K", {"key"}},
        {"V", {"value"}},
        {"Q_heads", {"query_heads", "query"}},
        {"K_heads", {"key_heads", "key"}},
        {"V_heads", {"value_heads", "value"}},
        {"scores", {"scores"}},
        {"scaled", {"scaled"}},
        {"mask", {"mask"}},
        {"masked_scores", {"masked"}},
        {"weights", {"weights"}},
        {"weights_mean", {"weights"}},
        {"context", {"context"}},
        {"head_context", {"context"}},
        {"concat", {"concat", "context"}},
        {"output", {"output", "concat", "context"}}};
    const auto found = names.find(name);
    if (found == names.end()) return nullptr;
    for (const std::string& stage : found->second)
        if (const Stage* s = trace.find(stage)) return s;
    return nullptr;
}

void compare(const std::string& name, const CaseTensor& expected, int b, int batches, const Stage& stage) {
    const Buffer& buffer = name == "weights_mean" ? stage.buffer.mean() : stage.buffer;
    const auto actual = buffer.host().values();
    const std::size_t size = expected.values.size() / std::size_t(batches);
    ASSERT_EQ(actual.size(), size) << name;
    double m = 1;
    for (const double value : expected.values)
        if (std::isfinite(value)) m = std::max(m, std::abs(value));
    double worst = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const double truth = expected.values[std::size_t(b) * size + i];
        if (std::isinf(truth)) {
            ASSERT_EQ(actual[i], truth) << name << " element " << i;
        } else {
            ASSERT_TRUE(std::isfinite(actual[i])) << name << " element " << i;
            worst = std::max(worst, std::abs(actual[i] - truth));
        }
    }
    EXPECT_LE(worst, name == "mask" ? 0 : k_tolerance * m) << name << " of batch element " << b;
}

/// The printed numbers of batch element b.
void compare_printed(const json& printed, const Trace& trace, int b, int batches) {
    const Stage* stage = stage_for(trace, printed.at("quantity"));
    ASSERT_NE(stage, nullptr);
    const ConstMatrixView values = stage->buffer.host().head(0);
    const json& expected = printed.at("values");
    const Eigen::Index first = printed.contains("row") ? printed["row"].get<int>() * values.cols() : 0;
    std::vector<json> flat;
    for (const json& each : expected) {
        if (each.is_array())
            flat.insert(flat.end(), each.begin(), each.end());
        else
            flat.push_back(each);
    }
    const std::size_t count = flat.size() / std::size_t(batches);
    flat = std::vector<json>(flat.begin() + std::ptrdiff_t(count) * b,
                             flat.begin() + std::ptrdiff_t(count) * (b + 1));
    for (std::size_t i = 0; i < flat.size(); ++i) {
        const double value = values.data()[first + static_cast<Eigen::Index>(i)];
        if (printed.at("exact").get<bool>()) {
            char text[64];
            std::snprintf(text, sizeof text, printed.at("format").get<std::string>().c_str(), value);
            EXPECT_EQ(text, flat[i].get<std::string>()) << printed.at("quantity");
        } else {
            EXPECT_NEAR(value,
                        flat[i].is_string() ? std::stod(flat[i].get<std::string>()) : flat[i].get<double>(),
                        printed.at("atol").get<double>());
        }
    }
}

class ReferenceCase : public testing::Test {
public:
    explicit ReferenceCase(fs::path file) : file_(std::move(file)) {}

    void TestBody() override {
        std::ifstream stream(file_);
        const json c = json::parse(stream);
        const std::string reason = not_covered(c);
        if (!reason.empty()) GTEST_SKIP() << c.at("id") << " is not covered yet: " << reason;
        const int batches = batch_size(c);
        int gradients = 0;
        for (int b = 0; b < batches; ++b) {
            const Trace trace = evaluate(experiment_of(c, b));
            for (const auto& [name, tensor] : c.at("expected").items()) {
                if (name.starts_with("grad.") || name == "loss") {
                    ++gradients;
                    continue;
                }
                const Stage* stage = stage_for(trace, name);
                ASSERT_NE(stage, nullptr) << name;
                compare(name, CaseTensor(tensor), b, batches, *stage);
            }
            if (c.contains("printed"))
                for (const json& printed : c["printed"]) compare_printed(printed, trace, b, batches);
        }
        if (gradients)
            std::printf("%d gradient tensors of %s left out\n", gradients,
                        c.at("id").get<std::string>().c_str());
    }

private:
    fs::path file_;
};

class MissingReference : public testing::Test {
    void TestBody() override { FAIL() << "no reference cases in " << cases_folder(); }
};

int register_cases() {
    std::set<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(cases_folder(), error))
        if (entry.path().extension() == ".json") files.insert(entry.path());
    if (files.empty())
        testing::RegisterTest("Reference", "cases_exist", nullptr, nullptr, __FILE__, __LINE__,
                              []() -> testing::Test* { return new MissingReference; });
    for (const fs::path& file : files)
        testing::RegisterTest("Reference", file.stem().c_str(), nullptr, nullptr, __FILE__, __LINE__,
                              [file]() -> testing::Test* { return new ReferenceCase(file); });
    return static_cast<int>(files.size());
}

[[maybe_unused]] const int k_registered = register_cases();

}  // namespace
}  // namespace attnscope
