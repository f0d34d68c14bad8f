#include "app/views/tile_grid.h"

#include <algorithm>

namespace attnscope {
namespace {

constexpr float k_under = 30;  ///< below a small picture
constexpr float k_gap = 12;
constexpr float k_least_gap = 5;         ///< between pictures without texts
constexpr float k_least_with_text = 40;  ///< side of a small picture that has one

}  // namespace

Grid grid_of(const Ui& ui, const Area& area, int rows, int columns) {
    const auto with = [&](float gap, float under) {
        const float side = std::min((area.width() + gap) / static_cast<float>(columns) - gap,
                                    area.height() / static_cast<float>(rows) - under);
        return Grid{columns, side, gap, under};
    };
    const Grid roomy = with(ui.px(k_gap), ui.px(k_under));
    return roomy.side >= ui.px(k_least_with_text) ? roomy : with(ui.px(k_least_gap), ui.px(k_least_gap));
}

Grid grid_for(const Ui& ui, const Area& area, int count) {
    Grid best{};
    for (int columns = 1; columns <= count; ++columns) {
        const Grid grid = grid_of(ui, area, (count + columns - 1) / columns, columns);
        if (grid.side > best.side) best = grid;
    }
    // Where the height decides, the width that is left keeps the pictures apart.
    const float spare = (area.width() - best.side * static_cast<float>(best.columns)) /
                        static_cast<float>(std::max(1, best.columns - 1));
    if (!best.has_texts()) best.gap = std::max(best.gap, std::min(ui.px(k_gap), spare));
    return best;
}

Area picture_in(const Area& place, const ShownStage& shown) {
    const float ratio = static_cast<float>(shown.columns()) / static_cast<float>(shown.rows());
    return {place.min,
            {place.min.x + place.width() * std::min(1.0f, ratio),
             place.min.y + place.height() * std::min(1.0f, 1 / ratio)}};
}

void toggle_ablation(Desk& desk, const HeadPlace& place) {
    desk.document.change([&](Session& s) {
        std::vector<HeadPlace>& ablated = s.experiment.attention.ablated;
        if (std::erase(ablated, place) > 0) return;
        ablated.insert(std::ranges::lower_bound(ablated, place), place);
    });
}

}  // namespace attnscope
