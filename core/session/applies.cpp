#include "core/session/applies.h"

#include "core/mechanism/mechanisms.h"

namespace attnscope {

std::string why_unused(const Option& option, const Experiment& experiment) {
    return option.in_experiment() ? mechanism_of(experiment).why_unused(option.name, experiment) : "";
}

}  // namespace attnscope
