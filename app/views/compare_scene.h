// What the comparison view draws: the two matrices of a stage, what is lit in them, and their scale.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/document/desk.h"
#include "app/views/matrix_painter.h"
#include "core/picture/color_scale.h"
#include "core/picture/difference.h"

namespace attnscope {

/// The matrix of a side; nothing if the side has no such stage, or none that can be shown.
std::optional<ShownStage> shown_of(const ComparedSide& side, const StageKey& key);

/// What is drawn: a comparison and the two matrices of the stage asked for, all of the same traces.
struct CompareScene {
    const std::shared_ptr<const Comparison>& comparison;
    std::optional<ShownStage> a, b;
    std::shared_ptr<const Difference> difference;

    const ShownStage& any() const { return b ? *b : *a; }
    /// The row or column of B that one of A is the counterpart of, or −1.
    int row_in_b(int row) const { return place_of(difference->rows, row); }
    int column_in_b(int column) const { return place_of(difference->columns, column); }

private:
    static int place_of(const std::vector<int>& same, int of_a) {
        const auto found = std::ranges::find(same, of_a);
        return found == same.end() ? -1 : static_cast<int>(found - same.begin());
    }
};

/// What is lit: a cell of B, and its counterpart in A; −1 where there is none.
struct LitCells {
    int row_a = -1, column_a = -1, row_b = -1, column_b = -1;
};

LitCells lit_cells(const Desk& desk, const CompareScene& scene);

/// The row of B that is drawn as bars: the lit one, else that of the largest difference, else the first.
int chosen_row(const CompareScene& scene, const LitCells& lit);

/// One scale for both: from the smaller minimum to the larger maximum.
ColorScale shared_scale(const Desk& desk, const CompareScene& scene);

}  // namespace attnscope
