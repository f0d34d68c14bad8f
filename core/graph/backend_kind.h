// The backends by name: what computed a trace, and what a person asks for.
#pragma once

#include "core/choice.h"

namespace attnscope {

/// What computed a trace; `gpu` with help from the CPU.
enum class BackendKind { cpu, gpu };
constexpr auto choice_names(BackendKind) {
    using enum BackendKind;
    return std::to_array<ChoiceName<BackendKind>>({{cpu, "cpu"}, {gpu, "gpu"}});
}

/// What a person asks for; `automatic` is the faster one.
enum class BackendWish { automatic, cpu, gpu };
constexpr auto choice_names(BackendWish) {
    using enum BackendWish;
    return std::to_array<ChoiceName<BackendWish>>({{automatic, "auto"}, {cpu, "cpu"}, {gpu, "gpu"}});
}

}  // namespace attnscope
