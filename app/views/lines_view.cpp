// Lines from queries to keys, by weight, in the colors of the heads.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "app/document/walk.h"
#include "app/ui/widgets.h"
#include "app/views/axis_place.h"
#include "app/views/choosing.h"
#include "app/views/labels.h"
#include "app/views/matrix_painter.h"
#include "app/views/ribbons.h"
#include "app/views/views.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/picture/axis_labels.h"
#include "core/picture/head_color.h"
#include "core/picture/head_names.h"
#include "core/picture/mass_lines.h"
#include "core/picture/word_lines.h"
#include "core/session/options.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

constexpr float k_lines_margin = 18, k_lines_header = 76, k_captions = 26;
constexpr float k_most_pitch = 40;   ///< units from word to word
constexpr float k_most_lines = 620;  ///< units between the words
constexpr float k_least_lines = 80;
constexpr float k_between = 10;                      ///< units between words and lines
constexpr float k_number = 44;                       ///< units of a column of numbers
constexpr int k_most_numbers = 4;                    ///< columns of numbers, one for each head
constexpr float k_words_share = 0.17f;               ///< of the width, for the words of one side
constexpr float k_near = 5;                          ///< units to a line at which it counts as pointed at
constexpr float k_apart = 4.5f;                      ///< units between the lines of two heads
constexpr float k_text = 13;                         ///< units that a line of text needs
constexpr int k_segments = 32, k_few_segments = 16;  ///< of a line; few if there are many lines
constexpr std::size_t k_crowded_lines = 800;
constexpr float k_chip = 26, k_chip_gap = 4, k_least_chip = 8;

/// What is drawn: found for a trace that may be older than the document's.
struct LinesScene {
    std::shared_ptr<const FoundLines> found;
    ShownStage shown;  ///< the head, or the mean, that the inspector proves
    double strongest;  ///< the weight of a line of full strength

    const MassLines& lines() const { return found->lines; }
    const Stage& stage() const { return *found->of.stage; }
    int heads() const { return stage().shape().heads; }
    Rgb8 color(const Ui& ui, int head) const { return head_color(ui.theme, head, heads()); }
    double strength(float weight) const { return std::clamp(weight / strongest, 0.0, 1.0); }
};

/// The tokens to whose lines the picture is reduced; of a single sentence one token may be both.
struct Kept {
    std::optional<int> query, key;
    bool any() const { return query || key; }
};

/// All in pixels.
struct LinesPlaces {
    AxisPlace queries, keys;
    Area query_side, lines, key_side;
    float query_words, key_words;  ///< the right end of the queries, the left end of the keys
    float query_room, key_room;    ///< widths of the words
    int numbers;                   ///< columns of numbers on each side
    std::vector<float> offsets;    ///< by head, after the mean: so that no head covers another

    float from(const MassLine& line) const { return queries.middle(line.query) + offset(line.head); }
    float to(const MassLine& line) const { return keys.middle(line.key) + offset(line.head); }
    float offset(int head) const { return offsets[static_cast<std::size_t>(head) + 1]; }
};

// ---- which heads

HeadChoice choice_of(int head) {
    return head < 0 ? HeadChoice{HeadChoice::Kind::mean} : HeadChoice{HeadChoice::Kind::one, head};
}

