#include "app/cli/train.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/interruption.h"
#include "app/cli/validators.h"
#include "core/error.h"
#include "core/files/file.h"
#include "core/learn/training_run.h"

namespace attnscope {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

template <typename E>
std::vector<std::string> names_of() {
    std::vector<std::string> names;
    for (const ChoiceName<E>& choice : choices<E>()) names.emplace_back(choice.name);
    return names;
}

/// The task's training with the flags applied, and the session it becomes.
Training training_from(const TrainArguments& arguments, Session& session) {
    if (arguments.model.has_file()) throw UsageError("train starts from a task: leave the file out");
    Training training = training_of(*find_choice<TaskKind>(arguments.task));
    session.experiment = training.model;
    session.presentation.stage = "weights";
    session = arguments.model.with_flags(session);
    training.model = session.experiment;
    if (!arguments.optimizer.empty())
        training.optimizer.kind = *find_choice<OptimizerKind>(arguments.optimizer);
    if (arguments.learning_rate) training.optimizer.learning_rate = *arguments.learning_rate;
    if (arguments.clip) training.optimizer.clip = *arguments.clip;
    if (arguments.batch) training.batch = *arguments.batch;
    if (arguments.data_seed) {
        const std::optional<Seed> seed = Seed::read(*arguments.data_seed);
        if (!seed)
            throw UsageError("--data-seed: expected a whole number, not " + quoted(*arguments.data_seed));
        training.seed = *seed;
    }
    return training;
}

/// A line that is written over itself where standard error is a terminal; nothing elsewhere.
class ProgressLine {
public:
    void show(const TrainingRun& run, int steps) {
        if (!is_terminal_ || Clock::now() < next_) return;
        next_ = Clock::now() + std::chrono::milliseconds(100);
        constexpr int k_width = 30;
        const int done = run.steps() * k_width / steps;
        fmt::print(stderr, "\r[{}{}] {}/{}  loss {:.4f} ", std::string(static_cast<std::size_t>(done), '#'),
                   std::string(static_cast<std::size_t>(k_width - done), ' '), run.steps(), steps,
                   run.records().back().loss);
        std::fflush(stderr);
        shown_ = true;
    }
    ~ProgressLine() {
        if (shown_) std::fputs("\n", stderr);
    }

private:
    bool is_terminal_ = ::isatty(STDERR_FILENO) == 1, shown_ = false;
    Clock::time_point next_;
};

Json json_of(const TrainingRun& run, const Measurement& measured, double seconds) {
    Json losses = Json::array(), heads = Json::array();
    for (const StepRecord& record : run.records()) losses.push_back(record.loss);
    for (const HeadScore& head : measured.heads)
        heads.push_back({{"layer", head.layer}, {"head", head.head}, {"score", head.score}});
    return {{"format", "attnscope-training"},
            {"version", 1},
            {"task", name_of(run.training().task)},
            {"steps", run.steps()},
            {"seconds", seconds},
            {"losses", losses},
            {"held_out", {{"loss", measured.loss}, {"accuracy", measured.accuracy}}},
            {"pattern", task_of(run.training().task).pattern},
            {"heads", heads}};
}

std::string sentence_of(const TrainingRun& run, const Measurement& measured) {
    const HeadScore& best = measured.best();
    return fmt::format(
        "{}: {} steps; on held-out sentences loss {:.4f}, accuracy {:.1f} %; {} score {:.2f} in layer {}, "
        "head {}",
        name_of(run.training().task), run.steps(), measured.loss, 100 * measured.accuracy,
        task_of(run.training().task).pattern, best.score, best.layer, best.head);
}

}  // namespace

void add_train_options(CLI::App& command, TrainArguments& arguments) {
    command.add_option("--task", arguments.task, "What to learn")
        ->required()
        ->check(one_of(names_of<TaskKind>()))
        ->option_text(std::string(k_arguments<TaskKind>) + " REQUIRED")
        ->group("Training");
    command.add_option("--steps", arguments.steps, "Steps of the optimizer [200]")
        ->check(whole_number(1, 100000))
        ->option_text("N")
        ->group("Training");
    command.add_option("--batch", arguments.batch, "Fresh sentences for each step, 1 to 1024 [by the task]")
        ->check(whole_number(1, 1024))
        ->option_text("N")
        ->group("Training");
    command.add_option("--optimizer", arguments.optimizer, "How a step changes the weights [by the task]")
        ->check(one_of(names_of<OptimizerKind>()))
        ->option_text(std::string(k_arguments<OptimizerKind>))
        ->group("Training");
    command.add_option("--learning-rate", arguments.learning_rate, "Size of a step [by the task]")
        ->check(CLI::NonNegativeNumber)
        ->option_text("NUMBER")
        ->group("Training");
    command
        .add_option("--clip", arguments.clip, "Largest norm of all gradients together; 0: any [by the task]")
        ->check(CLI::NonNegativeNumber)
        ->option_text("NUMBER")
        ->group("Training");
    command.add_option("--data-seed", arguments.data_seed, "Seed of the sentences [1]")
        ->option_text("N")
        ->group("Training");
    command.add_option("--out", arguments.out, "The session to write (.json), with the learned weights")
        ->type_name("FILE")
        ->group("Files");
    command.add_flag("--json", arguments.json, "Print losses and scores as JSON")->group("Files");
}

int train(const TrainArguments& arguments) {
    if (!arguments.out.empty() && arguments.out != "-" && !arguments.out.ends_with(".json"))
        throw UsageError("--out: name a session, a file that ends in .json");
    Session session;
    const Training training = training_from(arguments, session);
    TrainingRun run(training);
    const Interruption interruption;
    const auto start = Clock::now();
    {
        ProgressLine progress;
        while (run.steps() < arguments.steps && !Interruption::asked()) {
            run.step();
            progress.show(run, arguments.steps);
        }
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const Measurement measured = run.measure();
    const Task& task = task_of(training.task);
    session.experiment = run.experiment();
    session.presentation.layer = measured.best().layer;
    session.presentation.head = {HeadChoice::Kind::one, measured.best().head - 1};
    session.note = fmt::format("Learned in {} steps: {}. {}", run.steps(), task.summary, task.look_for);
    if (!arguments.out.empty()) write_file(arguments.out, to_json(session));
    if (arguments.json)
        write_file("-", json_of(run, measured, seconds).dump(1) + "\n");
    else if (arguments.out != "-")
        write_file("-", sentence_of(run, measured) + "\n");
    Interruption::obey();
    return 0;
}

}  // namespace attnscope
