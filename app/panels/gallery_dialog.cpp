// The examples by theme, each with its picture and one sentence on what to look for.
#include <algorithm>
#include <cmath>
#include <string>

#include "app/actions/files.h"
#include "app/panels/dialog_parts.h"
#include "app/platform/imgui_compat.h"
#include "core/session/examples.h"

namespace attnscope {
namespace {

constexpr float k_gallery_width = 1120, k_gallery_height = 640;  ///< of the dialog's contents
constexpr float k_least_card = 268, k_card_height = 104;         ///< units
constexpr float k_gap = 10, k_pad = 10;
constexpr float k_heading = 34;       ///< height of a theme's name
constexpr float k_least_part = 0.2f;  ///< of a picture's place that its shorter side fills
constexpr int k_promise_lines = 4;    ///< of a promise

/// What the example shows first.
void picture(Desk& desk, const Ui& ui, const Area& place, int index) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const auto& known = desk.gallery.known();
    if (!known) return list.AddRectFilled(place.min, place.max, ink(ui.theme.raised), ui.px(3));
    const CustomImage& image = known->pictures[static_cast<std::size_t>(index)];
    const float ratio = static_cast<float>(image.image().width) / static_cast<float>(image.image().height);
    const float width = place.width() * std::clamp(ratio, k_least_part, 1.0f),
                height = place.height() * std::clamp(1 / ratio, k_least_part, 1.0f);
    const ImVec2 at{std::round(place.min.x + (place.width() - width) / 2),
                    std::round(place.min.y + (place.height() - height) / 2)};
    ui.images.draw(list, image, at, {at.x + width, at.y + height});
}

/// True if it was chosen. `steps` gets where the arrows lead, in cards.
bool card(Desk& desk, const Ui& ui, const Area& area, int index, int columns, int& steps) {
    const ExampleCard& of = example_cards()[static_cast<std::size_t>(index)];
    const std::string id(of.name);
    ImGui::SetCursorScreenPos(area.min);
    const bool clicked = ImGui::InvisibleButton(id.c_str(), {area.width(), area.height()});
    const bool hovered = ImGui::IsItemHovered();
    if (hovered)
        help_at_rest(ui, std::ranges::find(all_examples(), of.name, &NamedExample::name)->session.note);
    const KeyboardUse keys = grid_keyboard_use(ui, ImGui::GetID(id.c_str()), area);
    if (keys.steps || keys.steps_down) steps = keys.steps + columns * keys.steps_down;
    if (!ImGui::IsRectVisible(area.min, area.max)) return clicked || keys.pressed;
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(area.min, area.max, ink(hovered ? ui.theme.raised : ui.theme.background), ui.px(6));
    list->AddRect(area.min, area.max, ink(hovered ? ui.theme.accent : ui.theme.line), ui.px(6));
    const float pad = ui.px(k_pad), side = area.height() - 2 * pad;
    picture(desk, ui,
            {{area.min.x + pad, area.min.y + pad}, {area.min.x + pad + side, area.min.y + pad + side}},
            index);
    const float left = area.min.x + 2 * pad + side, width = area.max.x - pad - left;
    float y = area.min.y + pad;
    const float title_line = compat::font_size(*ui.fonts.strong) + ui.px(3),
                line = compat::font_size(*ui.fonts.caption) + ui.px(3);
    for (const std::string& text : broken_lines(ui.fonts.strong, std::string(of.title), width, 2)) {
        draw_text(list, ui.fonts.strong, {left, y}, ink(ui.theme.text), text);
        y += title_line;
    }
    y += ui.px(2);
    const int lines = std::clamp(static_cast<int>((area.max.y - pad / 2 - y) / line), 1, k_promise_lines);
    const std::string promise(of.promise);
    const auto broken = broken_lines(ui.fonts.caption, promise, width, lines);
    for (const std::string& text : broken) {
        draw_text(list, ui.fonts.caption, {left, y}, ink(ui.theme.secondary), text);
        y += line;
    }
    return clicked || keys.pressed;
}

}  // namespace

void gallery_dialog(Desk& desk, const Ui& ui, ActionContext& context) {
    desk.gallery.update();
    desk.gallery.request({ui.theme.choice});
    const float width = dialog_width(ui, k_gallery_width), gap = ui.px(k_gap);
    const float height = std::min(ui.px(k_gallery_height), ImGui::GetIO().DisplaySize.y - ui.px(110));
    ImGui::BeginChild("cards", {width, height});
    const float inside = width - ui.px(18);
    const int columns = std::max(1, static_cast<int>((inside + gap) / (ui.px(k_least_card) + gap)));
    const float card_width = (inside - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    float y = origin.y;
    int column = 0, steps = 0, chosen = -1;
    std::string_view theme;
    const auto cards = example_cards();
    for (int i = 0; i < static_cast<int>(cards.size()); ++i) {
        const ExampleCard& of = cards[static_cast<std::size_t>(i)];
        if (of.theme != theme) {
            if (column > 0) y += ui.px(k_card_height) + gap;
            column = 0;
            theme = of.theme;
            draw_text(ImGui::GetWindowDrawList(), ui.fonts.strong, {origin.x + ui.px(2), y + ui.px(9)},
                      ink(ui.theme.secondary), std::string(theme));
            y += ui.px(k_heading);
        }
        const float x = origin.x + ui.px(2) + static_cast<float>(column) * (card_width + gap);
        if (card(desk, ui, {{x, y}, {x + card_width - ui.px(4), y + ui.px(k_card_height)}}, i, columns,
                 steps))
            chosen = i;
        if (++column < columns) continue;
        column = 0;
        y += ui.px(k_card_height) + gap;
    }
    if (column > 0) y += ui.px(k_card_height) + gap;
    ImGui::SetCursorScreenPos({origin.x, y});
    ImGui::Dummy({1, 1});
    ImGui::EndChild();
    if (steps) ui.controls.focus.move(steps);
    if (chosen < 0) return;
    desk.state.dialog = Dialog::none;
    open_example(context, std::string(cards[static_cast<std::size_t>(chosen)].name));
}

}  // namespace attnscope
