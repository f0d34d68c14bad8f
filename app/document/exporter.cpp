#include "app/document/exporter.h"

#include <utility>

namespace attnscope {

void Exporter::start(std::shared_ptr<const Trace> trace, Session session, ExportRequest request,
                     std::string folder) {
    if (running_) return;
    running_ = true;
    cancelled_ = false;
    done_ = count_ = 0;
    thread_ = std::jthread([this, trace = std::move(trace), session = std::move(session),
                            request = std::move(request), folder = std::move(folder)] {
        Outcome outcome;
        try {
            outcome.files =
                export_files(*trace, session, request, folder, [&](std::size_t done, std::size_t of) {
                    done_ = done;
                    count_ = of;
                    if (wake_) wake_();
                    return !cancelled_;
                });
            if (cancelled_)
                outcome.problem = "export cancelled after " + std::to_string(outcome.files.size()) + " files";
        } catch (const std::exception& error) {
            outcome.problem = error.what();
        }
        {
            const std::lock_guard lock(mutex_);
            outcome_ = std::move(outcome);
        }
        running_ = false;
        if (wake_) wake_();
    });
}

std::optional<Exporter::Outcome> Exporter::take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(outcome_, std::nullopt);
}

void Exporter::wait() {
    if (thread_.joinable()) thread_.join();
}

}  // namespace attnscope
