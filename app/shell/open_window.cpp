#include "app/shell/open_window.h"

#include <chrono>
#include <utility>

#include "app/document/keeper.h"
#include "app/document/state_lock.h"
#include "app/platform/end_signals.h"
#include "app/shell/window.h"
#include "app/shell/workspace.h"
#include "core/error.h"
#include "core/session/examples.h"

namespace attnscope {
namespace {

constexpr double k_seconds_between_looks = 0.25;  ///< interval of checking for changed shaders
constexpr std::chrono::milliseconds k_longest_end{800};
constexpr double k_trial_seconds = 1;  ///< a session that computes for longer is marked as on trial

/// The state for the first start of the program.
SavedState first_state() {
    SavedState state;
    state.session = load_example("scaled-dot-product");
    return state;
}

SavedState with_placement(SavedState state, const Window& window) {
    const auto placement = window.placement();
    state.width = placement.width;
    state.height = placement.height;
    return state;
}

/// What the windows of one run share.
struct Run {
    const EvaluateOptions& options;
    const ShaderSource& shaders;
    EndSignals& end;
    Keeper& keeper;
    TrialMark& trial;
};

/// Shows `state` until the window closes, then updates it. `problem` is displayed at once. True if the
/// graphics card was reset.
bool show(SavedState& state, const std::string& problem, bool may_use_card, const Run& run) {
    Window::Options look{.window = {},
                         .theme = ThemeKind::dark,
                         .interface_scale = static_cast<float>(state.scale),
                         .shaders = run.shaders};
    look.window.width = state.width;
    look.window.height = state.height;
    const auto waker = std::make_shared<Waker>();
    // The workspace computes while the window opens, and ends before it.
    std::optional<Window> window;
    Workspace workspace(state, run.options, calling(waker), run.shaders);
    window.emplace(look, waker);
    if (may_use_card) workspace.offer_card(window->gl_version(), [&] { return window->share_context(); });
    if (!problem.empty()) workspace.notice(problem, true);
    run.end.watch(calling(waker));
    run.keeper.watch(calling(waker));

    double computing_since = seconds_now();
    bool fonts_looked_at = false;
    std::string failure;
    const auto say = [&](const std::string& text, bool is_problem) {
        workspace.notice(text, is_problem);
        window->request_frames(1);
    };
    FrameCallbacks callbacks = workspace.callbacks();
    const auto draw = callbacks.draw;
    callbacks.draw = [&](FrameInput& frame) {
        draw(frame);
        window->set_theme(workspace.theme());
        const float monitor = window->content_scale();
        window->set_interface_scale(scale_that_fits(workspace.scale(),
                                                    static_cast<float>(frame.width) / monitor,
                                                    static_cast<float>(frame.height) / monitor));
        window->set_title(workspace.title());
        if (workspace.quits() || run.end.asked()) window->close();
        if (!run.shaders.folder().empty()) window->request_frame_in(k_seconds_between_looks);
        // Fonts are loaded for the first frame.
        const std::string& fonts = window->host().layer().font_warning();
        if (!std::exchange(fonts_looked_at, true) && problem.empty() && !fonts.empty()) say(fonts, true);
        const bool computing = workspace.document().busy() && workspace.document().stale();
        if (!computing) computing_since = seconds_now();
        if (!computing) run.trial.set(false);
        if (computing && seconds_now() - computing_since > k_trial_seconds) run.trial.set(true);
        if (computing) window->request_frame_in(k_trial_seconds);
        run.keeper.look(with_placement(workspace.state(), *window));
        const std::string kept_problem = run.keeper.problem();
        if (kept_problem == failure) return;
        failure = kept_problem;
        say(failure.empty() ? "saving the session works again" : failure, !failure.empty());
    };
    window->run(callbacks);
    state = with_placement(workspace.state(), *window);
    run.keeper.look(state);
    if (window->lost()) return true;
    window->hide();
    if (!workspace.end_within(k_longest_end)) keep_and_leave(run.keeper, 0);
    run.trial.set(false);
    run.keeper.keep();
    return false;
}

}  // namespace

int open_window(std::optional<Session> session, const std::string& file, const EvaluateOptions& options,
                std::optional<BackendWish> backend, const ShaderSource& shaders) {
    EndSignals end;
    const std::string folder = state_folder();
    const StateLock lock(folder);
    TrialMark trial(lock.held() ? folder : "");
    std::string problem;
    if (!lock.held()) problem = "another window is open: this session will not be saved for the next start";
    const std::string aside = trial.is_set() ? set_session_aside(folder) : "";
    trial.set(true);
    const std::optional<SavedState> kept = load_state(folder, problem, lock.held());
    SavedState state = kept.value_or(first_state());
    if (!aside.empty()) {
        problem = "the last run did not end properly, so its session was not restored: open it from " + aside;
        load_habits(folder, state);
        remember_file(state, aside);
    }
    if (session) {
        state.session = std::move(*session);
        state.file = file;
        state.closed_note.clear();
    }
    if (backend) state.backend = *backend;
    Keeper keeper(lock.held() ? folder : "", kept.value_or(SavedState{}));
    const SaveAtExit save_at_exit(keeper);
    bool may_use_card = true;
    while (show(state, problem, may_use_card, {options, shaders, end, keeper, trial})) {
        if (!may_use_card) {
            keeper.keep();
            throw Error(ErrorKind::backend,
                        "the GPU was reset twice; the session is saved for the next start");
        }
        may_use_card = false;
        problem = "the GPU was reset: this is a new window, computing on the CPU";
    }
    return 0;
}

}  // namespace attnscope
