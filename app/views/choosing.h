// The cell that a view of one query is about: what is pointed at, and what a click locks.
#pragma once

#include "app/views/matrix_painter.h"

namespace attnscope {

/// The query that is pointed at, else that of the locked cell, else the first.
int chosen_query(const Desk& desk, int queries);
/// The key with the largest value in a row.
int largest_key(const ShownStage& shown, int query);

/// The slot whose trace it is of.
SlotName slot_of(const Desk& desk, const ShownStage& shown);
void point_at(Desk& desk, const ShownStage& shown, const Cell& cell);
/// Locks a cell of the stage and focuses the stage; unlocks the cell if it is the locked one.
void toggle_lock(Desk& desk, const ShownStage& shown, const Cell& cell);
/// Handles the mouse on the last item as the mouse on a cell: hovering shows the value as a tooltip, a click
/// locks the cell, in slot A.
void use_cell(Desk& desk, const Ui& ui, const ShownStage& shown, const Cell& cell);

}  // namespace attnscope
