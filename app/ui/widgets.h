// The controls that panels are made of. None of them stores a value: each is passed one and returns what
// changed.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/ui/ui.h"

namespace attnscope {

/// What the keyboard does to a control.
struct KeyboardUse {
    bool pressed = false;  ///< Enter or Space
    int steps = 0;         ///< by the arrows; ten with Shift
    int steps_down = 0;    ///< by ↑ and ↓, for a grid
};

/// Makes the control at `area` reachable by Tab, and outlines it while it has the keyboard focus. Call once
/// per control and frame, in reading order.
KeyboardUse keyboard_use(const Ui& ui, unsigned id, const Area& area);
/// Makes a grid reachable by Tab, whose cells all four arrows go through.
KeyboardUse grid_keyboard_use(const Ui& ui, unsigned id, const Area& area);

/// Gives the keyboard to a control.
void give_keyboard(const Ui& ui, unsigned id);
/// Gives it to the first of the controls drawn since there were `drawn`; false if none was.
bool give_keyboard_since(const Ui& ui, std::size_t drawn);

/// A button, a check box and a radio button as ImGui draws them, but reachable by Tab, each with a tooltip.
/// True if pressed; the check box then has its new value.
bool push_button(const Ui& ui, const char* label, const char* help, float width = 0, bool enabled = true);
bool check_box(const Ui& ui, const char* label, const std::string& help, bool& on);
bool radio_button(const Ui& ui, const char* label, const char* help, bool on);
/// A text field with a tooltip that takes the keyboard when Tab reaches it; true if Enter was pressed in it.
bool line_field(const Ui& ui, const char* id, const char* hint, const char* help, std::string& text);

/// One of several values, and its label.
struct Choice {
    std::string value;
    std::string shown;
    std::string help;
};

/// A drop-down list as wide as the next item; returns the new value if one was picked.
std::optional<std::string> choice_field(const Ui& ui, const char* id, std::span<const Choice> choices,
                                        const std::string& current);

/// The result of a field that can be dragged and typed into.
struct DragResult {
    int steps = 0;                     ///< dragged in this frame; positive to the right
    std::optional<std::string> typed;  ///< entered with the keyboard
    std::string gesture;               ///< identifies the current drag, for the undo history
};

/// A field that shows `text`, can be dragged sideways in steps, and typed into after a click. `fill` (0 … 1)
/// shades that part of its range; negative: none.
DragResult drag_field(const Ui& ui, const char* id, const std::string& text, float fill, float width);

/// The text field that replaces control `id` in typing mode (begin_typing); returns what was entered.
std::optional<std::string> typing_field(const Ui& ui, unsigned id, float width);
void begin_typing(const Ui& ui, unsigned id, const std::string& text);

/// A switch; true if it was pressed.
bool switch_field(const Ui& ui, const char* id, bool on);

/// A button labeled with a word or a symbol.
bool small_button(const Ui& ui, const char* id, const std::string& label, const char* help, float width = 0);

/// A section's title in small capitals with a derived figure at the right. A click folds or unfolds the rows;
/// returns true if they are to be drawn.
bool section_header(const Ui& ui, std::string_view title, const std::string& derived);

/// Whether the mouse button released in this frame ended a click rather than a drag.
bool was_click();

/// Sets the tooltip of the last item.
void tooltip(const Ui& ui, const std::string& text);
/// Sets the tooltip of what is drawn at an area without an item of its own, such as a number; it appears when
/// the pointer has rested there for half a second.
void help_over(const Ui& ui, const Area& area, const std::string& text);
/// Draws a text at its left end, cut at `width`; a cut text is shown whole while the pointer rests on it.
/// Returns the width drawn.
float draw_fitted(const Ui& ui, ImFont* font, ImVec2 at, Rgb8 color, const std::string& text, float width);
/// Sets the tooltip of an item that is clicked or dragged: it appears when the pointer has rested on the item
/// for half a second, out of the way of what the person is about to do.
void help_at_rest(const Ui& ui, const std::string& text);

}  // namespace attnscope
