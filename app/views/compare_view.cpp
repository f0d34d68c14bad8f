// The comparison view: A (pinned), B (live), and their difference, for any stage.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "app/ui/widgets.h"
#include "app/views/axis_place.h"
#include "app/views/choosing.h"
#include "app/views/labels.h"
#include "app/views/matrix_panel.h"
#include "app/views/views.h"
#include "core/graph/explain.h"
#include "core/graph/row_entropy.h"
#include "core/graph/row_steps.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/picture/head_names.h"
#include "core/session/comparisons.h"

namespace attnscope {
namespace {

using Run = std::function<void(const Action&)>;

constexpr float k_compare_margin = 18;
constexpr float k_compare_header = 68;  ///< buttons, and in what the two differ
constexpr float k_card_width = 92, k_card_height = 66, k_card_gap = 8;
constexpr float k_compare_caption = 46;  ///< above each matrix: its name, and formula or range
constexpr float k_panel_gap = 26, k_most_compare_labels = 110;
constexpr float k_largest_compared_cell = 140;
constexpr float k_rows_share = 0.34f;  ///< of the height, for the row as bars
constexpr float k_bar_pitch = 22, k_least_bar_pitch = 18, k_least_rows_height = 96;

/// A, B and B − A in the order in which they stand.
enum ComparePanel { panel_a, panel_b, panel_difference, k_panels };

/// What is drawn: a comparison and the two matrices of the stage asked for, all of the same traces.
struct CompareScene {
    const std::shared_ptr<const Comparison>& comparison;
    std::optional<ShownStage> a, b;
    std::shared_ptr<const Difference> difference;

