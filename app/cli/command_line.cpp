#include "app/cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <sstream>
#include <thread>

#include "app/cli/interruption.h"
#include "app/cli/measure.h"
#include "app/cli/session_arguments.h"
#include "app/cli/train.h"
#include "app/cli/validators.h"
#include "core/cpu/row_blocks.h"
#include "core/error.h"
#include "core/export/export.h"
#include "core/export/film.h"
#include "core/export/trace_json.h"
#include "core/files/file.h"
#include "core/gpu/choice.h"
#include "core/graph/gradient.h"
#include "core/learn/training_run.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/recipe/recipe.h"
#include "core/session/comparisons.h"
#include "core/session/examples.h"
#include "core/session/options.h"

namespace attnscope {
namespace {

/// How to compute; none of it changes the results.
struct HowArguments {
    std::optional<BackendWish> backend;
    int threads = 0;
    std::string shaders;  ///< a folder; empty: the built-in ones

    void add_to(CLI::App& command) {
        command
            .add_option_function<std::string>(
                "--backend", [this](const std::string& name) { backend = parse_backend(name); },
                "Where to compute [auto]")
            ->check(one_of_choices<BackendWish>())
            ->option_text(std::string(k_arguments<BackendWish>))
            ->group("Computation");
        command
            .add_option("--threads", threads,
                        "Threads to use, up to one for each core; 0: one for each core [0]")
            ->check(whole_number(0, 1024))
            ->option_text("N")
            ->group("Computation");
        command
            .add_option("--shaders", shaders,
                        "Read shaders from this folder; the window reloads those that change")
            ->check(not_empty("name a folder"))
            ->option_text("DIR")
            ->group("Computation");
    }
    /// Throws Error(bad_input) for a folder without shaders: call it once all arguments are known to be good.
    ShaderSource shader_source() const { return ShaderSource(shaders); }
    /// The options for the window, which chooses the backend itself. Call this once all arguments are known
    /// to be good: from then on the folder of shaders is used.
    EvaluateOptions window_options() const {
        limit_threads(thread_count());  // of pictures and their facts, too
        return {.threads = thread_count()};
    }
    /// The options for a command that evaluates once: measuring which backend is faster takes longer than it
    /// saves, so `auto` is the CPU.
    EvaluateOptions options(const Session& session) {
        EvaluateOptions options = window_options();
        const ShaderSource source = shader_source();
        const std::string why = why_on_cpu(session.experiment.mechanism);
        const bool on_card = backend == BackendWish::gpu;
        if (on_card && !why.empty()) print_error("--backend gpu: " + why + ": leave the flag out");
        if (on_card && why.empty() && !backend_) backend_ = choose_backend(BackendWish::gpu, source).backend;
        options.backend = backend_.get();
        return options;
    }
    /// Prints the backend's warnings about an evaluation that succeeded to standard error.
    void report() const {
        if (backend_ && !backend_->complaint().empty()) print_error(backend_->complaint());
    }

private:
    /// More threads than cores would only wait for one another.
    int thread_count() const {
        const auto cores = static_cast<int>(std::thread::hardware_concurrency());
        return cores > 0 ? std::min(threads, cores) : threads;
    }

