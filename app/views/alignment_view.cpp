// The soft alignment of an encoder and decoder, step by step (after Bahdanau et al. 2015, figure 3).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/document/walk.h"
#include "app/ui/widgets.h"
#include "app/views/alignment_scene.h"
#include "app/views/focus_layout.h"
#include "app/views/labels.h"
#include "app/views/matrix_panel.h"
#include "app/views/ribbons.h"
#include "app/views/views.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/mechanisms.h"
#include "core/mechanism/seq2seq/step_words.h"
#include "core/number_text.h"
#include "core/picture/view_figure.h"
#include "core/picture/word_lines.h"

namespace attnscope {
namespace {

constexpr float k_alignment_header = 56, k_low_alignment_header = 42;
constexpr float k_most_word_pitch = 48;  ///< units from word to word
constexpr float k_most_column = 88;      ///< units of a cell's width
constexpr float k_most_alignment = 620;  ///< units between the words
constexpr float k_beside_words = 8;      ///< gap between words and lines
constexpr float k_without_bar = 640;     ///< units; a narrower view has no color bar
constexpr float k_alignment_bar = 72;
constexpr float k_caption_band = 24;
constexpr float k_least_step = 132;  ///< units that the step panel needs
constexpr float k_alignment_step_header = 52;
constexpr float k_least_step_row = 19;
constexpr float k_near_ribbon = 6;  ///< units to a line at which it counts as pointed at
constexpr int k_ribbon_segments = 48,
              k_few_ribbon_segments = 20;  ///< segments of a line; few if there are many lines
constexpr int k_many_lines = 600;
constexpr int k_most_rows = 400;  ///< rows of the matrix for which lines are drawn

/// The layout of the view, in pixels.
struct AlignmentPlaces {
    AxisPlace words, steps, columns;
    float words_left, words_right;  ///< right ends of the source words and the steps' words
    float steps_left, steps_right;
    Area lines, matrix;
    float caption_bottom;
    ColumnLabels column_labels;
    bool has_bar;
};

std::vector<std::string> source_words(const AlignmentScene& scene) {
    std::vector<std::string> words;
    for (int j = 0; j < scene.words; ++j) words.push_back(scene.word(j));
    return words;
}

AxisPlace spread(int count, float from, float to, float pitch) {
    const float origin = std::floor((from + to - pitch * static_cast<float>(count)) / 2);
    return {count, from, to, origin, pitch};
}

/// Places the columns from left to right: words, lines, steps, matrix, color bar.
void place_columns(const Ui& ui, const AlignmentScene& scene, const Area& area, AlignmentPlaces& at) {
    const float width = area.width(), gap = ui.px(k_beside_words);
    const bool narrow = width < ui.px(k_without_bar);
    at.has_bar = !narrow;
    const float words = words_room(ui, source_words(scene), 0, 0.18f * width);
    const float steps = words_room(ui, scene.said, 0, 0.18f * width);
    const float bar = narrow ? 0 : ui.px(k_alignment_bar), matrix_gap = ui.px(14);
    const auto columns = static_cast<float>(scene.matrix.columns());
    float cell = std::min(ui.px(56), (narrow ? 0.32f : 0.4f) * width / columns);
    const float room = width - words - steps - 2 * gap - matrix_gap - bar;
    const float lines = std::min(room - cell * columns, ui.px(k_most_alignment));
    cell = std::min(ui.px(k_most_column), (room - lines) / columns);
    at.words_left = area.min.x;
    at.words_right = area.min.x + words;
    at.lines.min.x = at.words_right + gap;
    at.lines.max.x = at.lines.min.x + lines;
    at.steps_left = at.lines.max.x + gap;
    at.steps_right = at.steps_left + steps;
    at.matrix.min.x = std::floor(at.steps_right + matrix_gap);
    at.matrix.max.x = at.matrix.min.x + cell * columns;
    at.columns = {scene.matrix.columns(), at.matrix.min.x, at.matrix.max.x, at.matrix.min.x, cell};
}

/// AlignmentPlaces words and steps in columns of the same height.
void place_rows(const Ui& ui, const AlignmentScene& scene, const Area& area, AlignmentPlaces& at) {
    const float widest = words_room(ui, source_words(scene), 0, ui.px(90));
    const bool level = widest + ui.px(6) <= at.columns.pitch(), roomy = area.height() > ui.px(230);
    at.column_labels = !scene.aligned ? ColumnLabels::none
                       : level        ? ColumnLabels::level
                       : roomy        ? ColumnLabels::upright
                                      : ColumnLabels::none;
    const float band = at.column_labels == ColumnLabels::upright ? widest + ui.px(10) : ui.px(k_caption_band);
    const float top = area.min.y + std::max(band, ui.px(k_caption_band)), height = area.max.y - top;
    const auto pitch = [&](int count) {
        return std::min(ui.px(k_most_word_pitch), height / static_cast<float>(count));
    };
    const float block = std::max(pitch(scene.words) * static_cast<float>(scene.words),
                                 pitch(scene.steps()) * static_cast<float>(scene.steps()));
    at.words = spread(scene.words, top, top + block, pitch(scene.words));
    at.steps = spread(scene.steps(), top, top + block, pitch(scene.steps()));
    at.lines.min.y = top;
    at.lines.max.y = top + block;
    at.matrix.min.y = at.steps.begin(0);
    at.matrix.max.y = at.steps.end();
    at.caption_bottom = top - ui.px(6);
}

AlignmentPlaces lay_out(const Ui& ui, const AlignmentScene& scene, const Area& area) {
    AlignmentPlaces at{};
    place_columns(ui, scene, area, at);
    place_rows(ui, scene, area, at);
    return at;
}

// ---- the lines

void line(const Ui& ui, const AlignmentPlaces& at, int word, int step, float width, ImU32 color) {
    const int segments =
        at.words.count * at.steps.count > k_many_lines ? k_few_ribbon_segments : k_ribbon_segments;
    const float left = at.lines.min.x, right = at.lines.max.x, middle = (left + right) / 2;
    const float from = at.words.middle(word), to = at.steps.middle(step);
    ImGui::GetWindowDrawList()->AddBezierCubic({left, from}, {middle, from}, {middle, to}, {right, to}, color,
                                               ui.px(width), segments);
}

/// Highlights the lines of the chosen step, or of the word that is pointed at.
bool stands_out(const AlignmentScene& scene, int word, int step) {
    return scene.by_word ? word == scene.lit_word : step == scene.step;
}

void weight_lines(const Ui& ui, const AlignmentScene& scene, const AlignmentPlaces& at, bool standing_out) {
    const double pitch = std::min(at.words.pitch(), at.steps.pitch()) / ui.scale;
    const int stride = (scene.steps() + k_most_rows - 1) / k_most_rows;
    const double others = others_opacity(scene.steps());
    for (int i = 0; i < scene.steps(); ++i) {
        if (i % stride != 0 && i != scene.step) continue;
        const int most = i == scene.step ? k_lines_that_stand_out : lines_per_row(scene.steps());
        for (const WordLine& each : word_lines(scene.weights(i), scene.scale, most)) {
            if (stands_out(scene, each.column, i) != standing_out) continue;
            const auto strength = static_cast<float>(each.strength);
            line(ui, at, each.column, i, static_cast<float>(line_width(each.strength, pitch)),
                 standing_out ? ink(ui.theme.accent, 0.15f + 0.85f * strength)
                              : ink(ui.theme.secondary, static_cast<float>(others) * strength));
        }
    }
}

/// Without attention all lines meet in one point, the context of every step.
void meeting_lines(const Ui& ui, const AlignmentScene& scene, const AlignmentPlaces& at) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 node{(at.lines.min.x + at.lines.max.x) / 2, (at.lines.min.y + at.lines.max.y) / 2};
    const auto half = [&](float x, float y, ImU32 color, float width) {
        const float middle = (x + node.x) / 2;
        list->AddBezierCubic({x, y}, {middle, y}, {middle, node.y}, node, color, ui.px(width));
    };
    const int words = (scene.words + k_most_rows - 1) / k_most_rows,
              steps = (scene.steps() + k_most_rows - 1) / k_most_rows;
    for (int j = 0; j < scene.words; j += words)
        half(at.lines.min.x, at.words.middle(j), ink(ui.theme.secondary, 0.5f), 1);
    for (int i = 0; i < scene.steps(); i += steps)
        half(at.lines.max.x, at.steps.middle(i), ink(ui.theme.secondary, 0.5f), 1);
    half(at.lines.max.x, at.steps.middle(scene.step), ink(ui.theme.accent), 2.5f);
    list->AddCircleFilled(node, ui.px(5), ink(ui.theme.accent));
    draw_text(list, ui.fonts.caption, {node.x, node.y - ui.px(26)}, ink(ui.theme.text), "last state",
              Align::center);
}

/// The line nearest to the mouse; lines of the locked step take precedence.
std::optional<Cell> line_at(Desk& desk, const Ui& ui, const AlignmentScene& scene, const AlignmentPlaces& at,
                            ImVec2 mouse) {
    const auto way = static_cast<float>(line_height((mouse.x - at.lines.min.x) / at.lines.width()));
    std::optional<Cell> found;
    const int locked = locked_query(desk.document.presentation(), scene.steps());
    float nearest = ui.px(k_near_ribbon);
    const auto look = [&](int i) {
        const int most = i == locked ? k_lines_that_stand_out : lines_per_row(scene.steps());
        for (const WordLine& each : word_lines(scene.weights(i), scene.scale, most)) {
            const float from = at.words.middle(each.column), to = at.steps.middle(i);
            const float distance = std::abs(from + way * (to - from) - mouse.y);
            if (distance >= nearest) continue;
            nearest = distance;
            found = Cell{i, each.column};
        }
    };
    look(locked);
    for (int i = 0; i < scene.steps() && !found; ++i) look(i);
    return found;
}

void lines(Desk& desk, const Ui& ui, const AlignmentScene& scene, const AlignmentPlaces& at) {
    ImGui::SetCursorScreenPos(at.lines.min);
    ImGui::InvisibleButton("weight lines",
                           {std::max(1.0f, at.lines.width()), std::max(1.0f, at.lines.height())});
    if (scene.aligned && ImGui::IsItemHovered())
        if (const auto cell = line_at(desk, ui, scene, at, ImGui::GetIO().MousePos))
            use_cell(desk, ui, scene.matrix, *cell);
    if (!scene.aligned) return meeting_lines(ui, scene, at);
    weight_lines(ui, scene, at, false);
    weight_lines(ui, scene, at, true);
}

// ---- the words

/// The cell that represents a step: the largest weight.
Cell step_cell(const AlignmentScene& scene, int step) {
    return {step, scene.aligned ? largest_key(scene.matrix, step) : 0};
}

/// A column of words as one item; returns the word under the mouse.
std::optional<int> word_under_mouse(const char* id, float left, float right, const AxisPlace& place) {
    ImGui::SetCursorScreenPos({left, place.begin(0)});
    ImGui::InvisibleButton(id, {std::max(1.0f, right - left), std::max(1.0f, place.end() - place.begin(0))});
    if (!ImGui::IsItemHovered()) return std::nullopt;
    return place.at(ImGui::GetIO().MousePos.y);
}

void source(Desk& desk, const Ui& ui, const AlignmentScene& scene, const AlignmentPlaces& at) {
    if (const auto j = word_under_mouse("sources", at.words_left, at.words_right, at.words)) {
        desk.state.pointing_token = PointedToken{*j, true};
        if (scene.aligned && ImGui::IsMouseReleased(0) && was_click())
            toggle_lock(desk, scene.matrix, {scene.step, *j});
        std::string help =
            fmt::format("“{}”: source word {} of {}", legible(scene.word(*j)), *j + 1, scene.words);
        if (scene.aligned)
            help += fmt::format("\nweight {} in step {}", exact_text(scene.matrix.at(scene.step, *j)),
                                scene.step + 1);
        help_at_rest(ui, help);
    }
    ImDrawList* list = ImGui::GetWindowDrawList();
    const int stride = label_stride(ui, at.words.pitch());
    for (int j = 0; j < scene.words; ++j) {
        if (!label_shown(j, stride, scene.lit_word)) continue;
        const double seen = scene.aligned ? scene.scale.position(scene.matrix.at(scene.step, j)) : 0;
        const bool lit = j == scene.lit_word;
        ImFont* font = lit ? ui.fonts.strong : ui.fonts.body;
        const Rgb8 color = lit ? ui.theme.text
                               : mixed(ui.theme.secondary, ui.theme.text,
                                       std::isfinite(seen) ? std::clamp(seen, 0.0, 1.0) : 0);
        draw_text(list, font, {at.words_right, at.words.middle(j) - compat::font_size(*font) / 2}, ink(color),
                  fitted(font, legible(scene.word(j)), at.words_right - at.words_left), Align::right);
    }
}

void steps(Desk& desk, const Ui& ui, const AlignmentScene& scene, const AlignmentPlaces& at) {
    if (const auto i = word_under_mouse("steps", at.steps_left, at.steps_right, at.steps)) {
        point_at(desk, scene.matrix, step_cell(scene, *i));
        if (ImGui::IsMouseReleased(0) && was_click()) toggle_lock(desk, scene.matrix, step_cell(scene, *i));
        help_at_rest(ui, fmt::format("step {} of {}: “{}”\nClick: lock this step", *i + 1, scene.steps(),
                                     legible(scene.said[static_cast<std::size_t>(*i)])));
    }
    ImDrawList* list = ImGui::GetWindowDrawList();
    const int stride = label_stride(ui, at.steps.pitch()), chosen = scene.by_word ? -1 : scene.step;
    for (int i = 0; i < scene.steps(); ++i) {
        if (!label_shown(i, stride, chosen)) continue;
        ImFont* font = i == chosen ? ui.fonts.strong : ui.fonts.body;
        const bool blind = scene.aligned && scene.matrix.row_fully_masked(i);
        const Rgb8 color = blind ? ui.theme.warning : i == chosen ? ui.theme.text : ui.theme.secondary;
        draw_text(list, font, {at.steps_left, at.steps.middle(i) - compat::font_size(*font) / 2}, ink(color),
                  fitted(font, legible(scene.said[std::size_t(i)]), at.steps_right - at.steps_left));
    }
}

// ---- the matrix

void column_labels(const Ui& ui, const AlignmentScene& scene, const AlignmentPlaces& at) {
    if (at.column_labels == ColumnLabels::none) return;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const int stride = label_stride(ui, at.columns.pitch());
    for (int j = 0; j < scene.words; ++j) {
        if (!label_shown(j, stride, scene.lit_word)) continue;
        ImFont* font = j == scene.lit_word ? ui.fonts.strong : ui.fonts.body;
        const ImU32 color = ink(j == scene.lit_word ? ui.theme.text : ui.theme.secondary);
        const std::string text = legible(scene.word(j));
        if (at.column_labels == ColumnLabels::upright)
            upright_text(list, font, {at.columns.middle(j), at.matrix.min.y - ui.px(6)}, color,
                         fitted(font, text, ui.px(90)));
        else
            draw_text(list, font,
                      {at.columns.middle(j), at.matrix.min.y - ui.px(6) - compat::font_size(*font)}, color,
                      text, Align::center);
    }
}

void walk(Desk& desk, const AlignmentScene& scene, const KeyboardUse& keys) {
    if (keys.steps || keys.steps_down)
        walk_cells(desk.document, *scene.matrix.stage, keys.steps_down, keys.steps);
}

void matrix(Desk& desk, const Ui& ui, const AlignmentScene& scene, const AlignmentPlaces& at) {
    ImGui::SetCursorScreenPos(at.matrix.min);
    ImGui::InvisibleButton("matrix", {std::max(1.0f, at.matrix.width()), std::max(1.0f, at.matrix.height())});
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    use_cell(desk, ui, scene.matrix, {at.steps.at(mouse.y), at.columns.at(mouse.x)});
    walk(desk, scene, grid_keyboard_use(ui, ImGui::GetID("matrix"), at.matrix));
    ImDrawList* list = ImGui::GetWindowDrawList();
    paint_matrix(desk, ui, *list, scene.matrix, at.matrix);
    cell_numbers(desk, ui, {at.steps, at.columns}, scene.scale, false,
                 [&](int i, int j) -> std::optional<float> {
                     if (scene.matrix.closed(i, j)) return std::nullopt;
                     return scene.matrix.at(i, j);
                 });
    outline_row(ui, *list, at.matrix, scene.by_word ? -1 : scene.step, scene.steps());
    if (scene.aligned) outline_column(ui, *list, at.matrix, scene.lit_word, scene.words, 0.4f);
    column_labels(ui, scene, at);
    if (!at.has_bar) return;
    const float left = at.matrix.max.x + ui.px(16),
                bottom = std::max(at.matrix.max.y, at.matrix.min.y + ui.px(80));
    paint_scale(ui, scene.scale, {{left, at.matrix.min.y}, {left + ui.px(14), bottom}});
}

void captions(const Ui& ui, const AlignmentScene& scene, const AlignmentPlaces& at) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImU32 faint = ink(ui.theme.faint);
    const float line = compat::font_size(*ui.fonts.caption);
    draw_text(list, ui.fonts.caption, {at.words_right, at.words.begin(0) - ui.px(6) - line}, faint, "source",
              Align::right);
    draw_text(list, ui.fonts.caption, {at.steps_left, at.steps.begin(0) - ui.px(6) - line}, faint, "decoder");
    if (at.column_labels == ColumnLabels::none)
        draw_text(list, ui.fonts.caption, {at.matrix.min.x, at.matrix.min.y - ui.px(6) - line}, faint,
                  scene.aligned ? "alignment" : "context, the same in every step", Align::left,
                  at.matrix.width());
}

