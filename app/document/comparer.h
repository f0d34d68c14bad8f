// The thread that compares what is pinned with what is live, so that the window never waits.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/document/newest.h"
#include "core/picture/difference.h"

namespace attnscope {

/// What is compared: A, B, and the stage whose difference is drawn.
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

    /// The first stage that differs, from which on the two part; nullptr if none does.
    const StageComparison* first_difference() const;
};

/// Compares. `before` is an earlier comparison: where it is of the same two sides, its facts hold.
Comparison compared(ComparisonRequest request, const Comparison* before, const std::stop_token& cancel);

class Comparer : public Newest<ComparisonRequest, Comparison> {
public:
    explicit Comparer(std::function<void()> wake) : Newest(compared, std::move(wake)) {}
};

}  // namespace attnscope
