// Every head of every layer beside each other, with what it does as numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/ui/widgets.h"
#include "app/views/choosing.h"
#include "app/views/small_pictures.h"
#include "app/views/views.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

using Run = std::function<void(const Action&)>;

constexpr float k_margin = 18, k_header = 62, k_least_numbers = 96;
constexpr const char* k_by_layer = "layer and head";
constexpr const char* k_by_similarity = "likeness to the chosen head";

/// The number that heads are sorted by, and that stands below each; by layer it is the entropy.
std::optional<double> number_of(const SurveyedHead& head, const std::string& order) {
    if (order == k_by_similarity) return head.similarity;
    const auto score = find_choice<HeadScore>(order);
    return head.scores[static_cast<std::size_t>(score.value_or(HeadScore::entropy))];
}

std::string name_of_number(const std::string& order) {
    if (order == k_by_similarity) return "alike";
    return order == k_by_layer ? std::string(name_of(HeadScore::entropy)) : order;
}

/// The heads in the chosen order: the largest number first, heads without the number last; or as they stand
/// in the layers.
std::vector<const SurveyedHead*> sorted(const Survey& survey, const std::string& order) {
    std::vector<const SurveyedHead*> heads;
    for (const SurveyedHead& each : survey.heads) heads.push_back(&each);
    if (order != k_by_layer)
        std::ranges::stable_sort(heads, std::greater{}, [&](const SurveyedHead* each) {
            return number_of(*each, order).value_or(-1);
        });
    return heads;
}

std::string name_of_head(const SurveyedHead& head) {
    const std::string layer = head.at.layer > 0 ? fmt::format("layer {}, ", head.at.layer) : "";
    return layer + (head.at.head < 0 ? "mean" : fmt::format("head {}", head.at.head + 1));
}

std::string number_text_of(const std::optional<double>& number) {
    return number ? fixed_text(*number, 2) : "–";
}

/// All numbers of a head, one per line.
std::string numbers_text(const SurveyedHead& head) {
    std::string text = name_of_head(head);
    for (const auto& [score, name] : choices<HeadScore>())
        if (const auto& number = head.scores[static_cast<std::size_t>(score)])
            text += fmt::format("\n{}  {}", fixed_text(*number, 3), name);
    return text + fmt::format("\n{}  in common with the chosen head", fixed_text(head.similarity, 3));
}

void header(Desk& desk, const Ui& ui, const Area& area, const Survey* survey, const Stage& stage) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Trace& trace = *desk.document.trace();
    const int layers = layers_of(trace), heads = stage.shape().heads;
    const float title = draw_text(list, ui.fonts.title, area.min, ink(ui.theme.text),
                                  capitalized(stage_heading(*stage.info)) + " of every head");
    const std::string count = layers > 1 ? fmt::format("{} layers × {} heads", layers, heads)
                                         : fmt::format("{} head{}", heads, heads == 1 ? "" : "s");
    draw_text(list, ui.fonts.body, {area.min.x + title + ui.px(14), area.min.y + ui.px(7)},
              ink(ui.theme.secondary),
              count + "  ·  click a head to show it everywhere, Shift+click to compare it" +
                  (stage.layer > 0 ? ", right-click to ablate it" : ""),
              Align::left, area.width() - title - ui.px(14));
    const float y = area.min.y + ui.px(34), label = text_width(ui.fonts.body, "Sort by") + ui.px(10);
    draw_text(list, ui.fonts.body, {area.min.x, y + ui.px(4)}, ink(ui.theme.secondary), "Sort by");
    std::vector<Choice> rows = {{k_by_layer, k_by_layer, "As they stand in the computation"},
                                {k_by_similarity, k_by_similarity, "What both have in common, 0 to 1"}};
    for (const auto& [score, name] : choices<HeadScore>())
        rows.push_back({std::string(name), std::string(name), std::string(help_of(score))});
    ImGui::SetCursorScreenPos({area.min.x + label, y});
    ImGui::SetNextItemWidth(ui.px(230));
    std::string& order = desk.state.heads_order;
    if (const auto picked = choice_field(ui, "##order", rows, order)) order = *picked;
    help_at_rest(ui, "The order of the heads");
    const auto score = find_choice<HeadScore>(order);
    const std::string help = order == k_by_similarity
                                 ? "the share of attention that two heads have in common"
                                 : std::string(help_of(score.value_or(HeadScore::entropy)));
    const std::string text =
        survey && !survey->problem.empty() ? survey->problem : name_of_number(order) + ": " + help;
    draw_text(list, ui.fonts.caption, {area.min.x + label + ui.px(244), y + ui.px(6)}, ink(ui.theme.faint),
              text, Align::left, area.width() - label - ui.px(244));
}