// ---- the whole

/// A one-line summary of the chosen step.
std::string summary(const AlignmentScene& scene) {
    const Trace& trace = scene.trace;
    std::string text = fmt::format("step {} of {}, fed “{}”", scene.step + 1, scene.steps(),
                                   trace.label(Axis::target_row, fed_word(trace, scene.step)));
    if (!scene.aligned) return k_no_alignment + ("  ·  " + text);
    const Cell most = step_cell(scene, scene.step);
    const float weight = scene.matrix.at(most.row, most.column);
    text += scene.matrix.row_fully_masked(scene.step)
                ? "  ·  every source word is masked"
                : "  ·  attends most to “" + scene.word(most.column) + "” " + cell_text(weight);
    if (const Stage* center = trace.find(mechanism_of(trace.experiment).center))
        text += "  ·  window around word " + short_text(center->buffer.at(0, scene.step, 0) + 1.0);
    if (!trace.experiment.seq2seq.reads_backward())
        text += "  ·  forward encoder: each annotation covers only its own word and those before it";
    return text;
}

void header(const Ui& ui, const AlignmentScene& scene, const Area& area, bool low) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float y = area.min.y + ui.px(low ? 8 : 14);
    const std::string said = legible(scene.said[std::size_t(scene.step)]);
    const float width = draw_text(list, ui.fonts.title, {area.min.x, y}, ink(ui.theme.text), said,
                                  Align::left, area.width() / 3);
    draw_text(list, ui.fonts.body, {area.min.x + width + ui.px(16), y + ui.px(7)}, ink(ui.theme.secondary),
              summary(scene), Align::left, area.width() - width - ui.px(16));
}