std::vector<int> all_heads(int heads) {
    std::vector<int> all(static_cast<std::size_t>(heads));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

/// The heads that are drawn: the chosen one, until others are added; all, if all are chosen.
std::vector<int>& drawn_heads(Desk& desk, const Stage& stage) {
    DrawnHeads& state = desk.state.lines_of;
    const HeadChoice& chosen = desk.document.presentation().head;
    const int heads = stage.shape().heads;
    if (!state.drawn.empty() && state.chosen == chosen && state.heads == heads) return state.drawn;
    const bool all = chosen.kind == HeadChoice::Kind::all && heads > 1;
    state = {chosen, heads, all ? all_heads(heads) : std::vector{head_on_screen(stage, chosen).index()}};
    return state.drawn;
}

/// Adds or removes a head's lines. The last one stays, and the inspector's head is one of those drawn.
void toggle_head(Desk& desk, const Stage& stage, int head) {
    std::vector<int>& drawn = drawn_heads(desk, stage);
    const auto at = std::ranges::lower_bound(drawn, head);
    if (at == drawn.end() || *at != head) {
        drawn.insert(at, head);
        return;
    }
    if (drawn.size() == 1) return;
    drawn.erase(at);
    if (head_on_screen(stage, desk.document.presentation().head).index() != head) return;
    const HeadChoice next = choice_of(drawn.front());
    desk.document.change([&](Session& session) { session.presentation.head = next; });
    desk.state.lines_of.chosen = next;
}

/// All heads; again: the chosen one alone.
void toggle_all_heads(Desk& desk, const Stage& stage) {
    std::vector<int>& drawn = drawn_heads(desk, stage);
    const std::vector<int> all = all_heads(stage.shape().heads);
    const int chosen = head_on_screen(stage, desk.document.presentation().head).index();
    drawn = drawn == all ? std::vector{chosen} : all;
}

/// A small colored field with the head's number; returns its right end.
float chip(Desk& desk, const Ui& ui, const Stage& stage, int head, ImVec2 at, float width) {
    const std::string name =
        head < 0 ? "mean" : head_title(desk.document.presentation(), stage.shape().heads, stage.layer, head);
    const std::string id = head < 0 ? "mean" : fmt::format("head {}", head + 1),
                      text = head < 0 ? "mean" : std::to_string(head + 1);
    const std::vector<int>& drawn = drawn_heads(desk, stage);
    const bool on = std::ranges::find(drawn, head) != drawn.end();
    const Area area{at, {at.x + width, at.y + ui.px(k_chip - 2)}};
    ImGui::SetCursorScreenPos(area.min);
    const bool clicked = ImGui::InvisibleButton(id.c_str(), {area.width(), area.height()});
    const bool hovered = ImGui::IsItemHovered();
    tooltip(ui,
            (head < 0 ? "the mean of the heads" : name) + (on ? ": remove its lines" : ": draw its lines"));
    const bool pressed = keyboard_use(ui, ImGui::GetID(id.c_str()), area).pressed || clicked;
    const Rgb8 color = head_color(ui.theme, head, stage.shape().heads);
    ImDrawList* list = ImGui::GetWindowDrawList();
    if (on) list->AddRectFilled(area.min, area.max, ink(color), ui.px(3));
    list->AddRect(area.min, area.max, ink(hovered ? ui.theme.text : color, on || hovered ? 1 : 0.55f),
                  ui.px(3));
    const Rgb8 label = on ? contrasting(color, ui.theme.on_light, ui.theme.on_dark) : ui.theme.secondary;
    if (text_width(ui.fonts.caption, text) + ui.px(4) <= width)
        draw_text(list, ui.fonts.caption, {(area.min.x + area.max.x) / 2, at.y + ui.px(5)}, ink(label), text,
                  Align::center);
    if (pressed) toggle_head(desk, stage, head);
    return area.max.x + ui.px(k_chip_gap);
}

/// A chip for each head and the mean, as wide as there is room for; returns their right end.
float head_chips(Desk& desk, const Ui& ui, const Stage& stage, ImVec2 at, float right) {
    const int heads = stage.shape().heads;
    if (heads == 1) return at.x;
    const float mean = ui.px(46), all = ui.px(76), gap = ui.px(k_chip_gap);
    const float room = right - at.x - mean - all - ui.px(3 * k_chip_gap + 8);
    const float width =
        std::clamp(room / static_cast<float>(heads) - gap, ui.px(k_least_chip), ui.px(k_chip));
    float x = at.x;
    for (int head = 0; head < heads; ++head) x = chip(desk, ui, stage, head, {x, at.y}, width);
    x = chip(desk, ui, stage, -1, {x + ui.px(4), at.y}, mean) + ui.px(4);
    ImGui::SetCursorScreenPos({x, at.y - ui.px(1)});
    if (small_button(ui, "all heads", "all heads", "Draw the lines of every head, or only of the chosen one",
                     all))
        toggle_all_heads(desk, stage);
    return x + all + ui.px(20);
}

// ---- header

/// "90", "90 %" and "0.9" are the same share.
std::string share_typed(std::string text) {
    text = text.substr(0, text.find_first_of(" %"));
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool percent = error == std::errc{} && end == text.data() + text.size() && number > 1;
    return percent ? shortest_text(number / 100) : text;
}

void mass_field(Desk& desk, const Ui& ui, ImVec2 at) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const double mass = desk.document.presentation().mass;
    const float label =
        draw_text(list, ui.fonts.body, {at.x, at.y + ui.px(4)}, ink(ui.theme.secondary), "Mass");
    ImGui::SetCursorScreenPos({at.x + label + ui.px(8), at.y - ui.px(1)});
    const auto fill = static_cast<float>((mass - k_least_mass) / (1 - k_least_mass));
    const std::size_t drawn = ui.controls.focus.drawn.size();
    const DragResult result = drag_field(ui, "mass", percent_text(mass), fill, ui.px(110));
    if (desk.state.reveal.take("mass")) give_keyboard_since(ui, drawn);
    help_at_rest(ui, std::string(find_option("mass")->help));
    if (result.typed) set_option(desk, "mass", share_typed(*result.typed));
    if (!result.steps) return;
    const double next = std::clamp(std::round(mass * 100 + result.steps) / 100, k_least_mass, 1.0);
    set_option(desk, "mass", shortest_text(next), result.gesture);
}

