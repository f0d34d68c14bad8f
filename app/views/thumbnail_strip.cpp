#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "app/ui/widgets.h"
#include "app/views/labels.h"
#include "app/views/matrix_painter.h"
#include "app/views/views.h"
#include "core/graph/formula.h"
#include "core/graph/gradient.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"

namespace attnscope {
namespace {

/// The vertical bands of the strip, in units from its top: names, captions, thumbnails, ranges.
struct Bands {
    float name, caption, picture;
    float below;  ///< room below the thumbnails: the ranges and the margin
};
constexpr Bands k_bands{20, 35, 50, 43}, k_low_bands{13, 28, 43, 33};
constexpr float k_low_view = 640;  ///< units; in a lower view the strip leaves room for the focus
constexpr float k_under_picture = 6;
constexpr float k_label_width = 66;
constexpr float k_inner_label_width = 48;  ///< labels between two stages

/// Thumbnails shrink in a low window.
float picture_height(float view_height_in_units) {
    return view_height_in_units < k_low_view ? std::clamp(0.11f * view_height_in_units, 32.0f, 64.0f)
                                             : std::clamp(0.13f * view_height_in_units, 83.0f, 104.0f);
}

bool is_low_strip(const Ui& ui, const Area& strip) {
    return strip.height() < ui.px(k_bands.picture + picture_height(k_low_view) + k_bands.below);
}

const Bands& bands(const Ui& ui, const Area& strip) {
    return is_low_strip(ui, strip) ? k_low_bands : k_bands;
}

/// Below the ranges, where gradients are shown: their symbol and largest magnitude, and a lower thumbnail.
constexpr float k_gradient_picture = 17, k_below_gradient = 20;
constexpr float k_gradient_share = 0.6f;  ///< of the height of the stage's thumbnail

/// A stage's position in the strip.
struct StripItem {
    const Trace* trace;
    StagePtr stage;
    std::optional<ShownStage> shown;  ///< nullopt under a mean that is meaningless: there is no picture
    float x, width;
    float span;         ///< the width available to its texts: the picture's or the name's
    const char* arrow;  ///< the operation that leads here, drawn before the stage; "" within a group
    const std::vector<std::string>* names;  ///< labels of its rows
    float labels;  ///< their width, where they differ from those of the previous stage
};

/// Stages computed side by side in one step have no arrow between them.
bool joins_previous(const StageInfo* stage) {
    constexpr const StageInfo* k_stages[] = {"embedding_kv"_stage, "embedding_v"_stage, "positioned_kv"_stage,
                                             "key"_stage,          "value"_stage,       "key_heads"_stage,
                                             "value_heads"_stage};
    return std::ranges::find(k_stages, stage) != std::end(k_stages);
}

/// The words of a stage's rows, the keys' words where those are different; nullptr for weights.
const std::vector<std::string>* row_names(const Trace& trace, Axis rows, bool two_sides) {
    if (rows == Axis::key_token && two_sides) return &trace.columns;
    return rows == Axis::query_token || rows == Axis::key_token ? &trace.rows : nullptr;
}

float label_width(const Ui& ui, const std::vector<std::string>& names) {
    float widest = 0;
    for (const std::string& name : names) {
        widest = std::max(widest, text_width(ui.fonts.caption, legible(name)) / ui.scale);
        if (widest > k_inner_label_width) break;
    }
    return std::min(widest, k_inner_label_width);
}

float picture_width(const Stage& stage) {
    const auto columns = static_cast<float>(stage.shape().columns);
    const Axis axis = stage.info->columns;
    if (axis == Axis::key_token) return std::clamp(columns * 10, 56.0f, 104.0f);
    if (axis == Axis::key_hidden) return std::clamp(columns * 2, 72.0f, 104.0f);
    return std::clamp(columns * 3.7f, 44.0f, 72.0f);
}

constexpr float k_range_width = 52;  ///< "-5.9 4.1"

constexpr const char* k_no_picture = "no mean";

std::string shape_text(const Stage& stage) {
    return fmt::format("{}×{}", stage.shape().rows, stage.shape().columns);
}

float caption_width(const Ui& ui, const StripItem& item) {
    return text_width(ui.fonts.caption, caption(*item.trace, *item.stage)) + ui.px(5) +
           text_width(ui.fonts.mono_small, shape_text(*item.stage));
}

/// The smallest or the largest value; empty if none is finite, or the matrix is not known yet.
std::string range_end(const ShownStage& shown, bool upper, int digits) {
    const std::optional<ShownMatrix> matrix = shown.matrix();
    if (!matrix || matrix->range().finite == 0) return "";
    const double end = upper ? matrix->range().max : matrix->range().min;
    const bool tiny = shown.stage->info->unit == Unit::probability && end > 0 && end < 1e-3;
    return tiny ? weight_text(end) : digits_text(end, digits);
}

/// The width that both ends of a range need with one digit, side by side.
float least_range_width(const Ui& ui, const StripItem& item) {
    if (!item.shown || item.stage->info->unit == Unit::boolean) return 0;
    return text_width(ui.fonts.mono_small, range_end(*item.shown, false, 1)) +
           text_width(ui.fonts.mono_small, range_end(*item.shown, true, 1)) + ui.px(4);
}

/// Places all items, with gaps and pictures scaled by `tightness` (0 … 1), but never so narrow that names,
/// captions with shapes, or ranges touch. Returns the total width.
float place(const Ui& ui, std::vector<StripItem>& items, float tightness) {
    float x = 0;
    for (StripItem& item : items) {
        const std::string name = stage_heading(*item.stage->info);
        if (&item != &items.front()) x += (*item.arrow ? 24 : 10) + tightness * (*item.arrow ? 14 : 4);
        x += item.labels > 0 ? item.labels + 8 : 0;
        item.x = x;
        const float liked = picture_width(*item.stage), least = liked * (0.7f + 0.3f * tightness);
        item.span =
            std::max({least, text_width(ui.fonts.strong, name) / ui.scale, caption_width(ui, item) / ui.scale,
                      k_range_width + tightness * 12, least_range_width(ui, item) / ui.scale});
        item.width = std::min(liked, item.span);
        x += item.span;
    }
    return x;
}

std::vector<StripItem> lay_out(Desk& desk, const Ui& ui, float width) {
    const Trace& trace = *desk.document.trace();
    std::vector<StripItem> items;
    const bool two_sides = has_two_sides(trace);
    const std::vector<std::string>* names = &trace.rows;
    const int layer = focused_stage(trace, desk.document.presentation().stage).layer;
    const int shown_layer = layer > 0 ? layer : desk.document.presentation().layer();
    for (const StagePtr& stage : trace.stages()) {
        if (stage->info->unit == Unit::token_id) continue;
        if (stage->layer > 0 && stage->layer != shown_layer) continue;
        const auto shown = shown_stage(trace, stage->key(), desk.document.presentation());
        const std::vector<std::string>* own = row_names(trace, stage->info->rows, two_sides);
        const bool others = !items.empty() && own && own != names;
        if (own) names = own;
        items.push_back({&trace, stage, shown, 0, 0, 0,
                         items.empty() || joins_previous(stage->info) ? "" : "→", names,
                         others ? label_width(ui, *own) : 0});
    }
    const float available = width / ui.scale;
    for (const float tightness : {1.0f, 0.75f, 0.5f, 0.25f, 0.0f})
        if (place(ui, items, tightness) <= available) return items;
    place(ui, items, 0.5f);  // even so it may have to scroll
    return items;
}

void row_labels(const Ui& ui, const Area& area, const std::vector<std::string>& names, int lit) {
    const int rows = static_cast<int>(names.size());
    const float pitch = area.height() / static_cast<float>(rows);
    const int stride = std::max(1, static_cast<int>(std::ceil(ui.px(12) / pitch)));
    ImDrawList* list = ImGui::GetWindowDrawList();
    // Every stride-th row, and the one that is lit.
    for (int i = 0; i < rows;
         i = i < lit && lit < i + stride - i % stride && lit % stride != 0 ? lit : i + stride - i % stride) {
        if (i != lit && lit >= 0 && std::abs(i - lit) < stride && stride > 1) continue;
        const float y =
            area.min.y + (static_cast<float>(i) + 0.5f) * pitch - compat::font_size(*ui.fonts.caption) / 2;
        draw_text(list, ui.fonts.caption, {area.max.x, y}, ink(i == lit ? ui.theme.text : ui.theme.secondary),
                  fitted(ui.fonts.caption, legible(names[std::size_t(i)]), area.width()), Align::right);
    }
}

void under_picture(const Ui& ui, const StripItem& item, float left, float right, float y) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImU32 faint = ink(ui.theme.faint);
    if (!item.shown) return;
    const ShownStage& shown = *item.shown;
    const std::optional<ShownMatrix> matrix = shown.matrix();
    if (!matrix) return;
    if (shown.stage->info->unit == Unit::boolean) {
        const auto all = static_cast<std::size_t>(shown.rows()) * static_cast<std::size_t>(shown.columns());
        const std::size_t open = all - matrix->range().zero;
        std::string text = fmt::format("{} of {}", open, all);
        if (text_width(ui.fonts.mono_small, text) > right - left)
            text = open == all ? "all open" : short_text(100.0 * double(open) / double(all)) + " % open";
        draw_text(list, ui.fonts.mono_small, {left, y}, faint, text);
        return;
    }
    for (int digits = 3; digits > 0; --digits) {
        const std::string low = range_end(shown, false, digits), high = range_end(shown, true, digits);
        const float room =
            right - left - text_width(ui.fonts.mono_small, low) - text_width(ui.fonts.mono_small, high);
        if (room < ui.px(4) && digits > 1) continue;
        draw_text(list, ui.fonts.mono_small, {left, y}, faint, low);
        if (room >= ui.px(2)) draw_text(list, ui.fonts.mono_small, {right, y}, faint, high, Align::right);
        return;
    }
}

void point_at(Desk& desk, const ShownStage& shown, const Area& picture) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (!ImGui::IsItemHovered() || !picture.contains(mouse)) return;
    const auto index = [](float at, float low, float size, int count) {
        return cell_at((at - low) / size * static_cast<float>(count), count);
    };
    desk.state.pointing = PointedCell{shown.stage->key(),
                                      shown.head_index(),
                                      {index(mouse.y, picture.min.y, picture.height(), shown.rows()),
                                       index(mouse.x, picture.min.x, picture.width(), shown.columns())}};
}

