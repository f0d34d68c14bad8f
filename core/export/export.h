// Exports: which files they write, and the bytes of these. The window and the command line both call this, so
// both write the same bytes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/export/file_format.h"
#include "core/files/byte_sink.h"
#include "core/files/png.h"
#include "core/graph/run_options.h"
#include "core/graph/trace.h"
#include "core/picture/difference.h"
#include "core/picture/sheet.h"
#include "core/picture/view_figure.h"
#include "core/progress.h"
#include "core/session/session.h"

namespace attnscope {

struct ExportItem;

/// A format of one stage, or of a picture.
struct ExportFormat {
    FileFormat choice;
    std::string_view summary;
    bool picture;  ///< drawn with axes and color bar; otherwise only the numbers
    void (*write)(const Trace& trace, const Session& session, const ExportItem& item, const ByteSink& to,
                  const Progress& progress);
};

/// png, svg, pdf, csv, npy, json.
std::span<const ExportFormat> export_formats();
/// "png, svg, pdf, csv, npy, json".
std::string export_format_names();
/// nullptr for the format of films, which no single file has.
const ExportFormat* find_export_format(FileFormat choice);

/// An export request.
struct ExportRequest {
    std::vector<std::string> stages = {};  ///< by name, "scores" or "2.scores"; empty: every stage
    HeadChoice head = {};                  ///< for stages that have heads
    std::vector<FileFormat> formats = {FileFormat::png};
    std::optional<ViewKind> view = {};        ///< the view whose picture comes first, if it has one
    bool view_alone = false;                  ///< only the view's picture, without stages
    int layer = 0;                            ///< of a stack's stages only those of this layer; 0: of all
    StageKey chosen = "weights"_stage;        ///< the stage in focus, which some views show
    bool gradients = false;                   ///< without named stages, also the gradients of every stage
    Compose compose = Compose::none;          ///< of the pictures, as of the session's presentation
    std::optional<ComparedSide> pinned = {};  ///< A of a comparison
    bool operator==(const ExportRequest&) const = default;
};

/// One file to write: a stage (one head or the mean if it has heads), or a view's picture of it.
struct ExportItem {
    StagePtr stage;
    HeadChoice head;
    const ExportFormat* format;
    std::string file_name;  ///< <stage>[-head<N>|-mean][-operands|-compare].<format>, <stage>-heads.<format>,
                            ///< strip.<format>; the head is named if there are several
    const ViewFigure* view = nullptr;
    std::optional<ComparedSide> pinned = {};  ///< A, if it is a comparison
    /// What was surveyed last for a picture: one for all items of a plan, so that memory does not grow with
    /// the number of heads.
    std::shared_ptr<KeptSurvey> survey = std::make_shared<KeptSurvey>();
};

/// The matrices that `choice` selects in one stage: heads, or their mean. A stage with a single matrix has
/// that one, whatever the choice; the mean of a stage that is not N × M, whose columns have another meaning
/// in each head, selects every head. Throws Error(bad_input) for a head beyond h.
std::vector<HeadChoice> heads_of(const Stage& stage, const HeadChoice& choice);

/// The files of a request, each once. With `mean`, a per-head stage that is not N × M is written head by
/// head, unless it was requested by name: then Error(bad_input), as for a stage that the experiment does not
/// have, a head beyond h, and the format of films. Pictures of `tokens` are left out unless requested by
/// name. Of a composition with operands or heads, only the stages that have these, unless requested by name;
/// of the strip one picture, and of a comparison without named stages that of the main stage. The view's
/// picture, of lines with all heads in one or, composed with heads, with one for each, is included if the
/// experiment has it; if it is requested alone or together with named stages but missing, Error(bad_input).
/// With the view alone, data formats hold the stage that it shows.
std::vector<ExportItem> plan_export(const Trace& trace, const ExportRequest& request);

/// Options to evaluate what the files of a request read: of a trace whose stages are named, these and what
/// they need, and of stages of pairs only one that is named alone is kept. All is, for a view, a
/// picture of several stages, or gradients.
EvaluateOptions reading_only(EvaluateOptions options, const Session& session, const ExportRequest& request);

/// Writes one file, part by part: but for SVG, its bytes are not in memory as a whole. Throws
/// Error(too_large) for a pixel image beyond the limits of PNG surfaces, for a
/// vector image with so many cells that it needs pixels, too, and for a session larger than a picture holds;
/// Canceled; what `to` throws.
void write_item(const Trace& trace, const Session& session, const ExportItem& item, const ByteSink& to,
                const Progress& progress = {});

/// The bytes that write_item() writes.
std::string export_bytes(const Trace& trace, const Session& session, const ExportItem& item,
                         const Progress& progress = {});

/// Why a film of one picture cannot have this format.
std::string no_film_sheet(FileFormat format);

/// Writes a sheet as a picture of this format, with the session in it. Throws Error(bad_input) for a format
/// of data, and as write_item().
void write_sheet(Sheet sheet, FileFormat format, const Session& session, const ByteSink& to);

/// The pixels of a picture, as its PNG file has them. Throws as write_item().
Pixels export_pixels(const Trace& trace, const Session& session, const ExportItem& item);

/// A picture as it will be written, but no larger than `side` pixels, and the size of the file's picture:
/// "84 × 80 mm · 992 × 945 pixels". Throws as write_item().
struct ExportPreview {
    Pixels pixels;
    std::string facts;
};
ExportPreview export_preview(const Trace& trace, const Session& session, const ExportItem& item, int side,
                             const Progress& progress = {});
/// The preview of a sheet as a file of this format.
ExportPreview sheet_preview(Sheet sheet, FileFormat format, int side, const Progress& progress = {});

/// The progress of an export.
struct ExportStep {
    std::size_t done;  ///< complete files
    std::size_t of;
    double part;  ///< of the current file, 0 … 1
};
/// Called before each file and now and then while it is made, by one thread at a time; must not throw.
/// Returning false stops the export and drops the current file.
using ExportProgress = std::function<bool(const ExportStep&)>;

/// Writes all files of a request into an existing folder, and removes from it what killed processes left
/// there (clear_abandoned_files); returns the paths written, in order. Throws as write_item() and
/// write_file().
std::vector<std::string> export_files(const Trace& trace, const Session& session,
                                      const ExportRequest& request, const std::string& folder,
                                      const ExportProgress& progress = {});

}  // namespace attnscope
