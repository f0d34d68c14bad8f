// The thread that finds the lines from queries to keys, so that the window need not wait.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/document/newest.h"
#include "core/picture/mass_lines.h"

namespace attnscope {

/// The lines of some heads of a stage of weights, from 0; −1: their mean.
struct LinesRequest {
    std::shared_ptr<const Trace> trace;
    StagePtr stage;
    std::vector<int> heads;
    double mass;
    bool operator==(const LinesRequest&) const = default;
};

struct FoundLines {
    LinesRequest of;
    MassLines lines;
    std::string problem;  ///< why they are not known; empty: they are
};

/// Finds the lines and caches the range of all heads. `before` is an earlier result, which is reused where it
/// holds. Throws Canceled.
FoundLines found_lines(LinesRequest request, const FoundLines* before, const std::stop_token& cancel);

class LineFinder : public Newest<LinesRequest, FoundLines> {
public:
    explicit LineFinder(std::function<void()> wake) : Newest(found_lines, std::move(wake)) {}
};

}  // namespace attnscope
