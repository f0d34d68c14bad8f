#include "app/views/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/graph/formula.h"
#include "core/utf8.h"

namespace attnscope {

void upright_text(ImDrawList* list, ImFont* font, ImVec2 at, ImU32 color, const std::string& text) {
    const int before = list->VtxBuffer.Size;
    draw_text(list, font, {at.x, at.y}, color, text);
    const float half = compat::font_size(*font) / 2;
    for (int i = before; i < list->VtxBuffer.Size; ++i) {
        ImVec2& p = list->VtxBuffer[i].pos;
        p = {at.x + (p.y - at.y) - half, at.y - (p.x - at.x)};
    }
}

int label_stride(const Ui& ui, float pitch) {
    return std::max(1, static_cast<int>(std::ceil(ui.px(13) / pitch)));
}

bool label_shown(int i, int stride, int lit) {
    if (i == lit) return true;
    return i % stride == 0 && (lit < 0 || stride == 1 || std::abs(i - lit) >= stride);
}

std::string stage_help(const Trace& trace, const Stage& stage) {
    const Shape& shape = stage.shape();
    const std::string heads = shape.heads > 1 ? fmt::format("{} heads of ", shape.heads) : "";
    const std::string written = formula(trace, stage);
    std::string text = fmt::format("{}: {}{} × {}\n{}", stage_heading(stage.key()), heads, shape.rows,
                                   shape.columns, written);
    if (stage.part == StageKey::Part::gradient) return text;
    const std::string words = sentence(trace, stage);
    return words == capitalized(written) + "." ? text : text + "\n" + words;
}

}  // namespace attnscope
