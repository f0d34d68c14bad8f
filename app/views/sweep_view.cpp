// A setting that goes through values: each as a picture, and what they share and where they part, cell by
// cell.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/ui/widgets.h"
#include "app/views/choosing.h"
#include "app/views/matrix_panel.h"
#include "app/views/tile_grid.h"
#include "app/views/views.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/session/sweep.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

constexpr float k_sweep_margin = 18, k_sweep_header = 72, k_sweep_caption = 48, k_sweep_gap = 26;
constexpr float k_thumbnails = 0.27f;  ///< of the height, at least
constexpr float k_least_outlined = 4;  ///< the side of a lit cell that is outlined in a thumbnail
constexpr float k_largest_swept_cell = 140, k_most_sweep_labels = 96;
constexpr float k_seconds = 0.7f;  ///< each frame of the player

struct SweepScene {
    const SweptValues& swept;
    const SweptFrame* frame;
    ShownStage shown;
    ColorScale scale, deviation;
    std::optional<Cell> lit;
};

Sweep sweep_of(const Desk& desk) { return chosen_sweep(desk.document.session()); }

ShownStage shown_frame(const SweptFrame& frame) {
    return {frame.shown.trace.get(), frame.shown.stage, frame.shown.head};
}

/// One range for all frames and their mean.
ColorScale common_scale(const Desk& desk, const SweptValues& swept) {
    std::vector<SheetFrame> frames;
    for (const SweptFrame& frame : swept.frames) frames.push_back(frame.shown);
    const SheetFrame& first = frames.front();
    return color_scale(*first.trace, *first.stage, first.head,
                       on_one_range(frames, desk.document.presentation()));
}

ColorScale deviation_scale(const Desk& desk, const SweptValues& swept) {
    const double largest = swept.spread ? swept.spread->largest_deviation() : 0;
    return {&colormap_of(desk.document.presentation().colormap), 0, largest > 0 ? largest : 1,
            ColorSpacing::linear};
}

/// The cell that is pointed at or locked, if the frame has it.
std::optional<Cell> lit_cell(const Desk& desk, const ShownStage& shown) {
    const Highlight highlight = current_highlight(desk.state, desk.document.presentation(), shown.trace);
    const Cell cell{lit_row(highlight, *shown.stage->info), lit_column(highlight, *shown.stage->info)};
    const bool has =
        cell.row >= 0 && cell.column >= 0 && cell.row < shown.rows() && cell.column < shown.columns();
    return has ? std::optional(cell) : std::nullopt;
}

void play(Desk& desk, const SweptValues& swept) {
    SweepPlayback& player = desk.state.sweep_playback;
    const int count = static_cast<int>(swept.frames.size());
    if (player.playing && count > 0) {
        player.seconds += std::min(ImGui::GetIO().DeltaTime, 0.1f);
        if (player.seconds >= k_seconds) {
            player.seconds = 0;
            player.frame = (player.frame + 1) % count;
        }
    }
    player.frame = std::clamp(player.frame, 0, std::max(0, count - 1));
}

void use_value(Desk& desk, const SweptValues& swept, const SweptFrame& frame) {
    set_option(desk, *find_option(option_of(swept.of.sweep)), frame.value);
}

