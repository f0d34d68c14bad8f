// The dialogs that open and save files.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "app/actions/files.h"
#include "app/panels/dialog_parts.h"
#include "core/error.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

struct Entry {
    std::string name;
    bool folder;
};

/// Whether a list shows only folders or also the files that can be opened.
enum class Listed { folders, files };

std::vector<Entry> entries_of(const std::string& folder, Listed listed) {
    std::vector<Entry> entries;
    std::error_code error;
    for (fs::directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
         it != end && !error; it.increment(error)) {
        const std::string name = it->path().filename().string();
        if (name.starts_with(".")) continue;
        std::error_code ignored;
        const bool is_folder = it->is_directory(ignored);
        const bool fits = listed == Listed::files && can_be_opened(it->path());
        if (is_folder || fits) entries.push_back({name, is_folder});
    }
    std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
        return a.folder != b.folder ? a.folder : a.name < b.name;
    });
    return entries;
}

void enter(FileForm& form, const fs::path& folder) {
    form.folder = folder.string();
    form.entry = 0;
}

/// Moves through the list with ↑ and ↓ (`count` entries below the parent folder); true if the selection
/// moved.
bool walk_list(FileForm& form, const KeyboardUse& keys, const std::vector<Entry>& entries) {
    const int last = static_cast<int>(entries.size());
    form.entry = std::clamp(form.entry + keys.steps_down, 0, last);
    if (keys.steps_down == 0 || form.entry == 0) return keys.steps_down != 0;
    const Entry& entry = entries[static_cast<std::size_t>(form.entry - 1)];
    if (!entry.folder) form.name = entry.name;
    return true;
}

/// The folder's contents; true if a file was double-clicked or Enter was pressed on it.
bool file_list(const Ui& ui, FileForm& form, Listed listed) {
    bool chosen = false;
    const std::vector<Entry> entries = entries_of(form.folder, listed);
    const unsigned own = ImGui::GetID("list");
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = dialog_width(ui), height = list_height(ui, 240);
    const KeyboardUse keys = grid_keyboard_use(ui, own, {at, {at.x + width, at.y + height}});
    const bool walked = walk_list(form, keys, entries), on_list = ui.controls.focus.id == own;
    ImGui::BeginChild("files", {width, height}, true);
    // Draws an entry; true if it was picked.
    const auto line = [&](int index, const std::string& shown, bool named) {
        const bool here = on_list && form.entry == index;
        const bool clicked =
            ImGui::Selectable(shown.c_str(), on_list ? here : named, ImGuiSelectableFlags_AllowDoubleClick);
        if (here && walked) ImGui::SetScrollHereY();
        if (clicked) form.entry = index;
        return clicked || (here && keys.pressed);
    };
    if (line(0, "..", false)) enter(form, fs::path(form.folder).parent_path());
    int index = 0;
    for (const Entry& entry : entries) {
        if (!line(++index, entry.folder ? entry.name + "/" : entry.name, entry.name == form.name)) continue;
        if (entry.folder) {
            enter(form, fs::path(form.folder) / entry.name);
        } else {
            form.name = entry.name;
            chosen = keys.pressed || ImGui::IsMouseDoubleClicked(0);
        }
    }
    ImGui::EndChild();
    return chosen;
}

}  // namespace

std::optional<std::string> folder_picker(const Ui& ui, FileForm& form, bool& closed) {
    row(ui, "Folder",
        [&] { line_field(ui, "##picked", "", "The folder whose folders are listed", form.folder); });
    file_list(ui, form, Listed::folders);
    problem_line(ui, form.problem);
    const bool chosen = push_button(ui, "Use this folder", "Writes into this folder", ui.px(150));
    ImGui::SameLine();
    closed = push_button(ui, "Back", "Keeps the folder as it was", ui.px(110));
    if (!chosen) return std::nullopt;
    std::error_code error;
    if (fs::is_directory(form.folder, error)) return form.folder;
    form.problem = form.folder + " is not a folder";
    return std::nullopt;
}

void file_dialog(Desk& desk, const Ui& ui, ActionContext& context, bool saving) {
    FileForm& form = desk.state.file_form;
    if (desk.state.dialog_opens) {
        form.problem.clear();
        form.entry = 0;
        if (form.folder.empty()) form.folder = home_folder();
        if (saving)
            form.name = desk.document.file().empty() ? "session.json"
                                                     : fs::path(desk.document.file()).filename().string();
    }
    row(ui, "Folder",
        [&] { line_field(ui, "##folder", "", "The folder whose files are listed", form.folder); });
    const bool chosen = file_list(ui, form, Listed::files);
    if (desk.state.dialog_opens) ImGui::SetKeyboardFocusHere();
    bool entered = false;
    row(ui, "File", [&] {
        entered = line_field(ui, "##name", "", saving ? "The file to write" : "The file to open", form.name);
    });
    if (saving) {
        const char* tensors = "a name in .safetensors keeps the custom matrices as tensors";
        ImGui::TextDisabled("%s", fitted(ImGui::GetFont(), tensors, dialog_width(ui)).c_str());
    }
    problem_line(ui, form.problem);
    const bool pressed = push_button(ui, saving ? "Save" : "Open",
                                     saving ? "Writes the session" : "Opens the file", ui.px(110));
    ImGui::SameLine();
    if (push_button(ui, "Cancel", "Closes this without a file", ui.px(110))) {
        desk.state.dialog = Dialog::none;
        desk.opener.cancel();
    }
    if (!pressed && !entered && !chosen) return;
    const std::string path = (fs::path(form.folder) / form.name).string();
    form.problem.clear();
    if (!saving) {
        desk.state.to_open = OpenRequest{path, form.picture};
        return;
    }
    try {
        save_file(context, path);
        desk.state.dialog = Dialog::none;
    } catch (const std::exception& error) {
        form.problem = problem_text(error);
    }
}

}  // namespace attnscope
