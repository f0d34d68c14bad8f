// Every training run of learning/cases (by PyTorch in float64), step by step: the losses, the gradients of
// the first step, the parameters after the last.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/graph/gradient.h"
#include "core/graph/stage_table.h"
#include "core/learn/batch.h"
#include "core/mechanism/evaluate.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path cases_folder() {
    const char* given = std::getenv("ATTNSCOPE_LEARNING_DIR");
    const fs::path folder =
        given && *given ? fs::path(given) : fs::path(ATTNSCOPE_SOURCE_DIR) / "tests/learning";
    return fs::exists(folder / "cases") ? folder / "cases" : folder;
}

/// The tensor as a matrix: a vector is one row, heads stand one below the other.
Matrix matrix_of(const json& tensor) {
    const auto shape = tensor.at("shape").get<std::vector<int>>();
    const auto values = tensor.at("data").get<std::vector<double>>();
    const Eigen::Index columns = shape.back();
    Matrix m(static_cast<Eigen::Index>(values.size()) / columns, columns);
    for (Eigen::Index i = 0; i < m.size(); ++i)
        m.data()[i] = static_cast<float>(values[static_cast<std::size_t>(i)]);
    return m;
}

/// The case's name of a parameter, layers counted from 0, as in overridable_matrices().
std::string custom_name(const std::string& name) {
    const std::size_t dot = name.find('.');
    const bool in_layer = dot == 1 && name[0] >= '0' && name[0] <= '9';
    return in_layer ? name_in_layer(name[0] - '0' + 1, name.substr(dot + 1)) : name;
}

Parameters parameters_of(const json& tensors) {
    Parameters parameters;
    for (const auto& [name, tensor] : tensors.items())
        parameters.emplace(custom_name(name), matrix_of(tensor));
    return parameters;
}

template <typename E>
E choice_of(const json& config, const char* field) {
    const auto choice = find_choice<E>(config.at(field).get<std::string>());
    if (!choice) throw std::runtime_error(config.dump());
    return *choice;
}

Experiment stack_of(const json& config) {
    Experiment e;
    e.mechanism = MechanismKind::transformer;
    e.input.dim = config.at("d");
    e.attention.heads = config.at("heads");
    e.attention.position = choice_of<Position>(config, "position");
    e.attention.context_length = config.at("length");
    e.attention.feed_forward_size = config.at("ff");
    if (config.contains("activation")) e.attention.activation = choice_of<Activation>(config, "activation");
    e.transformer.layers = config.at("layers");
    const std::string norm = config.at("norm");
    e.transformer.norm = norm == "pre" ? Norm::before : norm == "post" ? Norm::after : Norm::none;
    e.transformer.tied = config.value("tied", false);
    if (config.at("causal")) e.weighting.mask = {{MaskForm::causal}};
    return e;
}

Experiment translator_of(const json& config) {
    Experiment e;
    e.mechanism = MechanismKind::seq2seq;
    e.input.dim = config.at("embed");
    e.seq2seq.encoder_size = config.at("encoder");
    e.seq2seq.decoder_size = config.at("decoder");
    e.weighting.hidden = config.at("hidden");
    return e;
}

Optimizer optimizer_of(const json& from) {
    Optimizer optimizer;
    optimizer.kind = choice_of<OptimizerKind>(from, "kind");
    optimizer.learning_rate = from.at("lr");
    optimizer.momentum = from.value("momentum", 0.0);
    if (from.contains("betas")) {
        optimizer.beta1 = from.at("betas")[0];
        optimizer.beta2 = from.at("betas")[1];
    }
    optimizer.epsilon = from.value("eps", optimizer.epsilon);
    optimizer.weight_decay = from.value("weight_decay", 0.0);
    optimizer.clip = from.value("clip", 0.0);
    for (const auto& [name, value] : from.items()) {
        constexpr const char* k_read[] = {"kind", "lr", "momentum", "betas", "eps", "weight_decay", "clip"};
        if (std::ranges::find(k_read, name) == std::end(k_read)) throw std::runtime_error("unread: " + name);
    }
    return optimizer;
}

std::vector<TaskSentence> batch_of(const json& from) {
    using Member = std::vector<int> TaskSentence::*;
    const std::map<std::string, Member> members = {{"tokens", &TaskSentence::tokens},
                                                   {"targets", &TaskSentence::targets},
                                                   {"src", &TaskSentence::source},
                                                   {"tgt_in", &TaskSentence::tokens},
                                                   {"tgt_out", &TaskSentence::targets}};
    std::vector<TaskSentence> batch;
    for (const json& each : from) {
        TaskSentence sentence;
        for (const auto& [name, rows] : each.items())
            sentence.*members.at(name) = rows.get<std::vector<int>>();
        batch.push_back(std::move(sentence));
    }
    return batch;
}

