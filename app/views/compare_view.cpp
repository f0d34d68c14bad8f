// The comparison view: A (pinned), B (live), and their difference, for any stage.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "app/ui/widgets.h"
#include "app/views/choosing.h"
#include "app/views/compare_matrices.h"
#include "app/views/compare_row.h"
#include "app/views/views.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/session/comparisons.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

using Run = std::function<void(const Action&)>;

constexpr float k_compare_margin = 18;
constexpr float k_compare_header = 68;  ///< buttons, and in what the two differ
constexpr float k_card_width = 92, k_card_height = 66, k_card_gap = 8;
constexpr float k_rows_share = 0.34f, k_least_rows_height = 96;  ///< of the row as bars, in the height

// ---- header

std::string differences_text(const Session& session) {
    std::string text = session.pinned && session.pinned->on_cpu ? "A is computed by the CPU" : "";
    for (const SettingDifference& each : setting_differences(session)) {
        if (!text.empty()) text += "  ·  ";
        text += change_text(each);
    }
    return text;
}

void apply(Desk& desk, const ComparisonPreset& preset) {
    if (std::optional<Session> changed = with_preset_and_needs(desk.document.session(), preset))
        desk.document.change([&](Session& session) { session = std::move(*changed); });
}

/// Comparisons that more than a session has a part in: a run of training, the GPU.
struct LiveComparison {
    ActionName action;
    std::string_view name;
    const char* help;
    std::string (*lacks)(const Desk& desk);  ///< what a person has to do first; empty: it can be chosen
};
constexpr std::array k_live_comparisons = {
    LiveComparison{"compare.steps", k_half_the_steps, "What did the second half of training change?",
                   [](const Desk& desk) {
                       return std::string(desk.document.experiment().training.step > 1 ? "" : k_train_first);
                   }},
    LiveComparison{"compare.cpu", k_the_cpu, "Does the GPU compute the same numbers?",
                   [](const Desk& desk) -> std::string {
                       if (desk.document.backend().on_card) return "";
                       const std::string& why = desk.state.why_no_card;
                       return why.empty() ? "compute on the GPU first" : "needs a GPU: " + why;
                   }},
};

/// A comparison as a line of the menu or of the invitation.
struct ComparisonLine {
    std::string name, help;
    bool can_be_chosen;
    std::function<void()> choose;
};

/// The comparisons that would change something, then those that need something first.
std::vector<ComparisonLine> comparison_lines(Desk& desk, const Run& run) {
    std::vector<ComparisonLine> lines;
    for (const OfferedComparison& offered : desk.document.comparisons()) {
        std::string help(offered.preset->help);
        if (!offered.needs.empty()) help += " Sets " + offered.needs + " first";
        if (!offered.lacks.empty()) help = capitalized(offered.lacks);
        lines.push_back({std::string(offered.preset->name), std::move(help), offered.lacks.empty(),
                         [&desk, preset = offered.preset] { apply(desk, *preset); }});
    }
    for (const LiveComparison& live : k_live_comparisons) {
        const std::string lacks = live.lacks(desk);
        lines.push_back({std::string(live.name), lacks.empty() ? live.help : capitalized(lacks),
                         lacks.empty(), [&live, run] { run(action_named(live.action)); }});
    }
    std::stable_partition(lines.begin(), lines.end(),
                          [](const ComparisonLine& line) { return line.can_be_chosen; });
    return lines;
}

void preset_items(Desk& desk, const Ui& ui, const Run& run) {
    for (const ComparisonLine& line : comparison_lines(desk, run)) {
        ImGui::PushStyleVar(ImGuiStyleVar_DisabledAlpha, 1);
        ImGui::PushStyleColor(ImGuiCol_Text, ink(line.can_be_chosen ? ui.theme.text : ui.theme.secondary));
        if (ImGui::MenuItem(line.name.c_str(), nullptr, false, line.can_be_chosen)) line.choose();
        ImGui::PopStyleColor();
        ImGui::PopStyleVar();
        tooltip(ui, line.help);
    }
    const Action& parity = action_named("compute.parity");
    if (ImGui::MenuItem("CPU and GPU…")) run(parity);
}

