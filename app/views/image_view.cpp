// A picture with the attention of the words over it (after Xu et al. 2015, figure 3).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/ui/widgets.h"
#include "app/views/choosing.h"
#include "app/views/views.h"
#include "core/graph/stage_table.h"
#include "core/number_text.h"
#include "core/picture/figure.h"

namespace attnscope {
namespace {

constexpr float k_image_header = 60;
constexpr float k_image_bar = 96;
constexpr float k_least_tile = 72, k_largest_tile = 168;  ///< units of a word's small picture
constexpr float k_tile_gap = 12, k_tile_label = 20;
constexpr int k_most_covers = 20000;  ///< patches in the small pictures, in total

/// What is drawn: weights N × M, where M = grid².
struct ImageScene {
    ShownStage shown;
    const CustomImage& image;
    int grid;
    ColorScale scale;
    bool hard;

    int queries() const { return shown.rows(); }
    Area patch(const Area& area, int key) const {
        const float pitch = area.width() / static_cast<float>(grid);
        const int row = key / grid, column = key % grid;
        const ImVec2 at{area.min.x + static_cast<float>(column) * pitch,
                        area.min.y + static_cast<float>(row) * pitch};
        return {at, {at.x + pitch, at.y + pitch}};
    }
};

/// The highlighted patch, which has no chip.
int lit_key(const Desk& desk) {
    if (desk.state.hovered_token) return -1;
    return current_highlight(desk.state, desk.document.presentation(), desk.document.trace().get()).key;
}

void cover(const Ui& ui, const ImageScene& scene, const Area& area, int query) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    for (int key = 0; key < scene.shown.columns(); ++key) {
        const Area patch = scene.patch(area, key);
        const float value = scene.shown.at(query, key);
        if (scene.shown.closed(query, key)) {
            list->AddRectFilled(patch.min, patch.max, ink(ui.theme.masked, k_cover_closed));
            list->AddLine({patch.min.x, patch.max.y}, {patch.max.x, patch.min.y}, ink(ui.theme.hatch));
        } else if (!(scene.hard && value == 1)) {
            const Rgb8 color = std::isnan(value) ? ui.theme.nan : scene.scale.color(value);
            list->AddRectFilled(patch.min, patch.max, ink(color, cover_of(scene.scale, value)));
        }
    }
}

void outline(const Ui& ui, const Area& patch, Rgb8 color, float width) {
    ImGui::GetWindowDrawList()->AddRect(patch.min, patch.max, ink(color), 0, 0, ui.px(width));
}

/// Outlines the one patch that hard attention chooses.
void outline_choice(const Ui& ui, const ImageScene& scene, const Area& area, int query, float width) {
    if (!scene.hard) return;
    for (int key = 0; key < scene.shown.columns(); ++key)
        if (scene.shown.at(query, key) == 1) outline(ui, scene.patch(area, key), ui.theme.accent, width);
}

void grid_lines(const Ui& ui, const ImageScene& scene, const Area& area) {
    const float pitch = area.width() / static_cast<float>(scene.grid);
    if (pitch < ui.px(8)) return;
    ImDrawList* list = ImGui::GetWindowDrawList();
    for (int i = 1; i < scene.grid; ++i) {
        const float at = static_cast<float>(i) * pitch;
        list->AddLine({area.min.x + at, area.min.y}, {area.min.x + at, area.max.y},
                      ink(ui.theme.background, 0.5f));
        list->AddLine({area.min.x, area.min.y + at}, {area.max.x, area.min.y + at},
                      ink(ui.theme.background, 0.5f));
    }
}

void patch_values(Desk& desk, const Ui& ui, const ImageScene& scene, const Area& area, int query) {
    ImFont* font = ui.fonts.mono_small;
    const float pitch = area.width() / static_cast<float>(scene.grid);
    if (!desk.document.presentation().values || pitch < text_width(font, "0.000") + ui.px(6)) return;
    ImDrawList* list = ImGui::GetWindowDrawList();
    for (int key = 0; key < scene.shown.columns(); ++key) {
        if (scene.shown.closed(query, key)) continue;
        const Area patch = scene.patch(area, key);
        const ImVec2 at{(patch.min.x + patch.max.x) / 2, patch.max.y - compat::font_size(*font) - ui.px(3)};
        const std::string text = weight_text(scene.shown.at(query, key));
        // A shadow, as the background may be light or dark.
        draw_text(list, font, {at.x + 1, at.y + 1}, ink(ui.theme.on_light, 0.8f), text, Align::center);
        draw_text(list, font, at, ink(ui.theme.on_dark), text, Align::center);
    }
}

void header(const Ui& ui, const ImageScene& scene, const Area& area, int query) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float left = area.min.x + ui.px(24), y = area.min.y + ui.px(14);
    const std::string word = legible(scene.shown.trace->label(Axis::query_token, query));
    const float width =
        draw_text(list, ui.fonts.title, {left, y}, ink(ui.theme.text), word, Align::left, area.width() / 2);
    draw_text(list, ui.fonts.body, {left + width + ui.px(16), y + ui.px(7)}, ink(ui.theme.secondary),
              fmt::format("attends to {0}{1} × {1} patches: {2}", scene.hard ? "one of " : "", scene.grid,
                          stage_heading(*scene.shown.stage->info)),
              Align::left, area.max.x - left - width - ui.px(32));
}

