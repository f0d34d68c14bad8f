#include "app/window/open_window.h"

#include <chrono>
#include <utility>

#include "app/document/keeper.h"
#include "app/window/end_signals.h"
#include "app/window/window.h"
#include "app/window/workspace.h"
#include "core/error.h"
#include "core/gpu/shaders.h"
#include "core/io/examples.h"

namespace attnscope {
namespace {

constexpr double k_seconds_between_looks = 0.25;  ///< at shaders that may have been saved

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What a person sees who starts the program for the first time.
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

/// Shows `state` until the window closes, and leaves it as it is then. `problem` is said at once. True if the
/// graphics card was reset.
bool show(SavedState& state, const std::string& problem, bool may_use_card, const EvaluateOptions& options,
          EndSignals& end, Keeper& keeper) {
    Window::Options look{
        .window = {}, .theme = ThemeKind::dark, .interface_scale = static_cast<float>(state.scale)};
    look.window.width = state.width;
    look.window.height = state.height;
    Window window(look);
    Workspace workspace(state, options, window.waker());
    if (may_use_card) workspace.offer_card(window.gl_version(), [&] { return window.share_context(); });
    if (!problem.empty()) workspace.notice(problem, true);
    end.watch(window.waker());

    bool fonts_looked_at = false;
    std::string failure;
    const auto say = [&](const std::string& text, bool is_problem) {
        workspace.notice(text, is_problem);
        window.request_frames(1);
    };
    FrameCallbacks callbacks = workspace.callbacks();
    const auto draw = callbacks.draw;
    callbacks.draw = [&](FrameInput& frame) {
        draw(frame);
        window.set_theme(workspace.theme());
        const float monitor = window.content_scale();
        window.set_interface_scale(scale_that_fits(workspace.scale(),
                                                   static_cast<float>(frame.width) / monitor,
                                                   static_cast<float>(frame.height) / monitor));
        window.set_title(workspace.title());
        if (workspace.quits() || end.asked()) window.close();
        if (!shader_folder().empty()) window.request_frame_in(k_seconds_between_looks);
        // The fonts are read for the first frame.
        const std::string& fonts = window.host().layer().font_warning();
        if (!std::exchange(fonts_looked_at, true) && problem.empty() && !fonts.empty()) say(fonts, true);
        if (const double seconds = keeper.look(with_placement(workspace.state(), window), now()); seconds > 0)
            window.request_frame_in(seconds);
        if (keeper.problem() == failure) return;
        failure = keeper.problem();
        say(failure.empty() ? "the session is kept for the next start again" : failure, !failure.empty());
    };
    window.run(callbacks);
    state = with_placement(workspace.state(), window);
    keeper.look(state, now());
    keeper.keep();
    return window.lost();
}

}  // namespace

int open_window(std::optional<Session> session, const std::string& file, const EvaluateOptions& options,
                const std::string& backend) {
    EndSignals end;
    std::string problem;
    const std::optional<SavedState> kept = load_state(state_folder(), problem);
    SavedState state = kept.value_or(first_state());
    if (session) {
        state.session = std::move(*session);
        state.file = file;
        state.closed_note.clear();
    }
    if (!backend.empty()) state.backend = backend;
    Keeper keeper(state_folder(), kept.value_or(SavedState{}));
    bool may_use_card = true;
    while (show(state, problem, may_use_card, options, end, keeper)) {
        if (!may_use_card)
            throw Error(ErrorKind::backend,
                        "the graphics card was reset twice; the session is kept for the next start");
        may_use_card = false;
        problem = "the graphics card was reset: this is a new window, in which the processor computes";
    }
    return 0;
}

}  // namespace attnscope
