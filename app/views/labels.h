// Words beside and above matrices.
#pragma once

#include "app/window/ui.h"

namespace attnscope {

/// Text that reads from bottom to top; `at` is its lower end's middle.
void upright_text(ImDrawList* list, ImFont* font, ImVec2 at, ImU32 color, const std::string& text);

/// Of labels `pitch` pixels apart, every how manieth has room.
int label_stride(Ui& ui, float pitch);
/// A label is drawn if it is the lit one, or on the stride and not crowding the lit one.
bool label_shown(int i, int stride, int lit);

}  // namespace attnscope
