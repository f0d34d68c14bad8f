// What the person is doing right now: pointing, zooming, filling in a dialog. Nothing of it decides a number
// or is kept in a session.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/document/highlight.h"

namespace attnscope {

/// A chip of the sentence, or of the keys' one.
struct PointedToken {
    int token;
    bool of_keys = false;
    bool operator==(const PointedToken&) const = default;
};

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

enum class Dialog { none, open, save, exporting, giving, keys, about, palette, parity };

/// The export dialog as it is filled in.
struct ExportForm {
    enum class What { view, stage, all };
    What what = What::stage;
    std::vector<std::string> formats = {"png"};
    Presentation presentation;  ///< how the pictures look; the window keeps its own
    std::string folder;
    std::string problem;
    bool refocus = false;  ///< the folder takes the keyboard in the next frame
};

/// The file dialogs as they are filled in.
struct FileForm {
    std::string folder;
    std::string name;
    std::string problem;
    bool picture = false;  ///< what is opened becomes the experiment's image
    int entry = 0;         ///< of the list, that the keyboard is on; 0: the folder above
};

/// The dialog that gives a matrix as it is filled in.
struct GiveForm {
    std::string name = "scores";
    Matrix values;
    Cell selected;
    std::string file;
    std::string problem;
    bool applying = false;     ///< its trace is on the way
    int idle_frames = 0;       ///< since then, with nothing being computed
    bool had_problem = false;  ///< the experiment had one before
};

/// A mask being painted. A frame adds the cells that it passed; the experiment takes them when the picture of
/// those before is there, as each change of it copies the mask.
struct MaskStroke {
    bool active = false;
    bool refused = false;  ///< it began on a cell that painting cannot open, and does nothing
    bool opens = false;    ///< what it passes; else it closes
    Cell last;
    int count = 0;  ///< strokes so far, so that each is an undo step of its own
    std::vector<Cell> cells = {};
    std::size_t taken = 0;  ///< by the experiment, of `cells`
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
    bool on_grid = false;  ///< ↑ ↓ are its own too
    int steps_down = 0;
    unsigned behind = 0;  ///< the one to come back to when the dialog closes

    /// To the next control (step 1) or the previous one (−1), around the ends.
    void move(int step);
};

struct Interaction {
    // What is under the mouse is found while a frame is drawn, and lit in the next one.
    std::optional<PointedCell> hovered;
    std::optional<PointedToken> hovered_token;  ///< the chip
    std::optional<PointedCell> pointing;
    std::optional<PointedToken> pointing_token;
    Zoom zoom;
    float strip_width = 0;       ///< when it did
    std::string stage_in_sight;  ///< the strip has scrolled to it
    Dialog dialog = Dialog::none;
    bool dialog_opens = false;  ///< it was asked for since the last frame
    Notice notice;
    ExportForm export_form;
    FileForm file_form;
    GiveForm give_form;
    std::string palette_text;
    int palette_entry = 0;  ///< of what is found, that Enter takes
    FieldEdit field;
    MaskStroke stroke;
    std::optional<Cell> edited_cell;  ///< of the focused stage, that is a number field
    ControlFocus control;
    std::set<std::string> folded_sections;  ///< of the experiment panel
    std::string control_label;              ///< of the row that is drawn now
    bool control_disabled = false;          ///< what is drawn now does not apply
    bool experiment_panel_open = true;
    bool inspector_open = true;
    float experiment_panel_width = 284;  ///< at interface scale 1
    float inspector_width = 336;
    double interface_scale = 1;         ///< k_least_scale … k_largest_scale
    bool edit_sentence = false;         ///< the sentence takes the keyboard in the next frame
    bool edit_second_sentence = false;  ///< likewise
    bool second_sentence_open = false;  ///< its field is there, though it is empty
    std::string why_no_card;            ///< why the graphics card cannot compute; empty: it can
    bool choose_backend_again = false;  ///< also if it is the same one: a card that was lost may be back
    bool quit = false;
    int typing_run = 0;  ///< words typed so far; each is an undo step

    void open(Dialog which) {
        if (control.behind == 0) control.behind = control.id;
        control.id = 0;
        dialog = which;
        dialog_opens = true;
    }
};

/// The locked cell as it stands in the focused stage (same_cell), where that has it. One beyond a matrix that
/// became smaller is kept, and comes back with its place. Without a trace: the one that is kept.
std::optional<Cell> locked_cell(const Presentation& presentation, const Trace* trace);

/// A cell and the stage that it is of.
struct HeldCell {
    const Stage* stage;
    Cell cell;
};
/// What the inspector holds: the locked cell as it stands in the focused stage or, where that lacks its row
/// or its column, in the stage where it was locked. nullopt where nothing is locked, or the trace lacks it.
std::optional<HeldCell> held_cell(const Presentation& presentation, const Trace* trace);

/// What is lit: the chip or the cell under the mouse, else the locked cell.
Highlight current_highlight(const Interaction& interaction, const Presentation& presentation,
                            const Trace* trace);

}  // namespace attnscope
