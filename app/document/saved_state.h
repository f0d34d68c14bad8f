// What is saved between two runs: the session and the window's settings.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/graph/backend_kind.h"
#include "core/session/session.h"

namespace attnscope {

/// Limits of the interface scale; a window too small for it shows less.
inline constexpr double k_least_scale = 0.5, k_largest_scale = 4;

/// The narrowest and the widest that a side panel can be dragged to, at interface scale 1.
inline constexpr float k_narrowest_panel = 220, k_widest_panel = 520;

/// Which side panels are open, how wide they are at interface scale 1, and the sections of the experiment
/// panel.
struct PanelLayout {
    bool experiment_open = true, inspector_open = true;
    float experiment_width = 284, inspector_width = 336;
    std::set<std::string> folded_sections = {"Image", "Position", "Projections"};
    std::set<std::string> whole_sections = {};  ///< that also show the rows they leave out; not saved
    bool operator==(const PanelLayout&) const = default;
};

struct SavedState {
    Session session;
    std::string file;                       ///< the session's file; empty: it has none
    std::vector<std::string> recent_files;  ///< newest first
    int width = 1600, height = 1000;        ///< of the window, in screen coordinates
    double scale = 1;                       ///< of the interface, k_least_scale … k_largest_scale
    std::string export_folder;
    BackendWish backend = BackendWish::automatic;
    PanelLayout panels;
    bool toured = false;      ///< whether the tour was taken, or left
    std::string closed_note;  ///< the note that was closed; it stays closed until a session is opened

    bool operator==(const SavedState&) const = default;
};

/// $XDG_STATE_HOME/attnscope, or ~/.local/state/attnscope; "" if neither is known. A relative XDG_STATE_HOME
/// is ignored, as the XDG Base Directory Specification 0.8 requires.
std::string state_folder();

/// nullopt if there is no saved state. One that cannot be read counts as none, with the reason in `problem`,
/// and is renamed to *.unreadable if `may_set_aside`.
std::optional<SavedState> load_state(const std::string& folder, std::string& problem,
                                     bool may_set_aside = true);

/// The bytes of a part, a file of its own that a saved session refers to by name. Throws Error.
using ReadPart = std::function<std::string(const std::string& name)>;
/// The session of a state's session.json, also one that contains all its matrices and its picture. Throws as
/// session_from_json, read_part and the readers of matrices and pictures.
Session session_from_state(std::string_view text, std::string_view source, const ReadPart& read_part);
/// Sets all of the state but the session from a state's window.json; a field that is missing keeps its
/// value. Throws as json_from_text and leaves the state as it is.
void read_window(SavedState& state, std::string_view text, std::string_view source);

/// Loads all of the state but the session and its file, if it can be read.
void load_habits(const std::string& folder, SavedState& state);

/// Writes states into a private folder (0700, files 0600), which is created if missing. Pictures and matrices
/// of more than k_most_inline numbers are separate files in `parts`, named by their content; those that the
/// newest state does not refer to, and partial files of a killed process, are removed. If the process is
/// killed at any moment, either the previous or the new state is left.
class StateWriter {
public:
    static constexpr int k_most_inline = 1024;

    explicit StateWriter(std::string folder) : folder_(std::move(folder)) {}
    /// Writes a state. Throws Error(io).
    void write(const SavedState& state);

private:
    /// A file in `parts`, and its content.
    struct Part {
        std::variant<CustomMatrix, CustomImage> content;
        std::string file;
    };

    std::string part_of(const std::variant<CustomMatrix, CustomImage>& content);
    std::string session_text(Session session);
    void clear_away() const;

    std::string folder_;
    std::vector<Part> written_;  ///< parts of the previous state
    std::vector<Part> parts_;    ///< parts of the state being written
    std::string window_text_;    ///< window.json of the previous state
};

/// Moves the complete session of the last run to a file that can be opened later. Returns its path, or "" if
/// there is none. The session is no longer where the next start looks when it is read.
std::string set_session_aside(const std::string& folder);

/// Adds a file at the head of the recent ones, of which at most ten are kept.
void remember_file(SavedState& state, const std::string& file);

}  // namespace attnscope
