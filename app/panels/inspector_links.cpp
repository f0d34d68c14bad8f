#include "app/panels/inspector_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "app/document/screen_scale.h"
#include "app/ui/widgets.h"
#include "core/number_text.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {
namespace {

constexpr float k_link_pitch = 22, k_link_bar = 44;  // units
constexpr float k_share_of_bar = 0.13F;              // of a narrow inspector, whose words need the rest

void lock(Desk& desk, const Stage& stage, const Cell& cell) {
    desk.document.change([&](Session& session) { session.presentation.lock(stage.key(), cell); });
    desk.state.cell_to_show = PointedCell{stage.key(), 0, cell};
}

}  // namespace

void strongest_links_list(Desk& desk, const Column& c) {
    const std::shared_ptr<const FoundLinks> found = desk.document.links();
    const Trace& trace = *desk.document.trace();
    if (!found || found->links.empty() || found->of.trace != desk.document.trace()) return;
    const Stage& stage = *found->of.stage;
    const Shape& shape = stage.shape();
    heading(c, "STRONGEST LINKS", fmt::format("of {} × {}", shape.rows, shape.columns));
    HeadChoice head{HeadChoice::Kind::one, std::max(found->of.head, 0)};
    if (found->of.head < 0) head = {HeadChoice::Kind::mean};
    const ColorScale colors = screen_scale(desk.document, trace, found->of.stage, head);
    float largest = 0;
    for (const Link& each : found->links) largest = std::max(largest, std::abs(each.value));
    float values = 0;
    for (const Link& each : found->links)
        values = std::max(values, text_width(c.ui.fonts.mono_small, reading_text(each.value)));
    const float longest_bar = std::min(c.ui.px(k_link_bar), k_share_of_bar * c.width());
    const float bar = c.right - values - c.ui.px(10) - longest_bar, names = bar - c.ui.px(10) - c.left;
    for (const Link& each : found->links) {
        const float y = c.y();
        const std::string id = fmt::format("link {} {}", each.row, each.column);
        ImGui::SetCursorScreenPos({c.left, y});
        const bool clicked = ImGui::InvisibleButton(id.c_str(), {c.width(), c.ui.px(k_link_pitch)});
        const bool hovered = ImGui::IsItemHovered();
        const std::string row = legible(trace.row_label(stage, each.row)),
                          column = legible(trace.column_label(stage, each.column, head.head));
        help_at_rest(c.ui, fmt::format("{} → {}   {}\nrow {} · column {}\nClick: lock this cell and go to it",
                                       row, column, exact_text(each.value), each.row + 1, each.column + 1));
        const Area place{{c.left, y}, {c.right, y + c.ui.px(k_link_pitch)}};
        if (keyboard_use(c.ui, ImGui::GetID(id.c_str()), place).pressed || clicked)
            lock(desk, stage, {each.row, each.column});
        draw_text(c.list, c.ui.fonts.body, {c.left, y + c.ui.px(3)},
                  ink(hovered ? c.ui.theme.accent : c.ui.theme.text),
                  two_names(c.ui.fonts.body, row, " → ", column, names));
        if (largest > 0)
            value_bar(c.ui, *c.list,
                      {{bar, y + c.ui.px(5)},
                       {bar + std::max(1.0f, std::abs(each.value) / largest * longest_bar), y + c.ui.px(16)}},
                      colors.color(each.value));
        draw_text(c.list, c.ui.fonts.mono_small, {c.right, y + c.ui.px(5)}, ink(c.ui.theme.secondary),
                  reading_text(each.value), Align::right);
    }
    c.advance(4);
    ImGui::SetCursorScreenPos({c.left, c.y()});
    if (small_button(c.ui, "copy links", "Copy", "Copies these links as a table, for a spreadsheet")) {
        c.ui.copy(links_table(*found));
        desk.state.notice = {fmt::format("copied {} links", found->links.size()), false};
    }
    c.advance(6);
}

}  // namespace attnscope
