// The thread that evaluates the experiment for each value of a setting (core/session/sweep.h), so that the
// window never waits.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/document/newest.h"
#include "core/picture/compose.h"
#include "core/picture/spread.h"
#include "core/session/session.h"

namespace attnscope {

struct SweepRequest {
    Session session;  ///< with the stage and the head that are shown
    Sweep sweep;
    int count;
    bool operator==(const SweepRequest&) const = default;
};

/// How many values the window computes: more seeds, whose mean tells a pattern from chance, unless their
/// traces are large.
inline constexpr int k_swept_values = 9, k_swept_seeds = 32;
inline int swept_count(Sweep sweep) { return sweep == Sweep::seed ? k_swept_seeds : k_swept_values; }

struct SweptFrame {
    std::string value;  ///< of the setting, as typed
    SheetFrame shown;
};

struct SweptValues {
    SweepRequest of;
    std::vector<SweptFrame> frames;
    std::optional<Spread> spread;  ///< nullopt where functions are swept, or the frames have different shapes
    /// The mean and the deviation to draw, open where any frame is.
    std::shared_ptr<const Difference> mean, deviation;
    std::string problem;  ///< why there are no frames; empty: there are
};

/// Throws Canceled.
SweptValues swept_values(SweepRequest request, const SweptValues* before, const std::stop_token& cancel);

class Sweeper : public Newest<SweepRequest, SweptValues> {
public:
    explicit Sweeper(std::function<void()> wake) : Newest(swept_values, std::move(wake)) {}
};

}  // namespace attnscope
