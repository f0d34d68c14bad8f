// The note of the session: what to look at, and what to try.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <vector>

#include "app/panels/panels.h"
#include "app/platform/imgui_compat.h"
#include "app/ui/widgets.h"
#include "core/learn/training_run.h"
#include "core/session/examples.h"
#include "core/session/questions.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

constexpr float k_note_margin = 16, k_padding = 7, k_line = 18;
constexpr float k_cross = 22;     ///< the close button
constexpr float k_widest = 1240;  ///< units; longer lines are hard to read
constexpr int k_note_lines = 3;

bool shows(const Desk& desk) {
    const std::string& note = desk.document.session().note;
    return !note.empty() && note != desk.saved.closed_note;
}

/// An action that a note offers beside closing it.
struct Offer {
    ActionName action;
    bool (*is_shown)(const Desk& desk);
};

/// Whether the numbers come from seeds alone, so that no pattern among them has a meaning.
bool is_random(const Desk& desk) {
    const Session& session = desk.document.session();
    return session.experiment.weights.custom.empty() && session.experiment.training.task == TaskKind::none;
}

bool is_learned(const Desk& desk) {
    const Session& session = desk.document.session();
    return can_be_trained(session.experiment) && session.experiment.training.step > 0;
}

bool has_not_toured(const Desk& desk) { return !desk.saved.toured && desk.state.tour.step < 0; }

constexpr Offer k_offers[] = {{"help.tour", has_not_toured},
                              {"training.designed", is_random},
                              {"training.learned", is_random},
                              {"training.watch", is_learned}};

std::string label_of(const Offer& offer) { return std::string(action_named(offer.action).title); }

float offer_width(const Ui& ui, const Offer& offer) {
    return text_width(ui.fonts.body, label_of(offer)) + ui.px(24);
}

/// The width of all offers; 0 where there is no room for them beside the note.
float offers_width(Desk& desk, const Ui& ui, float width) {
    float sum = 0;
    for (const Offer& offer : k_offers)
        if (offer.is_shown(desk)) sum += offer_width(ui, offer) + ui.px(8);
    return sum > width / 2 ? 0 : sum;
}

struct NoteText {
    std::string name;
    float indent;  ///< of the first line, after the name
    float width;   ///< of each line
    std::vector<std::string> lines;
    bool cut;
};

/// The note wrapped into at most `most` lines of `width` pixels, the name before the first line.
NoteText lay_out_note(Desk& desk, const Ui& ui, float width, int most) {
    NoteText text{note_title(desk.document), 0, std::min(width, ui.px(k_widest)), {}, false};
    std::string note = desk.document.session().note;
    const Question* question = question_with_note(note);
    if (question) note = question->look;
    if (!text.name.empty()) {
        text.name = fitted(ui.fonts.strong, text.name, question ? text.width : text.width / 2);
        text.indent = text_width(ui.fonts.strong, text.name) + ui.px(10);
    }
    constexpr std::size_t k_most_laid_out = 4000;  // bytes, more than k_note_lines hold
    const bool cut = note.size() > k_most_laid_out;
    if (cut) note.resize(code_point_begin(note, k_most_laid_out));
    std::ranges::replace(note, '\n', ' ');
    text.lines = broken_lines(ui.fonts.body, note, text.width, most, text.indent);
    text.cut = cut || (!text.lines.empty() && !note.ends_with(text.lines.back()));
    return text;
}

float text_room(Desk& desk, const Ui& ui, float width) {
    return width - ui.px(2 * k_note_margin + k_cross + 12) - offers_width(desk, ui, width);
}

float height_of(const Ui& ui, std::size_t lines) {
    return ui.px(2 * k_padding + k_line * static_cast<float>(lines));
}

