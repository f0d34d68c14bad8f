// What is kept between two runs: the session as it was left, and the window's habits.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/io/session.h"

namespace attnscope {

/// What the interface may be scaled by; a window that is too small for it shows less.
inline constexpr double k_least_scale = 0.5, k_largest_scale = 4;

struct SavedState {
    Session session;
    std::string file;                       ///< that the session was opened from or saved to
    std::vector<std::string> recent_files;  ///< newest first
    int width = 1600, height = 1000;        ///< of the window, in screen coordinates
    double scale = 1;                       ///< of the interface, k_least_scale … k_largest_scale
    std::string export_folder;
    std::string backend = "auto";  ///< what is to compute: a word of parse_backend
    std::string closed_note;       ///< the note that was closed, and stays so until a session is opened

    bool operator==(const SavedState&) const = default;
};

/// $XDG_STATE_HOME/attnscope, or ~/.local/state/attnscope; "" if neither is known. A relative
/// XDG_STATE_HOME is ignored, as the XDG Base Directory Specification 0.8 says.
std::string state_folder();

/// Nothing if there is no saved state; a state that cannot be read counts as none, with the reason in
/// `problem`, and is kept beside as *.unreadable if `may_set_aside`.
std::optional<SavedState> load_state(const std::string& folder, std::string& problem,
                                     bool may_set_aside = true);

/// All of the state but the session and its file, where it can be read.
void load_habits(const std::string& folder, SavedState& state);

/// Writes states into a folder that is its owner's alone (0700, files 0600) and is made if needed. Pictures
/// and matrices of more than k_most_inline numbers stand in files of their own in `parts`, named by their
/// content; what the newest state does not refer to, and what a process that was killed left half written, is
/// removed. Killed at any moment, it leaves the state before or the new one.
class StateWriter {
public:
    static constexpr int k_most_inline = 1024;

    explicit StateWriter(std::string folder) : folder_(std::move(folder)) {}
    /// Throws Error(io).
    void write(const SavedState& state);

private:
    /// A file in `parts`, and what it holds.
    struct Part {
        std::variant<GivenMatrix, GivenImage> content;
        std::string file;
    };

    std::string part_of(const std::variant<GivenMatrix, GivenImage>& content);
    std::string session_text(Session session);
    void clear_away() const;

    std::string folder_;
    std::vector<Part> written_;  ///< of the state before
    std::vector<Part> parts_;    ///< of the one being written
    std::string window_text_;    ///< of the state before
};

/// Puts the session of the last run aside, whole, as a file to open; returns its path, or "" if there is
/// none. It is read only when it no longer stands where the next start looks.
std::string set_session_aside(const std::string& folder);

/// Puts a file at the head of the recent ones, at most ten.
void remember_file(SavedState& state, const std::string& file);

}  // namespace attnscope
