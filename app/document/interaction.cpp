#include "app/document/interaction.h"

namespace attnscope {

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
