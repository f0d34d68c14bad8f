// Compares both backends on the open experiment: how far apart their stages are, and how long each took.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/panels/dialog_parts.h"
#include "core/number_text.h"

namespace attnscope {
namespace {

constexpr int k_columns = 7;
constexpr std::array<const char*, k_columns> k_titles = {
    "stage", "shape", "largest |Δ|", "at the cell", "relative |Δ|", "CPU ms", "GPU ms"};
constexpr std::array<float, k_columns> k_widths = {142, 104, 84, 0, 84, 74, 74};  ///< 0: what is left
constexpr std::array<bool, k_columns> k_numbers = {false, true, true, false, true, true, true};

/// The table is wider than other dialogs.
float table_width(const Ui& ui) { return dialog_width(ui, 900); }

/// A time with microsecond digits, so that the decimal points are aligned.
std::string milliseconds_text(double milliseconds) { return fixed_text(milliseconds, 3); }

std::string shape_text(const Shape& shape) {
    return fmt::format("{}{} × {}", shape.per_head ? fmt::format("{} × ", shape.heads) : "", shape.rows,
                       shape.columns);
}

/// Text in the current column, right-aligned where the column holds numbers.
void cell(const Ui& ui, int column, ImFont* font, const std::string& text, Rgb8 color) {
    ImGui::PushFont(font);
    ImGui::PushStyleColor(ImGuiCol_Text, ink(color));
    const float room = ImGui::GetContentRegionAvail().x;
    const std::string shown = fitted(font, text, room);
    if (k_numbers[static_cast<std::size_t>(column)])
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, room - text_width(font, shown)));
    ImGui::TextUnformatted(shown.c_str());
    ImGui::PopStyleColor();
    ImGui::PopFont();
    if (shown != text) tooltip(ui, text);
}

void header(const Ui& ui) {
    for (int i = 0; i < k_columns; ++i) {
        const float width = k_widths[static_cast<std::size_t>(i)];
        ImGui::TableSetupColumn(
            k_titles[static_cast<std::size_t>(i)],
            width > 0 ? ImGuiTableColumnFlags_WidthFixed : ImGuiTableColumnFlags_WidthStretch, ui.px(width));
    }
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (int i = 0; i < k_columns; ++i) {
        ImGui::TableSetColumnIndex(i);
        cell(ui, i, ui.fonts.caption, k_titles[static_cast<std::size_t>(i)], ui.theme.secondary);
    }
}

/// Focuses the stage and locks its worst cell.
void go_to(Desk& desk, const StageDifference& stage) {
    const std::optional<CellPlace> place = stage.other_kind_at ? stage.other_kind_at : stage.absolute_at;
    desk.document.change([&](Session& session) {
        Presentation& presentation = session.presentation;
        presentation.view = ViewKind::pipeline;
        presentation.lock(stage.key, place ? std::optional(Cell{place->row, place->column}) : std::nullopt);
        if (place && stage.shape.heads > 1) presentation.head = {HeadChoice::Kind::one, place->head};
    });
    desk.state.zoom = {};
    desk.state.dialog = Dialog::none;
}

