// Every case of reference/cases through the same evaluate as the window, against the float64 truth.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/attention/evaluate.h"
#include "tests/gpu_fixture.h"

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

/// Inputs of a case by the name that attnscope gives them; the others are called alike, or are no matrices.
const std::map<std::string, std::string> k_given_names = {
    {"X", "embedding"}, {"Y", "embedding_kv"}, {"Y_v", "embedding_v"}, {"Q", "query"},
    {"K", "key"},       {"V", "value"},        {"S", "scores"},        {"G", "loss_weights"}};
const std::set<std::string> k_not_given = {"E", "tokens", "tokens_kv", "b_o_default"};

std::vector<MaskRule> mask_of(const json& config, int b) {
    std::vector<MaskRule> rules;
    for (const json& rule : config.at("mask")) {
        const std::string type = rule.at("type");
        if (type == "causal") {
            rules.push_back({"causal", {}});
        } else if (type == "window") {
            rules.push_back(
                {"window", {rule.at("left").get<std::int64_t>(), rule.at("right").get<std::int64_t>()}});
        } else if (type == "valid_length") {
            const json& lengths = rule.at("lengths").at(std::size_t(b));
            rules.push_back({"valid", lengths.is_array()
                                          ? lengths.get<std::vector<std::int64_t>>()
                                          : std::vector<std::int64_t>{lengths.get<std::int64_t>()}});
        } else {
            EXPECT_TRUE(type == "custom" || type == "additive") << type;  // given matrices
        }
    }
    return rules;
}

/// `dropout_keep` has its heads one below the other.
Matrix stacked(const CaseTensor& tensor) {
    Matrix matrix(static_cast<Eigen::Index>(tensor.values.size()) / tensor.shape.back(), tensor.shape.back());
    for (Eigen::Index i = 0; i < matrix.size(); ++i)
        matrix.data()[i] = static_cast<float>(tensor.values[std::size_t(i)]);
    return matrix;
}

void set_settings(Experiment& e, const json& config) {
    const auto dashed = [](std::string name) {
        std::ranges::replace(name, '_', '-');
        return name;
    };
    e.projection = "none";
    e.heads = config.value("heads", 1);
    e.temperature = config.value("temperature", 1.0);
    e.score = config.value("score", "dot");
    if (e.score == "scaled_dot" || e.score == "given") e.score = "dot";
    if (config.contains("scale") && config["scale"].is_number())
        e.scale = {Scale::Kind::number, config["scale"].get<double>()};
    e.sharpening = config.value("sharpening", 1.0);
    e.position = config.value("position", "none");
    e.rope_layout = config.value("rope_layout", "interleaved");
    e.normalizer = dashed(config.value("normalizer", "softmax"));
    e.softmax_axis = config.value("softmax_axis", 1) == 1 ? "keys" : "queries";
    e.local_window = config.value("D", 1.0);
    e.dropout = config.value("dropout_p", 0.0);
    if (config.contains("norm_first")) {
        e.block = config.at("norm_first").get<bool>() ? "pre-norm" : "post-norm";
        e.activation = config.at("activation");
        EXPECT_EQ(config.at("ln_eps").get<double>(), 1e-5);
    }
}

void set_seq2seq(Experiment& e, const json& config) {
    e.mechanism = "seq2seq";
    e.text.clear();  // a case's words are numbers
    e.alignment_state = config.at("alignment_state");
    e.decode = config.at("decode");
    EXPECT_EQ(config.value("bos", 0), 0);
    e.max_steps = config.value("max_steps", e.max_steps);
    e.dim = static_cast<int>(e.given.at("E_src").values().cols());
    e.hidden = static_cast<int>(e.given.at("W_a").values().rows());
    e.encoder_size = static_cast<int>(e.given.at("W_init").values().cols());
    e.decoder_size = static_cast<int>(e.given.at("W_init").values().rows());
}

