// Editing custom values in the focused matrix: painting a mask, typing into a cell.
#pragma once

#include "app/views/focus_layout.h"

namespace attnscope {

/// Whether the stage is the mask, which clicks and drags paint.
bool is_painted(const ShownStage& shown);
/// What keeps a cell of the mask closed so that painting cannot open it; empty if nothing does.
std::string closed_elsewhere(const ShownStage& shown, const Cell& cell);
/// Whether the stage is custom, so that its cells can be edited.
bool is_typed_into(const ShownStage& shown);
/// Whether the stage can be replaced by a custom matrix.
bool may_be_custom(const ShownStage& shown);

/// Paints the cells that the mouse passes while the last item is held; the first cell decides whether to open
/// or to close. True during a stroke. With Shift held, the mouse is left to the view.
bool paint_stroke(Desk& desk, const ShownStage& shown, const FocusLayout& layout);
/// Ends a stroke if its mask is no longer in focus.
void end_stroke(Desk& desk);
/// Draws the stroke's cells over the picture until the picture includes them.
void stroke_cells(Desk& desk, const Ui& ui, const FocusLayout& layout);
/// Toggles a cell between open and closed.
void toggle_cell(Desk& desk, const ShownStage& shown, const Cell& cell);
/// The menu of presets, after its popup was opened: at the mouse, or below the word in the header.
inline constexpr const char* k_presets_popup = "mask presets";
inline constexpr const char* k_presets_menu = "mask presets below";
void presets_popup(Desk& desk, const Ui& ui, const ShownStage& shown, const char* name);

/// Turns the cell into a number field.
void begin_cell(Desk& desk, const Ui& ui, const ShownStage& shown, const Cell& cell);
bool types_cell(const Desk& desk, const Ui& ui);
/// Draws the number field above everything else.
void cell_field(Desk& desk, const Ui& ui, const ShownStage& shown, const FocusLayout& layout);

}  // namespace attnscope
