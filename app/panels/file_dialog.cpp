// Opening and saving.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "app/panels/dialog_parts.h"

#include <imgui_stdlib.h>

namespace attnscope {
namespace {

namespace fs = std::filesystem;

struct Entry {
    std::string name;
    bool folder;
};

std::vector<Entry> entries_of(const std::string& folder) {
    std::vector<Entry> entries;
    std::error_code error;
    for (fs::directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
         it != end && !error; it.increment(error)) {
        const std::string name = it->path().filename().string();
        if (name.starts_with(".")) continue;
        std::error_code ignored;
        const bool is_folder = it->is_directory(ignored);
        if (is_folder || can_be_opened(it->path())) entries.push_back({name, is_folder});
    }
    std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
        return a.folder != b.folder ? a.folder : a.name < b.name;
    });
    return entries;
}

/// The folder's contents; true if a file was double-clicked.
bool file_list(Ui& ui, FileForm& form) {
    bool chosen = false;
    ImGui::BeginChild("files", {dialog_width(ui), list_height(ui, 240)}, true);
    if (ImGui::Selectable("..")) form.folder = fs::path(form.folder).parent_path().string();
    for (const Entry& entry : entries_of(form.folder)) {
        const std::string shown = entry.folder ? entry.name + "/" : entry.name;
        if (!ImGui::Selectable(shown.c_str(), entry.name == form.name, ImGuiSelectableFlags_AllowDoubleClick))
            continue;
        if (entry.folder)
            form.folder = (fs::path(form.folder) / entry.name).string();
        else
            form.name = entry.name;
        chosen = !entry.folder && ImGui::IsMouseDoubleClicked(0);
    }
    ImGui::EndChild();
    return chosen;
}

}  // namespace

void file_dialog(Ui& ui, ActionContext& context, bool saving) {
    FileForm& form = ui.state.file_form;
    if (ui.state.dialog_opens) {
        form.problem.clear();
        if (form.folder.empty()) form.folder = home_folder();
        if (saving)
            form.name = ui.document.file().empty() ? "session.json"
                                                   : fs::path(ui.document.file()).filename().string();
    }
    row(ui, "Folder", [&] { ImGui::InputText("##folder", &form.folder); });
    const bool chosen = file_list(ui, form);
    if (ui.state.dialog_opens) ImGui::SetKeyboardFocusHere();
    bool entered = false;
    row(ui, "File",
        [&] { entered = ImGui::InputText("##name", &form.name, ImGuiInputTextFlags_EnterReturnsTrue); });
    problem_line(ui, form.problem);
    const bool pressed = ImGui::Button(saving ? "Save" : "Open", {ui.px(110), 0});
    ImGui::SameLine();
    if (ImGui::Button("Cancel", {ui.px(110), 0})) ui.state.dialog = Dialog::none;
    if (!pressed && !entered && !chosen) return;
    try {
        const std::string path = (fs::path(form.folder) / form.name).string();
        if (saving)
            save_file(context, path);
        else if (form.picture)
            open_picture(context, path);
        else
            open_file(context, path);
        ui.state.dialog = Dialog::none;
    } catch (const std::exception& error) {
        form.problem = error.what();
    }
}

}  // namespace attnscope
