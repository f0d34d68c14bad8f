// The inspector's list of one cell in every head.
#pragma once

#include "app/document/desk.h"
#include "app/document/inspected.h"
#include "app/panels/inspector_column.h"
#include "core/picture/color_scale.h"

namespace attnscope {

/// The number of the inspected cell in every head of every layer, as bars in the order of the view of heads.
/// Nothing while that view is closed, or where its heads are of another stage.
void cell_in_every_head(Desk& desk, const Column& c, const InspectedCell& at, const ColorScale& colors);

}  // namespace attnscope
