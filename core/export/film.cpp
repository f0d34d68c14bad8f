#include "core/export/film.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/gif.h"
#include "core/graph/gradient.h"
#include "core/learn/training_run.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/picture/color_scale.h"
#include "core/picture/compose.h"
#include "core/session/sweep.h"

namespace attnscope {
namespace {

constexpr int k_milliseconds = 200;  ///< of a frame

/// What a film goes through.
class FilmCourse {
public:
    virtual ~FilmCourse() = default;
    /// The session of frame `index`, which is asked for in order; nullopt: the same as the one before. The
    /// name of the frame becomes its title.
    virtual std::optional<Session> frame(int index, const std::function<void()>& still_wanted) = 0;
    virtual std::string name() const = 0;  ///< of the newest frame
    /// Whether its pictures mark what local windows are centered on.
    virtual bool marks_centers() const { return false; }
};

/// The steps of the session's training run, repeated.
class TrainingCourse : public FilmCourse {
public:
    TrainingCourse(const Session& session, int frames, const EvaluateOptions& options)
        : session_(session),
          frames_(frames),
          cancel_(options.cancel),
          run_(session.experiment, options.threads) {}

    std::optional<Session> frame(int index, const std::function<void()>& still_wanted) override {
        const std::int64_t last = session_.experiment.training.step;
        const int step = static_cast<int>(frames_ == 1 ? last : last * index / (frames_ - 1));
        if (index > 0 && run_.step() == step) return std::nullopt;  // more frames than steps
        while (run_.step() < step) {
            run_.advance(cancel_);
            still_wanted();
        }
        Session frame = session_;
        frame.experiment = with_step(frame.experiment, run_.start(), run_.parameters(), run_.step());
        return frame;
    }
    std::string name() const override { return fmt::format("Step {}", run_.step()); }

private:
    Session session_;
    int frames_;
    std::stop_token cancel_;
    TrainingRun run_;
};

/// The values of a setting.
class SweepCourse : public FilmCourse {
public:
    SweepCourse(const Session& session, int frames)
        : sweep_(chosen_sweep(session)), steps_(sweep_steps(session, sweep_, frames)) {}