/// What is drawn, in words.
std::string summary(const LinesScene& scene, const Kept& kept, std::size_t drawn) {
    const MassLines& lines = scene.lines();
    const double mass = scene.found->of.mass;
    if (!kept.any()) return mass_text(mass, drawn, lines.count);
    const auto word = [](const std::vector<std::string>& words, int at) {
        return "“" + legible(words[static_cast<std::size_t>(at)]) + "”";
    };
    std::string text = kept.query ? "from " + word(lines.queries, *kept.query) : "";
    if (kept.key) text += (text.empty() ? "to " : " and to ") + word(lines.keys, *kept.key);
    const bool blind = kept.query && lines.masked_queries[static_cast<std::size_t>(*kept.query)];
    text += blind ? ": every key is masked" : fmt::format(": {} line{}", drawn, drawn == 1 ? "" : "s");
    return text + "  ·  " + mass_text(mass, 0, 0);
}

/// Returns the width of the title, beside which the summary stands.
float header(Desk& desk, const Ui& ui, const Area& area, const Stage& stage) {
    const float y = area.min.y + ui.px(36);
    const float right = head_chips(desk, ui, stage, {area.min.x, y}, area.max.x - ui.px(170));
    mass_field(desk, ui, {right, y});
    return draw_text(ImGui::GetWindowDrawList(), ui.fonts.title, area.min, ink(ui.theme.text),
                     capitalized(stage_heading(stage.key())));
}

// ---- layout

/// The lines of several heads between two tokens stand side by side.
std::vector<float> offsets_of_heads(const Ui& ui, const LinesScene& scene, float pitch) {
    const std::vector<int>& heads = scene.lines().heads;
    std::vector<float> offsets(static_cast<std::size_t>(scene.heads()) + 1);
    const auto count = static_cast<float>(heads.size());
    const float apart = std::min(ui.px(k_apart), 0.6f * pitch / count);
    for (std::size_t i = 0; i < heads.size(); ++i)
        offsets[static_cast<std::size_t>(heads[i]) + 1] = (static_cast<float>(i) - (count - 1) / 2) * apart;
    return offsets;
}

