// A one-line text field that preserves every byte, and updates when its text is changed from outside.
#pragma once

#include <imgui.h>

#include <string>

namespace attnscope {

/// One object per field on screen. Unlike ImGui::InputText alone it
///   keeps characters above U+FFFF, private-use characters and invalid UTF-8, whether typed, pasted or
///   already present; shows a `text` that was changed from outside (undo, a session) while it is being
///   edited; releases the keyboard on Escape without discarding what was typed. While it has the keyboard,
///   what ImGui cannot draw is shown as code points; otherwise the text is drawn as everywhere else.
/// ImGui's own undo is disabled in it.
class TextField {
public:
    /// Draws the field at the cursor with the current item width; true when the user changed `text` (any
    /// bytes). `flags` must not include callbacks.
    bool draw(const char* label, const char* hint, std::string& text, ImGuiInputTextFlags flags = 0);

private:
    struct Edit;
    static int on_callback(ImGuiInputTextCallbackData* data);

    bool active_ = false;  ///< it had the keyboard in the newest frame
    std::string shown_;    ///< the text as it was drawn last
    std::string widget_;   ///< that text as the widget holds it
};

/// The fields of the sentence and of the keys' sentence.
struct SentenceFields {
    TextField first, second;
};

}  // namespace attnscope