/// Only chips and the matrix choose a step when pointed at: the row of the previous state belongs to another
/// step.
int shown_step(const Desk& desk, const ShownStage& matrix) {
    const auto& hovered = desk.state.hovered;
    const bool chooses = desk.state.hovered_token || !hovered || hovered->stage == matrix.stage->key();
    return chooses ? chosen_query(desk, matrix.rows())
                   : locked_query(desk.document.presentation(), matrix.rows());
}

AlignmentScene scene_of(Desk& desk) {
    const Trace& trace = *desk.document.trace();
    const Presentation& presentation = desk.document.presentation();
    ShownStage shown = *shown_stage(trace, main_stage(trace).key(), presentation);
    const Highlight lit = current_highlight(desk.state, presentation, &trace);
    const ColorScale scale = scale_of(shown, presentation);
    const bool aligned = shown.stage->info->role == StageRole::weights;
    const int words = trace.find("source"_stage)->shape().rows, step = shown_step(desk, shown);
    return {trace,   std::move(shown),  scale,
            aligned, said_words(trace), words,
            step,    lit.key,           lit.key >= 0 && lit.query < 0};
}

}  // namespace

std::string why_no_alignment(const Desk& desk) {
    const Trace* trace = desk.document.trace().get();
    if (!mechanism_rule(desk.document.experiment().mechanism).is_recurrent)
        return "Alignment needs a decoder: choose the mechanism seq2seq";
    return trace && find_view_figure(ViewKind::alignment)->stage(*trace, desk.document.presentation().stage)
               ? ""
               : "Nothing is decoded yet";
}

