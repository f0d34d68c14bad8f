// What is kept between two runs: the session as it was left, and the window's habits.
#pragma once

#include <optional>
#include <string>
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

/// $XDG_STATE_HOME/attnscope, or ~/.local/state/attnscope; "" if neither is known.
std::string state_folder();

/// Nothing if there is no saved state; a state that cannot be read counts as none, with the reason in
/// `problem`, and is kept beside as *.unreadable.
std::optional<SavedState> load_state(const std::string& folder, std::string& problem);
/// Creates the folder if needed. Throws Error(io).
void save_state(const std::string& folder, const SavedState& state);

/// Puts a file at the head of the recent ones, at most ten.
void remember_file(SavedState& state, const std::string& file);

}  // namespace attnscope
