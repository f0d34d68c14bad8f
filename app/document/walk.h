// Going from cell to cell.
#pragma once

#include "app/document/document.h"

namespace attnscope {

/// Locks the cell that is so many rows down and columns to the right of the locked one of this stage, within
/// it; the stage becomes the one in focus. Where another stage's cell or none is locked it begins in that
/// cell's row, else the first, at its largest value.
void walk_cells(Document& document, const Stage& stage, int down, int right);
/// The same from a cell of the stage.
void walk_cells(Document& document, const Stage& stage, const Cell& from, int down, int right);

}  // namespace attnscope