void header(Desk& desk, const Ui& ui, const Area& area, const SweptValues* swept) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Sweep sweep = sweep_of(desk);
    const Stage& stage = focused_stage(*desk.document.trace(), desk.document.presentation().stage);
    const std::size_t count = swept ? swept->frames.size() : 0;
    const std::string title =
        capitalized(stage_heading(*stage.info)) +
        (!count                  ? fmt::format(" at values of {}", option_of(sweep))
         : sweep == Sweep::seed  ? fmt::format(" with {} seeds", count)
         : sweeps_numbers(sweep) ? fmt::format(" at {} values of {}", count, option_of(sweep))
                                 : fmt::format(" with {} {} functions", count,
                                               sweep == Sweep::score ? "score" : "normalization"));
    const float drawn =
        draw_text(list, ui.fonts.title, area.min, ink(ui.theme.text), title, Align::left, area.width());
    const std::string hint(hint_of(sweep));
    if (drawn + ui.px(14) + text_width(ui.fonts.body, hint) <= area.width())
        draw_text(list, ui.fonts.body, {area.min.x + drawn + ui.px(14), area.min.y + ui.px(7)},
                  ink(ui.theme.secondary), hint);
    const float y = area.min.y + ui.px(36);
    float x = area.min.x;
    std::vector<Choice> settings;
    for (const auto& [value, name] : choices<Sweep>()) {
        if (value == Sweep::none) continue;
        const std::string why = why_no_sweep(desk.document.session(), value);
        settings.push_back({std::string(name), std::string(name), why});
    }
    ImGui::SetCursorScreenPos({x, y});
    ImGui::SetNextItemWidth(ui.px(140));
    const std::size_t controls_before = ui.controls.focus.drawn.size();
    if (const auto picked = choice_field(ui, "##sweep", settings, std::string(name_of(sweep))))
        set_option(desk, "sweep", *picked);
    if (desk.state.reveal.take("sweep")) give_keyboard_since(ui, controls_before);
    help_at_rest(ui, "The setting to sweep");
    x += ui.px(150);
    if (count == 0) return;
    SweepPlayback& player = desk.state.sweep_playback;
    ImGui::SetCursorScreenPos({x, y});
    if (small_button(ui, "sweep.play", player.playing ? "Pause" : "Play",
                     "Shows one value after the other (Space)", ui.px(72)))
        player.playing = !player.playing;
    x += ui.px(80);
    const SweptFrame& frame = swept->frames[static_cast<std::size_t>(player.frame)];
    ImGui::SetCursorScreenPos({x, y});
    if (small_button(ui, "sweep.use", "Use " + frame.value, "Sets the experiment to this value"))
        use_value(desk, *swept, frame);
}

/// A number as the cells of pictures write it: weights below a thousandth are "<.001".
std::string number_words(const SweepScene& scene, float value) {
    return scene.shown.stage->info->unit == Unit::probability ? weight_text(value) : short_text(value);
}

/// Where panels stand in lines of equal length, the names of the rows on the left of each line.
struct SweepPlaces {
    std::vector<MatrixPlace> panels;
    std::vector<float> tops;    ///< of the captions
    std::vector<float> rights;  ///< how far the captions may reach
    int in_a_line = 1;
    float labels = 0, column_labels = 0;
};

/// nullopt if there is no room.
std::optional<SweepPlaces> places(const Ui& ui, const ShownStage& shown, const Area& area, int count,
                                  int lines) {
    SweepPlaces at;
    at.in_a_line = (count + lines - 1) / lines;
    at.labels = std::min(longest_text(ui, shown.rows(), [&](int i) { return shown.row_label(i); }),
                         ui.px(k_most_sweep_labels)) +
                ui.px(10);
    const float longest = longest_text(ui, shown.columns(), [&](int j) { return shown.column_label(j); });
    const float gap = ui.px(k_sweep_gap), between = static_cast<float>(at.in_a_line - 1) * gap,
                room = (area.width() - at.labels - between) / static_cast<float>(at.in_a_line),
                of_line = (area.height() + gap) / static_cast<float>(lines);
    float width = std::min(room / static_cast<float>(shown.columns()), ui.px(k_largest_swept_cell));
    const bool level = width >= longest + ui.px(4);
    at.column_labels = level ? ui.px(18) : std::min(longest, ui.px(86)) + ui.px(8);
    const float above = ui.px(k_sweep_caption) + at.column_labels;
    float height =
        std::min((of_line - gap - above) / static_cast<float>(shown.rows()), ui.px(k_largest_swept_cell));
    if (shown.stage->info->columns == Axis::key_token) {
        width = std::min(width, std::max(height * 1.4f, ui.px(40)));
        height = std::min(height, width);
    }
    if (height <= 0 || width <= 0) return std::nullopt;
    const float wide = width * static_cast<float>(shown.columns()),
                high = height * static_cast<float>(shown.rows()),
                step = std::max(wide, std::min(room, ui.px(230))) + gap;
    for (int i = 0; i < count; ++i) {
        const int column = i % at.in_a_line, line = i / at.in_a_line;
        const float left = area.min.x + at.labels + step * static_cast<float>(column),
                    caption = area.min.y + of_line * static_cast<float>(line), top = caption + above;
        at.panels.push_back({place_axis(shown.rows(), height, top, top + high, 1, 0.5),
                             place_axis(shown.columns(), width, left, left + wide, 1, 0.5)});
        at.tops.push_back(caption);
        at.rights.push_back(column + 1 < at.in_a_line ? left + step - ui.px(12) : area.max.x);
    }
    return at;
}

