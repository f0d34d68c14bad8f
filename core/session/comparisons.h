// Changes that are worth a comparison with what was shown before.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/experiment/option_names.h"
#include "core/session/session.h"

namespace attnscope {

/// A setting that a comparison needs.
struct NeededSetting {
    OptionName option;
    std::string_view value;
};

/// What a person has to do before steps of training are compared.
inline constexpr std::string_view k_train_first =
    "choose a task and press Play first, or open a learned example";

/// One change, and the question that the comparison answers.
struct ComparisonPreset {
    std::string_view name;  ///< "no scaling"
    std::string_view help;  ///< one line: what to look at
    OptionName option;      ///< whose value it changes
    /// Changes a session. It may leave it as it is, or throw Error(bad_input), where it does not apply.
    void (*change)(Session& session);
    std::span<const NeededSetting> needs = {};  ///< where it does not apply, it does with these
    std::string_view lacks =
        {};  ///< where it does not apply: what a person has to do first, if no setting helps
};

/// Comparisons that no change of settings makes: with half the steps of the training run, and of the GPU with
/// the CPU.
inline constexpr std::string_view k_half_the_steps = "half the steps", k_the_cpu = "the CPU";

/// Every preset, in the order of the computation.
std::span<const ComparisonPreset> comparison_presets();
/// nullptr for an unknown name.
const ComparisonPreset* find_comparison_preset(std::string_view name);

/// What a session shows, to be pinned.
Pinned pinned(const Session& session);
/// The session after the change, with what it showed before pinned; nullopt if nothing of what is shown would
/// change.
std::optional<Session> with_preset(const Session& session, const ComparisonPreset& preset);
/// The session once it has what the preset needs; nullopt if that does not help.
std::optional<Session> with_needs(const Session& session, const ComparisonPreset& preset);
/// The session as with_preset changes it, if need be after with_needs; nullopt if neither helps.
std::optional<Session> with_preset_and_needs(const Session& session, const ComparisonPreset& preset);

/// A comparison that is offered.
struct OfferedComparison {
    const ComparisonPreset* preset;
    std::string needs;  ///< "heads to 2": what is set first; empty: nothing
    std::string lacks;  ///< what a person has to do first; empty: it can be chosen
    bool operator==(const OfferedComparison&) const = default;
};
/// The comparisons that would change what is shown, then those that need something first.
std::vector<OfferedComparison> offered_comparisons(const Session& session);

/// The session with what is pinned and what is live exchanged; unchanged if nothing is pinned.
Session exchanged(Session session);

/// A setting in which two experiments differ, with both values as text.
struct SettingDifference {
    OptionName option;
    std::string a, b;
};
/// "Temperature 1.0 → 2.0"; of long values the new one alone, of custom matrices their names.
std::string change_text(const SettingDifference& difference);
/// The settings in which the session and what it pins differ, the head and the layer included, in the order
/// of the table of settings; of custom matrices, the names of those that differ.
std::vector<SettingDifference> setting_differences(const Session& session);

}  // namespace attnscope