/// Places, from left to right in the middle of the area: numbers, queries, lines, keys, numbers.
LinesPlaces lay_out(Desk& desk, const Ui& ui, const LinesScene& scene, const Area& area) {
    LinesPlaces at{};
    const float width = area.width(), gap = ui.px(k_between), number = ui.px(k_number);
    at.query_room = words_room(ui, scene.lines().queries, ui.px(14), k_words_share * width);
    at.key_room = words_room(ui, scene.lines().keys, ui.px(14), k_words_share * width);
    const float words = at.query_room + at.key_room + 2 * gap;
    const int drawn = static_cast<int>(scene.lines().heads.size());
    const bool have_room = width - words - 2 * number * static_cast<float>(drawn) >= 0.35f * width;
    at.numbers = drawn <= k_most_numbers && have_room ? drawn : 1;
    const float sides = words + 2 * number * static_cast<float>(at.numbers);
    const float between = std::clamp(width - sides, ui.px(k_least_lines), ui.px(k_most_lines));
    const float top = area.min.y + ui.px(k_captions), room = std::max(1.0f, area.max.y - top);
    const int queries = scene.shown.rows(), keys = scene.shown.columns();
    const float height = std::min(room, ui.px(k_most_pitch) * static_cast<float>(std::max(queries, keys)));
    const auto axis = [&](int count) {
        return place_axis(count, height / static_cast<float>(count), top, top + height,
                          desk.state.zoom.factor, desk.state.zoom.y);
    };
    at.queries = axis(queries);
    at.keys = axis(keys);
    at.offsets = offsets_of_heads(ui, scene, std::min(at.queries.pitch(), at.keys.pitch()));
    const float left = std::floor(std::max(area.min.x, (area.min.x + area.max.x - sides - between) / 2));
    at.query_words = left + number * static_cast<float>(at.numbers) + at.query_room;
    at.lines = {{at.query_words + gap, top}, {at.query_words + gap + between, top + height}};
    at.key_words = at.lines.max.x + gap;
    at.query_side = {{left, top}, {at.query_words + gap / 2, top + height}};
    at.key_side = {{at.key_words - gap / 2, top},
                   {at.key_words + at.key_room + number * static_cast<float>(at.numbers), top + height}};
    return at;
}

// ---- what the mouse and the keyboard do

int largest_query(const ShownStage& shown, int key) {
    const Eigen::VectorXf column = shown.column(key);
    int best = 0;
    for (int i = 1; i < static_cast<int>(column.size()); ++i)
        if (column[i] > column[best]) best = i;
    return best;
}

/// Locks the cell that stands for a query or a key, or unlocks it if it stands for the same already.
void lock_token(Desk& desk, const LinesScene& scene, const Cell& cell, bool is_key) {
    const Presentation& presentation = desk.document.presentation();
    const bool is_locked = scene.shown.trace->find_chosen(presentation.stage) == &scene.stage() &&
                           locked_cell(presentation, scene.shown.trace) == cell;
    if (!is_locked || (desk.state.locked_key == cell) == is_key) toggle_lock(desk, scene.shown, cell);
    const bool locks = desk.document.presentation().locked.has_value();
    desk.state.locked_key = is_key && locks ? std::optional(cell) : std::nullopt;
}

/// The token of the locked cell: its query, or its key if that was clicked.
Kept locked_token(const Desk& desk, const LinesScene& scene) {
    const Presentation& presentation = desk.document.presentation();
    const auto held = held_cell(presentation, scene.shown.trace);
    if (!held) return {};
    const Highlight lit = highlight_cell(*held->stage->info, held->cell, held->stage->shape().depth);
    const bool of_key = lit.query < 0 || desk.state.locked_key == presentation.locked;
    if (of_key && lit.key >= 0) return {{}, lit.key};
    return lit.query >= 0 ? Kept{lit.query, {}} : Kept{};
}

/// What is highlighted elsewhere: a chip of the sentence, a cell of the inspector.
Kept token_elsewhere(const Desk& desk, const LinesScene& scene) {
    if (!desk.state.hovered_token && !desk.state.hovered) return locked_token(desk, scene);
    const Highlight lit =
        current_highlight(desk.state, desk.document.presentation(), desk.document.trace().get());
    const bool both = desk.state.hovered_token.has_value();
    Kept kept;
    if (lit.query >= 0) kept.query = lit.query;
    if (lit.key >= 0 && (both || lit.query < 0)) kept.key = lit.key;
    return kept;
}