/// The places of every value, in as many lines as make the cells largest.
std::optional<SweepPlaces> places_of_values(const Ui& ui, const ShownStage& shown, const Area& area,
                                            int count) {
    std::optional<SweepPlaces> best;
    for (int lines = 1; lines <= count; ++lines) {
        auto at = places(ui, shown, area, count, lines);
        if (at && (!best || at->panels[0].rows.pitch() > best->panels[0].rows.pitch())) best = std::move(at);
    }
    return best;
}

std::string cell_words(const ShownStage& shown, const Cell& cell) {
    const std::string row = legible(shown.row_label(cell.row)),
                      column = legible(shown.column_label(cell.column));
    const bool both = !row.empty() && !column.empty();
    return row + (!both ? "" : shown.stage->info->columns == Axis::key_token ? " → " : " · ") + column;
}

/// "you → to: mean 0.21 ± 0.31, from 0 to 0.86; defined at 7 of 9 values".
std::string spread_words(const SweepScene& scene, const Cell& cell) {
    const Spread& spread = *scene.swept.spread;
    const auto count = static_cast<std::size_t>(spread.count(cell.row, cell.column)),
               values = scene.swept.frames.size();
    if (count == 0) return cell_words(scene.shown, cell) + ": undefined everywhere";
    return fmt::format("{}: mean {} ± {}, from {} to {}{}", cell_words(scene.shown, cell),
                       number_words(scene, spread.mean(cell.row, cell.column)),
                       number_words(scene, spread.deviation(cell.row, cell.column)),
                       number_words(scene, spread.least(cell.row, cell.column)),
                       number_words(scene, spread.most(cell.row, cell.column)),
                       count < values ? fmt::format("; defined at {} of {} values", count, values) : "");
}

/// What the mean gives a word itself, and the others; "" where rows and columns are not the same words.
std::string diagonal_text(const SweepScene& scene) {
    const Matrix& mean = scene.swept.spread->mean;
    const ShownStage& shown = scene.shown;
    const bool same_words =
        mean.rows() == mean.cols() && mean.rows() > 1 && shown.trace->rows == shown.trace->columns;
    if (!same_words || shown.stage->info->unit != Unit::probability || !mean.allFinite()) return "";
    const auto count = static_cast<float>(mean.rows());
    return fmt::format("diagonal {:.3f}, others {:.3f} on average", mean.diagonal().mean(),
                       (mean.sum() - mean.diagonal().sum()) / (count * (count - 1)));
}

/// Marks the center of each row's local window, if there are windows.
void mark_centers(const Ui& ui, ImDrawList& list, const ShownStage& shown, const MatrixPlace& place) {
    const std::vector<float> centers = window_centers(*shown.trace, shown.head);
    const float half = std::min(ui.px(5), place.rows.pitch() / 4);
    for (int i = 0; i < std::ssize(centers) && half >= 2; ++i) {
        const float key = centers[static_cast<std::size_t>(i)];
        if (!(key >= 0 && key < static_cast<float>(place.columns.count))) continue;
        const float x = place.columns.begin(0) + (key + 0.5f) * place.columns.pitch(),
                    y = place.rows.begin(i + 1);
        list.AddTriangleFilled({x - half, y - 1}, {x + half, y - 1}, {x, y - 1 - half}, ink(ui.theme.text));
        list.AddTriangle({x - half, y - 1}, {x + half, y - 1}, {x, y - 1 - half}, ink(ui.theme.background));
    }
}

