#include "app/views/matrix_panel.h"
#include "app/ui/widgets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/views/labels.h"
#include "core/number_text.h"

namespace attnscope {

float longest_text(const Ui& ui, int count, const std::function<std::string(int)>& label) {
    constexpr int k_measured = 128;
    float longest = 0;
    for (int i = 0; i < count; i += std::max(1, count / k_measured))
        longest = std::max(longest, text_width(ui.fonts.strong, legible(label(i))));
    return longest;
}

void matrix_labels(const Ui& ui, const ShownStage& shown, const MatrixPlace& place, bool rows, float width,
                   int lit_row, int lit_column, float column_room) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const int row_stride = label_stride(ui, place.rows.pitch());
    for (int i = place.rows.first(); rows && i <= place.rows.last(); ++i) {
        if (!label_shown(i, row_stride, lit_row)) continue;
        const bool lit = i == lit_row;
        draw_text(list, lit ? ui.fonts.strong : ui.fonts.body,
                  {place.columns.view_min - ui.px(8), place.rows.middle(i) - ui.px(8)},
                  ink(lit ? ui.theme.text : ui.theme.secondary), legible(shown.row_label(i)), Align::right,
                  width - ui.px(8));
    }
    if (column_room <= 0) return;
    const bool level = column_room <= ui.px(20);
    const int column_stride = label_stride(ui, place.columns.pitch());
    const float y = place.rows.view_min - ui.px(5);
    for (int j = place.columns.first(); j <= place.columns.last(); ++j) {
        if (!label_shown(j, column_stride, lit_column)) continue;
        const float x = place.columns.middle(j);
        if (x < place.columns.view_min || x > place.columns.view_max) continue;
        const bool lit = j == lit_column;
        ImFont* font = lit ? ui.fonts.strong : ui.fonts.body;
        const ImU32 color = ink(lit ? ui.theme.text : ui.theme.secondary);
        const std::string text = legible(shown.column_label(j));
        if (level)
            draw_text(list, font, {x, y - compat::font_size(*font)}, color, text, Align::center);
        else
            upright_text(list, font, {x, y}, color, fitted(font, text, column_room - ui.px(8)));
    }
}

ImFont* number_font(const Ui& ui, const std::string& widest, ImVec2 cell) {
    constexpr float k_most_of_cell = 0.7f;
    for (ImFont* font : {ui.fonts.mono_large, ui.fonts.mono_medium})
        if (text_width(font, widest) <= k_most_of_cell * cell.x &&
            compat::font_size(*font) <= k_most_of_cell * cell.y)
            return font;
    for (ImFont* font : {ui.fonts.mono, ui.fonts.mono_small})
        if (text_width(font, widest) <= cell.x - ui.px(3) && compat::font_size(*font) <= cell.y - ui.px(2))
            return font;
    return nullptr;
}

namespace {

/// A number in few decimals: 0 is "0" and, where no number is negative, one that is rounded to it "<.01".
std::string panel_number(float number, int decimals, bool signs, bool is_positive) {
    if (std::abs(number) >= 1000) return short_text(number);
    const double unit = std::pow(10, decimals), rounded = std::round(number * unit) / unit + 0.0;
    if (number == 0 && is_positive) return "0";
    if (rounded == 0 && number > 0 && is_positive && !signs)
        return decimals == 0 ? "<1" : decimals == 1 ? "<.1" : "<.01";
    return signs && rounded > 0 ? fmt::format("+{:.{}f}", rounded, decimals)
                                : fmt::format("{:.{}f}", rounded, decimals);
}

}  // namespace

void cell_numbers(Desk& desk, const Ui& ui, const MatrixPlace& place, const ColorScale& scale, bool signs,
                  const std::function<std::optional<float>(int, int)>& value) {
    if (!desk.document.presentation().values || is_behind(desk)) return;
    // As many decimals for all as leave three digits to the largest.
    const double most = std::max(std::abs(scale.min), std::abs(scale.max));
    const int decimals = most < 10 ? 2 : most < 100 ? 1 : 0;
    const std::string widest = (signs || scale.min < 0 ? "-" : "") + std::string(most < 100 ? "0.00" : "000");
    ImFont* font = number_font(ui, widest, {place.columns.pitch(), place.rows.pitch()});
    if (!font) return;
    ImDrawList* list = ImGui::GetWindowDrawList();
    for (int i = place.rows.first(); i <= place.rows.last(); ++i)
        for (int j = place.columns.first(); j <= place.columns.last(); ++j) {
            const std::optional<float> number = value(i, j);
            if (!number || !std::isfinite(*number)) continue;
            const Rgb8 color = contrasting(scale.color(*number), ui.theme.on_light, ui.theme.on_dark);
            const std::string text = panel_number(*number, decimals, signs, scale.min >= 0);
            draw_text(list, font,
                      {place.columns.middle(j), place.rows.middle(i) - compat::font_size(*font) / 2},
                      ink(color), text, Align::center);
        }
}

std::string range_words(const ColorScale& scale) {
    return fmt::format("{} … {}", short_text(scale.min), short_text(scale.max));
}

void panel_caption(const Ui& ui, float left, float top, float width, const std::string& name,
                   const std::string& facts, const std::string& below) {
    const bool fits = text_width(ui.fonts.title, name) <= width;
    ImFont* const font = fits ? ui.fonts.title : ui.fonts.strong;
    const float title = draw_fitted(ui, font, {left, top + ui.px(fits ? 0 : 6)}, ui.theme.text, name, width);
    draw_fitted(ui, ui.fonts.body, {left + title + ui.px(10), top + ui.px(6)}, ui.theme.secondary, facts,
                std::max(ui.px(20), width - title - ui.px(10)));
    draw_fitted(ui, ui.fonts.caption, {left, top + ui.px(26)}, ui.theme.secondary, below, width);
}

}  // namespace attnscope
