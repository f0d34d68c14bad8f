// What panels and views are drawn with.
#pragma once

#include <imgui.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/heatmap/heatmap_renderer.h"
#include "app/heatmap/image_textures.h"
#include "app/ui/controls.h"
#include "app/ui/imgui_layer.h"
#include "app/ui/shaped_text.h"
#include "app/ui/text_field.h"
#include "core/picture/theme.h"

namespace attnscope {

/// Lives for one frame.
struct Ui {
    const Fonts& fonts;
    const Theme& theme;
    HeatmapRenderer& heatmaps;
    ImageTextures& images;
    Controls& controls;
    const std::function<void(const std::string&)>& copy;  ///< puts text on the clipboard
    float scale;                                          ///< pixels per layout unit

    float px(float units) const { return units * scale; }
};

/// A color of the theme for a draw list.
ImU32 ink(Rgb8 color, float alpha = 1);

/// A rectangle in pixels.
struct Area {
    ImVec2 min;
    ImVec2 max;
    float width() const { return max.x - min.x; }
    float height() const { return max.y - min.y; }
    bool contains(ImVec2 p) const { return p.x >= min.x && p.x < max.x && p.y >= min.y && p.y < max.y; }
    operator Extent() const { return {min.x, min.y, max.x, max.y}; }
};

/// The cell at a position, which is measured in cells from the start of the first one, clamped to 0 … count −
/// 1: the pointer may be far outside, or nowhere (NaN gives 0).
int cell_at(double position, int count);

enum class Align { left, center, right };

/// Draws one line of text; `at` is its left end, center or right end, at the top of the line. Text wider than
/// `width` is cut with "…" (0: never). Returns the width drawn.
float draw_text(ImDrawList* list, ImFont* font, ImVec2 at, ImU32 color, const std::string& text,
                Align align = Align::left, float width = 0);
float text_width(ImFont* font, const std::string& text);
/// The text, cut with "…" if it is wider than `width`.
std::string fitted(ImFont* font, const std::string& text, float width);
/// The text broken between words into lines of `width` pixels, the first `indent` shorter; at most `most`:
/// the last one is cut with "…" if the rest does not fit.
std::vector<std::string> broken_lines(ImFont* font, const std::string& text, float width, int most,
                                      float indent = 0);
/// Adds an item: text wrapped at `width` pixels, in the current font and color.
void wrapped_text(const std::string& text, float width);

/// A bar in the color of its value, outlined where that color hardly differs from the background.
void value_bar(const Ui& ui, ImDrawList& list, const Area& area, Rgb8 color);

/// Says where the control called `name` stands: the tour may point at it.
void light(const Ui& ui, std::string_view name, const Area& area);

}  // namespace attnscope