/// One range for all: 0 … 1 for weights, else that of all heads of all layers.
ColorScale common_scale(const Desk& desk, const Survey& survey, const Trace& trace) {
    Presentation presentation = desk.document.presentation();
    const Stage& first = *survey.heads.front().stage;
    presentation.range = range_across_steps(first, presentation.range);
    if (presentation.range.kind == RangeChoice::Kind::fixed)
        return color_scale(trace, first, {}, presentation);
    presentation.range = {RangeChoice::Kind::all};
    ColorScale scale = color_scale(trace, first, {}, presentation);
    for (const SurveyedHead& each : survey.heads) {
        const ColorScale own = color_scale(trace, *each.stage, {}, presentation);
        scale.min = std::min(scale.min, own.min);
        scale.max = std::max(scale.max, own.max);
    }
    return scale;
}

/// Shows a head everywhere: in its layer.
void show(Session& session, const SurveyedHead& head) {
    session.presentation.focus(head.stage->key());
    session.presentation.head = head.at.head < 0 ? HeadChoice{HeadChoice::Kind::mean}
                                                 : HeadChoice{HeadChoice::Kind::one, head.at.head};
}

void press(Desk& desk, const SurveyedHead& head) {
    const bool compares = ImGui::GetIO().KeyShift;
    desk.document.change([&](Session& session) {
        if (compares) {
            session.pinned =
                Pinned{session.experiment, session.presentation.head, session.presentation.layer()};
            session.presentation.view = ViewKind::compare;
        }
        show(session, head);
    });
}

