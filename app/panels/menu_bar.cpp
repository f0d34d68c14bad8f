#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "app/actions/files.h"
#include "app/panels/panels.h"
#include "app/ui/widgets.h"
#include "core/session/examples.h"

namespace attnscope {
namespace {

constexpr const char* k_menus[] = {"File", "Edit", "View", "Training", "Compute", "Examples", "Help"};

void recent_items(const Ui& ui, ActionContext& context) {
    if (context.saved.recent_files.empty()) return;
    ImGui::Separator();
    for (const std::string& file : context.saved.recent_files) {
        if (ImGui::MenuItem(file.c_str())) context.interaction.to_open = OpenRequest{file};
        help_at_rest(ui, "Opens this file again");
    }
}

void example_items(const Ui& ui, ActionContext& context) {
    ImGui::Separator();
    for (const auto& [name, session] : all_examples()) {
        if (ImGui::MenuItem(name.c_str())) open_example(context, name);
        tooltip(ui, session.note);
    }
}

void question_items(const Ui& ui, ActionContext& context) {
    ImGui::Separator();
    for (const Question& question : questions()) {
        const std::string text(question.text);
        if (ImGui::MenuItem(text.c_str())) open_question(context, question);
        tooltip(ui, std::string(question.look));
    }
}

/// The search field, as wide as the menus, which end at `left`, allow.
void search_field(const Ui& ui, const Area& area, float left, const std::function<void(const Action&)>& run) {
    const float width = std::min(ui.px(262), area.max.x - ui.px(16) - left), height = ui.px(20);
    if (width < ui.px(60)) return;
    const bool roomy = width >= ui.px(180);
    const ImVec2 at{area.max.x - ui.px(16) - width, area.min.y + (area.height() - height) / 2};
    ImGui::SetCursorScreenPos(at);
    if (ImGui::InvisibleButton("search", {width, height})) run(action_named("help.palette"));
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(at, {at.x + width, at.y + height}, ink(ui.theme.raised), height / 2);
    draw_text(list, ui.fonts.caption, {at.x + width / 2, at.y + ui.px(3)},
              ink(ImGui::IsItemHovered() ? ui.theme.secondary : ui.theme.faint),
              roomy ? "Search everything       Ctrl+P" : "Ctrl+P", Align::center);
}

}  // namespace

void action_items(const Ui& ui, ActionContext& context, std::string_view menu,
                  const std::function<void(const Action&)>& run) {
    for (const Action& action : actions()) {
        if (action.menu != menu) continue;
        const std::string title(action.title);
        const bool enabled = action.enabled(context);
        if (ImGui::MenuItem(title.c_str(), shortcut_text(action.shortcut).c_str(),
                            action.chosen && action.chosen(context), enabled))
            run(action);
        const std::string help(action.help);
        if (enabled)
            help_at_rest(ui, help);
        else
            tooltip(ui, why_disabled(action, context) + "\n" + help);
    }
}

void menu_bar(const Ui& ui, const Area& area, ActionContext& context,
              const std::function<void(const Action&)>& run) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(area.min, area.max, ink(ui.theme.panel));
    list->AddLine({area.min.x, area.max.y}, area.max, ink(ui.theme.line));
    float words = 0;
    for (const char* menu : k_menus) words += text_width(ui.fonts.body, menu);
    // In a narrow window the menus are closer together.
    const float gaps = static_cast<float>(std::size(k_menus));
    const float room = area.width() - ui.px(114) - words - gaps * ui.px(26);
    const bool close = room < 0;
    const float padding = close ? ui.px(4) : ui.px(8), gap = close ? 0 : ui.px(10);
    float x = area.min.x + (close ? ui.px(96) : ui.px(114));
    if (x + words + 2 * gaps * padding > area.max.x)
        x = area.min.x + ui.px(4);  // the program's name is left out
    else
        draw_text(list, ui.fonts.strong, {area.min.x + ui.px(16), area.min.y + ui.px(8)}, ink(ui.theme.text),
                  "attnscope");
    for (const char* menu : k_menus) {
        const float width = text_width(ui.fonts.body, menu) + 2 * padding;
        ImGui::SetCursorScreenPos({x, area.min.y});
        const std::string popup = std::string("menu ") + menu;
        const bool clicked = ImGui::InvisibleButton(menu, {width, area.height()});
        const Area place{{x + ui.px(2), area.min.y + ui.px(5)},
                         {x + width - ui.px(2), area.max.y - ui.px(5)}};
        light(ui, menu, place);
        if (keyboard_use(ui, ImGui::GetID(menu), place).pressed || clicked) ImGui::OpenPopup(popup.c_str());
        const bool lit = ImGui::IsItemHovered() || ImGui::IsPopupOpen(popup.c_str());
        draw_text(list, ui.fonts.body, {x + padding, area.min.y + ui.px(9)},
                  ink(lit ? ui.theme.text : ui.theme.secondary), menu);
        ImGui::SetNextWindowPos({x, area.max.y});
        if (ImGui::BeginPopup(popup.c_str())) {
            action_items(ui, context, menu, run);
            if (std::string_view(menu) == "File") recent_items(ui, context);
            if (std::string_view(menu) == "Examples") example_items(ui, context);
            if (std::string_view(menu) == "Help") question_items(ui, context);
            ImGui::EndPopup();
        }
        x += width + gap;
    }
    search_field(ui, area, x + ui.px(8), run);
}

}  // namespace attnscope
