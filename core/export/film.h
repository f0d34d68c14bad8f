// A film: pictures or data of a training run step by step, or of a setting value by value.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/export/export.h"
#include "core/graph/run_options.h"
#include "core/picture/compose.h"

namespace attnscope {

struct FilmRequest {
    /// The files of each frame; without stages and view, of the main stage. The format gif is one file of all
    /// frames.
    ExportRequest files;
    int frames = 24;  ///< from step 0 to the session's; of a sweep, at most so many values
};

/// The trace that a request is of, with gradients where it or the session names them. Throws as evaluate()
/// and plan_export().
Trace trace_for(const Session& session, const ExportRequest& request, const EvaluateOptions& options);

/// Why a session has no film of what it sweeps or, if it sweeps nothing, of its training run; empty: it has
/// one.
std::string why_no_film(const Session& session);
/// The reason of a session or, of a film in one picture, a format other than a picture.
std::string why_no_film(const Session& session, const FilmRequest& request);

/// What every frame shows of each stage, by the name of its file without the extension: "weights-head2".
using FilmFrames = std::map<std::string, std::vector<SheetFrame>>;
/// The frames of a film composed as one picture. `progress` is called before each frame and step of training.
/// Throws Canceled, and as export_film().
FilmFrames film_frames(const Session& session, const FilmRequest& request, const EvaluateOptions& options,
                       const Progress& progress = {});
/// One stage's frames as one picture; of a sweep with their mean and spread.
Sheet film_sheet(const std::vector<SheetFrame>& frames, const Session& session);

/// The first picture of the film that export_film() writes, no larger than `side` pixels; the film is not
/// composed as one picture. Throws as export_film() and export_preview().
ExportPreview first_frame_preview(const Session& session, const FilmRequest& request, int side,
                                  const EvaluateOptions& options, const Progress& progress = {});

/// Repeats the run of the session's experiment, or sweeps its setting, and writes the request's files for
/// each frame: "frame-0001-weights.png", and of all "film-weights.gif". Weights are drawn from 0 to 1 and
/// titles name the step or the value, unless the session sets them. Composed as a film, all frames of a stage
/// are one picture on one range instead, of a sweep with their mean and spread: "film-weights.png". Returns
/// the paths, in order; where `progress` or `options.cancel` stops it, those that are complete. Throws
/// Error(bad_input) with why_no_film() before any frame, and as TrainingRun, evaluate() and write_item().
std::vector<std::string> export_film(const Session& session, const FilmRequest& request,
                                     const std::string& folder, const EvaluateOptions& options,
                                     const ExportProgress& progress = {});

}  // namespace attnscope
