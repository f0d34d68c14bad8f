#include <algorithm>
#include <filesystem>

#include "app/panels/panels.h"
#include "app/window/widgets.h"
#include "core/io/export.h"
#include "core/picture/colormap.h"
#include "core/picture/theme.h"

#include <imgui_stdlib.h>

namespace attnscope {
namespace {

namespace fs = std::filesystem;

constexpr float k_label_width = 110;

std::string home_folder() {
    std::error_code error;
    const fs::path here = fs::current_path(error);
    return error ? "/" : here.string();
}

void problem_line(Ui& ui, const std::string& problem) {
    if (problem.empty()) return;
    ImGui::PushStyleColor(ImGuiCol_Text, ink(ui.theme.warning));
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + ui.px(440));
    ImGui::TextUnformatted(problem.c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
}

/// A label, and the control beside it.
template <typename Control>
void row(Ui& ui, const char* label, const Control& control) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(label);
    ImGui::SameLine(ui.px(k_label_width));
    ImGui::SetNextItemWidth(ui.px(330));
    ImGui::PushID(label);
    control();
    ImGui::PopID();
}

// Opening and saving
// --------------------------------------------------------------------------------------------

bool can_be_opened(const fs::path& path) {
    const std::string extension = path.extension().string();
    return extension == ".json" || extension == ".png" || extension == ".svg" || extension == ".txt";
}

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
    ImGui::BeginChild("files", {ui.px(440), ui.px(240)}, true);
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
        else
            open_file(context, path);
        ui.state.dialog = Dialog::none;
    } catch (const std::exception& error) {
        form.problem = error.what();
    }
}

// Exporting
// -----------------------------------------------------------------------------------------------------

void form_option(ExportForm& form, std::string_view option, const std::string& value) {
    Session session{{}, form.presentation, {}};
    try {
        set_from_text(session, *find_option(option), value);
        form.presentation = session.presentation;
        form.problem.clear();
    } catch (const std::exception& error) {
        form.problem = error.what();
    }
}

void form_choice(Ui& ui, const char* label, std::string_view option, const std::vector<Choice>& choices) {
    ExportForm& form = ui.state.export_form;
    row(ui, label, [&] {
        const std::string current = text_of(Session{{}, form.presentation, {}}, *find_option(option));
        if (const auto picked = choice_field(ui, "##choice", choices, current))
            form_option(form, option, *picked);
    });
}

template <typename Table>
std::vector<Choice> names_of(const Table& table) {
    std::vector<Choice> choices;
    for (const auto& entry : table) choices.push_back({std::string(entry.name), std::string(entry.name), ""});
    return choices;
}

void what_to_export(Ui& ui) {
    ExportForm& form = ui.state.export_form;
    row(ui, "Stages", [&] {
        const std::string focused = ui.document.presentation().stage;
        if (ImGui::RadioButton(focused.c_str(), !form.all_stages)) form.all_stages = false;
        ImGui::SameLine();
        if (ImGui::RadioButton("all stages", form.all_stages)) form.all_stages = true;
    });
    const int heads = ui.document.trace()->experiment.heads;
    if (heads > 1) {
        std::vector<Choice> choices = {{"all", "all heads", ""}, {"mean", "mean of the heads", ""}};
        for (int h = 1; h <= heads; ++h)
            choices.push_back({std::to_string(h), "head " + std::to_string(h), ""});
        form_choice(ui, "Heads", "head", choices);
    }
    row(ui, "Formats", [&] {
        for (const ExportFormat& format : export_formats()) {
            const std::string name(format.name);
            const auto at = std::ranges::find(form.formats, name);
            bool on = at != form.formats.end();
            if (ImGui::Checkbox(name.c_str(), &on)) {
                if (on)
                    form.formats.push_back(name);
                else
                    form.formats.erase(at);
            }
            tooltip(ui, std::string(format.summary));
            ImGui::SameLine();
        }
        ImGui::NewLine();
    });
}

void how_pictures_look(Ui& ui) {
    ExportForm& form = ui.state.export_form;
    row(ui, "Title", [&] {
        ImGui::InputTextWithHint("##title", "the stage's name and formula", &form.presentation.title);
    });
    row(ui, "Cell size", [&] {
        const DragResult result =
            drag_field(ui, "size", std::to_string(form.presentation.cell_size) + " px", -1, ui.px(110));
        if (result.steps)
            form_option(form, "cell-size",
                        std::to_string(std::clamp(form.presentation.cell_size + result.steps, 1, 512)));
        if (result.typed) form_option(form, "cell-size", result.typed->substr(0, result.typed->find(' ')));
        ImGui::SameLine();
        ImGui::Checkbox("values in the cells", &form.presentation.values);
    });
    form_choice(ui, "Theme", "theme", names_of(themes()));
    std::vector<Choice> maps;
    for (const Colormap& map : colormaps())
        if (!map.diverging) maps.push_back({std::string(map.name), std::string(map.name), ""});
    form_choice(ui, "Colours", "colormap", maps);
}

