// What shows the trace.
#pragma once

#include "app/actions/actions.h"
#include "app/window/ui.h"

namespace attnscope {

/// The whole centre: tabs, what is shown (head, range, colours), the strip of all stages and the focus.
void pipeline_view(Ui& ui, const Area& area, const std::function<void(const Action&)>& run);

/// Every stage of the computation as a thumbnail, token rows aligned.
float strip_height(Ui& ui, float view_height);
void strip(Ui& ui, const Area& area);

/// The chosen stage, large, with its operands.
void focus(Ui& ui, const Area& area, const std::function<void(const Action&)>& run);

/// In the focus's place: the picture, and where the words' attention goes over it. why_no_image says why it
/// cannot be shown; empty: it can.
void image_view(Ui& ui, const Area& area);
std::string why_no_image(const Ui& ui);

/// In the place of strip and focus: which source words each step of a decoder looks at, and what the chosen
/// step does. why_no_alignment as why_no_image.
void alignment_view(Ui& ui, const Area& area);
std::string why_no_alignment(const Ui& ui);

}  // namespace attnscope
