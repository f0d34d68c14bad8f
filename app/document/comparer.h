// The thread that compares the pinned experiment (A) with the live one (B), so that the window need not wait:
// core/picture/difference.h matches rows and columns by their words and subtracts.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/document/newest.h"
#include "core/picture/difference.h"

namespace attnscope {

/// A request to compare: A, B, and the stage whose difference is drawn.
struct ComparisonRequest {
    ComparedSide a, b;
    StageKey key;
    bool operator==(const ComparisonRequest&) const = default;
};

/// Two traces, and how they differ. It keeps both, so that all that a view draws belongs together.
struct Comparison {
    ComparisonRequest of;
    std::vector<StageComparison> stages;           ///< all of them, in the order of the computation
    std::shared_ptr<const Difference> difference;  ///< of the stage asked for; nullptr: it is not in both
    std::string problem;                           ///< why nothing is compared; empty: it is

    /// The first stage in which the two differ; nullptr if there is none.
    const StageComparison* first_difference() const;
};

/// Compares two sides. `before` is an earlier comparison, whose results are reused if it has the same sides.
Comparison compared(ComparisonRequest request, const Comparison* before, const std::stop_token& cancel);

class Comparer : public Newest<ComparisonRequest, Comparison> {
public:
    explicit Comparer(std::function<void()> wake) : Newest(compared, std::move(wake)) {}
};

}  // namespace attnscope
