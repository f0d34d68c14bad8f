// Runs that differ from another in one setting: what is not learned then?
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/experiment/experiment.h"

namespace attnscope {

/// A setting that can be left out of what is trained.
struct Variation {
    std::string_view name;                   ///< "no positions"
    std::string_view help;                   ///< what to look for
    std::optional<MechanismKind> mechanism;  ///< that has the setting; nullopt: all
    void (*apply)(Experiment& experiment);
};

std::span<const Variation> variations();
/// By its name; nullptr if there is none.
const Variation* find_variation(std::string_view name);

/// The run of `experiment`, varied, from the beginning: of the same seeds and sentences. nullopt where the
/// variation changes nothing of it, or leaves what cannot be computed.
std::optional<Experiment> varied(const Experiment& experiment, const Variation& variation);

}  // namespace attnscope
