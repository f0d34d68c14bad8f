// Which rows and columns of every stage belong to what is pointed at.
#pragma once

#include <optional>

#include "app/document/slot.h"
#include "core/graph/trace.h"
#include "core/session/session.h"

namespace attnscope {

/// A cell of a stage, in one head (from 0) or in the mean over heads (head −1).
struct PointedCell {
    StageKey stage;
    int head = 0;
    Cell cell;
    SlotName slot = SlotName::live;
    bool operator==(const PointedCell&) const = default;
};

/// The highlighted query token, key token and feature; −1 for none.
struct Highlight {
    int query = -1;
    int key = -1;
    int feature = -1;
    Axis feature_axis = Axis::feature;
    bool two_sides = false;  ///< queries and keys are different tokens
    bool one_head = false;   ///< the feature is counted within a head
    bool operator==(const Highlight&) const = default;
};

/// Whether queries and keys are different tokens: of two sentences, or of custom matrices.
bool has_two_sides(const Trace& trace);

/// Highlights a token in all its roles, as the chip of a single sentence does.
Highlight highlight_token(int token);
/// What a cell of a stage highlights. `depth` is the stage's Shape::depth.
Highlight highlight_cell(const StageInfo& info, const Cell& cell, int depth = 1);

/// The highlighted row (column) of a stage, or −1. A hidden unit stands for the key that it belongs to.
int lit_row(const Highlight& highlight, const StageInfo& info);
int lit_column(const Highlight& highlight, const StageInfo& info);

/// The cell of `to` with the same row and column as a cell of `from`: the same query and key in weights and
/// scores, the same token and feature in query and embedding. nullopt if `to` lacks one of them.
std::optional<Cell> same_cell(const Trace& trace, const Stage& from, const Cell& cell, const Stage& to);

}  // namespace attnscope