/// The tokens of `kept` that still exist: the sentence may have become shorter.
Kept within(const LinesScene& scene, Kept kept) {
    if (kept.query && *kept.query >= scene.shown.rows()) kept.query.reset();
    if (kept.key && *kept.key >= scene.shown.columns()) kept.key.reset();
    return kept;
}

void zoom_and_pan(Desk& desk, const LinesPlaces& at) {
    const MatrixPlace place{at.queries,
                            {1, at.lines.min.x, at.lines.max.x, at.lines.min.x, at.lines.width()}};
    if (ImGui::IsItemActive() && ImGui::IsMouseDragging(0)) pan(desk.state.zoom, place);
    if (ImGui::IsItemHovered() && ImGui::GetIO().MouseWheel != 0)
        zoom_by(desk.state.zoom, place, ImGui::GetIO().MouseWheel);
}

/// A column of words as one item; returns the one under the mouse, and locks it by a click.
std::optional<int> side(Desk& desk, const LinesScene& scene, const LinesPlaces& at, bool is_key) {
    const Area& area = is_key ? at.key_side : at.query_side;
    ImGui::SetCursorScreenPos(area.min);
    ImGui::InvisibleButton(is_key ? "keys" : "queries",
                           {std::max(1.0f, area.width()), std::max(1.0f, area.height())});
    zoom_and_pan(desk, at);
    if (!ImGui::IsItemHovered()) return std::nullopt;
    const int token = (is_key ? at.keys : at.queries).at(ImGui::GetIO().MousePos.y);
    const Cell cell = is_key ? Cell{largest_query(scene.shown, token), token}
                             : Cell{token, largest_key(scene.shown, token)};
    point_at(desk, scene.shown, cell);
    if (slot_of(desk, scene.shown) == SlotName::live && ImGui::IsMouseReleased(0) && was_click())
        lock_token(desk, scene, cell, is_key);
    return token;
}

/// The arrows: ↑ and ↓ go from query to query, ← and → along the keys.
void walk(Desk& desk, const LinesScene& scene, const KeyboardUse& keys) {
    if (!keys.steps && !keys.steps_down) return;
    desk.state.locked_key.reset();
    const Presentation& presentation = desk.document.presentation();
    const auto locked = locked_cell(presentation, scene.shown.trace);
    if (keys.steps) return walk_cells(desk.document, scene.stage(), 0, keys.steps);
    const int next = locked ? std::clamp(locked->row + keys.steps_down, 0, scene.shown.rows() - 1) : 0;
    const Cell cell{next, largest_key(scene.shown, next)};
    if (locked != cell) toggle_lock(desk, scene.shown, cell);
}

/// The line nearest to the mouse, of several the strongest.
const MassLine* line_at(const Ui& ui, const LinesPlaces& at, const std::vector<MassLine>& lines,
                        ImVec2 mouse) {
    const auto way = static_cast<float>(line_height((mouse.x - at.lines.min.x) / at.lines.width()));
    const MassLine* found = nullptr;
    float nearest = ui.px(k_near);
    for (const MassLine& each : lines) {
        const float from = at.from(each), to = at.to(each);
        const float distance = std::abs(from + way * (to - from) - mouse.y);
        if (distance > nearest) continue;
        nearest = distance;
        found = &each;
    }
    return found;
}

// ---- the lines

/// The lines to draw, weakest first: those of the kept tokens, else the strongest in sight.
std::vector<MassLine> lines_to_draw(const LinesScene& scene, const LinesPlaces& at, const Kept& kept) {
    std::vector<MassLine> drawn;
    if (kept.query) drawn = lines_of_query(scene.stage(), scene.lines(), *kept.query);
    if (kept.key) {
        for (const MassLine& each : lines_of_key(scene.stage(), scene.lines(), *kept.key))
            if (each.query != kept.query) drawn.push_back(each);
    }
    if (kept.any()) return drawn;
    for (const MassLine& each : scene.lines().strongest) {
        const float from = at.from(each), to = at.to(each);
        const bool in_sight = std::max(from, to) >= at.lines.min.y && std::min(from, to) <= at.lines.max.y;
        if (in_sight) drawn.push_back(each);
        if (drawn.size() == k_most_drawn_lines) break;
    }
    std::ranges::reverse(drawn);
    return drawn;
}

