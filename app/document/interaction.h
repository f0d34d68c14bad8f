// What the user is doing at the moment: pointing, zooming, filling in a dialog. None of it affects the
// numbers or is saved in a session.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/document/highlight.h"
#include "app/document/step_playback.h"
#include "app/document/tour.h"
#include "core/experiment/option_names.h"
#include "core/export/file_format.h"
#include "core/graph/head_scores.h"
#include "core/learn/unknown_words.h"

namespace attnscope {

struct Question;

/// A chip, as a query or as a key: one of the keys' sentence, or with Shift one of a single sentence.
struct PointedToken {
    int token;
    bool of_keys = false;
    bool operator==(const PointedToken&) const = default;
};

/// The visible part of the focused matrix. x and y are its center, as fractions of the matrix.
struct Zoom {
    double factor = 1;  ///< 1: the whole matrix
    double x = 0.5;
    double y = 0.5;
    bool operator==(const Zoom&) const = default;
};

/// What the heads of the view of heads are sorted by.
struct HeadsOrder {
    enum class By { layer, similarity, score } by = By::layer;
    HeadScore score = {};  ///< if by that
    bool operator==(const HeadsOrder&) const = default;
};

/// The heads whose lines are drawn, until another one is chosen.
struct DrawnHeads {
    HeadChoice chosen;            ///< when these were drawn
    int heads = 0;                ///< of the stage in focus
    std::vector<int> drawn = {};  ///< from 0; −1: the mean
};

/// The position of a sweep's playback: which value is shown.
struct SweepPlayback {
    int frame = 0;
    bool playing = false;
    float seconds = 0;  ///< since this frame was shown
};

/// A way to make a refused change possible: options to set together, and the label of the button.
struct Remedy {
    std::string label;
    std::vector<std::pair<OptionName, std::string>> options;  ///< names and texts
};

/// One line for the status bar.
struct Notice {
    std::string text;
    bool problem = false;
    std::optional<Remedy> remedy = {};
};

/// The words that the task does not know, and the text and experiment in which they were found.
struct CheckedWords {
    std::string text, words;
    std::vector<TextPart> unknown;
};

/// Where a token begins in a long text, and for which text and token that was found.
struct TokenPosition {
    std::string text;
    int token = 0;
    std::size_t byte = 0;
};

enum class Dialog {
    none,
    open,
    save,
    exporting,
    giving,
    history,
    keys,
    about,
    palette,
    find,
    gallery,
    parity
};

/// The state of the file dialogs.
struct FileForm {
    std::string folder;
    std::string name = {};
    std::string problem = {};
    bool picture = false;  ///< the opened file becomes the experiment's image
    int entry = 0;         ///< selected in the list; 0: the parent folder
};

/// The state of the export dialog.
struct ExportForm {
    enum class What { view, stage, all, film, curves };
    What what = What::stage;
    int frames = 24;  ///< of a film
    std::vector<FileFormat> formats = {FileFormat::png};
    Presentation presentation;  ///< for the exported pictures; the window has its own
    std::string folder;
    std::string problem;
    bool refocus = false;                 ///< gives the folder field the keyboard in the next frame
    bool confirms = false;                ///< asks whether to write that many files
    std::optional<FileForm> picker = {};  ///< of the folder, in place of the form while it is open
};

/// A setting whose control comes into sight.
struct RevealedSetting {
    std::string option;  ///< empty: none
    bool gets_keyboard = true;

