#include <fmt/format.h>

#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "app/ui/widgets.h"
#include "app/views/views.h"
#include "core/graph/formula.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/picture/colormap.h"
#include "core/session/options.h"

namespace attnscope {
namespace {

constexpr float k_tab_height = 37;
constexpr float k_least_focus = 180;            ///< units that the focus needs to show anything
constexpr float k_least_focus_and_strip = 208;  ///< units left for it below the strip

/// A word that opens a menu.
struct MenuWord {
    const char* id;
    std::string text;
    const char* help;
    std::function<void()> items;
    std::vector<OptionName> settings = {};  ///< that the items set
};

/// Draws the word with its left end at `left`; returns its right end.
float menu_word(Desk& desk, const Ui& ui, const MenuWord& word, float left, float y) {
    const float width = text_width(ui.fonts.body, word.text);
    ImGui::SetCursorScreenPos({left - ui.px(4), y - ui.px(4)});
    const bool clicked = ImGui::InvisibleButton(word.id, {width + ui.px(8), ui.px(24)});
    const Area area{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
    const bool sought = desk.state.reveal.is_one_of(word.settings);
    if (sought) give_keyboard(ui, ImGui::GetID(word.id));
    if (keyboard_use(ui, ImGui::GetID(word.id), area).pressed || clicked || sought) ImGui::OpenPopup(word.id);
    help_at_rest(ui, word.help);
    const bool lit = ImGui::IsItemHovered() || ImGui::IsPopupOpen(word.id);
    draw_text(ImGui::GetWindowDrawList(), ui.fonts.body, {left, y},
              ink(lit ? ui.theme.text : ui.theme.secondary), word.text);
    if (ImGui::IsPopupOpen(word.id))  // below the word, so that no other word is hidden
        ImGui::SetNextWindowPos({area.max.x, area.max.y}, ImGuiCond_Always, {1, 0});
    if (ImGui::BeginPopup(word.id)) {
        word.items();
        ImGui::EndPopup();
    }
    if (sought) desk.state.reveal = {};
    return left + width;
}

void presentation_item(Desk& desk, const Ui& ui, const std::string& shown, OptionName name,
                       const std::string& value) {
    const std::string current = text_of(desk.document.session(), option_named(name));
    if (ImGui::MenuItem(shown.c_str(), nullptr, current == value)) set_option(desk, name, value);
    help_at_rest(ui, std::string(option_named(name).help));
}

std::string head_words(const Desk& desk) {
    const HeadChoice& head = desk.document.presentation().head;
    const int heads = desk.document.experiment().attention.heads;
    if (head.kind != HeadChoice::Kind::one && heads > 1) return fmt::format("mean of {} heads ▾", heads);
    return fmt::format("head {} of {} ▾", std::min(head.head, heads - 1) + 1, heads);
}

void head_items(Desk& desk, const Ui& ui) {
    for (int h = 1; h <= desk.document.experiment().attention.heads; ++h)
        presentation_item(desk, ui, fmt::format("head {}", h), "head", std::to_string(h));
    if (desk.document.experiment().attention.heads > 1)
        presentation_item(desk, ui, "mean of the heads", "head", "mean");
}

int shown_layers(const Desk& desk) { return desk.document.trace() ? layers_of(*desk.document.trace()) : 0; }

std::string layer_words(const Desk& desk) {
    const int layers = shown_layers(desk);
    return fmt::format("layer {} of {} ▾", std::min(desk.document.presentation().layer(), layers), layers);
}

void layer_items(Desk& desk, const Ui& ui) {
    for (int layer = 1; layer <= shown_layers(desk); ++layer)
        presentation_item(desk, ui, fmt::format("layer {}", layer), "layer", std::to_string(layer));
}

/// Whether a cell on screen may stand for many pairs, which are then computed on demand.
bool pools_pairs(const Desk& desk) { return desk.document.trace() && desk.document.trace()->is_on_demand(); }

std::string range_words(const Desk& desk) {
    const RangeChoice& range = desk.document.presentation().range;
    const auto words = [&]() -> std::string {
        switch (range.kind) {
            case RangeChoice::Kind::automatic: return "auto";
            case RangeChoice::Kind::matrix: return "this matrix";
            case RangeChoice::Kind::head: return "this head";
            case RangeChoice::Kind::all: return "all heads";
            case RangeChoice::Kind::percentile: return "percentiles";
            case RangeChoice::Kind::fixed: return short_text(range.min) + " … " + short_text(range.max);
        }
        return "";
    };
    const bool log = desk.document.presentation().spacing == ColorSpacing::log;
    const bool means = pools_pairs(desk) && desk.document.presentation().pooling == Pool::mean;
    return "range: " + words() + (log ? ", log" : "") + (means ? ", means" : "") + " ▾";
}

void range_items(Desk& desk, const Ui& ui) {
    presentation_item(desk, ui, "auto: weights 0 … 1, else all heads", "range", "auto");
    presentation_item(desk, ui, "this matrix", "range", "matrix");
    presentation_item(desk, ui, "this head", "range", "head");
    presentation_item(desk, ui, "all heads", "range", "all");
    presentation_item(desk, ui, "1st to 99th percentile", "range", "percentile");
    presentation_item(desk, ui, "fixed: 0 … 1", "range", "0,1");
    ImGui::Separator();
    const bool log = desk.document.presentation().spacing == ColorSpacing::log;
    if (ImGui::MenuItem("logarithmic colors", nullptr, log))
        set_option(desk, "color-spacing", log ? "linear" : "log");
    help_at_rest(ui, std::string(option_named("color-spacing").help));
    if (pools_pairs(desk)) {
        ImGui::Separator();
        presentation_item(desk, ui, "strongest pair of a cell", "pooling", "strongest");
        presentation_item(desk, ui, "mean of a cell's pairs", "pooling", "mean");
    }
    ImGui::Separator();
    const RangeChoice& range = desk.document.presentation().range;
    float ends[2] = {static_cast<float>(range.min), static_cast<float>(range.max)};
    ImGui::SetNextItemWidth(ui.px(160));
    if (ImGui::DragFloat2("##ends", ends, 0.01f, 0, 0, "%.3g") && ends[0] < ends[1])
        set_option(desk, "range", range_text({RangeChoice::Kind::fixed, ends[0], ends[1]}));
    tooltip(ui, "A fixed range: drag, or Ctrl+click to type");
}

void color_items(Desk& desk, const Ui& ui) {
    for (const auto& [value, name] : choices<ColormapKind>())
        presentation_item(desk, ui, std::string(name), "colormap", std::string(name));
    ImGui::Separator();
    const bool values = desk.document.presentation().values;
    if (ImGui::MenuItem("values in the cells", nullptr, values))
        set_option(desk, "values", values ? "false" : "true");
    help_at_rest(ui, std::string(option_named("values").help));
}

/// The weights and biases, which are not in the strip.
void parameter_items(Desk& desk, const Ui& ui) {
    for (const StagePtr& stage : desk.document.trace()->parameters()) {
        if (stage->layer > 0 && stage->layer != desk.document.presentation().layer()) continue;
        const std::string name(stage->name());
        const std::string shape = fmt::format("{} × {}", stage->shape().rows, stage->shape().columns);
        const bool chosen = ImGui::MenuItem(name.c_str(), shape.c_str(),
                                            may_mean(desk.document.presentation().stage, *stage));
        help_at_rest(ui, caption(*desk.document.trace(), *stage));
        if (!chosen) continue;
        desk.document.change([&](Session& session) { session.presentation.focus(stage->key()); });
        desk.state.zoom = {};
    }
}

/// A view, which is shown when it is chosen, unless `why_not` gives a reason.
struct View {
    ViewKind choice;
    const char* label;
    const char* help;
    std::string (*why_not)(const Desk&);
    void (*draw)(Desk&, const Ui&, const Area&, const std::function<void(const Action&)>&);
    bool beside_strip;
    bool shows_long_text = false;  ///< of which only parts are ever computed
};

std::string always_shown(const Desk&) { return ""; }

/// In the order of the tabs.
constexpr std::array k_views = {
    View{ViewKind::pipeline, "Pipeline", "Every stage of the computation, in order", always_shown, focus,
         true, true},
    View{ViewKind::heads, "Heads", "All heads side by side, sorted by what they do", why_no_heads, heads_view,
         false},
    View{ViewKind::lines, "Lines", "Lines from every query to the keys it attends to", why_no_lines,
         lines_view, false},
    View{ViewKind::compare, "Compare", "Two experiments side by side, and their difference", always_shown,
         compare_view, false},
    View{ViewKind::sweep, "Sweep", "The weights for several seeds, or values of a setting", why_no_sweep_view,
         sweep_view, false},
    View{ViewKind::alignment, "Alignment", "How each output word aligns with the source, step by step",
         why_no_alignment, alignment_view, false},
    View{ViewKind::step, "Step", "How the weights of one query are computed, operation by operation",
         why_no_steps, step_view, false},
    View{ViewKind::image, "Image", "Which parts of the picture each word attends to", why_no_image,
         image_view, true},
    View{ViewKind::training, "Training", "Learn a task and watch the weights change", why_no_training,
         training_view, false},
};
static_assert(is_table_of<ViewKind>(k_views));

/// Why a view cannot be shown; empty if it can.
std::string why_not(const Desk& desk, const View& view) {
    const bool is_long = desk.document.trace() && desk.document.trace()->is_on_demand();
    return is_long && !view.shows_long_text
               ? fmt::format("for up to {} tokens: this text is longer", k_max_tokens)
               : view.why_not(desk);
}

/// The chosen view, or the pipeline where it cannot be shown.
const View& open_view(const Desk& desk) {
    const View& chosen = k_views[static_cast<std::size_t>(desk.document.presentation().view)];
    return desk.document.trace() && why_not(desk, chosen).empty() ? chosen : k_views.front();
}

/// The tab that opens a view; returns its right end.
float tab(Desk& desk, const Ui& ui, const Area& area, float left, const View& of, bool chosen) {
    const char* const view = name_of(of.choice).data();
    const std::string disabled = why_not(desk, of);
    const float width = text_width(ui.fonts.strong, of.label);
    ImGui::SetCursorScreenPos({left - ui.px(4), area.min.y + ui.px(6)});
    const bool clicked = ImGui::InvisibleButton(view, {width + ui.px(8), ui.px(26)});
    const Area place{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
    light(ui, view, place);
    const bool pressed = disabled.empty() && keyboard_use(ui, ImGui::GetID(view), place).pressed;
    if (chosen && desk.state.reveal.take("view")) give_keyboard(ui, ImGui::GetID(view));
    if (disabled.empty() ? clicked || pressed : false) set_option(desk, "view", view);
    const std::string key = shortcut_text(find_action(fmt::format("view.{}", view))->shortcut);
    disabled.empty() ? help_at_rest(ui, fmt::format("{} ({})", of.help, key)) : tooltip(ui, disabled);
    const Rgb8 color = chosen || (disabled.empty() && ImGui::IsItemHovered()) ? ui.theme.text
                       : disabled.empty()                                     ? ui.theme.secondary
                                                                              : ui.theme.faint;
    ImDrawList* list = ImGui::GetWindowDrawList();
    draw_text(list, ui.fonts.strong, {left, area.min.y + ui.px(12)}, ink(color), of.label);
    if (chosen)
        list->AddRectFilled({left, area.max.y - ui.px(2)}, {left + width, area.max.y}, ink(ui.theme.accent));
    return left + width;
}

const char* const k_more = "more ▾";
const char* const k_more_help = "How the matrices are shown";
constexpr float k_word_gap = 20;  ///< units, with a dot in the middle

float width_of(const Ui& ui, const std::vector<MenuWord>& words) {
    float width = 0;
    for (const MenuWord& word : words) width += text_width(ui.fonts.body, word.text) + ui.px(k_word_gap);
    return width - ui.px(k_word_gap);
}

/// The menus for how stages are shown, from left to right: in full, abbreviated or, with the least room, as
/// one menu of menus.
std::vector<MenuWord> header_words(Desk& desk, const Ui& ui, float room) {
    const MenuWord parameters{"parameters", "parameters ▾", "The matrices that the model learns",
                              [&] { parameter_items(desk, ui); }};
    const MenuWord layer{
        "layer", layer_words(desk), "The layer shown", [&] { layer_items(desk, ui); }, {"layer"}};
    const MenuWord head{"head",
                        head_words(desk),
                        "The head shown, or the mean of all",
                        [&] { head_items(desk, ui); },
                        {"head"}};
    MenuWord range{"range",
                   "range ▾",
                   "The values that the ends of the color map stand for",
                   [&] { range_items(desk, ui); },
                   {"range", "color-spacing"}};
    if (pools_pairs(desk)) range.settings = {"range", "color-spacing", "pooling"};
    const MenuWord colors{"colors",
                          "colors ▾",
                          "The color map, and numbers in the cells",
                          [&] { color_items(desk, ui); },
                          {"colormap", "values"}};
    MenuWord long_range = range, long_colors = colors;
    long_range.text = range_words(desk);
    long_colors.text = std::string(name_of(desk.document.presentation().colormap)) + " / blue–red ▾";
    const bool has_parameters = desk.document.trace() && !desk.document.trace()->parameters().empty();
    const auto menu = [&desk](const MenuWord& word) {
        if (desk.state.reveal.is_one_of(word.settings)) ImGui::OpenPopup(word.id);
        if (!ImGui::BeginMenu(word.id)) return;
        word.items();
        ImGui::EndMenu();
    };
    const auto others = [menu, has_parameters, range, colors, parameters] {
        menu(range);
        menu(colors);
        if (has_parameters) menu(parameters);
    };
    std::vector<OptionName> of_others = range.settings;
    of_others.insert(of_others.end(), colors.settings.begin(), colors.settings.end());
    std::vector<std::vector<MenuWord>> ways = {{head, long_range, long_colors}, {head, range, colors}};
    if (has_parameters)
        for (std::vector<MenuWord>& way : ways) way.insert(way.begin(), parameters);
    ways.push_back({head, {"more", k_more, k_more_help, others, of_others}});
    const bool has_layers = shown_layers(desk) > 0;
    if (has_layers)
        for (std::vector<MenuWord>& way : ways)
            way.insert(std::ranges::find(way, head.id, &MenuWord::id), layer);
    for (const std::vector<MenuWord>& way : ways)
        if (width_of(ui, way) <= room) return way;
    of_others.insert(of_others.end(), {"head"});
    if (has_layers) of_others.insert(of_others.end(), {"layer"});
    const auto all = [menu, has_layers, layer, head, others] {
        if (has_layers) menu(layer);
        menu(head);
        others();
    };
    return {{"more", k_more, k_more_help, all, of_others}};
}

struct ShownViews {
    std::vector<const View*> views;
    float gap;  ///< pixels between two tabs
};

/// All views, as close as they have to be; where they have no room even so, without those that do not apply,
/// which the menu and the search still offer.
ShownViews shown_views(const Desk& desk, const Ui& ui, const View& open, float room) {
    const float least = ui.px(8), most = ui.px(22);
    const auto gap_of = [&](const std::vector<const View*>& views) {
        float words = 0;
        for (const View* view : views) words += text_width(ui.fonts.strong, view->label);
        return (room - words) / static_cast<float>(std::max<std::size_t>(views.size() - 1, 1));
    };
    std::vector<const View*> views;
    for (const View& view : k_views) views.push_back(&view);
    if (gap_of(views) < least)
        std::erase_if(views,
                      [&](const View* view) { return view != &open && !why_not(desk, *view).empty(); });
    // Nor do those have room that come last, in the narrowest of windows.
    while (gap_of(views) < least && views.size() > 1)
        views.erase(views.back() == &open ? std::prev(views.end(), 2) : std::prev(views.end()));
    return {views, std::clamp(gap_of(views), least, most)};
}

void tabs(Desk& desk, const Ui& ui, const Area& area) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float y = area.min.y + ui.px(12);
    list->AddLine({area.min.x, area.max.y - 1}, {area.max.x, area.max.y - 1}, ink(ui.theme.line));
    const View& open = open_view(desk);
    const float right = area.max.x - ui.px(16), start = area.min.x + ui.px(18);
    const float room = right - ui.px(24) - text_width(ui.fonts.body, k_more) - start;
    const auto [views, gap] = shown_views(desk, ui, open, room);
    float left = start;
    for (const View* view : views)
        left = tab(desk, ui, area, view == views.front() ? start : left + gap, *view, view == &open);

    const std::vector<MenuWord> words = header_words(desk, ui, right - left - ui.px(24));
    float x = right - width_of(ui, words);
    for (const MenuWord& word : words) {
        if (&word != &words.front())
            draw_text(list, ui.fonts.body, {x - ui.px(k_word_gap / 2), y}, ink(ui.theme.secondary), "·",
                      Align::center);
        x = menu_word(desk, ui, word, x, y) + ui.px(k_word_gap);
    }
}

void nothing_yet(Desk& desk, const Ui& ui, const Area& area) {
    const bool problem = !desk.document.problem().empty();
    const char* instead = desk.document.busy() ? "Computing…" : "Type a sentence";
    draw_text(ImGui::GetWindowDrawList(), ui.fonts.title,
              {(area.min.x + area.max.x) / 2, area.min.y + area.height() * 0.4f}, ink(ui.theme.faint),
              problem ? "This experiment cannot be computed" : instead, Align::center);
    if (problem)
        draw_text(ImGui::GetWindowDrawList(), ui.fonts.body,
                  {(area.min.x + area.max.x) / 2, area.min.y + area.height() * 0.4f + ui.px(32)},
                  ink(ui.theme.secondary), desk.document.problem(), Align::center, area.width() - ui.px(64));
}

}  // namespace

void pipeline_view(Desk& desk, const Ui& ui, const Area& area,
                   const std::function<void(const Action&)>& run) {
    const float tabs_bottom = area.min.y + ui.px(k_tab_height);
    tabs(desk, ui, {area.min, {area.max.x, tabs_bottom}});
    if (!desk.document.trace()) {
        nothing_yet(desk, ui, {{area.min.x, tabs_bottom}, area.max});
        return;
    }
    const View& open = open_view(desk);
    if (open.choice != ViewKind::step) desk.state.step_playback.playing = false;
    if (open.choice != ViewKind::sweep) desk.state.sweep_playback.playing = false;
    const auto center = [&](const Area& place) { open.draw(desk, ui, place, run); };
    // In a very low window the focus is dropped before the strip.
    const float left = area.max.y - tabs_bottom;
    if (left < ui.px(k_least_focus)) return;
    float height = strip_height(ui, area.height());
    const auto leaves_room = [&](float of_strip) {
        return left - of_strip >= ui.px(k_least_focus_and_strip);
    };
    const bool has_strip = leaves_room(height) && open.beside_strip;
    float gradients = gradients_height(desk, ui, area.height());
    if (!leaves_room(height + gradients)) gradients = 0;
    height += gradients;
    if (!has_strip) return center({{area.min.x, tabs_bottom}, area.max});
    const float strip_bottom = tabs_bottom + height;
    strip(desk, ui, {{area.min.x, tabs_bottom}, {area.max.x, strip_bottom}}, gradients);
    ImGui::GetWindowDrawList()->AddLine({area.min.x, strip_bottom}, {area.max.x, strip_bottom},
                                        ink(ui.theme.line));
    center({{area.min.x, strip_bottom + 1}, area.max});
}

}  // namespace attnscope
