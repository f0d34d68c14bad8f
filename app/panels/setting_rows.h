// The rows of the experiment panel: a label and the control that sets an option.
#pragma once

#include <string>
#include <vector>

#include "app/ui/widgets.h"

namespace attnscope {

/// The entries of a table as choices.
template <typename Table>
std::vector<Choice> choices_of(const Table& table) {
    std::vector<Choice> rows;
    for (const auto& entry : table) {
        const std::string name(name_of(entry.choice));
        rows.push_back({name, name, std::string(entry.summary)});
    }
    return rows;
}

/// All values of an enum as choices, each with its help.
template <typename E, std::size_t N>
std::vector<Choice> choices_of(const char* const (&help)[N]) {
    static_assert(N == choices<E>().size());
    std::vector<Choice> rows;
    for (const auto& [value, name] : choices<E>())
        rows.push_back({std::string(name), std::string(name), help[rows.size()]});
    return rows;
}

void choice_row(Ui& ui, std::string_view option, const char* label, const std::vector<Choice>& choices);
void switch_row(Ui& ui, std::string_view option, const char* label, bool on);
void seed_row(Ui& ui, std::string_view option, const char* label, const Seed& seed);
/// The seed of some weights: shared or, in a row of its own, separate. `before` names what is drawn just
/// before them.
void weight_seed_row(Ui& ui, std::string_view option, const ProjectionSeed& seed, const char* before);
/// A whole number that can be typed, or dragged along its valid values. `shown` is the field's text.
void whole_row(Ui& ui, std::string_view option, const char* label, const std::string& shown, float fill,
               const std::function<int(int steps)>& next);
/// A number dragged in steps of 1 from `least` to `most`.
void number_row(Ui& ui, std::string_view option, const char* label, double value, double least, double most);
/// A number dragged in steps of a tenth of its value.
void factor_row(Ui& ui, std::string_view option, const char* label, double value, float fill);
/// A number between 0 and `most`, dragged in steps of 0.01.
void share_row(Ui& ui, std::string_view option, const char* label, double value, double most);

/// The mask's rules and the painted mask.
void mask_section(Ui& ui);
/// The custom matrices.
void given_section(Ui& ui);

}  // namespace attnscope
