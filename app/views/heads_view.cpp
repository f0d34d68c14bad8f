// Every head of every layer beside each other, with what it does as numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "app/document/heads_order.h"
#include "app/ui/widgets.h"
#include "app/views/choosing.h"
#include "app/views/labels.h"
#include "app/views/matrix_panel.h"
#include "app/views/tile_grid.h"
#include "app/views/views.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/picture/colormap.h"
#include "core/picture/head_names.h"
#include "core/session/applies.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

using Run = std::function<void(const Action&)>;

constexpr float k_heads_margin = 18, k_heads_header = 62, k_least_numbers = 96;
constexpr float k_least_with_pairs = 420, k_most_pair = 56;
constexpr float k_crosshair = 5;  ///< units; the length of its arms from the middle

std::string number_text_of(const std::optional<double>& number) {
    return number ? fixed_text(*number, 2) : "–";
}

bool can_ablate(const Trace& trace) { return why_unused(option_named("ablate"), trace.experiment).empty(); }

HeadPlace head_place(const HeadPosition& at) { return {std::max(at.layer, 1), at.head + 1}; }

/// All numbers of a head, one per line.
std::string numbers_text(const SurveyedHead& head, const Presentation& presentation) {
    std::string text = name_of_head(head, presentation);
    for (const auto& [score, name] : choices<HeadScore>())
        if (const auto& number = head.scores[static_cast<std::size_t>(score)])
            text += fmt::format("\n{}  {}", fixed_text(*number, 3), name);
    return text + fmt::format("\n{}  similarity to the chosen head", fixed_text(head.similarity, 3));
}

/// The names of the heads, to type, as wide as they are where the text to the left of them, `before` pixels
/// wide, leaves that room; returns the width, 0 where the room behind `left` is too small.
float names_field(Desk& desk, const Ui& ui, const Area& area, float y, float left, float before) {
    std::string names = desk.document.presentation().head_names;
    const float label = text_width(ui.fonts.body, "Names") + ui.px(8), room = area.width() - left - label;
    const float liked =
        std::min({text_width(ui.fonts.body, names) + ui.px(24), ui.px(460), room - before - ui.px(14)});
    const float width = std::min(std::max(liked, ui.px(230)), room);
    if (width < ui.px(60)) return 0;
    draw_text(ImGui::GetWindowDrawList(), ui.fonts.body, {area.max.x - width - label, y + ui.px(4)},
              ink(ui.theme.secondary), "Names");
    ImGui::SetCursorScreenPos({area.max.x - width, y});
    ImGui::SetNextItemWidth(width);
    const std::size_t drawn = ui.controls.focus.drawn.size();
    line_field(ui, "##names", "head 1; head 2; …", "Names of the heads, in order, separated by ;", names);
    if (desk.state.reveal.take("head-names")) give_keyboard_since(ui, drawn);
    if (names != desk.document.presentation().head_names) set_option(desk, "head-names", names, "head names");
    return width + label + ui.px(14);
}

void copy_numbers(Desk& desk, const Ui& ui, const Survey& survey) {
    ui.copy(heads_table(survey, desk.state.heads_order, desk.document.presentation()));
    desk.state.notice = {fmt::format("copied the numbers of {} heads", individual_heads(survey).size()),
                         false};
}

