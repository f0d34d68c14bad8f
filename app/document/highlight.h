// Which rows and columns belong to what is pointed at, in every stage.
#pragma once

#include <optional>
#include <string>

#include "core/attention/trace.h"
#include "core/io/session.h"

namespace attnscope {

/// A cell of a stage, in one head (from 0), or in the mean over the heads if head is −1.
struct PointedCell {
    std::string stage;
    int head = 0;
    Cell cell;
    bool operator==(const PointedCell&) const = default;
};

/// The query token, the key token and the feature that are lit; −1 where none is.
struct Highlight {
    int query = -1;
    int key = -1;
    int feature = -1;
    Axis feature_axis = Axis::feature;
    bool two_sides = false;  ///< queries and keys are different tokens
    bool one_head = false;   ///< a head's features are the features
    bool operator==(const Highlight&) const = default;
};

/// Queries and keys are different tokens: of two sentences, or of matrices given for each.
bool has_two_sides(const Trace& trace);

/// A token in all its roles, as a chip of the only sentence stands for it.
Highlight highlight_token(int token);
/// What a cell of a stage lights. `depth` as the stage's Shape::depth.
Highlight highlight_cell(const StageInfo& info, const Cell& cell, int depth = 1);

/// The row (column) of a stage that is lit, or −1. Of hidden units: the key that they belong to.
int lit_row(const Highlight& highlight, const StageInfo& info);
int lit_column(const Highlight& highlight, const StageInfo& info);

/// The cell of `to` that has the row and the column of a cell of `from`; nullopt where it lacks one of them:
/// of weights and scores the same query and key, of query and embedding the same token and feature.
std::optional<Cell> same_cell(const Trace& trace, const Stage& from, const Cell& cell, const Stage& to);

}  // namespace attnscope
