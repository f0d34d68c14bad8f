// How long the card itself works.
#pragma once

#include <cstdint>

namespace attnscope {

/// Two points of the card's own clock (GL_TIMESTAMP: Mesa's software renderer says 0 for GL_TIME_ELAPSED of a
/// compute shader). On the device's thread only.
class GpuStopwatch {
public:
    GpuStopwatch();
    ~GpuStopwatch();
    GpuStopwatch(const GpuStopwatch&) = delete;
    GpuStopwatch& operator=(const GpuStopwatch&) = delete;

    /// Behind the commands so far.
    void start();
    void stop();
    /// From start() to stop(); waits until the card has come there.
    std::uint64_t nanoseconds() const;

private:
    std::uint32_t queries_[2];
};

}  // namespace attnscope