const Stage& focused(const Desk& desk, const StripItem& item) {
    return focused_stage(*item.trace, desk.document.presentation().stage);
}

/// The frame around a stage, or its gradient, that is in focus or under the mouse.
void frame(const Ui& ui, const Area& area, bool is_focused, bool is_hovered) {
    if (!is_focused && !is_hovered) return;
    ImGui::GetWindowDrawList()->AddRect(area.min, area.max, ink(is_focused ? ui.theme.accent : ui.theme.line),
                                        ui.px(6), 0, ui.px(is_focused ? 1.5f : 1));
}

/// The placeholder of a missing picture.
void no_picture(const Ui& ui, const Area& picture) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRect(picture.min, picture.max, ink(ui.theme.line));
    draw_text(list, ui.fonts.caption,
              {(picture.min.x + picture.max.x) / 2,
               (picture.min.y + picture.max.y - compat::font_size(*ui.fonts.caption)) / 2},
              ink(ui.theme.secondary), k_no_picture, Align::center, picture.width());
}

void thumbnail(Desk& desk, const Ui& ui, const StripItem& item, float origin, const Area& area,
               const Highlight& lit, bool first) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const StageInfo& info = *item.stage->info;
    const Bands& band = bands(ui, area);
    const float top = area.min.y, bottom = area.max.y - ui.px(band.below);
    const float left = origin + ui.px(item.x), right = left + ui.px(item.width),
                text_right = left + ui.px(item.span);
    ImGui::SetCursorScreenPos({left - ui.px(5), top + ui.px(band.name - 5)});
    ImGui::PushID(info.name.data());
    if (ImGui::InvisibleButton("stage", {right - left + ui.px(10), area.height() - ui.px(band.name)}))
        focus_on(desk, *item.stage);
    const Area picture{{left, top + ui.px(band.picture)}, {right, bottom}};
    if (item.shown) point_at(desk, *item.shown, picture);
    const bool hovered = ImGui::IsItemHovered();
    if (hovered && item.shown) help_at_rest(ui, stage_help(*item.trace, *item.stage));
    if (!item.shown)
        tooltip(ui,
                why_not_shown(*item.stage, head_on_screen(*item.stage, desk.document.presentation().head)));
    ImGui::PopID();
    frame(ui,
          {{left - ui.px(8), top + ui.px(band.name - 7)}, {text_right + ui.px(8), area.max.y - ui.px(11)}},
          &focused(desk, item) == item.stage.get(), hovered);

    draw_text(list, ui.fonts.strong, {left, top + ui.px(band.name)}, ink(ui.theme.text), stage_heading(info));
    const std::string words = caption(*item.trace, *item.stage);
    const std::string shape = shape_text(*item.stage);
    const float room =
        text_right - left - text_width(ui.fonts.caption, words) - text_width(ui.fonts.mono_small, shape);
    const float line = top + ui.px(band.caption);
    draw_text(list, ui.fonts.caption, {left, line}, ink(ui.theme.secondary), words, Align::left,
              text_right - left);
    if (room > ui.px(3))
        draw_text(list, ui.fonts.mono_small, {text_right, line + ui.px(1)}, ink(ui.theme.faint), shape,
                  Align::right);

    const Shape& shape_shown = item.stage->shape();
    item.shown ? paint_matrix(desk, ui, *list, *item.shown, picture) : no_picture(ui, picture);
    outline_row(ui, *list, picture, lit_row(lit, info), shape_shown.rows);
    const float labels_right = left - ui.px(8), labels_left = labels_right - ui.px(item.labels);
    if (item.labels > 0 && !first)
        row_labels(ui, {{labels_left, picture.min.y}, {labels_right, picture.max.y}}, *item.names,
                   lit_row(lit, info));
    const bool of_keys = is_of_keys(info.columns);
    if (const int column = lit_column(lit, info); column >= 0 && of_keys)
        outline_column(ui, *list, picture, column, shape_shown.columns / shape_shown.depth, 0.45f);
    under_picture(ui, item, left, text_right, bottom + ui.px(k_under_picture));
    if (*item.arrow && !first)
        draw_text(list, ui.fonts.body,
                  {left - ui.px(14 + (item.labels > 0 ? item.labels + 8 : 0)),
                   (picture.min.y + picture.max.y) / 2 - ui.px(9)},
                  ink(ui.theme.faint), item.arrow, Align::center);
}

