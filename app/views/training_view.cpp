// The training view: a run's curves, the step at which it stands, and what the heads attend to there.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "app/ui/widgets.h"
#include "app/views/choosing.h"
#include "app/views/curves.h"
#include "app/views/labels.h"
#include "app/views/tile_grid.h"
#include "app/views/views.h"
#include "core/export/run_curves.h"
#include "core/graph/stage_table.h"
#include "core/learn/tasks.h"
#include "core/learn/training_run.h"
#include "core/learn/variations.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/picture/axis_labels.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

constexpr float k_training_margin = 24, k_training_header = 84;
constexpr float k_curves_share = 0.3f, k_least_curves = 96, k_most_curves = 240;
constexpr float k_scrub = 16, k_ticks = 20;
constexpr float k_training_caption = 30;                     ///< above the pictures
constexpr float k_least_beside_list = 110;                   ///< units; a narrower list has no label
constexpr float k_film_share = 0.42f, k_without_film = 700;  ///< units; a narrower view has no film
constexpr float k_labels = 64;
constexpr float k_most_cell = 52;
constexpr float k_least_with_score = 84;

using Run = std::function<void(const Action&)>;

const Task& shown_task(const Desk& desk) { return task_of(desk.document.experiment().training.task); }

/// What is known of the run, if it is that of the session.
const TrainingProgress* progress(const Desk& desk) {
    return desk.document.is_of_run() ? &desk.document.training() : nullptr;
}

int shown_step(const Desk& desk) { return desk.document.experiment().training.step; }

bool is_stack(const Trace& trace) { return mechanism_rule(trace.experiment.mechanism).has_layers; }

// ---- header and buttons

/// What is wrong with the run; empty if nothing is.
std::string problem(const Desk& desk) {
    const TrainingProgress* known = progress(desk);
    if (!known) return "";
    if (!known->problem.empty()) return known->problem;
    return known->measured ? capitalized(growing_loss(known->records, *known->measured)) : "";
}

std::string summary(const Desk& desk) {
    const Task& task = shown_task(desk);
    std::string text(task.summary);
    const TrainingProgress* known = progress(desk);
    // Where the next token is predicted, a sentence's loss counts also what cannot be known.
    const Trace& trace = *desk.document.trace();
    const Stage* loss = trace.find("loss"_stage);
    const bool counts_all = !is_stack(trace) || has_own_targets(trace.experiment.transformer.objective);
    if (loss && counts_all && !loss->buffer.is_waiting())
        text += "  ·  loss of this sentence " + short_text(loss->buffer.at(0, 0, 0));
    if (known && known->measured && known->step == shown_step(desk))
        text += fmt::format("  ·  accuracy {:.1f} % on {} held-out sentences{}",
                            100 * known->measured->accuracy, k_held_out_sentences,
                            !mechanism_rule(trace.experiment.mechanism).has_layers ||
                                    trace.experiment.attention.ablated.empty()
                                ? ""
                                : " without the ablated heads");
    return text;
}

/// The choice of the run that is trained beside this one; returns its width.
float beside_choice(Desk& desk, const Ui& ui, ImVec2 at, float right) {
    constexpr const char* k_nothing = "nothing";
    const float name = text_width(ui.fonts.caption, "Beside") + ui.px(8);
    const float label = at.x + name + ui.px(k_least_beside_list) <= right ? name : 0;
    const float width = std::min(ui.px(190), right - at.x - label);
    if (width < ui.px(40)) return 0;
    const Experiment drawn = untrained(desk.document.experiment());
    std::vector<Choice> rows = {{k_nothing, k_nothing, "The film of this run"}};
    for (const Variation& variation : variations())
        if (varied(drawn, variation))
            rows.push_back(
                {std::string(variation.name), std::string(variation.name), std::string(variation.help)});
    if (label > 0)
        draw_text(ImGui::GetWindowDrawList(), ui.fonts.caption, {at.x, at.y + ui.px(6)},
                  ink(ui.theme.secondary), "Beside");
    ImGui::SetCursorScreenPos({at.x + label, at.y});
    ImGui::SetNextItemWidth(width);
    const Variation* beside = desk.document.beside();
    if (const auto picked =
            choice_field(ui, "##beside", rows, beside ? std::string(beside->name) : k_nothing))
        desk.document.train_beside(find_variation(*picked));
    help_at_rest(ui, "A second run, trained beside this one, that differs in one setting");
    return label + width + ui.px(8);
}

