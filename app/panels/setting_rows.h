// The rows of the experiment panel: a label, a control, and the option that they set.
#pragma once

#include <string>
#include <vector>

#include "app/window/widgets.h"

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
/// Where some weights' generator starts, and a row for their own seed where they have one. `before` is what
/// is drawn before them.
void weight_seed_row(Ui& ui, std::string_view option, const ProjectionSeed& seed, const char* before);
/// A whole number that is dragged along the values that are possible, and typed. `shown` stands in the field.
void whole_row(Ui& ui, std::string_view option, const char* label, const std::string& shown, float fill,
               const std::function<int(int steps)>& next);
/// A number that is dragged by ones from `least` to `most`.
void number_row(Ui& ui, std::string_view option, const char* label, double value, double least, double most);
/// A number that is dragged by tenths of its size.
void factor_row(Ui& ui, std::string_view option, const char* label, double value, float fill);
/// A number that is dragged by hundredths between 0 and `most`.
void share_row(Ui& ui, std::string_view option, const char* label, double value, double most);

/// The mask's rules, and the mask that is given.
void mask_section(Ui& ui);
/// Matrices given outright.
void given_section(Ui& ui);

}  // namespace attnscope
