#include "core/picture/word_lines.h"

#include <algorithm>
#include <cmath>

namespace attnscope {
namespace {

constexpr double k_weakest = 1 / 64.0;
constexpr int k_most_lines = 1500;  ///< per picture: more would be one gray area

}  // namespace

std::vector<WordLine> word_lines(std::span<const float> weights, const ColorScale& scale, int most) {
    std::vector<WordLine> lines;
    for (std::size_t j = 0; j < weights.size(); ++j) {
        const double strength = std::clamp(scale.position(weights[j]), 0.0, 1.0);
        if (std::isfinite(weights[j]) && strength >= k_weakest)
            lines.push_back({static_cast<int>(j), strength});
    }
    const auto stronger = [](const WordLine& a, const WordLine& b) {
        return a.strength > b.strength || (a.strength == b.strength && a.column < b.column);
    };
    const auto kept = std::min(lines.size(), static_cast<std::size_t>(most));
    std::partial_sort(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(kept), lines.end(),
                      stronger);
    lines.resize(kept);
    std::ranges::reverse(lines);
    return lines;
}

int lines_per_row(int rows) { return std::max(1, k_most_lines / std::max(rows, 1)); }

double others_opacity(int rows) { return 0.5 * std::sqrt(std::min(1.0, 12.0 / std::max(rows, 1))); }

double crowd_opacity(std::size_t lines) {
    const double few = 200.0 / static_cast<double>(std::max<std::size_t>(lines, 1));
    return std::clamp(std::pow(few, 0.7), 0.12, 0.9);
}

double line_opacity(double strength) { return 0.12 + 0.88 * strength; }

double opacity_alone(double strength) { return 0.35 + 0.65 * strength; }

double line_width(double strength, double pitch) {
    return 0.6 + 3.6 * strength * std::clamp(pitch / 16, 0.2, 1.0);
}

double line_height(double part) {
    // x(t) = 3/2 t (1 − t) + t³ … with handles at x = 1/2, which is 3/2 t − 3/2 t² + t³.
    double low = 0, high = 1;
    for (int step = 0; step < 30; ++step) {
        const double t = (low + high) / 2;
        (t * (1.5 + t * (t - 1.5)) < part ? low : high) = t;
    }
    return low * low * (3 - 2 * low);
}

}  // namespace attnscope
