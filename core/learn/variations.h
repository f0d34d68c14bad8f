// Runs that differ from another in one setting, to see what is then not learned.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/experiment/experiment.h"

namespace attnscope {

/// A change of one setting of a run, and what it shows.
struct Variation {
    std::string_view name;                   ///< "no positions"
    std::string_view help;                   ///< what to look for
    std::optional<MechanismKind> mechanism;  ///< that has the setting; nullopt: all
    void (*apply)(Experiment& experiment);
};

std::span<const Variation> variations();
/// The variation of this name; nullptr if there is none.
const Variation* find_variation(std::string_view name);

/// The experiment at the start of the varied run, with the same seeds and sentences. nullopt where the
/// variation changes nothing, or leaves what cannot be computed.
std::optional<Experiment> varied(const Experiment& experiment, const Variation& variation);

}  // namespace attnscope
