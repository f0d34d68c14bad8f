#include "app/document/step_playback.h"

#include <algorithm>
#include <cmath>

namespace attnscope {

int StepPlayback::current() const { return static_cast<int>(std::ceil(shown())) - 1; }

double StepPlayback::share(int step) const { return std::clamp(shown() - step, 0.0, 1.0); }

void StepPlayback::play_or_pause() {
    if (!playing && shown() >= steps) position = 0;
    playing = !playing;
}

void StepPlayback::step(int by) {
    const double from = by > 0 ? std::floor(shown()) : std::ceil(shown());
    go_to(from + by);
}

void StepPlayback::go_to(double to) {
    playing = false;
    position = std::max(to, 0.0);
    if (to >= steps) position.reset();
}

void StepPlayback::advance(double seconds, double first_seconds) {
    if (!playing) return;
    double at = shown();
    if (at < 1) {
        const double rest = (1 - at) * first_seconds;
        at = seconds < rest ? at + seconds / first_seconds : 1;
        seconds = std::max(0.0, seconds - rest);
    }
    if (at >= 1) at += seconds / k_step_seconds;
    position = at;
    if (at >= steps) go_to(at);
}

}  // namespace attnscope
