// Labels beside and above matrices, and what a stage is in words.
#pragma once

#include "app/ui/ui.h"
#include "core/graph/trace.h"

namespace attnscope {

/// Text reading from bottom to top; `at` is the middle of its lower end.
void upright_text(ImDrawList* list, ImFont* font, ImVec2 at, ImU32 color, const std::string& text);

/// The stride between labels that have room, if each takes `pitch` pixels: every n-th label is drawn.
int label_stride(const Ui& ui, float pitch);
/// Whether label i is drawn: the highlighted one is, and those on the stride that do not crowd it.
bool label_shown(int i, int stride, int lit);

/// What a stage is, for a tooltip: its name and shape, its formula, and what its operation does.
std::string stage_help(const Trace& trace, const Stage& stage);

}  // namespace attnscope
