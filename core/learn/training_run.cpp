#include "core/learn/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/graph/graph.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/mechanism/transformer/build.h"
#include "core/mechanism/transformer/parameters.h"
#include "core/memory.h"

namespace attnscope {
namespace {

/// The seed of the held-out sentences.
constexpr std::int64_t k_held_out_seed = 0x48454C44;
constexpr std::size_t k_most_kept_bytes = std::size_t{64} << 20, k_fewest_kept = 4;

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::bad_input, message); }

void require_trainable(const Experiment& e) {
    if (e.training.task == TaskKind::none) refuse("no task is chosen: set task");
    const MechanismKind needed = task_of(e.training.task).mechanism;
    if (e.mechanism != needed)
        refuse(fmt::format("mechanism {} cannot be trained on {}: use {}", name_of(e.mechanism),
                           name_of(e.training.task), name_of(needed)));
    if (needed == MechanismKind::transformer && position_rule(e.attention.position).biases)
        refuse(why_not_trained(e.attention.position));
}

/// Throws Error(too_large) unless the parameters fit in memory with what is kept for each: its gradient, two
/// means of the optimizer, copies while a step is computed and the states to go back to.
void require_memory(const Experiment& model) {
    const std::size_t copies =
        8 + 3 * k_fewest_kept + parts_of_batch(static_cast<std::size_t>(model.training.batch));
    const Graph graph = build(model);
    std::size_t numbers = 0;
    for (const GraphValue& value : graph.values)
        if (is_parameter(*value.key.stage)) numbers += value.shape.size();
    const std::size_t needed = copies * numbers * sizeof(float), free = available_memory() / 10 * 9;
    if (needed > free)
        throw Error(
            ErrorKind::too_large,
            fmt::format("training {} parameters needs {} MiB and {} MiB are free: use a smaller model",
                        numbers, needed >> 20, free >> 20));
}

/// All matrices that the model draws.
Parameters first_parameters(const Experiment& model) {
    Parameters parameters;
    const Trace trace = evaluate(model);
    for (const StagePtr& stage : trace.parameters())
        parameters.emplace(custom_name(stage->key()), stage->buffer.head(0));
    return parameters;
}

/// The mean of each head; empty where the task names no keys.
std::vector<float> values_of(const std::vector<Mean>& means) {
    std::vector<float> values;
    if (std::ranges::all_of(means, [](const Mean& mean) { return mean.count == 0; })) return values;
    for (const Mean& mean : means) values.push_back(static_cast<float>(mean.value()));
    return values;
}

std::size_t bytes_of(const Parameters& parameters) {
    std::size_t bytes = 0;
    for (const auto& [name, values] : parameters)
        bytes += sizeof(float) * static_cast<std::size_t>(values.size());
    return bytes;
}

}  // namespace

Experiment untrained(Experiment experiment) {
    std::erase_if(experiment.weights.custom,
                  [](const auto& each) { return parameter_stage(each.first) != nullptr; });
    experiment.training.step = 0;
    return experiment;
}

std::string why_parameters_do_not_fit(const Experiment& experiment) {
    bool has_any = false;
    for (const auto& [name, rows, columns] : parameters_of(experiment)) {
        const CustomMatrix* given = experiment.weights.find_custom(name);
        if (!given) continue;
        has_any = true;
        const Matrix& values = given->values();
        if (values.rows() != rows || values.cols() != columns)
            return fmt::format("{} is {} × {}, but {}", name, values.rows(), values.cols(),
                               must_be(rows, columns));
    }
    return has_any ? "" : fmt::format("no custom matrix is a parameter of {}", name_of(experiment.mechanism));
}

Experiment learning_from(Experiment experiment, std::string corpus) {
    experiment = untrained(std::move(experiment));
    experiment.training.corpus = std::move(corpus);
    set_first_sentence(experiment);
    check(experiment);
    return experiment;
}

bool can_be_trained(const Experiment& experiment) {
    const TaskKind task = experiment.training.task;
    return task != TaskKind::none && task_of(task).mechanism == experiment.mechanism;
}

bool are_of_one_run(const Experiment& a, const Experiment& b) {
    const auto without_sentence = [](Experiment e) {
        e = untrained(std::move(e));
        e.input.text = e.input.text2 = "";
        e.attention.ablated.clear();
        if (e.training.ablated.empty()) e.attention.ablation = Ablation::zero;
        e.seq2seq.decode = Decode::teacher;
        return e;
    };
    return without_sentence(a) == without_sentence(b);
}

float StepRecord::best_pattern() const {
    return patterns.empty() ? std::numeric_limits<float>::quiet_NaN() : *std::ranges::max_element(patterns);
}

HeadPlace head_place(const Experiment& experiment, std::size_t index) {
    const auto heads = static_cast<std::size_t>(
        mechanism_rule(experiment.mechanism).has_heads ? experiment.attention.heads : 1);
    return {static_cast<int>(index / heads) + 1, static_cast<int>(index % heads) + 1};
}

std::size_t Measurement::best_head() const {
    return static_cast<std::size_t>(std::ranges::max_element(patterns) - patterns.begin());
}

std::string growing_loss(std::span<const StepRecord> records, const Measurement& last) {
    if (records.empty() || last.loss <= 2 * records.front().loss) return "";
    return fmt::format("the loss grew from {:.4g} to {:.4g}: use a smaller learning rate",
                       records.front().loss, last.loss);
}