    bool is_one_of(const std::vector<OptionName>& options) const;
    /// Whether it is this one, whose control now gets the keyboard; then none is left.
    bool take(OptionName of);
};

/// A file to be read in the background.
struct OpenRequest {
    std::string path;
    bool as_picture = false;  ///< even if the file contains a session
};

/// The state of the dialog for custom matrices.
struct CustomForm {
    std::string name = "scores";
    Matrix values;
    Cell selected;
    std::string file;
    std::string problem;
    bool reads_file = false;    ///< the file is to be read in the next frame
    bool applies_file = false;  ///< what is read is applied at once
    bool applying = false;      ///< waiting for the trace
    int idle_frames = 0;        ///< frames since applying in which nothing was being computed
    bool had_problem = false;   ///< the experiment had a problem before
};

/// The state of the dialog that lists the history.
struct HistoryForm {
    std::size_t entry = 0;                ///< selected in the list
    std::size_t present = 0;              ///< the current step when the entry was selected
    bool reveals = false;                 ///< brings the selected entry into sight
    std::uint64_t revision = 0;           ///< of the history whose texts these are
    std::vector<std::string> texts = {};  ///< of its steps; empty: not asked for yet
};

/// A brush stroke on the mask. Each frame adds the cells that the mouse passed. The experiment takes them
/// once the picture of the previous ones is there, as every change copies the mask.
struct MaskStroke {
    bool active = false;
    bool refused = false;  ///< began on a cell that painting cannot open, so it has no effect
    bool opens = false;    ///< whether it opens or closes cells
    Cell last;
    int count = 0;  ///< strokes so far; each is an undo step
    std::vector<Cell> cells = {};
    std::size_t taken = 0;  ///< how many of `cells` the experiment has taken
};

struct Interaction {
    // What is under the mouse is found while a frame is drawn, and highlighted in the next frame.
    std::optional<PointedCell> hovered;
    std::optional<PointedToken> hovered_token;  ///< the chip
    std::optional<PointedCell> pointing;
    std::optional<PointedToken> pointing_token;
    Zoom zoom;
    std::optional<PointedCell> cell_to_show;  ///< the next frame that has its stage in focus zooms to it
    std::optional<Region> in_sight;  ///< the visible part of the matrix in focus, if that is not all of it
    std::string found_text;          ///< what was found in the text last
    std::optional<PointedToken> found_token;  ///< the place that was gone to
    float strip_width = 0;                    ///< at that time
    std::optional<StageKey> stage_in_sight;   ///< the stage that the strip has scrolled to
    Dialog dialog = Dialog::none;
    bool dialog_opens = false;  ///< requested since the last frame
    Notice notice;
    ExportForm export_form;
    FileForm file_form;
    std::optional<OpenRequest> to_open;
    std::optional<Experiment> to_script;  ///< a step of a run, of which the script is to be copied
    bool copies_picture = false;          ///< the picture on screen is to be copied
    CustomForm custom_form;
    HistoryForm history_form;
    RevealedSetting reveal;
    const Question* asked = nullptr;  ///< whose settings were brought into sight
    std::string palette_text;
    int palette_entry = 0;  ///< index of the search result that Enter picks
    MaskStroke stroke;
    std::optional<Cell> edited_cell;            ///< cell of the focused stage that is being typed into
    std::array<CheckedWords, 2> checked_words;  ///< of the first sentence and the second
    std::array<TokenPosition, 2> in_text;       ///< of the first sentence and the second
    HeadsOrder heads_order;                     ///< of the view of heads
    DrawnHeads lines_of;                        ///< in the view of lines
    std::optional<Cell> locked_key;  ///< the locked cell if, in the view of lines, it stands for its key
    StepPlayback step_playback;      ///< of the view of steps
    SweepPlayback sweep_playback;    ///< of the view of sweeps
    bool whole_row = false;          ///< the inspector lists all of a long row, not the largest alone
    int task_sentences = 0;          ///< how many were asked for
    std::string control_label;       ///< of the row being drawn
    Tour tour;
    double interface_scale = 1;         ///< k_least_scale … k_largest_scale
    bool edit_sentence = false;         ///< gives the sentence the keyboard in the next frame
    bool edit_second_sentence = false;  ///< gives the second sentence the keyboard in the next frame
    bool second_sentence_open = false;  ///< shows the field even if it is empty
    std::string why_no_card;            ///< why the graphics card cannot be used; empty: it can
    bool choose_backend_again = false;  ///< even if it is the same one: a lost card may be back
    bool quit = false;
    int typing_run = 0;  ///< words typed so far; each is an undo step

    void open(Dialog which) {
        dialog = which;
        dialog_opens = true;
    }
};

/// The locked cell as mapped to the focused stage (same_cell), if that has it. A cell outside a matrix that
/// became smaller is kept, and returns when the matrix grows. Without a trace: the cell that is kept.
std::optional<Cell> locked_cell(const Presentation& presentation, const Trace* trace);

/// A cell and its stage. What a session locks lies in slot A.
struct HeldCell {
    const Stage* stage;
    Cell cell;
    SlotName slot = SlotName::live;
};
/// The cell that the inspector shows: the locked cell as mapped to the focused stage or, where that lacks its
/// row or column, in the stage where it was locked. nullopt where nothing is locked, or the trace lacks the
/// stage.
std::optional<HeldCell> held_cell(const Presentation& presentation, const Trace* trace);

/// What is highlighted: the chip or the cell under the mouse, else the locked cell.
Highlight current_highlight(const Interaction& interaction, const Presentation& presentation,
                            const Trace* trace);

}  // namespace attnscope
