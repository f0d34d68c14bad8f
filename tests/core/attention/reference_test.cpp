// Every case of reference/cases through the same evaluate as the window, against the float64 truth; and of
// reference_batches/cases, which reference/make_reference.py made from the spec.json there: what else the
// case format allows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
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
    /// Batch element b where the first dimension is a batch, which one element may stand for.
    CaseTensor element(int b) const {
        CaseTensor one = *this;
        const auto size = static_cast<std::ptrdiff_t>(values.size()) / shape[0];
        const auto first = values.begin() + (shape[0] == 1 ? 0 : b) * size;
        one.shape.erase(one.shape.begin());
        one.values.assign(first, first + size);
        return one;
    }
    /// As a matrix of the last dimension's columns: a vector is one row, heads stand one below the other.
    Matrix matrix() const {
        const auto columns = static_cast<Eigen::Index>(shape.back());
        Matrix m(static_cast<Eigen::Index>(values.size()) / columns, columns);
        for (Eigen::Index i = 0; i < m.size(); ++i)
            m.data()[i] = static_cast<float>(values[static_cast<std::size_t>(i)]);
        return m;
    }
};

/// Dimensions of an input without a batch; nothing for one that never has a batch.
std::optional<std::size_t> plain_rank(const json& c, const std::string& name) {
    static const std::set<std::string> matrices = {"X", "Y", "Y_v", "Q",    "K",
                                                   "V", "S", "G",   "mask", "mask_additive"};
    if (matrices.contains(name)) return 2;
    if (name == "tokens" || name == "tokens_kv") return 1;
    if (name == "dropout_keep") return c.at("kind") == "multihead" ? 3 : 2;
    return std::nullopt;
}

bool has_batch(const json& c, const std::string& name, const CaseTensor& tensor) {
    const auto rank = plain_rank(c, name);
    return rank && tensor.shape.size() > *rank;
}

CaseTensor input_of(const json& c, const std::string& name, int b) {
    const CaseTensor tensor(c.at("inputs").at(name));
    return has_batch(c, name, tensor) ? tensor.element(b) : tensor;
}

/// Batch elements of a case, all of whose inputs have as many or one for all.
int batch_size(const json& c) {
    int batches = 1;
    for (const auto& [name, input] : c.at("inputs").items())
        if (const CaseTensor tensor(input); has_batch(c, name, tensor))
            batches = std::max(batches, tensor.shape[0]);
    return batches;
}

Matrix rows_of(const Matrix& table, const CaseTensor& tokens) {
    Matrix X(static_cast<Eigen::Index>(tokens.values.size()), table.cols());
    for (Eigen::Index i = 0; i < X.rows(); ++i)
        X.row(i) = table.row(static_cast<Eigen::Index>(tokens.values[static_cast<std::size_t>(i)]));
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
            const json& all = rule.at("lengths");
            const json& lengths = all.at(all.size() == 1 ? 0 : std::size_t(b));
            rules.push_back({"valid", lengths.is_array()
                                          ? lengths.get<std::vector<std::int64_t>>()
                                          : std::vector<std::int64_t>{lengths.get<std::int64_t>()}});
        } else {
            EXPECT_TRUE(type == "custom" || type == "additive") << type;  // given matrices
        }
    }
    return rules;
}

/// What the case format has and attnscope has not, as a sentence; "" if there is nothing.
std::string not_expressible(const json& c) {
    static const std::set<std::string> known = {
        "source",     "position",     "rope_layout", "projection",     "score",  "scale",
        "sharpening", "temperature",  "mask",        "normalizer",     "D",      "dropout_p",
        "heads",      "softmax_axis", "activation",  "norm_first",     "ln_eps", "decode",
        "max_steps",  "bos",          "gradients",   "alignment_state"};
    const json& config = c.at("config");
    for (const auto& [field, value] : config.items())
        if (!known.contains(field)) return "config." + field + " is not of the case format";
    if (config.value("ln_eps", 1e-5) != 1e-5)
        return "layer norms have ln_eps 1e-05, and not " + config["ln_eps"].dump();
    for (const auto& [name, input] : c.at("inputs").items()) {
        const CaseTensor tensor(input);
        const std::size_t rank = tensor.shape.size();
        const std::size_t most = plain_rank(c, name) ? *plain_rank(c, name) + 1 : 2;
        const bool fits =
            !has_batch(c, name, tensor) || tensor.shape[0] == 1 || tensor.shape[0] == batch_size(c);
        if (rank > most || !fits) return "the shape of " + name + " is not of the case format";
    }
    const std::string position = config.value("position", "none");
    if (c.at("kind") == "transformer" && position != "none" && position != "sinusoidal")
        return "position " + position + " of a transformer is not of the case format";
    const bool heads = c.at("kind") == "multihead" || c.at("kind") == "transformer";
    for (const json& rule : config.value("mask", json::array()))
        if (heads && rule.at("type") == "additive") return "the steps of heads have no additive mask";
    return "";
}

