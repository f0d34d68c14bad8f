// What the dialogs share. Each is drawn into the modal window that `dialogs` opens.
#pragma once

#include <optional>
#include <string>

#include "app/actions/actions.h"
#include "app/document/desk.h"
#include "app/ui/widgets.h"

namespace attnscope {

/// The width of a dialog's contents, and the height of a list of `units` in it; less in a small window.
float dialog_width(const Ui& ui, float units = 440);
float list_height(const Ui& ui, float units);

/// $HOME, else the current folder.
std::string home_folder();

/// The form's problem; nothing if it is empty.
void problem_line(const Ui& ui, const std::string& problem);
/// The form's problem in two lines, which need their space even without one, so that nothing moves.
void problem_lines(const Ui& ui, const std::string& problem);

/// A label, and the control beside it.
template <typename Control>
void row(const Ui& ui, const char* label, const Control& control) {
    constexpr float k_label_width = 110;
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(label);
    ImGui::SameLine(ui.px(k_label_width));
    ImGui::SetNextItemWidth(dialog_width(ui) - ui.px(k_label_width));
    ImGui::PushID(label);
    control();
    ImGui::PopID();
}

void file_dialog(Desk& desk, const Ui& ui, ActionContext& context, bool saving);
/// The folders of a folder, to pick one: the folder that was chosen, which exists. `closed` is set if the
/// picker is to be left without one.
std::optional<std::string> folder_picker(const Ui& ui, FileForm& form, bool& closed);
void export_dialog(Desk& desk, const Ui& ui);
/// The dialog for a custom matrix: pasted, from a file, or cell by cell.
void custom_dialog(Desk& desk, const Ui& ui);
/// Every step of the history in words, and a slider that goes through them.
void history_dialog(Desk& desk, const Ui& ui);
/// The examples by theme, each with its picture; a click opens one.
void gallery_dialog(Desk& desk, const Ui& ui, ActionContext& context);
/// The comparison of both backends, stage by stage.
void parity_dialog(Desk& desk, const Ui& ui);
/// Closes the export dialog when the export is done, and reports the outcome.
void take_export(Desk& desk);

}  // namespace attnscope
