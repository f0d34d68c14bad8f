// How far two traces differ, stage by stage: the numerical error of another backend, or the effect of a
// setting.
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/graph/trace.h"

namespace attnscope {

/// Relative differences count only cells whose larger magnitude is above this; below it a weight is rounding
/// error.
inline constexpr double k_relative_floor = 1e-6;

/// A cell of a stage, head, row and column counted from 0.
struct CellPlace {
    int head = 0;
    int row = 0;
    int column = 0;
    bool operator==(const CellPlace&) const = default;
};

/// One stage of trace a compared with the same stage of trace b. Numbers are compared only where both have it
/// in one shape; else all of them are 0. What it reports has a column in parity_text()
/// (app/document/parity_run.h) and in app/panels/parity_dialog.cpp.
struct StageDifference {
    enum class State { compared, shapes_differ, only_in_a, only_in_b };

    StageKey key;
    State state = State::compared;
    Shape shape = {};                           ///< in a; in b where only b has it
    Shape shape_b = {};                         ///< in b, where the shapes differ
    double absolute = 0;                        ///< largest |a − b| over the cells that are finite in both
    std::optional<CellPlace> absolute_at = {};  ///< the first such cell; nullopt if there is no difference
    double relative = 0;  ///< largest |a − b| ÷ max(|a|, |b|), with k_relative_floor; 0 … 2
    std::optional<CellPlace> relative_at = {};
    std::size_t other_kind = 0;  ///< cells that are NaN, +∞ or −∞ (closed) on one side alone
    std::optional<CellPlace> other_kind_at = {};  ///< the first such cell
    double milliseconds_a = 0;                    ///< compute time in trace a; 0 if it was reused
    double milliseconds_b = 0;
};

/// Why a stage is not compared: "shapes differ: 8 × 8 and 9 × 9"; empty if it is.
std::string why_not_compared(const StageDifference& stage);

/// Whether two numbers are both finite, both NaN, or the same infinity.
bool same_kind(float a, float b);

/// Compares every stage and parameter, matched by StageKey: a's in its order, then those that only b has.
/// Values on a card are copied one block of rows at a time. Throws Canceled; Error(backend) if a card is
/// lost.
std::vector<StageDifference> compare(const Trace& a, const Trace& b, std::stop_token cancel = {});

}  // namespace attnscope
