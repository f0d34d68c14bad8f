// What surrounds a matrix that is one of several side by side: its caption, its labels, the numbers in its
// cells.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/views/axis_place.h"
#include "app/views/matrix_painter.h"

namespace attnscope {

/// The width of the longest of `count` labels; of very many, of some of them.
float longest_text(const Ui& ui, int count, const std::function<std::string(int)>& label);

/// Labels of the columns above the matrix, level if `column_room` is the height of a line, else upright,
/// none if it is 0; with `rows`, those of the rows in the `width` pixels at its left. The lit ones are
/// strong; −1: none.
void matrix_labels(const Ui& ui, const ShownStage& shown, const MatrixPlace& place, bool rows, float width,
                   int lit_row, int lit_column, float column_room);

/// The font of numbers in cells of this size, the larger the cells the larger; nullptr if `widest` does not
/// fit any.
ImFont* number_font(const Ui& ui, const std::string& widest, ImVec2 cell);
/// A number for each visible cell that has room for it; nullopt leaves a cell empty.
void cell_numbers(Desk& desk, const Ui& ui, const MatrixPlace& place, const ColorScale& scale, bool signs,
                  const std::function<std::optional<float>(int, int)>& value);

/// The name, what it is beside it, and a line below both.
void panel_caption(const Ui& ui, float left, float top, float width, const std::string& name,
                   const std::string& facts, const std::string& below);

/// "0 … 0.856".
std::string range_words(const ColorScale& scale);

}  // namespace attnscope