/// The chosen word's weights, in large.
void large_picture(Desk& desk, const Ui& ui, const ImageScene& scene, const Area& area, int query) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    ImGui::SetCursorScreenPos(area.min);
    ImGui::InvisibleButton("picture", {area.width(), area.height()});
    if (ImGui::IsItemHovered()) {
        const ImVec2 mouse = ImGui::GetIO().MousePos;
        const auto at = [&](float from_start) {
            return cell_at(from_start / area.width() * static_cast<float>(scene.grid), scene.grid);
        };
        const int key = at(mouse.y - area.min.y) * scene.grid + at(mouse.x - area.min.x);
        use_cell(desk, ui, scene.shown, {query, key});
    }
    ui.images.draw(*list, scene.image, area.min, area.max);
    cover(ui, scene, area, query);
    grid_lines(ui, scene, area);
    patch_values(desk, ui, scene, area, query);
    outline_choice(ui, scene, area, query, 3);
    if (const int key = lit_key(desk); key >= 0 && key < scene.shown.columns())
        outline(ui, scene.patch(area, key), ui.theme.text, 2);
}

/// One word's small picture: hovering shows it in large, a click locks it.
void tile(Desk& desk, const Ui& ui, const ImageScene& scene, const Area& area, int query, bool chosen) {
    ImGui::SetCursorScreenPos(area.min);
    ImGui::PushID(query);
    const bool clicked = ImGui::InvisibleButton("word", {area.width(), area.height() + ui.px(k_tile_label)});
    const bool pressed = keyboard_use(ui, ImGui::GetID("word"), area).pressed;
    if (clicked || pressed) toggle_lock(desk, scene.shown, {query, largest_key(scene.shown, query)});
    const bool hovered = ImGui::IsItemHovered();
    help_at_rest(ui, "Hover: enlarge this word's picture · click: lock the word");
    ImGui::PopID();
    if (hovered) point_at(desk, scene.shown, {query, largest_key(scene.shown, query)});
    ui.images.draw(*ImGui::GetWindowDrawList(), scene.image, area.min, area.max);
    cover(ui, scene, area, query);
    outline_choice(ui, scene, area, query, 1.5f);
    if (chosen)
        outline(ui, {{area.min.x - 2, area.min.y - 2}, {area.max.x + 2, area.max.y + 2}}, ui.theme.accent,
                1.5f);
    const std::string word = legible(scene.shown.trace->label(Axis::query_token, query));
    draw_text(ImGui::GetWindowDrawList(), ui.fonts.body,
              {(area.min.x + area.max.x) / 2, area.max.y + ui.px(3)},
              ink(chosen ? ui.theme.text : ui.theme.secondary), word, Align::center, area.width());
}

/// Small pictures of as many words as fit.
void tiles(Desk& desk, const Ui& ui, const ImageScene& scene, const Area& area, int chosen) {
    const float gap = ui.px(k_tile_gap), label = ui.px(k_tile_label);
    const auto count = [&](float room, float pitch) {
        return std::max(0, static_cast<int>((room + gap) / pitch));
    };
    float side = ui.px(k_largest_tile);
    const auto fits = [&] {
        return count(area.width(), side + gap) * count(area.height(), side + label + gap);
    };
    while (side > ui.px(k_least_tile) && fits() < scene.queries()) side -= 1;
    const int columns = count(area.width(), side + gap);
    const int most = std::min({scene.queries(), fits(), k_most_covers / scene.shown.columns()});
    for (int query = 0; query < most; ++query) {
        const int line = query / columns, column = query % columns;
        const ImVec2 at{area.min.x + static_cast<float>(column) * (side + gap),
                        area.min.y + static_cast<float>(line) * (side + label + gap)};
        tile(desk, ui, scene, {at, {at.x + side, at.y + side}}, query, query == chosen);
    }
    if (most > 0 && most < scene.queries())
        draw_text(ImGui::GetWindowDrawList(), ui.fonts.caption, {area.max.x, area.max.y - ui.px(4)},
                  ink(ui.theme.faint), fmt::format("and {} more", scene.queries() - most), Align::right);
}

}  // namespace

std::string why_no_image(const Desk& desk) {
    const Trace* trace = desk.document.trace().get();
    if (!desk.document.experiment().input.image)
        return "No picture: open one, or use the built-in one (Edit)";
    if (!trace || !trace->find("patches"_stage)) return "A custom matrix replaces the picture";
    return "";
}

void image_view(Desk& desk, const Ui& ui, const Area& area, const std::function<void(const Action&)>&) {
    const Trace& trace = *desk.document.trace();
    const Presentation& presentation = desk.document.presentation();
    auto shown = shown_stage(trace, "weights_dropped"_stage, presentation);
    if (!shown) shown = shown_stage(trace, "weights"_stage, presentation);
    const Experiment& e = trace.experiment;
    const ImageScene scene{*shown, *e.input.image, e.input.grid, scale_of(*shown, presentation),
                           e.weighting.chooses_one_key()};
    const int query = chosen_query(desk, scene.queries());
    header(ui, scene, area, query);

    const Area body{{area.min.x + ui.px(24), area.min.y + ui.px(k_image_header)},
                    {area.max.x - ui.px(16), area.max.y - ui.px(16)}};
    const float side =
        std::floor(std::max(ui.px(40), std::min(body.height(), body.width() - ui.px(k_image_bar))));
    const Area picture{body.min, {body.min.x + side, body.min.y + side}};
    large_picture(desk, ui, scene, picture, query);
    const float bar = picture.max.x + ui.px(16);
    paint_scale(ui, scene.scale,
                {{bar, picture.min.y + ui.px(6)}, {bar + ui.px(14), picture.max.y - ui.px(6)}});
    tiles(desk, ui, scene, {{picture.max.x + ui.px(k_image_bar), body.min.y}, body.max}, query);
}

}  // namespace attnscope