/// `taken` is the width at the right end of the first line that something else has.
void header(Desk& desk, const Ui& ui, const Area& area, const Survey* survey, const Stage& stage,
            float taken) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Trace& trace = *desk.document.trace();
    const int layers = layers_of(trace), heads = stage.shape().heads;
    const float title = draw_text(list, ui.fonts.title, area.min, ink(ui.theme.text),
                                  capitalized(stage_heading(*stage.info)) + " of every head");
    const std::string count = layers > 1 ? fmt::format("{} layers × {} heads", layers, heads)
                                         : fmt::format("{} head{}", heads, heads == 1 ? "" : "s");
    draw_fitted(ui, ui.fonts.body, {area.min.x + title + ui.px(14), area.min.y + ui.px(7)},
                ui.theme.secondary,
                count + "  ·  click a head to show it everywhere, Shift+click to compare it" +
                    (can_ablate(trace) ? ", right-click to ablate it" : ""),
                std::max(ui.px(20), area.width() - title - ui.px(28) - taken));
    const float y = area.min.y + ui.px(34), label = text_width(ui.fonts.body, "Sort by") + ui.px(10);
    draw_text(list, ui.fonts.body, {area.min.x, y + ui.px(4)}, ink(ui.theme.secondary), "Sort by");
    const auto help_of_order = [](const HeadsOrder& order) -> std::string {
        switch (order.by) {
            case HeadsOrder::By::layer: return "In the order of the computation";
            case HeadsOrder::By::similarity: return "The overlap with the chosen head's weights, 0 to 1";
            case HeadsOrder::By::score: return std::string(help_of(order.score));
        }
        return "";
    };
    std::vector<Choice> rows;
    for (const HeadsOrder& each : heads_orders())
        rows.push_back({name_of_order(each), name_of_order(each), help_of_order(each)});
    ImGui::SetCursorScreenPos({area.min.x + label, y});
    ImGui::SetNextItemWidth(ui.px(230));
    HeadsOrder& order = desk.state.heads_order;
    if (const auto picked = choice_field(ui, "##order", rows, name_of_order(order))) {
        const std::vector<HeadsOrder> orders = heads_orders();
        order = *std::ranges::find(orders, *picked, name_of_order);
    }
    help_at_rest(ui, "The order of the heads");
    const float copy = text_width(ui.fonts.body, "Copy") + ui.px(20),
                controls = ui.px(244) + copy + ui.px(14);
    if (survey && survey->problem.empty()) {
        ImGui::SetCursorScreenPos({area.min.x + label + ui.px(238), y});
        if (small_button(ui, "copy numbers", "Copy",
                         "Copies the numbers of every head as a table, for a spreadsheet", copy))
            copy_numbers(desk, ui, *survey);
    }
    const std::string help = order.by == HeadsOrder::By::similarity
                                 ? "similarity: the overlap of the weights, 0 to 1"
                             : order.by == HeadsOrder::By::score
                                 ? fmt::format("{}: {}", name_of(order.score), help_of(order.score))
                                 : "below each head: the pattern that it matches best, 0 to 1";
    const std::string text = survey && !survey->problem.empty() ? survey->problem : help;
    const float names = names_field(desk, ui, area, y, label + controls, text_width(ui.fonts.caption, text));
    const float room = area.width() - label - controls - names;
    if (room >= ui.px(60))
        draw_text(list, ui.fonts.caption, {area.min.x + label + controls, y + ui.px(6)}, ink(ui.theme.faint),
                  text, Align::left, room);
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

