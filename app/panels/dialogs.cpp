#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "app/actions/find_text.h"
#include "app/panels/dialog_parts.h"
#include "app/panels/panels.h"
#include "app/ui/style.h"

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
    if (push_button(ui, "Close", "Closes this (Esc)", ui.px(110))) desk.state.dialog = Dialog::none;
}

void about_dialog(Desk& desk, const Ui& ui) {
    ImGui::TextUnformatted("attnscope " ATTNSCOPE_VERSION);
    faint_words(
        ui,
        "An instrument for exploring the attention mechanism.\nMIT license. Fonts: Inter, JetBrains Mono "
        "(OFL), DejaVu.");
    if (push_button(ui, "Close", "Closes this (Esc)", ui.px(110))) desk.state.dialog = Dialog::none;
}

/// Moves through the list of `count` entries with ↑ and ↓ while typing; true if the selection moved.
bool walk_palette(Desk& desk, int count) {
    int& entry = desk.state.palette_entry;
    const int step = compat::key_pressed(Key::down, true) - compat::key_pressed(Key::up, true);
    entry = std::clamp(entry + step, 0, std::max(count - 1, 0));
    return step != 0;
}

/// A field, and a list of what it finds, from which Enter or a click picks.
struct SearchWords {
    const char* hint;
    const char* help;
};

void search_dialog(Desk& desk, const Ui& ui, ActionContext& context, const SearchWords& words,
                   std::vector<SearchEntry> (*find)(const ActionContext&, std::string_view)) {
    if (desk.state.dialog_opens) {
        desk.state.palette_text.clear();
        desk.state.palette_entry = 0;
        ImGui::SetKeyboardFocusHere();
    }
    constexpr float k_search_width = 560;
    ImGui::SetNextItemWidth(dialog_width(ui, k_search_width));
    const std::string before = desk.state.palette_text;
    const bool entered = line_field(ui, "##palette", words.hint, words.help, desk.state.palette_text);
    if (desk.state.palette_text != before) desk.state.palette_entry = 0;
    const std::vector<SearchEntry> found = find(context, desk.state.palette_text);
    const bool walked = walk_palette(desk, static_cast<int>(found.size()));
    int chosen = entered && !found.empty() ? desk.state.palette_entry : -1;
    const float width = dialog_width(ui, k_search_width), kind_width = ui.px(120);
    ImGui::BeginChild("found", {width, list_height(ui, 300)});
    for (int i = 0; i < static_cast<int>(found.size()); ++i) {
        const SearchEntry& entry = found[static_cast<std::size_t>(i)];
        const bool marked = i == desk.state.palette_entry;
        const std::string title = fitted(ImGui::GetFont(), entry.title, width - kind_width - ui.px(8));
        if (ImGui::Selectable(fmt::format("{}##{}", title, i).c_str(), marked)) chosen = i;
        tooltip(ui, entry.help);
        if (walked && marked) ImGui::SetScrollHereY();
        ImGui::SameLine(width - kind_width);
        ImGui::TextDisabled("%s", entry.kind.c_str());
    }
    if (found.empty() && !desk.state.palette_text.empty())
        ImGui::TextDisabled("%s", ("Nothing found for “" + desk.state.palette_text + "”").c_str());
    ImGui::EndChild();
    // What Enter would open, in one line, which takes its space even if it is empty.
    const std::string help =
        found.empty() ? "" : found[static_cast<std::size_t>(desk.state.palette_entry)].help;
    ImGui::TextDisabled("%s", fitted(ImGui::GetFont(), help, width).c_str());
    if (chosen < 0) return;
    desk.state.dialog = Dialog::none;
    found[static_cast<std::size_t>(chosen)].run(context);
}

void palette_dialog(Desk& desk, const Ui& ui, ActionContext& context) {
    search_dialog(desk, ui, context,
                  {"Search actions, settings, stages, examples, questions, words of the text",
                   "Type a name or another word for it; ↑ and ↓ choose, Enter opens"},
                  search);
}

void find_dialog(Desk& desk, const Ui& ui, ActionContext& context) {
    search_dialog(
        desk, ui, context,
        {"Word, words in a row, or #12 for the 12th token",
         "Finds tokens, starting at the locked one; ↑ and ↓ choose, Enter locks one and goes to it"},
        [](const ActionContext& c, std::string_view text) {
            constexpr std::size_t k_most_found = 100;
            return find_text(c, text, k_most_found);
        });
}

const char* title_of(Dialog dialog) {
    switch (dialog) {
        case Dialog::open: return "Open";
        case Dialog::save: return "Save as";
        case Dialog::exporting: return "Export";
        case Dialog::giving: return "Custom matrix";
        case Dialog::history: return "History";
        case Dialog::keys: return "Shortcuts";
        case Dialog::about: return "About";
        case Dialog::palette: return "Search";
        case Dialog::find: return "Find in the text";
        case Dialog::gallery: return "Examples";
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
        case Dialog::giving: return custom_dialog(desk, ui);
        case Dialog::history: return history_dialog(desk, ui);
        case Dialog::keys: return keys_dialog(desk, ui);
        case Dialog::about: return about_dialog(desk, ui);
        case Dialog::palette: return palette_dialog(desk, ui, context);
        case Dialog::find: return find_dialog(desk, ui, context);
        case Dialog::gallery: return gallery_dialog(desk, ui, context);
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
    // The history stands on the left and dims nothing, so that the view it goes through stays in sight.
    const bool aside = shown == Dialog::history;
    dim_behind_dialogs(!aside);
    ImGui::SetNextWindowPos({aside ? ui.px(12) : screen.x / 2, screen.y / 2}, ImGuiCond_Always,
                            {aside ? 0 : 0.5f, 0.5f});
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