/// The gradient of a stage, in the area below its thumbnail.
void gradient(Desk& desk, const Ui& ui, const StripItem& item, float origin, const Area& area,
              const Highlight& lit) {
    const StageKey key{item.stage->info, item.stage->layer, StageKey::Part::gradient};
    const StagePtr stage = item.trace->stage(key);
    if (!stage) return;
    const auto shown = shown_stage(*item.trace, key, desk.document.presentation());
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float left = origin + ui.px(item.x), right = left + ui.px(item.width),
                text_right = left + ui.px(item.span);
    const Area picture{{left, area.min.y + ui.px(k_gradient_picture)},
                       {right, area.max.y - ui.px(k_below_gradient)}};
    ImGui::SetCursorScreenPos({left - ui.px(5), area.min.y});
    ImGui::PushID(stage->info->name.data());
    if (ImGui::InvisibleButton("gradient", {right - left + ui.px(10), area.height()})) focus_on(desk, *stage);
    const bool hovered = ImGui::IsItemHovered();
    if (hovered && shown) help_at_rest(ui, stage_help(*item.trace, *stage));
    if (shown)
        point_at(desk, *shown, picture);
    else
        tooltip(ui, why_not_shown(*stage, head_on_screen(*stage, desk.document.presentation().head)));
    ImGui::PopID();
    frame(ui, {{left - ui.px(8), area.min.y - ui.px(5)}, {text_right + ui.px(8), picture.max.y + ui.px(6)}},
          &focused(desk, item) == stage.get(), hovered);
    const std::string symbol(stage->info->symbol);
    draw_text(list, ui.fonts.caption, {left, area.min.y}, ink(ui.theme.secondary), symbol, Align::left,
              text_right - left);
    if (!shown) return no_picture(ui, picture);
    paint_matrix(desk, ui, *list, *shown, picture);
    outline_row(ui, *list, picture, lit_row(lit, *stage->info), stage->shape().rows);
    const std::optional<ShownMatrix> matrix = shown->matrix();
    if (!matrix || matrix->range().finite == 0) return;
    const ValueRange& range = matrix->range();
    const std::string largest = "±" + digits_text(std::max(std::abs(range.min), std::abs(range.max)), 2);
    const float room = text_right - left - text_width(ui.fonts.caption, symbol);
    if (room >= text_width(ui.fonts.mono_small, largest) + ui.px(4))
        draw_text(list, ui.fonts.mono_small, {text_right, area.min.y + ui.px(1)}, ink(ui.theme.faint),
                  largest, Align::right);
}

