// The cell that the inspector proves, and the cell that a chip of the sentence stands for.
#pragma once

#include <optional>

#include "app/document/document.h"
#include "app/document/interaction.h"

namespace attnscope {

/// A cell of a stage in one head, or in the mean if head is −1. The stage is of the slot's newest trace.
struct InspectedCell {
    const Stage* stage;
    int head;
    Cell cell;
    SlotName slot = SlotName::live;
    bool operator==(const InspectedCell&) const = default;
};

/// The cell of query and key that a token stands for: as a query, with the key of the largest number in its
/// row; as a key, with the query that is locked or else the one whose number for it is the largest. Of the
/// stage in focus where that has queries, keys and numbers, else of the weights that the values get. What is
/// closed or NaN is passed over; nullopt where nothing is left, or the stage does not have the token.
std::optional<InspectedCell> cell_of_token(const Trace& trace, const Presentation& presentation,
                                           const PointedToken& token);

/// The cell to prove: that of the chip under the pointer, else the locked cell, which stays while the pointer
/// passes, else the cell under the pointer. nullopt if there is none, or no trace.
std::optional<InspectedCell> inspected_cell(const Document& document, const Interaction& state);

}  // namespace attnscope
