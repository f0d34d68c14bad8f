#include "app/document/interaction.h"

namespace attnscope {

bool RevealedSetting::is_one_of(const std::vector<OptionName>& options) const {
    return std::ranges::find(options, option, &OptionName::text) != options.end();
}

bool RevealedSetting::take(OptionName of) {
    if (option != of.text()) return false;
    *this = {};
    return true;
}

namespace {

/// The locked cell, in the stage where it was locked.
std::optional<HeldCell> cell_where_locked(const Presentation& presentation, const Trace& trace) {
    const Stage* stage = trace.find_chosen(presentation.locked_stage());
    if (!stage || !presentation.locked) return std::nullopt;
    const auto cell = same_cell(trace, *stage, *presentation.locked, *stage);
    return cell ? std::optional(HeldCell{stage, *cell}) : std::nullopt;
}

}  // namespace

std::optional<Cell> locked_cell(const Presentation& presentation, const Trace* trace) {
    if (!trace) return presentation.locked;
    const Stage* focused = trace->find_chosen(presentation.stage);
    const auto locked = cell_where_locked(presentation, *trace);
    if (!focused || !locked) return std::nullopt;
    return same_cell(*trace, *locked->stage, locked->cell, *focused);
}

std::optional<HeldCell> held_cell(const Presentation& presentation, const Trace* trace) {
    if (!trace) return std::nullopt;
    if (const auto cell = locked_cell(presentation, trace))
        return HeldCell{trace->find_chosen(presentation.stage), *cell};
    return cell_where_locked(presentation, *trace);
}

namespace {

Highlight cell_highlight(const StageKey& key, const Cell& cell, const Trace* trace) {
    const Stage* found = trace ? trace->find_chosen(key) : nullptr;
    return highlight_cell(info_of(key), cell, found ? found->shape().depth : 1);
}

Highlight pointed_highlight(const Interaction& interaction, const Presentation& presentation,
                            const Trace* trace, bool two_sides) {
    if (const auto& chip = interaction.hovered_token) {
        if (!two_sides) return highlight_token(chip->token);
        return chip->of_keys ? Highlight{.key = chip->token} : Highlight{.query = chip->token};
    }
    if (interaction.hovered)
        return cell_highlight(interaction.hovered->stage, interaction.hovered->cell, trace);
    if (!trace)
        return presentation.locked ? cell_highlight(presentation.stage, *presentation.locked, trace)
                                   : Highlight{};
    if (const auto locked = cell_where_locked(presentation, *trace))
        return cell_highlight(locked->stage->key(), locked->cell, trace);
    return {};
}

}  // namespace

Highlight current_highlight(const Interaction& interaction, const Presentation& presentation,
                            const Trace* trace) {
    const bool two_sides = trace && has_two_sides(*trace);
    Highlight lit = pointed_highlight(interaction, presentation, trace, two_sides);
    lit.two_sides = two_sides;
    lit.one_head = trace && trace->experiment.attention.heads == 1;
    return lit;
}

}  // namespace attnscope