/// Sizes that follow from what is given.
void set_sizes(Experiment& e) {
    const auto columns = [&](const char* name) { return static_cast<int>(e.given.at(name).values().cols()); };
    const auto rows = [&](const char* name) { return static_cast<int>(e.given.at(name).values().rows()); };
    if (e.is_given("query"))
        e.dim = columns("query");
    else if (e.is_given("embedding"))
        e.dim = columns("embedding");
    for (const char* name : {"W_aq", "W_c", "W_p"})
        if (e.is_given(name)) e.hidden = rows(name);
    if (e.is_given("W_1")) e.feed_forward_size = rows("W_1");
    if (e.is_given("W_q")) e.projection = "linear";  // every weight that it would draw is given
}

/// Batch element b of a case.
Experiment experiment_of(const json& c, int b) {
    Experiment e;
    set_settings(e, c.at("config"));
    if (c.at("config").contains("mask")) e.mask = mask_of(c.at("config"), b);
    const json& inputs = c.at("inputs");
    for (const auto& [name, tensor] : inputs.items()) {
        if (k_not_given.contains(name)) continue;
        const auto other = k_given_names.find(name);
        const CaseTensor values(tensor);
        e.given.emplace(other == k_given_names.end() ? name : other->second,
                        GivenMatrix(name == "dropout_keep" ? stacked(values) : values.matrix(b)));
    }
    if (inputs.contains("E")) {
        const Matrix table = CaseTensor(inputs["E"]).matrix(0);
        e.given.emplace("embedding", GivenMatrix(rows_of(table, inputs.at("tokens"))));
        if (inputs.contains("tokens_kv"))
            e.given.emplace("embedding_kv", GivenMatrix(rows_of(table, inputs.at("tokens_kv"))));
    }
    set_sizes(e);
    if (c.at("kind") == "seq2seq") set_seq2seq(e, c.at("config"));
    return e;
}

/// The stage that a tensor of a case names.
const Stage* stage_for(const Trace& trace, const std::string& name) {
    const std::map<std::string, std::string> of_seq2seq = {
        {"X", "source_embedding"}, {"s0", "initial_state"}, {"Ua_h", "keys_projected"},
        {"e", "alignment_scores"}, {"alpha", "alignment"},  {"context", "decoder_context"},
        {"r", "gate_r"},           {"z", "gate_z"},         {"n", "gate_n"},
        {"s", "decoder_state"}};
    if (trace.experiment.mechanism == "seq2seq")
        return trace.find(of_seq2seq.contains(name) ? of_seq2seq.at(name) : name);
    const std::map<std::string, std::vector<std::string>> names = {
        {"X", {"embedding"}},
        {"Y", {"embedding_kv"}},
        {"Y_v", {"embedding_v"}},
        {"PE", {"position"}},
        {"X_pos", {"positioned"}},
        {"Y_pos", {"positioned_kv", "positioned"}},
        {"Q", {"query"}},
        {"K", {"key"}},
        {"V", {"value"}},
        {"Q_rot", {"query_heads"}},
        {"K_rot", {"key_heads"}},
        {"Q_heads", {"query_heads", "query"}},
        {"K_heads", {"key_heads", "key"}},
        {"V_heads", {"value_heads", "value"}},
        {"p", {"center"}},
        {"masked_scores", {"masked"}},
        {"weights_mean", {"weights"}},
        {"head_context", {"context"}},
        {"concat", {"concat", "context"}},
        {"output", {"output", "concat", "context"}},
        {"attn_out", {"output", "concat", "context"}},
        {"res1", {"residual_1"}},
        {"norm1", {"norm_1"}},
        {"ffn_pre", {"feed_forward_hidden"}},
        {"ffn_act", {"feed_forward_active"}},
        {"ffn_out", {"feed_forward"}},
        {"res2", {"residual_2"}},
        {"norm2", {"norm_2"}},
        {"block_out", {trace.experiment.block == "pre-norm" ? "residual_2" : "norm_2"}}};
    const auto found = names.find(name);
    if (found == names.end()) return trace.find(name);
    for (const std::string& stage : found->second)
        if (const Stage* s = trace.find(stage)) return s;
    return nullptr;
}