enum class Panel { frame, mean, deviation };

void panel(Desk& desk, const Ui& ui, const SweepScene& scene, Panel which, const SweepPlaces& at, int index) {
    const auto i_of = static_cast<std::size_t>(index);
    const MatrixPlace& place = at.panels[i_of];
    const bool has_rows = index % at.in_a_line == 0;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const bool is_frame = which == Panel::frame;
    const ColorScale& scale = which == Panel::deviation ? scene.deviation : scene.scale;
    constexpr std::array k_ids = {"sweep frame", "sweep mean", "sweep spread"};
    ImGui::SetCursorScreenPos(place.view().min);
    ImGui::InvisibleButton(k_ids[static_cast<std::size_t>(which)],
                           {place.view().width(), place.view().height()});
    if (ImGui::IsItemHovered()) {
        const Cell cell = place.at(ImGui::GetIO().MousePos);
        point_at(desk, scene.shown, cell);
        if (scene.swept.spread) tooltip(ui, spread_words(scene, cell));
        if (ImGui::IsMouseReleased(0) && was_click()) {
            toggle_lock(desk, scene.shown, cell);
            desk.state.sweep_playback.frame = static_cast<int>(scene.frame - scene.swept.frames.data());
        }
    }
    const auto number = [&](int i, int j) -> std::optional<float> {
        if (is_frame) return scene.shown.closed(i, j) ? std::nullopt : std::optional(scene.shown.at(i, j));
        if (scene.swept.spread->count(i, j) == 0) return std::nullopt;
        return which == Panel::mean ? scene.swept.spread->mean(i, j) : scene.swept.spread->deviation(i, j);
    };
    if (is_frame)
        paint_matrix(desk, ui, *list, scene.shown, place.whole(), scale);
    else
        paint_difference(desk, ui, *list, which == Panel::mean ? scene.swept.mean : scene.swept.deviation,
                         place.whole(), scale);
    cell_numbers(desk, ui, place, scale, false, number);
    if (is_frame) mark_centers(ui, *list, scene.shown, place);
    if (scene.lit) {
        outline_row(ui, *list, place.whole(), scene.lit->row, place.rows.count);
        outline_cell(ui, *list, place.cell(*scene.lit));
    }
    matrix_labels(ui, scene.shown, place, has_rows, at.labels, scene.lit ? scene.lit->row : -1,
                  scene.lit ? scene.lit->column : -1, at.column_labels);
    const bool has_gaps =
        !is_frame &&
        (scene.swept.spread->count.array() < static_cast<float>(scene.swept.frames.size())).any();
    const bool marks = is_frame && !window_centers(*scene.shown.trace, scene.shown.head).empty();
    const std::string facts =
        is_frame ? kind_of(scene.swept.of.sweep, scene.shown.trace->experiment) + (marks ? ", marked" : "")
        : which == Panel::deviation ? "standard deviation"
        : has_gaps                  ? "where defined"
        : which == Panel::mean      ? diagonal_text(scene)
                                    : "";
    const float room = at.rights[i_of] - place.view().min.x;
    const auto has_room = [&](const std::string& text) { return text_width(ui.fonts.title, text) <= room; };
    const bool says_setting = sweeps_numbers(scene.swept.of.sweep) && has_room(scene.frame->shown.name);
    const std::string& of_frame = says_setting ? scene.frame->shown.name : scene.frame->value;
    const std::string name = is_frame ? of_frame : which == Panel::mean ? "Mean" : "Spread";
    const bool fits = text_width(ui.fonts.title, name) + ui.px(10) + text_width(ui.fonts.body, facts) <= room;
    panel_caption(ui, place.view().min.x, at.tops[i_of], room, name, fits ? facts : "",
                  "range " + range_words(scale));
}

