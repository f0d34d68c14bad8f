// What the frames of a film or a sweep share, cell by cell.
#pragma once

#include <optional>
#include <span>

#include "core/picture/shown_matrix.h"

namespace attnscope {

/// Over all frames, each matrix rows × columns.
struct Spread {
    Matrix mean;       ///< over the frames that have the cell open and a finite number in it; 0 without one
    Matrix deviation;  ///< the standard deviation over these, divided by their number
    Matrix least, most;
    Matrix count;  ///< of the frames that have the cell open and a finite number in it

    float largest_deviation() const { return deviation.size() == 0 ? 0 : deviation.maxCoeff(); }
};

/// nullopt unless all have the same shape, and there is one.
std::optional<Spread> spread_of(std::span<const MaskedMatrix> frames);

}  // namespace attnscope