/// The colors of the common range, from `right` to the left; returns their width.
float legend(const Ui& ui, const ColorScale& scale, float right, float top) {
    constexpr int k_steps = 48;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float width = ui.px(96), height = ui.px(9), y = top + ui.px(10);
    const auto number = [&](float x, double value, Align align) {
        return draw_text(list, ui.fonts.mono_small, {x, top + ui.px(8)}, ink(ui.theme.secondary),
                         short_text(value), align);
    };
    const float high = number(right, scale.max, Align::right), left = right - high - ui.px(6) - width;
    for (int i = 0; i < k_steps; ++i) {
        const auto x_of = [&](int step) {
            return left + width * static_cast<float>(step) / static_cast<float>(k_steps);
        };
        const double share = (i + 0.5) / k_steps;
        list->AddRectFilled({x_of(i), y}, {x_of(i + 1), y + height}, ink(scale.color(scale.value_at(share))));
    }
    const float low = number(left - ui.px(6), scale.min, Align::right), begin = left - ui.px(6) - low;
    help_over(ui, {{begin, top + ui.px(4)}, {right, top + ui.px(26)}},
              fmt::format("One range of colors for every head: {} to {}", exact_text(scale.min),
                          exact_text(scale.max)));
    return right - begin;
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

/// The cell of a tile that is lit: pointed at in any tile, or locked.
std::optional<Cell> lit_in(const Desk& desk, const ShownStage& shown) {
    const Highlight lit = current_highlight(desk.state, desk.document.presentation(), shown.trace);
    const Cell cell{lit_row(lit, *shown.stage->info), lit_column(lit, *shown.stage->info)};
    const bool inside =
        cell.row >= 0 && cell.row < shown.rows() && cell.column >= 0 && cell.column < shown.columns();
    return inside ? std::optional(cell) : std::nullopt;
}

/// Two lines that cross at `middle`, which they leave free, light on dark so that they show on every color.
void crosshair(const Ui& ui, ImDrawList& list, ImVec2 middle) {
    const float out = std::max(ui.px(k_crosshair), 2.0f), gap = ui.px(1.5f);
    const auto arms = [&](ImU32 color, float half) {
        for (const float side : {-1.0f, 1.0f}) {
            const float from = middle.x + side * gap, to = middle.x + side * out;
            list.AddRectFilled({std::min(from, to), middle.y - half}, {std::max(from, to), middle.y + half},
                               color);
            const float top = middle.y + side * gap, bottom = middle.y + side * out;
            list.AddRectFilled({middle.x - half, std::min(top, bottom)},
                               {middle.x + half, std::max(top, bottom)}, color);
        }
    };
    arms(ink(ui.theme.background), ui.px(1.5f));
    arms(ink(ui.theme.text), ui.px(0.75f));
}

/// Marks the lit cell: outlined, or by a crosshair where cells are smaller than that.
void mark_lit(Desk& desk, const Ui& ui, const ShownStage& shown, const Area& picture) {
    constexpr float k_least_outlined = 4;  // pixels
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Highlight lit = current_highlight(desk.state, desk.document.presentation(), shown.trace);
    const float height = picture.height() / static_cast<float>(shown.rows()),
                width = picture.width() / static_cast<float>(shown.columns());
    if (height >= 2) outline_row(ui, list, picture, lit_row(lit, *shown.stage->info), shown.rows(), 0.7f);
    const std::optional<Cell> cell = lit_in(desk, shown);
    if (!cell) return;
    const ImVec2 corner{picture.min.x + width * static_cast<float>(cell->column),
                        picture.min.y + height * static_cast<float>(cell->row)};
    if (std::min(width, height) >= k_least_outlined)
        outline_cell(ui, list, {corner, {corner.x + width, corner.y + height}});
    else
        crosshair(ui, list, {corner.x + width / 2, corner.y + height / 2});
}

/// The number of the cell that is pointed at in this head. Those of a locked cell are in the inspector.
std::optional<std::string> lit_number(const Desk& desk, const ShownStage& shown) {
    const std::optional<Cell> cell = lit_in(desk, shown);
    if (!cell || (!desk.state.hovered && !desk.state.hovered_token)) return std::nullopt;
    return shown.closed(cell->row, cell->column) ? "masked" : reading_text(shown.at(cell->row, cell->column));
}

/// What a tile without a line of text below it shows of the lit cell, over its lower corner.
void number_over(const Ui& ui, const Area& picture, const std::string& number) {
    const float width = text_width(ui.fonts.caption, number) + ui.px(6), height = ui.px(15);
    if (width > picture.width() || height * 2 > picture.height()) return;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 corner{picture.max.x - width, picture.max.y - height};
    list->AddRectFilled(corner, picture.max, ink(ui.theme.background, 0.85f), ui.px(3));
    draw_text(list, ui.fonts.caption, {picture.max.x - ui.px(3), corner.y}, ink(ui.theme.text), number,
              Align::right);
}

/// The name of the head and its number, below its picture.
void texts_below(Desk& desk, const Ui& ui, const Survey& survey, const SurveyedHead& head,
                 const Area& picture, const std::optional<std::string>& lit) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const bool chosen = survey.of.chosen == head.at;
    const bool ablated = is_ablated(survey.of.trace->experiment, head_place(head.at));
    const float y = picture.max.y + ui.px(4);
    std::string name = name_of_head(head, desk.document.presentation()) + (ablated ? ", ablated" : "");
    // Where that does not fit, the number and the name are enough.
    constexpr std::string_view k_before_number = "head ";
    if (name.starts_with(k_before_number) &&
        text_width(chosen ? ui.fonts.strong : ui.fonts.caption, name) > picture.width())
        name.erase(0, k_before_number.size());
    draw_text(list, chosen ? ui.fonts.strong : ui.fonts.caption, {picture.min.x, y},
              ink(chosen ? ui.theme.text : ui.theme.secondary), name, Align::left, picture.width());
    const HeadsOrder& order = desk.state.heads_order;
    const bool is_named =
        order.by == HeadsOrder::By::layer && head.at.head >= 0 &&
        !head_name(desk.document.presentation(), head.stage->shape().heads, head.at.layer, head.at.head)
             .empty();
    const HeadNumber known = number_of(head, order);
    const std::string number = lit ? *lit : number_text_of(known.value);
    const std::string with_name = (lit ? "here" : known.name) + " " + number;
    const float room = picture.width() - text_width(ui.fonts.strong, name) - ui.px(10);
    const bool wide = picture.width() >= ui.px(k_least_numbers);
    const bool fits = text_width(ui.fonts.caption, with_name) <= room;
    // A name says more than the pattern that it matches best, whose number alone says nothing beside it.
    if (is_named && !lit && !fits) return;
    const std::string shown_number = fits ? with_name : number;
    if (wide && text_width(ui.fonts.caption, shown_number) <= room)
        draw_text(list, ui.fonts.caption, {picture.max.x, y}, ink(lit ? ui.theme.text : ui.theme.secondary),
                  shown_number, Align::right);
}