void training_header(Desk& desk, const Ui& ui, const Area& area, const Run& run) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const std::string title(name_of(desk.document.experiment().training.task));
    const float width = draw_text(list, ui.fonts.title, area.min, ink(ui.theme.text), title);
    const std::string wrong = problem(desk);
    draw_text(list, ui.fonts.body, {area.min.x + width + ui.px(16), area.min.y + ui.px(7)},
              ink(wrong.empty() ? ui.theme.secondary : ui.theme.warning),
              wrong.empty() ? summary(desk) : wrong, Align::left, area.width() - width - ui.px(16));

    const TrainingProgress* known = progress(desk);
    const bool moving = known && known->moving;
    struct Button {
        ActionName action;
        std::string label;
        float width;
    };
    const Button buttons[] = {{"training.restart", "Start again", 92},
                              {"training.back", "− 1", 48},
                              {"training.play", moving ? "Pause" : "Play", 92},
                              {"training.forward", "+ 1", 48},
                              {"training.ten", "+ 10", 54}};
    float x = area.min.x;
    const float y = area.min.y + ui.px(38);
    for (const Button& button : buttons) {
        const Action& action = action_named(button.action);
        const bool plays = button.action == "training.play";
        const Shortcut& key = plays ? action_named("view.play").shortcut : action.shortcut;
        ImGui::SetCursorScreenPos({x, y});
        const std::string help = fmt::format("{} ({})", action.title, shortcut_text(key));
        if (small_button(ui, button.action.c_str(), button.label, help.c_str(), ui.px(button.width)))
            run(action);
        x += ui.px(button.width + 8);
    }
    x += beside_choice(desk, ui, {x + ui.px(8), y}, area.max.x);
    const char* const keys = "Space plays, ← and → take one step, Home starts again from the same seeds";
    if (x + ui.px(8) + text_width(ui.fonts.caption, keys) <= area.max.x)
        draw_text(list, ui.fonts.caption, {x + ui.px(8), y + ui.px(6)}, ink(ui.theme.faint), keys);
}

// ---- curves

std::vector<Curve> curves_of(const Desk& desk, const Ui& ui) {
    const TrainingProgress* known = progress(desk);
    if (!known) return {};
    std::vector<Curve> curves = run_curves(known->records, shown_task(desk), ui.theme);
    if (const Variation* beside = desk.document.beside()) {
        const std::span<const StepRecord> records = desk.document.training_beside().records;
        std::ranges::move(run_curves_beside(records.first(std::min(records.size(), known->records.size())),
                                            shown_task(desk), ui.theme, std::string(beside->name)),
                          std::back_inserter(curves));
    }
    return curves;
}