/// A close button, drawn rather than written, so that it looks the same in every font.
bool cross(const Ui& ui, ImVec2 at) {
    const float size = ui.px(k_cross), r = ui.px(4);
    ImGui::SetCursorScreenPos(at);
    const bool clicked = ImGui::InvisibleButton("close note", {size, size});
    const bool hovered = ImGui::IsItemHovered();
    tooltip(ui, "Close (or Esc, if no cell is locked)");
    const KeyboardUse keys = keyboard_use(ui, ImGui::GetID("close note"), {at, {at.x + size, at.y + size}});
    const ImVec2 c{at.x + size / 2, at.y + size / 2};
    const ImU32 color = ink(hovered ? ui.theme.text : ui.theme.secondary);
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddLine({c.x - r, c.y - r}, {c.x + r, c.y + r}, color, ui.px(1.4f));
    list->AddLine({c.x - r, c.y + r}, {c.x + r, c.y - r}, color, ui.px(1.4f));
    return clicked || keys.pressed;
}

/// Buttons from `right` to the left, in the middle of the note's first two lines.
void offers(Desk& desk, const Ui& ui, const Area& area, float right,
            const std::function<void(const Action&)>& run) {
    if (offers_width(desk, ui, area.width()) == 0) return;
    const float height = std::min(ui.px(24), area.height() - ui.px(6));
    for (const Offer& offer : k_offers) {
        if (!offer.is_shown(desk)) continue;
        right -= offer_width(ui, offer);
        ImGui::SetCursorScreenPos({right, (area.min.y + area.max.y - height) / 2});
        const Action& action = action_named(offer.action);
        if (small_button(ui, offer.action.c_str(), label_of(offer), std::string(action.help).c_str(),
                         offer_width(ui, offer)))
            return run(action);
        right -= ui.px(8);
    }
}

}  // namespace

const Question* shown_question(const Desk& desk) {
    return shows(desk) ? question_with_note(desk.document.session().note) : nullptr;
}

std::string note_title(const Document& document) {
    const std::string& note = document.session().note;
    const Question* question = question_with_note(note);
    const NamedExample* example = example_with_note(note);
    std::string name = question  ? std::string(question->text)
                       : example ? example->name
                                 : std::filesystem::path(document.file()).stem().string();
    const Session& noted = example ? example->session : document.as_opened();
    if (noted.experiment == document.experiment()) return name;
    return fmt::format("{}{}(before your changes)", name, name.empty() ? "" : " ");
}

float note_strip_height(Desk& desk, const Ui& ui, float width, float room) {
    if (!shows(desk)) return 0;
    const int lines = static_cast<int>((room - ui.px(2 * k_padding)) / ui.px(k_line));
    return height_of(
        ui,
        lay_out_note(desk, ui, text_room(desk, ui, width), std::clamp(lines, 1, k_note_lines)).lines.size());
}

void note_strip(Desk& desk, const Ui& ui, const Area& area, const std::function<void(const Action&)>& run) {
    if (area.height() <= 0) return;
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(area.min, area.max, ink(ui.theme.panel));
    list->AddRectFilled(area.min, {area.min.x + ui.px(3), area.max.y}, ink(ui.theme.accent, 0.8f));
    list->AddLine({area.min.x, area.max.y - 1}, {area.max.x, area.max.y - 1}, ink(ui.theme.line));
    const int most = static_cast<int>(std::lround((area.height() - ui.px(2 * k_padding)) / ui.px(k_line)));
    const NoteText note = lay_out_note(desk, ui, text_room(desk, ui, area.width()), most);
    const float left = area.min.x + ui.px(k_note_margin), top = area.min.y + ui.px(k_padding + 1);
    ImGui::SetCursorScreenPos({left, area.min.y});
    ImGui::InvisibleButton("note", {note.width, area.height()});
    if (note.cut) tooltip(ui, note_title(desk.document) + "\n" + desk.document.session().note);
    draw_text(list, ui.fonts.strong, {left, top}, ink(ui.theme.text), note.name);
    for (std::size_t i = 0; i < note.lines.size(); ++i)
        draw_text(list, ui.fonts.body,
                  {left + (i == 0 ? note.indent : 0), top + ui.px(k_line) * static_cast<float>(i)},
                  ink(ui.theme.secondary), note.lines[i]);
    offers(desk, ui, area, area.max.x - ui.px(k_note_margin + k_cross) - ui.px(6), run);
    if (cross(ui,
              {area.max.x - ui.px(k_note_margin + k_cross) + ui.px(6), area.min.y + ui.px(k_padding - 2)}))
        desk.saved.closed_note = desk.document.session().note;
}

}  // namespace attnscope
