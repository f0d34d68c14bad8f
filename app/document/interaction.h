// What the person is doing right now: pointing, zooming, filling in a dialog. Nothing of it decides a number
// or is kept in a session.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/document/highlight.h"

namespace attnscope {

/// Which part of the focused matrix is on show. x and y are what stands in the middle, as fractions of the
/// matrix.
struct Zoom {
    double factor = 1;  ///< 1: the whole matrix
    double x = 0.5;
    double y = 0.5;
    bool operator==(const Zoom&) const = default;
};

/// One line for the status bar.
struct Notice {
    std::string text;
    bool problem = false;
};

enum class Dialog { none, open, save, exporting, keys, about, palette };

/// The export dialog as it is filled in.
struct ExportForm {
    bool all_stages = false;
    std::vector<std::string> formats = {"png"};
    Presentation presentation;  ///< how the pictures look; the window keeps its own
    std::string folder;
    std::string problem;
};

/// The file dialogs as they are filled in.
struct FileForm {
    std::string folder;
    std::string name;
    std::string problem;
    bool picture = false;  ///< what is opened becomes the experiment's image
};

/// A field that is being typed into or dragged.
struct FieldEdit {
    unsigned typing = 0;  ///< id of the field that is a text field for the moment; 0: none
    std::string text;
    bool begins = false;   ///< it takes the keyboard in this frame
    double travelled = 0;  ///< pixels of the running drag that are not yet steps
    int gestures = 0;      ///< drags so far, so that each is an undo step of its own
};

/// Which control the keyboard is on, and what it asks of it.
struct ControlFocus {
    unsigned id = 0;              ///< 0: none
    std::vector<unsigned> drawn;  ///< the controls of the newest frame, in order
    bool moved = false;           ///< to be brought into sight
    bool pressed = false;
    int steps = 0;

    /// To the next control (step 1) or the previous one (−1), around the ends.
    void move(int step);
};

struct Interaction {
    // What is under the mouse is found while a frame is drawn, and lit in the next one.
    std::optional<PointedCell> hovered;
    int hovered_token = -1;  ///< the chip
    std::optional<PointedCell> pointing;
    int pointing_token = -1;
    Zoom zoom;
    float strip_width = 0;       ///< when it did
    std::string stage_in_sight;  ///< the strip has scrolled to it
    Dialog dialog = Dialog::none;
    bool dialog_opens = false;  ///< it was asked for since the last frame
    Notice notice;
    ExportForm export_form;
    FileForm file_form;
    std::string palette_text;
    FieldEdit field;
    ControlFocus control;
    bool control_disabled = false;  ///< what is drawn now does not apply
    bool experiment_panel_open = true;
    bool inspector_open = true;
    float experiment_panel_width = 284;  ///< at interface scale 1
    float inspector_width = 336;
    double interface_scale = 1;  ///< 0.75 … 3
    bool edit_sentence = false;  ///< the sentence takes the keyboard in the next frame
    bool quit = false;
    int typing_run = 0;  ///< words typed so far; each is an undo step

    void open(Dialog which) {
        dialog = which;
        dialog_opens = true;
    }
};

/// What is lit: the chip or the cell under the mouse, else the locked cell of the focused stage.
Highlight current_highlight(const Interaction& interaction, const Presentation& presentation);

}  // namespace attnscope
