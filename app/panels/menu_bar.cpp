#include <algorithm>
#include <string>
#include <vector>

#include "app/actions/files.h"
#include "app/panels/panels.h"
#include "app/ui/widgets.h"
#include "core/session/examples.h"

namespace attnscope {
namespace {

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

/// Settings whose items stand in the menu of views.
const std::vector<OptionName> k_in_view_menu = {"theme", "gradients"};

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

void action_items(const Ui& ui, ActionContext& context, Menu menu,
                  const std::function<void(const Action&)>& run) {
    for (const Action& action : actions()) {
        if (action.menu != menu) continue;
        const std::string title(action.title);
        const bool enabled = action.enabled(context);
        // Fainter than this, its keys could not be read.
        ImGui::PushStyleVar(ImGuiStyleVar_DisabledAlpha, 1);
        ImGui::PushStyleColor(ImGuiCol_Text, ink(enabled ? ui.theme.text : ui.theme.secondary));
        if (ImGui::MenuItem(title.c_str(), shortcut_text(action.shortcut).c_str(),
                            action.chosen && action.chosen(context), enabled))
            run(action);
        ImGui::PopStyleColor();
        ImGui::PopStyleVar();
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
    for (const auto& [menu, name] : choices<Menu>()) words += text_width(ui.fonts.body, std::string(name));
    // In a narrow window the menus are closer together.
    const float gaps = static_cast<float>(choices<Menu>().size());
    const float room = area.width() - ui.px(114) - words - gaps * ui.px(26);
    const bool close = room < 0;
    const float padding = close ? ui.px(4) : ui.px(8), gap = close ? 0 : ui.px(10);
    float x = area.min.x + (close ? ui.px(96) : ui.px(114));
    if (x + words + 2 * gaps * padding > area.max.x)
        x = area.min.x + ui.px(4);  // the program's name is left out
    else
        draw_text(list, ui.fonts.strong, {area.min.x + ui.px(16), area.min.y + ui.px(8)}, ink(ui.theme.text),
                  "attnscope");
    for (const auto& [menu, word] : choices<Menu>()) {
        const std::string name(word);
        const float width = text_width(ui.fonts.body, name) + 2 * padding;
        ImGui::SetCursorScreenPos({x, area.min.y});
        const std::string popup = "menu " + name;
        const bool clicked = ImGui::InvisibleButton(name.c_str(), {width, area.height()});
        const Area place{{x + ui.px(2), area.min.y + ui.px(5)},
                         {x + width - ui.px(2), area.max.y - ui.px(5)}};
        light(ui, name, place);
        const bool sought = menu == Menu::view && context.interaction.reveal.is_one_of(k_in_view_menu);
        if (sought) context.interaction.reveal = {};
        if (sought) give_keyboard(ui, ImGui::GetID(name.c_str()));
        if (keyboard_use(ui, ImGui::GetID(name.c_str()), place).pressed || clicked || sought)
            ImGui::OpenPopup(popup.c_str());
        const bool lit = ImGui::IsItemHovered() || ImGui::IsPopupOpen(popup.c_str());
        draw_text(list, ui.fonts.body, {x + padding, area.min.y + ui.px(9)},
                  ink(lit ? ui.theme.text : ui.theme.secondary), name);
        if (ImGui::BeginPopup(popup.c_str())) {
            // A menu that is wider than the room to its right begins further left.
            ImGui::SetWindowPos(
                {std::max(area.min.x, std::min(x, area.max.x - ImGui::GetWindowWidth())), area.max.y});
            action_items(ui, context, menu, run);
            switch (menu) {
                case Menu::file: recent_items(ui, context); break;
                case Menu::examples: example_items(ui, context); break;
                case Menu::help: question_items(ui, context); break;
                case Menu::edit:
                case Menu::view:
                case Menu::training:
                case Menu::compute: break;
            }
            ImGui::EndPopup();
        }
        x += width + gap;
    }
    search_field(ui, area, x + ui.px(8), run);
}

}  // namespace attnscope
