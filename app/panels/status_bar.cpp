#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <vector>

#include "app/panels/panels.h"
#include "app/ui/widgets.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"

namespace attnscope {
namespace {

std::string count(std::size_t n, const char* what) { return n ? fmt::format("{} {}  ", n, what) : ""; }

/// NaN and infinities of the focused stage; −∞ is not counted in `masked`, where the mask puts it.
std::string not_finite(const Stage& stage) {
    // Of a very long text, nothing is known before the overview.
    const ValueRange* range = stage.buffer.known_range();
    if (!range) return "";
    return count(range->nan, "NaN") + count(range->plus_infinity, "+∞") +
           (stage.info->role == StageRole::masked_scores ? "" : count(range->minus_infinity, "−∞"));
}

std::string counted(int n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

/// "1 row, 3 columns fully masked"; "" if there are none.
std::string fully_masked(const Trace& trace) {
    const Stage& weights = main_stage(trace);
    const Stage* mask = trace.find(mask_of(*weights.info));
    const bool all_open = mask && mask->buffer.range().min != 0 && !trace.experiment.is_custom("scores");
    if (all_open) return "";
    int rows = 0, columns = 0;
    if (mask && mask->buffer.on_demand()) {
        rows = static_cast<int>(std::ranges::count(mask->buffer.row_largest(0), 0.0F));
        return rows ? counted(rows, "row") + " fully masked" : "";
    }
    for (int i = 0; i < weights.shape().rows; ++i) rows += trace.fully_masked(i);
    for (int j = 0; j < weights.shape().columns; ++j) columns += trace.fully_masked_column(j);
    if (rows + columns == 0) return "";
    return (rows ? counted(rows, "row") : "") + (rows && columns ? ", " : "") +
           (columns ? counted(columns, "column") : "") + " fully masked";
}

std::string warnings(const Trace& trace, const Presentation& presentation) {
    return not_finite(focused_stage(trace, presentation.stage)) + fully_masked(trace);
}

/// The number of queries and keys; of tokens where both are from the same sentence.
std::string row_counts(const Trace& trace) {
    const int N = main_stage(trace).shape().rows;
    const Mechanism& mechanism = mechanism_of(trace.experiment);
    const bool recurrent = mechanism_rule(mechanism.choice).is_recurrent;
    if (!recurrent && !has_two_sides(trace) && !trace.rows.empty()) return counted(N, "token");
    const int M = recurrent ? static_cast<int>(trace.columns.size()) : main_stage(trace).shape().columns;
    return fmt::format("{} {} · {} {}", N, N == 1 ? mechanism.query : mechanism.queries, M,
                       M == 1 ? mechanism.key : mechanism.keys);
}

constexpr std::size_t k_most_times = 8;

std::string time_text(const StageRecord& record) {
    return stage_heading(record.stage->key()) + "  " + fixed_text(record.milliseconds, 3) + " ms\n";
}

std::string file_text(const Document& document) {
    const std::string name =
        document.file().empty() ? "unnamed" : std::filesystem::path(document.file()).filename().string();
    return name + (document.modified() ? " · changed" : document.file().empty() ? "" : " · saved");
}

/// "GPU · NVIDIA H100 is 12 times as fast as the CPU"; without the reason if there is no room.
std::string backend_text(const Desk& desk, const Ui& ui, float room) {
    const Trace* trace = desk.document.trace().get();
    const bool on_card = trace && trace->backend == BackendKind::gpu;
    const std::string name = on_card ? "GPU" : desk.processor;
    const BackendReport report = desk.document.backend();
    // The trace may have been computed elsewhere than chosen: sequence to sequence, or a trace
    // that is not yet replaced.
    const bool as_chosen = report.on_card == on_card;
    const bool trains = desk.document.is_of_run() && desk.document.training().moving;
    const std::string reason =
        trains      ? fmt::format("training on the CPU: step {}", desk.document.experiment().training.step)
        : as_chosen ? report.reason
        : trace     ? why_on_cpu(trace->experiment.mechanism)
                    : "";
    const std::string whole = reason.empty() ? name : name + " · " + reason;
    return text_width(ui.fonts.caption, whole) <= room ? whole : name;
}

/// The button that names the backend and opens a menu of the others; returns its right end.
float backend_button(Desk& desk, const Ui& ui, const Area& area, ActionContext& context, float room,
                     const std::function<void(const Action&)>& run) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const std::string text = backend_text(desk, ui, room);
    const float width = text_width(ui.fonts.caption, text) + ui.px(32);
    ImGui::SetCursorScreenPos(area.min);
    const bool clicked = ImGui::InvisibleButton("backend", {width, area.height()});
    const bool hovered = ImGui::IsItemHovered();
    const std::string reason = desk.document.backend().reason;
    tooltip(ui, (reason.empty() ? "" : reason + "\n") + "Where to compute: click to choose");
    const Area place{{area.min.x + ui.px(8), area.min.y + ui.px(3)},
                     {area.min.x + width - ui.px(8), area.max.y - ui.px(3)}};
    if (keyboard_use(ui, ImGui::GetID("backend"), place).pressed || clicked)
        ImGui::OpenPopup("backend choice");
    draw_text(list, ui.fonts.caption, {area.min.x + ui.px(16), area.min.y + ui.px(7)},
              ink(hovered ? ui.theme.text : ui.theme.secondary), text);
    ImGui::SetNextWindowPos({area.min.x + ui.px(8), area.min.y}, ImGuiCond_Always, {0, 1});
    if (ImGui::BeginPopup("backend choice")) {
        action_items(ui, context, Menu::compute, run);
        ImGui::EndPopup();
    }
    return area.min.x + width;
}

/// The file being opened if that takes long, with a button that cancels it, left of `right`; returns its left
/// end.
float opening_progress(Desk& desk, const Ui& ui, const Area& area, float right) {
    if (!desk.opener.takes_long()) return right;
    ImGui::SetCursorScreenPos({right - ui.px(58), area.min.y + ui.px(1)});
    if (small_button(ui, "cancel opening", "Cancel", "Keep what is open", ui.px(58))) desk.opener.cancel();
    const float left = right - ui.px(70);
    const std::string name = std::filesystem::path(desk.opener.name()).filename().string();
    return left - draw_text(ImGui::GetWindowDrawList(), ui.fonts.caption, {left, area.min.y + ui.px(7)},
                            ink(ui.theme.accent), "opening " + name + "…", Align::right, ui.px(240));
}

/// A progress bar with text and a button that cancels, left of `right`; returns its left end.
float export_progress(Desk& desk, const Ui& ui, const Area& area, float right) {
    if (!desk.exporter.takes_long()) return right;
    ImDrawList* list = ImGui::GetWindowDrawList();
    ImGui::SetCursorScreenPos({right - ui.px(58), area.min.y + ui.px(1)});
    if (small_button(ui, "cancel export", "Cancel", "Stop the export; files already written are kept",
                     ui.px(58)))
        desk.exporter.cancel();
    const float end = right - ui.px(70), begin = end - ui.px(120);
    const float middle = (area.min.y + area.max.y) / 2;
    const auto part = static_cast<float>(desk.exporter.part());
    list->AddRectFilled({begin, middle - ui.px(2)}, {end, middle + ui.px(2)}, ink(ui.theme.line));
    list->AddRectFilled({begin, middle - ui.px(2)}, {begin + part * (end - begin), middle + ui.px(2)},
                        ink(ui.theme.accent));
    const std::string text =
        fmt::format("exporting {} of {}", desk.exporter.done() + 1, desk.exporter.count());
    const float left = begin - ui.px(12);
    return left - draw_text(list, ui.fonts.caption, {left, area.min.y + ui.px(7)}, ink(ui.theme.accent), text,
                            Align::right);
}

}  // namespace

std::string stage_times_text(const Trace& trace) {
    std::vector<const StageRecord*> computed;
    for (const StageRecord& record : trace.records)
        if (record.computed) computed.push_back(&record);
    std::ranges::stable_sort(computed, std::ranges::greater{}, &StageRecord::milliseconds);
    std::string text;
    double rest = 0;
    for (std::size_t i = 0; i < computed.size(); ++i) {
        if (i < k_most_times)
            text += time_text(*computed[i]);
        else
            rest += computed[i]->milliseconds;
    }
    if (computed.size() > k_most_times)
        text += counted(static_cast<int>(computed.size() - k_most_times), "other stage") + "  " +
                fixed_text(rest, 3) + " ms\n";
    const auto waiting = std::ranges::count_if(
        trace.records, [](const StageRecord& record) { return record.stage->buffer.is_waiting(); });
    const auto reused = std::ssize(trace.records) - std::ssize(computed) - waiting;
    if (reused > 0) text += counted(static_cast<int>(reused), "stage") + " reused\n";
    if (waiting > 0) text += counted(static_cast<int>(waiting), "stage") + " not needed for what is shown\n";
    return text;
}

std::string sizes_text(const Trace& trace) {
    std::string text = row_counts(trace);
    for (const StageInfo* each : {"embedding"_stage, "source_embedding"_stage})
        if (const Stage* stage = trace.find(each)) text += fmt::format(" · d {}", stage->shape().columns);
    const bool heads = mechanism_rule(trace.experiment.mechanism).has_heads;
    return text + (heads ? " · " + counted(trace.experiment.attention.heads, "head") : "");
}

void status_bar(Desk& desk, const Ui& ui, const Area& area, ActionContext& context,
                const std::function<void(const Action&)>& run) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(area.min, area.max, ink(ui.theme.panel));
    list->AddLine(area.min, {area.max.x, area.min.y}, ink(ui.theme.line));
    const float y = area.min.y + ui.px(7);
    float x = area.min.x + ui.px(16);
    float end = area.max.x;
    // What does not fit before the file (and a running export) is omitted.
    const auto item = [&](const std::string& text, Rgb8 color) {
        if (text.empty() || x + text_width(ui.fonts.caption, text) > end) return;
        x += draw_text(list, ui.fonts.caption, {x, y}, ink(color), text) + ui.px(36);
    };
    const float file_width = draw_text(list, ui.fonts.caption, {area.max.x - ui.px(16), y},
                                       ink(ui.theme.faint), file_text(desk.document), Align::right);
    end = opening_progress(desk, ui, area, area.max.x - file_width - ui.px(48));
    end = export_progress(desk, ui, area, end);
    const Trace* trace = desk.document.trace().get();
    const std::string problem = !desk.document.problem().empty() ? desk.document.problem()
                                : desk.state.notice.problem      ? desk.state.notice.text
                                                                 : "";
    if (!problem.empty()) {
        if (const auto& remedy = desk.state.notice.remedy; remedy && problem == desk.state.notice.text) {
            const std::string label = remedy->label;
            const float width = text_width(ui.fonts.body, label) + ui.px(24);
            const float said = text_width(ui.fonts.body, problem) + ui.px(16);
            ImGui::SetCursorScreenPos({std::min(x + said, end - width), area.min.y + ui.px(1)});
            end = std::min(x + said, end - width) - ui.px(8);
            if (small_button(ui, "remedy", label, "Makes this change together with the one that was refused",
                             width))
                return apply_remedy(desk);
        }
        draw_text(list, ui.fonts.body, {x, y - 1}, ink(ui.theme.warning), problem, Align::left, end - x);
        ImGui::SetCursorScreenPos({x, area.min.y});
        ImGui::InvisibleButton("problem", {end - x, area.height()});
        tooltip(ui, problem);
        return;
    }
    // Sizes and times are omitted before the reason.
    x = backend_button(desk, ui, area, context, end - x - ui.px(520), run) + ui.px(20);
    const float evaluated_x = x;
    if (trace) {
        item("evaluated in " + fixed_text(trace->milliseconds, trace->milliseconds < 10 ? 2 : 0) + " ms",
             ui.theme.secondary);
        if (desk.frame_ms > 0) item("frame " + fixed_text(desk.frame_ms, 1) + " ms", ui.theme.secondary);
        item(sizes_text(*trace), ui.theme.secondary);
    }
    if (trace && x > evaluated_x) {
        ImGui::SetCursorScreenPos({evaluated_x, area.min.y});
        ImGui::InvisibleButton("times", {x - evaluated_x, area.height()});
        tooltip(ui, stage_times_text(*trace));
    }
    if (desk.document.busy()) item("computing…", ui.theme.accent);
    if (const auto part = desk.document.overview_progress()) {
        const float before = x;
        item(fmt::format("overview {:.0f} %", *part * 100), ui.theme.accent);
        if (x > before && x + ui.px(58) < end) {
            ImGui::SetCursorScreenPos({x - ui.px(24), area.min.y + ui.px(1)});
            if (small_button(
                    ui, "cancel overview", "Cancel",
                    "Stop computing the overview and keep its preview, until another stage or head is shown",
                    ui.px(58)))
                desk.document.cancel_overview();
            x += ui.px(58);
        }
    }
    if (trace) item(warnings(*trace, desk.document.presentation()), ui.theme.warning);
    if (const float room = end - x; room > ui.px(60))
        draw_text(list, ui.fonts.caption, {x, y}, ink(ui.theme.secondary), desk.state.notice.text,
                  Align::left, room);
}

}  // namespace attnscope
