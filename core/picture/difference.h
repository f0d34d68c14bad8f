// How two shown matrices differ: those of two experiments, of two heads or layers of one, of any two traces.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/graph/trace.h"
#include "core/picture/color_scale.h"
#include "core/picture/presentation.h"

namespace attnscope {

/// One of the two things compared: a trace, and which of the matrices of its stages is shown.
struct ComparedSide {
    std::shared_ptr<const Trace> trace;
    HeadChoice head;
    int layer = 1;  ///< of a stack, from 1

    /// The stage of a key, in this side's layer if it is of a layer; nullptr if the trace has none.
    const Stage* find(const StageKey& key) const;
    bool operator==(const ComparedSide&) const = default;
};

/// The row and column of A's stage that each row and column of B's corresponds to: for tokens and words the
/// one with the same text, in the same order (their longest common subsequence); for features, heads and
/// positions the one with the same number. −1 where A has none.
struct Counterparts {
    std::vector<int> rows, columns;
    /// Whether every row and column has one, in a matrix of the same size.
    bool complete = false;
};
/// Throws Canceled.
Counterparts counterparts(const Trace& a, const Stage& of_a, const Trace& b, const Stage& of_b,
                          const std::stop_token& cancel = {});

/// How far the scores of one side are spread: standard deviations.
struct Deviation {
    double of_cells = 0;                  ///< cells that are compared and finite in A and B
    std::optional<double> of_terms = {};  ///< deviation_of_terms() of one head; nullopt if there are none,
                                          ///< and where not all of its cells are compared
};

/// How far one stage differs. Cells that both masks close are left out, and so are those without counterpart.
struct StageComparison {
    enum class State {
        compared,
        only_in_a,
        only_in_b,
        not_shown,  ///< one side has no single matrix of it: a mean of features, a missing head
    };
    StageKey key;  ///< of B; of A where only A has it
    State state = State::compared;
    std::size_t cells = 0;        ///< compared
    std::size_t other_kind = 0;   ///< cells that are NaN, +∞ or −∞ on one side alone
    double largest = 0;           ///< |B − A| over all other cells
    double relative = 0;          ///< `largest` ÷ the largest magnitude in A; 0 if that is 0
    std::optional<Cell> at = {};  ///< the first cell of B with that difference; nullopt if there is none
    bool complete = true;         ///< both have the same rows and columns
    Deviation deviation_a = {}, deviation_b = {};  ///< of stages of scores alone

    bool differs() const { return largest > 0 || other_kind > 0; }
};

/// B − A of one stage, in B's rows and columns.
struct Difference {
    StageComparison facts;
    std::shared_ptr<const Buffer> values;  ///< 0 where nothing is compared; ±∞ or NaN for another kind
    std::shared_ptr<const Buffer> open;    ///< 1 where a cell is compared, else 0: drawn hatched
    std::vector<int> rows, columns;        ///< see Counterparts
};

/// Why a stage cannot be compared, in one line: "only A has it"; empty if it can.
std::string why_not_compared(const StageComparison& stage);

/// "context cannot be compared: it has no mean over heads; choose a head"; empty if the stage can. Reads no
/// values.
std::string why_no_difference(const ComparedSide& a, const ComparedSide& b, const StageKey& key);

/// The facts of a stage that cannot be compared because a side has no matrix of it; nullopt for any other.
/// Reads no values.
std::optional<StageComparison> without_comparison(const ComparedSide& a, const ComparedSide& b,
                                                  const StageKey& key);

/// Reads both matrices whole. nullopt if they cannot be compared (why_not_compared). Throws Canceled;
/// Error(backend) if a card is lost.
std::optional<Difference> difference(const ComparedSide& a, const ComparedSide& b, const StageKey& key,
                                     const std::stop_token& cancel = {});

/// The diverging colors of a difference: from −m to m, m its largest magnitude, or 1.
ColorScale difference_scale(const Difference& difference);

/// Every stage of B without its parameters, in the order of the computation, then those that only A has.
std::vector<StageComparison> compare_stages(const ComparedSide& a, const ComparedSide& b,
                                            const std::stop_token& cancel = {});

}  // namespace attnscope