void tile(Desk& desk, const Ui& ui, const Survey& survey, const SurveyedHead& head, const ColorScale& scale,
          const Grid& grid, const Area& place) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Trace& trace = *survey.of.trace;
    const HeadChoice choice = head.at.head < 0 ? HeadChoice{HeadChoice::Kind::mean}
                                               : HeadChoice{HeadChoice::Kind::one, head.at.head};
    const ShownStage shown{&trace, head.stage, head_on_screen(*head.stage, choice)};
    const Area picture = picture_in(place, shown);
    const bool chosen = survey.of.chosen == head.at;
    ImGui::PushID(head.at.layer * 1000 + head.at.head);
    ImGui::SetCursorScreenPos(place.min);
    const bool clicked = ImGui::InvisibleButton("head", {place.width(), place.height()});
    const bool hovered = ImGui::IsItemHovered(), right = ImGui::IsItemClicked(ImGuiMouseButton_Right);
    const bool pressed = keyboard_use(ui, ImGui::GetID("head"), picture).pressed;
    ImGui::PopID();
    if (hovered) {
        const ImVec2 mouse = ImGui::GetIO().MousePos;
        const Cell cell{
            cell_at((mouse.y - picture.min.y) / picture.height() * static_cast<float>(shown.rows()),
                    shown.rows()),
            cell_at((mouse.x - picture.min.x) / picture.width() * static_cast<float>(shown.columns()),
                    shown.columns())};
        if (picture.contains(mouse)) point_at(desk, shown, cell);
        tooltip(ui, numbers_text(head));
    }
    paint_matrix(desk, ui, *list, shown, picture, scale);
    const Highlight lit = current_highlight(desk.state, desk.document.presentation(), &trace);
    const float pitch = picture.height() / static_cast<float>(shown.rows());
    const int row = lit_row(lit, *head.stage->info), column = lit_column(lit, *head.stage->info);
    if (pitch >= 2) outline_row(ui, *list, picture, row, shown.rows(), 0.7f);
    if (pitch >= 3 && row >= 0 && row < shown.rows() && column >= 0 && column < shown.columns()) {
        const float width = picture.width() / static_cast<float>(shown.columns());
        const ImVec2 corner{picture.min.x + width * static_cast<float>(column),
                            picture.min.y + pitch * static_cast<float>(row)};
        outline_cell(ui, *list, {corner, {corner.x + width, corner.y + pitch}});
    }
    if (chosen || hovered)
        list->AddRect({picture.min.x - 4, picture.min.y - 4}, {picture.max.x + 4, picture.max.y + 4},
                      ink(chosen ? ui.theme.accent : ui.theme.line), 3, 0, ui.px(1.8f));
    if (clicked || pressed) press(desk, head);
    if (right && head.at.layer > 0 && head.at.head >= 0)
        toggle_ablation(desk, {head.at.layer, head.at.head + 1});
    if (!grid.has_texts()) return;
    const std::vector<HeadPlace>& ablated = trace.experiment.transformer.ablated;
    const bool is_ablated =
        std::ranges::find(ablated, HeadPlace{head.at.layer, head.at.head + 1}) != ablated.end();
    const float y = picture.max.y + ui.px(4);
    const std::string name = name_of_head(head) + (is_ablated ? ", ablated" : "");
    draw_text(list, chosen ? ui.fonts.strong : ui.fonts.caption, {picture.min.x, y},
              ink(chosen ? ui.theme.text : ui.theme.secondary), name, Align::left, picture.width());
    const std::string& order = desk.state.heads_order;
    const std::string number = number_text_of(number_of(head, order));
    const std::string with_name = name_of_number(order) + " " + number;
    const float room = picture.width() - text_width(ui.fonts.strong, name) - ui.px(10);
    const bool wide = picture.width() >= ui.px(k_least_numbers);
    const std::string shown_number = text_width(ui.fonts.caption, with_name) <= room ? with_name : number;
    if (wide && text_width(ui.fonts.caption, shown_number) <= room)
        draw_text(list, ui.fonts.caption, {picture.max.x, y}, ink(ui.theme.secondary), shown_number,
                  Align::right);
}

}  // namespace

std::string why_no_heads(const Desk& desk) {
    if (!desk.document.trace()) return "";
    return main_stage(*desk.document.trace()).info->rows == Axis::query_token ? "" : "There is no attention";
}

void heads_view(Desk& desk, const Ui& ui, const Area& area, const Run&) {
    const float margin = ui.px(k_margin);
    const Area inside{{area.min.x + margin, area.min.y + ui.px(12)},
                      {area.max.x - margin, area.max.y - ui.px(10)}};
    // Kept while it is drawn: a click may close the view.
    const std::shared_ptr<const Survey> survey = desk.document.survey();
    const Trace& trace = *desk.document.trace();
    const Stage& stage = surveyed_stage(trace, desk.document.presentation());
    header(desk, ui, inside, survey.get(), stage);
    const Area body{{inside.min.x, inside.min.y + ui.px(k_header + 14)}, inside.max};
    if (!survey || survey->heads.empty()) {
        if (!survey || survey->problem.empty())
            draw_text(ImGui::GetWindowDrawList(), ui.fonts.body, body.min, ink(ui.theme.secondary),
                      "Looking at every head…", Align::left, body.width());
        return;
    }
    const std::string& order = desk.state.heads_order;
    const std::vector<const SurveyedHead*> heads = sorted(*survey, order);
    const int count = static_cast<int>(heads.size()), layers = std::max(1, layers_of(*survey->of.trace));
    const bool by_layer = order == k_by_layer && layers > 1 && count % layers == 0;
    const Grid grid = by_layer ? grid_of(ui, body, layers, count / layers) : grid_for(ui, body, count);
    if (grid.side < 2) return;
    const ColorScale scale = common_scale(desk, *survey, *survey->of.trace);
    for (int i = 0; i < count; ++i)
        tile(desk, ui, *survey, *heads[static_cast<std::size_t>(i)], scale, grid, grid.place(body, i));
}

}  // namespace attnscope