float button(const Ui& ui, ImVec2 at, ActionName action, const char* label, const Run& run) {
    const Action& found = action_named(action);
    const float width = text_width(ui.fonts.body, label) + ui.px(24);
    ImGui::SetCursorScreenPos(at);
    const std::string keys = shortcut_text(found.shortcut);
    const std::string help = std::string(found.title) + (keys.empty() ? "" : " (" + keys + ")");
    if (small_button(ui, action.c_str(), label, help.c_str(), width)) run(found);
    return width + ui.px(8);
}

void header(Desk& desk, const Ui& ui, const Area& area, const Run& run) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    float x = area.min.x;
    const float y = area.min.y;
    const bool pinned = desk.document.session().pinned.has_value();
    x += button(ui, {x, y}, "compare.pin", pinned ? "Pin again" : "Pin as A", run);
    const char* const with = "Compare with ▾";
    ImGui::SetCursorScreenPos({x, y});
    const float width = text_width(ui.fonts.body, with) + ui.px(24);
    if (small_button(ui, "compare with", with, "Pins the current experiment as A and changes one setting",
                     width))
        ImGui::OpenPopup("presets");
    if (ImGui::IsPopupOpen("presets")) ImGui::SetNextWindowPos({x, y + ui.px(28)});
    if (ImGui::BeginPopup("presets")) {
        preset_items(desk, ui, run);
        ImGui::EndPopup();
    }
    x += width + ui.px(8);
    if (pinned) {
        x += button(ui, {x, y}, "compare.exchange", "Swap A and B", run);
        x += button(ui, {x, y}, "compare.unpin", "Unpin", run);
    }
    const std::string differ = pinned ? differences_text(desk.document.session()) : "";
    const float below = y + ui.px(38);
    if (!pinned) return;
    const float label = draw_text(list, ui.fonts.strong, {area.min.x, below}, ink(ui.theme.text),
                                  differ.empty() ? "A and B are the same" : "A → B");
    draw_fitted(ui, ui.fonts.body, {area.min.x + label + ui.px(12), below}, ui.theme.secondary,
                differ.empty() ? "Change any setting: B follows, A stays" : differ,
                area.width() - label - ui.px(12));
}

/// The presets as buttons with the question that each answers, while nothing is pinned.
void invitation(Desk& desk, const Ui& ui, const Area& area, const Run& run) {
    ImGui::SetCursorScreenPos(area.min);
    ImGui::BeginChild("invitation", {area.width(), area.height()}, false);
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    float y = ImGui::GetCursorScreenPos().y + ui.px(6);
    draw_text(list, ui.fonts.title, {area.min.x, y}, ink(ui.theme.text),
              "Compare the current experiment with …", Align::left, right - area.min.x);
    y += ui.px(30);
    draw_fitted(
        ui, ui.fonts.body, {area.min.x, y}, ui.theme.secondary,
        "A choice pins the current experiment as A and changes one setting. Or pin it (P) and change any.",
        right - area.min.x);
    y += ui.px(34);
    const float width = ui.px(190);
    for (const ComparisonLine& line : comparison_lines(desk, run)) {
        const ImVec2 text{area.min.x + width + ui.px(16), y + ui.px(4)};
        ImGui::SetCursorScreenPos({area.min.x, y});
        if (!line.can_be_chosen)
            draw_text(list, ui.fonts.body, {area.min.x + width / 2, text.y}, ink(ui.theme.faint), line.name,
                      Align::center, width);
        else if (small_button(ui, line.name.c_str(), line.name, line.help.c_str(), width))
            line.choose();
        draw_fitted(ui, ui.fonts.body, text, line.can_be_chosen ? ui.theme.secondary : ui.theme.faint,
                    line.help, right - text.x);
        y += ui.px(32);
    }
    ImGui::EndChild();
}

// ---- where the two part

std::string largest_text(const StageComparison& stage) {
    if (std::string why = why_not_compared(stage); !why.empty()) return why;
    if (!stage.differs()) return "same";
    if (stage.largest == 0) return fmt::format("{} cells", stage.other_kind);
    return short_text(stage.largest);
}