/// The bar below the curves: the mouse goes to any step that was taken.
void scrub_bar(Desk& desk, const Ui& ui, const Area& bar, int last) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float y = (bar.min.y + bar.max.y) / 2, half = ui.px(2.5f);
    list->AddRectFilled({bar.min.x, y - half}, {bar.max.x, y + half}, ink(ui.theme.raised), half);
    const int step = std::min(shown_step(desk), last);
    const float at =
        last == 0 ? bar.min.x : bar.min.x + bar.width() * static_cast<float>(step) / static_cast<float>(last);
    list->AddRectFilled({bar.min.x, y - half}, {at, y + half}, ink(ui.theme.accent, 0.7f), half);
    ImGui::SetCursorScreenPos({bar.min.x - ui.px(6), bar.min.y});
    ImGui::InvisibleButton("scrub", {bar.width() + ui.px(12), bar.height()});
    const bool lit = ImGui::IsItemHovered() || ImGui::IsItemActive();
    list->AddCircleFilled({at, y}, ui.px(lit ? 7.5f : 6), ink(ui.theme.text));
    if (last == 0) return;
    const auto step_at = [&](float x) {
        return static_cast<int>(
            std::lround(std::clamp((x - bar.min.x) / bar.width(), 0.0f, 1.0f) * static_cast<float>(last)));
    };
    if (ImGui::IsItemActive()) {
        const int wanted = step_at(ImGui::GetIO().MousePos.x);
        if (wanted != desk.document.wanted_step())
            desk.document.go_to_step(wanted, !ImGui::IsItemActivated());
    }
    if (lit) tooltip(ui, fmt::format("step {}", step_at(ImGui::GetIO().MousePos.x)));
}

void curves(Desk& desk, const Ui& ui, const Area& area) {
    const std::vector<Curve> shown = curves_of(desk, ui);
    const Area plot{{area.min.x + ui.px(44), area.min.y},
                    {area.max.x - ui.px(44), area.max.y - ui.px(k_scrub + k_ticks)}};
    const TrainingProgress* known = progress(desk);
    const int last = known ? static_cast<int>(known->records.size()) : 0;
    draw_curves(ui, plot, shown, shown_step(desk));
    if (shown.empty())
        draw_text(ImGui::GetWindowDrawList(), ui.fonts.body,
                  {(plot.min.x + plot.max.x) / 2, (plot.min.y + plot.max.y) / 2 - ui.px(8)},
                  ink(ui.theme.secondary),
                  shown_step(desk) == 0 ? "These weights are random. Press Play to see them learn."
                                        : "Press Play to repeat the run and go on.",
                  Align::center, plot.width());
    scrub_bar(desk, ui, {{plot.min.x, plot.max.y + ui.px(4)}, {plot.max.x, plot.max.y + ui.px(4 + k_scrub)}},
              last);
    draw_step_ticks(ui, {{plot.min.x, plot.max.y + ui.px(4 + k_scrub)}, {plot.max.x, area.max.y}}, last);
}

// ---- the heads

Presentation of_head(const Desk& desk, int head) {
    Presentation presentation = desk.document.presentation();
    presentation.head = {HeadChoice::Kind::one, head};
    return presentation;
}

ColorScale shared_scale(const Desk& desk, const ShownStage& shown) {
    Presentation presentation = desk.document.presentation();
    presentation.range = range_across_steps(*shown.stage, presentation.range);
    return scale_of(shown, presentation);
}

void caption(const Ui& ui, const Area& area, const std::string& title, const std::string& words) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float width = draw_text(list, ui.fonts.strong, area.min, ink(ui.theme.text), title);
    draw_text(list, ui.fonts.caption, {area.min.x + width + ui.px(10), area.min.y + ui.px(2)},
              ink(ui.theme.secondary), words, Align::left, area.width() - width - ui.px(10));
}