TrainingRun::TrainingRun(Experiment experiment, int threads)
    : model_(untrained(std::move(experiment))),
      threads_(threads),
      state_{{}, {}, Generator(model_.training.data_seed)} {
    model_.attention.ablated = model_.training.ablated;
    check(model_);
    require_trainable(model_);
    // The sentence may be anything, and custom; the parameters are those of the task's words.
    for (const CustomName name :
         std::initializer_list<CustomName>{"src", "tgt_in", "tgt_out", "tokens", "targets"})
        model_.weights.discard(name);
    sentences_ = task_of(model_.training.task).open(model_.training);
    Generator first(model_.training.data_seed);
    set_sentence(model_, sentences_, sentences_.draw(first));
    require_memory(model_);
    Generator held_out{Seed(k_held_out_seed)};
    held_out_ = draw_sentences(sentences_.draw_held_out ? sentences_.draw_held_out : sentences_.draw,
                               held_out, k_held_out_sentences);
    state_.parameters = first_parameters(model_);
    keep();
}

std::pair<TrainingRun::State, StepRecord> TrainingRun::next(const std::stop_token& cancel) const {
    Generator sentences = state_.sentences;
    const std::vector<TaskSentence> batch = draw_sentences(sentences_.draw, sentences, model_.training.batch);
    BatchResult result = batch_gradients(model_, state_.parameters, batch, cancel, threads_);
    const auto refuse_step = [&] {
        refuse(fmt::format("the loss is not finite at step {}: use a smaller learning rate", step() + 1));
    };
    if (!std::isfinite(result.loss) || !std::isfinite(result.norm)) refuse_step();
    State after{state_.parameters, state_.optimizer, sentences};
    attnscope::step(model_.training.optimizer, after.optimizer, after.parameters, result.gradients);
    if (!std::isfinite(norm_of(after.parameters))) refuse_step();
    StepRecord record{result.loss, result.accuracy, result.norm, values_of(result.patterns)};
    return {std::move(after), std::move(record)};
}

void TrainingRun::advance(const std::stop_token& cancel) {
    std::optional<std::pair<State, StepRecord>> next_one;
    try {
        next_one = next(cancel);
    } catch (const Error& error) {
        // The step that led here made parameters whose loss is not finite.
        if (error.kind() == ErrorKind::bad_input && step() > 0) go_to(step() - 1, cancel);
        throw;
    }
    auto& [after, record] = *next_one;
    state_ = std::move(after);
    if (step() > std::ssize(records_)) records_.push_back(std::move(record));
    keep();
}

void TrainingRun::go_to(int step, const std::stop_token& cancel) {
    const State& kept = kept_before(step);
    if (step < this->step() || kept.optimizer.steps > this->step()) state_ = State(kept);
    while (this->step() < step) advance(cancel);
}

const TrainingRun::State& TrainingRun::kept_before(int step) const {
    return kept_[std::min(static_cast<std::size_t>(step / spacing_), kept_.size() - 1)];
}

std::pair<int, const Parameters*> TrainingRun::kept_near(int step) const {
    const State& kept = kept_before(step);
    return {kept.optimizer.steps, &kept.parameters};
}

/// Keeps the state if this step is one to keep, and half as many where there is no room for more.
void TrainingRun::keep() {
    if (step() % spacing_ != 0 || step() / spacing_ < std::ssize(kept_)) return;
    kept_.push_back(state_);
    const std::size_t most =
        std::clamp(k_most_kept_bytes / bytes_of_state(), k_fewest_kept, std::size_t{128});
    if (kept_.size() <= most) return;
    std::vector<State> fewer;
    for (std::size_t i = 0; i < kept_.size(); i += 2) fewer.push_back(std::move(kept_[i]));
    kept_ = std::move(fewer);
    spacing_ *= 2;
}

std::size_t TrainingRun::bytes_of_state() const {
    return bytes_of(state_.parameters) + bytes_of(state_.optimizer.first) +
           bytes_of(state_.optimizer.second) + sizeof(State);
}

std::size_t TrainingRun::kept_bytes() const {
    std::size_t bytes = kept_.size() * bytes_of_state();
    for (const StepRecord& record : records_)
        bytes += sizeof(record) + record.patterns.size() * sizeof(float);
    return bytes;
}

Measurement TrainingRun::measure(const std::stop_token& cancel) const {
    return measure_without(model_.attention.ablated, model_.attention.ablation, cancel);
}

Measurement TrainingRun::measure_without(const std::vector<HeadPlace>& heads, Ablation to,
                                         const std::stop_token& cancel) const {
    Experiment shown = model_;
    shown.attention.ablated = heads;
    shown.attention.ablation = to;
    const BatchResult result = batch_loss(shown, state_.parameters, held_out_, cancel, threads_);
    return {result.loss, result.accuracy, values_of(result.patterns)};
}

Experiment TrainingRun::experiment() const { return with_step(model_, model_, state_.parameters, step()); }

Experiment with_step(Experiment shown, const Experiment& start, const Parameters& parameters, int step) {
    shown = untrained(std::move(shown));
    if (step > 0) shown = with_parameters(std::move(shown), parameters);
    shown.input.words = start.input.words;
    shown.input.words2 = start.input.words2;
    shown.input.tokenizer = start.input.tokenizer;
    shown.input.table_size = start.input.table_size;
    shown.training.step = step;
    return shown;
}

Experiment at_step(const Experiment& experiment, int step, const std::stop_token& cancel) {
    if (step < 0 || step > k_max_training_steps)
        refuse(fmt::format("step {} is out of range: use 0 to {}", step, k_max_training_steps));
    TrainingRun run(experiment);
    run.go_to(step, cancel);
    return with_step(experiment, run.start(), run.parameters(), step);
}

}  // namespace attnscope
