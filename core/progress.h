// How long work on a file reports its progress and is canceled.
#pragma once

#include <functional>

#include "core/canceled.h"

namespace attnscope {

/// Called now and then with the fraction done, 0 … 1, by one of the working threads at a time; must not
/// throw. Returning false stops the work, which then throws Canceled.
using Progress = std::function<bool(double part)>;

/// Throws Canceled if `progress` requests it.
inline void report(const Progress& progress, double part) {
    if (progress && !progress(part)) throw Canceled{};
}

/// The progress of a step from `begin` to `end` of the whole. Refers to `whole`.
inline Progress step_of(const Progress& whole, double begin, double end) {
    if (!whole) return {};
    return [&whole, begin, end](double part) { return whole(begin + part * (end - begin)); };
}

}  // namespace attnscope
