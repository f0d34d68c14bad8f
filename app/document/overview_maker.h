// The thread that surveys a head whose values are computed on demand, so that the window never waits.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "app/document/newest.h"
#include "core/graph/trace.h"

namespace attnscope {

/// A head of a stage on demand; −1: the mean over its heads.
struct OverviewRequest {
    StagePtr stage;
    int head = 0;
    bool operator==(const OverviewRequest&) const = default;
};

/// Whether all its pairs were read.
inline bool is_surveyed(const OverviewRequest& overview) {
    const Buffer& buffer = overview.stage->buffer;
    if (overview.head >= 0) return buffer.on_demand()->is_surveyed(overview.head);
    const Buffer* mean = buffer.known_mean();
    return mean && mean->on_demand()->is_surveyed(0);
}

struct MadeOverview {
    OverviewRequest of;
    bool is_complete = false;  ///< false: memory did not suffice
};

/// Surveys a head (OnDemandValues::survey()) and finds what its color scale asks for. The last k_kept surveys
/// are kept.
class OverviewMaker : public Newest<OverviewRequest, MadeOverview> {
public:
    static constexpr std::size_t k_kept = 4;
    /// `wake` is also called now and then while a survey goes on.
    explicit OverviewMaker(const std::function<void()>& wake)
        : OverviewMaker(std::make_shared<Shared>(), wake) {}

    /// The part that is done, 0 … 1; nullopt: nothing is being surveyed.
    std::optional<double> progress() const {
        return busy() ? std::optional(shared_->part.load()) : std::nullopt;
    }

private:
    struct Kept {
        std::weak_ptr<const Stage> stage;
        int head;
        KeptSurvey survey;
    };
    struct Shared {
        std::atomic<double> part = 0;
        std::deque<Kept> surveyed = {};  ///< the newest first; used by the thread alone
    };
    OverviewMaker(std::shared_ptr<Shared> shared, const std::function<void()>& wake);
    static MadeOverview surveyed(OverviewRequest request, Shared& shared, const std::function<void()>& wake,
                                 const std::stop_token& cancel);

    std::shared_ptr<Shared> shared_;
};

}  // namespace attnscope
