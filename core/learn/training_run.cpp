#include "core/learn/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/transformer/build.h"

namespace attnscope {
namespace {

constexpr int k_held_out = 64, k_largest_batch = 1024;
/// The seed of the held-out sentences, which no run trains on: another stream than that of any run's seed.
constexpr std::int64_t k_held_out_seed = 0x48454C44;

std::vector<TaskSentence> drawn(const Task& task, Generator& generator, int count) {
    std::vector<TaskSentence> sentences;
    for (int i = 0; i < count; ++i) sentences.push_back(task.draw(generator));
    return sentences;
}

/// The matrices that the model itself draws.
Parameters first_parameters(const Experiment& model) {
    Parameters parameters;
    const Trace trace = evaluate(model);
    for (const StagePtr& stage : trace.parameters()) {
        const std::string name = stage->info == "table"_stage ? "E" : std::string(stage->name());
        if (!model.is_given(name)) parameters.emplace(name, stage->buffer.host().head(0));
    }
    return parameters;
}

}  // namespace

Training training_of(TaskKind kind) {
    Training training;
    training.task = kind;
    Experiment& model = training.model;
    model.mechanism = MechanismKind::transformer;
    task_of(kind).set_up(model, training.optimizer, training.batch);
    Generator generator(training.seed);
    set_sentence(model, task_of(kind), task_of(kind).draw(generator));
    return training;
}

const HeadScore& Measurement::best() const { return *std::ranges::max_element(heads, {}, &HeadScore::score); }

TrainingRun::TrainingRun(const Training& training) : training_(training), sentences_(training.seed) {
    if (training.model.mechanism != MechanismKind::transformer)
        throw Error(ErrorKind::bad_input, fmt::format("mechanism {} is not trained: use transformer",
                                                      name_of(training.model.mechanism)));
    if (training.model.attention.position == Position::alibi)
        throw Error(ErrorKind::bad_input,
                    "position alibi cannot be trained: use none, sinusoidal, learned or rope");
    if (training.batch < 1 || training.batch > k_largest_batch)
        throw Error(ErrorKind::bad_input,
                    fmt::format("batch {} is out of range: use 1 to {}", training.batch, k_largest_batch));
    Generator held_out{Seed(k_held_out_seed)};
    held_out_ = drawn(task_of(training.task), held_out, k_held_out);
    parameters_ = first_parameters(training.model);
}

void TrainingRun::step(const std::stop_token& cancel) {
    const Generator before = sentences_;
    try {
        std::vector<Example> batch;
        for (const TaskSentence& sentence : drawn(task_of(training_.task), sentences_, training_.batch))
            batch.push_back(example_of(sentence));
        BatchResult result = batch_gradients(training_.model, parameters_, batch, cancel);
        if (!std::isfinite(result.loss) || !std::isfinite(result.norm))
            throw Error(
                ErrorKind::bad_input,
                fmt::format("the loss is not finite at step {}: use a smaller learning rate", steps() + 1));
        attnscope::step(training_.optimizer, state_, parameters_, result.gradients);
        records_.push_back({result.loss, result.norm});
    } catch (...) {
        sentences_ = before;
        throw;
    }
}

Measurement TrainingRun::measure(const std::stop_token& cancel) const {
    Experiment e = training_.model;
    for (const auto& [name, values] : parameters_)
        e.weights.given.insert_or_assign(name, GivenMatrix(values));
    std::vector<TokenSentence> sentences;
    for (const TaskSentence& each : held_out_) sentences.push_back({each.tokens, each.targets});
    const Trace trace = evaluate(TransformerBuilder(e, sentences).build(), {.threads = 1, .cancel = cancel});

    Measurement measured;
    measured.loss = trace.find("loss"_stage)->buffer.at(0, 0, 0);
    const ConstMatrixView log_probs = trace.find("log_probs"_stage)->buffer.host().head(0);
    int right = 0, asked = 0;
    Eigen::Index row = 0;
    for (const TaskSentence& sentence : held_out_)
        for (const int target : sentence.targets) {
            Eigen::Index likely = 0;
            log_probs.row(row++).maxCoeff(&likely);
            if (target < 0) continue;
            ++asked;
            right += likely == target;
        }
    measured.accuracy = static_cast<double>(right) / asked;

    const int heads = e.attention.heads;
    for (int layer = 1; layer <= e.transformer.layers; ++layer) {
        const Tensor& weights = trace.find({"weights"_stage, layer})->buffer.host();
        for (int h = 0; h < heads; ++h) {
            double sum = 0;
            int count = 0;
            for (std::size_t s = 0; s < held_out_.size(); ++s) {
                const std::vector<int>& keys = held_out_[s].keys;
                const ConstMatrixView of_head = weights.head(static_cast<int>(s) * heads + h);
                for (std::size_t i = 0; i < keys.size(); ++i) {
                    if (keys[i] < 0) continue;
                    sum += of_head(static_cast<Eigen::Index>(i), keys[i]);
                    ++count;
                }
            }
            measured.heads.push_back({layer, h + 1, sum / count});
        }
    }
    return measured;
}

Experiment TrainingRun::experiment() const {
    Experiment e = training_.model;
    for (const auto& [name, values] : parameters_)
        e.weights.given.insert_or_assign(name, GivenMatrix(values));
    return e;
}

}  // namespace attnscope
