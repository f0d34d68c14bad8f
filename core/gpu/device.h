// The graphics card: one thread that its OpenGL context belongs to, and what is known of it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/gpu/context.h"

namespace attnscope {

/// What the driver says of itself.
struct GpuInfo {
    int version = 0;  ///< 43 is OpenGL 4.3
    std::string renderer;
    bool is_software = false;         ///< it computes on the processor
    std::size_t block_bytes = 0;      ///< of one storage block that a shader sees
    std::size_t block_alignment = 0;  ///< bytes, of where such a block begins in a buffer
    std::size_t shared_bytes = 0;     ///< of a work group
    int group_size = 0;               ///< invocations in a work group
};

/// Runs work on a thread of its own, where the context is current, one piece after the other.
class GpuDevice {
public:
    /// Throws Error(backend) below OpenGL 4.3, saying what there is.
    explicit GpuDevice(std::unique_ptr<GlContext> context);
    ~GpuDevice();
    GpuDevice(const GpuDevice&) = delete;
    GpuDevice& operator=(const GpuDevice&) = delete;

    const GpuInfo& info() const { return info_; }
    /// Bytes of the card's own memory that are free now; 0 if it has none or does not say. On the device's
    /// thread.
    std::size_t free_memory() const;
    /// Since a check() found that the card was reset.
    bool is_lost() const { return is_lost_; }

    /// Runs `work` there and waits for it; throws what it throws. Not from the device's own thread.
    void run(const std::function<void()>& work);
    /// The same, but before what is queued, and within a long run() at its next pause().
    void run_soon(const std::function<void()>& work);
    /// Some time later, without waiting: what a destructor has to free.
    void post(std::function<void()> work);
    /// On the device's thread: between two dispatches of a long run. Does what is asked for soon.
    void pause();

    /// That the card was reset, or whatever the driver has complained of since the last call, as
    /// Error(backend). On the device's thread.
    void check();
    /// Whatever it has complained of so far is known and no error. On the device's thread.
    void forgive();

private:
    struct State;
    void loop();
    void ask(std::deque<std::function<void()>>& queue, const std::function<void()>& work);
    bool do_next(std::deque<std::function<void()>>& queue, std::unique_lock<std::mutex>& lock);

    std::unique_ptr<GlContext> context_;
    GpuInfo info_;
    std::unique_ptr<State> state_;  ///< of the thread
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> soon_, later_;
    bool ending_ = false;
    std::atomic<bool> is_lost_ = false;
    std::thread thread_;
};

}  // namespace attnscope