/// A picture with the words of its rows and columns, in which a cell can be pointed at and locked.
void large_picture(Desk& desk, const Ui& ui, const ShownStage& shown, const std::vector<std::string>& rows,
                   const Area& area, const char* id) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float left = area.min.x + ui.px(k_labels), top = area.min.y + ui.px(20);
    const auto columns = static_cast<float>(shown.columns()), count = static_cast<float>(shown.rows());
    const float cell =
        std::min({(area.max.x - left) / columns, (area.max.y - top) / count, ui.px(k_most_cell)});
    if (cell < 2) return;
    const Area picture{{left, top}, {left + cell * columns, top + cell * count}};
    const ColorScale scale = shared_scale(desk, shown);
    paint_matrix(desk, ui, *list, shown, picture, scale);
    ImGui::SetCursorScreenPos(picture.min);
    ImGui::InvisibleButton(id, {picture.width(), picture.height()});
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    use_cell(
        desk, ui, shown,
        {cell_at((mouse.y - top) / cell, shown.rows()), cell_at((mouse.x - left) / cell, shown.columns())});
    const Highlight lit = current_highlight(desk.state, desk.document.presentation(), shown.trace);
    outline_row(ui, *list, picture, lit.query, shown.rows());
    const bool numbers =
        desk.document.presentation().values && cell >= text_width(ui.fonts.mono_small, "0.00") + ui.px(6);
    const int row_stride = label_stride(ui, cell), column_stride = label_stride(ui, cell);
    for (int i = 0; i < shown.rows(); ++i) {
        const float y = top + (static_cast<float>(i) + 0.5f) * cell;
        if (label_shown(i, row_stride, lit.query))
            draw_text(list, i == lit.query ? ui.fonts.strong : ui.fonts.caption,
                      {left - ui.px(8), y - ui.px(7)},
                      ink(i == lit.query ? ui.theme.text : ui.theme.secondary),
                      legible(rows[static_cast<std::size_t>(i)]), Align::right, ui.px(k_labels - 10));
        for (int j = 0; numbers && j < shown.columns(); ++j) {
            if (shown.closed(i, j)) continue;
            const float value = shown.at(i, j);
            draw_text(list, ui.fonts.mono_small, {left + (static_cast<float>(j) + 0.5f) * cell, y - ui.px(7)},
                      ink(contrasting(scale.color(value), ui.theme.on_light, ui.theme.on_dark)),
                      fmt::format("{:.2f}", value), Align::center);
        }
    }
    for (int j = 0; j < shown.columns(); ++j)
        if (label_shown(j, column_stride, lit.key))
            draw_text(list, j == lit.key ? ui.fonts.strong : ui.fonts.caption,
                      {left + (static_cast<float>(j) + 0.5f) * cell, area.min.y},
                      ink(j == lit.key ? ui.theme.text : ui.theme.secondary), legible(shown.column_label(j)),
                      Align::center, cell * static_cast<float>(column_stride));
}

enum class Pressed { no, left, right };

/// A small picture that can be pressed, with a text below, or in its tooltip where there is no room.
Pressed tile(Desk& desk, const Ui& ui, const char* kind, int index, const ShownStage& shown, const Grid& grid,
             const Area& area, bool chosen, const std::string& left, const std::string& right,
             const std::string& help = {}) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Area place = grid.place(area, index);
    ImGui::PushID(fmt::format("{} {}", kind, index).c_str());
    ImGui::SetCursorScreenPos(place.min);
    const float below = grid.has_texts() ? grid.under - ui.px(4) : 0;
    const bool clicked = ImGui::InvisibleButton("tile", {place.width(), place.height() + below});
    const bool hovered = ImGui::IsItemHovered(), clicked_right = ImGui::IsItemClicked(ImGuiMouseButton_Right);
    const std::string texts = grid.has_texts() ? "" : right.empty() ? left : left + ": " + right;
    tooltip(ui, texts.empty() || help.empty() ? texts + help : texts + "\n" + help);
    const bool pressed = keyboard_use(ui, ImGui::GetID("tile"), place).pressed;
    ImGui::PopID();
    const Area picture = picture_in(place, shown);
    paint_matrix(desk, ui, *list, shown, picture, shared_scale(desk, shown));
    if (chosen || hovered)
        list->AddRect({picture.min.x - 3, picture.min.y - 3}, {picture.max.x + 3, picture.max.y + 3},
                      ink(chosen ? ui.theme.accent : ui.theme.line), 3, 0, ui.px(1.5f));
    const Pressed how = clicked || pressed ? Pressed::left : clicked_right ? Pressed::right : Pressed::no;
    if (!grid.has_texts()) return how;
    draw_text(list, ui.fonts.caption, {picture.min.x, picture.max.y + ui.px(4)},
              ink(chosen ? ui.theme.text : ui.theme.secondary), left, Align::left, picture.width());
    // In all pictures of a grid or in none, but where a long text leaves no room.
    if (picture.width() >= ui.px(k_least_with_score) &&
        text_width(ui.fonts.caption, left) + text_width(ui.fonts.mono_small, right) + ui.px(6) <
            picture.width())
        draw_text(list, ui.fonts.mono_small, {picture.max.x, picture.max.y + ui.px(4)}, ink(ui.theme.faint),
                  right, Align::right);
    return how;
}