    std::shared_ptr<Backend> backend_;
};

/// All that the command line can set.
struct Arguments {
    SessionArguments window, render, trace, recipe, measure;
    HowArguments window_how, render_how, trace_how, recipe_how, measure_how;
    std::string out;
    std::string recipe_out = "-";
    int recipe_steps = 0;
    std::string formats = "png";
    std::string compare_with;
    int film = 0;
    MeasureRequest measurement;
    TrainArguments training;
};

/// `film`: all frames may also be one file.
std::vector<FileFormat> split_formats(const std::string& text, bool film) {
    std::vector<FileFormat> formats;
    std::istringstream stream(text);
    for (std::string each; std::getline(stream, each, ',');) {
        const std::optional<FileFormat> format = find_choice<FileFormat>(each);
        if (!format)
            throw UsageError("--format: \"" + each + "\" is not known: use " + export_format_names());
        if (*format == FileFormat::gif && !film)
            throw UsageError("--format: gif is for films: use " + export_format_names() +
                             ", or add --film N");
        formats.push_back(*format);
    }
    if (formats.empty()) throw UsageError("--format: name one or several of " + export_format_names());
    return formats;
}

/// Checks that `path` is a folder, or can be created in a folder that exists.
void require_folder(const std::string& path) {
    namespace fs = std::filesystem;
    if (path == "-")
        throw UsageError("--out: render writes files, so it needs a folder, not standard output");
    std::error_code problem;
    const fs::file_status status = fs::status(path, problem);
    if (fs::is_directory(status)) return;
    if (fs::exists(status)) throw Error(ErrorKind::io, path + " is not a folder: choose another --out");
    if (status.type() != fs::file_type::not_found)
        throw Error(ErrorKind::io,
                    "--out: cannot reach the folder " + path + ": " + file_advice(problem.value()));
    const fs::path parent =
        path.empty() ? fs::path() : fs::absolute(fs::path(path) / "").parent_path().parent_path();
    if (!fs::is_directory(parent, problem))
        throw Error(ErrorKind::io, "the folder " + (path.empty() ? "\"\"" : parent.string()) +
                                       " does not exist: create it or choose another --out");
}

void make_folder(const std::string& path) {
    std::error_code problem;
    std::filesystem::create_directory(path, problem);
    if (problem)
        throw Error(ErrorKind::io,
                    "--out: cannot create the folder " + path + ": " + file_advice(problem.value()));
}

/// Runs an export, which a signal may interrupt; returns its paths.
template <typename Export>
std::vector<std::string> export_until_interrupted(const Export& export_with) {
    try {
        return export_with([](const ExportStep&) { return !Interruption::asked(); });
    } catch (const Error&) {
        Interruption::obey();  // the signal interrupted a wait for a pipe's reader
        throw;
    }
}

void print_lines(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    write_file("-", text);
}

/// Checks that what --head, --locked and --gradients ask for exists in the trace.
void require_flags(const SessionArguments& given, const Session& session, const Trace& trace) {
    const HeadChoice& head = session.presentation.head;
    const int heads = session.experiment.attention.heads;
    if (given.gives("head") && head.kind == HeadChoice::Kind::one && head.head >= heads)
        throw UsageError("--head: " + head_text(head) + " does not exist; there " +
                         (heads == 1 ? "is 1 head" : fmt::format("are {} heads", heads)));
    const std::string no_gradients = why_no_gradients(trace);
    if (given.gives("gradients") && session.presentation.gradients && !no_gradients.empty())
        throw UsageError("--gradients: " + no_gradients);
    const std::optional<Cell>& cell = session.presentation.locked;
    const Stage* stage = trace.find_chosen(session.presentation.locked_stage());
    if (!given.gives("locked") || !cell || !stage) return;
    const Shape& shape = stage->shape();
    if (cell->row >= shape.rows || cell->column >= shape.columns)
        throw UsageError(fmt::format("--locked: {},{} is outside {}, which is {} × {}", cell->row + 1,
                                     cell->column + 1, stage->name(), shape.rows, shape.columns));
}

/// Whether FILE fails even without any flag.
bool file_is_bad(const SessionArguments& given, const Session& start, ExportRequest request,
                 EvaluateOptions options) {
    if (!given.has_file()) return false;
    request.stages.clear();
    options.stages.clear();
    request.view_alone = false;
    if (given.gives("head")) request.head = start.presentation.head;
    return !succeeds([&] { trace_for(start, request, options); });
}

/// The trace of `session`, which is `start` with the flags applied, checked to contain what the flags ask
/// for. A problem counts as wrong usage, unless it comes from FILE itself.
Trace checked_trace(const SessionArguments& given, const Session& start, const Session& session,
                    const ExportRequest& request, const EvaluateOptions& options) {
    try {
        Trace trace = trace_for(session, request, options);
        require_flags(given, session, trace);
        return trace;
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::bad_input || file_is_bad(given, start, request, options)) throw;
        throw UsageError(error.what());
    }
}

/// Prints a line for each flag that has no effect.
void report_unused(const SessionArguments& given, const Session& session) {
    for (const std::string& line : given.unused(session.experiment)) print_error(line);
}

/// The layer that --layer selects; 0: all. The one in a session only concerns its picture.
int layer_of(const SessionArguments& given, const Session& session) {
    return given.gives("layer") ? session.presentation.layer() : 0;
}

/// The names to print: as requested, or with a layer those that an export would write, and its parameters.
std::vector<std::string> names_to_print(const Trace& trace, const ExportRequest& request) {
    if (request.layer == 0) return request.stages;
    std::vector<std::string> names;
    for (const ExportItem& item : plan_export(trace, request)) names.emplace_back(item.stage->name());
    for (const StagePtr& each : trace.parameters())
        if (request.stages.empty() && each->layer == request.layer) names.emplace_back(each->name());
    return names;
}

/// ": set heads to 2" if a change applies then.
std::string what_helps(const Session& session, const ComparisonPreset& preset) {
    for (const OfferedComparison& offered : offered_comparisons(session)) {
        if (offered.preset != &preset) continue;
        if (!offered.needs.empty()) return ": set " + offered.needs;
    }
    return "";
}

/// The session with A as `--compare-with` names it: the session of a file; this session, and B is what the
/// named change or half the steps of training make of it; or this session computed by the CPU.
Session compared_with(Session session, const std::string& name) {
    if (name.empty()) return session;
    if (name == k_half_the_steps) {
        const int step = session.experiment.training.step;
        if (step < 2)
            throw UsageError(fmt::format("--compare-with {}: set --step to 2 or more", k_half_the_steps));
        session.pinned = pinned(session);
        session.experiment = at_step(session.experiment, step / 2);
        return session;
    }
    if (name == k_the_cpu) {
        session.pinned = pinned(session);
        session.pinned->on_cpu = true;
        return session;
    }
    if (const ComparisonPreset* preset = find_comparison_preset(name)) {
        std::optional<Session> changed = with_preset(session, *preset);
        if (!changed)
            throw UsageError(fmt::format("--compare-with: \"{}\" changes nothing here{}", name,
                                         what_helps(session, *preset)));
        return *changed;
    }
    std::error_code unknown;
    if (!std::filesystem::exists(name, unknown)) {
        std::string names;
        for (const ComparisonPreset& each : comparison_presets()) names += std::string(each.name) + ", ";
        throw UsageError("--compare-with: \"" + name + "\" is neither a file nor a change: use one of " +
                         fmt::format("{}{}, {}", names, k_half_the_steps, k_the_cpu));
    }
    session.pinned = pinned(load_session(name));
    return session;
}

int render_film(Arguments& arguments, const Session& session, const ExportRequest& request) {
    if (const std::string why = why_no_film(session); !why.empty())
        throw UsageError("--film: " + why + " (--task and --step, or --sweep)");
    if (const std::string why = why_no_film(session, {request, arguments.film}); !why.empty())
        throw UsageError("--film: " + why);
    EvaluateOptions options = arguments.render_how.options(session);
    report_unused(arguments.render, session);
    const Interruption interruption;
    const StopOnSignal stop;
    options.cancel = stop.token();
    make_folder(arguments.out);
    print_lines(as_usage([&] {
        return export_until_interrupted([&](const ExportProgress& progress) {
            return export_film(session, {request, arguments.film}, arguments.out, options, progress);
        });
    }));
    arguments.render_how.report();
    Interruption::obey();
    return 0;
}

int render(Arguments& arguments) {
    const SessionArguments& given = arguments.render;
    // What is wrong with these is said before any step of --step is learned.
    const std::vector<FileFormat> formats = split_formats(arguments.formats, arguments.film > 0);
    require_folder(arguments.out);
    const Session start = given.start();
    Session session = compared_with(given.with_flags(start), arguments.compare_with);
    if (given.gives("width") && session.presentation.width) {
        Presentation& look = session.presentation;
        if (!given.gives("theme")) look.theme = ThemeKind::print;
        const bool is_chosen = given.gives("colormap") || look.colormap != Presentation{}.colormap;
        if (!is_chosen && look.theme == ThemeKind::print) look.colormap = k_paper_colormap;
    }
    // Writes the stages and the view that are named; without any, everything.
    ExportRequest request{given.stages(), session.presentation.head, formats};
    request.layer = layer_of(given, session);
    if (given.gives("view") || request.stages.empty()) request.view = session.presentation.view;
    request.view_alone = given.gives("view") && !given.gives("stage");
    request.chosen = session.presentation.stage;
    request.gradients = session.presentation.gradients;
    request.compose = session.presentation.compose;
    if (arguments.film > 0) return render_film(arguments, session, request);
    if (request.compose == Compose::film)
        throw UsageError("--compose film: a film has several frames: set their number with --film");
    if (given.gives("sweep") && session.presentation.sweep != Sweep::none)
        throw UsageError("--sweep: a sweep is written as a film: set its number of frames with --film");
    const EvaluateOptions options = reading_only(arguments.render_how.options(session), session, request);
    if (arguments.compare_with == k_the_cpu && !options.backend)
        throw UsageError(
            fmt::format("--compare-with {}: B is computed by the CPU as well: set --backend gpu", k_the_cpu));
    if (request.compose == Compose::compare && session.pinned) {
        const Pinned& a = *session.pinned;
        EvaluateOptions of_a = options;
        if (a.on_cpu) of_a.backend = nullptr;
        auto trace = std::make_shared<const Trace>(evaluate(a.experiment, {}, of_a));
        request.pinned = ComparedSide{std::move(trace), a.head, a.layer};
    }
    const Trace trace = checked_trace(given, start, session, request, options);
    arguments.render_how.report();
    report_unused(given, session);
    const Interruption interruption;
    make_folder(arguments.out);
    print_lines(export_until_interrupted([&](const ExportProgress& progress) {
        return export_files(trace, session, request, arguments.out, progress);
    }));
    Interruption::obey();
    return 0;
}

int print_trace(Arguments& arguments) {
    const SessionArguments& given = arguments.trace;
    const Session start = given.start(), session = given.with_flags(start);
    // The head in a session only concerns its picture: the trace has all heads unless a flag selects one.
    const HeadChoice head =
        given.gives("head") ? session.presentation.head : HeadChoice{HeadChoice::Kind::all};
    ExportRequest request{given.stages(), head, {FileFormat::json}};
    request.layer = layer_of(given, session);
    const EvaluateOptions options = reading_only(arguments.trace_how.options(session), session, request);
    const Trace trace = checked_trace(given, start, session, request, options);
    arguments.trace_how.report();
    report_unused(given, session);
    const std::vector<std::string> names = names_to_print(trace, request);
    const std::optional<Region> region = given.gives("region") ? session.presentation.region : std::nullopt;
    if (const std::vector<std::string> left_out = names_left_out(trace, names, region); !left_out.empty())
        print_error(
            fmt::format("the numbers of {} are left out, as there are too many: choose some pairs with "
                        "--region, or write a stage with render --format npy",
                        fmt::join(left_out, ", ")));
    write_file("-", [&](const ByteSink& to) { write_trace_json(trace, names, head, region, to); });
    return 0;
}

int print_recipe(Arguments& arguments) {
    if (arguments.recipe_steps > 0)
        return print_training_recipe(arguments.recipe, arguments.recipe_steps, arguments.recipe_out);
    const SessionArguments& given = arguments.recipe;
    const Session start = given.start(), session = given.with_flags(start);
    const ExportRequest request{given.stages(), {HeadChoice::Kind::all}, {FileFormat::json}};
    const Trace trace = checked_trace(given, start, session, request, arguments.recipe_how.options(session));
    arguments.recipe_how.report();
    report_unused(given, session);
    write_file(arguments.recipe_out, recipe(trace));
    return 0;
}

int print_examples() {
    print_lines(example_names());
    return 0;
}

/// The subcommand that a mistyped first word resembles, if the word is not a file.
void require_no_misspelled_subcommand(const CLI::App& app, int argc, char** argv) {
    if (argc < 2 || *argv[1] == '-') return;
    std::vector<std::string> names;
    for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(subcommand->get_name());
    const std::string word = argv[1], near = nearest_name(word, names);
    std::error_code ignored;
    if (near.empty() || near == word || std::filesystem::exists(word, ignored)) return;
    throw UsageError("there is no subcommand or file \"" + word + "\"; did you mean " + near + "?");
}

/// What to do about the first argument that nothing takes.
std::string extras_text(const CLI::App& app) {
    const std::string extra = app.remaining(true).front();
    if (!extra.starts_with('-')) return quoted(extra) + " is an extra argument: leave it out";
    const CLI::App& command = app.get_subcommands().empty() ? app : *app.get_subcommands().front();
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    const std::string near = nearest_name(extra.substr(0, extra.find('=')), names);
    return quoted(extra) + " is not a flag" + (command.get_parent() ? " of " + command.get_name() : "") +
           (near.empty() ? ": leave it out" : "; did you mean " + near + "?");
}

/// What CLI11 says of a flag without its value, or of one that is given twice, in the words of other
/// messages.
std::string mismatch_text(const std::string& said) {
    const std::string flag = said.substr(0, said.find(':'));
    return flag + (said.find("At Most") != said.npos ? " is given more than once: use it once"
                                                     : " lacks its value: put one after it");
}

/// Flags before a subcommand belong to the window and would be ignored.
void require_nothing_before(const CLI::App& app) {
    if (app.get_subcommands().empty()) return;
    const std::string subcommand = app.get_subcommands().front()->get_name();
    for (const CLI::Option* option : app.get_options())
        if (option->count() > 0)
            throw UsageError(option->get_name() + " comes before " + subcommand + ": put it after");
}

int measure_window(const Arguments& arguments) {
    const Session session = arguments.measure.session();
    const HowArguments& how = arguments.measure_how;
    return measure(session, how.window_options(), how.backend, how.shader_source(), arguments.measurement);
}

int open(const Arguments& arguments, const OpenWindow& open_window) {
    const HowArguments& how = arguments.window_how;
    if (arguments.window.empty())
        return open_window(std::nullopt, "", how.window_options(), how.backend, how.shader_source());
    Session session = arguments.window.session();
    const ShaderSource shaders = how.shader_source();
    report_unused(arguments.window, session);
    return open_window(std::move(session), arguments.window.file_to_save(), how.window_options(), how.backend,
                       shaders);
}

CLI::App* add_render_command(CLI::App& app, Arguments& arguments) {
    CLI::App* command =
        app.add_subcommand("render", "Write pictures and data of the stages, without a display");
    arguments.render.add_to(*command);
    arguments.render_how.add_to(*command);
    command->add_option("--out", arguments.out, "The folder to write to; created if missing")
        ->required()
        ->type_name("DIR")
        ->group("Files");
    command
        ->add_option("--format", arguments.formats,
                     "One or more of png,svg,pdf,csv,npy,json [png]; for a film also gif, all frames in one "
                     "file (not with --compose film)")
        ->type_name("F[,F…]")
        ->group("Files");
    command
        ->add_option("--compare-with", arguments.compare_with,
                     "For --compose compare: a session FILE, which becomes A, or a change of this session, "
                     "which becomes B, by its name in the window: \"no scaling\", \"half the steps\"; or "
                     "\"the CPU\", which computes A, while --backend gpu computes B")
        ->check(not_empty("name a file or a change"))
        ->option_text("FILE|CHANGE")
        ->group("Files");
    command
        ->add_option("--film", arguments.film,
                     "Write N frames: steps of the session's training run, from the first to --step; with "
                     "--sweep, values of a setting")
        ->check(whole_number(1, 10000))
        ->option_text("N")
        ->group("Files");
    return command;
}

CLI::App* add_recipe_command(CLI::App& app, Arguments& arguments) {
    CLI::App* command = app.add_subcommand(
        "recipe", "Print a PyTorch script that computes and prints the same numbers (all stages)");
    arguments.recipe.add_to(*command);
    arguments.recipe_how.add_to(*command);
    command
        ->add_option("--steps", arguments.recipe_steps,
                     "Write a script that trains for N steps instead, as train does, and prints their losses")
        ->check(whole_number(1, k_max_training_steps))
        ->option_text("N")
        ->group("Training");
    command->add_option("--out", arguments.recipe_out, "The script to write; - is standard output [-]")
        ->type_name("FILE")
        ->group("Files");
    return command;
}

CLI::App* add_trace_command(CLI::App& app, Arguments& arguments) {
    CLI::App* command = app.add_subcommand("trace", "Print every stage as JSON");
    arguments.trace.add_to(*command);
    arguments.trace_how.add_to(*command);
    return command;
}

CLI::App* add_train_command(CLI::App& app, Arguments& arguments) {
    CLI::App* command = app.add_subcommand(
        "train", "Learn a task from random weights, and write the session of what was learned");
    arguments.training.model.add_to(*command);
    add_train_options(*command, arguments.training);
    return command;
}

CLI::App* add_measure_command(CLI::App& app, Arguments& arguments) {
    CLI::App* command =
        app.add_subcommand("measure", "Open the window, replay an action and print frame times as JSON");
    arguments.measure.add_to(*command);
    arguments.measure_how.add_to(*command);
    add_measure_options(*command, arguments.measurement);
    return command;
}

}  // namespace

