#include "app/cli/measure.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <sstream>
#include <vector>

#include "app/cli/session_arguments.h"
#include "app/cli/validators.h"
#include "app/shell/headless_window.h"
#include "app/shell/window.h"
#include "app/shell/workspace.h"
#include "core/files/file.h"
#include "core/graph/stage_table.h"
#include "core/learn/training_run.h"
#include "core/session/comparisons.h"
#include "core/session/options.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double k_assumed_frames_per_second = 60;
constexpr double k_settling_seconds = 1;
constexpr int k_most_frames_to_wait = 2000;

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Seconds since the kernel started this process, to the precision of its clock tick (10 ms).
double process_age_ms() {
    std::ifstream file("/proc/self/stat");
    std::string stat((std::istreambuf_iterator<char>(file)), {});
    std::istringstream fields(stat.substr(stat.rfind(')') + 2));
    std::string skipped;
    for (int i = 3; i < 22; ++i) fields >> skipped;
    double started = 0;
    fields >> started;
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    const double tick = 1000.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
    return static_cast<double>(now.tv_sec) * 1000 + static_cast<double>(now.tv_nsec) / 1e6 - started * tick;
}

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double resident_mb() {
    std::ifstream file("/proc/self/statm");
    double pages = 0;
    file >> pages >> pages;
    return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1024 * 1024);
}

