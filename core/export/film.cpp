#include "core/export/film.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/gif.h"
#include "core/graph/gradient.h"
#include "core/learn/training_run.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/picture/color_scale.h"

namespace attnscope {
namespace {

constexpr int k_milliseconds = 200;  ///< of a frame

/// The session at a step of its run.
Session at(const Session& session, const TrainingRun& run) {
    Session frame = session;
    frame.experiment = with_step(frame.experiment, run.start(), run.parameters(), run.step());
    if (!frame.presentation.title) frame.presentation.title = fmt::format("Step {}", run.step());
    return frame;
}

/// The frames of one file, by its name.
using Films = std::map<std::string, std::vector<Pixels>>;

/// All frames are kept until the file is written.
void require_room(const Films& films, int frames) {
    constexpr double k_most_bytes = 1e9;
    double bytes = 0;
    for (const auto& [name, pixels] : films) bytes += static_cast<double>(pixels.front().bytes.size());
    if (bytes * frames > k_most_bytes)
        throw Error(ErrorKind::too_large,
                    fmt::format("{} frames as one file need {:.1f} GB and the limit is 1 GB: use "
                                "fewer frames or a smaller cell size",
                                frames, bytes * frames / 1e9));
}

}  // namespace

Trace trace_for(const Session& session, const ExportRequest& request, const EvaluateOptions& options) {
    Trace trace = evaluate(session.experiment, {}, options);
    const bool named = std::ranges::any_of(request.stages, is_gradient_name);
    if ((named || session.presentation.wants_gradients()) && why_no_gradients(trace).empty())
        trace.gradients = gradients(trace);
    plan_export(trace, request);
    return trace;
}

std::string why_no_film(const Session& session) {
    if (!can_be_trained(session.experiment)) return "the session has no training run: choose a task";
    if (session.experiment.training.step == 0)
        return "the session is at the beginning of its training run: go to a step";
    return "";
}

std::vector<std::string> export_film(const Session& session, const FilmRequest& request,
                                     const std::string& folder, const EvaluateOptions& options,
                                     const ExportProgress& progress) {
    if (const std::string why = why_no_film(session); !why.empty()) throw Error(ErrorKind::bad_input, why);
    ExportRequest each = request.files;
    const bool as_one = std::erase(each.formats, k_film_format) > 0;
    ExportRequest drawn = each;
    drawn.formats = {"png"};
    const int last = session.experiment.training.step;
    std::vector<std::string> paths;
    const auto go_on = [&](int frame, double part) {
        const auto of = static_cast<std::size_t>(request.frames) + (as_one ? 1 : 0);
        return !progress || progress({.done = static_cast<std::size_t>(frame), .of = of, .part = part});
    };
    const auto write = [&](const std::string& name, const std::string& bytes) {
        paths.push_back((std::filesystem::path(folder) / name).string());
        write_file(paths.back(), bytes);
    };
    clear_abandoned_files(folder);
    TrainingRun run(session.experiment, options.threads);
    Films films;
    try {
        for (int i = 0; i < request.frames; ++i) {
            const int step =
                request.frames == 1 ? last : static_cast<int>(std::int64_t{last} * i / (request.frames - 1));
            report([&](double part) { return go_on(i, part); }, 0);
            if (i > 0 && run.step() == step) continue;  // more frames than steps
            while (run.step() < step) {
                run.advance(options.cancel);
                report([&](double part) { return go_on(i, part); }, 0);
            }
            Session frame = at(session, run);
            if (each.stages.empty() && !each.view_alone) {
                const std::string main(main_stage(evaluate(frame.experiment, {}, options)).name());
                each.stages = drawn.stages = {main};
            }
            const Trace trace = trace_for(frame, each, options);
            const RangeChoice range = frame.presentation.range;
            const auto in_range = [&](const ExportItem& item) {
                frame.presentation.range = range_across_steps(*item.stage, range);
                return frame;
            };
            for (const ExportItem& item : plan_export(trace, each))
                write(fmt::format("frame-{:04}-{}", i + 1, item.file_name),
                      export_bytes(trace, in_range(item), item));
            if (!as_one) continue;
            for (const ExportItem& item : plan_export(trace, drawn)) {
                const std::string name = std::filesystem::path(item.file_name).stem().string();
                films[name].push_back(export_pixels(trace, in_range(item), item));
                require_room(films, request.frames);
            }
        }
        for (const auto& [name, frames] : films)
            write(
                fmt::format("film-{}.{}", name, k_film_format),
                encode_gif(frames, k_milliseconds, [&](double part) { return go_on(request.frames, part); }));
    } catch (const Canceled&) {
        // The files written so far are complete.
    }
    return paths;
}

}  // namespace attnscope
