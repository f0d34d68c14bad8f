#include "app/window/open_window.h"

#include <algorithm>
#include <chrono>

#include "app/document/saved_state.h"
#include "app/window/window.h"
#include "app/window/workspace.h"
#include "core/io/examples.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double k_save_delay_seconds = 0.7;

/// Writes the state a moment after it last changed.
class Keeper {
public:
    Keeper(std::string folder, SavedState kept)
        : folder_(std::move(folder)), kept_(std::move(kept)), seen_(kept_) {}

    /// Seconds until it wants to be asked again; 0: there is nothing to keep.
    double look(const SavedState& now) {
        if (!(now == seen_)) {
            seen_ = now;
            changed_ = Clock::now();
        }
        if (seen_ == kept_) return 0;
        const double quiet = std::chrono::duration<double>(Clock::now() - changed_).count();
        if (quiet < k_save_delay_seconds) return k_save_delay_seconds - quiet;
        keep();
        return 0;
    }

    /// Throws Error(io), once for each change.
    void keep() {
        if (seen_ == kept_ || folder_.empty()) return;
        kept_ = seen_;
        save_state(folder_, seen_);
    }

private:
    std::string folder_;
    SavedState kept_, seen_;
    Clock::time_point changed_ = Clock::now();
};

/// The interface needs so many units; a larger scale than the window holds would cut it off.
float scale_that_fits(double scale, int width, int height) {
    constexpr double k_fewest_units_wide = 720, k_fewest_units_high = 480;
    const double fits = std::max(0.75, std::min(width / k_fewest_units_wide, height / k_fewest_units_high));
    return static_cast<float>(std::min(scale, fits));
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

}  // namespace

int open_window(std::optional<Session> session, const std::string& file, const EvaluateOptions& options) {
    std::string problem;
    const std::optional<SavedState> kept = load_state(state_folder(), problem);
    SavedState state = kept.value_or(first_state());
    if (session) {
        state.session = std::move(*session);
        state.file = file;
    }
    Window::Options look{.window = {}, .theme = "dark", .interface_scale = static_cast<float>(state.scale)};
    look.window.width = state.width;
    look.window.height = state.height;
    Window window(look);
    Workspace workspace(state, options, window.waker());
    const std::string& fonts = window.host().layer().font_warning();
    if (!problem.empty())
        workspace.notice(problem, true);
    else if (!fonts.empty())
        workspace.notice(fonts, true);

    Keeper keeper(state_folder(), kept.value_or(SavedState{}));
    FrameCallbacks callbacks = workspace.callbacks();
    const auto draw = callbacks.draw;
    callbacks.draw = [&](FrameInput& frame) {
        draw(frame);
        window.set_theme(workspace.theme());
        window.set_interface_scale(scale_that_fits(workspace.scale(), frame.width, frame.height));
        window.set_title(workspace.title());
        if (workspace.quits()) window.close();
        try {
            if (const double seconds = keeper.look(with_placement(workspace.state(), window)); seconds > 0)
                window.request_frame_in(seconds);
        } catch (const std::exception& error) {
            workspace.notice(std::string("the session cannot be kept for the next start: ") + error.what(),
                             true);
        }
    };
    window.run(callbacks);
    keeper.look(with_placement(workspace.state(), window));
    keeper.keep();
    return 0;
}

}  // namespace attnscope