double mean(const std::vector<double>& values) {
    if (values.empty()) return 0;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double longest(const std::vector<double>& values) { return values.empty() ? 0 : std::ranges::max(values); }

SavedState state_of(const Session& session, BackendWish backend) {
    SavedState state;
    state.session = session;
    state.backend = backend;
    return state;
}

/// One window and one workspace, driven frame by frame.
struct Stand {
    std::shared_ptr<Waker> waker = std::make_shared<Waker>();
    std::optional<Window> window;  ///< opens while the workspace computes, as the program's own
    Workspace workspace;
    FrameCallbacks callbacks;
    std::vector<double> frame_ms, cpu_ms;
    MouseMove held;  ///< where the pointer is while it drags

    Stand(const Session& session, const EvaluateOptions& options, BackendWish backend,
          const ShaderSource& shaders)
        : workspace(state_of(session, backend), options, calling(waker), shaders),
          callbacks(workspace.callbacks()) {
        window.emplace(Window::Options{.window = {}, .shaders = shaders}, waker);
        workspace.offer_card(window->gl_version(), [this] { return window->share_context(); });
    }

    void step() {
        window->step(callbacks);
        frame_ms.push_back(window->host().last_milliseconds());
        cpu_ms.push_back(window->host().last_cpu_milliseconds());
    }
    bool shows_the_session() {
        return !workspace.document().stale() && shows_its_lines() && shows_what_its_view_compares() &&
               !workspace.document().tiles().busy();
    }
    /// Whether what every head does, or how A and B differ, is known where the open view shows it.
    bool shows_what_its_view_compares() {
        const Document& document = workspace.document();
        const ViewKind view = document.presentation().view;
        if (view == ViewKind::heads)
            return document.survey() && document.survey()->of.trace == document.trace();
        if (view != ViewKind::compare || !document.slot(SlotName::pinned)) return true;
        return document.comparison() && document.comparison()->of.b.trace == document.trace();
    }
    /// Whether the lines on screen, if any, are those of the newest trace and share of the weight.
    bool shows_its_lines() {
        const Document& document = workspace.document();
        const auto& lines = document.lines();
        return !lines ||
               (lines->of.trace == document.trace() && lines->of.mass == document.presentation().mass);
    }
    /// Whether nothing is computed any more: neither an evaluation nor the overview of a long text.
    bool rests() {
        return shows_the_session() && !workspace.document().busy() &&
               !workspace.document().overview_progress();
    }
    /// Draws frames until the current experiment is on screen; returns their number.
    void step_until_shown() {
        for (int i = 0; i < k_most_frames_to_wait && !shows_the_session(); ++i) step();
    }
};

/// Makes the i-th change of an action, counted from 0.
using Change = void (*)(Stand& stand, int i);

/// Presses the pointer's button on the seed's field, and begins to drag.
void take_hold_of_seed(Stand& stand) {
    constexpr int k_frames_to_scroll = 3;
    stand.workspace.interaction().reveal = {"seed"};
    for (int i = 0; i < k_frames_to_scroll; ++i) stand.step();
    const ControlFocus& focus = stand.workspace.controls().focus;
    const auto field = std::ranges::find(focus.drawn, focus.id, &DrawnControl::id);
    if (field == focus.drawn.end())
        throw UsageError("--action drag-seed: this session has no field for the seed");
    const auto& [left, top, right, bottom] = field->area;
    stand.held = {(left + right) / 2, (top + bottom) / 2};
    for (const InputEvent& event : {InputEvent{stand.held}, InputEvent{MouseButton{0, true}}}) {
        stand.window->push(event);
        stand.step();
    }
}

/// Moves the pointer by some seeds.
void drag_seed(Stand& stand, int) {
    constexpr float k_pixels = 20;
    stand.held.x += k_pixels;
    stand.window->push(stand.held);
}

void type(Stand& stand, int i) {
    if (i == 0) {
        stand.workspace.run(action_named("edit.sentence"));
        stand.step();
        stand.step();
    }
    const std::string letters = "attention ";
    for (const InputEvent& event : typing(letters.substr(static_cast<std::size_t>(i) % letters.size(), 1)))
        stand.window->push(event);
}

void change_heads(Stand& stand, int) {
    stand.workspace.document().change([](Session& s) {
        Experiment& e = s.experiment;
        int next = e.attention.heads + 1;
        while (next <= e.input.dim && e.input.dim % next != 0) ++next;
        e.attention.heads = next > std::min(e.input.dim, k_max_heads) ? 1 : next;
    });
}

/// Plays a run of the session's task: its steps are the changes, one after the other.
void train(Stand& stand, int i) {
    if (i > 0) return;
    stand.workspace.document().change([](Session& s) { s.presentation.view = ViewKind::training; });
    stand.workspace.document().play();
}

/// Changes how many lines the view of lines draws.
void change_lines(Stand& stand, int i) {
    stand.workspace.document().change([&](Session& s) {
        s.presentation.view = ViewKind::lines;
        s.presentation.mass = 0.5 + 0.01 * (i % 50);
    });
}

/// Moves the pointer over the middle of the window, where a view highlights what is under it.
void move_pointer(Stand& stand, int i) {
    stand.window->push(
        MouseMove{500.0f + 7.0f * static_cast<float>(i % 80), 400.0f + 5.0f * static_cast<float>(i % 60)});
}

/// Points at one cell after the other in the view of heads.
void point_in_heads(Stand& stand, int i) {
    if (i == 0) stand.workspace.document().change([](Session& s) { s.presentation.view = ViewKind::heads; });
    move_pointer(stand, i);
}

/// Points at one cell after the other of A, of B (a causal mask) and of B − A.
void point_in_comparison(Stand& stand, int i) {
    if (i == 0) {
        const ComparisonPreset& preset = *find_comparison_preset("causal mask");
        stand.workspace.document().change([&](Session& s) {
            s = with_preset(s, preset).value_or(s);
            s.presentation.view = ViewKind::compare;
        });
    }
    move_pointer(stand, i);
}

/// Goes from word to word in the view of steps.
void go_through_steps(Stand& stand, int i) {
    stand.workspace.document().change([&](Session& s) {
        s.presentation.view = ViewKind::step;
        s.presentation.lock("weights"_stage, Cell{i % 8, 0});
    });
}

/// Goes through the seeds in the view of sweeps.
void go_through_sweep(Stand& stand, int i) {
    if (i == 0)
        stand.workspace.document().change([](Session& s) {
            s.presentation.view = ViewKind::sweep;
            s.presentation.sweep = Sweep::seed;
        });
    move_pointer(stand, i);
}

/// Turns the wheel over the matrix in focus, some notches in and as many out.
void zoom(Stand& stand, int i) {
    constexpr int k_notches = 20;
    stand.window->push(MouseMove{600, 450});
    stand.window->push(Wheel{0, i / k_notches % 2 == 0 ? 1.0f : -1.0f});
}

/// Zooms in as far as a long text has to be read for what is seen, and takes hold of the matrix.
void take_hold(Stand& stand) {
    constexpr int k_notches = 16;
    for (int notch = 0; notch < k_notches; ++notch) {
        zoom(stand, 0);
        do stand.step();
        while (!stand.shows_the_session());
    }
    stand.window->push(MouseButton{0, true});
    stand.step();
}

/// Drags the matrix in focus up, and down again.
void pan(Stand& stand, int i) {
    constexpr int k_moves = 10;
    constexpr float k_pixels = 40;
    const int place = std::abs((i + 1) % (2 * k_moves) - k_moves);
    stand.window->push(MouseMove{600, 450 + k_pixels * static_cast<float>(place - k_moves)});
}

struct MeasuredAction {
    const char* name;
    Change change;  ///< nullptr: no changes
    bool changes_experiment = true;
    bool reads_tiles = false;                 ///< wait for one more frame, which requests no tile
    void (*prepare)(Stand& stand) = nullptr;  ///< before the changes
};

constexpr char k_overview[] = "overview";

constexpr MeasuredAction k_actions[] = {{"idle", nullptr},
                                        {"drag-seed", drag_seed, true, false, take_hold_of_seed},
                                        {"type", type},
                                        {"heads", change_heads},
                                        {"lines", change_lines, false},
                                        {"train", train},
                                        {"point-in-heads", point_in_heads, false},
                                        {"point-in-comparison", point_in_comparison, false},
                                        {"steps", go_through_steps, false},
                                        {"sweep", go_through_sweep, false},
                                        {"zoom", zoom, false, true},
                                        {"pan", pan, false, true, take_hold},
                                        {k_overview, nullptr}};

/// Time and number of frames from each change to the end of the frame that shows it.
struct Replayed {
    std::vector<double> milliseconds;
    std::vector<double> frames;
};

Replayed replay(Stand& stand, const MeasuredAction& action, int count) {
    Replayed result;
    for (int i = 0; i < count; ++i) {
        const Experiment before = stand.workspace.document().experiment();
        const auto start = Clock::now();
        int frames = 0;
        const auto step = [&] {
            stand.step();
            ++frames;
        };
        action.change(stand, i);
        for (int wait = 0;
             action.changes_experiment && wait < 10 && stand.workspace.document().experiment() == before;
             ++wait)
            step();
        while (frames == 0 || !stand.shows_the_session()) step();
        if (action.reads_tiles) do
                step();
            while (!stand.shows_the_session());
        result.milliseconds.push_back(milliseconds_since(start));
        result.frames.push_back(frames);
    }
    return result;
}

/// CPU share of an idle window, once it has settled; the frames before and after the wait are not counted.
double idle_cpu_percent(Stand& stand, double seconds) {
    FrameCallbacks callbacks = stand.callbacks;
    const auto start = Clock::now();
    std::optional<Clock::time_point> at_rest;
    bool settled = false;
    double cpu = 0, percent = 0;
    callbacks.draw = [&](FrameInput& frame) {
        const double rested = at_rest ? milliseconds_since(*at_rest) / 1000 : 0;
        if (rested >= seconds) {
            percent = 100 * (cpu_seconds() - cpu) / rested;
            return stand.window->close();
        }
        stand.callbacks.draw(frame);
        const double age = milliseconds_since(start) / 1000;
        settled = age >= k_settling_seconds;
        if (!settled) stand.window->request_frame_in(k_settling_seconds - age);
        if (at_rest) stand.window->request_frame_in(seconds - rested);
    };
    callbacks.wants_redraw = [&] {
        if (settled && !at_rest) {
            at_rest = Clock::now();
            cpu = cpu_seconds();
            stand.window->request_frame_in(seconds);
        }
        return stand.callbacks.wants_redraw && stand.callbacks.wants_redraw();
    };
    stand.window->run(callbacks);
    return percent;
}

/// Shows a text whose matrices are computed on demand, as the program's window does, until its overview is
/// there. Times are from the start of the process to the end of a frame.
Json watch_overview(Stand& stand) {
    Json seen = {{"action", k_overview}};
    std::vector<const char*> shown;  // by the frame that is being drawn
    bool is_short = false;
    FrameCallbacks callbacks = stand.callbacks;
    callbacks.draw = [&](FrameInput& frame) {
        stand.callbacks.draw(frame);
        Document& document = stand.workspace.document();
        if (document.stale()) return;
        const std::optional<Document::Overview> overview = document.overview_on_screen();
        is_short = !overview;
        if (is_short) return stand.window->close();
        if (overview->has_preview) shown.push_back("preview_ms");
        if (document.overview_progress().value_or(0) > 0) shown.push_back("progress_ms");
        if (overview->is_surveyed && stand.rests()) shown.push_back("overview_ms");
    };
    callbacks.wants_redraw = [&] {
        for (const char* each : shown)
            if (!seen.contains(each)) seen[each] = process_age_ms();
        shown.clear();
        if (seen.contains("overview_ms")) stand.window->close();
        return stand.callbacks.wants_redraw();
    };
    stand.window->run(callbacks);
    if (is_short) throw UsageError("--action overview: this text is too short to need one");
    seen["resident_mb"] = resident_mb();
    return seen;
}

}  // namespace

