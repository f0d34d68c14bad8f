// The step of the tour that is on: a ring around the control to try, and a card beside it.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/document/tour.h"
#include "app/panels/panels.h"
#include "app/ui/widgets.h"

namespace attnscope {
namespace {

constexpr float k_card_width = 316, k_card_pad = 14, k_away = 14;  ///< units; `k_away`: from the control

bool overlap(const Area& a, const Area& b) {
    return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y;
}

/// The first place beside `lit`, within `screen`, that does not cover it; the screen's foot if there is none.
Area place_beside(const Area& lit, ImVec2 size, const Area& screen, float away) {
    const bool wide = lit.width() > 2 * size.x;  // what changes stands at the beginning of its line
    const float x = std::clamp(wide ? lit.max.x - size.x : lit.min.x, screen.min.x,
                               std::max(screen.min.x, screen.max.x - size.x)),
                y = std::clamp(lit.min.y, screen.min.y, std::max(screen.min.y, screen.max.y - size.y));
    const std::array<ImVec2, 4> places = {ImVec2{x, lit.max.y + away}, ImVec2{lit.max.x + away, y},
                                          ImVec2{lit.min.x - away - size.x, y},
                                          ImVec2{x, lit.min.y - away - size.y}};
    for (const ImVec2& at : places) {
        const Area card{at, {at.x + size.x, at.y + size.y}};
        if (at.x >= screen.min.x && at.y >= screen.min.y && card.max.x <= screen.max.x &&
            card.max.y <= screen.max.y && !overlap(card, lit))
            return card;
    }
    const ImVec2 at{(screen.min.x + screen.max.x - size.x) / 2, screen.max.y - size.y};
    return {at, {at.x + size.x, at.y + size.y}};
}

void go_to(Desk& desk, int step) {
    desk.state.tour.go_to(step, desk.document.session());
    const TourStep& of = tour_steps()[static_cast<std::size_t>(step)];
    if (of.option.empty()) return;
    desk.saved.panels.experiment_open = true;
    desk.state.reveal = {std::string(of.option)};
}

void buttons(Desk& desk, const Ui& ui, const Area& card) {
    Tour& tour = desk.state.tour;
    const int last = static_cast<int>(tour_steps().size()) - 1;
    const float y = card.max.y - ui.px(k_card_pad + 24), wide = ui.px(76);
    const auto button = [&](float x, const char* id, const char* label, const char* help) {
        ImGui::SetCursorScreenPos({x, y});
        return small_button(ui, id, label, help, wide);
    };
    if (button(card.min.x + ui.px(k_card_pad), "tour.leave", "Leave", "Ends the tour (Esc)"))
        return leave_tour(tour, desk.saved);
    const float right = card.max.x - ui.px(k_card_pad) - wide;
    if (tour.step > 0 && button(right - wide - ui.px(8), "tour.back", "Back", "The step before"))
        return go_to(desk, tour.step - 1);
    if (button(right, "tour.next", tour.step == last ? "Done" : "Next",
               tour.step == last ? "Ends the tour" : "The next step")) {
        if (tour.step == last) return leave_tour(tour, desk.saved);
        go_to(desk, tour.step + 1);
    }
}

}  // namespace

void tour_card(Desk& desk, const Ui& ui) {
    Tour& tour = desk.state.tour;
    if (tour.step < 0) return;
    const TourStep& step = tour_steps()[static_cast<std::size_t>(tour.step)];
    tour.tried = tour.tried || step.tried(tour.begun, desk.document.session(), desk.state);
    if (desk.state.dialog != Dialog::none) return;

    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const float margin = ui.px(10), pad = ui.px(k_card_pad), line = ui.px(19);
    const float width = std::min(ui.px(k_card_width), display.x - 2 * margin);
    const auto lines = broken_lines(ui.fonts.body, std::string(step.text), width - 2 * pad, 8);
    const ImVec2 size{width, pad + ui.px(26) + line * static_cast<float>(lines.size()) + ui.px(44) + pad};
    const auto& lit = ui.controls.lit_area;
    const Area control{{lit[0], lit[1]}, {lit[2], lit[3]}};
    const Area screen{{margin, margin}, {display.x - margin, display.y - margin}};
    const Area card = place_beside(control, size, screen, ui.px(k_away));

    ImGui::SetNextWindowPos(card.min);
    ImGui::SetNextWindowSize(size);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
    ImGui::PushStyleColor(ImGuiCol_WindowBg, 0);
    ImGui::Begin("tour", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav);
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(card.min, card.max, ink(ui.theme.panel), ui.px(8));
    list->AddRect(card.min, card.max, ink(ui.theme.accent), ui.px(8), 0, ui.px(1.5f));
    if (control.width() > 0) {
        const float out = ui.px(4);
        list->PushClipRectFullScreen();
        list->AddRect({control.min.x - out, control.min.y - out}, {control.max.x + out, control.max.y + out},
                      ink(ui.theme.accent), ui.px(8), 0, ui.px(2.5f));
        list->PopClipRect();
    }
    draw_text(list, ui.fonts.strong, {card.min.x + pad, card.min.y + pad}, ink(ui.theme.text),
              std::string(step.title));
    draw_text(list, ui.fonts.caption, {card.max.x - pad, card.min.y + pad},
              ink(tour.tried ? ui.theme.accent : ui.theme.secondary),
              tour.tried ? "done" : fmt::format("{} of {}", tour.step + 1, tour_steps().size()),
              Align::right);
    float y = card.min.y + pad + ui.px(26);
    for (const std::string& text : lines) {
        draw_text(list, ui.fonts.body, {card.min.x + pad, y}, ink(ui.theme.secondary), text);
        y += line;
    }
    buttons(desk, ui, card);
    ImGui::End();
}

}  // namespace attnscope
