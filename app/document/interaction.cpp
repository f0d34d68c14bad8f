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

std::optional<Cell> locked_cell(const Presentation& presentation, const Trace* trace) {
    const std::optional<Cell>& locked = presentation.locked;
    if (!locked || !trace) return locked;
    const Stage* stage = trace->find(presentation.stage);
    if (!stage || locked->row < 0 || locked->column < 0) return std::nullopt;
    if (locked->row >= stage->shape().rows || locked->column >= stage->shape().columns) return std::nullopt;
    return locked;
}

namespace {

Highlight cell_highlight(std::string_view stage, const Cell& cell, const Trace* trace) {
    const StageInfo* info = find_stage_info(stage);
    const Stage* found = trace ? trace->find(stage) : nullptr;
    return info ? highlight_cell(*info, cell, found ? found->shape().depth : 1) : Highlight{};
}

Highlight pointed_highlight(const Interaction& interaction, const Presentation& presentation,
                            const Trace* trace, bool two_sides) {
    if (const auto& chip = interaction.hovered_token) {
        if (!two_sides) return highlight_token(chip->token);
        return chip->of_keys ? Highlight{.key = chip->token} : Highlight{.query = chip->token};
    }
    if (interaction.hovered)
        return cell_highlight(interaction.hovered->stage, interaction.hovered->cell, trace);
    if (const auto locked = locked_cell(presentation, trace))
        return cell_highlight(presentation.stage, *locked, trace);
    return {};
}

}  // namespace

Highlight current_highlight(const Interaction& interaction, const Presentation& presentation,
                            const Trace* trace) {
    const bool two_sides = trace && has_two_sides(*trace);
    Highlight lit = pointed_highlight(interaction, presentation, trace, two_sides);
    lit.two_sides = two_sides;
    lit.one_head = trace && trace->experiment.heads == 1;
    return lit;
}

}  // namespace attnscope
