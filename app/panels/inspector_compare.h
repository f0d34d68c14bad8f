// The proofs of a cell of A (pinned) and of its counterpart in B (live), side by side.
#pragma once

#include <optional>

#include "app/document/comparer.h"
#include "app/document/desk.h"
#include "app/panels/inspector_column.h"

namespace attnscope {

/// A cell of B and the same cell of A, of the stage that is compared.
struct ComparedCells {
    std::shared_ptr<const Comparison> comparison;
    const Stage *stage_a, *stage_b;
    int head_a, head_b;  ///< −1: the mean
    Cell a, b;
};

/// The cells that the comparison view points at or holds locked; nullopt while another view is open, or where
/// A or B has no such cell.
std::optional<ComparedCells> compared_cells(const Desk& desk);
void compare_proofs(Desk& desk, Column c, const ComparedCells& cells);

}  // namespace attnscope
