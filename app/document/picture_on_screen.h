// The picture that the window shows, as an export: what the export dialog proposes first, and what is copied.
#pragma once

#include "app/document/document.h"
#include "core/export/export.h"

namespace attnscope {

/// Whether the open view has a figure of its own.
bool has_picture(const Document& document);

/// The stage that the open view shows: the steps are those of a row of weights, whatever is in focus. All
/// here need a trace.
const Stage& stage_on_screen(const Document& document);

/// What the open view shows, so that its picture shows the same: every head, A and B, the steps of a row.
Compose composition_shown(const Document& document);

/// One PNG of the open view's figure, or else of the stage that it shows, composed as it shows it. Of a
/// sweep, which is a film, and of a run of training the stage in focus.
ExportRequest picture_on_screen(const Document& document);

}  // namespace attnscope