void draw_lines(const Desk& desk, const Ui& ui, const LinesScene& scene, const LinesPlaces& at,
                const std::vector<MassLine>& lines, bool alone, const MassLine* pointed) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Ribbons ribbons(list, at.lines.min.x, at.lines.max.x,
                          lines.size() > k_crowded_lines ? k_few_segments : k_segments);
    const double pitch = std::min(at.queries.pitch(), at.keys.pitch()) / ui.scale;
    const double dimmed = is_behind(desk) ? k_behind : 1, crowd = crowd_opacity(lines.size());
    const auto opacity = [&](double strength) {
        return dimmed * (alone ? opacity_alone(strength) : crowd * line_opacity(strength));
    };
    std::vector<Rgb8> colors;  // by head, after the mean
    for (int head = -1; head < scene.heads(); ++head) colors.push_back(scene.color(ui, head));
    const auto draw = [&](const MassLine& each, double wider, double alpha) {
        const double width = line_width(scene.strength(each.weight), pitch) + wider;
        ribbons.add(at.from(each), at.to(each), ui.px(static_cast<float>(width)),
                    ink(colors[static_cast<std::size_t>(each.head) + 1], static_cast<float>(alpha)));
    };
    list.PushClipRect({at.lines.min.x, at.lines.min.y - 1}, {at.lines.max.x, at.lines.max.y + 1}, true);
    for (const MassLine& each : lines) draw(each, 0, opacity(scene.strength(each.weight)));
    if (pointed) draw(*pointed, 1.2, 1);
    list.PopClipRect();
}

// ---- the words

/// One side's words: which stand out, and the lines that end at them.
struct Words {
    const AxisPlace& place;
    const std::vector<std::string>& words;
    const std::vector<bool>& masked;
    int lit;                            ///< −1: none
    std::vector<const MassLine*> ends;  ///< of the token kept on the other side, strongest first
    bool is_key;

    int row(const MassLine& line) const { return is_key ? line.key : line.query; }
};

/// Which words have room, `apart` pixels each: those with the strongest lines before all others.
std::vector<int> words_with_room(const Ui& ui, const Words& side) {
    std::vector<int> shown;
    const float apart = ui.px(k_text);
    const int first = side.place.first(), last = side.place.last();
    const auto add = [&](int row) {
        const float y = side.place.middle(row);
        const bool fits = row >= first && row <= last && std::ranges::all_of(shown, [&](int other) {
                              return std::abs(side.place.middle(other) - y) >= apart;
                          });
        if (fits) shown.push_back(row);
    };
    if (side.lit >= 0) add(side.lit);
    for (const MassLine* line : side.ends) add(side.row(*line));
    const int stride = label_stride(ui, side.place.pitch());
    for (int row = (first + stride - 1) / stride * stride; row <= last; row += stride) add(row);
    return shown;
}

void draw_word(const Ui& ui, const LinesPlaces& at, const Words& side, int row, bool linked, bool dimmed) {
    const bool masked = side.masked[static_cast<std::size_t>(row)], lit = row == side.lit;
    ImFont* font = lit ? ui.fonts.strong : ui.fonts.body;
    const std::string word = legible(side.words[static_cast<std::size_t>(row)]);
    const Rgb8 color = masked ? ui.theme.warning : lit || linked || !dimmed ? ui.theme.text : ui.theme.faint;
    const float y = side.place.middle(row) - compat::font_size(*font) / 2;
    draw_text(ImGui::GetWindowDrawList(), font, {side.is_key ? at.key_words : at.query_words, y}, ink(color),
              fitted(font, masked ? "∅ " + word : word, side.is_key ? at.key_room : at.query_room),
              side.is_key ? Align::left : Align::right);
}

