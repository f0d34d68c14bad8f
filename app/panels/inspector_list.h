// Lists of numbers with bars in the inspector: a long one begins with its largest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "app/document/desk.h"
#include "app/panels/inspector_column.h"

namespace attnscope {

inline constexpr float k_least_bars = 16;       ///< units; narrower bars are unreadable and left out
inline constexpr std::size_t k_measured = 512;  ///< rows whose texts are measured

/// How long a list may be before it begins with its largest entries.
struct ListLength {
    int most;     ///< entries that are all shown
    int largest;  ///< that are shown of a longer list
};
inline constexpr ListLength k_one_list{24, 10}, k_two_lists{12, 6};

/// Bars to the right of a zero line, and to its left if there are negative values.
struct BarScale {
    float zero;
    float per_unit;
};

/// The scale that shows `smallest` … `largest`, and 0, between two places in x.
BarScale bar_scale(float left, float right, double smallest, double largest);
/// A bar from zero to the value; nothing for a value that is not finite.
void bar(const Column& c, const BarScale& scale, float y, float height, double value, Rgb8 color);

/// The visible rows; a list may be much longer than the panel is high.
template <typename Row>
void clipped(int count, float pitch, const Row& row) {
    ImGuiListClipper clipper;
    clipper.Begin(count, pitch);
    const float top = ImGui::GetCursorScreenPos().y;
    while (clipper.Step())
        for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
            row(i, top + static_cast<float>(i) * pitch);
    clipper.End();
}

/// Which entries of a list of `count` are shown, in which order: all, or of a long one the largest by `size`,
/// and `own` (−1: none) if it is not one of these.
template <typename Size>
std::vector<int> shown_entries(int count, bool whole, int own, const Size& size,
                               const ListLength& length = k_one_list) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    if (whole || count <= length.most) return all;
    const auto larger = [&](int a, int b) { return size(a) != size(b) ? size(a) > size(b) : a < b; };
    std::ranges::partial_sort(all, all.begin() + length.largest, larger);
    all.resize(static_cast<std::size_t>(length.largest));
    if (own >= 0 && std::ranges::find(all, own) == all.end()) all.back() = own;
    return all;
}

/// Below a long list: what its other entries sum up to, and the switch between the largest and all.
void rest_of_list(Desk& desk, const Column& c, const char* id, int count, const std::string& others,
                  const ListLength& length = k_one_list);

}  // namespace attnscope
