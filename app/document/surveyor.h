// The thread that finds out what every head does, so that the window never waits.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/document/newest.h"
#include "core/graph/head_scores.h"
#include "core/picture/presentation.h"

namespace attnscope {

/// The heads of a stage, in all layers, and the one that the others are compared with.
struct SurveyRequest {
    std::shared_ptr<const Trace> trace;
    const StageInfo* stage;
    HeadPosition chosen;
    bool operator==(const SurveyRequest&) const = default;
};

struct Survey {
    SurveyRequest of;
    std::vector<SurveyedHead> heads;
    std::string problem;  ///< why they are not known; empty: they are
};

/// Also finds out what drawing all of them needs. `before` is an earlier survey, whose scores hold for the
/// same trace.
Survey surveyed(SurveyRequest request, const Survey* before, const std::stop_token& cancel);

/// The stage whose heads are surveyed: the one in focus, if it has heads and holds a number for each query
/// and key, else the main stage.
const Stage& surveyed_stage(const Trace& trace, const Presentation& presentation);

class Surveyor : public Newest<SurveyRequest, Survey> {
public:
    explicit Surveyor(std::function<void()> wake) : Newest(surveyed, std::move(wake)) {}
};

}  // namespace attnscope