/// The weights at the ends of the kept lines: a column for each head or, without room for these, that of the
/// head with the largest weight.
void draw_numbers(const Ui& ui, const LinesScene& scene, const LinesPlaces& at, const Words& side,
                  const std::vector<int>& shown) {
    const std::vector<int>& heads = scene.lines().heads;
    const float number = ui.px(k_number);
    const float left = side.is_key ? at.key_words + at.key_room : at.query_side.min.x;
    std::vector<int> written;
    for (const MassLine* line : side.ends) {
        const int row = side.row(*line);
        if (std::ranges::find(shown, row) == shown.end()) continue;
        const auto head = std::ranges::find(heads, line->head) - heads.begin();
        if (at.numbers == 1 && std::ranges::find(written, row) != written.end()) continue;
        written.push_back(row);
        const float right = left + number * static_cast<float>(at.numbers == 1 ? 1 : head + 1) - ui.px(2);
        const Rgb8 color = legible_color(scene.color(ui, line->head), ui.theme.background, ui.theme.text);
        draw_text(ImGui::GetWindowDrawList(), ui.fonts.mono_small,
                  {right, side.place.middle(row) - compat::font_size(*ui.fonts.mono_small) / 2}, ink(color),
                  reading_text(line->weight), Align::right);
        const std::string of_head = line->head < 0 ? "" : fmt::format("\nhead {}", line->head + 1);
        help_over(
            ui,
            {{right - number + ui.px(4), side.place.begin(row)},
             {right + ui.px(2), side.place.begin(row + 1)}},
            fmt::format("{} → {}   {}{}", legible(scene.shown.row_label(line->query)),
                        legible(scene.shown.column_label(line->key)), exact_text(line->weight), of_head));
    }
}

/// Above the words their axis, and above a column of numbers that is of several heads that it is.
void captions(const Ui& ui, const LinesScene& scene, const LinesPlaces& at, const Words& side) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float y = at.lines.min.y - ui.px(10) - compat::font_size(*ui.fonts.caption);
    const StageInfo& info = *scene.stage().info;
    const std::string axis(axis_name(scene.shown.trace->experiment, side.is_key ? info.columns : info.rows));
    draw_text(list, ui.fonts.caption, {side.is_key ? at.key_words : at.query_words, y}, ink(ui.theme.faint),
              axis, side.is_key ? Align::left : Align::right);
    if (at.numbers > 1 || scene.lines().heads.size() == 1 || side.ends.empty()) return;
    const float left = side.is_key ? at.key_words + at.key_room : at.query_side.min.x;
    draw_text(list, ui.fonts.caption, {left + ui.px(k_number - 2), y}, ink(ui.theme.faint), "largest",
              Align::right);
}

void draw_side(const Ui& ui, const LinesScene& scene, const LinesPlaces& at,
               const std::vector<MassLine>& lines, const Kept& kept, bool is_key) {
    const MassLines& found = scene.lines();
    Words side{is_key ? at.keys : at.queries,
               is_key ? found.keys : found.queries,
               is_key ? found.masked_keys : found.masked_queries,
               (is_key ? kept.key : kept.query).value_or(-1),
               {},
               is_key};
    const std::optional<int>& other = is_key ? kept.query : kept.key;
    for (const MassLine& line : lines)
        if (other && (is_key ? line.query : line.key) == *other) side.ends.push_back(&line);
    std::ranges::stable_sort(side.ends, std::greater{}, &MassLine::weight);
    const std::vector<int> shown = words_with_room(ui, side);
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float above = ui.px(k_text / 2);
    list->PushClipRect({0, at.lines.min.y - above}, {1e6f, at.lines.max.y + above}, true);
    for (const int row : shown) {
        const bool linked =
            std::ranges::any_of(side.ends, [&](const MassLine* line) { return side.row(*line) == row; });
        draw_word(ui, at, side, row, linked, kept.any());
    }
    draw_numbers(ui, scene, at, side, shown);
    list->PopClipRect();
    captions(ui, scene, at, side);
}