/// The words beside the heads at the left edge and above those at the upper one; 0: the cells are too small.
struct WordRoom {
    float left = 0, above = 0;

    Area inside(const Area& body) const { return {{body.min.x + left, body.min.y + above}, body.max}; }
};

WordRoom word_room(const Ui& ui, const ShownStage& shown, const Area& body, const Grid& grid) {
    constexpr float k_least_row = 12, k_longest_word = 86;
    if (grid.side < ui.px(k_least_row) * static_cast<float>(std::max(shown.rows(), shown.columns())))
        return {};
    const auto room = [&](float longest) { return std::min(longest, ui.px(k_longest_word)) + ui.px(10); };
    const WordRoom words{
        room(longest_text(ui, shown.rows(), [&](int i) { return shown.row_label(i); })),
        room(longest_text(ui, shown.columns(), [&](int j) { return shown.column_label(j); }))};
    return words.left < body.width() / 3 && words.above < body.height() / 4 ? words : WordRoom{};
}

void words_of(const Desk& desk, const Ui& ui, const ShownStage& shown, const Area& picture, WordRoom words) {
    const Highlight lit = current_highlight(desk.state, desk.document.presentation(), shown.trace);
    const auto axis = [](int count, float low, float high) {
        return AxisPlace{count, low, high, low, (high - low) / static_cast<float>(count)};
    };
    MatrixPlace place{axis(shown.rows(), picture.min.y, picture.max.y),
                      axis(shown.columns(), picture.min.x, picture.max.x)};
    const float frame = ui.px(4);  // around a chosen head
    place.rows.view_min -= frame;
    place.columns.view_min -= frame;
    matrix_labels(ui, shown, place, words.left > 0, words.left, lit_row(lit, *shown.stage->info),
                  lit_column(lit, *shown.stage->info), words.above);
}

/// The heads beside the rows and above the columns; `label` names one, in at most `longest` pixels.
void pair_labels(const Ui& ui, const MatrixPlace& place, const std::function<std::string(int)>& label,
                 float longest, int row, int column) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float left = place.columns.view_min, top = place.rows.view_min, pitch = place.rows.pitch();
    const int count = place.rows.count;
    const int stride = label_stride(ui, pitch);
    const float half = compat::font_size(*ui.fonts.caption) / 2;
    const int across = std::max(stride, static_cast<int>(std::ceil((longest + ui.px(4)) / pitch)));
    for (int i = 0; i < count; ++i) {
        if (label_shown(i, stride, row))
            draw_text(list, ui.fonts.caption, {left - ui.px(6), place.rows.middle(i) - half},
                      ink(i == row ? ui.theme.text : ui.theme.secondary), label(i), Align::right);
        if (label_shown(i, across, column))
            draw_text(list, ui.fonts.caption, {place.columns.middle(i), top - ui.px(6) - 2 * half},
                      ink(i == column ? ui.theme.text : ui.theme.secondary), label(i), Align::center);
    }
}