/// The pattern score of a head at a step; empty where it is not known.
std::string score_text(const TrainingProgress* known, int step, std::size_t head) {
    if (!known) return "";
    // A record tells of the parameters before its step; of the last ones a measurement does.
    const auto at = static_cast<std::size_t>(step);
    const bool is_measured = known->measured && step == known->step;
    if (!is_measured && at >= known->records.size()) return "";
    const std::vector<float>& patterns =
        is_measured ? known->measured->patterns : known->records[at].patterns;
    return head < patterns.size() ? fmt::format("{:.2f}", patterns[head]) : "";
}

/// Layers × heads.
void head_grid(Desk& desk, const Ui& ui, const Area& area, const Trace& trace,
               const TrainingProgress* known) {
    const bool is_own = &trace == desk.document.trace().get();
    const int layers = std::max(1, layers_of(trace)), heads = trace.experiment.attention.heads;
    const Grid grid = grid_of(ui, area, layers, heads);
    if (grid.side < 1) return;
    const Presentation& presentation = desk.document.presentation();
    for (int index = 0; index < layers * heads; ++index) {
        const int layer = index / heads + 1, head = index % heads;
        const auto shown = shown_stage(trace, {"weights"_stage, layer}, of_head(desk, head));
        if (!shown) continue;
        const bool chosen = is_own && presentation.layer() == layer &&
                            presentation.head == HeadChoice{HeadChoice::Kind::one, head};
        const bool ablated = is_ablated(trace.experiment, {layer, head + 1});
        const Pressed pressed =
            tile(desk, ui, is_own ? "head" : "head beside", index, *shown, grid, area, chosen,
                 fmt::format("layer {}, head {}{}", layer, head + 1, ablated ? ", ablated" : ""),
                 score_text(known, trace.experiment.training.step, static_cast<std::size_t>(index)),
                 !is_own   ? ""
                 : ablated ? "Right-click: restore"
                           : "Right-click: ablate");
        if (pressed == Pressed::right && is_own) toggle_ablation(desk, {layer, head + 1});
        if (pressed == Pressed::left && is_own)
            desk.document.change([&](Session& s) {
                s.presentation.focus({"weights"_stage, layer});
                s.presentation.head = {HeadChoice::Kind::one, head};
            });
    }
}

/// The chosen head and layer, or the last ones that a trace has.
struct Place {
    int layer, head;  ///< the layer from 1, or 0 without layers; the head from 0
};

Place chosen_place(const Desk& desk, const Trace& trace) {
    const Presentation& presentation = desk.document.presentation();
    const int head = presentation.head.kind == HeadChoice::Kind::one ? presentation.head.head : 0;
    return {is_stack(trace) ? std::min(presentation.layer(), layers_of(trace)) : 0,
            std::min(head, trace.experiment.attention.heads - 1)};
}

/// The weights of the film's head, or without attention the main stage, in a trace of any step.
std::optional<ShownStage> film_stage(const Desk& desk, const Trace& trace) {
    const auto [layer, head] = chosen_place(desk, trace);
    const StageKey key = layer > 0 ? StageKey{"weights"_stage, layer} : main_stage(trace).key();
    return shown_stage(trace, key, of_head(desk, head));
}

