// The columns of the view of steps, and the terms of a score.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "app/ui/widgets.h"
#include "app/views/labels.h"
#include "app/views/step_scene.h"
#include "core/number_text.h"

namespace attnscope {
namespace {

using Kind = RowStep::Kind;

constexpr float k_column_head = 58;  ///< units above the bars: title, caption, range
constexpr float k_column_gap = 8;    ///< between two columns
constexpr float k_pad = 6;           ///< within a column
constexpr float k_least_pitch = 15, k_most_key_pitch = 72;
constexpr float k_thickest = 34;           ///< of a bar
constexpr float k_least_bars = 10;         ///< a row of products that is lower has cells instead of bars
constexpr float k_two_lines = 27;          ///< from this pitch on, a number stands above its bar
constexpr float k_least_beside = 92;       ///< a column of this width has room for a bar beside a number
constexpr float k_total = 24, k_sum = 58;  ///< height below the bars, without and with the sum of the values
constexpr float k_least_shadow = 2;        ///< pixels that a feature must have to show its value, too
constexpr float k_shadow = 0.28f;          ///< opacity of the values behind the products
constexpr float k_products = 1.9f;         ///< width of the products, in columns
constexpr float k_others = 18;
constexpr std::size_t k_measured_keys = 512;
constexpr double k_ease_seconds = 0.18;
constexpr float k_terms_reveal = 0.8f;  ///< of the first step: then all other keys follow

/// Where all of it stands, in pixels.
struct ColumnPlaces {
    float bottom = 0;  ///< of the area that the columns have
    float labels_left, labels_right;
    std::vector<Area> columns;  ///< with head and total
    AxisPlace rows;             ///< of the keys that are shown
    int first;                  ///< of the keys that are shown
    float totals;               ///< top
    bool has_others, two_lines;

