#include "app/ui/text_field.h"

#include <algorithm>

#include "app/platform/imgui_compat.h"
#include "app/ui/shaped_text.h"
#include "app/ui/ui.h"
#include "core/utf8.h"

namespace attnscope {

struct TextField::Edit {
    std::string* buffer;
    bool replaced;             ///< the widget still holds the previous text
    const std::string* typed;  ///< to insert at the cursor
};

namespace {

/// The position for the cursor when `after` replaces `before`: behind the difference.
int end_of_change(std::string_view before, std::string_view after) {
    const std::size_t shorter = std::min(before.size(), after.size());
    std::size_t same = 0;
    while (same < shorter && before[before.size() - 1 - same] == after[after.size() - 1 - same]) ++same;
    const std::size_t end = after.size() - same, begin = code_point_begin(after, end);
    return static_cast<int>(begin == end ? end : begin + decode_utf8(after.substr(begin)).bytes);
}

void replace(ImGuiInputTextCallbackData& data, const std::string& text) {
    const std::string before(data.Buf, static_cast<std::size_t>(data.BufTextLen));
    data.DeleteChars(0, data.BufTextLen);
    data.InsertChars(0, text.data(), text.data() + text.size());
    data.CursorPos = data.SelectionStart = data.SelectionEnd = end_of_change(before, text);
}

void insert(ImGuiInputTextCallbackData& data, const std::string& text) {
    const int first = std::min(data.SelectionStart, data.SelectionEnd);
    const int last = std::max(data.SelectionStart, data.SelectionEnd);
    if (last > first) data.DeleteChars(first, last - first);
    data.InsertChars(data.CursorPos, text.data(), text.data() + text.size());
}

}  // namespace

int TextField::on_callback(ImGuiInputTextCallbackData* data) {
    auto& edit = *static_cast<Edit*>(data->UserData);
    if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {
        edit.buffer->resize(static_cast<std::size_t>(data->BufTextLen));
        data->Buf = edit.buffer->data();
    } else if (data->EventFlag == ImGuiInputTextFlags_CallbackAlways) {
        if (edit.replaced) replace(*data, *edit.buffer);
        if (!edit.typed->empty() && !(data->Flags & ImGuiInputTextFlags_ReadOnly)) insert(*data, *edit.typed);
    }
    return 0;
}

bool TextField::draw(const char* label, const char* hint, std::string& text, ImGuiInputTextFlags flags) {
    TextBridge& bridge = compat::text_bridge();
    const bool replaced = text != shown_;
    if (replaced) {
        widget_ = bridge.wide.encode(text);
        shown_ = text;
        bridge.wanted += text;
    }
    std::string typed;
    for (const char32_t code : bridge.typed) typed += bridge.wide.encode(encode_utf8(code));
    Edit edit{.buffer = &widget_, .replaced = replaced, .typed = &typed};

    const std::string before = widget_;
    bridge.in_field = true;
    bridge.one_line = true;
    flags |= ImGuiInputTextFlags_NoUndoRedo | ImGuiInputTextFlags_CallbackResize |
             ImGuiInputTextFlags_CallbackAlways;
    ImFont* font = ImGui::GetFont();
    const bool draws_itself = active_ || text.empty() || bridge.shaped->is_plain(*font, text);
    if (!draws_itself) ImGui::PushStyleColor(ImGuiCol_Text, 0);
    bool changed = ImGui::InputTextWithHint(label, hint, widget_.data(), widget_.capacity() + 1, flags,
                                            on_callback, &edit);
    bridge.in_field = false;
    active_ = ImGui::IsItemActive();
    if (!draws_itself) {
        ImGui::PopStyleColor();
        const ImVec2 padding = ImGui::GetStyle().FramePadding, min = ImGui::GetItemRectMin();
        draw_text(ImGui::GetWindowDrawList(), font, {min.x + padding.x, min.y + padding.y},
                  ImGui::GetColorU32(ImGuiCol_Text), text, Align::left,
                  ImGui::GetItemRectSize().x - 2 * padding.x);
    }
    if (compat::key_pressed(Key::escape)) {
        // ImGui reverts everything since the field got the focus.
        widget_ = before;
        return false;
    }
    changed = widget_ != before;
    if (changed) {
        shown_ = text = bridge.wide.decode(widget_);
        bridge.wanted += text;
    }
    return changed;
}

}  // namespace attnscope