void add_measure_options(CLI::App& command, MeasureRequest& request) {
    std::vector<std::string> names;
    for (const MeasuredAction& action : k_actions) names.emplace_back(action.name);
    const std::string listed = fmt::format("{} REQUIRED", fmt::join(names, "|"));
    command.add_option("--action", request.action, "What to replay")
        ->required()
        ->check(one_of(names))
        ->option_text(listed);
    command
        .add_option("--frames", request.frames,
                    "Changes to make; for idle, frames of 1/60 s to wait; unused by overview [300]")
        ->check(whole_number(1, 100000))
        ->option_text("N");
}

int measure(const Session& session, const EvaluateOptions& options, std::optional<BackendWish> backend,
            const ShaderSource& shaders, const MeasureRequest& request) {
    if (request.action == "train" && !can_be_trained(session.experiment))
        throw UsageError("--action train: name a task of the mechanism, for example --task translate");
    Stand stand(session, options, backend == BackendWish::gpu ? BackendWish::gpu : BackendWish::cpu, shaders);
    if (request.action == k_overview) {
        write_file("-", watch_overview(stand).dump() + "\n");
        return 0;
    }
    stand.step_until_shown();
    const double first_frame_ms = process_age_ms();
    for (int i = 0; i < k_most_frames_to_wait && (i < 2 || !stand.rests()); ++i) stand.step();

    const MeasuredAction& action = *std::ranges::find(k_actions, request.action, &MeasuredAction::name);
    const Change change = action.change;
    if (action.prepare) action.prepare(stand);
    stand.frame_ms.clear();
    stand.cpu_ms.clear();
    Replayed changes;
    double cpu_percent = 0;
    if (change) {
        const double cpu = cpu_seconds();
        const auto start = Clock::now();
        changes = replay(stand, action, request.frames);
        cpu_percent = 100 * (cpu_seconds() - cpu) / (milliseconds_since(start) / 1000);
    } else {
        cpu_percent = idle_cpu_percent(stand, request.frames / k_assumed_frames_per_second);
    }

    const Document& document = stand.workspace.document();
    if (!document.trace()) throw Error(ErrorKind::bad_input, document.problem());
    const Json result = {
        {"action", request.action},
        {"frames", request.frames},
        {"first_frame_ms", first_frame_ms},
        {"frame_ms", median(stand.frame_ms)},
        {"mean_frame_ms", mean(stand.frame_ms)},
        {"longest_frame_ms", longest(stand.frame_ms)},
        {"longest_cpu_ms", longest(stand.cpu_ms)},
        {"longest_change_to_picture_ms", change ? Json(longest(changes.milliseconds)) : Json(nullptr)},
        {"change_to_picture_ms", change ? Json(median(changes.milliseconds)) : Json(nullptr)},
        {"frames_to_picture", change ? Json(median(changes.frames)) : Json(nullptr)},
        {"cpu_percent", cpu_percent},
        {"resident_mb", resident_mb()},
        {"backend", name_of(document.trace()->backend)}};
    write_file("-", result.dump() + "\n");
    return 0;
}

}  // namespace attnscope
