// What the dialogs share. Each is drawn into the modal window that `dialogs` opens.
#pragma once

#include <string>

#include "app/actions/actions.h"
#include "app/window/widgets.h"

namespace attnscope {

/// How wide a dialog's contents are, and how high a list of `units` in it: less where the window is small.
float dialog_width(const Ui& ui, float units = 440);
float list_height(const Ui& ui, float units);

/// $HOME, else the current folder.
std::string home_folder();

/// What is wrong with the form; nothing if it is empty.
void problem_line(Ui& ui, const std::string& problem);
/// The same in two lines that are there without a problem too, so that what stands below does not move.
void problem_lines(Ui& ui, const std::string& problem);

/// A label, and the control beside it.
template <typename Control>
void row(Ui& ui, const char* label, const Control& control) {
    constexpr float k_label_width = 110;
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(label);
    ImGui::SameLine(ui.px(k_label_width));
    ImGui::SetNextItemWidth(dialog_width(ui) - ui.px(k_label_width));
    ImGui::PushID(label);
    control();
    ImGui::PopID();
}

void file_dialog(Ui& ui, ActionContext& context, bool saving);
void export_dialog(Ui& ui);
/// A matrix given outright: pasted, from a file, or cell by cell.
void give_dialog(Ui& ui);
/// Both backends on the experiment, stage by stage.
void parity_dialog(Ui& ui);
/// Closes the export dialog when the export is done, and says what came of it.
void take_export(Ui& ui);

}  // namespace attnscope