void stage_row(Desk& desk, const Ui& ui, const ParityReport& report, const StageDifference& stage) {
    const Theme& theme = ui.theme;
    const std::string name = stage_heading(stage.key);
    const bool other = stage.other_kind > 0;
    ImGui::TableNextColumn();
    const bool has_picture = stage.key.stage->unit != Unit::token_id;
    ImGui::PushStyleColor(ImGuiCol_Text, ink(other ? theme.warning : theme.text));
    const bool clicked = ImGui::Selectable(
        name.c_str(), false,
        ImGuiSelectableFlags_SpanAllColumns | (has_picture ? 0 : ImGuiSelectableFlags_Disabled));
    help_at_rest(ui, fmt::format("{}: largest difference {}, relative {}{}", name, exact_text(stage.absolute),
                                 exact_text(stage.relative),
                                 has_picture ? "\nClick: show the stage and lock the cell" : ""));
    const Area row{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
    const bool pressed = has_picture && keyboard_use(ui, ImGui::GetID(name.c_str()), row).pressed;
    if (clicked || pressed) go_to(desk, stage);
    ImGui::PopStyleColor();
    const std::string place = other ? fmt::format("{} NaN, ∞ or closed on one side only", stage.other_kind)
                                    : place_text(report, stage, stage.absolute_at);
    const std::array<std::string, k_columns> texts = {"",
                                                      shape_text(stage.shape),
                                                      short_text(stage.absolute),
                                                      place,
                                                      short_text(stage.relative),
                                                      milliseconds_text(stage.milliseconds_a),
                                                      milliseconds_text(stage.milliseconds_b)};
    for (int i = 1; i < k_columns; ++i) {
        ImGui::TableNextColumn();
        const bool secondary = i == 1 || texts[static_cast<std::size_t>(i)] == "0";
        cell(ui, i, k_numbers[static_cast<std::size_t>(i)] ? ui.fonts.mono : ui.fonts.body,
             texts[static_cast<std::size_t>(i)],
             other && i == 3 ? theme.warning
             : secondary     ? theme.secondary
                             : theme.text);
    }
}

void table(Desk& desk, const Ui& ui, const ParityReport& report) {
    const float row = ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y;
    const float height = std::min(row * static_cast<float>(report.stages.size() + 1) + ui.px(4),
                                  ImGui::GetIO().DisplaySize.y - ui.px(270));
    if (!ImGui::BeginTable("stages", k_columns, ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY,
                           {table_width(ui), std::max(height, 4 * row)}))
        return;
    header(ui);
    for (const StageDifference& stage : report.stages) stage_row(desk, ui, report, stage);
    ImGui::EndTable();
}

/// A name, and a time whose digits are aligned with the other times.
void total(const Ui& ui, const char* name, double milliseconds, const std::string& remark) {
    ImGui::TextUnformatted(name);
    ImGui::SameLine(ui.px(142));
    ImGui::PushFont(ui.fonts.mono);
    const std::string text = milliseconds_text(milliseconds) + " ms";
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() +
                         std::max(0.0f, ui.px(90) - text_width(ui.fonts.mono, text)));
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopFont();
    ImGui::SameLine(0, ui.px(20));
    const std::string shown = fitted(ImGui::GetFont(), remark, ImGui::GetContentRegionAvail().x);
    ImGui::TextDisabled("%s", shown.c_str());
}

void totals(const Ui& ui, const ParityReport& report) {
    total(ui, "CPU", report.cpu_milliseconds, "");
    total(ui, "GPU", report.gpu_milliseconds, report.card);
}

void progress(Desk& desk, const Ui& ui) {
    using Phase = ParityRun::Phase;
    const Phase phase = desk.parity.phase();
    const char* what = phase == Phase::comparing ? "3 of 3: comparing every cell"
                       : phase == Phase::card    ? "2 of 3: running on the GPU"
                                                 : "1 of 3: running on the CPU";
    const float done = phase == Phase::comparing ? 2.0f / 3 : phase == Phase::card ? 1.0f / 3 : 0;
    ImGui::ProgressBar(done, {table_width(ui), ImGui::GetFrameHeight()}, what);
    ImGui::TextDisabled("Both sides evaluate the whole experiment. Closing this stops them.");
}

}  // namespace

void parity_dialog(Desk& desk, const Ui& ui) {
    // Queried first: a run that ends now has its report by then.
    const bool idle = !desk.parity.running();
    std::shared_ptr<const ParityReport> report = desk.parity.report();
    if (report && !(report->experiment() == desk.document.experiment() &&
                    report->shaders == desk.parity.shaders_stamp()))
        report = nullptr;
    if (!report && idle) desk.parity.start(desk.document.experiment());
    const bool running = desk.parity.running();
    ImGui::Dummy({table_width(ui), 0});
    if (running)
        progress(desk, ui);
    else if (report && report->problem.empty())
        totals(ui, *report);
    if (report && !report->problem.empty() && !running) problem_line(ui, report->problem);
    const bool has_table = report && report->problem.empty();
    if (has_table) {
        table(desk, ui, *report);
        const char* times = report->compiled
                                ? "The GPU time includes compiling the shaders; run again to exclude it."
                                : "Both sides evaluated the whole experiment.";
        ImGui::TextDisabled(
            "Click to show the stage and lock the cell. Relative: |Δ| ÷ the larger value, above 1e-6.");
        ImGui::TextDisabled("%s", times);
    }
    if (push_button(ui, "Run again", "Evaluates and compares again", ui.px(110), !running))
        desk.parity.start(desk.document.experiment());
    ImGui::SameLine();
    if (push_button(ui, "Copy as text", "Copies the table to the clipboard", ui.px(110), has_table)) {
        ui.copy(parity_text(*report));
        desk.state.notice = {"copied the comparison as tab-separated text", false};
    }
    ImGui::SameLine();
    if (push_button(ui, "Close", "Closes this (Esc)", ui.px(110))) desk.state.dialog = Dialog::none;
}

}  // namespace attnscope
