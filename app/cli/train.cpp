#include "app/cli/train.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "app/cli/command_line.h"
#include "app/cli/interruption.h"
#include "app/cli/validators.h"
#include "core/canceled.h"
#include "core/error.h"
#include "core/export/run_curves.h"
#include "core/files/file.h"
#include "core/learn/training_run.h"
#include "core/recipe/training_recipe.h"

namespace attnscope {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

/// The session to train: that of the task or of FILE, with the flags applied.
Session session_from(const SessionArguments& arguments) {
    constexpr OptionName k_fixed[] = {"text",      "text2",      "words",      "words2",
                                      "tokenizer", "vocabulary", "table-size", "step"};
    for (const OptionName fixed : k_fixed)
        if (arguments.gives(fixed))
            throw UsageError(fmt::format("--{} is set by the task: leave it out", fixed.text()));
    if (arguments.gives("ablate"))
        throw UsageError("--ablate affects only what is shown: use --train-ablated to train without heads");
    Session session = arguments.with_flags(arguments.start());
    if (session.experiment.training.task == TaskKind::none)
        throw UsageError(fmt::format("choose what to learn: --task {}",
                                     k_arguments<TaskKind>.substr(name_of(TaskKind::none).size() + 1)));
    return session;
}

/// Throws Error(io) if a file cannot be written there, before hours of training are lost to it.
void require_writable(const std::string& path) {
    namespace fs = std::filesystem;
    if (path.empty() || path == "-") return;
    std::error_code problem;
    const fs::path folder = fs::absolute(path, problem).parent_path();
    const int wrong = fs::is_directory(path, problem)              ? EISDIR
                      : ::access(folder.c_str(), W_OK | X_OK) != 0 ? errno
                                                                   : 0;
    if (wrong) throw Error(ErrorKind::io, "cannot write " + path + ": " + file_advice(wrong));
}

/// A line that is written over itself where standard error is a terminal; nothing elsewhere.
class ProgressLine {
public:
    void show(const TrainingRun& run, int steps) {
        if (!is_terminal_ || Clock::now() < next_) return;
        next_ = Clock::now() + std::chrono::milliseconds(100);
        constexpr int k_width = 30;
        const int done = run.step() * k_width / steps;
        fmt::print(stderr, "\r[{}{}] {}/{}  loss {:.4f} ", std::string(static_cast<std::size_t>(done), '#'),
                   std::string(static_cast<std::size_t>(k_width - done), ' '), run.step(), steps,
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

/// Takes steps up to `steps`, until a signal arrives (which stops the step it interrupts) or a step fails;
/// returns why it failed. Calls `keep` often enough that a program that is killed loses at most two seconds
/// of training.
std::string take_steps(TrainingRun& run, int steps, const std::function<void()>& keep) {
    constexpr std::chrono::milliseconds k_between{1500};
    const StopOnSignal stop;
    ProgressLine progress;
    auto next = Clock::now() + k_between;
    bool warned = false;
    try {
        while (run.step() < steps && !stop.token().stop_requested()) {
            run.advance(stop.token());
            progress.show(run, steps);
            if (Clock::now() < next) continue;
            try {
                keep();
            } catch (const Error& error) {
                if (!warned) print_error(std::string(error.what()) + "; training continues");
                warned = true;
            }
            next = Clock::now() + k_between;
        }
    } catch (const Canceled&) {
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

const Task& task_of(const TrainingRun& run) { return attnscope::task_of(run.start().training.task); }

Json json_of(const TrainingRun& run, const Measurement& measured, double seconds) {
    Json losses = Json::array(), accuracies = Json::array(), heads = Json::array();
    for (const StepRecord& record : run.records()) {
        losses.push_back(record.loss);
        accuracies.push_back(record.accuracy);
    }
    for (std::size_t i = 0; i < measured.patterns.size(); ++i) {
        const auto [layer, head] = head_place(run.start(), i);
        heads.push_back({{"layer", layer}, {"head", head}, {"score", measured.patterns[i]}});
    }
    return {{"format", "attnscope-training"},
            {"version", 1},
            {"task", name_of(run.start().training.task)},
            {"steps", run.step()},
            {"seconds", seconds},
            {"losses", losses},
            {"accuracies", accuracies},
            {"held_out", {{"loss", measured.loss}, {"accuracy", measured.accuracy}}},
            {"pattern", task_of(run).pattern},
            {"heads", heads}};
}

/// The session with what was learned, its best head in view.
Session learned(Session session, const TrainingRun& run, const Measurement& measured) {
    const Task& task = task_of(run);
    session.experiment = run.experiment();
    if (!measured.patterns.empty()) {
        const auto [layer, head] = head_place(run.start(), measured.best_head());
        session.presentation.set_layer(layer);
        session.presentation.head = {HeadChoice::Kind::one, head - 1};
    }
    session.note = fmt::format("Learned in {} step{}: {}. {}", run.step(), run.step() == 1 ? "" : "s",
                               task.summary, task.look_for);
    return session;
}

std::string sentence_of(const TrainingRun& run, const Measurement& measured) {
    std::string text = fmt::format("{}: {} step{}; on held-out sentences loss {:.4g}, accuracy {:.1f} %",
                                   name_of(run.start().training.task), run.step(), run.step() == 1 ? "" : "s",
                                   measured.loss, 100 * measured.accuracy);
    if (measured.patterns.empty()) return text;
    const std::size_t best = measured.best_head();
    const auto [layer, head] = head_place(run.start(), best);
    text += fmt::format("; {} score {:.2f}", task_of(run).pattern, measured.patterns[best]);
    return measured.patterns.size() == 1 ? text : text + fmt::format(" in layer {}, head {}", layer, head);
}

}  // namespace

void add_train_options(CLI::App& command, TrainArguments& arguments) {
    command.add_option("--steps", arguments.steps, "Number of optimizer steps [200]")
        ->check(whole_number(1, k_max_training_steps))
        ->option_text("N")
        ->group("Training");
    command
        .add_option("--out", arguments.out,
                    "The session to write (.json, .safetensors), with the learned weights")
        ->check(not_empty("name a file"))
        ->option_text("FILE")
        ->group("Files");
    command.add_option("--curves", arguments.curves, "The learning curves to write (.csv, .svg, .png, .pdf)")
        ->check(not_empty("name a file"))
        ->option_text("FILE")
        ->group("Files");
    command.add_flag("--json", arguments.json, "Print losses and scores as JSON")->group("Files");
}

int print_training_recipe(const SessionArguments& model, int steps, const std::string& out) {
    const Session session = session_from(model);
    const std::string script =
        as_usage([&] { return training_recipe(TrainingRun(session.experiment), steps); });
    for (const std::string& line : model.unused(session.experiment)) print_error(line);
    write_file(out, script);
    return 0;
}

int train(const TrainArguments& arguments) {
    if (!arguments.out.empty() && arguments.out != "-" && !is_session_file(arguments.out))
        throw UsageError("--out: name a file that ends in .json or .safetensors");
    if (arguments.out == "-" && arguments.json) throw UsageError("--out - and --json both print: use one");
    const CurveFormat* curves = curve_format_of(arguments.curves);
    if (!arguments.curves.empty() && !curves)
        throw UsageError("--curves: name a file that ends in .csv, .svg, .png or .pdf");
    const Session session = session_from(arguments.model);
    TrainingRun run = as_usage([&] { return TrainingRun(session.experiment); });
    for (const std::string& line : arguments.model.unused(session.experiment)) print_error(line);
    if (const int at = session.experiment.training.step; at > 0)
        print_error(fmt::format("training starts at step 0; the opened session is at step {}", at));
    require_writable(arguments.out);
    require_writable(arguments.curves);
    const Interruption interruption;
    const auto start = Clock::now();
    const auto keep = [&] {
        if (arguments.out.empty() || arguments.out == "-") return;
        const Measurement last{.patterns = run.records().back().patterns};
        write_file(arguments.out, session_bytes(learned(session, run, last), arguments.out));
    };
    std::string failed = take_steps(run, arguments.steps, keep);
    ErrorKind kind = ErrorKind::bad_input;
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (run.step() > 0) {
        const Measurement measured = run.measure();
        const auto try_to = [&](const std::function<void()>& write) {
            try {
                write();
            } catch (const Error& error) {
                if (!failed.empty()) print_error(failed);
                failed = error.what();
                kind = error.kind();
            }
        };
        if (!arguments.out.empty())
            try_to([&] {
                write_file(arguments.out, session_bytes(learned(session, run, measured), arguments.out));
            });
        if (curves)
            try_to([&] {
                const Course course{run.start(), run.records()};
                write_file(arguments.curves, curves->bytes({&course, 1}, session.presentation.theme));
            });
        if (const std::string growing = growing_loss(run.records(), measured); !growing.empty())
            print_error(growing);
        if (arguments.json)
            write_file("-", json_of(run, measured, seconds).dump(1) + "\n");
        else if (arguments.out != "-")
            write_file("-", sentence_of(run, measured) + "\n");
    }
    Interruption::obey();
    if (!failed.empty()) throw Error(kind, failed);
    return 0;
}

}  // namespace attnscope
