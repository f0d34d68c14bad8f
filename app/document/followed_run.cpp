#include "app/document/followed_run.h"

#include <utility>

namespace attnscope {

const TrainingProgress& FollowedRun::known() const {
    static const TrainingProgress nothing_yet;
    return progress_.run == begun_ ? progress_ : nothing_yet;
}

bool FollowedRun::has(const Experiment& experiment) const {
    return begun_ > 0 && can_be_trained(experiment) && are_of_one_run(start_, experiment);
}

void FollowedRun::begin(const Experiment& experiment) {
    const bool could_not_begin = !known().parameters && !known().problem.empty();
    if (has(experiment) && !could_not_begin) return;
    start_ = untrained(experiment);
    begun_ = trainer_.begin(start_);
}

Experiment FollowedRun::at_its_step(Experiment shown) const {
    if (!has(shown) || !known().parameters) return untrained(std::move(shown));
    return with_step(std::move(shown), known().start, *known().parameters, known().step);
}

}  // namespace attnscope
