#include "app/document/surveyor.h"

#include <algorithm>
#include <iterator>

#include "app/document/readiness.h"
#include "core/error.h"
#include "core/mechanism/mechanisms.h"

namespace attnscope {

const Stage& surveyed_stage(const Trace& trace, const Presentation& presentation) {
    const Stage& focused = focused_stage(trace, presentation.stage);
    const StageInfo& info = *focused.info;
    const bool of_pairs = info.per_head && info.rows == Axis::query_token && info.columns == Axis::key_token;
    return of_pairs && info.unit != Unit::boolean ? focused : main_stage(trace);
}

std::vector<SurveyedHead> individual_heads(const Survey& survey) {
    std::vector<SurveyedHead> heads;
    std::ranges::copy_if(survey.heads, std::back_inserter(heads),
                         [](const SurveyedHead& each) { return each.at.head >= 0; });
    return heads;
}

Survey surveyed(SurveyRequest request, const Survey* before, const std::stop_token& cancel) {
    Survey survey{std::move(request), {}, ""};
    const std::shared_ptr<const Trace>& trace = survey.of.trace;
    const StageInfo* const stage = survey.of.stage;
    const HeadPosition& chosen = survey.of.chosen;
    const auto compare_pairs = [&] {
        // Of other numbers than weights, which may be negative, nothing is in common.
        if (!survey.of.pairs || survey.pairs || stage->unit != Unit::probability) return;
        const Matrix alike = similarities(individual_heads(survey), cancel);
        survey.pairs = drawable(alike, Matrix::Ones(alike.rows(), alike.cols()));
    };
    try {
        if (before && before->of.trace == trace && before->of.stage == stage && before->problem.empty()) {
            survey.heads = before->heads;
            survey.pairs = before->pairs;
            compare_with(survey.heads, chosen, cancel);
            compare_pairs();
            return survey;
        }
        survey.heads = survey_heads(*trace, *stage, cancel);
        for (const SurveyedHead& each : survey.heads) {
            stop_if_canceled(cancel);
            const HeadChoice head = each.at.head < 0 ? HeadChoice{HeadChoice::Kind::mean}
                                                     : HeadChoice{HeadChoice::Kind::one, each.at.head};
            make_ready(*trace, *each.stage, {head}, cancel);
        }
        compare_with(survey.heads, chosen, cancel);
        compare_pairs();
    } catch (const Canceled&) {
        throw;
    } catch (const std::exception& error) {
        survey.problem = problem_text(error, "for all heads");
    }
    return survey;
}

}  // namespace attnscope