/// The index of the film's head among the heads of all layers.
std::size_t film_head(const Desk& desk, const Trace& trace) {
    const auto [layer, head] = chosen_place(desk, trace);
    return static_cast<std::size_t>(std::max(0, layer - 1) * trace.experiment.attention.heads + head);
}

void film(Desk& desk, const Ui& ui, const Area& area) {
    const TrainingProgress* known = progress(desk);
    caption(ui, area, "Film",
            known ? "the same sentence at other steps; click one to go there" : "of a run: press Play");
    const Area body{{area.min.x, area.min.y + ui.px(k_training_caption)}, area.max};
    if (!known || known->film.size() < 2) return;
    const Grid grid = grid_for(ui, body, static_cast<int>(known->film.size()));
    if (grid.side < 1) return;
    for (int i = 0; i < std::ssize(known->film); ++i) {
        const FilmFrame& frame = known->film[static_cast<std::size_t>(i)];
        const auto shown = film_stage(desk, *frame.trace);
        if (shown && Pressed::left == tile(desk, ui, "frame", i, *shown, grid, body,
                                           frame.step == shown_step(desk), fmt::format("step {}", frame.step),
                                           score_text(known, frame.step, film_head(desk, *frame.trace))))
            desk.document.go_to_step(frame.step);
    }
}

/// What is shown where a run stands: every head, or the alignment.
void pictures(Desk& desk, const Ui& ui, const Area& area, const Trace& trace, const TrainingProgress* known,
              const std::string& which) {
    const std::string step = fmt::format("at step {}{}", trace.experiment.training.step, which);
    const Area body{{area.min.x, area.min.y + ui.px(k_training_caption)}, area.max};
    if (is_stack(trace)) {
        caption(ui, area, "Weights of every head " + step,
                which.empty() ? "colors from 0 to 1; click one to focus it" : "");
        return head_grid(desk, ui, body, trace, known);
    }
    const Stage& stage = main_stage(trace);
    caption(ui, area, stage_heading(*stage.info) + " " + step,
            stage.info->role != StageRole::weights ? "every step gets the same context"
            : which.empty()                        ? "colors from 0 to 1"
                                                   : "");
    const auto shown = film_stage(desk, trace);
    if (shown)
        large_picture(desk, ui, *shown, row_words(*shown->trace, *shown->stage), body,
                      which.empty() ? "weights" : "beside");
}

/// The run beside, where it stands.
void run_beside(Desk& desk, const Ui& ui, const Area& area, const Variation& variation) {
    const TrainingProgress& known = desk.document.training_beside();
    const Slot& slot = *desk.document.slot(SlotName::beside);
    const std::string& problem = known.problem.empty() ? slot.problem : known.problem;
    if (!problem.empty()) return caption(ui, area, capitalized(std::string(variation.name)), problem);
    if (slot.trace) pictures(desk, ui, area, *slot.trace, &known, fmt::format(", {}", variation.name));
}

/// The weight under the mouse after the next step, now, and their difference; empty off the picture.
std::string change_text(const ShownStage& shown, const WeightsChange& change, const Area& picture, int step) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (!picture.contains(mouse)) return "";
    const auto at = [](float part, int count) { return cell_at(part * static_cast<float>(count), count); };
    const int row = at((mouse.y - picture.min.y) / picture.height(), shown.rows()),
              column = at((mouse.x - picture.min.x) / picture.width(), shown.columns());
    const int head = std::max(0, shown.head_index());
    const auto number = [&](const StagePtr& stage) {
        return exact_text(stage->buffer.at(head, row, column));
    };
    return fmt::format("{} → {}\n{}  after step {}\n− {}  now\n= {}",
                       row_words(*shown.trace, *shown.stage)[static_cast<std::size_t>(row)],
                       shown.column_label(column), number(change.after), step + 1, number(change.before),
                       number(change.change));
}

