// How long the card itself works.
#pragma once

#include <cstdint>

namespace attnscope {

/// Two readings of the card's own clock (GL_TIMESTAMP: Mesa's software renderer reports 0 for GL_TIME_ELAPSED
/// of a compute shader). For the device's thread only.
class GpuStopwatch {
public:
    GpuStopwatch();
    ~GpuStopwatch();
    GpuStopwatch(const GpuStopwatch&) = delete;
    GpuStopwatch& operator=(const GpuStopwatch&) = delete;

    /// Records the time after the commands issued so far.
    void start();
    void stop();
    /// The time from start() to stop(); waits until the card has reached stop().
    std::uint64_t nanoseconds() const;

private:
    std::uint32_t queries_[2];
};

}  // namespace attnscope
