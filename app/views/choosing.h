// The cell that a view of one query is about: what is pointed at, what a click keeps.
#pragma once

#include "app/views/matrix_painter.h"

namespace attnscope {

/// The query that is pointed at, else that of the locked cell, else the first.
int chosen_query(const Ui& ui, int queries);
/// The key with the largest value in a row.
int largest_key(const ShownStage& shown, int query);

void point_at(Ui& ui, const ShownStage& shown, const Cell& cell);
/// Locks a cell of the stage, which becomes the one in focus; lets go of it if it is the locked one.
void toggle_lock(Ui& ui, const ShownStage& shown, const Cell& cell);
/// What a click on the item drawn last, and the mouse over it, do for a cell: the tooltip is the cell's
/// value.
void use_cell(Ui& ui, const ShownStage& shown, const Cell& cell);

}  // namespace attnscope
