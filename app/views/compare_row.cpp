#include "app/views/compare_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "app/ui/widgets.h"
#include "core/graph/explain.h"
#include "core/graph/row_entropy.h"
#include "core/graph/row_steps.h"
#include "core/number_text.h"

namespace attnscope {
namespace {

constexpr float k_bar_pitch = 22, k_least_bar_pitch = 18;
constexpr float k_bar_labels = 110;  ///< units; the names of the keys

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

/// The row's name, how many of its keys are shown, and the entropy of weights.
void row_heading(const Ui& ui, const CompareScene& scene, int row_a, int row_b, std::size_t shown,
                 const Area& area) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Stage& stage = *scene.b->stage;
    const float title =
        draw_text(list, ui.fonts.strong, area.min, ink(ui.theme.text),
                  fmt::format("Row “{}”", legible(scene.b->row_label(row_b))), Align::left, area.width());
    std::string facts = "A above, B below";
    if (shown < static_cast<std::size_t>(scene.b->columns()))
        facts += fmt::format("  ·  the {} largest of {}", shown, scene.b->columns());
    const bool has_entropy = stage.info->role == StageRole::weights && stage.part == StageKey::Part::value;
    if (has_entropy && row_a >= 0)
        facts +=
            fmt::format("  ·  A: {}  ·  B: {}", entropy_text(*scene.a, row_a), entropy_text(*scene.b, row_b));
    draw_text(list, ui.fonts.caption, {area.min.x + title + ui.px(12), area.min.y + ui.px(2)},
              ink(ui.theme.secondary), facts, Align::left, area.width() - title - ui.px(24));
}

/// From the smallest to the largest number of the bars, 0 included; of weights from 0 to 1 at least.
std::pair<double, double> range_of(const std::vector<BarOfKey>& bars, bool are_weights) {
    double low = 0, high = are_weights ? 1 : 0;
    for (const BarOfKey& bar : bars)
        for (const auto& value : {bar.a, bar.b})
            if (value && std::isfinite(*value)) {
                low = std::min<double>(low, *value);
                high = std::max<double>(high, *value);
            }
    return {low, high};
}

/// The help of a bar: its numbers of A and B in full, and their difference.
std::string bar_help(const CompareScene& scene, const BarOfKey& bar) {
    std::string text = legible(scene.b->column_label(bar.column_b));
    const auto add = [&](const char* name, const std::optional<float>& value) {
        text += fmt::format("\n{}   {}", name, value ? exact_text(*value) : "none: masked, or not in it");
    };
    add("A", bar.a);
    add("B", bar.b);
    if (bar.a && bar.b) text += "\nB − A   " + exact_text(double{*bar.b} - double{*bar.a});
    return text;
}

}  // namespace

void compare_row(Desk& desk, const Ui& ui, const CompareScene& scene, const Area& area) {
    const int row_b = chosen_row(scene, lit_cells(desk, scene));
    if (row_b >= scene.b->rows()) return;
    const int row_a = scene.difference->rows[static_cast<std::size_t>(row_b)];
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float room = area.max.y - area.min.y - ui.px(30);
    const auto most = static_cast<std::size_t>(std::max(1.0f, room / ui.px(k_least_bar_pitch)));
    const std::vector<BarOfKey> bars = bars_of(scene, row_a, row_b, most);
    const std::vector<NumberColumn> columns = number_columns(scene, row_a, row_b, bars);
    const float number = text_width(ui.fonts.mono_small, "-00.0000") + ui.px(10);
    const float values = number * static_cast<float>(columns.size());
    row_heading(ui, scene, row_a, row_b, bars.size(), {area.min, {area.max.x - values, area.max.y}});
    const auto [low, high] = range_of(bars, scene.b->stage->info->unit == Unit::probability);
    const float labels = ui.px(k_bar_labels);
    const float left = area.min.x + labels + ui.px(10), right = area.max.x - values - ui.px(8);
    if (right - left < ui.px(40) || !(high > low)) return;
    const auto x_of = [&, from_value = low, to_value = high](double value) {
        return left + static_cast<float>((value - from_value) / (to_value - from_value)) * (right - left);
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
            value_bar(ui, *list, {{from, top}, {std::max(to, from + 1), top + ui.px(8)}},
                      scale.color(*value));
        };
        bar(each.a, y + ui.px(1));
        bar(each.b, y + ui.px(10));
        each_column([&](const NumberColumn& column, float at, ImU32 color) {
            if (const auto value = column.of(each))
                draw_text(list, ui.fonts.mono_small, {at, y + ui.px(3)}, color, reading_text(*value),
                          Align::right);
        });
        help_over(ui, {{area.min.x, y}, {area.max.x, y + pitch}}, bar_help(scene, each));
        y += pitch;
    }
}

}  // namespace attnscope
