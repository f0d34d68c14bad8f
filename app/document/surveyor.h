// The thread that scores every head (core/graph/head_scores.h), so that the window need not wait.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/document/newest.h"
#include "core/graph/head_scores.h"
#include "core/picture/difference.h"
#include "core/picture/presentation.h"

namespace attnscope {

/// The heads of a stage, in all layers, and the one that the others are compared with.
struct SurveyRequest {
    std::shared_ptr<const Trace> trace;
    const StageInfo* stage;
    HeadPosition chosen;
    bool pairs = false;  ///< also how alike any two heads are
    bool operator==(const SurveyRequest&) const = default;
};

struct Survey {
    SurveyRequest of;
    std::vector<SurveyedHead> heads;
    std::string problem;  ///< why they are not known; empty: they are
    std::shared_ptr<const Difference> pairs =
        nullptr;  ///< similarities() of individual_heads(), if asked for
};

/// The heads of a survey without the means over heads.
std::vector<SurveyedHead> individual_heads(const Survey& survey);

/// Scores every head and caches what drawing all of them asks for. `before` is an earlier survey, whose
/// scores are reused if it is of the same trace. Throws Canceled.
Survey surveyed(SurveyRequest request, const Survey* before, const std::stop_token& cancel);

/// The stage whose heads are surveyed: the one in focus, if it has heads and holds a number for each query
/// and key, else the main stage.
const Stage& surveyed_stage(const Trace& trace, const Presentation& presentation);

class Surveyor : public Newest<SurveyRequest, Survey> {
public:
    explicit Surveyor(std::function<void()> wake) : Newest(surveyed, std::move(wake)) {}
};

}  // namespace attnscope
