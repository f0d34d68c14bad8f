// A one-line text field that preserves every byte, and updates when its text is changed from outside.
#pragma once

#include <imgui.h>

#include <optional>
#include <string>

namespace attnscope {

class TextLine;

/// One object per field on screen. Unlike ImGui::InputText alone it
///   keeps characters above U+FFFF, private-use characters and invalid UTF-8, whether typed, pasted or
///   already present; draws text of any script as everywhere else, with caret, selection and mouse where its
///   letters stand, the arrow keys moving as seen, and clusters such as an emoji deleted whole; shows a
///   `text` that was changed from outside (undo, a session) while it is being edited; releases the keyboard
///   on Escape without discarding what was typed. While it has the keyboard, a text too long for
///   TextFace::line that ImGui cannot draw shows code points.
/// ImGui's own undo is disabled in it.
class TextField {
public:
    /// Draws the field at the cursor with the current item width; true when the user changed `text` (any
    /// bytes). `flags` must not include callbacks.
    bool draw(const char* label, const char* hint, std::string& text, ImGuiInputTextFlags flags = 0);

    /// Whether it had the keyboard in the newest frame in which it was drawn, or a caret waits for that.
    bool has_keyboard() const { return active_ || caret_wanted_; }
    /// Puts the caret before a byte of the text, once the field has the keyboard.
    void put_caret(std::size_t byte) { caret_wanted_ = byte; }

    /// The caret and the other end of the selection, in bytes of the text; equal without a selection.
    struct Selection {
        std::size_t caret = 0;
        std::size_t anchor = 0;
        bool operator==(const Selection&) const = default;
    };
    /// The selection in the newest frame in which the field had the keyboard.
    Selection selection() const { return selection_; }

private:
    struct Edit;
    static int on_callback(ImGuiInputTextCallbackData* data);
    void take_input(const Edit& edit, ImGuiInputTextCallbackData& data);
    Selection moved(const TextLine& line, Selection by_imgui);
    void draw_line(const TextLine& line, const std::string& text, ImVec2 min, ImVec2 size);

    bool active_ = false;    ///< it had the keyboard in the newest frame
    bool dragging_ = false;  ///< the mouse button went down in its line
    std::string shown_;      ///< the text as it was drawn last
    std::string widget_;     ///< that text as the widget holds it
    Selection selection_;
    std::optional<std::size_t> caret_wanted_;
    float scroll_ = 0;  ///< pixels of the line that are hidden at the left
};

/// The fields of the sentence and of the keys' sentence.
struct SentenceFields {
    TextField first, second;
};

}  // namespace attnscope