void alignment_view(Desk& desk, const Ui& ui, const Area& area, const std::function<void(const Action&)>&) {
    const AlignmentScene scene = scene_of(desk);
    const bool low = area.height() < ui.px(420), narrow = area.width() < ui.px(k_without_bar);
    const float left = area.min.x + ui.px(narrow ? 14 : 24), right = area.max.x - ui.px(narrow ? 10 : 20);
    header(ui, scene, {{left, area.min.y}, {right, area.max.y}}, low);
    const Area body{{left, area.min.y + ui.px(low ? k_low_alignment_header : k_alignment_header)},
                    {right, area.max.y - ui.px(low ? 8 : 16)}};
    // The step panel takes what its words need, and in a high window what the lines leave; at most half of
    // the area.
    const float most_of_lines =
        ui.px(2 * k_caption_band) +
        ui.px(k_most_word_pitch) * static_cast<float>(std::max(scene.words, scene.steps()));
    const auto with_rows = [&](float row) {
        return ui.px(k_alignment_step_header) + ui.px(row) * static_cast<float>(std::max(scene.words, 9));
    };
    const float liked =
        std::clamp(body.height() - most_of_lines, with_rows(k_least_step_row), with_rows(k_most_step_row));
    float below =
        std::clamp(liked, ui.px(k_least_step), std::max(ui.px(k_least_step), 0.44f * body.height()));
    if (body.height() < ui.px(2 * k_least_step)) below = 0;
    const AlignmentPlaces at =
        lay_out(ui, scene, {body.min, {body.max.x, body.max.y - below - ui.px(below > 0 ? 24 : 0)}});
    lines(desk, ui, scene, at);
    source(desk, ui, scene, at);
    steps(desk, ui, scene, at);
    matrix(desk, ui, scene, at);
    captions(ui, scene, at);
    if (below <= 0) return;
    const float top = at.lines.max.y + ui.px(24);
    ImGui::GetWindowDrawList()->AddLine({area.min.x, top - ui.px(12)}, {area.max.x, top - ui.px(12)},
                                        ink(ui.theme.line));
    decoder_step(desk, ui, scene, {{left, top}, {right, std::min(body.max.y, top + below)}});
}

}  // namespace attnscope