/// Scrolls to the focused stage when the focus has moved.
void keep_in_sight(Desk& desk, const Ui& ui, const StripItem& item, float width) {
    const StageKey key = item.stage->key();
    const bool is_focused = focused(desk, item).key().as(StageKey::Part::value) == key;
    if (!is_focused || desk.state.stage_in_sight == key) return;
    desk.state.stage_in_sight = key;
    const float left = ui.px(item.x), right = ui.px(item.x + item.span + 24);
    if (left < ImGui::GetScrollX() || right > ImGui::GetScrollX() + width)
        ImGui::SetScrollX(std::max(0.0f, (left + right - width) / 2));
}

/// ← and → move the focus from stage to stage.
void step_through(Desk& desk, const Ui& ui, const std::vector<StripItem>& items, const Area& area) {
    const unsigned id = ImGui::GetID("stages");
    if (desk.state.reveal.take("stage")) give_keyboard(ui, id);
    const int steps = keyboard_use(ui, id, area).steps;
    const auto at = std::ranges::find_if(items, [&](const StripItem& item) {
        return focused(desk, item).key().as(StageKey::Part::value) == item.stage->key();
    });
    if (steps == 0 || at == items.end()) return;
    const auto to = std::clamp<std::ptrdiff_t>(at - items.begin() + steps, 0, std::ssize(items) - 1);
    focus_on(desk, *items[static_cast<std::size_t>(to)].stage);
}

