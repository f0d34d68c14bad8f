// The controls that panels are made of. None of them holds a value: each is given one and says what became of
// it.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/window/ui.h"
#include "core/error.h"
#include "core/io/options.h"

namespace attnscope {

/// What the keyboard asks of a control.
struct KeyboardUse {
    bool pressed = false;  ///< Enter or Space
    int steps = 0;         ///< the arrows; ten with Shift
    int steps_down = 0;    ///< likewise, of a grid
};

/// Makes the control that stands at `area` one that Tab reaches, outlined while the keyboard is on it. Call
/// it once for each control and frame, in the order of reading.
KeyboardUse keyboard_use(Ui& ui, unsigned id, const Area& area);
/// The same for a control whose cells the arrows go through, up and down too.
KeyboardUse grid_keyboard_use(Ui& ui, unsigned id, const Area& area);

/// A button, a box to tick and a dot to choose by, as ImGui draws them, which Tab reaches, too. True if it
/// was pressed; the box has turned over then.
bool push_button(Ui& ui, const char* label, float width = 0, bool enabled = true);
bool check_box(Ui& ui, const char* label, bool& on);
bool radio_button(Ui& ui, const char* label, bool on);
/// A line of text that takes the keyboard when Tab comes to it; true if Enter was pressed in it.
bool line_field(Ui& ui, const char* id, const char* hint, std::string& text);

/// One of several values, with what is shown for it.
struct Choice {
    std::string value;
    std::string shown;
    std::string help;
};

/// A drop-down list as wide as the next item; the new value if one was picked.
std::optional<std::string> choice_field(Ui& ui, const char* id, std::span<const Choice> choices,
                                        const std::string& current);

/// What became of a field that can be dragged and typed into.
struct DragResult {
    int steps = 0;                     ///< dragged in this frame, to the right positive
    std::optional<std::string> typed;  ///< entered with the keyboard
    std::string gesture;               ///< names the running drag, for the undo history
};

/// A field that shows `text`, is dragged sideways in steps, and typed into after a click. `fill` 0 … 1 shades
/// the part of its range; negative: none.
DragResult drag_field(Ui& ui, const char* id, const std::string& text, float fill, float width);

/// The text field that the control `id` is while it is typed into (begin_typing), and what was entered.
std::optional<std::string> typing_field(Ui& ui, unsigned id, float width);
void begin_typing(Ui& ui, unsigned id, const std::string& text);

/// A switch; true if it was pressed.
bool switch_field(Ui& ui, const char* id, bool on);

/// A button with a word or a symbol on it.
bool small_button(Ui& ui, const char* id, const std::string& label, const char* help, float width = 0);

/// A section's title in small capitals with its derived figure at the right. A click folds its rows away and
/// brings them back: true if they are to be drawn.
bool section_header(Ui& ui, std::string_view title, const std::string& derived);

/// Whether the option would change anything now.
bool applies(const Ui& ui, std::string_view option);

/// The label, the symbol and the help of one option, its reset on right-click, and the place for its control:
/// calls `control` with the width left for it. Where the option does not apply the row is disabled and says
/// why. `help` stands in for that of an option that has several rows.
void option_row(Ui& ui, std::string_view option, const char* label,
                const std::function<void(float width)>& control, std::string_view help = {});

/// What was wrong with an option's text, with the control's label in place of the flag that it is told of;
/// without a label, with the option's name in words.
std::string named_as(std::string_view option, const std::string& label, const Error& error);

/// Sets one option of the session from text; a value that is refused becomes the notice, and nothing changes.
void set_option(Ui& ui, std::string_view option, const std::string& text, const std::string& gesture = {});

/// The mouse button that was let go in this frame did not drag.
bool was_click();

/// The tooltip of the last item.
void tooltip(Ui& ui, const std::string& text);

}  // namespace attnscope
