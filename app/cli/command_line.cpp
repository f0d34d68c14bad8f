#include "app/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "app/cli/measure.h"
#include "app/cli/session_arguments.h"
#include "core/attention/evaluate.h"
#include "core/error.h"
#include "core/io/examples.h"
#include "core/io/export.h"
#include "core/io/file.h"
#include "core/io/trace_json.h"

namespace attnscope {
namespace {

/// What decides how, and never what, is computed.
struct HowArguments {
    std::string backend = "auto";
    int threads = 0;

    void add_to(CLI::App& command) {
        command.add_option("--backend", backend, "Where to compute [auto]")
            ->check(CLI::IsMember({"auto", "cpu"}))
            ->type_name("auto|cpu")
            ->group("Computation");
        command.add_option("--threads", threads, "Threads to use; 0: one for each core [0]")
            ->check(CLI::Range(0, 1024))
            ->type_name("N")
            ->group("Computation");
    }
    EvaluateOptions options() const { return {.threads = threads, .memory_limit = 0, .cancel = {}}; }
};

/// Everything the command line can say.
struct Arguments {
    SessionArguments window, render, trace, measure;
    HowArguments window_how, render_how, trace_how, measure_how;
    std::string out;
    std::string formats = "png";
    MeasureRequest measurement;
};

std::vector<std::string> split_formats(const std::string& text) {
    std::vector<std::string> formats;
    std::istringstream stream(text);
    for (std::string each; std::getline(stream, each, ',');) {
        if (!find_export_format(each))
            throw UsageError("--format: \"" + each + "\" is not known: use png, csv, npy or json");
        formats.push_back(each);
    }
    if (formats.empty()) throw UsageError("--format: name one or several of png, csv, npy, json");
    return formats;
}

void require_folder(const std::string& path) {
    std::error_code problem;
    const std::filesystem::file_status status = std::filesystem::status(path, problem);
    if (std::filesystem::is_directory(status)) return;
    throw Error(ErrorKind::io, !std::filesystem::exists(status)
                                   ? "the folder " + path + " does not exist: create it or give another --out"
                                   : path + " is no folder: give another --out");
}

void print_lines(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    write_file("-", text);
}

int render(const Arguments& arguments) {
    const Session session = arguments.render.session();
    const ExportRequest request{arguments.render.stages(), session.presentation.head,
                                split_formats(arguments.formats)};
    require_folder(arguments.out);
    const Trace trace = evaluate(session.experiment, {}, arguments.render_how.options());
    print_lines(export_files(trace, session, request, arguments.out));
    return 0;
}

int print_trace(const Arguments& arguments) {
    const Session session = arguments.trace.session();
    const Trace trace = evaluate(session.experiment, {}, arguments.trace_how.options());
    write_file("-", trace_json(trace, arguments.trace.stages()));
    return 0;
}

int print_examples() {
    print_lines(example_names());
    return 0;
}

/// What stands before a subcommand is the window's, and would be lost.
void require_nothing_before(const CLI::App& app) {
    if (app.get_subcommands().empty()) return;
    const std::string subcommand = app.get_subcommands().front()->get_name();
    for (const CLI::Option* option : app.get_options())
        if (option->count() > 0)
            throw UsageError(option->get_name() + " stands before " + subcommand + ": write it after");
}

int open(const Arguments& arguments, const OpenWindow& open_window) {
    const EvaluateOptions options = arguments.window_how.options();
    if (arguments.window.empty()) return open_window(std::nullopt, "", options);
    return open_window(arguments.window.session(), arguments.window.file_to_save(), options);
}

}  // namespace

int run_command_line(int argc, char** argv, const OpenWindow& open_window) {
    Arguments arguments;
    CLI::App app(
        "attnscope: type a sentence and see every matrix between the words and the answer of attention.\n"
        "Without a subcommand it opens the window.",
        "attnscope");
    app.set_version_flag("--version", "attnscope " ATTNSCOPE_VERSION);
    app.footer("Exit codes: 0 done, 1 failed (one line says what and what to do), 2 wrong usage.");
    arguments.window.add_to(app);
    arguments.window_how.add_to(app);

    CLI::App* render_command =
        app.add_subcommand("render", "Write pictures and data of the stages, without a display");
    arguments.render.add_to(*render_command);
    arguments.render_how.add_to(*render_command);
    render_command->add_option("--out", arguments.out, "The folder to write to")
        ->required()
        ->type_name("DIR")
        ->group("Files");
    render_command->add_option("--format", arguments.formats, "png,csv,npy,json, one or several [png]")
        ->type_name("F[,F…]")
        ->group("Files");

    CLI::App* trace_command = app.add_subcommand("trace", "Print every stage as JSON");
    arguments.trace.add_to(*trace_command);
    arguments.trace_how.add_to(*trace_command);

    CLI::App* examples_command = app.add_subcommand("examples", "List the examples");

    CLI::App* measure_command =
        app.add_subcommand("measure", "Open the window, replay an action and print frame times as JSON");
    arguments.measure.add_to(*measure_command);
    arguments.measure_how.add_to(*measure_command);
    add_measure_options(*measure_command, arguments.measurement);
    app.require_subcommand(0, 1);

    try {
        app.parse(argc, argv);
        require_nothing_before(app);
        if (*render_command) return render(arguments);
        if (*trace_command) return print_trace(arguments);
        if (*examples_command) return print_examples();
        if (*measure_command)
            return measure(arguments.measure.session(), arguments.measure_how.options(),
                           arguments.measurement);
        return open(arguments, open_window);
    } catch (const CLI::Success& success) {
        return app.exit(success);
    } catch (const CLI::ParseError& error) {
        print_error(std::string(error.what()) + " (see attnscope --help)");
        return 2;
    } catch (const UsageError& error) {
        print_error(error.what());
        return 2;
    }
}

void print_error(std::string_view message) {
    std::string line = "attnscope: ";
    for (const char c : message) line += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
    std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace attnscope
