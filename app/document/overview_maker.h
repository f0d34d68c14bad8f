// The thread that surveys a head whose values are computed on demand, so that the window never waits.
#pragma once

#include <atomic>
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

/// Surveys a head (OnDemandValues::survey()) and finds what its color scale asks for.
class OverviewMaker : public Newest<OverviewRequest, OverviewRequest> {
public:
    /// `wake` is also called now and then while a survey goes on.
    explicit OverviewMaker(const std::function<void()>& wake)
        : OverviewMaker(std::make_shared<std::atomic<double>>(0), wake) {}

    /// The part that is done, 0 … 1; nullopt: nothing is being surveyed.
    std::optional<double> progress() const { return busy() ? std::optional(part_->load()) : std::nullopt; }

private:
    OverviewMaker(std::shared_ptr<std::atomic<double>> part, const std::function<void()>& wake);

    std::shared_ptr<std::atomic<double>> part_;
};

}  // namespace attnscope