/// How alike any two heads are: heads × heads, 0 … 1. A click chooses a row's head.
void pairs(Desk& desk, const Ui& ui, const Survey& survey, const Area& area) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    draw_text(list, ui.fonts.strong, area.min, ink(ui.theme.text), "Similarity of every pair", Align::left,
              area.width());
    if (!survey.pairs) {
        draw_text(list, ui.fonts.body, {area.min.x, area.min.y + ui.px(24)}, ink(ui.theme.secondary),
                  survey.problem.empty() ? "Comparing every pair…" : survey.problem, Align::left,
                  area.width());
        return;
    }
    const Presentation& presentation = desk.document.presentation();
    const std::vector<SurveyedHead> heads = individual_heads(survey);
    const int count = static_cast<int>(heads.size());
    const bool layers = heads.front().at.layer > 0;
    const auto label = [&](int i) {
        const HeadPosition& at = heads[static_cast<std::size_t>(i)].at;
        return layers ? fmt::format("{}.{}", at.layer, at.head + 1) : std::to_string(at.head + 1);
    };
    const float longest = longest_text(ui, count, label);
    const float left = area.min.x + longest + ui.px(10), top = area.min.y + ui.px(46);
    const float pitch = std::min({(area.max.x - left) / static_cast<float>(count),
                                  (area.max.y - top) / static_cast<float>(count), ui.px(k_most_pair)});
    if (pitch < 1) return;
    const float side = pitch * static_cast<float>(count);
    const MatrixPlace place{{count, top, top + side, top, pitch}, {count, left, left + side, left, pitch}};
    const ColorScale scale{&colormap_of(presentation.colormap), 0, 1};
    paint_difference(desk, ui, *list, survey.pairs, place.whole(), scale);
    const Buffer& values = *survey.pairs->values;
    cell_numbers(desk, ui, place, scale, false,
                 [&](int i, int j) { return std::optional(values.at(0, i, j)); });
    ImGui::SetCursorScreenPos(place.view().min);
    ImGui::InvisibleButton("pairs", {side, side});
    const bool hovered = ImGui::IsItemHovered();
    const Cell cell = place.at(ImGui::GetIO().MousePos);
    if (hovered) {
        const auto name = [&](int i) {
            return name_of_head(heads[static_cast<std::size_t>(i)], presentation);
        };
        tooltip(ui, fmt::format("{} and {}   {}\nClick: choose {}", name(cell.row), name(cell.column),
                                exact_text(values.at(0, cell.row, cell.column)), name(cell.row)));
        if (ImGui::IsMouseReleased(0) && was_click()) press(desk, heads[static_cast<std::size_t>(cell.row)]);
    }
    const auto chosen = std::ranges::find(heads, survey.of.chosen, &SurveyedHead::at) - heads.begin();
    const int row = hovered          ? cell.row
                    : chosen < count ? static_cast<int>(chosen)
                                     : -1,
              column = hovered ? cell.column : -1;
    outline_row(ui, *list, place.whole(), row, count);
    outline_column(ui, *list, place.whole(), column, count, 0.4f);
    pair_labels(ui, place, label, longest, row, column);
}

/// The mouse on a tile points at the cell of its matrix.
void point_in(Desk& desk, const ShownStage& shown, const Area& picture) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (!picture.contains(mouse)) return;
    const auto index = [](float at, float from, float size, int count) {
        return cell_at((at - from) / size * static_cast<float>(count), count);
    };
    point_at(desk, shown,
             {index(mouse.y, picture.min.y, picture.height(), shown.rows()),
              index(mouse.x, picture.min.x, picture.width(), shown.columns())});
}

ShownStage shown_head(const Survey& survey, const SurveyedHead& head) {
    const HeadChoice choice = head.at.head < 0 ? HeadChoice{HeadChoice::Kind::mean}
                                               : HeadChoice{HeadChoice::Kind::one, head.at.head};
    return {survey.of.trace.get(), head.stage, head_on_screen(*head.stage, choice)};
}

