#include "app/ui/text_field.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "app/platform/imgui_compat.h"
#include "app/ui/shaped_text.h"
#include "app/ui/ui.h"
#include "core/utf8.h"

namespace attnscope {

struct TextField::Edit {
    TextField& field;
    bool replaced;             ///< the widget still holds the previous text
    const std::string& typed;  ///< to insert at the cursor
    const std::string before;  ///< what the widget holds
    const TextLine* line;      ///< the text, if the field draws it; nullptr if ImGui does
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

/// ImGui takes the capacity of the caller's string for that of its own copy, which may be smaller: the copy
/// is made to grow before anything is inserted.
void insert_at(ImGuiInputTextCallbackData& data, int place, const std::string& text) {
    if (text.empty()) return;
    data.BufSize = data.BufTextLen + 1;
    data.InsertChars(place, text.data(), text.data() + text.size());
}

void replace(ImGuiInputTextCallbackData& data, const std::string& text) {
    const std::string before(data.Buf, static_cast<std::size_t>(data.BufTextLen));
    data.DeleteChars(0, data.BufTextLen);
    insert_at(data, 0, text);
    data.CursorPos = data.SelectionStart = data.SelectionEnd = end_of_change(before, text);
}

void insert(ImGuiInputTextCallbackData& data, const std::string& text) {
    const int first = std::min(data.SelectionStart, data.SelectionEnd);
    const int last = std::max(data.SelectionStart, data.SelectionEnd);
    if (last > first) data.DeleteChars(first, last - first);
    insert_at(data, data.CursorPos, text);
}

/// A place in the widget's text as one in the text, and back.
std::size_t to_text(std::string_view widget, int byte) {
    return compat::text_bridge().wide.decode(widget.substr(0, static_cast<std::size_t>(byte))).size();
}
int to_widget(std::string_view text, std::size_t byte) {
    return static_cast<int>(compat::text_bridge().wide.encode(text.substr(0, byte)).size());
}

/// The start of the next or the previous word in the order of the text.
std::size_t word_beside(const TextLine& line, std::string_view text, std::size_t at, bool next) {
    if (next) {
        while (at < text.size() && text[at] != ' ') at = line.after(at);
        while (at < text.size() && text[at] == ' ') at = line.after(at);
    } else {
        while (at > 0 && text[line.before(at)] == ' ') at = line.before(at);
        while (at > 0 && text[line.before(at)] != ' ') at = line.before(at);
    }
    return at;
}

/// `scroll` changed so that `caret` is within `view` pixels, with some of the text beyond it.
float scrolled_to(float caret, float scroll, float view, float width) {
    if (caret < scroll) scroll = caret - view / 4;
    if (caret >= scroll + view) scroll = caret - view * 3 / 4;
    return std::floor(std::clamp(scroll, 0.0f, std::max(0.0f, std::ceil(width) + 1 - view)));
}

}  // namespace

int TextField::on_callback(ImGuiInputTextCallbackData* data) {
    auto& edit = *static_cast<Edit*>(data->UserData);
    std::string& buffer = edit.field.widget_;
    if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {
        buffer.resize(static_cast<std::size_t>(data->BufTextLen));
        data->Buf = buffer.data();
    } else if (data->EventFlag == ImGuiInputTextFlags_CallbackAlways) {
        if (edit.replaced) replace(*data, buffer);
        if (!edit.typed.empty() && !(data->Flags & ImGuiInputTextFlags_ReadOnly)) insert(*data, edit.typed);
        if (edit.line && !edit.replaced) edit.field.take_input(edit, *data);
        if (const auto caret = std::exchange(edit.field.caret_wanted_, std::nullopt))
            data->CursorPos = data->SelectionStart = data->SelectionEnd =
                to_widget(edit.field.shown_, std::min(*caret, edit.field.shown_.size()));
        const std::string_view now(data->Buf, static_cast<std::size_t>(data->BufTextLen));
        Selection& selection = edit.field.selection_;
        selection.caret = to_text(now, data->CursorPos);
        selection.anchor =
            data->SelectionStart == data->SelectionEnd ? selection.caret : to_text(now, data->SelectionStart);
    }
    return 0;
}

/// Does for text of any script what ImGui has done for a row of separate letters.
void TextField::take_input(const Edit& edit, ImGuiInputTextCallbackData& data) {
    const std::string_view now(data.Buf, static_cast<std::size_t>(data.BufTextLen));
    if (now == edit.before) {
        const Selection by_imgui{to_text(now, data.CursorPos), to_text(now, data.SelectionStart)};
        const Selection next = moved(*edit.line, by_imgui);
        if (next == by_imgui) return;
        data.CursorPos = data.SelectionEnd = to_widget(shown_, next.caret);
        data.SelectionStart = to_widget(shown_, next.anchor);
    } else if (selection_.caret == selection_.anchor && now.size() < edit.before.size()) {
        // ImGui has deleted one character: the rest of its cluster follows.
        const std::size_t at = selection_.caret;
        const bool backward = compat::key_pressed(Key::backspace);
        if (!backward && !compat::key_pressed(Key::del)) return;
        const int begin = to_widget(shown_, backward ? edit.line->backspace_begin(at) : at);
        const int end = to_widget(shown_, backward ? at : edit.line->after(at));
        const int rest = end - begin - static_cast<int>(edit.before.size() - now.size());
        if (rest > 0) data.DeleteChars(begin, rest);
    }
}

/// The caret and the selection after this frame's mouse and arrow keys, or as ImGui has them.
TextField::Selection TextField::moved(const TextLine& line, Selection by_imgui) {
    const ImGuiIO& io = ImGui::GetIO();
    const bool clicked = ImGui::IsMouseClicked(0) && ImGui::IsItemHovered();
    dragging_ = (dragging_ && ImGui::IsMouseDown(0)) || clicked;
    if (clicked && ImGui::IsMouseDoubleClicked(0)) {
        dragging_ = false;
        return {shown_.size(), 0};
    }
    if (dragging_) {
        const float left = ImGui::GetItemRectMin().x + ImGui::GetStyle().FramePadding.x - scroll_;
        const std::size_t caret = line.byte_at(io.MousePos.x - left);
        return {caret, clicked && !io.KeyShift ? caret : selection_.anchor};
    }
    const bool left = compat::key_pressed(Key::left), right = compat::key_pressed(Key::right);
    if (left == right || io.KeyAlt || io.KeySuper) return by_imgui;
    const auto [caret, anchor] = selection_;
    std::size_t to = 0;
    if (io.KeyCtrl) {
        to = word_beside(line, shown_, caret, right != line.runs_leftward(caret));
    } else if (caret != anchor && !io.KeyShift) {
        to = (line.caret(caret).strong < line.caret(anchor).strong) == left ? caret : anchor;
    } else {
        to = left ? line.left_of(caret) : line.right_of(caret);
    }
    return {to, io.KeyShift ? anchor : to};
}

/// The line in its frame, with the selection and the caret, scrolled to it.
void TextField::draw_line(const TextLine& line, const std::string& text, ImVec2 min, ImVec2 size) {
    const ImVec2 padding = ImGui::GetStyle().FramePadding;
    const float view = size.x - 2 * padding.x, margin = TextShades::k_margin;
    const auto [strong, weak] = line.caret(selection_.caret);
    scroll_ = scrolled_to(static_cast<float>(strong), scroll_, view, static_cast<float>(line.extent().width));
    const ImVec2 at{min.x + padding.x, min.y + padding.y};
    const float bottom = at.y + ImGui::GetFontSize();
    const auto x = [&](double in_line) { return std::floor(at.x - scroll_ + static_cast<float>(in_line)); };

    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.PushClipRect({at.x - margin, min.y}, {at.x + view + margin, min.y + size.y}, true);
    const auto [first, last] = std::minmax(selection_.caret, selection_.anchor);
    if (first != last) {
        for (const auto& [left, right] : line.ranges(first, last))
            list.AddRectFilled({x(left), at.y}, {x(right), bottom},
                               ImGui::GetColorU32(ImGuiCol_TextSelectedBg));
    }
    const ImU32 ink = ImGui::GetColorU32(ImGuiCol_Text);
    shaped().draw_part(list, *ImGui::GetFont(), at, ink, text, static_cast<int>(scroll_),
                       static_cast<int>(view));
    list.AddRectFilled({x(strong), at.y}, {x(strong) + 1, bottom}, ink);
    // Half a caret where letters of the other direction would go.
    list.AddRectFilled({x(weak), at.y}, {x(weak) + 1, (at.y + bottom) / 2}, ink);
    list.PopClipRect();
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
    ImFont* font = ImGui::GetFont();
    const bool plain = text.empty() || bridge.shaped->is_plain(*font, text);
    const TextLine* line = plain ? nullptr : bridge.shaped->line(*font, text);
    Edit edit{.field = *this, .replaced = replaced, .typed = typed, .before = widget_, .line = line};

    bridge.in_field = true;
    bridge.one_line = true;
    flags |= ImGuiInputTextFlags_NoUndoRedo | ImGuiInputTextFlags_CallbackResize |
             ImGuiInputTextFlags_CallbackAlways;
    const bool draws_itself = active_ ? !line && typed.empty() : plain;
    const std::span<const ImGuiCol> hidden =
        draws_itself ? std::span<const ImGuiCol>() : compat::field_colors();
    for (const ImGuiCol color : hidden) ImGui::PushStyleColor(color, 0);
    const ImVec2 size{ImGui::CalcItemWidth(), ImGui::GetFrameHeight()};
    ImGui::InputTextWithHint(label, hint, widget_.data(), widget_.capacity() + 1, flags, on_callback, &edit);
    ImGui::PopStyleColor(static_cast<int>(hidden.size()));
    bridge.in_field = false;
    active_ = ImGui::IsItemActive();
    // ImGui reverts everything since the field got the focus.
    if (compat::key_pressed(Key::escape)) widget_ = edit.before;
    const bool changed = widget_ != edit.before;
    if (changed) {
        shown_ = text = bridge.wide.decode(widget_);
        bridge.wanted += text;
    }
    if (!active_) scroll_ = 0;
    if (draws_itself || text.empty()) return changed;
    const ImVec2 min = ImGui::GetItemRectMin(), padding = ImGui::GetStyle().FramePadding;
    if (!active_) {
        draw_text(ImGui::GetWindowDrawList(), font, {min.x + padding.x, min.y + padding.y},
                  ImGui::GetColorU32(ImGuiCol_Text), text, Align::left, size.x - 2 * padding.x);
    } else if (const TextLine* drawn = bridge.shaped->line(*font, text)) {
        draw_line(*drawn, text, min, size);
    }
    return changed;
}

}  // namespace attnscope
