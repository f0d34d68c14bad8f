// The graphics card for tests, for which Mesa's software renderer suffices.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/gpu/backend.h"
#include "core/gpu/values.h"

namespace attnscope::test {

inline constexpr std::size_t k_guard = 64;
inline constexpr float k_guard_number = -1234.5f;

/// Room with numbers before and after the tensor that every shader may see and none may change.
inline GpuRoom guarded_room(std::size_t numbers) {
    auto storage = std::make_shared<gl::Storage>(numbers + 2 * k_guard);
    const std::vector<float> guard(k_guard, k_guard_number);
    storage->write(0, guard);
    storage->write(k_guard + numbers, guard);
    return {.storage = std::move(storage), .first = k_guard, .numbers = numbers, .reach = k_guard};
}

/// Whether the numbers around a tensor in guarded_room() are as they were.
inline bool guards_are_whole(const GpuValues& values) {
    const GpuMatrices matrices = values.matrices();
    std::vector<float> before(k_guard), after(k_guard);
    values.device()->run_soon([&] {
        matrices.storage->read(matrices.first - k_guard, before);
        matrices.storage->read(matrices.first + matrices.shape.size(), after);
    });
    const auto is_guard = [](float number) { return number == k_guard_number; };
    return std::ranges::all_of(before, is_guard) && std::ranges::all_of(after, is_guard);
}

/// One for the whole process; nullptr, and why, where there is no OpenGL 4.3. Each tensor has guards around
/// it.
inline GpuBackend* shared_gpu(std::string* why = nullptr) {
    static std::string reason;
    static const std::shared_ptr<GpuBackend> backend = []() -> std::shared_ptr<GpuBackend> {
        try {
            return std::make_shared<GpuBackend>(make_egl_context(true), GpuOptions{.allocate = guarded_room});
        } catch (const Error& error) {
            reason = error.what();
            return nullptr;
        }
    }();
    if (why) *why = reason;
    return backend.get();
}

/// The largest |a − b| and Σ(a − b)² ÷ Σb² of what is finite in both; what is not has to be equal.
struct Discrepancy {
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
