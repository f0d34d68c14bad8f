#include "app/document/overview_maker.h"

#include <algorithm>

namespace attnscope {
namespace {

/// Parts of the work after which the window is told.
constexpr double k_told_every = 0.01;

OverviewRequest surveyed_head(OverviewRequest request, std::atomic<double>& part,
                              const std::function<void()>& wake, const std::stop_token& cancel) {
    const Buffer& buffer = request.head < 0 ? request.stage->buffer.mean(cancel) : request.stage->buffer;
    const int head = std::max(request.head, 0);
    double told = 0;
    part = 0;
    buffer.on_demand()->survey(
        head,
        [&](double done) {
            part = done;
            if (done - told >= k_told_every) {
                told = done;
                if (wake) wake();
            }
            return true;
        },
        cancel);
    buffer.range(head);
    buffer.percentiles(head);
    return request;
}

}  // namespace

OverviewMaker::OverviewMaker(std::shared_ptr<std::atomic<double>> part, const std::function<void()>& wake)
    : Newest(
          [part, wake](OverviewRequest request, const OverviewRequest*, const std::stop_token& cancel) {
              return surveyed_head(std::move(request), *part, wake, cancel);
          },
          wake),
      part_(std::move(part)) {}

}  // namespace attnscope
