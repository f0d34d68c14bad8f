// The texts that a frame draws, read back from what ImGui hands to the graphics card: where they stand, how
// they are clipped, and in which color. So every text is found, whoever drew it.
#pragma once

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/utf8.h"

namespace attnscope::test {

/// Glyphs of one line and color that follow each other.
struct ScreenText {
    std::string text;  ///< without its spaces
    ImRect box;        ///< of the glyphs' ink, in pixels
    ImRect clip;
    ImU32 color;
    float size;  ///< of the font, in pixels
    float line;  ///< the top of the line
    int window;  ///< in the order of drawing
    std::vector<ImRect> glyphs = {};

    /// What of it is visible.
    ImRect seen() const {
        ImRect part = box;
        part.ClipWithFull(clip);
        return part;
    }
    bool is_visible() const { return box.Overlaps(clip) && (color >> IM_COL32_A_SHIFT) != 0; }
};

/// The glyphs of all fonts by the corner of the atlas where they start.
inline std::map<std::pair<float, float>, std::pair<const ImFont*, const ImFontGlyph*>> known_glyphs() {
    std::map<std::pair<float, float>, std::pair<const ImFont*, const ImFontGlyph*>> known;
    for (const ImFont* font : ImGui::GetIO().Fonts->Fonts)
        for (const ImFontGlyph& glyph : font->Glyphs)
            if (glyph.Visible) known[{glyph.U0, glyph.V0}] = {font, &glyph};
    return known;
}

/// The texts of the newest frame, whether it was drawn or not.
inline std::vector<ScreenText> texts_on_screen() {
    ImGui::Render();
    const auto known = known_glyphs();
    std::vector<ScreenText> texts;
    const ImDrawData& frame = *ImGui::GetDrawData();
    for (int l = 0; l < frame.CmdListsCount; ++l) {
        const ImDrawList& list = *frame.CmdLists[l];
        for (const ImDrawCmd& command : list.CmdBuffer) {
            if (command.UserCallback) continue;
            bool follows = false;
            const ImRect clip(command.ClipRect.x, command.ClipRect.y, command.ClipRect.z, command.ClipRect.w);
            for (unsigned i = 0; i + 6 <= command.ElemCount; i += 3) {
                const auto vertex = [&](unsigned k) -> const ImDrawVert& {
                    const ImDrawIdx index = list.IdxBuffer[static_cast<int>(command.IdxOffset + i + k)];
                    return list.VtxBuffer[static_cast<int>(command.VtxOffset + index)];
                };
                const ImDrawVert &first = vertex(0), &last = vertex(2);
                const auto found = known.find({first.uv.x, first.uv.y});
                if (found == known.end() || found->second.second->U1 != last.uv.x ||
                    found->second.second->V1 != last.uv.y)
                    continue;
                const auto& [font, glyph] = found->second;
                // An upright label's glyphs are turned, so that their first corner is not the upper left one.
                const ImRect box(std::min(first.pos.x, last.pos.x), std::min(first.pos.y, last.pos.y),
                                 std::max(first.pos.x, last.pos.x), std::max(first.pos.y, last.pos.y));
                const float size = font->FontSize * box.GetHeight() / (glyph->Y1 - glyph->Y0);
                const float line = first.pos.y - glyph->Y0 * size / font->FontSize;
                const ScreenText* run = follows ? &texts.back() : nullptr;
                const bool goes_on = run && run->color == first.col && std::abs(run->line - line) < 1 &&
                                     box.Min.x > run->box.Max.x - 0.5f * size &&
                                     box.Min.x < run->box.Max.x + 0.6f * size;
                if (!goes_on) texts.push_back({"", box, clip, first.col, size, line, l});
                texts.back().text += encode_utf8(static_cast<char32_t>(glyph->Codepoint));
                texts.back().box.Add(box);
                texts.back().glyphs.push_back(box);
                follows = true;
                i += 3;  // the glyph's second triangle
            }
        }
    }
    std::erase_if(texts, [](const ScreenText& text) { return !text.is_visible(); });
    return texts;
}

}  // namespace attnscope::test
