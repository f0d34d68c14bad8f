// Changing what is given in the focused matrix itself: painting a mask, typing into a cell.
#pragma once

#include "app/views/focus_layout.h"

namespace attnscope {

/// The stage is the mask, which clicks and drags paint.
bool is_painted(const ShownStage& shown);
/// What keeps a cell of the mask closed that painting cannot open; empty if nothing does.
std::string closed_elsewhere(const ShownStage& shown, const Cell& cell);
/// Its values are given, so that a cell can be typed into.
bool is_typed_into(const ShownStage& shown);
/// It may be given.
bool may_be_given(const ShownStage& shown);

/// Opens or closes what the mouse passes while the item drawn last is held: the first cell decides which.
/// True while a stroke runs. Shift leaves the mouse to the view.
bool paint_stroke(Ui& ui, const ShownStage& shown, const FocusLayout& layout);
/// Ends a stroke whose mask is no longer in focus.
void end_stroke(Ui& ui);
/// Its cells over the picture, until that has them.
void stroke_cells(Ui& ui, const FocusLayout& layout);
/// Opens a closed cell, and the other way round.
void toggle_cell(Ui& ui, const ShownStage& shown, const Cell& cell);
/// The list of presets, once it was opened by its name: at the mouse, or below the header's word.
inline constexpr const char* k_presets_popup = "mask presets";
inline constexpr const char* k_presets_menu = "mask presets below";
void presets_popup(Ui& ui, const ShownStage& shown, const char* name);

/// The cell becomes a number field.
void begin_cell(Ui& ui, const ShownStage& shown, const Cell& cell);
bool types_cell(const Ui& ui);
/// The number field, over everything else.
void cell_field(Ui& ui, const ShownStage& shown, const FocusLayout& layout);

}  // namespace attnscope
