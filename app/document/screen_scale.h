// The color scale of what is on screen, for which the window never waits.
#pragma once

#include "app/document/document.h"
#include "core/picture/color_scale.h"

namespace attnscope {

/// The part of a head of a stage on demand that can be shown before it is surveyed (−1: of the mean); nullptr
/// until it is computed.
std::shared_ptr<const Matrix> known_preview(Document& document, const StagePtr& stage, int head);

/// The color scale of a stage under the document's presentation. Until what it asks for is known, that of all
/// heads; of a stage on demand from 0, or symmetric, to all but the largest hundredth of its preview, else
/// to 1.
ColorScale screen_scale(Document& document, const Trace& trace, const StagePtr& stage,
                        const HeadChoice& head);

}  // namespace attnscope
