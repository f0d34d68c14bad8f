#include "app/window/ui.h"

#include "app/window/imgui_compat.h"
#include "core/text/tokenizer.h"

namespace attnscope {

ImU32 ink(Rgb8 color, float alpha) {
    return IM_COL32(color.red, color.green, color.blue, static_cast<int>(alpha * 255 + 0.5f));
}

int cell_at(float position, int count) {
    if (!(position > 0)) return 0;
    return position < static_cast<float>(count) ? static_cast<int>(position) : count - 1;
}

float text_width(ImFont* font, const std::string& text) {
    return font->CalcTextSizeA(compat::font_size(*font), FLT_MAX, 0, text.data(), text.data() + text.size())
        .x;
}

std::string fitted(ImFont* font, const std::string& text, float width) {
    if (text_width(font, text) <= width) return text;
    std::string shown;
    for (const std::string_view each : graphemes(text)) {
        const std::string longer = shown + std::string(each);
        if (text_width(font, longer + "…") > width) break;
        shown = longer;
    }
    return shown + "…";
}

float draw_text(ImDrawList* list, ImFont* font, ImVec2 at, ImU32 color, const std::string& text, Align align,
                float width) {
    const std::string shown = width > 0 ? fitted(font, text, width) : text;
    const float drawn = text_width(font, shown);
    if (align == Align::center) at.x -= drawn / 2;
    if (align == Align::right) at.x -= drawn;
    list->AddText(font, compat::font_size(*font), {std::round(at.x), std::round(at.y)}, color, shown.data(),
                  shown.data() + shown.size());
    return drawn;
}

}  // namespace attnscope
