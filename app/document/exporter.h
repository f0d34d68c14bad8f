// Writes files in the background, so that a long export does not block the window.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/export/export.h"

namespace attnscope {

class Exporter {
public:
    struct Outcome {
        std::vector<std::string> files;  ///< that were written
        std::string problem;             ///< why the export stopped; empty: all files were written
    };

    /// `wake` is called from the exporting thread when there is progress to show.
    explicit Exporter(std::function<void()> wake) : wake_(std::move(wake)) {}

    /// Cancels the running export; the current file is discarded.
    ~Exporter() { cancel(); }
    Exporter(const Exporter&) = delete;
    Exporter& operator=(const Exporter&) = delete;

    /// Writes files, says how far it is, and returns the paths; it stops where its progress says so.
    using Job = std::function<std::vector<std::string>(const ExportProgress& progress)>;

    /// Starts a job; does nothing while another one runs.
    void start(Job job);
    /// Starts an export of `trace` as `session` presents it.
    void start(std::shared_ptr<const Trace> trace, Session session, ExportRequest request,
               std::string folder);
    bool running() const { return running_; }
    /// Whether it has run for more than half a second, long enough to show progress.
    bool takes_long() const;
    /// Completed files stay; the current file is discarded.
    void cancel() { canceled_ = true; }
    std::size_t done() const { return done_; }
    std::size_t count() const { return count_; }
    /// Progress over all files, 0 … 1.
    double part() const { return part_; }
    /// The outcome of an export that ended since the last call.
    std::optional<Outcome> take();
    /// Waits for the running export; for tests.
    void wait();

private:
    bool keep_going(const ExportStep& step);

    std::function<void()> wake_;
    std::atomic<bool> running_ = false;
    std::atomic<bool> canceled_ = false;
    std::atomic<std::size_t> done_ = 0;
    std::atomic<std::size_t> count_ = 0;
    std::atomic<double> part_ = 0;
    std::chrono::steady_clock::time_point started_;
    std::chrono::steady_clock::time_point woken_;  ///< used by one working thread at a time
    bool stopped_ = false;                         ///< by cancel(); used as woken_ is
    std::mutex mutex_;
    std::optional<Outcome> outcome_;
    std::jthread thread_;
};

}  // namespace attnscope
