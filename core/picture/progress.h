// How long work on a file tells how far it is, and is stopped.
#pragma once

#include <functional>

#include "core/attention/evaluate_options.h"

namespace attnscope {

/// Called now and then with the part that is done, 0 … 1, from the thread that works; must not throw.
/// Returning false stops the work, which then throws Cancelled.
using Progress = std::function<bool(double part)>;

/// Throws Cancelled if `progress` says so.
inline void report(const Progress& progress, double part) {
    if (progress && !progress(part)) throw Cancelled{};
}

/// The progress of a step that goes from `begin` to `end` of the whole. Refers to `whole`.
inline Progress step_of(const Progress& whole, double begin, double end) {
    if (!whole) return {};
    return [&whole, begin, end](double part) { return whole(begin + part * (end - begin)); };
}

}  // namespace attnscope
