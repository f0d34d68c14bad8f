// The graphics card for tests, for which Mesa's software renderer suffices.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "core/gpu/backend.h"

namespace attnscope::test {

/// One for the whole process; nullptr, and why, where there is no OpenGL 4.3. Each tensor has guards around
/// it.
inline GpuBackend* shared_gpu(std::string* why = nullptr) {
    static std::string reason;
    static const std::unique_ptr<GpuBackend> backend = []() -> std::unique_ptr<GpuBackend> {
        try {
            return std::make_unique<GpuBackend>(make_egl_context(true), GpuOptions{.guard = 64});
        } catch (const Error& error) {
            reason = error.what();
            return nullptr;
        }
    }();
    if (why) *why = reason;
    return backend.get();
}

/// The largest |a − b| and Σ(a − b)² ÷ Σb² of what is finite in both; what is not has to be equal.
struct Difference {
    double largest = 0;
    double squares = 0;
    double of = 0;
    bool same_kind = true;

    void add(double value, double truth) {
        if (!std::isfinite(truth) || !std::isfinite(value)) {
            same_kind = same_kind && (value == truth || (std::isnan(value) && std::isnan(truth)));
            return;
        }
        largest = std::max(largest, std::abs(value - truth));
        squares += (value - truth) * (value - truth);
        of += truth * truth;
    }
    double normalized() const { return of > 0 ? squares / of : squares; }
};

}  // namespace attnscope::test
