// A one-line text field that keeps every byte, and follows its text when something else changes it.
#pragma once

#include <imgui.h>

#include <string>

namespace attnscope {

/// One object per field on screen. Unlike ImGui::InputText alone it
///   keeps characters above U+FFFF, private-use ones and bytes that are no UTF-8, typed, pasted or there
///   before; shows a `text` that changed from outside (undo, a session) while it is being edited; lets go of
///   the keyboard on Escape without taking back what was typed. While it has the keyboard, what ImGui cannot
///   draw is shown by its code points; else the text stands there as everywhere.
/// ImGui's own undo is off in it.
class TextField {
public:
    /// Draws it at the cursor with the current item width; true when the person changed `text` (any bytes).
    /// `flags` without callbacks.
    bool draw(const char* label, const char* hint, std::string& text, ImGuiInputTextFlags flags = 0);

private:
    struct Edit;
    static int on_callback(ImGuiInputTextCallbackData* data);

    bool active_ = false;  ///< in the newest frame: it has the keyboard
    std::string shown_;    ///< the text as it was drawn last
    std::string widget_;   ///< the same, as the widget holds it
};

/// The sentence's, and the keys' sentence's.
struct SentenceFields {
    TextField first, second;
};

}  // namespace attnscope
