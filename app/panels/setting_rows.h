// The rows of the experiment panel: a label and the control that sets an option.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/document/desk.h"
#include "app/ui/widgets.h"
#include "core/experiment/option_section.h"

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

/// The header of a section: section_header() of app/ui.
inline bool section_header(const Ui& ui, OptionSection section, const std::string& derived) {
    return section_header(ui, name_of(section), derived);
}

/// Whether the option currently affects anything.
bool applies(const Desk& desk, std::string_view option);

/// Whether the section being drawn leaves a row out, which it then counts: one of an option that does not
/// apply, and has not been searched for, unless the section shows all of its rows.
bool leaves_out(Desk& desk, const Ui& ui, std::string_view option, const std::string& label,
                const std::string& why);
/// The line at the end of a section that names what was left out and shows it.
void left_out_line(Desk& desk, const Ui& ui);

/// A row with an option's label, symbol and help, and its control: calls `control` with the available width.
/// Right-click resets the option. If the option does not apply, the row is left out or disabled, and a
/// tooltip says why. `help` replaces the option's help where it has several rows.
void option_row(Desk& desk, const Ui& ui, std::string_view option, const char* label,
                const std::function<void(float width)>& control, std::string_view help = {});

void choice_row(Desk& desk, const Ui& ui, std::string_view option, const char* label,
                const std::vector<Choice>& choices);
void switch_row(Desk& desk, const Ui& ui, std::string_view option, const char* label, bool on);
void seed_row(Desk& desk, const Ui& ui, std::string_view option, const char* label, const Seed& seed);
/// The seed of some weights: shared or, in a row of its own, separate. `before` names what is drawn just
/// before them.
void weight_seed_row(Desk& desk, const Ui& ui, std::string_view option, const ProjectionSeed& seed,
                     const char* before);
/// A whole number that can be typed, or dragged along its valid values. `shown` is the field's text.
void whole_row(Desk& desk, const Ui& ui, std::string_view option, const char* label, const std::string& shown,
               float fill, const std::function<int(int steps)>& next);
/// A number dragged in steps of 1 from `least` to `most`.
void number_row(Desk& desk, const Ui& ui, std::string_view option, const char* label, double value,
                double least, double most);
/// A number dragged in steps of a tenth of its value.
void factor_row(Desk& desk, const Ui& ui, std::string_view option, const char* label, double value,
                float fill);
/// A number between 0 and `most`, dragged in steps of 0.01.
void share_row(Desk& desk, const Ui& ui, std::string_view option, const char* label, double value,
               double most);

/// The mask's rules and the custom mask.
void mask_section(Desk& desk, const Ui& ui);
/// The custom matrices.
void given_section(Desk& desk, const Ui& ui);

}  // namespace attnscope