/// The first stage drawn when the strip is scrolled by `pixels`: stages are drawn whole or not at all.
std::size_t first_in_sight(const Ui& ui, const std::vector<StripItem>& items, float pixels) {
    std::size_t first = 0;
    while (first + 1 < items.size() && ui.px(items[first].x) + ui.px(4) < pixels) ++first;
    return first;
}

bool ends_in_sight(const Ui& ui, const StripItem& item, float scrolled, float width) {
    return ui.px(item.x + item.span + 20) - scrolled <= width + 1;
}

}  // namespace

float strip_height(const Ui& ui, float view_height) {
    const float units = view_height / ui.scale;
    const Bands& band = units < k_low_view ? k_low_bands : k_bands;
    return ui.px(band.picture + picture_height(units) + band.below);
}

float gradients_height(const Desk& desk, const Ui& ui, float view_height) {
    const Presentation& presentation = desk.document.presentation();
    if (!presentation.gradients || !why_no_gradients(*desk.document.trace()).empty()) return 0;
    return ui.px(k_gradient_picture + k_gradient_share * picture_height(view_height / ui.scale) +
                 k_below_gradient);
}

void strip(Desk& desk, const Ui& ui, const Area& whole, float gradients) {
    const Area area{whole.min, {whole.max.x, whole.max.y - gradients}};
    const Trace& trace = *desk.document.trace();
    const Highlight lit = current_highlight(desk.state, desk.document.presentation(), &trace);
    const float labels = ui.px(k_label_width + 8);
    const Area labels_area{{area.min.x + ui.px(14), area.min.y + ui.px(bands(ui, area).picture)},
                           {area.min.x + labels, area.max.y - ui.px(bands(ui, area).below)}};
    ImGui::SetCursorScreenPos({area.min.x + labels, area.min.y});
    const float width = area.width() - labels;
    const std::vector<StripItem> items = lay_out(desk, ui, width - ui.px(36));
    const float content = items.empty() ? 0 : ui.px(items.back().x + items.back().span + 24);
    ImGui::SetNextWindowContentSize({content, 0});
    ImGui::BeginChild("strip", {width, whole.height()}, false,
                      ImGuiWindowFlags_HorizontalScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    if (ImGui::IsWindowHovered() && ImGui::GetIO().MouseWheel != 0)
        ImGui::SetScrollX(ImGui::GetScrollX() - ImGui::GetIO().MouseWheel * ui.px(80));
    // If the width or the stages change, the position is computed again.
    if (std::exchange(desk.state.strip_width, width + content) != width + content)
        desk.state.stage_in_sight.reset();
    step_through(desk, ui, items, {whole.min, {whole.min.x + labels + width, whole.max.y}});
    for (const StripItem& item : items) keep_in_sight(desk, ui, item, width);
    const std::size_t first = first_in_sight(ui, items, ImGui::GetScrollX());
    const float scrolled = items.empty() ? 0 : ui.px(items[first].x);
    const float origin = area.min.x + labels + ui.px(12) - scrolled;
    for (std::size_t i = first; i < items.size(); ++i) {
        if (i != first && !ends_in_sight(ui, items[i], scrolled, width)) continue;
        thumbnail(desk, ui, items[i], origin, area, lit, i == first);
        if (gradients > 0) gradient(desk, ui, items[i], origin, {{whole.min.x, area.max.y}, whole.max}, lit);
    }
    ImGui::EndChild();
    if (!items.empty())
        row_labels(ui, labels_area, *items[first].names, lit_row(lit, *items[first].stage->info));
}

}  // namespace attnscope
