#include "app/document/overview_maker.h"

#include <algorithm>
#include <optional>

namespace attnscope {
namespace {

/// The share of the work between two reports of progress.
constexpr double k_told_every = 0.01;

const Buffer& buffer_of(const Stage& stage, int head) {
    return head < 0 ? stage.buffer.mean() : stage.buffer;
}

KeptSurvey survey(const OverviewRequest& request, std::atomic<double>& part,
                  const std::function<void()>& wake, const std::stop_token& cancel) {
    const Buffer& buffer = buffer_of(*request.stage, request.head);
    const int head = std::max(request.head, 0);
    std::optional<double> told;  // the first is told at once
    part = 0;
    const auto progress = [&](double done) {
        part = done;
        if (told && done - *told < k_told_every) return true;
        told = done;
        if (wake) wake();
        return true;
    };
    KeptSurvey kept = buffer.on_demand()->survey(head, progress, cancel);
    buffer.range(head);
    for (const auto& each : choices<Pool>()) buffer.percentiles(head, each.value);
    return kept;
}

}  // namespace

OverviewMaker::OverviewMaker(std::shared_ptr<Shared> shared, const std::function<void()>& wake)
    : Newest(
          [shared, wake](OverviewRequest request, const MadeOverview*, const std::stop_token& cancel) {
              return surveyed(std::move(request), *shared, wake, cancel);
          },
          wake),
      shared_(std::move(shared)) {}

MadeOverview OverviewMaker::surveyed(OverviewRequest request, Shared& shared,
                                     const std::function<void()>& wake, const std::stop_token& cancel) {
    std::erase_if(shared.surveyed, [](const Kept& each) { return each.stage.expired(); });
    const auto own = std::ranges::find_if(shared.surveyed, [&](const Kept& each) {
        return each.stage.lock() == request.stage && each.head == request.head;
    });
    KeptSurvey before;
    if (own != shared.surveyed.end()) {
        before = std::move(own->survey);
        shared.surveyed.erase(own);
    } else if (shared.surveyed.size() == k_kept) {
        shared.surveyed.pop_back();  // before there is another
    }
    KeptSurvey kept;
    try {
        kept = survey(request, shared.part, wake, cancel);
    } catch (const Canceled&) {
        throw;
    } catch (const std::exception&) {  // no memory: the preview stays on screen
        return {std::move(request), false};
    }
    shared.surveyed.push_front({request.stage, request.head, std::move(kept)});
    return {std::move(request), true};
}

}  // namespace attnscope