void tile(Desk& desk, const Ui& ui, const Survey& survey, const SurveyedHead& head, const ColorScale& scale,
          const Grid& grid, const Area& place) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ShownStage shown = shown_head(survey, head);
    const Area picture = picture_in(place, shown);
    const bool chosen = survey.of.chosen == head.at;
    ImGui::PushID(head.at.layer * 1000 + head.at.head);
    ImGui::SetCursorScreenPos(place.min);
    const bool clicked = ImGui::InvisibleButton("head", {place.width(), place.height()});
    const bool hovered = ImGui::IsItemHovered(), right = ImGui::IsItemClicked(ImGuiMouseButton_Right);
    const bool pressed = keyboard_use(ui, ImGui::GetID("head"), picture).pressed;
    ImGui::PopID();
    if (hovered) {
        point_in(desk, shown, picture);
        tooltip(ui, numbers_text(head, desk.document.presentation()));
    }
    paint_matrix(desk, ui, *list, shown, picture, scale);
    mark_lit(desk, ui, shown, picture);
    if (chosen || hovered)
        list->AddRect({picture.min.x - 4, picture.min.y - 4}, {picture.max.x + 4, picture.max.y + 4},
                      ink(chosen ? ui.theme.accent : ui.theme.line), 3, 0, ui.px(1.8f));
    if (clicked || pressed) press(desk, head);
    if (right && can_ablate(*survey.of.trace) && head.at.head >= 0)
        toggle_ablation(desk, head_place(head.at));
    const std::optional<std::string> lit = lit_number(desk, shown);
    if (grid.has_texts())
        texts_below(desk, ui, survey, head, picture, lit);
    else if (lit)
        number_over(ui, picture, *lit);
}

}  // namespace

std::string why_no_heads(const Desk& desk) {
    if (!desk.document.trace()) return "";
    return main_stage(*desk.document.trace()).info->rows == Axis::query_token ? "" : "There is no attention";
}

void heads_view(Desk& desk, const Ui& ui, const Area& area, const Run&) {
    const float margin = ui.px(k_heads_margin);
    const Area inside{{area.min.x + margin, area.min.y + ui.px(12)},
                      {area.max.x - margin, area.max.y - ui.px(10)}};
    const bool compares = desk.state.heads_order.by == HeadsOrder::By::similarity;
    desk.document.compare_heads(compares);
    // Kept while it is drawn: a click may close the view.
    const std::shared_ptr<const Survey> survey = desk.document.survey();
    const Trace& trace = *desk.document.trace();
    const Stage& stage = surveyed_stage(trace, desk.document.presentation());
    std::optional<ColorScale> scale;
    if (survey && !survey->heads.empty()) scale = common_scale(desk, *survey, *survey->of.trace);
    const float taken = scale ? legend(ui, *scale, inside.max.x, inside.min.y) : 0;
    header(desk, ui, inside, survey.get(), stage, taken);
    Area body{{inside.min.x, inside.min.y + ui.px(k_heads_header + 14)}, inside.max};
    if (!scale) {
        if (!survey || survey->problem.empty())
            draw_text(ImGui::GetWindowDrawList(), ui.fonts.body, body.min, ink(ui.theme.secondary),
                      "Analyzing every head…", Align::left, body.width());
        return;
    }
    const HeadsOrder& order = desk.state.heads_order;
    const std::vector<const SurveyedHead*> heads = in_order(*survey, order);
    if (compares && stage.info->unit == Unit::probability && body.width() >= ui.px(k_least_with_pairs) &&
        individual_heads(*survey).size() > 1) {
        const auto count = static_cast<float>(individual_heads(*survey).size());
        const float share = std::min({0.42f * body.width(), body.height(), ui.px(60 + k_most_pair * count)});
        pairs(desk, ui, *survey, {{body.max.x - share, body.min.y}, body.max});
        body.max.x -= share + ui.px(24);
    }
    const int count = static_cast<int>(heads.size()), layers = std::max(1, layers_of(*survey->of.trace));
    const bool by_layer = order.by == HeadsOrder::By::layer && layers > 1 && count % layers == 0;
    const auto grid_in = [&](const Area& place) {
        return by_layer ? grid_of(ui, place, layers, count / layers) : grid_for(ui, place, count);
    };
    const WordRoom words = word_room(ui, shown_head(*survey, *heads.front()), body, grid_in(body));
    const Area tiles = words.inside(body);
    const Grid grid = grid_in(tiles);
    if (grid.side < 2) return;
    for (int i = 0; i < count; ++i) {
        const SurveyedHead& head = *heads[static_cast<std::size_t>(i)];
        const Area place = grid.place(tiles, i);
        tile(desk, ui, *survey, head, *scale, grid, place);
        const ShownStage shown = shown_head(*survey, head);
        const WordRoom own{i % grid.columns == 0 ? words.left : 0, i < grid.columns ? words.above : 0};
        if (own.left > 0 || own.above > 0) words_of(desk, ui, shown, picture_in(place, shown), own);
    }
}

}  // namespace attnscope