std::string card_help(const CompareScene& scene, const StageComparison& stage) {
    const std::string heading = stage_heading(*stage.key.stage) + "\n";
    if (const std::string why = why_not_compared(stage); !why.empty()) return heading + why;
    std::string text = heading;
    text += stage.differs() ? fmt::format("largest |B − A| {}, {:.3g} of A's largest value",
                                          exact_text(stage.largest), stage.relative)
                            : "bit-identical";
    if (stage.at)
        if (const auto shown = shown_of(scene.comparison->of.b, stage.key))
            text += fmt::format("\nat {} · {}", legible(shown->row_label(stage.at->row)),
                                legible(shown->column_label(stage.at->column)));
    if (stage.other_kind)
        text += fmt::format("\n{} cells are NaN or infinite in A or B only", stage.other_kind);
    if (!stage.complete) text += "\nonly rows and columns that both have are compared";
    return text;
}

/// How much of a card's bar is filled: the difference as a share of A's largest value, or all of it where a
/// number faces ±∞ or NaN.
float share_of_bar(const StageComparison& stage) {
    return stage.other_kind ? 1 : static_cast<float>(std::clamp(stage.relative, 0.0, 1.0));
}

void card(Desk& desk, const Ui& ui, const CompareScene& scene, const StageComparison& stage,
          const Area& area) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const std::string heading = stage_heading(*stage.key.stage);
    ImGui::SetCursorScreenPos(area.min);
    const std::string id = "card " + stage_name(stage.key);
    const bool clicked = ImGui::InvisibleButton(id.c_str(), {area.width(), area.height()});
    const bool hovered = ImGui::IsItemHovered();
    tooltip(ui, card_help(scene, stage));
    const bool pressed = keyboard_use(ui, ImGui::GetID(id.c_str()), area).pressed;
    const bool chosen = scene.comparison->of.key.stage == stage.key.stage;
    list->AddRectFilled(area.min, area.max, ink(ui.theme.panel), ui.px(4));
    list->AddRect(area.min, area.max,
                  ink(chosen    ? ui.theme.accent
                      : hovered ? ui.theme.secondary
                                : ui.theme.line),
                  ui.px(4), 0, ui.px(chosen ? 1.6f : 1));
    const float left = area.min.x + ui.px(8), room = area.width() - ui.px(16);
    const Rgb8 color = stage.differs() ? ui.theme.warning : ui.theme.faint;
    draw_text(list, ui.fonts.strong, {left, area.min.y + ui.px(7)}, ink(ui.theme.text), heading, Align::left,
              room);
    draw_text(list, ui.fonts.mono_small, {left, area.min.y + ui.px(28)},
              ink(stage.differs() ? ui.theme.warning : ui.theme.secondary), largest_text(stage), Align::left,
              room);
    const float y = area.max.y - ui.px(13), full = share_of_bar(stage);
    list->AddRectFilled({left, y}, {left + room, y + ui.px(5)}, ink(ui.theme.raised), ui.px(2));
    if (stage.differs())
        list->AddRectFilled({left, y}, {left + std::max(ui.px(3), room * full), y + ui.px(5)}, ink(color),
                            ui.px(2));
    if (clicked || pressed) desk.document.change([&](Session& s) { s.presentation.focus(stage.key); });
}

/// Scrolls to the card of the stage in focus when another one comes into focus.
void bring_into_sight(const CompareScene& scene, float pitch, float room) {
    const auto& stages = scene.comparison->stages;
    const auto found = std::ranges::find_if(stages, [&](const StageComparison& each) {
        return each.key.stage == scene.comparison->of.key.stage;
    });
    const int index = static_cast<int>(found - stages.begin());
    int& before = *ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("in sight"), -1);
    if (std::exchange(before, index) == index) return;
    const float left = static_cast<float>(index) * pitch, scroll = ImGui::GetScrollX();
    ImGui::SetScrollX(std::clamp(scroll, left + pitch - room, std::max(left, left + pitch - room)));
}

