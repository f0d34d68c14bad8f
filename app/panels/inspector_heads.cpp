#include "app/panels/inspector_heads.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "app/document/heads_order.h"
#include "core/number_text.h"
#include "core/picture/color_scale.h"

namespace attnscope {
namespace {

constexpr float k_head_row = 18, k_head_label = 92, k_least_head_bars = 16;  ///< units

/// The cell's number in one head, or in the mean over the heads.
struct HeadValue {
    const SurveyedHead* head;
    float value;
};

std::vector<HeadValue> values_in_heads(const Survey& survey, const HeadsOrder& order, const Cell& cell) {
    std::vector<HeadValue> values;
    for (const SurveyedHead* each : in_order(survey, order)) {
        const Buffer& buffer = each->stage->buffer;
        values.push_back({each, each->at.head < 0 ? buffer.mean_at(cell.row, cell.column)
                                                  : buffer.at(each->at.head, cell.row, cell.column)});
    }
    return values;
}

/// Bars from the left; negative numbers are as long as their magnitude.
void head_row(const Column& c, const HeadValue& each, const std::string& name, bool own, float y,
              float largest, float text_room, const ColorScale& colors) {
    const float gap = c.ui.px(10), left = c.left + c.ui.px(k_head_label) + gap,
                right = c.right - text_room - gap;
    const bool bars = right - left >= c.ui.px(k_least_head_bars);
    draw_text(c.list, own ? c.ui.fonts.strong : c.ui.fonts.body, {c.left, y + c.ui.px(1)},
              ink(own ? c.ui.theme.text : c.ui.theme.secondary), name, Align::left,
              bars ? c.ui.px(k_head_label) : right - c.left);
    if (bars && std::isfinite(each.value) && largest > 0)
        c.list->AddRectFilled(
            {left, y + c.ui.px(3)},
            {left + std::max(1.0f, std::abs(each.value) / largest * (right - left)), y + c.ui.px(15)},
            ink(colors.color(each.value)), 1);
    draw_text(c.list, c.ui.fonts.mono_small, {c.right, y + c.ui.px(2)}, ink(c.ui.theme.text),
              reading_text(each.value), Align::right);
}

}  // namespace

void cell_in_every_head(Desk& desk, const Column& c, const InspectedCell& at, const ColorScale& colors) {
    const std::shared_ptr<const Survey> survey = desk.document.survey();
    if (!survey || at.slot != SlotName::live || survey->of.trace != desk.document.trace()) return;
    if (survey->heads.size() < 2 || survey->of.stage != at.stage->info) return;
    const HeadsOrder& order = desk.state.heads_order;
    const std::vector<HeadValue> values = values_in_heads(*survey, order, at.cell);
    // Weights are bars of 0 … 1, as in the row.
    float largest = at.stage->info->unit == Unit::probability ? 1 : 0, text_room = 0;
    for (const HeadValue& each : values) {
        if (std::isfinite(each.value)) largest = std::max(largest, std::abs(each.value));
        text_room = std::max(text_room, text_width(c.ui.fonts.mono_small, reading_text(each.value)));
    }
    heading(c, "THIS CELL IN EVERY HEAD", "by " + name_of_order(order));
    const float pitch = c.ui.px(k_head_row);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(values.size()), pitch);
    const float top = ImGui::GetCursorScreenPos().y;
    while (clipper.Step())
        for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
            const HeadValue& each = values[static_cast<std::size_t>(i)];
            const bool own = each.head->at.head == at.head && each.head->stage.get() == at.stage;
            head_row(c, each, name_of_head(*each.head, {}), own, top + static_cast<float>(i) * pitch, largest,
                     text_room, colors);
        }
    clipper.End();
    c.advance(6);
}

}  // namespace attnscope