/// The gradient of the chosen head's weights, and what the next step makes of them.
void gradient_and_change(Desk& desk, const Ui& ui, const Area& area) {
    const Trace& trace = *desk.document.trace();
    const TrainingProgress* known = progress(desk);
    caption(ui, area, "Gradient and next step", "gradient: of this sentence; step: of a batch");
    const auto now = film_stage(desk, trace);
    if (!now) return;
    struct Picture {
        StagePtr stage;
        std::string text;
        const WeightsChange* change = nullptr;
    };
    std::vector<Picture> shown;
    if (is_stack(trace)) shown.push_back({now->stage, "weights"});  // else they stand on the left
    StageKey key = now->stage->key();
    key.part = StageKey::Part::gradient;
    if (StagePtr gradient = trace.stage(key)) shown.push_back({std::move(gradient), "∂ℓ/∂ weights"});
    if (known && known->step == trace.experiment.training.step)
        for (const WeightsChange& each : known->changes)
            if (each.change->key() == key && each.change->shape() == now->stage->shape())
                shown.push_back({each.change, fmt::format("step {} adds", known->step + 1), &each});
    const Area body{{area.min.x, area.min.y + ui.px(k_training_caption)}, area.max};
    const Grid grid = grid_for(ui, body, std::max(2, static_cast<int>(shown.size())));
    for (int i = 0; i < std::ssize(shown); ++i) {
        const Picture& each = shown[static_cast<std::size_t>(i)];
        const ShownStage stage{&trace, each.stage, now->head};
        const float largest = each.stage->buffer.range(std::max(0, stage.head_index())).magnitude();
        const std::string help =
            each.change
                ? change_text(stage, *each.change, picture_in(grid.place(body, i), stage), known->step)
                : "";
        tile(desk, ui, "change", i, stage, grid, body, false, each.text,
             each.stage == now->stage ? "" : "± " + short_text(largest), help);
    }
}

}  // namespace

std::string why_no_training(const Desk& desk) {
    const Experiment& e = desk.document.experiment();
    if (const std::string why(mechanism_of(e).why_not_trained); !why.empty())
        return capitalized(why) + ": choose another mechanism";
    if (e.training.task == TaskKind::none)
        return "No task is chosen: choose one in the panel's Training section";
    return can_be_trained(e) ? "" : "This mechanism cannot learn this task: choose another task";
}

void training_view(Desk& desk, const Ui& ui, const Area& area, const Run& run) {
    const bool narrow = area.width() < ui.px(k_without_film);
    const float margin = ui.px(narrow ? 14 : k_training_margin);
    const float left = area.min.x + margin, right = area.max.x - margin, top = area.min.y + ui.px(14);
    training_header(desk, ui, {{left, top}, {right, area.max.y}}, run);
    const float curves_top = top + ui.px(k_training_header),
                height =
                    std::clamp(k_curves_share * area.height(), ui.px(k_least_curves), ui.px(k_most_curves));
    curves(desk, ui, {{left, curves_top}, {right, curves_top + height}});
    const float line = curves_top + height + ui.px(12);
    ImGui::GetWindowDrawList()->AddLine({area.min.x, line}, {area.max.x, line}, ink(ui.theme.line));
    const Area body{{left, line + ui.px(14)}, {right, area.max.y - ui.px(8)}};
    if (body.height() < ui.px(80)) return;
    const float share = desk.document.beside() ? 0.5f : k_film_share;
    const float between = narrow ? body.max.x : body.max.x - share * body.width();
    // The trace may be of the experiment before the session's, which is still being computed.
    pictures(desk, ui, {body.min, {between - (narrow ? 0 : ui.px(28)), body.max.y}}, *desk.document.trace(),
             progress(desk), "");
    if (narrow) return;
    const Area right_part{{between, body.min.y}, body.max};
    if (const Variation* beside = desk.document.beside())
        run_beside(desk, ui, right_part, *beside);
    else if (desk.document.presentation().gradients)
        gradient_and_change(desk, ui, right_part);
    else
        film(desk, ui, right_part);
}

}  // namespace attnscope