/// Every value as a small picture, with the number of the cell that is lit.
void thumbnails(Desk& desk, const Ui& ui, const SweepScene& scene, const Area& area) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const std::string line = scene.lit && scene.swept.spread
                                 ? spread_words(scene, *scene.lit)
                                 : "Point at a cell for its numbers at every value; click a value to show it";
    draw_text(list, ui.fonts.body, area.min, ink(ui.theme.secondary), line, Align::left, area.width());
    const Area body{{area.min.x, area.min.y + ui.px(30)}, area.max};
    const Grid grid = grid_for(ui, body, static_cast<int>(scene.swept.frames.size()));
    if (grid.side < 4) return;
    SweepPlayback& player = desk.state.sweep_playback;
    for (int i = 0; i < static_cast<int>(scene.swept.frames.size()); ++i) {
        const SweptFrame& frame = scene.swept.frames[static_cast<std::size_t>(i)];
        const ShownStage shown = shown_frame(frame);
        const Area place = grid.place(body, i), picture = picture_in(place, shown);
        ImGui::PushID(i);
        ImGui::SetCursorScreenPos(place.min);
        const bool clicked = ImGui::InvisibleButton("value", {place.width(), place.height()});
        const bool hovered = ImGui::IsItemHovered();
        const bool pressed = keyboard_use(ui, ImGui::GetID("value"), picture).pressed;
        ImGui::PopID();
        if (hovered) tooltip(ui, frame.shown.name);
        if (clicked || pressed) {
            player.frame = i;
            player.playing = false;
        }
        paint_matrix(desk, ui, *list, shown, picture, scene.scale);
        const bool chosen = i == player.frame;
        if (chosen || hovered)
            list->AddRect({picture.min.x - 3, picture.min.y - 3}, {picture.max.x + 3, picture.max.y + 3},
                          ink(chosen ? ui.theme.accent : ui.theme.line), 3, 0, ui.px(1.8f));
        const bool has = scene.lit && scene.lit->row < shown.rows() && scene.lit->column < shown.columns();
        if (has) {
            const float wide = picture.width() / static_cast<float>(shown.columns()),
                        high = picture.height() / static_cast<float>(shown.rows());
            const float x = std::floor(picture.min.x + wide * static_cast<float>(scene.lit->column)),
                        top = std::floor(picture.min.y + high * static_cast<float>(scene.lit->row));
            if (std::min(wide, high) >= ui.px(k_least_outlined))
                outline_cell(ui, *list, {{x, top}, {x + std::ceil(wide), top + std::ceil(high)}});
        }
        if (!grid.has_texts()) continue;
        const float y = picture.max.y + ui.px(4);
        const std::string number = !has ? ""
                                   : shown.closed(scene.lit->row, scene.lit->column)
                                       ? "closed"
                                       : number_words(scene, shown.at(scene.lit->row, scene.lit->column));
        const bool strong = chosen && text_width(ui.fonts.strong, frame.value) <= place.width();
        ImFont* font = strong ? ui.fonts.strong : ui.fonts.caption;
        const float of_value = text_width(font, frame.value),
                    of_number = text_width(ui.fonts.mono_small, number) + ui.px(8);
        if (of_value <= place.width())
            draw_text(list, font, {picture.min.x, y}, ink(chosen ? ui.theme.text : ui.theme.secondary),
                      frame.value);
        if (has && of_value + of_number <= place.width())
            draw_text(list, ui.fonts.mono_small, {place.max.x, y}, ink(ui.theme.secondary), number,
                      Align::right);
    }
}

