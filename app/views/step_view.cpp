// The computation of one row of weights, step by step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/ui/widgets.h"
#include "app/views/step_scene.h"
#include "app/views/views.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/picture/axis_labels.h"
#include "core/picture/view_figure.h"

namespace attnscope {
namespace {

constexpr float k_narrow_step = 640;
constexpr float k_step_header = 108;
constexpr float k_sentence = 44;
constexpr float k_terms = 132, k_least_columns = 300;  ///< units of the terms, and what the columns keep
constexpr double k_longest_frame = 0.05;  ///< seconds: the frame after a rest is not part of the animation
constexpr double k_seconds_per_term = 0.15, k_longest_first = 3;

int shown_layer(const Trace& trace, const Presentation& presentation) {
    return std::min(presentation.layer(), std::max(1, layers_of(trace)));
}

/// The key that is pointed at or locked; −1: none.
int lit_key(const Desk& desk, const Trace& trace, int keys) {
    const int key = current_highlight(desk.state, desk.document.presentation(), &trace).key;
    return key < keys ? key : -1;
}

/// The step to point out: where the playback is or, once all are taken, that of the stage in focus.
int current_step(const Desk& desk, const RowSteps& row) {
    const StepPlayback& playback = desk.state.step_playback;
    const StageKey focus = desk.document.presentation().stage;
    for (std::size_t i = 0; i < row.steps.size() && playback.shown() >= playback.steps; ++i)
        if (row.steps[i].stage && row.steps[i].stage->key().stage == focus.stage) return static_cast<int>(i);
    return playback.current();
}

StepScene scene_of(Desk& desk, const Stage& weights) {
    const Trace& trace = *desk.document.trace();
    const Presentation& presentation = desk.document.presentation();
    const ShownStage shown{&trace, trace.stage(weights.key()), head_on_screen(weights, presentation.head)};
    const int query = locked_query(presentation, shown.rows()), head = std::max(0, shown.head_index());
    const RowSteps& row = desk.document.steps_of_row(weights, head, query);
    std::vector<StepRange> ranges = step_ranges(row);
    const int lit = lit_key(desk, trace, row.keys());
    const int key = lit >= 0 ? lit : largest_key(shown, query);
    const Stage& scores = *row.steps.front().stage;
    const Proof& score = desk.document.proof(scores, std::min(head, scores.shape().heads - 1), {query, key});
    desk.state.step_playback.steps = static_cast<int>(row.steps.size());
    const int current = current_step(desk, row);
    return {trace, shown, row,   std::move(ranges),        row_words(trace, weights),
            key,   lit,   score, desk.state.step_playback, current};
}

// ---- header

std::string summary(const StepScene& scene) {
    if (!scene.row.remark.empty()) return scene.row.remark;
    const ShownStage& shown = scene.weights;
    std::string text = fmt::format("row {} of {}", scene.row.row + 1, shown.rows());
    if (shown.stage->layer > 0) text += fmt::format("  ·  layer {}", shown.stage->layer);
    if (shown.stage->shape().heads > 1)
        text += fmt::format("  ·  head {} of {}", scene.row.head + 1, shown.stage->shape().heads);
    const int most = largest_key(shown, scene.row.row);
    return text + fmt::format("  ·  attends most to “{}”, {}", legible(scene.key_label(most)),
                              reading_text(shown.at(scene.row.row, most)));
}

void title(const Ui& ui, const StepScene& scene, const Area& area) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const std::string word = legible(scene.queries[static_cast<std::size_t>(scene.row.row)]);
    const float width =
        draw_text(list, ui.fonts.title, area.min, ink(ui.theme.text), word, Align::left, area.width() / 3);
    draw_text(list, ui.fonts.body, {area.min.x + width + ui.px(16), area.min.y + ui.px(7)},
              ink(scene.row.remark.empty() ? ui.theme.secondary : ui.theme.warning), summary(scene),
              Align::left, area.width() - width - ui.px(16));
}

/// The bar on which the mouse goes to any step and, within the first one, to any term.
void scrub_bar(const Ui& ui, StepScene& scene, const Area& bar) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    StepPlayback& playback = scene.playback;
    const float y = (bar.min.y + bar.max.y) / 2, half = ui.px(2.5f);
    const auto x_of = [&](double position) {
        return bar.min.x + bar.width() * static_cast<float>(position / playback.steps);
    };
    ImGui::SetCursorScreenPos({bar.min.x - ui.px(6), bar.min.y});
    ImGui::InvisibleButton("scrub steps", {bar.width() + ui.px(12), bar.height()});
    help_at_rest(ui, "Drag: go to any operation and, within the first, to any term");
    const bool lit = ImGui::IsItemHovered() || ImGui::IsItemActive();
    if (ImGui::IsItemActive()) {
        const double at =
            std::clamp((ImGui::GetIO().MousePos.x - bar.min.x) / bar.width(), 0.0f, 1.0f) * playback.steps;
        const int terms = std::max(1, scene.terms());
        playback.go_to(at < 1 ? std::round(at * terms) / terms : std::round(at));
    }
    list->AddRectFilled({bar.min.x, y - half}, {bar.max.x, y + half}, ink(ui.theme.raised), half);
    list->AddRectFilled({bar.min.x, y - half}, {x_of(playback.shown()), y + half}, ink(ui.theme.accent, 0.7f),
                        half);
    for (int i = 0; i <= playback.steps; ++i)
        list->AddRectFilled({x_of(i) - ui.px(1), y - ui.px(5)}, {x_of(i) + ui.px(1), y + ui.px(5)},
                            ink(ui.theme.faint));
    list->AddCircleFilled({x_of(playback.shown()), y}, ui.px(lit ? 7.5f : 6), ink(ui.theme.text));
}

