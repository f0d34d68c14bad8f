// Which control has the keyboard, and what is typed into a field or dragged: the state of controls, of which
// none keeps its own.
#pragma once

#include <array>
#include <set>
#include <string>
#include <vector>

namespace attnscope {

/// A field that is being typed into or dragged.
struct FieldEdit {
    unsigned typing = 0;  ///< id of the field in typing mode; 0: none
    std::string text;
    bool begins = false;  ///< takes the keyboard in this frame
    double traveled = 0;  ///< pixels of the current drag not yet turned into steps
    int gestures = 0;     ///< drags so far; each is an undo step
};

/// A control of the newest frame, and where it stands.
struct DrawnControl {
    unsigned id = 0;
    std::array<float, 4> area{};  ///< left, top, right, bottom
};

/// The control that has the keyboard focus, and the keys pressed for it.
struct ControlFocus {
    unsigned id = 0;                  ///< 0: none
    std::vector<DrawnControl> drawn;  ///< in reading order
    bool moved = false;               ///< to be scrolled into view
    bool pressed = false;
    int steps = 0;
    bool on_grid = false;  ///< the control also uses ↑ and ↓
    int steps_down = 0;
    unsigned behind = 0;  ///< gets the focus back when the dialog closes

    /// Moves to the next control (step 1) or the previous one (−1), wrapping around.
    void move(int step);
    /// Gives the focus up until the dialog that opens now is closed.
    void leave_for_dialog();
};

/// A section of the experiment panel while it is drawn.
struct DrawnSection {
    struct LeftOutRow {
        std::string label, why;
    };
    std::string name;                  ///< empty: none is drawn
    std::vector<LeftOutRow> left_out;  ///< rows that do not apply, or are off and rarely needed
};

struct Controls {
    FieldEdit field;
    ControlFocus focus;
    std::string lit;  ///< name of the control that the tour points at; empty: none
    std::array<float, 4>
        lit_area{};          ///< where it stands in this frame: left, top, right, bottom; 0: not drawn
    bool disabled = false;   ///< the row being drawn does not apply
    bool explained = false;  ///< a tooltip is shown in this frame
    std::array<float, 4> rests_over{};  ///< what help_over() explains: left, top, right, bottom
    float rested = 0;                   ///< seconds that the pointer has been there
    bool awaits_help = false;           ///< the pointer rests on a control whose help is about to appear
    DrawnSection section;
    std::set<std::string>* folded_sections = nullptr;  ///< of the experiment panel
    std::set<std::string>* whole_sections = nullptr;   ///< sections that also show the rows they leave out
};

}  // namespace attnscope
