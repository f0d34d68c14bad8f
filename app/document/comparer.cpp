#include "app/document/comparer.h"

#include <algorithm>
#include <utility>

#include "app/document/readiness.h"
#include "core/canceled.h"
#include "core/error.h"

namespace attnscope {

Comparison compared(ComparisonRequest request, const Comparison* before, const std::stop_token& cancel) {
    Comparison comparison{std::move(request), {}, nullptr, ""};
    const auto& [a, b, key] = comparison.of;
    try {
        if (std::optional<Difference> found = difference(a, b, key, cancel)) {
            make_ready(*found->values, 0);
            make_ready(*found->open, 0);
            comparison.difference = std::make_shared<const Difference>(std::move(*found));
        }
        comparison.stages = before && before->problem.empty() && before->of.a == a && before->of.b == b
                                ? before->stages
                                : compare_stages(a, b, cancel);
    } catch (const Canceled&) {
        throw;
    } catch (const std::exception& error) {
        comparison.problem = problem_text(error, "to compare");
    }
    return comparison;
}

const StageComparison* Comparison::first_difference() const {
    const auto found = std::ranges::find_if(stages, &StageComparison::differs);
    return found == stages.end() ? nullptr : &*found;
}

}  // namespace attnscope