/// Whether an input takes part: a mask does where a rule says so.
bool takes_part(const json& c, const std::string& name) {
    if (k_not_given.contains(name)) return false;
    if (name != "mask" && name != "mask_additive") return true;
    const json rules = c.at("config").value("mask", json::array());
    return std::ranges::any_of(
        rules, [&](const json& rule) { return rule.at("type") == (name == "mask" ? "custom" : "additive"); });
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
    }
}

void set_seq2seq(Experiment& e, const json& config) {
    e.mechanism = "seq2seq";
    e.text.clear();  // a case's words are numbers
    e.alignment_state = config.at("alignment_state");
    e.decode = config.at("decode");
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
    if (!e.is_given("W_q")) return;
    e.projection = "linear";  // every weight that it would draw is given
    e.key_size = rows("W_q");
    e.value_size = rows("W_v");
}

/// attnscope's <bos> is row 0 of the target words: these rows change places with those of the case's.
void swap_bos(Experiment& e, int bos) {
    for (const char* name : {"E_tgt", "W_out", "b_out"}) {
        Matrix words = e.given.at(name).values();
        if (name == std::string("b_out"))
            words.col(0).swap(words.col(bos));
        else
            words.row(0).swap(words.row(bos));
        e.given.insert_or_assign(name, GivenMatrix(std::move(words)));
    }
}

/// What the case's word `bos` is called there, and the other way round.
void swap_words(const std::string& name, CaseTensor& expected, int bos) {
    if (name.ends_with("_tokens"))
        for (double& word : expected.values) word = word == 0 ? bos : word == bos ? 0 : word;
    if (name == "logits")
        for (std::size_t row = 0; row < expected.values.size(); row += std::size_t(expected.shape.back()))
            std::swap(expected.values[row], expected.values[row + std::size_t(bos)]);
}

