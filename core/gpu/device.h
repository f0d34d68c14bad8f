// The graphics card: the thread that owns its OpenGL context, and the properties of its driver.
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

/// Properties that the driver reports.
struct GpuInfo {
    int version = 0;  ///< 43 means OpenGL 4.3
    std::string renderer;
    bool is_software = false;         ///< a software renderer on the CPU
    std::size_t block_bytes = 0;      ///< largest storage block that a shader can bind
    std::size_t block_alignment = 0;  ///< required alignment of a storage block in its buffer, in bytes
    std::size_t shared_bytes = 0;     ///< shared memory of a work group
    int group_size = 0;               ///< maximum invocations in a work group
};

/// Runs work on a thread of its own, on which the context is current, one piece at a time.
class GpuDevice {
public:
    /// Throws Error(backend) below OpenGL 4.3, naming the version found.
    explicit GpuDevice(std::unique_ptr<GlContext> context);
    ~GpuDevice();
    GpuDevice(const GpuDevice&) = delete;
    GpuDevice& operator=(const GpuDevice&) = delete;

    const GpuInfo& info() const { return info_; }
    /// Bytes of the card's memory that are free now; 0 if it has none of its own or does not report it. On
    /// the device's thread.
    std::size_t free_memory() const;
    /// Whether a check() has found that the card was reset.
    bool is_lost() const { return is_lost_; }

    /// Runs `work` on the device's thread and waits for it; rethrows its exception. Not from the device's
    /// thread.
    void run(const std::function<void()>& work);
    /// Runs `work` as run() does, but ahead of the queue, and during a long run() at its next pause().
    void run_soon(const std::function<void()>& work);
    /// Runs `work` later, without waiting: for what a destructor has to free.
    void post(std::function<void()> work);
    /// Runs urgent work between two dispatches of a long run. On the device's thread.
    void pause();

    /// Throws Error(backend) if the card was reset or the driver has reported errors since the last call. On
    /// the device's thread.
    void check();
    /// Discards the driver's errors so far, as they are known and harmless. On the device's thread.
    void forgive();

private:
    struct State;
    void loop();
    void ask(std::deque<std::function<void()>>& queue, const std::function<void()>& work);
    bool do_next(std::deque<std::function<void()>>& queue, std::unique_lock<std::mutex>& lock);

    std::unique_ptr<GlContext> context_;
    GpuInfo info_;
    std::unique_ptr<State> state_;  ///< owned by the thread
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> soon_, later_;
    bool ending_ = false;
    std::atomic<bool> is_lost_ = false;
    std::thread thread_;
};

}  // namespace attnscope