    const ShownStage& any() const { return b ? *b : *a; }
    /// The row or column of B that one of A is the counterpart of, or −1.
    int row_in_b(int row) const { return place_of(difference->rows, row); }
    int column_in_b(int column) const { return place_of(difference->columns, column); }

private:
    static int place_of(const std::vector<int>& same, int of_a) {
        const auto found = std::ranges::find(same, of_a);
        return found == same.end() ? -1 : static_cast<int>(found - same.begin());
    }
};

std::optional<ShownStage> shown_of(const ComparedSide& side, const StageKey& key) {
    const Stage* stage = side.find(key);
    if (!stage) return std::nullopt;
    const HeadChoice head = head_on_screen(*stage, side.head);
    if (!why_not_shown(*stage, head).empty()) return std::nullopt;
    return ShownStage{side.trace.get(), side.trace->stage(stage->key()), head};
}

// ---- header

/// "head 2: previous word · layer 1", where there are several.
std::string part_text(const Trace& trace, const Presentation& presentation, const HeadChoice& head,
                      int layer) {
    const int heads = trace.experiment.attention.heads, layers = layers_of(trace);
    std::string text;
    if (heads > 1)
        text = head.kind == HeadChoice::Kind::one
                   ? head_title(presentation, heads, layers > 0 ? std::min(layer, layers) : 0,
                                std::min(head.head, heads - 1))
                   : "mean of the heads";
    if (layers > 1) text += (text.empty() ? "" : " · ") + fmt::format("layer {}", std::min(layer, layers));
    return text;
}

std::string differences_text(const Session& session) {
    std::string text = session.pinned && session.pinned->on_cpu ? "A is computed by the CPU" : "";
    for (const SettingDifference& each : setting_differences(session)) {
        if (!text.empty()) text += "  ·  ";
        text += change_text(each);
    }
    return text;
}

void apply(Desk& desk, const ComparisonPreset& preset) {
    if (std::optional<Session> changed = with_preset(desk.document.session(), preset))
        desk.document.change([&](Session& session) { session = std::move(*changed); });
}

/// Comparisons that more than a session has a part in: a run of training, the GPU.
struct LiveComparison {
    ActionName action;
    const char* name;
    const char* help;
    bool (*applies)(const Document& document);
};
constexpr std::array k_live_comparisons = {
    LiveComparison{"compare.steps", "half the steps", "What did the second half of training change?",
                   [](const Document& document) { return document.experiment().training.step > 1; }},
    LiveComparison{"compare.cpu", "the CPU", "Does the GPU compute the same numbers?",
                   [](const Document& document) { return document.backend().on_card; }},
};

/// The presets that would change something, as a menu.
void preset_items(Desk& desk, const Ui& ui, const Run& run) {
    for (const ComparisonPreset& preset : comparison_presets()) {
        if (!with_preset(desk.document.session(), preset)) continue;
        if (ImGui::MenuItem(std::string(preset.name).c_str())) apply(desk, preset);
        tooltip(ui, std::string(preset.help));
    }
    for (const LiveComparison& live : k_live_comparisons) {
        if (!live.applies(desk.document)) continue;
        if (ImGui::MenuItem(live.name)) run(action_named(live.action));
        tooltip(ui, live.help);
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
    draw_text(list, ui.fonts.body, {area.min.x + label + ui.px(12), below}, ink(ui.theme.secondary),
              differ.empty() ? "Change any setting: B follows, A stays" : differ, Align::left,
              area.width() - label - ui.px(12));
}

/// The presets as buttons with the question that each answers, while nothing is pinned.
void invitation(Desk& desk, const Ui& ui, const Area& area, const Run& run) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    float y = area.min.y + ui.px(6);
    draw_text(list, ui.fonts.title, {area.min.x, y}, ink(ui.theme.text),
              "Compare the current experiment with …", Align::left, area.width());
    y += ui.px(30);
    draw_text(
        list, ui.fonts.body, {area.min.x, y}, ink(ui.theme.secondary),
        "A choice pins the current experiment as A and changes one setting. Or pin it (P) and change any.",
        Align::left, area.width());
    y += ui.px(34);
    const float width = ui.px(190);
    const auto chosen = [&](const std::string& name, const std::string& help) {
        if (y + ui.px(26) > area.max.y) return false;
        ImGui::SetCursorScreenPos({area.min.x, y});
        const bool pressed = small_button(ui, name.c_str(), name, help.c_str(), width);
        draw_text(list, ui.fonts.body, {area.min.x + width + ui.px(16), y + ui.px(4)},
                  ink(ui.theme.secondary), help, Align::left, area.width() - width - ui.px(16));
        y += ui.px(32);
        return pressed;
    };
    for (const ComparisonPreset& preset : comparison_presets())
        if (with_preset(desk.document.session(), preset) &&
            chosen(std::string(preset.name), std::string(preset.help)))
            apply(desk, preset);
    for (const LiveComparison& live : k_live_comparisons)
        if (live.applies(desk.document) && chosen(live.name, live.help)) run(action_named(live.action));
}

// ---- where the two part

std::string largest_text(const StageComparison& stage) {
    if (std::string why = why_not_compared(stage); !why.empty()) return why;
    if (!stage.differs()) return "same";
    if (stage.largest == 0) return fmt::format("{} cells", stage.other_kind);
    return short_text(stage.largest);
}

std::string card_help(const CompareScene& scene, const StageComparison& stage) {
    if (std::string why = why_not_compared(stage); !why.empty()) return why;
    std::string text = stage.differs() ? fmt::format("largest |B − A| {}, {:.3g} of A's largest value",
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
    const float y = area.max.y - ui.px(13), full = static_cast<float>(std::clamp(stage.relative, 0.0, 1.0));
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
    draw_text(list, ui.fonts.caption, {area.min.x + title + ui.px(12), area.min.y + ui.px(2)},
              ink(ui.theme.secondary), "largest |B − A| of each stage, and as a share of A's largest value",
              Align::left, area.width() - title - ui.px(12));
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

// ---- the three matrices

/// The places of the three matrices; those that do not exist are empty.
struct ComparePlaces {
    std::array<std::optional<MatrixPlace>, k_panels> panels;
    std::array<float, k_panels> left{};  ///< of each panel with its labels
    float labels_a = 0, labels_b = 0;    ///< widths of the row labels
    float column_labels = 0;             ///< height of upright ones; 0: level
    float top = 0;                       ///< of the matrices
    float bottom = 0;
};

ComparePlaces places(const Desk& desk, const Ui& ui, const CompareScene& scene, const Area& area) {
    const ShownStage& any = scene.any();
    const auto labels = [&](const std::optional<ShownStage>& shown) {
        if (!shown) return 0.0f;
        const float longest = longest_text(ui, shown->rows(), [&](int i) { return shown->row_label(i); });
        return std::min(longest, ui.px(k_most_compare_labels)) + ui.px(10);
    };
    ComparePlaces at;
    at.labels_a = labels(scene.a);
    const bool same_rows = scene.difference && scene.difference->facts.complete;
    at.labels_b = same_rows ? 0 : labels(scene.b);
    const float gap = ui.px(k_panel_gap);
    const float labels_in_all = at.labels_a + at.labels_b * 2;
    const float room = (area.width() - labels_in_all - gap * 2) / 3;
    const int columns = std::max(scene.a ? scene.a->columns() : 1, scene.b ? scene.b->columns() : 1);
    const int rows = std::max(scene.a ? scene.a->rows() : 1, scene.b ? scene.b->rows() : 1);
    const float longest = std::max(
        scene.a ? longest_text(ui, scene.a->columns(), [&](int j) { return scene.a->column_label(j); }) : 0,
        scene.b ? longest_text(ui, scene.b->columns(), [&](int j) { return scene.b->column_label(j); }) : 0);
    const Zoom& zoom = desk.state.zoom;
    float width = std::min(room / static_cast<float>(columns), ui.px(k_largest_compared_cell));
    const bool level = width * static_cast<float>(zoom.factor) >= longest + ui.px(4);
    at.column_labels = level ? ui.px(18) : std::min(longest, ui.px(86)) + ui.px(8);
    at.top = area.min.y + ui.px(k_compare_caption) + at.column_labels;
    float height = std::min((area.max.y - at.top) / static_cast<float>(rows), ui.px(k_largest_compared_cell));
    // Between tokens cells are nearly square; a little wider, so that a number fits.
    if (any.stage->info->columns == Axis::key_token) {
        width = std::min(width, std::max(height * 1.4f, ui.px(40)));
        height = std::min(height, width);
    }
    if (height <= 0 || width <= 0) return at;
    float left = area.min.x;
    const auto add = [&](ComparePanel panel, const ShownStage& shown, float label) {
        at.left[panel] = left + label;
        at.panels[panel] = MatrixPlace{
            place_axis(shown.rows(), height, at.top, at.top + height * static_cast<float>(rows), zoom.factor,
                       zoom.y),
            place_axis(shown.columns(), width, left + label, left + label + room, zoom.factor, zoom.x)};
        at.bottom = std::max(at.bottom, at.panels[panel]->rows.view_max);
        // The panels stand close to each other, and wide captions have their room.
        left += label +
                std::max(at.panels[panel]->columns.view_max - at.panels[panel]->columns.view_min,
                         std::min(room, ui.px(230))) +
                gap;
    };
    if (scene.a) add(panel_a, *scene.a, at.labels_a);
    if (scene.b) add(panel_b, *scene.b, scene.a ? at.labels_b : labels(scene.b));
    if (scene.difference) add(panel_difference, *scene.b, at.labels_b);
    return at;
}

/// What is lit: a cell of B, and its counterpart in A; −1 where there is none.
struct Lit {
    int row_a = -1, column_a = -1, row_b = -1, column_b = -1;
};

/// −1 where the matrix does not have it: the mouse may have been over a larger one in the frame before.
void keep_inside(const std::optional<ShownStage>& shown, int& row, int& column) {
    if (!shown || row >= shown->rows()) row = -1;
    if (!shown || column >= shown->columns()) column = -1;
}

Lit pointed_cells(const Desk& desk, const CompareScene& scene) {
    Lit lit;
    const auto from = [&](Cell cell, bool of_a) {
        const auto at = [](const std::vector<int>& same, int i) {
            return i >= 0 && i < std::ssize(same) ? same[static_cast<std::size_t>(i)] : -1;
        };
        if (!scene.difference) {
            (of_a ? lit.row_a : lit.row_b) = cell.row;
            (of_a ? lit.column_a : lit.column_b) = cell.column;
            return;
        }
        if (of_a)
            lit = {cell.row, cell.column, scene.row_in_b(cell.row), scene.column_in_b(cell.column)};
        else
            lit = {at(scene.difference->rows, cell.row), at(scene.difference->columns, cell.column), cell.row,
                   cell.column};
    };
    const std::optional<PointedCell>& hovered = desk.state.hovered;
    if (hovered && info_of(hovered->stage).name == scene.any().stage->info->name) {
        from(hovered->cell, hovered->slot == SlotName::pinned);
        return lit;
    }
    if (!scene.b) return lit;
    const Highlight highlight = current_highlight(desk.state, desk.document.presentation(), scene.b->trace);
    from({lit_row(highlight, *scene.b->stage->info), lit_column(highlight, *scene.b->stage->info)}, false);
    return lit;
}

Lit lit_cells(const Desk& desk, const CompareScene& scene) {
    Lit lit = pointed_cells(desk, scene);
    keep_inside(scene.a, lit.row_a, lit.column_a);
    keep_inside(scene.b, lit.row_b, lit.column_b);
    return lit;
}

/// The locked cell of B, from which the row below is chosen, else the first row.
int chosen_row(const CompareScene& scene, const Lit& lit) {
    if (lit.row_b >= 0) return lit.row_b;
    return scene.difference && scene.difference->facts.at ? scene.difference->facts.at->row : 0;
}

/// One scale for both: from the smaller minimum to the larger maximum.
ColorScale shared_scale(const Desk& desk, const CompareScene& scene) {
    const Presentation& presentation = desk.document.presentation();
    std::optional<ColorScale> scale;
    for (const auto* shown : {&scene.a, &scene.b})
        if (*shown) {
            const ColorScale own = scale_of(**shown, presentation);
            scale = scale ? ColorScale{own.map, std::min(scale->min, own.min), std::max(scale->max, own.max),
                                       own.spacing}
                          : own;
        }
    return *scale;
}

ColorScale difference_scale(const Difference& difference) {
    const double magnitude = difference.values->range(0).magnitude();
    return {&diverging_colormap(), magnitude > 0 ? -magnitude : -1, magnitude > 0 ? magnitude : 1};
}

/// Wheel, drag, hover and click on one of the three; hovering or locking a cell does so in the other two.
void interact(Desk& desk, const Ui& ui, const CompareScene& scene, ComparePanel panel,
              const MatrixPlace& place) {
    const ShownStage& shown = panel == panel_a ? *scene.a : *scene.b;
    const Area view = place.view();
    ImGui::SetCursorScreenPos(view.min);
    constexpr std::array k_ids = {"compare a", "compare b", "compare difference"};
    ImGui::InvisibleButton(k_ids[panel], {std::max(1.0f, view.width()), std::max(1.0f, view.height())});
    if (ImGui::IsItemActive() && ImGui::IsMouseDragging(0)) pan(desk.state.zoom, place);
    if (!ImGui::IsItemHovered()) return;
    const Cell cell = place.at(ImGui::GetIO().MousePos);
    if (ImGui::GetIO().MouseWheel != 0) zoom_by(desk.state.zoom, place, ImGui::GetIO().MouseWheel);
    desk.state.pointing = PointedCell{shown.stage->key(), shown.head_index(), cell,
                                      panel == panel_a ? SlotName::pinned : SlotName::live};
    const std::string row = legible(shown.row_label(cell.row)),
                      column = legible(shown.column_label(cell.column));
    const std::string between = row.empty() || column.empty()                   ? ""
                                : shown.stage->info->columns == Axis::key_token ? " → "
                                                                                : " · ";
    std::string text = row + between + column;
    const auto add = [&](const char* name, const std::optional<ShownStage>& side, int i, int j) {
        if (!side || i < 0 || j < 0) return;
        text += fmt::format("\n{}  {}", name,
                            side->closed(i, j) ? std::string(k_closed_by_mask) : exact_text(side->at(i, j)));
    };
    const Lit lit = lit_cells(desk, scene);
    add("A", scene.a, lit.row_a, lit.column_a);
    add("B", scene.b, lit.row_b, lit.column_b);
    if (scene.difference && lit.row_b >= 0 && lit.column_b >= 0) {
        const bool open = scene.difference->open->at(0, lit.row_b, lit.column_b) != 0;
        text += open ? "\nB − A  " + exact_text(scene.difference->values->at(0, lit.row_b, lit.column_b))
                     : std::string("\nnot compared");
    }
    if (!ImGui::IsItemActive()) tooltip(ui, text);
    if (!ImGui::IsMouseReleased(0) || !was_click()) return;
    if (scene.b && lit.row_b >= 0 && lit.column_b >= 0)
        toggle_lock(desk, *scene.b, {lit.row_b, lit.column_b});
}

/// What stands above a matrix: its side, formula, head and range.
void caption_of(const Desk& desk, const Ui& ui, const CompareScene& scene, ComparePanel panel, ImVec2 at,
                float width, const ColorScale& scale) {
    if (panel == panel_difference)
        return panel_caption(ui, at.x, at.y, width, "B − A",
                             scene.difference->facts.differs() ? "" : "no cell differs",
                             "range " + range_words(scale));
    const bool of_a = panel == panel_a;
    const ShownStage& shown = of_a ? *scene.a : *scene.b;
    const ComparedSide& side = of_a ? scene.comparison->of.a : scene.comparison->of.b;
    const std::string part = part_text(*side.trace, desk.document.presentation(), side.head, side.layer);
    panel_caption(ui, at.x, at.y, width, of_a ? "A" : "B",
                  formula_shown(*shown.trace, *shown.stage, shown.head),
                  (!of_a                                    ? "live"
                   : desk.document.session().pinned->on_cpu ? "pinned, on the CPU"
                                                            : "pinned") +
                      (part.empty() ? "" : ", " + part) + "  ·  range " + range_words(scale));
}

void matrices(Desk& desk, const Ui& ui, const CompareScene& scene, const Area& area,
              const ComparePlaces& at) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ColorScale scale = shared_scale(desk, scene);
    const Lit lit = lit_cells(desk, scene);
    const auto locked = locked_cell(desk.document.presentation(), scene.any().trace);
    const auto outlines = [&](const MatrixPlace& place, int row, int column) {
        const Area view = place.view();
        list->PushClipRect({view.min.x - 3, view.min.y - 3}, {view.max.x + 3, view.max.y + 3}, true);
        outline_row(ui, *list, place.whole(), row, place.rows.count);
        outline_column(ui, *list, place.whole(), column, place.columns.count, 0.35f);
        const bool is_cell =
            row >= 0 && column >= 0 && row < place.rows.count && column < place.columns.count;
        if (is_cell && (locked || desk.state.hovered)) outline_cell(ui, *list, place.cell({row, column}));
        list->PopClipRect();
    };
    for (const ComparePanel panel : {panel_a, panel_b, panel_difference}) {
        if (!at.panels[panel]) continue;
        const MatrixPlace& place = *at.panels[panel];
        interact(desk, ui, scene, panel, place);
        const bool of_a = panel == panel_a;
        const ShownStage& shown = of_a ? *scene.a : *scene.b;
        const int row = of_a ? lit.row_a : lit.row_b, column = of_a ? lit.column_a : lit.column_b;
        const Area view = place.view();
        const ColorScale own = panel == panel_difference ? difference_scale(*scene.difference) : scale;
        list->PushClipRect(view.min, view.max, true);
        if (panel == panel_difference) {
            paint_difference(desk, ui, *list, scene.difference, place.whole(), own);
            cell_numbers(desk, ui, place, own, true, [&](int i, int j) -> std::optional<float> {
                if (scene.difference->open->at(0, i, j) == 0) return std::nullopt;
                return scene.difference->values->at(0, i, j);
            });
        } else {
            paint_matrix(desk, ui, *list, shown, place.whole(), own);
            if (shown.stage->info->unit != Unit::boolean)
                cell_numbers(desk, ui, place, own, false, [&](int i, int j) -> std::optional<float> {
                    if (shown.closed(i, j)) return std::nullopt;
                    return shown.at(i, j);
                });
        }
        list->PopClipRect();
        outlines(place, row, column);
        const float label = of_a ? at.labels_a : at.labels_b;
        matrix_labels(ui, shown, place, label > 0, label, row, column, at.column_labels);
        const float next = panel < panel_difference && at.panels[panel + 1]
                               ? at.left[panel + 1] - at.labels_b - ui.px(12)
                               : area.max.x;
        caption_of(desk, ui, scene, panel, {view.min.x, area.min.y}, next - view.min.x, own);
    }
}

// ---- the row as bars

struct BarOfKey {
    int column_a, column_b;
    std::optional<float> a, b;
};

/// The size by which a value is among the largest of its row: of scores the value, which says what weight it
/// becomes, else the magnitude; least for a cell that is closed.
double size_of(const std::optional<float>& value, bool is_score) {
    if (!value || std::isnan(*value)) return -INFINITY;
    return is_score ? double{*value} : std::abs(double{*value});
}

/// Leaves `most` of the bars in their order: in turn the largest of A and of B, so that neither side's are
/// left out where the other side's numbers are larger.
void keep_largest(std::vector<BarOfKey>& bars, std::size_t most, bool are_scores) {
    std::vector<std::size_t> places(bars.size(), bars.size());  // the better of the two sides' places
    for (const bool of_a : {true, false}) {
        std::vector<std::size_t> order(bars.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) {
            return size_of(of_a ? bars[i].a : bars[i].b, are_scores);
        });
        for (std::size_t place = 0; place < order.size(); ++place)
            places[order[place]] = std::min(places[order[place]], place);
    }
    std::vector<std::size_t> kept(bars.size());
    std::iota(kept.begin(), kept.end(), std::size_t{0});
    std::ranges::stable_sort(kept, {}, [&](std::size_t i) { return places[i]; });
    kept.resize(most);
    std::ranges::sort(kept);
    std::vector<BarOfKey> largest;
    for (const std::size_t i : kept) largest.push_back(bars[i]);
    bars = std::move(largest);
}

/// The open cells of a row of both, each beside its counterpart; the largest ones if there is not room for
/// all.
std::vector<BarOfKey> bars_of(const CompareScene& scene, int row_a, int row_b, std::size_t most) {
    std::vector<BarOfKey> bars;
    for (int j = 0; j < scene.b->columns(); ++j) {
        const int column = scene.difference->columns[static_cast<std::size_t>(j)];
        BarOfKey bar{column, j, std::nullopt, std::nullopt};
        if (row_a >= 0 && column >= 0 && !scene.a->closed(row_a, column)) bar.a = scene.a->at(row_a, column);
        if (!scene.b->closed(row_b, j)) bar.b = scene.b->at(row_b, j);
        bars.push_back(bar);
    }
    const StageRole role = scene.b->stage->info->role;
    if (bars.size() > most)
        keep_largest(bars, most, role == StageRole::scores || role == StageRole::masked_scores);
    return bars;
}

/// "entropy 0.430 nat, 1.54 effective tokens of 8", of a row of weights.
std::string entropy_text(const ShownStage& shown, int row) {
    const Eigen::RowVectorXf weights = shown.row(row);
    const RowEntropy spread = row_entropy({weights.data(), static_cast<std::size_t>(weights.size())});
    return fmt::format("entropy {:.3f} nat, {:.2f} effective tokens of {}", spread.entropy,
                       spread.effective_tokens, shown.columns());
}

/// The numbers on the right of a row's bars: those of A and of B, and the weights that scores become.
struct NumberColumn {
    const ShownStage& shown;
    int row;
    bool of_a, weight;

