// The thread that compares what is pinned with what is live, so that the window never waits.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

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

class Comparer {
public:
    /// `wake` is called from the comparing thread when there is a result.
    explicit Comparer(std::function<void()> wake);
    /// Cancels the comparison, which stops at its next row, and waits.
    ~Comparer();
    Comparer(const Comparer&) = delete;
    Comparer& operator=(const Comparer&) = delete;

    /// Compares, unless this is the newest request already. An older one is canceled.
    void request(ComparisonRequest request);
    /// Cancels, and forgets the result.
    void forget();
    /// Takes the newest result; true if there is one that was not taken yet.
    bool update();
    /// The newest result taken; nullptr before the first.
    const std::shared_ptr<const Comparison>& known() const { return known_; }
    bool busy() const;
    /// Waits until no request is pending; for tests and measurements.
    void wait() const;

private:
    void run(const std::stop_token& end);

    std::function<void()> wake_;
    std::shared_ptr<const Comparison> known_;
    mutable std::mutex mutex_;
    mutable std::condition_variable_any changed_;
    std::optional<ComparisonRequest> newest_, asked_;
    std::shared_ptr<const Comparison> result_;        ///< not taken yet
    std::shared_ptr<const Comparison> newest_known_;  ///< its facts hold for another stage of the same sides
    std::stop_source cancel_;
    bool running_ = false;
    std::jthread thread_;  ///< the last member: it uses the others
};

}  // namespace attnscope
