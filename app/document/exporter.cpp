#include "app/document/exporter.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"

namespace attnscope {
namespace {

constexpr std::chrono::milliseconds k_long_export{500};
/// Reporting progress more often would only cost frames.
constexpr std::chrono::milliseconds k_between_wakes{100};

}  // namespace

void Exporter::start(std::shared_ptr<const Trace> trace, Session session, ExportRequest request,
                     std::string folder) {
    // The picture embeds the session that it shows, even if that was changed since.
    session.experiment = trace->experiment;
    start([trace = std::move(trace), session = std::move(session), request = std::move(request),
           folder = std::move(folder)](const ExportProgress& progress) {
        return export_files(*trace, session, request, folder, progress);
    });
}

void Exporter::start(Job job) {
    if (running_) return;
    running_ = true;
    canceled_ = stopped_ = false;
    done_ = count_ = 0;
    part_ = 0;
    started_ = std::chrono::steady_clock::now();
    woken_ = {};
    thread_ = std::jthread([this, job = std::move(job)] {
        Outcome outcome;
        try {
            outcome.files = job([this](const ExportStep& step) { return keep_going(step); });
            if (stopped_)
                outcome.problem = fmt::format("export canceled after {} files", outcome.files.size());
        } catch (const std::exception& error) {
            outcome.problem = problem_text(error);
        }
        {
            const std::lock_guard lock(mutex_);
            outcome_ = std::move(outcome);
        }
        running_ = false;
        if (wake_) wake_();
    });
}

bool Exporter::keep_going(const ExportStep& step) {
    const bool next_file = count_ == 0 || done_ != step.done;
    done_ = step.done;
    count_ = step.of;
    part_ = (static_cast<double>(step.done) + step.part) / static_cast<double>(step.of);
    const auto now = std::chrono::steady_clock::now();
    if (wake_ && (next_file || now - woken_ >= k_between_wakes)) {
        woken_ = now;
        wake_();
    }
    stopped_ = canceled_.load();
    return !stopped_;
}

bool Exporter::takes_long() const {
    return running_ && std::chrono::steady_clock::now() - started_ >= k_long_export;
}

std::optional<Exporter::Outcome> Exporter::take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(outcome_, std::nullopt);
}

void Exporter::wait() {
    if (thread_.joinable()) thread_.join();
}

}  // namespace attnscope
