// What leaves the program: which files an export writes, and their bytes. The window and the command line
// both call this, so both write the same bytes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/trace.h"
#include "core/io/session.h"
#include "core/picture/progress.h"
#include "core/picture/view_figure.h"

namespace attnscope {

struct ExportItem;

/// A file format, by its extension.
struct ExportFormat {
    std::string_view name;
    std::string_view summary;
    bool picture;  ///< drawn with axes and colour bar; otherwise the numbers alone
    std::string (*bytes)(const Trace& trace, const Session& session, const ExportItem& item,
                         const Progress& progress);
};

/// png, svg, pdf, csv, npy, json.
std::span<const ExportFormat> export_formats();
/// "png, svg, pdf, csv, npy, json".
std::string export_format_names();
/// nullptr for an unknown name.
const ExportFormat* find_export_format(std::string_view name);

/// What a person asks for.
struct ExportRequest {
    std::vector<std::string> stages;  ///< by name; empty: every stage of the computation
    HeadChoice head;                  ///< of stages that have heads
    std::vector<std::string> formats = {"png"};
    std::optional<ViewKind> view = {};  ///< whose own picture comes first, if it has one
    bool view_alone = false;            ///< without any stage, where that view has a picture
};

/// One file to write: a stage, and of a stage with heads one of them or their mean; or a view's picture of
/// it.
struct ExportItem {
    StagePtr stage;
    HeadChoice head;
    const ExportFormat* format;
    std::string file_name;  ///< <stage>[-head<N>|-mean].<format>; the head is named where there are several
    const ViewFigure* view = nullptr;
};

/// What `choice` stands for in one stage: its heads one by one, or their mean. A stage of one matrix has that
/// one, whatever the choice; the mean of a stage that is not N × M, whose columns mean something else in each
/// head, is every head. Throws Error(bad_input) for a head beyond h.
std::vector<HeadChoice> heads_of(const Stage& stage, const HeadChoice& choice);

/// The files of a request, each once. With `mean`, a per-head stage that is not N × M is written head by
/// head, unless it was asked for by name: then Error(bad_input), as for a stage that the experiment does not
/// have, a head beyond h, and an unknown format. Pictures of `tokens` are left out unless asked for by name.
/// The view's picture is one of everything where the experiment has it; asked for alone or beside named
/// stages, its lack is an Error(bad_input). Alone, data formats hold the stage that the view shows.
std::vector<ExportItem> plan_export(const Trace& trace, const ExportRequest& request);

/// The bytes of one file. Throws Error(too_large) for a picture in pixels beyond what PNG surfaces hold, and
/// for one in shapes where it has so many cells that it is of pixels, too, and where its session has more
/// bytes than a picture carries; Cancelled.
std::string export_bytes(const Trace& trace, const Session& session, const ExportItem& item,
                         const Progress& progress = {});

/// How far an export is.
struct ExportStep {
    std::size_t done;  ///< files that are whole
    std::size_t of;
    double part;  ///< of the file in hand, 0 … 1
};
/// Called before each file and now and then while it is made, from the thread that exports; must not throw.
/// Returning false stops the export, without the file in hand.
using ExportProgress = std::function<bool(const ExportStep&)>;

/// Writes all files of a request into a folder, which must exist, and clears it of what killed processes
/// left there (clear_abandoned_files); returns the paths of those written, in order. Throws as export_bytes
/// and write_file.
std::vector<std::string> export_files(const Trace& trace, const Session& session,
                                      const ExportRequest& request, const std::string& folder,
                                      const ExportProgress& progress = {});

}  // namespace attnscope
