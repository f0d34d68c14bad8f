#include "app/document/saved_state.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/gpu/choice.h"
#include "core/io/file.h"
#include "core/io/options.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_recent_files = 10;

fs::path session_file(const std::string& folder) { return fs::path(folder) / "session.json"; }
fs::path window_file(const std::string& folder) { return fs::path(folder) / "window.json"; }

void read_window(SavedState& kept, const std::string& text) {
    const Json json = Json::parse(text);
    SavedState state = kept;
    state.file = json.value("file", "");
    state.recent_files = json.value("recent_files", std::vector<std::string>{});
    state.width = std::clamp(json.value("width", state.width), 640, 16384);
    state.height = std::clamp(json.value("height", state.height), 480, 16384);
    state.scale = std::clamp(json.value("scale", state.scale), k_least_scale, k_largest_scale);
    state.export_folder = json.value("export_folder", "");
    state.closed_note = json.value("closed_note", "");
    state.backend = json.value("backend", state.backend);
    parse_backend(state.backend);
    kept = std::move(state);
}

std::string window_json(const SavedState& state) {
    const Json json = {{"file", state.file},
                       {"recent_files", state.recent_files},
                       {"width", state.width},
                       {"height", state.height},
                       {"scale", state.scale},
                       {"export_folder", state.export_folder},
                       {"closed_note", state.closed_note},
                       {"backend", state.backend}};
    return json.dump(2) + "\n";
}

/// Under a name of its own, so that nothing set aside before is lost. Returns that name.
std::string set_aside(const fs::path& file) {
    std::error_code error;
    std::string aside = file.string() + ".unreadable";
    for (int n = 2; fs::exists(aside, error); ++n) aside = file.string() + ".unreadable" + std::to_string(n);
    fs::rename(file, aside, error);
    return error ? file.string() : aside;
}

}  // namespace

std::string state_folder() {
    if (const char* xdg = std::getenv("XDG_STATE_HOME"); xdg && *xdg)
        return (fs::path(xdg) / "attnscope").string();
    if (const char* home = std::getenv("HOME"); home && *home)
        return (fs::path(home) / ".local/state/attnscope").string();
    return "";
}

std::optional<SavedState> load_state(const std::string& folder, std::string& problem) {
    std::error_code error_code;
    if (folder.empty() ||
        fs::symlink_status(session_file(folder), error_code).type() == fs::file_type::not_found)
        return std::nullopt;
    SavedState state;
    try {
        state.session = load_session(session_file(folder).string());
    } catch (const std::exception& error) {
        problem = "the last session could not be read and is kept as " + set_aside(session_file(folder)) +
                  ": " + error.what();
        return std::nullopt;
    }
    try {
        if (fs::exists(window_file(folder), error_code))
            read_window(state, read_file(window_file(folder).string()));
    } catch (const std::exception&) {
        set_aside(window_file(folder));  // only sizes and recent files are lost
    }
    return state;
}

void save_state(const std::string& folder, const SavedState& state) {
    std::error_code error;
    fs::create_directories(folder, error);
    write_file(session_file(folder).string(), to_json(state.session));
    write_file(window_file(folder).string(), window_json(state));
}

void remember_file(SavedState& state, const std::string& file) {
    std::erase(state.recent_files, file);
    state.recent_files.insert(state.recent_files.begin(), file);
    if (state.recent_files.size() > k_most_recent_files) state.recent_files.resize(k_most_recent_files);
}

}  // namespace attnscope