    int key(int i) const { return first + i; }
};

struct Context {
    Desk& desk;
    const Ui& ui;
    const StepScene& scene;
    const ColumnPlaces& at;
    ImDrawList* list;
};

/// The colors of a step's bars.
ColorScale colors_of(const Context& c, int step) {
    return step_scale(c.scene.step(step), c.scene.ranges[static_cast<std::size_t>(step)],
                      c.desk.document.presentation().colormap);
}

float label_width(const Ui& ui, const StepScene& scene, float most) {
    float width = ui.px(40);
    const auto count = std::min(static_cast<std::size_t>(scene.row.keys()), k_measured_keys);
    for (std::size_t j = 0; j < count; ++j)
        width = std::max(width, text_width(ui.fonts.strong, legible(scene.key_label(static_cast<int>(j)))));
    return std::min(width, most);
}

/// The first key shown of a row too long for the view: that of the wheel, moved so that a key that was just
/// chosen is seen.
int first_key(StepPlayback& playback, const StepScene& scene, int shown) {
    const Cell chosen{scene.row.row, scene.key};
    const int last = scene.row.keys() - shown;
    if (shown >= scene.row.keys()) return playback.first_key = 0;
    const bool pointed = scene.weights.trace && playback.in_sight == chosen;
    if (!pointed) {
        if (chosen.column < playback.first_key || chosen.column >= playback.first_key + shown)
            playback.first_key = chosen.column - shown / 2;
        playback.in_sight = chosen;
    }
    return playback.first_key = std::clamp(playback.first_key, 0, last);
}

ColumnPlaces lay_out(const Ui& ui, const StepScene& scene, const Area& area) {
    ColumnPlaces at{};
    at.labels_left = area.min.x;
    at.labels_right = area.min.x + label_width(ui, scene, 0.16f * area.width());
    const float left = at.labels_right + ui.px(10), gap = ui.px(k_column_gap);
    const int count = scene.columns();
    const float shares = static_cast<float>(count) + (scene.has_products() ? k_products - 1 : 0);
    const float each = (area.max.x - left - gap * static_cast<float>(count - 1)) / shares;
    const float below = ui.px(scene.has_products() ? k_sum : k_total);
    const float top = area.min.y + ui.px(k_column_head);
    const float room = area.max.y - below - top;
    const int keys = scene.row.keys();
    const float most = static_cast<float>(keys) * ui.px(k_least_pitch);
    at.has_others = most > room;
    const int fits =
        at.has_others ? std::max(1, static_cast<int>((room - ui.px(k_others)) / ui.px(k_least_pitch))) : keys;
    const int shown = std::min(keys, fits);
    const float pitch = at.has_others ? ui.px(k_least_pitch)
                                      : std::min(ui.px(k_most_key_pitch), room / static_cast<float>(shown));
    at.first = first_key(scene.playback, scene, shown);
    at.rows = {shown, top, top + pitch * static_cast<float>(shown), top, pitch};
    at.bottom = area.max.y;
    at.totals = at.rows.end() + ui.px(at.has_others ? k_others : 0);
    at.two_lines = pitch >= ui.px(k_two_lines) && each < ui.px(160);
    float x = left;
    for (int i = 0; i < count; ++i) {
        const bool products = scene.step(i).kind == Kind::products;
        const float width = products ? k_products * each : each;
        at.columns.push_back({{x, area.min.y}, {x + width, at.totals + below}});
        x += width + gap;
    }
    return at;
}

// ---- bars

/// How far a step's bars have grown: at once, but for the moments in which it is taken.
float grown(const StepScene& scene, int step) {
    const double share = scene.playback.share(step);
    if (!scene.playback.playing || share >= 1) return share > 0 ? 1.0f : 0.0f;
    const double seconds = step == 0 ? (share - k_terms_reveal) * 3 : share * k_step_seconds;
    const double part = std::clamp(seconds / k_ease_seconds, 0.0, 1.0);
    return static_cast<float>(1 - (1 - part) * (1 - part));
}

/// A row's number and bar, within these ends.
struct BarPlace {
    float left, right, top, bottom;
    float zero, per_unit;
};

BarPlace bar_place(const Context& c, int step, int i) {
    const Area& column = c.at.columns[static_cast<std::size_t>(step)];
    const StepRange range = c.scene.ranges[static_cast<std::size_t>(step)];
    const bool beside = !c.at.two_lines && column.width() >= c.ui.px(k_least_beside);
    const float number = beside ? text_width(c.ui.fonts.mono_small, "-0.000") + c.ui.px(6) : 0;
    BarPlace at{column.min.x + c.ui.px(k_pad), column.max.x - c.ui.px(k_pad) - number, 0, 0, 0, 0};
    const float begin = c.at.rows.begin(i), pitch = c.at.rows.pitch();
    if (c.at.two_lines) {
        const float middle = begin + 0.5f * pitch;
        at.top = middle + c.ui.px(2);
        at.bottom = at.top + std::min(c.ui.px(11), 0.5f * pitch - c.ui.px(3));
    } else {
        const float gap = std::max(pitch >= c.ui.px(10) ? c.ui.px(2) : 1, (pitch - c.ui.px(k_thickest)) / 2);
        at.top = begin + gap;
        at.bottom = begin + pitch - gap;
    }
    at.per_unit = (at.right - at.left) / static_cast<float>(range.max - range.min);
    at.zero = at.left - static_cast<float>(range.min) * at.per_unit;
    return at;
}

void hatched(const Context& c, const Area& area) {
    c.list->AddRectFilled(area.min, area.max, ink(c.ui.theme.masked));
    c.list->PushClipRect(area.min, area.max, true);
    for (float x = area.min.x - area.height(); x < area.max.x; x += c.ui.px(5))
        c.list->AddLine({x, area.max.y}, {x + area.height(), area.min.y}, ink(c.ui.theme.hatch), c.ui.px(1));
    c.list->PopClipRect();
}

/// A number beside its bar: what rounds to zero is "0.000".
std::string brief_text(double value) {
    return value != 0 && std::abs(value) < 0.0005 ? fixed_text(value, 3) : cell_text(value);
}

/// Closed keys are hatched where the mask closes them, and have nothing after it.
bool is_closed_in(const StepScene& scene, int step, int key) {
    const RowStep& at = scene.step(step);
    const double number = at.numbers[static_cast<std::size_t>(key)];
    return scene.row.closed[static_cast<std::size_t>(key)] && at.kind != Kind::scores &&
           (number == -INFINITY || number == 0);
}

void bar(const Context& c, int step, int i) {
    const int key = c.at.key(i);
    const BarPlace at = bar_place(c, step, i);
    const double number = c.scene.step(step).numbers[static_cast<std::size_t>(key)];
    const bool adds_up =
        step == 0 && key == c.scene.key && c.scene.terms() > 0 && c.scene.playback.share(0) < 1;
    double shown = number * grown(c.scene, step);
    if (adds_up) {
        shown = 0;
        for (int k = 0; k < c.scene.terms_shown(); ++k)
            shown += c.scene.score.terms[std::size_t(k)].product();
    }
    const bool closed = is_closed_in(c.scene, step, key);
    if (closed)
        hatched(c, {{at.left, at.top}, {at.right, at.bottom}});
    else if (std::isfinite(shown) && shown != 0) {
        const float end = std::clamp(at.zero + static_cast<float>(shown) * at.per_unit, at.left, at.right);
        const float low = std::min(end, at.zero), high = std::max({end, at.zero, low + 1});
        value_bar(c.ui, *c.list, {{low, at.top}, {high, at.bottom}}, colors_of(c, step).color(number));
    }
    if (grown(c.scene, step) <= 0 && !adds_up) return;
    const Area& column = c.at.columns[static_cast<std::size_t>(step)];
    if (!c.at.two_lines && (column.width() < c.ui.px(k_least_beside) || c.at.rows.pitch() < c.ui.px(12)))
        return;
    const float y = c.at.two_lines ? at.top - c.ui.px(15)
                                   : c.at.rows.middle(i) - compat::font_size(*c.ui.fonts.mono_small) / 2;
    const bool lit = key == c.scene.lit_key;
    const Kind kind = c.scene.step(step).kind;
    const bool is_of_weights = kind == Kind::weights || kind == Kind::exponentials;
    const std::string text = closed && number == -INFINITY ? "−∞"
                             : is_of_weights               ? weight_text(number)
                                                           : brief_text(adds_up ? shown : number);
    // A number does not touch the axis of a column without numbers above zero.
    const float end = column.max.x - c.ui.px(k_pad);
    const float right = std::abs(at.zero - end) < 1 ? end - c.ui.px(4) : end,
                left = right - text_width(c.ui.fonts.mono_small, text) - c.ui.px(2);
    // Nor is it crossed by the axis of one with few.
    if (c.at.two_lines && left < at.zero && at.zero < right)
        c.list->AddRectFilled({left, y}, {right, y + compat::font_size(*c.ui.fonts.mono_small)},
                              ink(c.scene.current == step ? c.ui.theme.raised : c.ui.theme.background));
    draw_text(c.list, c.ui.fonts.mono_small, {right, y},
              ink(closed                      ? c.ui.theme.faint
                  : lit || key == c.scene.key ? c.ui.theme.text
                                              : c.ui.theme.secondary),
              text, Align::right);
}

// ---- values

/// The number farthest from 0; NaN if one of them is NaN.
double farthest(std::span<const double> numbers) {
    double most = 0;
    for (const double each : numbers) {
        if (std::isnan(each)) return each;
        if (std::abs(each) > std::abs(most)) most = each;
    }
    return most;
}

/// A row of features as bars up and down from 0, `part` of their length; as colored cells where it is too low
/// for bars. Where features are narrower than a pixel, the farthest from 0 of each.
void features(const Context& c, const Area& area, const std::vector<double>& numbers, const ColorScale& scale,
              float part, float opacity) {
    const auto count = static_cast<int>(numbers.size());
    const int cells = std::max(1, std::min(count, static_cast<int>(area.width())));
    const bool bars = area.height() >= c.ui.px(k_least_bars);
    const float width = area.width() / static_cast<float>(cells),
                gap = width >= c.ui.px(5) && bars ? 1.0f : 0.0f, zero = (area.min.y + area.max.y) / 2,
                half = area.height() / 2 - c.ui.px(1);
    for (int i = 0; i < cells; ++i) {
        const auto edge = [&](int cell) {
            return static_cast<std::size_t>(static_cast<long>(cell) * count / cells);
        };
        const double number = farthest(std::span(numbers).subspan(edge(i), edge(i + 1) - edge(i)));
        const float x = area.min.x + width * static_cast<float>(i),
                    end = zero - static_cast<float>(number * part / scale.max) * half;
        const bool whole = !bars || !std::isfinite(number);
        if (!whole && std::abs(end - zero) < 0.5f) continue;
        const Rgb8 color = std::isnan(number) ? c.ui.theme.nan : scale.color(number);
        c.list->AddRectFilled(
            {x + gap / 2, whole ? area.min.y : std::min(zero, end)},
            {x + width - gap / 2, whole ? area.max.y : std::max({zero, end, std::min(zero, end) + 1})},
            ink(color, bars ? 1 : opacity));
    }
}

/// A key's value behind its products, which are a part of it.
void shadows(const Context& c, const Area& area, const std::vector<double>& value, double most) {
    const auto count = static_cast<float>(value.size());
    const float width = area.width() / count, zero = (area.min.y + area.max.y) / 2,
                half = area.height() / 2 - c.ui.px(1);
    for (std::size_t k = 0; k < value.size(); ++k) {
        if (!std::isfinite(value[k])) continue;
        const float x = area.min.x + width * static_cast<float>(k),
                    end = zero - static_cast<float>(value[k] / most) * half;
        c.list->AddRectFilled({x + 0.5f, std::min(zero, end)}, {x + width - 0.5f, std::max(zero, end)},
                              ink(c.ui.theme.text, k_shadow));
    }
}

/// How opaque a row of products is that is drawn as cells: the fainter, the less weight its key has. Near 0
/// it would else be the lightest on a dark surface.
float row_opacity(const StepScene& scene, int key) {
    const double weight = std::abs(scene.row.weights[static_cast<std::size_t>(key)]);
    return 0.15f + 0.85f * static_cast<float>(std::min(std::isnan(weight) ? 1 : weight, 1.0));
}

/// The height of a row of products and, where these are bars, of their sum: both are on one scale.
float products_height(const Context& c) {
    return std::min(c.ui.px(k_sum - 10), c.at.rows.pitch() - c.ui.px(3));
}

void products(const Context& c, int step) {
    const Area& column = c.at.columns[static_cast<std::size_t>(step)];
    const ColorScale scale = colors_of(c, step);
    const float high = products_height(c), part = grown(c.scene, step);
    const float of_feature =
        (column.width() - c.ui.px(2 * k_pad)) / static_cast<float>(c.scene.row.values->shape().columns);
    const bool has_shadows = high >= c.ui.px(k_least_bars) && of_feature >= k_least_shadow &&
                             largest_value(c.scene.row) <= scale.max;
    for (int i = 0; i < c.at.rows.count && part > 0; ++i) {
        const float middle = c.at.rows.middle(i);
        const Area area{{column.min.x + c.ui.px(k_pad), middle - high / 2},
                        {column.max.x - c.ui.px(k_pad), middle + high / 2}};
        const int key = c.at.key(i);
        if (c.scene.row.closed[static_cast<std::size_t>(key)]) {
            hatched(c, area);
            continue;
        }
        c.list->AddLine({area.min.x, middle}, {area.max.x, middle}, ink(c.ui.theme.faint, 0.35f));
        if (has_shadows) shadows(c, area, value_of_key(c.scene.row, key), scale.max);
        features(c, area, weighted_value(c.scene.row, key), scale, part, row_opacity(c.scene, key));
    }
    if (part <= 0) return;
    const float y = column.min.y + c.ui.px(40);
    draw_text(c.list, c.ui.fonts.mono_small, {column.max.x - c.ui.px(k_pad), y}, ink(c.ui.theme.faint),
              "± " + short_text(scale.max), Align::right);
    if (has_shadows && column.width() >= c.ui.px(k_least_beside + 40))
        draw_text(c.list, c.ui.fonts.caption, {column.min.x + c.ui.px(k_pad), y}, ink(c.ui.theme.faint),
                  fmt::format("shaded: {}", c.scene.row.values->info->symbol));
}

/// Outlines the feature that is pointed at or locked in the context: in the products and in their sum.
void outline_feature(const Context& c, const Area& column, const RowStep& of) {
    const int feature = lit_feature(c.desk, c.scene);
    if (feature < 0) return;
    const auto count = static_cast<float>(of.numbers.size());
    const float left = column.min.x + c.ui.px(k_pad), width = (column.width() - c.ui.px(2 * k_pad)) / count,
                x = left + width * static_cast<float>(feature);
    c.list->AddRect({x - 1, c.at.rows.begin(0)}, {std::max(x + width, x + 1) + 1, column.max.y - c.ui.px(4)},
                    ink(c.ui.theme.text, 0.7f));
}

/// The context, below the products whose sum it is: a bar for each feature.
void sum(const Context& c, int column_index) {
    const int step = column_index + 1;
    const RowStep& of = c.scene.step(step);
    const Area& column = c.at.columns[static_cast<std::size_t>(column_index)];
    const Area area{{column.min.x + c.ui.px(k_pad), c.at.totals + c.ui.px(6)},
                    {column.max.x - c.ui.px(k_pad), column.max.y - c.ui.px(4)}};
    const float zero = (area.min.y + area.max.y) / 2, part = grown(c.scene, step),
                high = products_height(c) >= c.ui.px(k_least_bars) ? products_height(c) : area.height();
    const bool current = c.scene.current == step;
    const StepRange range = c.scene.ranges[static_cast<std::size_t>(step)];
    c.list->AddLine({area.min.x, zero}, {area.max.x, zero}, ink(c.ui.theme.faint, 0.7f));
    if (part > 0) {
        const Area bars{{area.min.x, zero - high / 2}, {area.max.x, zero + high / 2}};
        features(c, bars, of.numbers, colors_of(c, step), part, 1);
        outline_feature(c, column, of);
    }
    const float right = column.min.x - c.ui.px(10);
    draw_text(c.list, current ? c.ui.fonts.strong : c.ui.fonts.body, {right, zero - c.ui.px(4)},
              ink(part > 0 ? c.ui.theme.text : c.ui.theme.faint), of.title, Align::right);
    const float below = zero + c.ui.px(13);
    if (below + compat::font_size(*c.ui.fonts.mono_small) <= c.at.bottom + c.ui.px(6))
        draw_text(c.list, c.ui.fonts.mono_small, {right, below}, ink(c.ui.theme.faint),
                  part > 0 ? "± " + short_text(range.max) : of.symbol, Align::right);
    if (current)
        c.list->AddRect({area.min.x - c.ui.px(4), area.min.y - c.ui.px(2)},
                        {area.max.x + c.ui.px(4), area.max.y + c.ui.px(3)}, ink(c.ui.theme.accent),
                        c.ui.px(4), 0, c.ui.px(1.5f));
}

// ---- a column

/// The title in full, or the symbol where it does not fit.
std::string fitting(ImFont* font, const RowStep& step, float room) {
    if (text_width(font, step.title) <= room || step.symbol.empty()) return fitted(font, step.title, room);
    return fitted(font, step.symbol, room);
}

void head(const Context& c, int index, bool reached, bool current) {
    const Area& column = c.at.columns[static_cast<std::size_t>(index)];
    const RowStep& step = c.scene.step(index);
    const float left = column.min.x + c.ui.px(k_pad), room = column.width() - c.ui.px(2 * k_pad);
    const Rgb8 strong = current ? c.ui.theme.text : reached ? c.ui.theme.secondary : c.ui.theme.faint;
    draw_text(c.list, c.ui.fonts.strong, {left, column.min.y + c.ui.px(5)}, ink(strong),
              fitting(c.ui.fonts.strong, step, room));
    help_over(c.ui, {column.min, {column.max.x, column.min.y + c.ui.px(38)}},
              fmt::format("{} ({})\n{}\n{}", step.title, step.symbol, step.formula, step.sentence));
    if (text_width(c.ui.fonts.caption, step.caption) <= room)
        draw_text(c.list, c.ui.fonts.caption, {left, column.min.y + c.ui.px(22)},
                  ink(reached ? c.ui.theme.secondary : c.ui.theme.faint), step.caption);
    if (step.kind == Kind::products) return;
    const StepRange range = c.scene.ranges[static_cast<std::size_t>(index)];
    const BarPlace bars = bar_place(c, index, 0);
    const float y = column.min.y + c.ui.px(40);
    const ImU32 faint = ink(c.ui.theme.faint);
    ImFont* font = c.ui.fonts.mono_small;
    const std::string low = range.min < 0 ? short_text(range.min) : "",
                      high = range.max > 0 ? short_text(range.max) : "";
    const float zero_width = text_width(font, "0"), low_width = text_width(font, low),
                high_width = text_width(font, high), space = c.ui.px(5);
    const float zero = std::clamp(bars.zero, bars.left + zero_width / 2, bars.right - zero_width / 2);
    draw_text(c.list, font, {zero, y}, faint, "0", Align::center);
    if (!low.empty() && bars.left + low_width + space <= zero - zero_width / 2)
        draw_text(c.list, font, {bars.left, y}, faint, low);
    if (!high.empty() && bars.right - high_width - space >= zero + zero_width / 2)
        draw_text(c.list, font, {bars.right, y}, faint, high, Align::right);
}

void zero_line(const Context& c, int index, bool reached) {
    if (c.scene.step(index).kind == Kind::products) return;
    const BarPlace bars = bar_place(c, index, 0);
    c.list->AddLine({bars.zero, c.at.rows.begin(0) - c.ui.px(3)}, {bars.zero, c.at.rows.end()},
                    ink(c.ui.theme.faint, reached ? 0.7f : 0.35f));
}

void total(const Context& c, int index) {
    const Area& column = c.at.columns[static_cast<std::size_t>(index)];
    const std::string& text = c.scene.step(index).total;
    if (text.empty()) return;
    const float right = column.max.x - c.ui.px(k_pad);
    draw_text(c.list, c.ui.fonts.mono_small, {right, c.at.totals + c.ui.px(6)}, ink(c.ui.theme.text), text,
              Align::right);
}

std::string tooltip_text(const StepScene& scene, int step, int key) {
    const double number = scene.step(step).numbers[static_cast<std::size_t>(key)];
    return fmt::format("{}   {}\n{}", legible(scene.key_label(key)),
                       is_closed_in(scene, step, key) ? std::string(k_closed_by_mask) : exact_text(number),
                       scene.step(step).formula);
}

/// The mouse on a column: each key is the cell of the step's stage or, within the softmax, of the weights.
void use_column(const Context& c, int index) {
    const Area& column = c.at.columns[static_cast<std::size_t>(index)];
    ImGui::SetCursorScreenPos({column.min.x, c.at.rows.begin(0)});
    ImGui::InvisibleButton(fmt::format("step {}", index).c_str(),
                           {column.width(), std::max(1.0f, c.at.rows.end() - c.at.rows.begin(0))});
    if (!ImGui::IsItemHovered()) return;
    const int key = c.at.key(c.at.rows.at(ImGui::GetIO().MousePos.y));
    const RowStep& step = c.scene.step(index);
    const Cell cell{c.scene.row.row, key};
    if (step.kind != Kind::products && step.stage)
        return use_cell(c.desk, c.ui, c.scene.shown(*step.stage), cell);
    point_at(c.desk, c.scene.weights, cell);
    if (step.kind != Kind::products) tooltip(c.ui, tooltip_text(c.scene, index, key));
    if (ImGui::IsMouseReleased(0) && was_click()) toggle_lock(c.desk, c.scene.weights, cell);
    if (step.kind != Kind::products) return;
    const std::vector<double> values = weighted_value(c.scene.row, key);
    const float left = column.min.x + c.ui.px(k_pad), width = column.width() - c.ui.px(2 * k_pad);
    const int feature =
        cell_at((ImGui::GetIO().MousePos.x - left) / width * static_cast<float>(values.size()),
                static_cast<int>(values.size()));
    tooltip(c.ui, fmt::format("{} · {}   {}\n{}", legible(c.scene.key_label(key)), feature + 1,
                              exact_text(values[static_cast<std::size_t>(feature)]), step.formula));
}

/// The mouse on the sum: each feature is a cell of the context.
void use_sum(const Context& c, int column_index) {
    const Area& column = c.at.columns[static_cast<std::size_t>(column_index)];
    const RowStep& step = c.scene.step(column_index + 1);
    const float left = column.min.x + c.ui.px(k_pad), width = column.width() - c.ui.px(2 * k_pad);
    ImGui::SetCursorScreenPos({left, c.at.totals + c.ui.px(4)});
    ImGui::InvisibleButton("sum", {width, std::max(1.0f, column.max.y - c.at.totals - c.ui.px(6))});
    const auto count = static_cast<int>(step.numbers.size());
    const int feature =
        cell_at((ImGui::GetIO().MousePos.x - left) / width * static_cast<float>(count), count);
    use_cell(c.desk, c.ui, c.scene.shown(*step.stage), {c.scene.row.row, feature});
}

void column(const Context& c, int index) {
    const Area& place = c.at.columns[static_cast<std::size_t>(index)];
    const bool current = c.scene.current == index, reached = c.scene.playback.share(index) > 0;
    const Area frame{place.min, {place.max.x, c.at.totals + c.ui.px(k_total)}};
    if (current) {
        c.list->AddRectFilled(frame.min, frame.max, ink(c.ui.theme.raised), c.ui.px(4));
        c.list->AddRectFilled(frame.min, {frame.max.x, frame.min.y + c.ui.px(2)}, ink(c.ui.theme.accent));
    } else if (!reached) {
        c.list->AddRect(frame.min, frame.max, ink(c.ui.theme.line), c.ui.px(4));
    }
    head(c, index, reached, current);
    zero_line(c, index, reached);
    if (!reached) return;
    if (c.scene.step(index).kind == Kind::products) return products(c, index);
    for (int i = 0; i < c.at.rows.count; ++i) bar(c, index, i);
    if (c.scene.playback.share(index) >= 1) total(c, index);
}

/// The key whose score is added up, unless a feature of the sum is, to which every key adds; −1: none.
int outlined_key(const Context& c) {
    return c.scene.lit_key < 0 && lit_feature(c.desk, c.scene) >= 0 ? -1 : c.scene.key;
}

void labels(const Context& c) {
    const int outlined = outlined_key(c);
    const int stride = label_stride(c.ui, c.at.rows.pitch()), lit = c.scene.lit_key - c.at.first;
    for (int i = 0; i < c.at.rows.count; ++i) {
        if (!label_shown(i, stride, lit)) continue;
        const int key = c.at.key(i);
        const bool strong = key == c.scene.lit_key || key == outlined;
        ImFont* font = strong ? c.ui.fonts.strong : c.ui.fonts.body;
        const Rgb8 color = c.scene.row.closed[static_cast<std::size_t>(key)] ? c.ui.theme.faint
                           : strong                                          ? c.ui.theme.text
                                                                             : c.ui.theme.secondary;
        draw_text(c.list, font, {c.at.labels_right, c.at.rows.middle(i) - compat::font_size(*font) / 2},
                  ink(color),
                  fitted(font, legible(c.scene.key_label(key)), c.at.labels_right - c.at.labels_left),
                  Align::right);
    }
}

/// The keys that are not shown, in one line.
void others(const Context& c) {
    if (!c.at.has_others) return;
    double weight = 0;
    for (int j = 0; j < c.scene.row.keys(); ++j)
        if (j < c.at.first || j >= c.at.first + c.at.rows.count)
            weight += c.scene.row.weights[static_cast<std::size_t>(j)];
    draw_text(c.list, c.ui.fonts.caption, {c.at.labels_left, c.at.rows.end() + c.ui.px(3)},
              ink(c.ui.theme.secondary),
              fmt::format("+ {} others, weight {}  ·  scroll for more", c.scene.row.keys() - c.at.rows.count,
                          reading_text(weight)));
}

void scroll(const Context& c, const Area& area) {
    const float notches = ImGui::GetIO().MouseWheel;
    if (notches == 0 || !c.at.has_others || !area.contains(ImGui::GetIO().MousePos)) return;
    c.scene.playback.first_key -= static_cast<int>(std::lround(3 * notches));
}

}  // namespace

int lit_feature(const Desk& desk, const StepScene& scene) {
    if (!scene.has_products()) return -1;
    const RowStep& sum = scene.row.steps.back();
    const Highlight lit = current_highlight(desk.state, desk.document.presentation(), &scene.trace);
    const int feature = lit_column(lit, *sum.stage->info);
    return feature < static_cast<int>(sum.numbers.size()) ? feature : -1;
}

int StepScene::terms_shown() const {
    const double share = playback.share(0) / (playback.playing ? double{k_terms_reveal} : 1.0);
    return std::clamp(static_cast<int>(std::floor(share * terms() + 1e-6)), 0, terms());
}

void step_columns(Desk& desk, const Ui& ui, const StepScene& scene, const Area& area) {
    const ColumnPlaces at = lay_out(ui, scene, area);
    const Context c{desk, ui, scene, at, ImGui::GetWindowDrawList()};
    scroll(c, area);
    for (int i = 0; i < scene.columns(); ++i) use_column(c, i);
    const int last = scene.columns() - 1;
    if (scene.has_products()) use_sum(c, last);
    for (int i = 0; i < scene.columns(); ++i) column(c, i);
    if (scene.has_products()) sum(c, last);
    const int outlined = outlined_key(c), lit = outlined - at.first;
    if (outlined >= 0 && lit >= 0 && lit < at.rows.count)
        c.list->AddRect({at.columns.front().min.x, at.rows.begin(lit)},
                        {at.columns.back().max.x, at.rows.begin(lit + 1)},
                        ink(ui.theme.accent, scene.lit_key == scene.key ? 0.8f : 0.35f), ui.px(3));
    labels(c);
    others(c);
}

namespace {

/// The range of the partial sums of finite products, 0 included.
std::pair<double, double> range_of_sums(const Proof& proof) {
    double low = 0, high = 0, at = 0;
    for (const ProofTerm& term : proof.terms) {
        at += std::isfinite(term.product()) ? term.product() : 0;
        low = std::min(low, at);
        high = std::max(high, at);
    }
    return {low, high};
}

/// What the terms make and their name, and the sum of those that are shown.
void terms_title(const Ui& ui, const ShownSum& sum, const Area& area) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Proof& proof = sum.proof;
    const int shown = sum.shown;
    const std::string title = fmt::format("{}: {}", sum.of, proof.terms_title.text());
    const float width = draw_text(list, ui.fonts.strong, area.min, ink(ui.theme.text), title, Align::left,
                                  0.6f * area.width());
    double so_far = 0;
    for (int k = 0; k < shown; ++k) so_far += proof.terms[std::size_t(k)].product();
    const bool done = shown == sum.terms();
    draw_text(list, ui.fonts.mono, {area.min.x + width + ui.px(16), area.min.y},
              ink(done ? ui.theme.text : ui.theme.secondary),
              done ? "= " + cell_text(proof.terms_result)
                   : fmt::format("{} of {}: {}", shown, sum.terms(), cell_text(so_far)));
}

/// The width that a term gets where there is room: that of its name, if it is not too long.
float widest_term(const Ui& ui, const Proof& proof) {
    float width = ui.px(44);
    for (const ProofTerm& term : proof.terms)
        width = std::max(width, text_width(ui.fonts.mono_small, term.label) + ui.px(8));
    return std::min(width, ui.px(96));
}

/// The terms as a staircase, each from the sum of those before it; at the end the whole sum.
void staircase(const Ui& ui, const ShownSum& of, const Area& plot, double low, double high) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Proof& proof = of.proof;
    const int shown = of.shown;
    const float pitch = std::min(plot.width() / static_cast<float>(of.terms() + 1), widest_term(ui, proof));
    const auto x = [&](double k) { return plot.min.x + pitch * static_cast<float>(k); };
    const auto y = [&](double value) {
        return plot.max.y - static_cast<float>((value - low) / (high - low)) * plot.height();
    };
    double most = 1e-30;
    for (const ProofTerm& term : proof.terms)
        if (std::isfinite(term.product())) most = std::max(most, std::abs(term.product()));
    const ColorScale colors{&diverging_colormap(), -most, most};
    list->AddLine({x(0), y(0)}, {x(of.terms() + 1), y(0)}, ink(ui.theme.faint, 0.7f));
    const float gap = pitch >= ui.px(6) ? ui.px(1.5f) : 0;
    const auto block = [&](int k, double from, double to, Rgb8 color) {
        const float top = std::min(y(from), y(to));
        value_bar(
            ui, *list,
            {{x(k) + gap, top}, {std::max(x(k + 1) - gap, x(k) + 1), std::max({y(from), y(to), top + 1})}},
            color);
    };
    const auto name = [&](int k, Rgb8 color, const std::string& text, float width) {
        draw_text(list, ui.fonts.mono_small, {x(k + 0.5), plot.max.y + ui.px(2)}, ink(color), text,
                  Align::center, width);
    };
    double sum = 0;
    for (int k = 0; k < shown; ++k) {
        const double product = proof.terms[std::size_t(k)].product();
        if (!std::isfinite(product)) break;
        block(k, sum, sum + product, colors.color(product));
        sum += product;
        if (k + 1 < of.terms()) list->AddLine({x(k), y(sum)}, {x(k + 2), y(sum)}, ink(ui.theme.faint, 0.4f));
    }
    const int stride = std::max(1, static_cast<int>(std::ceil(ui.px(26) / pitch)));
    for (int k = 0; k < of.terms(); k += stride)
        name(k, ui.theme.faint, proof.terms[std::size_t(k)].label, stride == 1 ? pitch : 0);
    if (shown != of.terms() || !std::isfinite(sum)) return;
    block(of.terms(), 0, sum, ui.theme.secondary);
    name(of.terms(), ui.theme.secondary, "sum", 0);
}

}  // namespace

void added_terms(const Ui& ui, const ShownSum& sum, const Area& area) {
    terms_title(ui, sum, area);
    const auto [low, high] = range_of_sums(sum.proof);
    const Area plot{{area.min.x, area.min.y + ui.px(24)}, {area.max.x, area.max.y - ui.px(14)}};
    if (plot.height() < ui.px(24) || !(high > low)) return;
    staircase(ui, sum, plot, low, high);
}

}  // namespace attnscope