    std::optional<double> of(const BarOfKey& bar) const {
        const std::optional<float>& value = of_a ? bar.a : bar.b;
        if (!value || !weight) return value;
        return weight_of_score(*shown.trace, *shown.stage, shown.head_index(), row,
                               of_a ? bar.column_a : bar.column_b);
    }
    std::string title() const { return (weight ? "weight " : "") + std::string(of_a ? "A" : "B"); }
};

/// From the right: those that have a number for one of the bars.
std::vector<NumberColumn> number_columns(const CompareScene& scene, int row_a, int row_b,
                                         const std::vector<BarOfKey>& bars) {
    std::vector<NumberColumn> columns;
    for (const bool weight : {true, false})
        for (const bool of_a : {false, true}) {
            const NumberColumn column{of_a ? *scene.a : *scene.b, of_a ? row_a : row_b, of_a, weight};
            if (std::ranges::any_of(bars, [&](const BarOfKey& bar) { return column.of(bar).has_value(); }))
                columns.push_back(column);
        }
    return columns;
}

void row_as_bars(Desk& desk, const Ui& ui, const CompareScene& scene, const Area& area) {
    const int row_b = chosen_row(scene, lit_cells(desk, scene));
    if (row_b >= scene.b->rows()) return;
    const int row_a = scene.difference->rows[static_cast<std::size_t>(row_b)];
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float room = area.max.y - area.min.y - ui.px(30);
    const auto most = static_cast<std::size_t>(std::max(1.0f, room / ui.px(k_least_bar_pitch)));
    const std::vector<BarOfKey> bars = bars_of(scene, row_a, row_b, most);
    const bool weights = scene.b->stage->info->unit == Unit::probability;
    const bool has_entropy =
        scene.b->stage->info->role == StageRole::weights && scene.b->stage->part == StageKey::Part::value;
    const std::string name = legible(scene.b->row_label(row_b));
    const std::vector<NumberColumn> columns = number_columns(scene, row_a, row_b, bars);
    const float number = text_width(ui.fonts.mono_small, "-00.0000") + ui.px(10);
    const float values = number * static_cast<float>(columns.size());
    const float title = draw_text(list, ui.fonts.strong, area.min, ink(ui.theme.text),
                                  fmt::format("Row “{}”", name), Align::left, area.width());
    std::string facts = "A above, B below";
    if (bars.size() < static_cast<std::size_t>(scene.b->columns()))
        facts += fmt::format("  ·  the {} largest of {}", bars.size(), scene.b->columns());
    if (has_entropy && row_a >= 0)
        facts +=
            fmt::format("  ·  A: {}  ·  B: {}", entropy_text(*scene.a, row_a), entropy_text(*scene.b, row_b));
    draw_text(list, ui.fonts.caption, {area.min.x + title + ui.px(12), area.min.y + ui.px(2)},
              ink(ui.theme.secondary), facts, Align::left, area.width() - title - values - ui.px(24));
    double low = 0, high = weights ? 1 : 0;
    for (const BarOfKey& bar : bars)
        for (const auto& value : {bar.a, bar.b})
            if (value && std::isfinite(*value)) {
                low = std::min<double>(low, *value);
                high = std::max<double>(high, *value);
            }
    const float labels = ui.px(k_most_compare_labels);
    const float left = area.min.x + labels + ui.px(10), right = area.max.x - values - ui.px(8);
    if (right - left < ui.px(40) || !(high > low)) return;
    const auto x_of = [&](double value) {
        return left + static_cast<float>((value - low) / (high - low)) * (right - left);
    };
    const ColorScale scale = shared_scale(desk, scene);
    const float heading = area.min.y + ui.px(4);
    const auto each_column = [&](const auto& draw) {
        float at = area.max.x;
        for (const NumberColumn& column : columns) {
            draw(column, at, ink(column.of_a ? ui.theme.text : ui.theme.secondary));
            at -= number;
        }
    };
    each_column([&](const NumberColumn& column, float at, ImU32 color) {
        draw_text(list, column.weight ? ui.fonts.caption : ui.fonts.strong, {at, heading}, color,
                  column.title(), Align::right);
    });
    const float pitch =
        std::min(ui.px(k_bar_pitch), room / static_cast<float>(std::max<std::size_t>(1, bars.size())));
    float y = area.min.y + ui.px(26);
    for (const BarOfKey& each : bars) {
        draw_text(list, ui.fonts.body, {area.min.x + labels, y + ui.px(2)}, ink(ui.theme.secondary),
                  legible(scene.b->column_label(each.column_b)), Align::right, labels);
        const auto bar = [&](const std::optional<float>& value, float top) {
            if (!value || !std::isfinite(*value)) return;
            const float from = x_of(std::min<double>(0, *value)), to = x_of(std::max<double>(0, *value));
            list->AddRectFilled({from, top}, {std::max(to, from + 1), top + ui.px(8)},
                                ink(scale.color(*value)), 1);
        };
        bar(each.a, y + ui.px(1));
        bar(each.b, y + ui.px(10));
        each_column([&](const NumberColumn& column, float at, ImU32 color) {
            if (const auto value = column.of(each))
                draw_text(list, ui.fonts.mono_small, {at, y + ui.px(3)}, color, reading_text(*value),
                          Align::right);
        });
        y += pitch;
    }
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
                  stage_heading(*key.stage) + " has no mean over heads: choose a head", Align::left,
                  body.width());
        return;
    }
    const float rows_height = k_rows_share * (body.max.y - top);
    const bool has_rows = scene.difference && rows_height >= ui.px(k_least_rows_height);
    const Area upper{{body.min.x, top}, {body.max.x, has_rows ? body.max.y - rows_height : body.max.y}};
    const ComparePlaces at = places(desk, ui, scene, upper);
    matrices(desk, ui, scene, upper, at);
    if (!scene.difference)
        draw_text(list, ui.fonts.caption, {body.min.x, body.max.y - ui.px(16)}, ink(ui.theme.warning),
                  fmt::format("{}: only {} has it", stage_heading(*key.stage), scene.a ? "A" : "B"),
                  Align::left, body.width());
    if (has_rows) {
        const float line = std::max(at.bottom + ui.px(14), body.max.y - rows_height);
        list->AddLine({area.min.x, line}, {area.max.x, line}, ink(ui.theme.line));
        row_as_bars(desk, ui, scene, {{body.min.x, line + ui.px(12)}, body.max});
    }
}

}  // namespace attnscope