/// What a backend promises of each tensor.
struct Promise {
    Backend* backend = nullptr;
    double tolerance = k_tolerance;  ///< of max(1, m)
    bool squares = false;            ///< the normalised mean squared error is under 1e-10
    bool small_weights = false;      ///< weights above 1e-6 are right to 1e-4 of their own
};

void compare(const std::string& name, const CaseTensor& expected, int b, int batches, const Stage& stage,
             const Promise& promise) {
    const Buffer& buffer = name == "weights_mean" ? stage.buffer.mean() : stage.buffer;
    const auto actual = buffer.host().values();
    const std::size_t size = expected.values.size() / std::size_t(batches);
    ASSERT_EQ(actual.size(), size) << name;
    double m = 1;
    for (const double value : expected.values)
        if (std::isfinite(value)) m = std::max(m, std::abs(value));
    double worst = 0, squares = 0, of = 0, worst_weight = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const double truth = expected.values[std::size_t(b) * size + i];
        if (std::isinf(truth)) {
            ASSERT_EQ(actual[i], truth) << name << " element " << i;
        } else {
            ASSERT_TRUE(std::isfinite(actual[i])) << name << " element " << i;
            const double error = std::abs(actual[i] - truth);
            worst = std::max(worst, error);
            squares += error * error;
            of += truth * truth;
            if (truth > 1e-6) worst_weight = std::max(worst_weight, error / truth);
        }
    }
    const bool exact = name == "mask" || name.ends_with("_tokens");
    EXPECT_LE(worst, exact ? 0 : promise.tolerance * m) << name << " of batch element " << b;
    if (promise.squares && of > 0) {
        EXPECT_LT(squares / of, 1e-10) << name;
    }
    if (promise.small_weights && name.starts_with("weights")) {
        EXPECT_LT(worst_weight, 1e-4) << name;
    }
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
    explicit ReferenceCase(fs::path file, bool on_gpu = false) : file_(std::move(file)), on_gpu_(on_gpu) {}

    void TestBody() override {
        std::ifstream stream(file_);
        const json c = json::parse(stream);
        Promise promise;
        if (on_gpu_) {
            if (c.at("kind") == "seq2seq") GTEST_SKIP() << "the recurrent mechanism is the processor's";
            std::string why;
            const bool is_extreme = file_.stem().string().starts_with("extreme");
            promise = {test::shared_gpu(&why), 1e-5, !is_extreme, true};
            if (!promise.backend) GTEST_SKIP() << why;
        }
        const int batches = batch_size(c);
        int gradients = 0;
        for (int b = 0; b < batches; ++b) {
            const Trace trace = evaluate(experiment_of(c, b), {}, {.backend = promise.backend});
            if (on_gpu_) {
                EXPECT_TRUE(trace.find("weights")->buffer.is_on_device());
            }
            for (const auto& [name, tensor] : c.at("expected").items()) {
                if (name.starts_with("grad.")) {
                    ++gradients;
                    continue;
                }
                const Stage* stage = stage_for(trace, name);
                ASSERT_NE(stage, nullptr) << name;
                compare(name, CaseTensor(tensor), b, batches, *stage, promise);
            }
            if (c.contains("printed") && !on_gpu_)
                for (const json& printed : c["printed"]) compare_printed(printed, trace, b, batches);
        }
        if (gradients)
            std::printf("%d gradient tensors of %s left out\n", gradients,
                        c.at("id").get<std::string>().c_str());
    }

private:
    fs::path file_;
    bool on_gpu_;
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
    for (const fs::path& file : files) {
        testing::RegisterTest("Reference", file.stem().c_str(), nullptr, nullptr, __FILE__, __LINE__,
                              [file]() -> testing::Test* { return new ReferenceCase(file); });
        testing::RegisterTest("ReferenceGpu", file.stem().c_str(), nullptr, nullptr, __FILE__, __LINE__,
                              [file]() -> testing::Test* { return new ReferenceCase(file, true); });
    }
    return static_cast<int>(files.size());
}

[[maybe_unused]] const int k_registered = register_cases();

}  // namespace
}  // namespace attnscope
