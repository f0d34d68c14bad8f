#include "app/panels/inspector_heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "app/document/heads_order.h"
#include "app/ui/widgets.h"
#include "core/graph/row_steps.h"
#include "core/number_text.h"
#include "core/picture/color_scale.h"

namespace attnscope {
namespace {

constexpr float k_head_row = 18, k_head_label = 92, k_least_head_bars = 16, k_head_gap = 10;  ///< units

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

/// The score that became a weight of one head, and the largest open one of its row.
struct ScoreInRow {
    float score, largest;
};

/// nullopt for a mean and for other stages.
std::optional<ScoreInRow> score_of(const Trace& trace, const SurveyedHead& head, const Cell& cell) {
    const Stage* scores = head.at.head < 0 ? nullptr : scores_before(trace, *head.stage);
    const Stage* masked = trace.find(StageRole::masked_scores, head.stage->layer);
    if (!scores || !masked) return std::nullopt;
    return ScoreInRow{scores->buffer.at(head.at.head, cell.row, cell.column),
                      masked->buffer.row(head.at.head, cell.row).maxCoeff<Eigen::PropagateNaN>()};
}

/// What the rows share: the value of the longest bar, and the widths of their parts in pixels.
struct HeadRows {
    float largest, label_room, value_room, score_room;  ///< score_room 0: no scores
    const ColorScale& colors;

    /// The right ends of the columns of numbers: the weight, the row's largest score, the score.
    std::array<float, 3> ends(const Column& c) const {
        const float gap = c.ui.px(k_head_gap), second = c.right - value_room - gap;
        return {c.right, second, second - score_room - gap};
    }
};

/// Bars from the left; negative numbers are as long as their magnitude.
void head_row(const Column& c, const HeadValue& each, const std::optional<ScoreInRow>& score,
              const std::string& name, bool own, float y, const HeadRows& rows) {
    const float gap = c.ui.px(k_head_gap), left = c.left + rows.label_room + gap;
    const auto [value_end, largest_end, score_end] = rows.ends(c);
    const float right = rows.score_room > 0 ? score_end - rows.score_room - gap : largest_end;
    const bool bars = right - left >= c.ui.px(k_least_head_bars);
    const auto number = [&](float end, float value, Rgb8 color) {
        draw_text(c.list, c.ui.fonts.mono_small, {end, y + c.ui.px(2)}, ink(color), reading_text(value),
                  Align::right);
    };
    draw_text(c.list, own ? c.ui.fonts.strong : c.ui.fonts.body, {c.left, y + c.ui.px(1)},
              ink(own ? c.ui.theme.text : c.ui.theme.secondary), name, Align::left,
              bars ? rows.label_room : right - c.left);
    if (bars && std::isfinite(each.value) && rows.largest > 0)
        value_bar(
            c.ui, *c.list,
            {{left, y + c.ui.px(3)},
             {left + std::max(1.0f, std::abs(each.value) / rows.largest * (right - left)), y + c.ui.px(15)}},
            rows.colors.color(each.value));
    number(value_end, each.value, c.ui.theme.text);
    std::string help = fmt::format("{}   {}", name, exact_text(each.value));
    if (score)
        help += fmt::format("\nscore {}, largest of its row {}", exact_text(score->score),
                            exact_text(score->largest));
    help_over(c.ui, {{c.left, y}, {c.right, y + c.ui.px(k_head_row)}}, help);
    if (!score || !bars) return;
    number(largest_end, score->largest, c.ui.theme.secondary);
    number(score_end, score->score, c.ui.theme.secondary);
}

/// What the columns of numbers are, above them.
void column_titles(const Column& c, const HeadRows& rows) {
    struct Title {
        const char *text, *help;
    };
    constexpr Title k_titles[] = {{"weight", "The weight that the score becomes"},
                                  {"row max", "The largest open score of the row"},
                                  {"score", "The last score before the mask"}};
    const std::array<float, 3> ends = rows.ends(c);
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const float width = draw_text(c.list, c.ui.fonts.caption, {ends[i], c.y()}, ink(c.ui.theme.faint),
                                      k_titles[i].text, Align::right);
        help_over(c.ui, {{ends[i] - width, c.y()}, {ends[i], c.y() + c.ui.px(16)}}, k_titles[i].help);
    }
    c.advance(16);
}

}  // namespace

void cell_in_every_head(Desk& desk, const Column& c, const InspectedCell& at, const ColorScale& colors) {
    const std::shared_ptr<const Survey> survey = desk.document.survey();
    if (!survey || at.slot != SlotName::live || survey->of.trace != desk.document.trace()) return;
    if (survey->heads.size() < 2 || survey->of.stage != at.stage->info) return;
    const HeadsOrder& order = desk.state.heads_order;
    const std::vector<HeadValue> values = values_in_heads(*survey, order, at.cell);
    // Weights are bars of 0 … 1, as in the row.
    HeadRows rows{at.stage->info->unit == Unit::probability ? 1.0f : 0.0f, 0, 0, 0, colors};
    for (const HeadValue& each : values) {
        rows.label_room = std::clamp(text_width(c.ui.fonts.strong, name_of_head(*each.head, {})),
                                     rows.label_room, c.ui.px(k_head_label));
        if (std::isfinite(each.value)) rows.largest = std::max(rows.largest, std::abs(each.value));
        rows.value_room =
            std::max(rows.value_room, text_width(c.ui.fonts.mono_small, reading_text(each.value)));
    }
    heading(c, "THIS CELL IN EVERY HEAD", "by " + name_of_order(order));
    const Trace& trace = *survey->of.trace;
    const bool of_weights = scores_before(trace, *at.stage) != nullptr;
    if (of_weights) {
        rows.value_room = std::max(rows.value_room, text_width(c.ui.fonts.caption, "weight"));
        rows.score_room =
            std::max(text_width(c.ui.fonts.mono_small, "-00.00"), text_width(c.ui.fonts.caption, "row max"));
        column_titles(c, rows);
    }
    const float pitch = c.ui.px(k_head_row);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(values.size()), pitch);
    const float top = ImGui::GetCursorScreenPos().y;
    while (clipper.Step())
        for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
            const HeadValue& each = values[static_cast<std::size_t>(i)];
            const bool own = each.head->at.head == at.head && each.head->stage.get() == at.stage;
            head_row(c, each, of_weights ? score_of(trace, *each.head, at.cell) : std::nullopt,
                     name_of_head(*each.head, {}), own, top + static_cast<float>(i) * pitch, rows);
        }
    clipper.End();
    c.advance(6);
}

}  // namespace attnscope