void controls(const Ui& ui, StepScene& scene, const Area& area) {
    StepPlayback& playback = scene.playback;
    float x = area.min.x;
    const auto button = [&](const char* id, const char* label, const char* help, float width) {
        ImGui::SetCursorScreenPos({x, area.min.y});
        x += ui.px(width + 8);
        return small_button(ui, id, label, help, ui.px(width));
    };
    if (button("step.back", "− 1", "One step back (←)", 48)) playback.step(-1);
    if (button("step.play", playback.playing ? "Pause" : "Play", "Play or pause (Space)", 84))
        playback.play_or_pause();
    if (button("step.forward", "+ 1", "One step (→)", 48)) playback.step(1);
    const std::string count = playback.shown() < playback.steps
                                  ? fmt::format("step {} of {}", playback.current() + 1, playback.steps)
                                  : fmt::format("all {} steps", playback.steps);
    const float room = text_width(ui.fonts.caption, "step 00 of 00") + ui.px(14);
    draw_text(ImGui::GetWindowDrawList(), ui.fonts.caption, {area.max.x, area.min.y + ui.px(6)},
              ink(ui.theme.secondary), count, Align::right);
    scrub_bar(ui, scene, {{x + ui.px(8), area.min.y}, {area.max.x - room, area.min.y + ui.px(26)}});
}

/// The queries around the chosen one, as many as fit: first and last.
std::pair<int, int> queries_in_sight(const Ui& ui, const StepScene& scene, float room) {
    const auto width = [&](int i) {
        return text_width(ui.fonts.strong, legible(scene.queries[static_cast<std::size_t>(i)])) + ui.px(14);
    };
    const int count = static_cast<int>(scene.queries.size());
    int first = scene.row.row, last = first;
    float used = width(first);
    for (bool grew = true; grew;) {
        grew = false;
        if (last + 1 < count && used + width(last + 1) <= room) used += width(++last), grew = true;
        if (first > 0 && used + width(first - 1) <= room) used += width(--first), grew = true;
    }
    return {first, last};
}

void chooser(Desk& desk, const Ui& ui, const StepScene& scene, const Area& area) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    float x = area.min.x;
    x += draw_text(list, ui.fonts.caption, {x, area.min.y + ui.px(3)}, ink(ui.theme.faint), "query") +
         ui.px(12);
    const float dots = ui.px(16);
    const auto [first, last] = queries_in_sight(ui, scene, area.max.x - x - 2 * dots);
    const auto ellipsis = [&] {
        draw_text(list, ui.fonts.body, {x, area.min.y + ui.px(1)}, ink(ui.theme.faint), "…");
        x += dots;
    };
    if (first > 0) ellipsis();
    for (int i = first; i <= last; ++i) {
        const std::string word = legible(scene.queries[static_cast<std::size_t>(i)]);
        const bool chosen = i == scene.row.row;
        ImFont* font = chosen ? ui.fonts.strong : ui.fonts.body;
        const float width = text_width(ui.fonts.strong, word) + ui.px(14);
        ImGui::SetCursorScreenPos({x, area.min.y - ui.px(2)});
        const bool clicked = ImGui::InvisibleButton(fmt::format("query {}", i).c_str(), {width, ui.px(22)});
        const bool hovered = ImGui::IsItemHovered();
        help_at_rest(ui, "Click: show this query's row (↑ and ↓ go to the next ones)");
        if (chosen)
            list->AddRectFilled({x, area.min.y - ui.px(2)}, {x + width, area.min.y + ui.px(20)},
                                ink(ui.theme.raised), ui.px(4));
        if (chosen)
            list->AddRectFilled({x, area.min.y + ui.px(18)}, {x + width, area.min.y + ui.px(20)},
                                ink(ui.theme.accent));
        draw_text(list, font, {x + width / 2, area.min.y + ui.px(1)},
                  ink(chosen || hovered ? ui.theme.text : ui.theme.secondary), word, Align::center);
        if (clicked)
            desk.document.change([&](Session& session) {
                session.presentation.lock(scene.weights.stage->key(), Cell{i, largest_key(scene.weights, i)});
            });
        x += width;
    }
    if (last + 1 < static_cast<int>(scene.queries.size())) ellipsis();
}

