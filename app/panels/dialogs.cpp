#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "app/panels/dialog_parts.h"
#include "app/panels/panels.h"

namespace attnscope {
namespace {

void faint_words(Ui& ui, const char* words) {
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + dialog_width(ui));
    ImGui::TextDisabled("%s", words);
    ImGui::PopTextWrapPos();
}

void keys_dialog(Ui& ui) {
    if (ImGui::BeginTable("keys", 2, ImGuiTableFlags_RowBg)) {
        ImGui::TableSetupColumn("what", ImGuiTableColumnFlags_WidthFixed, dialog_width(ui) * 0.68f);
        for (const Action& action : actions()) {
            if (action.shortcut.key == Key::none) continue;
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(action.title.data(), action.title.data() + action.title.size());
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(shortcut_text(action.shortcut).c_str());
        }
        ImGui::EndTable();
    }
    faint_words(
        ui,
        "Scroll to zoom the matrix, drag to pan, click to lock a cell;\nright-click resets a setting; click "
        "to type a number, drag to step it.\nTab moves between controls; Enter and ← → change the one "
        "in focus.\nIn the mask, click or drag to paint, right-click for presets;\ndouble-click to type "
        "into a cell of a custom matrix.");
    if (push_button(ui, "Close", ui.px(110))) ui.state.dialog = Dialog::none;
}

void about_dialog(Ui& ui) {
    ImGui::TextUnformatted("attnscope " ATTNSCOPE_VERSION);
    faint_words(
        ui,
        "An instrument for exploring the attention mechanism.\nMIT license. Fonts: Inter, JetBrains Mono "
        "(OFL), DejaVu.");
    if (push_button(ui, "Close", ui.px(110))) ui.state.dialog = Dialog::none;
}

bool matches(std::string_view title, const std::string& text) {
    const auto equal = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    };
    return text.empty() ||
           std::search(title.begin(), title.end(), text.begin(), text.end(), equal) != title.end();
}

/// The actions that the search lists, in the order of the menus.
std::vector<const Action*> found_actions(const ActionContext& context, const std::string& text) {
    std::vector<const Action*> found;
    for (const Action& action : actions())
        if (!action.menu.empty() && action.enabled(context) && matches(action.title, text))
            found.push_back(&action);
    return found;
}

/// Moves through the list of `count` entries with ↑ and ↓ while typing; true if the selection moved.
bool walk_palette(Ui& ui, int count) {
    int& entry = ui.state.palette_entry;
    const int step = compat::key_pressed(Key::down, true) - compat::key_pressed(Key::up, true);
    entry = std::clamp(entry + step, 0, std::max(count - 1, 0));
    return step != 0;
}

void palette_dialog(Ui& ui, ActionContext& context) {
    if (ui.state.dialog_opens) {
        ui.state.palette_text.clear();
        ui.state.palette_entry = 0;
        ImGui::SetKeyboardFocusHere();
    }
    ImGui::SetNextItemWidth(dialog_width(ui));
    const std::string before = ui.state.palette_text;
    const bool entered = line_field(ui, "##palette", "Search actions", ui.state.palette_text);
    if (ui.state.palette_text != before) ui.state.palette_entry = 0;
    const std::vector<const Action*> found = found_actions(context, ui.state.palette_text);
    const bool walked = walk_palette(ui, static_cast<int>(found.size()));
    const Action* const marked =
        found.empty() ? nullptr : found[static_cast<std::size_t>(ui.state.palette_entry)];
    const Action* chosen = entered ? marked : nullptr;
    ImGui::BeginChild("found", {dialog_width(ui), list_height(ui, 300)});
    for (const Action* action : found) {
        const std::string title(action->title);
        if (ImGui::Selectable(title.c_str(), action == marked)) chosen = action;
        if (walked && action == marked) ImGui::SetScrollHereY();
        ImGui::SameLine(dialog_width(ui) - ui.px(110));
        ImGui::TextDisabled("%s", shortcut_text(action->shortcut).c_str());
    }
    ImGui::EndChild();
    if (!chosen) return;
    ui.state.dialog = Dialog::none;
    run_action(*chosen, context);
}

const char* title_of(Dialog dialog) {
    switch (dialog) {
        case Dialog::open: return "Open";
        case Dialog::save: return "Save as";
        case Dialog::exporting: return "Export";
        case Dialog::giving: return "Custom matrix";
        case Dialog::keys: return "Shortcuts";
        case Dialog::about: return "About";
        case Dialog::palette: return "Search actions";
        case Dialog::parity: return "Processor and graphics card";
        case Dialog::none: break;
    }
    return "";
}

void contents(Ui& ui, ActionContext& context) {
    switch (ui.state.dialog) {
        case Dialog::open: return file_dialog(ui, context, false);
        case Dialog::save: return file_dialog(ui, context, true);
        case Dialog::exporting: return export_dialog(ui);
        case Dialog::giving: return give_dialog(ui);
        case Dialog::keys: return keys_dialog(ui);
        case Dialog::about: return about_dialog(ui);
        case Dialog::palette: return palette_dialog(ui, context);
        case Dialog::parity: return parity_dialog(ui);
        case Dialog::none: return;
    }
}

}  // namespace

float dialog_width(const Ui& ui, float units) {
    constexpr float k_around = 56;
    return std::min(ui.px(units), ImGui::GetIO().DisplaySize.x - ui.px(k_around));
}

float list_height(const Ui& ui, float units) {
    return std::min(ui.px(units), ImGui::GetIO().DisplaySize.y * 0.4f);
}

std::string home_folder() {
    if (const char* home = std::getenv("HOME"); home && *home) return home;
    std::error_code error;
    const std::filesystem::path here = std::filesystem::current_path(error);
    return error ? "/" : here.string();
}

void problem_line(Ui& ui, const std::string& problem) {
    if (problem.empty()) return;
    ImGui::PushStyleColor(ImGuiCol_Text, ink(ui.theme.warning));
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + dialog_width(ui));
    ImGui::TextUnformatted(problem.c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
}

void problem_lines(Ui& ui, const std::string& problem) {
    const float top = ImGui::GetCursorPosY();
    problem_line(ui, problem);
    const float room = ImGui::GetTextLineHeight() * 2, taken = ImGui::GetCursorPosY() - top;
    ImGui::SetCursorPosY(top + std::max(taken, room + ImGui::GetStyle().ItemSpacing.y));
}

void dialogs(Ui& ui, ActionContext& context) {
    take_export(ui);
    if (ui.state.dialog != Dialog::parity) ui.parity.cancel();
    if (ui.state.dialog != Dialog::giving) ui.matrix_reader.cancel();
    if (ui.state.dialog == Dialog::none) return;
    const Dialog shown = ui.state.dialog;
    const std::string id = std::string(title_of(shown)) + "##dialog";
    if (ui.state.dialog_opens) ImGui::OpenPopup(id.c_str());
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
    // Contents higher than the window scroll.
    ImGui::SetNextWindowSizeConstraints({0, 0}, {screen.x, screen.y});
    // Fields contrast with the dialog as they do with a panel.
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 1);
    for (const ImGuiCol part : {ImGuiCol_FrameBg, ImGuiCol_Button})
        ImGui::PushStyleColor(part, ink(ui.theme.background));
    ImGui::PushStyleColor(ImGuiCol_Border, ink(ui.theme.line));
    bool open = true;
    if (ImGui::BeginPopupModal(id.c_str(), &open,
                               ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoMove)) {
        // The keyboard focus stays within the dialog.
        ui.state.control.drawn.clear();
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