/// Every stage as a card; the mouse wheel moves them sideways where they have no room. Returns the height.
float cards(Desk& desk, const Ui& ui, const CompareScene& scene, const Area& area) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const StageComparison* first = scene.comparison->first_difference();
    const float title =
        draw_text(list, ui.fonts.strong, area.min, ink(ui.theme.text),
                  first ? "First difference: " + stage_heading(*first->key.stage) : "No stage differs");
    draw_fitted(ui, ui.fonts.caption, {area.min.x + title + ui.px(12), area.min.y + ui.px(2)},
                ui.theme.secondary, "largest |B − A| of each stage, and as a share of A's largest value",
                area.width() - title - ui.px(12));
    const auto count = static_cast<float>(scene.comparison->stages.size());
    const float gap = ui.px(k_card_gap), least = ui.px(k_card_width);
    const float width = std::max(least, std::min(ui.px(120), (area.width() + gap) / count - gap));
    const bool scrolls = count * (width + gap) - gap > area.width();
    const float height = ui.px(k_card_height) + (scrolls ? ui.px(12) : 0), top = area.min.y + ui.px(26);
    ImGui::SetCursorScreenPos({area.min.x, top});
    ImGui::BeginChild("cards", {area.width(), height}, false,
                      scrolls ? ImGuiWindowFlags_HorizontalScrollbar : ImGuiWindowFlags_NoScrollbar);
    if (scrolls && ImGui::IsWindowHovered() && ImGui::GetIO().MouseWheel != 0)
        ImGui::SetScrollX(ImGui::GetScrollX() - ImGui::GetIO().MouseWheel * (width + gap));
    bring_into_sight(scene, width + gap, area.width());
    float x = ImGui::GetCursorScreenPos().x;
    for (const StageComparison& stage : scene.comparison->stages) {
        card(desk, ui, scene, stage, {{x, top}, {x + width, top + ui.px(k_card_height)}});
        x += width + gap;
    }
    ImGui::EndChild();
    return ui.px(26) + height;
}

}  // namespace

void compare_view(Desk& desk, const Ui& ui, const Area& area, const Run& run) {
    const float margin = ui.px(k_compare_margin);
    const Area inside{{area.min.x + margin, area.min.y + ui.px(12)},
                      {area.max.x - margin, area.max.y - ui.px(8)}};
    header(desk, ui, inside, run);
    const Area body{{inside.min.x, inside.min.y + ui.px(k_compare_header)}, inside.max};
    if (!desk.document.session().pinned)
        return invitation(desk, ui, {{inside.min.x, inside.min.y + ui.px(44)}, inside.max}, run);
    ImDrawList* list = ImGui::GetWindowDrawList();
    const std::shared_ptr<const Comparison> comparison = desk.document.comparison();
    const Slot* pinned = desk.document.slot(SlotName::pinned);
    const std::string problem = pinned && !pinned->problem.empty()
                                    ? "A cannot be computed: " + pinned->problem
                                : comparison ? comparison->problem
                                             : "";
    if (!comparison || !problem.empty()) {
        draw_text(list, ui.fonts.body, body.min, ink(ui.theme.secondary),
                  problem.empty() ? "Comparing…" : problem, Align::left, body.width());
        return;
    }
    const StageKey& key = comparison->of.key;
    const CompareScene scene{comparison, shown_of(comparison->of.a, key), shown_of(comparison->of.b, key),
                             comparison->difference};
    const float below = body.min.y + cards(desk, ui, scene, body) + ui.px(14);
    list->AddLine({area.min.x, below}, {area.max.x, below}, ink(ui.theme.line));
    const float top = below + ui.px(12);
    if (!scene.a && !scene.b) {
        draw_text(list, ui.fonts.body, {body.min.x, top}, ink(ui.theme.secondary),
                  why_no_difference(comparison->of.a, comparison->of.b, key), Align::left, body.width());
        return;
    }
    const float rows_height = k_rows_share * (body.max.y - top);
    const bool has_rows = scene.difference && rows_height >= ui.px(k_least_rows_height);
    const Area upper{{body.min.x, top}, {body.max.x, has_rows ? body.max.y - rows_height : body.max.y}};
    const float bottom = compare_matrices(desk, ui, scene, upper);
    if (!scene.difference)
        draw_text(list, ui.fonts.caption, {body.min.x, body.max.y - ui.px(16)}, ink(ui.theme.warning),
                  why_no_difference(comparison->of.a, comparison->of.b, key), Align::left, body.width());
    if (has_rows) {
        const float line = std::max(bottom + ui.px(14), body.max.y - rows_height);
        list->AddLine({area.min.x, line}, {area.max.x, line}, ink(ui.theme.line));
        compare_row(desk, ui, scene, {{body.min.x, line + ui.px(12)}, body.max});
    }
}

}  // namespace attnscope