// ---- the whole

/// The weight that a line of full strength has, under the range of the colors.
double strongest_weight(const Presentation& presentation, const FoundLines& found) {
    const RangeChoice& range = presentation.range;
    const double largest = range.kind == RangeChoice::Kind::fixed ? range.max
                           : range.kind == RangeChoice::Kind::all ? found.of.stage->buffer.range().max
                                                                  : found.lines.largest;
    return largest > 0 ? largest : 1;
}

/// Returns what is drawn, in words.
std::string picture(Desk& desk, const Ui& ui, const LinesScene& scene, const Area& body) {
    const LinesPlaces at = lay_out(desk, ui, scene, body);
    Kept pointed;
    pointed.query = side(desk, scene, at, false);
    pointed.key = side(desk, scene, at, true);
    ImGui::SetCursorScreenPos(at.lines.min);
    ImGui::InvisibleButton("weight lines",
                           {std::max(1.0f, at.lines.width()), std::max(1.0f, at.lines.height())});
    zoom_and_pan(desk, at);
    walk(desk, scene, grid_keyboard_use(ui, ImGui::GetID("weight lines"), at.lines));
    const bool among_lines = ImGui::IsItemHovered();
    const Kept kept = within(scene, pointed.any() ? pointed
                                    : among_lines ? locked_token(desk, scene)
                                                  : token_elsewhere(desk, scene));
    const std::vector<MassLine> lines = lines_to_draw(scene, at, kept);
    const MassLine* line =
        among_lines && !ImGui::IsItemActive() ? line_at(ui, at, lines, ImGui::GetIO().MousePos) : nullptr;
    if (among_lines && ImGui::IsMouseReleased(0)) line = line_at(ui, at, lines, ImGui::GetIO().MousePos);
    if (line) {
        ShownStage of = scene.shown;
        of.head = choice_of(line->head);
        use_cell(desk, ui, of, {line->query, line->key});
    }
    draw_lines(desk, ui, scene, at, lines, kept.any(), line);
    draw_side(ui, scene, at, lines, kept, false);
    draw_side(ui, scene, at, lines, kept, true);
    return summary(scene, kept, lines.size());
}

}  // namespace

std::string why_no_lines(const Desk& desk) {
    const Trace* trace = desk.document.trace().get();
    if (!trace || lines_stage(*trace, desk.document.presentation().stage)) return "";
    return "There are no attention weights: choose a decoder with attention";
}

void lines_view(Desk& desk, const Ui& ui, const Area& area, const std::function<void(const Action&)>&) {
    const float margin = ui.px(k_lines_margin);
    const Area inside{{area.min.x + margin, area.min.y + ui.px(12)},
                      {area.max.x - margin, area.max.y - ui.px(12)}};
    const Presentation& presentation = desk.document.presentation();
    const Stage& stage = *lines_stage(*desk.document.trace(), presentation.stage);
    desk.document.draw_lines_of(drawn_heads(desk, stage));
    const float title = header(desk, ui, inside, stage);
    // Kept while it is drawn: a click may ask for others.
    const std::shared_ptr<const FoundLines> found = desk.document.lines();
    std::string facts = !found ? "Finding the largest weights…" : found->problem;
    const Area body{{inside.min.x, inside.min.y + ui.px(k_lines_header)}, inside.max};
    if (found && found->problem.empty() && body.height() > ui.px(2 * k_captions)) {
        const Stage& drawn = *found->of.stage;
        const LinesScene scene{
            found,
            {found->of.trace.get(), found->of.stage, head_on_screen(drawn, presentation.head)},
            strongest_weight(presentation, *found)};
        facts = picture(desk, ui, scene, body);
    }
    draw_fitted(ui, ui.fonts.body, {inside.min.x + title + ui.px(14), inside.min.y + ui.px(7)},
                ui.theme.secondary, facts, inside.width() - title - ui.px(14));
}

}  // namespace attnscope
