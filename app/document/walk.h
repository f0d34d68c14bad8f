// Moving the locked cell by the arrow keys.
#pragma once

#include "app/document/document.h"

namespace attnscope {

/// Locks the cell `down` rows below and `right` columns to the right of the locked cell of this stage,
/// clamped to the matrix, and focuses the stage. If no cell of this stage is locked, starts at the largest
/// value of the locked row, else of the first.
void walk_cells(Document& document, const Stage& stage, int down, int right);
/// Locks the cell at that offset from a cell of the stage.
void walk_cells(Document& document, const Stage& stage, const Cell& from, int down, int right);

}  // namespace attnscope