/// Batch element b of a case.
Experiment experiment_of(const json& c, int b) {
    Experiment e;
    set_settings(e, c.at("config"));
    if (c.at("config").contains("mask")) e.mask = mask_of(c.at("config"), b);
    const json& inputs = c.at("inputs");
    for (const auto& [name, tensor] : inputs.items()) {
        if (!takes_part(c, name)) continue;
        const auto other = k_given_names.find(name);
        e.given.emplace(other == k_given_names.end() ? name : other->second,
                        GivenMatrix(input_of(c, name, b).matrix()));
    }
    if (inputs.contains("E")) {
        const Matrix table = CaseTensor(inputs["E"]).matrix();
        e.given.emplace("embedding", GivenMatrix(rows_of(table, input_of(c, "tokens", b))));
        if (inputs.contains("tokens_kv"))
            e.given.emplace("embedding_kv", GivenMatrix(rows_of(table, input_of(c, "tokens_kv", b))));
    }
    set_sizes(e);
    if (c.at("kind") == "seq2seq") set_seq2seq(e, c.at("config"));
    if (const int bos = c.at("config").value("bos", 0)) swap_bos(e, bos);
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

/// Of `expected`, what batch element b of `batches` has, `size` numbers: all where it is the same for each.
std::vector<double> expected_of(const CaseTensor& expected, int b, int batches, std::size_t size) {
    if (expected.values.size() == size) return expected.values;
    const bool of_batch = !expected.shape.empty() && expected.shape[0] == batches &&
                          expected.values.size() == size * std::size_t(batches);
    return of_batch ? expected.element(b).values : std::vector<double>{};
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
    const std::vector<double> truths = expected_of(expected, b, batches, actual.size());
    ASSERT_EQ(actual.size(), truths.size()) << name;
    double m = 1;
    for (const double value : expected.values)
        if (std::isfinite(value)) m = std::max(m, std::abs(value));
    double worst = 0, squares = 0, of = 0, worst_weight = 0;
    for (std::size_t i = 0; i < truths.size(); ++i) {
        if (std::isinf(truths[i])) {
            ASSERT_EQ(actual[i], truths[i]) << name << " element " << i;
        } else {
            ASSERT_TRUE(std::isfinite(actual[i])) << name << " element " << i;
            const double error = std::abs(actual[i] - truths[i]);
            worst = std::max(worst, error);
            squares += error * error;
            of += truths[i] * truths[i];
            if (truths[i] > 1e-6) worst_weight = std::max(worst_weight, error / truths[i]);
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

/// The printed numbers of batch element b; a row of a batch is one of its elements.
void compare_printed(const json& printed, const Trace& trace, int b, int batches) {
    const Stage* stage = stage_for(trace, printed.at("quantity"));
    ASSERT_NE(stage, nullptr);
    const ConstMatrixView values = stage->buffer.host().head(0);
    std::vector<json> flat;
    for (const json& each : printed.at("values")) {
        if (each.is_array())
            flat.insert(flat.end(), each.begin(), each.end());
        else
            flat.push_back(each);
    }
    const bool one_row = printed.contains("row");
    if (one_row && batches > 1 && printed["row"] != b) return;
    const Eigen::Index first = one_row && batches == 1 ? printed["row"].get<int>() * values.cols() : 0;
    if (!one_row && flat.size() == std::size_t(batches) * std::size_t(values.size()))
        flat = std::vector<json>(flat.begin() + values.size() * b, flat.begin() + values.size() * (b + 1));
    ASSERT_LE(first + static_cast<Eigen::Index>(flat.size()), values.size()) << printed.at("quantity");
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

/// Compares all of a case but its gradients; returns how many those are.
int compare_case(const json& c, const Promise& promise) {
    const int batches = batch_size(c), bos = c.at("config").value("bos", 0);
    int gradients = 0;
    double loss = 0;
    for (int b = 0; b < batches; ++b) {
        const Trace trace = evaluate(experiment_of(c, b), {}, {.backend = promise.backend});
        if (promise.backend) {
            EXPECT_TRUE(trace.find("weights")->buffer.is_on_device());
        }
        gradients = 0;
        for (const auto& [name, tensor] : c.at("expected").items()) {
            if (name.starts_with("grad.")) {
                ++gradients;
                continue;
            }
            const Stage* stage = stage_for(trace, name);
            if (!stage) {
                ADD_FAILURE() << "there is no stage for " << name;
                continue;
            }
            CaseTensor expected(tensor);
            if (bos) swap_words(name, expected, bos);
            if (name == "loss" && batches > 1)
                loss += stage->buffer.at(0, 0, 0);  // of all the batch together
            else
                compare(name, expected, b, batches, *stage, promise);
        }
        if (c.contains("printed") && !promise.backend)
            for (const json& printed : c["printed"]) compare_printed(printed, trace, b, batches);
    }
    if (batches > 1 && c.at("expected").contains("loss")) {
        const double truth = CaseTensor(c["expected"]["loss"]).values[0];
        // Each element's loss may be that far away.
        EXPECT_NEAR(loss, truth, batches * promise.tolerance * std::max(1.0, std::abs(truth)));
    }
    return gradients;
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
        ASSERT_EQ(not_expressible(c), "") << "attnscope cannot express the case";
        const int gradients = compare_case(c, promise);
        if (gradients)
            std::printf("%d gradient tensors of %s left out\n", gradients,
                        c.at("id").get<std::string>().c_str());
    }

private:
    fs::path file_;
    bool on_gpu_;
};

class MissingReference : public testing::Test {
public:
    explicit MissingReference(fs::path folder) : folder_(std::move(folder)) {}
    void TestBody() override { FAIL() << "no reference cases in " << folder_; }

private:
    fs::path folder_;
};

int register_cases(const fs::path& folder, const std::string& suite) {
    std::set<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (entry.path().extension() == ".json") files.insert(entry.path());
    if (files.empty())
        testing::RegisterTest(suite.c_str(), "cases_exist", nullptr, nullptr, __FILE__, __LINE__,
                              [folder]() -> testing::Test* { return new MissingReference(folder); });
    for (const fs::path& file : files) {
        testing::RegisterTest(suite.c_str(), file.stem().c_str(), nullptr, nullptr, __FILE__, __LINE__,
                              [file]() -> testing::Test* { return new ReferenceCase(file); });
        testing::RegisterTest((suite + "Gpu").c_str(), file.stem().c_str(), nullptr, nullptr, __FILE__,
                              __LINE__, [file]() -> testing::Test* { return new ReferenceCase(file, true); });
    }
    return static_cast<int>(files.size());
}

[[maybe_unused]] const int k_registered =
    register_cases(cases_folder(), "Reference") +
    register_cases(fs::path(ATTNSCOPE_SOURCE_DIR) / "tests/reference_batches/cases", "ReferenceBatches");

TEST(reference_test, a_case_that_attnscope_cannot_express_is_refused_by_name) {
    const auto refused = [](const char* config, const char* inputs, const char* kind) {
        return not_expressible(
            {{"kind", kind}, {"config", json::parse(config)}, {"inputs", json::parse(inputs)}});
    };
    EXPECT_EQ(refused(R"({"ln_eps": 1e-5, "heads": 2})", "{}", "transformer"), "");
    EXPECT_EQ(refused(R"({"ln_eps": 1e-3})", "{}", "transformer"),
              "layer norms have ln_eps 1e-05, and not 0.001");
    EXPECT_EQ(refused(R"({"position": "rope"})", "{}", "transformer"),
              "position rope of a transformer is not of the case format");
    EXPECT_EQ(refused(R"({"decay": 1})", "{}", "attention"), "config.decay is not of the case format");
    EXPECT_EQ(refused(R"({"mask": [{"type": "additive"}]})", "{}", "multihead"),
              "the steps of heads have no additive mask");
    EXPECT_EQ(refused("{}", R"({"W_q": {"shape": [1, 1, 1], "data": [1]}})", "attention"),
              "the shape of W_q is not of the case format");
    EXPECT_EQ(refused("{}", R"({"X": {"shape": [2, 1, 1], "data": [1, 2]},
                                "Y": {"shape": [3, 1, 1], "data": [1, 2, 3]}})",
                      "attention"),
              "the shape of X is not of the case format");
}

}  // namespace
}  // namespace attnscope