    std::optional<Session> frame(int index, const std::function<void()>&) override {
        if (index >= static_cast<int>(steps_.size())) return std::nullopt;
        at_ = static_cast<std::size_t>(index);
        return steps_[at_].session;
    }
    std::string name() const override {
        const std::string title = step_title(sweep_, steps_[at_].value),
                          kind = kind_of(sweep_, steps_[at_].session.experiment);
        return kind.empty() ? title : fmt::format("{}: {}", title, kind);
    }
    bool marks_centers() const override { return sweep_ == Sweep::normalizer; }

private:
    Sweep sweep_;
    std::vector<SweepStep> steps_;
    std::size_t at_ = 0;
};

std::unique_ptr<FilmCourse> course_of(const Session& session, int frames, const EvaluateOptions& options) {
    if (chosen_sweep(session) != Sweep::none) return std::make_unique<SweepCourse>(session, frames);
    return std::make_unique<TrainingCourse>(session, frames, options);
}

/// Adds what a frame shows of each stage.
void add_frame(FilmFrames& film, const std::shared_ptr<const Trace>& trace, const ExportRequest& request,
               const FilmCourse& course) {
    constexpr std::size_t k_most_cells = std::size_t{1} << 25;
    for (const ExportItem& item : plan_export(*trace, request)) {
        if (item.view) continue;
        auto& frames = film[std::filesystem::path(item.file_name).stem().string()];
        const bool marks = course.marks_centers() && item.stage->info->role == StageRole::weights;
        frames.push_back({trace, item.stage, item.head, course.name(), marks});
        if (item.stage->shape().size() * frames.size() > k_most_cells)
            throw Error(
                ErrorKind::too_large,
                fmt::format("one picture of {} frames of {} has too many cells: use fewer frames or a "
                            "shorter sentence",
                            frames.size(), item.stage->name()));
    }
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
    if (chosen_sweep(session) != Sweep::none) return why_no_sweep(session, chosen_sweep(session));
    if (!can_be_trained(session.experiment))
        return "the session has no training run: choose a task, or a setting to sweep";
    if (session.experiment.training.step == 0)
        return "the session is at the beginning of its training run: go to a step";
    return "";
}

std::string why_no_film(const Session& session, const FilmRequest& request) {
    if (std::string why = why_no_film(session); !why.empty() || request.files.compose != Compose::film)
        return why;
    for (const FileFormat choice : request.files.formats)
        if (const ExportFormat* format = find_export_format(choice); !format || !format->picture)
            return no_film_sheet(choice);
    return "";
}

namespace {

/// The frame's session, with the range that the item's stage has in every frame.
Session on_one_range(Session frame, const ExportItem& item) {
    frame.presentation.range = range_across_steps(*item.stage, frame.presentation.range);
    return frame;
}

/// Adds the pixels of a frame to the films of all items; `frames` is how many each film will have.
void add_pixels(Films& films, const Trace& trace, const Session& frame, const ExportRequest& drawn,
                int frames) {
    for (const ExportItem& item : plan_export(trace, drawn)) {
        const std::string name = std::filesystem::path(item.file_name).stem().string();
        films[name].push_back(export_pixels(trace, on_one_range(frame, item), item));
        require_room(films, frames);
    }
}

/// Calls `use` for each frame that differs from the one before, with the frame's title set, until it returns
/// false. Where `files` names no stages and is not of the view alone, they become the first frame's main
/// stage.
/// `still_wanted` may throw Canceled.
void play(
    FilmCourse& course, ExportRequest& files, int frames, const EvaluateOptions& options,
    const std::function<void(int index)>& still_wanted,
    const std::function<bool(int index, const Session& frame, std::shared_ptr<const Trace> trace)>& use) {
    for (int i = 0; i < frames; ++i) {
        still_wanted(i);
        std::optional<Session> next = course.frame(i, [&] { still_wanted(i); });
        if (!next) continue;
        Session& frame = *next;
        if (!frame.presentation.title) frame.presentation.title = course.name();
        if (files.stages.empty() && !files.view_alone)
            files.stages = {std::string(main_stage(evaluate(frame.experiment, {}, options)).name())};
        if (!use(i, frame, std::make_shared<const Trace>(trace_for(frame, files, options)))) return;
    }
}

FilmFrames frames_of(const Session& session, const FilmRequest& request, const EvaluateOptions& options,
                     const std::function<void(int index)>& still_wanted) {
    ExportRequest files = request.files;
    files.compose = Compose::none;
    files.formats = {FileFormat::png};
    const ExportRequest files_of_view = files;
    const std::unique_ptr<FilmCourse> course = course_of(session, request.frames, options);
    FilmFrames film;
    play(*course, files, request.frames, options, still_wanted,
         [&](int, const Session&, const std::shared_ptr<const Trace>& trace) {
             if (std::exchange(files.view_alone, false)) {  // the sheet has the stage that the view shows
                 files.stages = {std::string(plan_export(*trace, files_of_view).front().stage->name())};
                 files.view.reset();
             }
             add_frame(film, trace, files, *course);
             return true;
         });
    return film;
}

void require_film(const Session& session, const FilmRequest& request) {
    if (const std::string why = why_no_film(session, request); !why.empty())
        throw Error(ErrorKind::bad_input, why);
}

}  // namespace

FilmFrames film_frames(const Session& session, const FilmRequest& request, const EvaluateOptions& options,
                       const Progress& progress) {
    require_film(session, request);
    return frames_of(session, request, options,
                     [&](int i) { report(progress, static_cast<double>(i) / request.frames); });
}

Sheet film_sheet(const std::vector<SheetFrame>& frames, const Session& session) {
    const Sweep sweep = chosen_sweep(session);
    return contact_sheet(frames, session.presentation, sweep != Sweep::none && sweeps_numbers(sweep));
}

ExportPreview first_frame_preview(const Session& session, const FilmRequest& request, int side,
                                  const EvaluateOptions& options, const Progress& progress) {
    require_film(session, request);
    ExportRequest files = request.files;
    ExportPreview preview;
    const std::unique_ptr<FilmCourse> course = course_of(session, request.frames, options);
    play(
        *course, files, request.frames, options, [&](int) { report(progress, 0); },
        [&](int, const Session& frame, const std::shared_ptr<const Trace>& trace) {
            const ExportItem first = plan_export(*trace, files).front();
            preview = export_preview(*trace, on_one_range(frame, first), first, side, progress);
            return false;
        });
    return preview;
}

std::vector<std::string> export_film(const Session& session, const FilmRequest& request,
                                     const std::string& folder, const EvaluateOptions& options,
                                     const ExportProgress& progress) {
    require_film(session, request);
    ExportRequest each = request.files;
    const bool as_one = std::erase(each.formats, FileFormat::gif) > 0;
    const bool as_sheet = each.compose == Compose::film;
    std::vector<std::string> paths;
    const auto go_on = [&](int frame, double part) {
        const auto of = static_cast<std::size_t>(request.frames) + (as_one ? 1 : 0);
        return !progress || progress({.done = static_cast<std::size_t>(frame), .of = of, .part = part});
    };
    int at = 0;       // the frame
    double done = 0;  // the part of it
    const auto tell = [&](int frame, double part) {
        at = frame;
        done = part;
        return go_on(frame, part);
    };
    const auto still_wanted = [&](int i) { report([&](double part) { return tell(i, part); }, 0); };
    const auto write = [&](const std::string& name, const ByteSource& bytes) {
        const std::string path = (std::filesystem::path(folder) / name).string();
        write_file(path, bytes, [&] { return go_on(at, done); });
        paths.push_back(path);
    };
    clear_abandoned_files(folder);
    try {
        if (as_sheet) {
            for (const auto& [name, frames] : frames_of(session, request, options, still_wanted))
                for (const FileFormat format : each.formats)
                    write(fmt::format("film-{}.{}", name, name_of(format)),
                          [&, &frames = frames](const ByteSink& to) {
                              write_sheet(film_sheet(frames, session), format, session, to);
                          });
            return paths;
        }
        Films films;
        const std::unique_ptr<FilmCourse> course = course_of(session, request.frames, options);
        play(*course, each, request.frames, options, still_wanted,
             [&](int i, const Session& frame, const std::shared_ptr<const Trace>& trace) {
                 for (const ExportItem& item : plan_export(*trace, each))
                     write(fmt::format("frame-{:04}-{}", i + 1, item.file_name), [&](const ByteSink& to) {
                         write_item(*trace, on_one_range(frame, item), item, to);
                     });
                 ExportRequest drawn = each;
                 drawn.formats = {FileFormat::png};
                 if (as_one) add_pixels(films, *trace, frame, drawn, request.frames);
                 return true;
             });
        for (const auto& [name, frames] : films)
            write(fmt::format("film-{}.{}", name, name_of(FileFormat::gif)),
                  [&, &frames = frames](const ByteSink& to) {
                      to(encode_gif(frames, k_milliseconds,
                                    [&](double part) { return tell(request.frames, part); }));
                  });
    } catch (const Canceled&) {
        // The files written so far are complete.
    }
    return paths;
}

}  // namespace attnscope
