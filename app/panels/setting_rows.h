// The rows of the experiment panel: a label and the control that sets an option.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/document/desk.h"
#include "app/ui/widgets.h"
#include "core/session/options.h"

namespace attnscope {

/// Whether the option currently affects anything.
bool applies(const Desk& desk, OptionName name);

/// Whether the section being drawn leaves a row out, which it then counts: one of an option that does not
/// apply, and has not been searched for, unless the section shows all of its rows.
bool leaves_out(Desk& desk, const Ui& ui, std::string_view option, const std::string& label,
                const std::string& why);
/// The line at the end of a section that names what was left out and shows it.
void left_out_line(const Ui& ui);

/// The rows of an option, as its `control` says.
void setting_rows(Desk& desk, const Ui& ui, const Option& option);

// Rows of one kind, of which those that are drawn in a way of their own are made
// -----------------------------------------------------------------------------------------------------

/// What a row says in place of its option's label and help, where an option has several; empty: these.
struct RowWords {
    std::string label = {};
    std::string help = {};
    bool is_off = false;  ///< one of several, which does nothing as it is set
};

/// A row with an option's label, symbol and help, and its control: calls `control` with the available width.
/// Right-click resets the option. If the option does not apply, the row is left out or disabled, and a
/// tooltip says why.
void option_row(Desk& desk, const Ui& ui, const Option& option,
                const std::function<void(float width)>& control, const RowWords& words = {});

/// Text that is typed; `set` is called with what was entered.
void text_row(Desk& desk, const Ui& ui, const Option& option,
              const std::function<void(const std::string& typed)>& set);
/// A whole number that can be typed, or dragged along its valid values: `next` is the value so many steps
/// further. `shown` is the field's text, and of the field's width the share `fill` is filled.
void whole_row(Desk& desk, const Ui& ui, const Option& option, const std::string& shown, float fill,
               const std::function<int(int steps)>& next);
/// A number dragged in steps of 1 from `least` to `most`.
void number_row(Desk& desk, const Ui& ui, const Option& option, double least, double most);
/// A number dragged in steps of a twentieth of its value.
void factor_row(Desk& desk, const Ui& ui, const Option& option, double value, float fill,
                const RowWords& words = {});

/// The share of its logarithm in that of the largest value.
float logarithmic_fill(int value, int most);

}  // namespace attnscope
