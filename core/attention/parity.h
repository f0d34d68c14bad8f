// How far two traces of one experiment are apart, stage by stage: what another backend's arithmetic costs.
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/attention/trace.h"

namespace attnscope {

/// Relative differences are of cells whose larger magnitude is above this: below it a weight is rounding.
inline constexpr double k_relative_floor = 1e-6;

/// A cell of a stage, each counted from 0.
struct CellPlace {
    int head = 0;
    int row = 0;
    int column = 0;
    bool operator==(const CellPlace&) const = default;
};

/// One stage of a beside the same of b.
struct StageDifference {
    const StageInfo* info;
    Shape shape;
    double absolute = 0;                        ///< largest |a − b| over the cells that are finite in both
    std::optional<CellPlace> absolute_at = {};  ///< the first of them; nullopt where none differs
    double relative = 0;  ///< largest |a − b| ÷ max(|a|, |b|), with k_relative_floor; 0 … 2
    std::optional<CellPlace> relative_at = {};
    std::size_t other_kind = 0;  ///< cells that are NaN, +∞ or −∞ (closed) on one side alone
    std::optional<CellPlace> other_kind_at = {};  ///< the first of them
    double milliseconds_a = 0;                    ///< what computing it took; 0 where it was taken over
    double milliseconds_b = 0;
};

/// Every stage and every parameter that both have, in a's order. Of values on a card no more than a block of
/// rows is copied at a time. Throws Error(bad_input) where a stage's shapes differ: the traces are not of one
/// experiment; Cancelled if asked to; Error(backend) if a card is lost.
std::vector<StageDifference> compare(const Trace& a, const Trace& b, std::stop_token cancel = {});

}  // namespace attnscope
