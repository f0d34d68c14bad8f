#include <cmath>
#include <filesystem>

#include "app/panels/panels.h"
#include "app/window/widgets.h"
#include "core/picture/number_text.h"

namespace attnscope {
namespace {

std::string count(std::size_t n, const char* what) { return n ? std::to_string(n) + " " + what + "  " : ""; }

/// NaN and infinities of the focused stage; those of `masked` that the mask put there are no news.
std::string not_finite(const Stage& stage) {
    const ValueRange& range = stage.buffer.range();
    return count(range.nan, "NaN") + count(range.plus_infinity, "+∞") +
           (stage.name() == "masked" ? "" : count(range.minus_infinity, "−∞"));
}

int fully_masked_rows(const Trace& trace) {
    const Stage* mask = trace.find("mask");
    if (!mask || mask->buffer.range().min != 0) return 0;  // nothing is closed
    int rows = 0;
    for (int i = 0; i < static_cast<int>(trace.rows.size()); ++i) rows += trace.fully_masked(i);
    return rows;
}

std::string warnings(const Trace& trace, const Presentation& presentation) {
    std::string text;
    if (const Stage* stage = trace.find(presentation.stage)) text = not_finite(*stage);
    if (const int rows = fully_masked_rows(trace))
        text += std::to_string(rows) + (rows == 1 ? " row" : " rows") + " fully masked";
    return text;
}

std::string stage_times(const Trace& trace) {
    std::string text;
    for (const StageRecord& record : trace.records)
        text += std::string(record.stage->name()) + "  " +
                (record.computed ? fixed_text(record.milliseconds, 3) + " ms" : "taken over") + "\n";
    return text;
}

std::string file_text(const Document& document) {
    const std::string name =
        document.file().empty() ? "unnamed" : std::filesystem::path(document.file()).filename().string();
    return name + (document.modified() ? " · changed" : document.file().empty() ? "" : " · saved");
}

}  // namespace

void status_bar(Ui& ui, const Area& area) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(area.min, area.max, ink(ui.theme.panel));
    list->AddLine(area.min, {area.max.x, area.min.y}, ink(ui.theme.line));
    const float y = area.min.y + ui.px(7);
    float x = area.min.x + ui.px(16);
    float file_width = 0;
    // What does not fit before the file is left out.
    const auto item = [&](const std::string& text, Rgb8 color) {
        const float end = x + text_width(ui.fonts.caption, text);
        if (text.empty() || end > area.max.x - file_width - ui.px(32)) return;
        x += draw_text(list, ui.fonts.caption, {x, y}, ink(color), text) + ui.px(36);
    };
    file_width = draw_text(list, ui.fonts.caption, {area.max.x - ui.px(16), y}, ink(ui.theme.faint),
                           file_text(ui.document), Align::right);
    const Trace* trace = ui.document.trace().get();
    const std::string problem = !ui.document.problem().empty() ? ui.document.problem()
                                : ui.state.notice.problem      ? ui.state.notice.text
                                                               : "";
    if (!problem.empty()) {
        draw_text(list, ui.fonts.body, {x, y - 1}, ink(ui.theme.warning), problem, Align::left,
                  area.max.x - file_width - ui.px(48) - x);
        ImGui::SetCursorScreenPos({x, area.min.y});
        ImGui::InvisibleButton("problem", {area.max.x - file_width - ui.px(48) - x, area.height()});
        tooltip(ui, problem);
        return;
    }
    const float evaluated_x = x;
    item(ui.backend, ui.theme.secondary);
    if (trace) {
        item("evaluated in " + fixed_text(trace->milliseconds, trace->milliseconds < 10 ? 2 : 0) + " ms",
             ui.theme.secondary);
        item("frame " + fixed_text(ui.frame_ms, 1) + " ms", ui.theme.secondary);
        const Experiment& e = trace->experiment;
        item(std::to_string(trace->rows.size()) + " tokens · d " + std::to_string(e.dim) + " · " +
                 std::to_string(e.heads) + (e.heads == 1 ? " head" : " heads"),
             ui.theme.secondary);
        ImGui::SetCursorScreenPos({evaluated_x, area.min.y});
        ImGui::InvisibleButton("times", {x - evaluated_x, area.height()});
        tooltip(ui, stage_times(*trace));
    }
    if (ui.document.busy()) item("computing…", ui.theme.accent);
    if (trace) item(warnings(*trace, ui.document.presentation()), ui.theme.warning);
    if (const float room = area.max.x - file_width - ui.px(48) - x; room > ui.px(60))
        draw_text(list, ui.fonts.caption, {x, y}, ink(ui.theme.secondary), ui.state.notice.text, Align::left,
                  room);
}

}  // namespace attnscope