ExportRequest request_of(const Ui& ui) {
    const ExportForm& form = ui.state.export_form;
    return {form.all_stages ? std::vector<std::string>{}
                            : std::vector<std::string>{ui.document.presentation().stage},
            form.presentation.head, form.formats};
}

/// "writes weights.png and 3 more", or why it cannot.
std::string what_will_be_written(Ui& ui, bool& possible) {
    possible = false;
    try {
        const auto items = plan_export(*ui.document.trace(), request_of(ui));
        if (items.empty()) return "choose a format";
        possible = true;
        return "writes " + items.front().file_name +
               (items.size() > 1 ? " and " + std::to_string(items.size() - 1) + " more" : "");
    } catch (const std::exception& error) {
        return error.what();
    }
}

void running_export(Ui& ui) {
    const std::string files =
        std::to_string(ui.exporter.done()) + " of " + std::to_string(ui.exporter.count()) + " files";
    ImGui::ProgressBar(static_cast<float>(ui.exporter.part()), {ui.px(440), 0}, files.c_str());
    if (ImGui::Button("Cancel", {ui.px(110), 0})) ui.exporter.cancel();
    tooltip(ui, "Files that are written stay");
    ImGui::SameLine();
    if (ImGui::Button("Hide", {ui.px(110), 0})) ui.state.dialog = Dialog::none;
    tooltip(ui, "It goes on; the status bar shows how far it is");
}

void export_form(Ui& ui) {
    ExportForm& form = ui.state.export_form;
    what_to_export(ui);
    how_pictures_look(ui);
    bool entered = false;
    row(ui, "Folder", [&] {
        if (ui.state.dialog_opens) ImGui::SetKeyboardFocusHere();
        entered = ImGui::InputText("##folder", &form.folder, ImGuiInputTextFlags_EnterReturnsTrue);
    });
    bool possible = false;
    const std::string summary = what_will_be_written(ui, possible);
    ImGui::TextDisabled("%s", summary.c_str());
    problem_line(ui, form.problem);
    ImGui::BeginDisabled(!possible);
    const bool pressed = ImGui::Button("Export", {ui.px(110), 0});
    ImGui::EndDisabled();
    ImGui::SameLine();
    if (ImGui::Button("Cancel", {ui.px(110), 0})) ui.state.dialog = Dialog::none;
    if (!possible || (!pressed && !entered)) return;
    form.problem.clear();
    ui.saved.export_folder = form.folder;
    Session session = ui.document.session();
    session.presentation = form.presentation;
    ui.exporter.start(ui.document.trace(), std::move(session), request_of(ui), form.folder);
}

void export_dialog(Ui& ui) {
    ExportForm& form = ui.state.export_form;
    if (ui.state.dialog_opens) {
        form.presentation = ui.document.presentation();
        form.problem.clear();
        form.folder = ui.saved.export_folder.empty() ? home_folder() : ui.saved.export_folder;
    }
    if (ui.exporter.takes_long()) return running_export(ui);
    // What takes shorter would only flicker.
    ImGui::BeginDisabled(ui.exporter.running());
    export_form(ui);
    ImGui::EndDisabled();
}

// Help
// ----------------------------------------------------------------------------------------------------------

void keys_dialog(Ui& ui) {
    if (ImGui::BeginTable("keys", 2, ImGuiTableFlags_RowBg)) {
        ImGui::TableSetupColumn("what", ImGuiTableColumnFlags_WidthFixed, ui.px(300));
        for (const Action& action : actions()) {
            if (action.shortcut.key == Key::none) continue;
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(action.title.data(), action.title.data() + action.title.size());
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(shortcut_text(action.shortcut).c_str());
        }
        ImGui::EndTable();
    }
    ImGui::TextDisabled(
        "Wheel and drag zoom and pan the matrix; click locks a cell;\nright-click resets a setting; click "
        "types a number, dragging steps it.");
    if (ImGui::Button("Close", {ui.px(110), 0})) ui.state.dialog = Dialog::none;
}

