#include "app/panels/inspector_column.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/ui/widgets.h"
#include "core/number_text.h"
#include "core/utf8.h"

namespace attnscope {

bool is_of_weights(const Stage& stage) {
    return stage.info->unit == Unit::probability && stage.part == StageKey::Part::value;
}

std::string value_text(double value) {
    const double magnitude = std::abs(value);
    if (!std::isfinite(value) || (magnitude != 0 && (magnitude < 1e-3 || magnitude >= 1e5)))
        return short_text(value);
    return fixed_text(value, magnitude < 10 ? 4 : 3);
}

std::string value_text(const Column& c, double value) {
    const bool is_small = value > 0 && value < 1e-3;
    return c.of_weights && is_small ? "< 0.001" : value_text(value);
}

void heading(const Column& c, const std::string& title, const std::string& derived) {
    const float y = c.y() + c.ui.px(12);
    const float drawn =
        draw_fitted(c.ui, c.ui.fonts.section, {c.left, y}, c.ui.theme.secondary, title, c.width());
    const bool beside = drawn + c.ui.px(12) + text_width(c.ui.fonts.caption, derived) <= c.width();
    if (beside)
        draw_text(c.list, c.ui.fonts.caption, {c.right, y}, ink(c.ui.theme.faint), derived, Align::right);
    else
        draw_text(c.list, c.ui.fonts.caption, {c.left, y + c.ui.px(17)}, ink(c.ui.theme.faint), derived,
                  Align::left, c.width());
    c.advance(beside ? 34 : 49);
}

void put_beside(const Column& c, const std::string& label, float beside, float below) {
    const bool fits = text_width(c.ui.fonts.body, label) + c.ui.px(10) + beside <= c.width();
    draw_fitted(c.ui, c.ui.fonts.body, {c.left, c.y() + c.ui.px(below)}, c.ui.theme.secondary, label,
                c.width());
    if (!fits) c.advance(17);
}

void explain_label(const Column& c, const std::string& help, float y, float width, float height) {
    if (help.empty()) return;
    const ImVec2 before = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos({c.left, y});
    ImGui::Dummy({std::max(1.0f, width), c.ui.px(height)});
    tooltip(c.ui, help);
    ImGui::SetCursorScreenPos(before);
}

void line(const Column& c, const ProofStep& step, bool rule) {
    const auto& [label, value, help] = step;
    const std::string text = value_text(c, value);
    const float top = c.y();
    put_beside(c, label, text_width(c.ui.fonts.mono, text), 4);
    explain_label(c, help, top, std::min(text_width(c.ui.fonts.body, label), c.width() / 2));
    const float y = c.y();
    ImGui::SetCursorScreenPos({c.right - text_width(c.ui.fonts.mono, text) - c.ui.px(8), y});
    if (ImGui::InvisibleButton(("copy" + label).c_str(),
                               {text_width(c.ui.fonts.mono, text) + c.ui.px(8), c.ui.px(24)}))
        c.ui.copy(exact_text(value));
    tooltip(c.ui, exact_text(value) + " — click to copy");
    const bool hovered = ImGui::IsItemHovered();
    draw_text(c.list, c.ui.fonts.mono, {c.right, y + c.ui.px(4)},
              hovered ? ink(c.ui.theme.accent) : ink(c.ui.theme.text), text, Align::right);
    ImGui::SetCursorScreenPos({c.left, y + c.ui.px(28)});
    if (rule) c.list->AddLine({c.left, y + c.ui.px(26)}, {c.right, y + c.ui.px(26)}, ink(c.ui.theme.line));
}

std::string without_middle(ImFont* font, const std::string& text, float width) {
    if (text_width(font, text) <= width) return text;
    std::vector<std::size_t> begins;  // byte offsets of its characters, and the end
    for (std::size_t i = 0; i < text.size(); i += std::max<std::size_t>(decode_utf8(text.substr(i)).bytes, 1))
        begins.push_back(i);
    begins.push_back(text.size());
    const std::size_t all = begins.size() - 1;
    const auto shortened = [&](std::size_t kept) {
        return text.substr(0, begins[(kept + 1) / 2]) + "…" + text.substr(begins[all - kept / 2]);
    };
    std::size_t fits = 0, too_many = all;
    while (too_many - fits > 1) {
        const std::size_t middle = (fits + too_many) / 2;
        (text_width(font, shortened(middle)) <= width ? fits : too_many) = middle;
    }
    return shortened(fits);
}

std::string two_names(ImFont* font, const std::string& row, const std::string& between,
                      const std::string& column, float width) {
    const float room = width - text_width(font, between);
    // Either name may use the part of its half that the other leaves free.
    const float first = std::max(room / 2, room - text_width(font, column));
    const std::string shown = without_middle(font, row, first);
    return shown + between + without_middle(font, column, room - text_width(font, shown));
}

void remark(const Column& c, const std::string& text) {
    if (text.empty()) return;
    ImGui::SetCursorScreenPos({c.left, c.y()});
    ImGui::PushStyleColor(ImGuiCol_Text, ink(c.ui.theme.secondary));
    wrapped_text(text, c.width());
    ImGui::PopStyleColor();
    c.advance(6);
}

}  // namespace attnscope
