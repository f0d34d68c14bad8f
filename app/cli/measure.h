// Measures how fast the window responds, from within the window.
#pragma once

#include <optional>
#include <string>

#include "core/gpu/shaders.h"
#include "core/graph/backend_kind.h"
#include "core/graph/run_options.h"
#include "core/session/session.h"

namespace CLI {
class App;
}

namespace attnscope {

struct MeasureRequest {
    std::string action = "idle";
    int frames = 300;
};

/// Adds --action and --frames.
void add_measure_options(CLI::App& command, MeasureRequest& request);

/// Opens the real window on `session`, replays the action and prints one line of JSON. Times are medians in
/// milliseconds unless their name says otherwise:
/// `first_frame_ms`         from the start of the process to its first frame with a picture
/// `frame_ms`               drawing one frame, without waiting for the screen
/// `mean_frame_ms`          its mean, which counts frames that wait as well as those with a result
/// `longest_frame_ms`       the longest frame
/// `longest_cpu_ms`         the most processor time of the drawing thread until a frame was handed to OpenGL
/// `change_to_picture_ms`   from a change to the end of the first frame that shows it; null for `idle`
/// `longest_change_to_picture_ms` the longest of these
/// `frames_to_picture`      how many frames that takes
/// `cpu_percent`            share of one core, over the action
/// `resident_mb`            resident memory after the action
/// `backend`                the backend that computed the last trace
/// For `overview`, from the start of the process: `preview_ms` to the first frame with a sampled picture of a
/// text whose matrices are computed on demand, `progress_ms` to the first that tells how much of its overview
/// is computed, `overview_ms` to that with the overview. Computes on the processor unless `backend` is the
/// GPU. Neither reads nor writes the saved session. Throws Error(backend) without a display.
int measure(const Session& session, const EvaluateOptions& options, std::optional<BackendWish> backend,
            const ShaderSource& shaders, const MeasureRequest& request);

}  // namespace attnscope