// ---- the sentence

void sentence(const Ui& ui, const StepScene& scene, const Area& area) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const int current = scene.current;
    const std::string name = current < 0 ? "Nothing is computed yet" : scene.step(current).title;
    const std::string text = current < 0 ? "Space plays, → takes one step, ↑ and ↓ choose another query."
                                         : scene.step(current).sentence;
    const float width = draw_text(list, ui.fonts.strong, area.min, ink(ui.theme.accent), name);
    ImGui::SetCursorScreenPos({area.min.x + width + ui.px(12), area.min.y});
    ImGui::PushStyleColor(ImGuiCol_Text, ink(ui.theme.text));
    wrapped_text(text, area.width() - width - ui.px(12));
    ImGui::PopStyleColor();
}

// ---- what is added up

/// The score of the chosen key; once the sum of the values is in focus, the feature of it that is locked.
ShownSum shown_sum(Desk& desk, const StepScene& scene) {
    const int last = static_cast<int>(scene.row.steps.size()) - 1, feature = lit_feature(desk, scene);
    if (feature >= 0 && scene.current == last) {
        const Stage& sum = *scene.step(last).stage;
        const Proof& proof = desk.document.proof(sum, std::min(scene.row.head, sum.shape().heads - 1),
                                                 {scene.row.row, feature});
        return {fmt::format("Feature {} of the {}", feature + 1, scene.step(last).title), proof,
                static_cast<int>(proof.terms.size())};
    }
    return {fmt::format("“{}”", legible(scene.key_label(scene.key))), scene.score, scene.terms_shown()};
}

void says_to_choose_a_head(const Ui& ui, const Area& area) {
    ImGui::SetCursorScreenPos({area.min.x + ui.px(24), area.min.y + ui.px(20)});
    ImGui::PushStyleColor(ImGuiCol_Text, ink(ui.theme.secondary));
    wrapped_text(
        "A mean over the heads is not computed step by step: choose one head above, or with ↑ and ↓.",
        area.width() - ui.px(48));
    ImGui::PopStyleColor();
}

}  // namespace

std::string why_no_steps(const Desk& desk) {
    const Trace* trace = desk.document.trace().get();
    if (!trace || last_weights(*trace, shown_layer(*trace, desk.document.presentation()))) return "";
    return "There is no attention";
}

void step_view(Desk& desk, const Ui& ui, const Area& area, const std::function<void(const Action&)>&) {
    const Presentation& presentation = desk.document.presentation();
    const Trace& trace = *desk.document.trace();
    const Stage& weights = *last_weights(trace, shown_layer(trace, presentation));
    const bool mean = head_on_screen(weights, presentation.head).kind == HeadChoice::Kind::mean;
    if (weights.shape().heads > 1 && mean) {
        desk.state.step_playback.playing = false;
        return says_to_choose_a_head(ui, area);
    }
    StepScene scene = scene_of(desk, weights);
    scene.playback.advance(std::min(double{ImGui::GetIO().DeltaTime}, k_longest_frame),
                           std::clamp(scene.terms() * k_seconds_per_term, k_step_seconds, k_longest_first));
    const bool narrow = area.width() < ui.px(k_narrow_step);
    const float left = area.min.x + ui.px(narrow ? 14 : 24), right = area.max.x - ui.px(narrow ? 14 : 24);
    const float top = area.min.y + ui.px(14);
    title(ui, scene, {{left, top}, {right, top}});
    controls(ui, scene, {{left, top + ui.px(36)}, {right, top + ui.px(62)}});
    chooser(desk, ui, scene, {{left, top + ui.px(72)}, {right, top + ui.px(92)}});
    const Area body{{left, area.min.y + ui.px(k_step_header + 10)}, {right, area.max.y - ui.px(10)}};
    const bool has_terms =
        scene.terms() > 0 && body.height() >= ui.px(k_sentence + k_terms + k_least_columns);
    const float terms = has_terms ? ui.px(k_terms) : 0, below = ui.px(k_sentence) + terms;
    if (body.height() - below < ui.px(120)) return;
    step_columns(desk, ui, scene, {body.min, {body.max.x, body.max.y - below}});
    const float line = body.max.y - below;
    sentence(ui, scene, {{left, line + ui.px(8)}, {right, line + ui.px(k_sentence)}});
    if (!has_terms) return;
    ImGui::GetWindowDrawList()->AddLine({area.min.x, line + ui.px(k_sentence)},
                                        {area.max.x, line + ui.px(k_sentence)}, ink(ui.theme.line));
    added_terms(ui, shown_sum(desk, scene), {{left, line + ui.px(k_sentence + 10)}, body.max});
}

}  // namespace attnscope