Matrix row_of(const std::vector<int>& numbers) {
    Matrix row(1, std::ssize(numbers));
    std::ranges::copy(numbers, row.data());
    return row;
}

/// learning/README.md: 2e-6 · max(1, m) for a gradient, 1e-5 · max(1, m) for the parameters after a case, m
/// the largest of that matrix.
void expect_close(const Parameters& ours, const Parameters& theirs, double tolerance) {
    for (const auto& [name, expected] : theirs) {
        ASSERT_TRUE(ours.contains(name)) << name;
        const Matrix& actual = ours.at(name);
        ASSERT_EQ(actual.rows(), expected.rows()) << name;
        ASSERT_EQ(actual.cols(), expected.cols()) << name;
        const double limit = tolerance * std::max(1.0f, expected.cwiseAbs().maxCoeff());
        EXPECT_LE((actual - expected).cwiseAbs().maxCoeff(), limit) << name;
    }
}

/// The gradients of the attention weights of the batch's first example, layer by layer.
void expect_weight_gradients(const json& c, const Experiment& model, const Parameters& parameters,
                             const std::vector<TaskSentence>& batch) {
    const json& expected = c.at("expected").at("weights_gradient_first_example");
    Experiment e = model;
    for (const auto& [name, values] : parameters) e.weights.custom.emplace(name, CustomMatrix(values));
    e.weights.custom.emplace("tokens", CustomMatrix(row_of(batch.front().tokens)));
    e.weights.custom.emplace("targets", CustomMatrix(row_of(batch.front().targets)));
    const auto asked = [](const TaskSentence& sentence) {
        return static_cast<double>(
            std::ranges::count_if(sentence.targets, [](int target) { return target >= 0; }));
    };
    const double own = asked(batch.front());
    double all = 0;
    for (const TaskSentence& sentence : batch) all += asked(sentence);
    std::vector<Matrix> ours;
    for (const StagePtr& stage : gradients(evaluate(e)))
        if (stage->key().stage == "weights"_stage) {
            const auto values = stage->buffer.host().values();
            ours.push_back(Eigen::Map<const Matrix>(values.data(),
                                                    Eigen::Index{stage->shape().heads} * stage->shape().rows,
                                                    stage->shape().columns) *
                           static_cast<float>(own / all));
        }
    ASSERT_EQ(ours.size(), expected.size());
    for (std::size_t layer = 0; layer < ours.size(); ++layer) {
        Matrix theirs = matrix_of(expected[layer]);
        // A weighted sum here leaves closed keys out, so that their weights have no gradient; PyTorch's
        // multiplies them by weights of 0.
        const Eigen::Index N = theirs.cols();
        for (Eigen::Index row = 0; c.at("config").at("causal") && row < theirs.rows(); ++row)
            theirs.row(row).tail(N - 1 - row % N).setZero();
        ASSERT_EQ(ours[layer].size(), theirs.size());
        EXPECT_LE((ours[layer] - theirs).cwiseAbs().maxCoeff(),
                  2e-6 * std::max(1.0f, theirs.cwiseAbs().maxCoeff()))
            << "layer " << layer + 1;
    }
}

void run_case(const json& c) {
    const bool stack = c.at("kind") == "stack";
    const Experiment model = stack ? stack_of(c.at("config")) : translator_of(c.at("config"));
    const Optimizer optimizer = optimizer_of(c.at("optimizer"));
    const json& expected = c.at("expected");
    Parameters parameters = parameters_of(c.at("parameters"));
    OptimizerState state;
    for (std::size_t s = 0; s < c.at("batches").size(); ++s) {
        const std::vector<TaskSentence> batch = batch_of(c.at("batches")[s]);
        BatchResult result = batch_gradients(model, parameters, batch);
        ASSERT_NEAR(result.loss, expected.at("losses")[s].get<double>(), 1e-5) << "step " << s + 1;
        if (s == 0) {
            expect_close(result.gradients, parameters_of(expected.at("gradients_first_step")), 2e-6);
            if (stack) expect_weight_gradients(c, model, parameters, batch);
        }
        if (optimizer.clip > 0) {
            const double norm = expected.at("clip_norms")[s];
            EXPECT_NEAR(result.norm, norm, 1e-5 * std::max(1.0, norm)) << "step " << s + 1;
        }
        step(optimizer, state, parameters, result.gradients);
    }
    expect_close(parameters, parameters_of(expected.at("parameters_after")), 1e-5);
}

TEST(LearningTest, EveryCaseIsPyTorchsRun) {
    int cases = 0;
    for (const auto& entry : fs::directory_iterator(cases_folder())) {
        if (entry.path().extension() != ".json") continue;
        SCOPED_TRACE(entry.path().filename().string());
        std::ifstream file(entry.path());
        run_case(json::parse(file));
        ++cases;
    }
    EXPECT_GE(cases, 6) << cases_folder();
}

}  // namespace
}  // namespace attnscope
