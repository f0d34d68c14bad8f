#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "app/panels/dialog_parts.h"
#include "app/panels/panels.h"

namespace attnscope {
namespace {

void faint_words(const Ui& ui, const char* words) {
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + dialog_width(ui));
    ImGui::TextDisabled("%s", words);
    ImGui::PopTextWrapPos();
}

void keys_dialog(Desk& desk, const Ui& ui) {
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
    if (push_button(ui, "Close", ui.px(110))) desk.state.dialog = Dialog::none;
}

void about_dialog(Desk& desk, const Ui& ui) {
    ImGui::TextUnformatted("attnscope " ATTNSCOPE_VERSION);
    faint_words(
        ui,
        "An instrument for exploring the attention mechanism.\nMIT license. Fonts: Inter, JetBrains Mono "
        "(OFL), DejaVu.");
    if (push_button(ui, "Close", ui.px(110))) desk.state.dialog = Dialog::none;
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
bool walk_palette(Desk& desk, int count) {
    int& entry = desk.state.palette_entry;
    const int step = compat::key_pressed(Key::down, true) - compat::key_pressed(Key::up, true);
    entry = std::clamp(entry + step, 0, std::max(count - 1, 0));
    return step != 0;
}

void palette_dialog(Desk& desk, const Ui& ui, ActionContext& context) {
    if (desk.state.dialog_opens) {
        desk.state.palette_text.clear();
        desk.state.palette_entry = 0;
        ImGui::SetKeyboardFocusHere();
    }
    ImGui::SetNextItemWidth(dialog_width(ui));
    const std::string before = desk.state.palette_text;
    const bool entered = line_field(ui, "##palette", "Search actions", desk.state.palette_text);
    if (desk.state.palette_text != before) desk.state.palette_entry = 0;
    const std::vector<const Action*> found = found_actions(context, desk.state.palette_text);
    const bool walked = walk_palette(desk, static_cast<int>(found.size()));
    const Action* const marked =
        found.empty() ? nullptr : found[static_cast<std::size_t>(desk.state.palette_entry)];
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
    desk.state.dialog = Dialog::none;
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
        case Dialog::parity: return "CPU and GPU";
        case Dialog::none: break;
    }
    return "";
}

void contents(Desk& desk, const Ui& ui, ActionContext& context) {
    switch (desk.state.dialog) {
        case Dialog::open: return file_dialog(desk, ui, context, false);
        case Dialog::save: return file_dialog(desk, ui, context, true);
        case Dialog::exporting: return export_dialog(desk, ui);
        case Dialog::giving: return give_dialog(desk, ui);
        case Dialog::keys: return keys_dialog(desk, ui);
        case Dialog::about: return about_dialog(desk, ui);
        case Dialog::palette: return palette_dialog(desk, ui, context);
        case Dialog::parity: return parity_dialog(desk, ui);
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

void problem_line(const Ui& ui, const std::string& problem) {
    if (problem.empty()) return;
    ImGui::PushStyleColor(ImGuiCol_Text, ink(ui.theme.warning));
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + dialog_width(ui));
    ImGui::TextUnformatted(problem.c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
}

void problem_lines(const Ui& ui, const std::string& problem) {
    const float top = ImGui::GetCursorPosY();
    problem_line(ui, problem);
    const float room = ImGui::GetTextLineHeight() * 2, taken = ImGui::GetCursorPosY() - top;
    ImGui::SetCursorPosY(top + std::max(taken, room + ImGui::GetStyle().ItemSpacing.y));
}

void dialogs(Desk& desk, const Ui& ui, ActionContext& context) {
    take_export(desk);
    if (desk.state.dialog != Dialog::parity) desk.parity.cancel();
    if (desk.state.dialog != Dialog::giving) desk.matrix_reader.cancel();
    if (desk.state.dialog == Dialog::none) return;
    const Dialog shown = desk.state.dialog;
    const std::string id = std::string(title_of(shown)) + "##dialog";
    if (desk.state.dialog_opens) {
        ImGui::OpenPopup(id.c_str());
        ui.controls.focus.leave_for_dialog();
    }
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
        ui.controls.focus.drawn.clear();
        contents(desk, ui, context);
        if (desk.state.dialog != shown) ImGui::CloseCurrentPopup();
        ImGui::EndPopup();
    }
    ImGui::PopStyleColor(3);
    ImGui::PopStyleVar();
    if (!open && desk.state.dialog == shown) desk.state.dialog = Dialog::none;
    if (desk.state.dialog == shown) desk.state.dialog_opens = false;
}

}  // namespace attnscope