/// Functions to choose from, as large as the area allows: a click on a cell also chooses its value.
void every_value(Desk& desk, const Ui& ui, const SweepScene& scene, const Area& area) {
    const std::vector<SweptFrame>& frames = scene.swept.frames;
    const bool alike = std::ranges::all_of(frames, [&](const SweptFrame& frame) {
        return frame.shown.stage->shape() == scene.shown.stage->shape();
    });
    const auto at = places_of_values(ui, scene.shown, area, static_cast<int>(frames.size()));
    if (!alike || !at) return thumbnails(desk, ui, scene, area);
    for (int i = 0; i < static_cast<int>(frames.size()); ++i) {
        SweepScene each = scene;
        each.frame = &frames[static_cast<std::size_t>(i)];
        each.shown = shown_frame(*each.frame);
        ImGui::PushID(i);
        panel(desk, ui, each, Panel::frame, *at, i);
        const Area picture = at->panels[static_cast<std::size_t>(i)].view();
        if (i == desk.state.sweep_playback.frame)
            ImGui::GetWindowDrawList()->AddRect({picture.min.x - 2, picture.min.y - 2},
                                                {picture.max.x + 2, picture.max.y + 2}, ink(ui.theme.accent),
                                                3, 0, ui.px(1.8f));
        ImGui::PopID();
    }
}

}  // namespace

std::string why_no_sweep_view(const Desk& desk) {
    if (!desk.document.trace()) return "";
    Session in_view = desk.document.session();
    in_view.presentation.view = ViewKind::sweep;
    const Sweep sweep = chosen_sweep(in_view);
    return sweep == Sweep::none ? "No setting here can be swept" : why_no_sweep(in_view, sweep);
}

void sweep_view(Desk& desk, const Ui& ui, const Area& area, const std::function<void(const Action&)>&) {
    const float margin = ui.px(k_sweep_margin);
    const Area inside{{area.min.x + margin, area.min.y + ui.px(12)},
                      {area.max.x - margin, area.max.y - ui.px(10)}};
    // Kept while it is drawn: a click may ask for another.
    const std::shared_ptr<const SweptValues> swept = desk.document.swept();
    if (swept) play(desk, *swept);
    header(desk, ui, inside, swept.get());
    const Area body{{inside.min.x, inside.min.y + ui.px(k_sweep_header)}, inside.max};
    if (!swept || swept->frames.empty()) {
        const std::string text = swept && !swept->problem.empty() ? swept->problem : "Computing every value…";
        draw_text(ImGui::GetWindowDrawList(), ui.fonts.body, body.min, ink(ui.theme.secondary), text,
                  Align::left, body.width());
        return;
    }
    const SweptFrame& frame = swept->frames[static_cast<std::size_t>(desk.state.sweep_playback.frame)];
    const ShownStage shown = shown_frame(frame);
    const SweepScene scene{*swept,
                           &frame,
                           shown,
                           common_scale(desk, *swept),
                           deviation_scale(desk, *swept),
                           lit_cell(desk, shown)};
    if (!sweeps_numbers(swept->of.sweep)) return every_value(desk, ui, scene, body);
    const float foot = std::max(ui.px(96), body.height() * k_thumbnails);
    const Area upper{body.min, {body.max.x, body.max.y - foot - ui.px(14)}};
    float top = body.max.y - foot;
    if (const auto at = places(ui, shown, upper, 3, 1); at && upper.height() > ui.px(k_sweep_caption + 60)) {
        top = std::min(top, at->panels.front().view().max.y + ui.px(26));  // what the matrices leave
        const int panels = swept->spread ? 3 : 1;
        for (int i = 0; i < panels; ++i) panel(desk, ui, scene, static_cast<Panel>(i), *at, i);
        if (!swept->spread)
            draw_text(ImGui::GetWindowDrawList(), ui.fonts.body,
                      {at->panels[1].view().min.x, upper.min.y + ui.px(6)}, ink(ui.theme.secondary),
                      "The values give matrices of different sizes: they have no mean", Align::left,
                      inside.max.x - at->panels[1].view().min.x);
    }
    thumbnails(desk, ui, scene, {{body.min.x, top}, body.max});
}

}  // namespace attnscope
