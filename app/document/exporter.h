// Writes files in the background, so that a long export never stops the window.
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

#include "core/io/export.h"

namespace attnscope {

class Exporter {
public:
    struct Outcome {
        std::vector<std::string> files;  ///< written
        std::string problem;             ///< empty: all of them
    };

    /// `wake` is called from the exporting thread when there is something new to show.
    explicit Exporter(std::function<void()> wake) : wake_(std::move(wake)) {}

    /// Stops the running export; the file in hand is given up.
    ~Exporter() { cancel(); }
    Exporter(const Exporter&) = delete;
    Exporter& operator=(const Exporter&) = delete;

    /// Starts an export of `trace` as `session` presents it; nothing happens while another one runs.
    void start(std::shared_ptr<const Trace> trace, Session session, ExportRequest request,
               std::string folder);
    bool running() const { return running_; }
    /// It runs since more than half a second: long enough to be shown.
    bool takes_long() const;
    /// The files that are whole stay, the one in hand is not written.
    void cancel() { cancelled_ = true; }
    std::size_t done() const { return done_; }
    std::size_t count() const { return count_; }
    /// Of all files, 0 … 1.
    double part() const { return part_; }
    /// The outcome of an export that ended since the last call.
    std::optional<Outcome> take();
    /// Waits for the running export; for tests.
    void wait();

private:
    bool keep_going(const ExportStep& step);

    std::function<void()> wake_;
    std::atomic<bool> running_ = false;
    std::atomic<bool> cancelled_ = false;
    std::atomic<std::size_t> done_ = 0;
    std::atomic<std::size_t> count_ = 0;
    std::atomic<double> part_ = 0;
    std::chrono::steady_clock::time_point started_;
    std::chrono::steady_clock::time_point woken_;  ///< the exporting thread's
    std::mutex mutex_;
    std::optional<Outcome> outcome_;
    std::jthread thread_;
};

}  // namespace attnscope