int run_command_line(int argc, char** argv, const OpenWindow& open_window) {
    Arguments arguments;
    CLI::App app(
        "attnscope: type a sentence and see every matrix between the words and the output of attention.\n"
        "Without a subcommand it opens the window.",
        "attnscope");
    app.set_version_flag("--version", "attnscope " ATTNSCOPE_VERSION);
    app.footer(
        "Exit codes: 0 success; 1 failure (a bad file, even one named by a flag; an experiment too "
        "large; no display); 2 wrong usage (a flag or its value). A one-line message says what to do.");
    arguments.window.add_to(app);
    arguments.window_how.add_to(app);

    CLI::App* render_command = add_render_command(app, arguments);
    CLI::App* trace_command = add_trace_command(app, arguments);
    CLI::App* recipe_command = add_recipe_command(app, arguments);
    CLI::App* train_command = add_train_command(app, arguments);
    CLI::App* examples_command = app.add_subcommand("examples", "List the examples");
    CLI::App* measure_command = add_measure_command(app, arguments);
    app.require_subcommand(0, 1);

    try {
        require_no_misspelled_subcommand(app, argc, argv);
        app.parse(argc, argv);
        require_nothing_before(app);
        if (*render_command) return render(arguments);
        if (*trace_command) return print_trace(arguments);
        if (*recipe_command) return print_recipe(arguments);
        if (*train_command) return train(arguments.training);
        if (*examples_command) return print_examples();
        if (*measure_command) return measure_window(arguments);
        return open(arguments, open_window);
    } catch (const CLI::Success& success) {
        std::ostringstream help;
        app.exit(success, help, help);
        write_file("-", help.str());
        return 0;
    } catch (const CLI::ExtrasError&) {
        print_error(extras_text(app) + " (see attnscope --help)");
        return 2;
    } catch (const CLI::ArgumentMismatch& error) {
        print_error(mismatch_text(error.what()) + " (see attnscope --help)");
        return 2;
    } catch (const CLI::ParseError& error) {
        print_error(std::string(error.what()) + " (see attnscope --help)");
        return 2;
    } catch (const UsageError& error) {
        print_error(error.what());
        return 2;
    }
}

void print_error(std::string_view message) {
    std::fprintf(stderr, "attnscope: %s\n", message_text(message, k_longest_message).c_str());
}

}  // namespace attnscope