void about_dialog(Ui& ui) {
    ImGui::TextUnformatted("attnscope " ATTNSCOPE_VERSION);
    ImGui::TextDisabled(
        "An instrument for looking into the attention mechanism.\nMIT licence. Fonts: Inter, JetBrains Mono "
        "(OFL), DejaVu.");
    if (ImGui::Button("Close", {ui.px(110), 0})) ui.state.dialog = Dialog::none;
}

bool matches(std::string_view title, const std::string& text) {
    const auto equal = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    };
    return std::ranges::search(title, text, equal).begin() != title.end() || text.empty();
}

void palette_dialog(Ui& ui, ActionContext& context) {
    if (ui.state.dialog_opens) {
        ui.state.palette_text.clear();
        ImGui::SetKeyboardFocusHere();
    }
    ImGui::SetNextItemWidth(ui.px(440));
    const bool entered = ImGui::InputTextWithHint("##palette", "Search actions", &ui.state.palette_text,
                                                  ImGuiInputTextFlags_EnterReturnsTrue);
    const Action* chosen = nullptr;
    const Action* first = nullptr;
    ImGui::BeginChild("found", {ui.px(440), ui.px(300)});
    for (const Action& action : actions()) {
        if (action.menu.empty() || !action.enabled(context) || !matches(action.title, ui.state.palette_text))
            continue;
        if (!first) first = &action;
        const std::string title(action.title);
        if (ImGui::Selectable(title.c_str(), first == &action)) chosen = &action;
        ImGui::SameLine(ui.px(330));
        ImGui::TextDisabled("%s", shortcut_text(action.shortcut).c_str());
    }
    ImGui::EndChild();
    if (entered) chosen = first;
    if (!chosen) return;
    ui.state.dialog = Dialog::none;
    run_action(*chosen, context);
}

const char* title_of(Dialog dialog) {
    switch (dialog) {
        case Dialog::open: return "Open";
        case Dialog::save: return "Save as";
        case Dialog::exporting: return "Export";
        case Dialog::keys: return "Keys";
        case Dialog::about: return "About";
        case Dialog::palette: return "Search actions";
        case Dialog::none: break;
    }
    return "";
}

void contents(Ui& ui, ActionContext& context) {
    switch (ui.state.dialog) {
        case Dialog::open: return file_dialog(ui, context, false);
        case Dialog::save: return file_dialog(ui, context, true);
        case Dialog::exporting: return export_dialog(ui);
        case Dialog::keys: return keys_dialog(ui);
        case Dialog::about: return about_dialog(ui);
        case Dialog::palette: return palette_dialog(ui, context);
        case Dialog::none: return;
    }
}

void take_export(Ui& ui) {
    const auto outcome = ui.exporter.take();
    if (!outcome) return;
    if (!outcome->problem.empty()) {
        ui.state.export_form.problem = outcome->problem;
        ui.state.notice = {outcome->problem, true};
        return;
    }
    if (ui.state.dialog == Dialog::exporting) ui.state.dialog = Dialog::none;
    const auto& files = outcome->files;
    ui.state.notice = {"wrote " + files.front() +
                           (files.size() > 1 ? " and " + std::to_string(files.size() - 1) + " more" : ""),
                       false};
}

}  // namespace

void dialogs(Ui& ui, ActionContext& context) {
    take_export(ui);
    if (ui.state.dialog == Dialog::none) return;
    const Dialog shown = ui.state.dialog;
    const std::string id = std::string(title_of(shown)) + "##dialog";
    if (ui.state.dialog_opens) ImGui::OpenPopup(id.c_str());
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({screen.x / 2, screen.y * 0.45f}, ImGuiCond_Always, {0.5f, 0.5f});
    // Fields stand out against the dialog as they do against a panel.
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 1);
    for (const ImGuiCol part : {ImGuiCol_FrameBg, ImGuiCol_Button})
        ImGui::PushStyleColor(part, ink(ui.theme.background));
    ImGui::PushStyleColor(ImGuiCol_Border, ink(ui.theme.line));
    bool open = true;
    if (ImGui::BeginPopupModal(id.c_str(), &open,
                               ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoMove)) {
        contents(ui, context);
        if (ui.state.dialog != shown) ImGui::CloseCurrentPopup();
        ImGui::EndPopup();
    }
    ImGui::PopStyleColor(3);
    ImGui::PopStyleVar();
    if (!open && ui.state.dialog == shown) ui.state.dialog = Dialog::none;
    if (ui.state.dialog == shown) ui.state.dialog_opens = false;
}

}  // namespace attnscope
