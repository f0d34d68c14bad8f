#include "app/document/interaction.h"

#include <algorithm>

namespace attnscope {

void ControlFocus::move(int step) {
    if (drawn.empty()) return;
    const auto at = std::ranges::find(drawn, id);
    const auto count = std::ssize(drawn);
    const auto now = at != drawn.end() ? at - drawn.begin() : step > 0 ? -1 : 0;
    id = drawn[static_cast<std::size_t>((now + step + count) % count)];
    moved = true;
}

Highlight current_highlight(const Interaction& interaction, const Presentation& presentation) {
    if (interaction.hovered_token >= 0) return highlight_token(interaction.hovered_token);
    if (interaction.hovered)
        if (const StageInfo* info = find_stage_info(interaction.hovered->stage))
            return highlight_cell(*info, interaction.hovered->cell);
    if (presentation.locked)
        if (const StageInfo* info = find_stage_info(presentation.stage))
            return highlight_cell(*info, *presentation.locked);
    return {};
}

}  // namespace attnscope
