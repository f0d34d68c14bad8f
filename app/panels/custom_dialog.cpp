// The dialog for a custom matrix: its name, where its values come from, and a grid to edit them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <utility>

#include "app/document/custom.h"
#include "app/document/steps.h"
#include "app/panels/dialog_parts.h"
#include "core/error.h"
#include "core/experiment/custom_values.h"
#include "core/experiment/overridable.h"
#include "core/files/read_matrix.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"

namespace attnscope {
namespace {

constexpr float k_cell_width = 66;
constexpr float k_cell_height = 24;
constexpr float k_number_width = 44;  ///< of the row numbers

void start_with(Desk& desk, const Ui& ui, CustomForm& form, const std::string& name) {
    desk.matrix_reader.cancel();
    form.name = name;
    form.values = custom_start(desk.document.trace().get(), desk.document.experiment(), name);
    form.selected = {};
    form.problem.clear();
    ui.controls.field.typing = 0;
}

/// Takes the values that `read` returns, or its error as the form's problem, instead of a file being read.
void take_values(Desk& desk, CustomForm& form, const std::function<Matrix()>& read) {
    desk.matrix_reader.cancel();
    try {
        form.values = read();
        form.selected = {};
        form.problem.clear();
    } catch (const std::exception& error) {
        form.problem = problem_text(error);
    }
}

void paste(Desk& desk, CustomForm& form) {
    take_values(desk, form,
                [] { return matrix_from_csv(compat::text_bridge().clipboard.get(), "the clipboard"); });
}

/// Reads the form's file in the background: it may be slow, or a pipe without a writer.
void read_file_of(Desk& desk, CustomForm& form) {
    form.problem.clear();
    desk.matrix_reader.start(form.file, [path = form.file] { return read_matrix(path); });
}

/// Takes the values of the file once they are read; true if they came and are to be applied at once.
bool take_file(Desk& desk, CustomForm& form) {
    if (std::exchange(form.reads_file, false)) read_file_of(desk, form);
    const std::optional<MatrixReader::Outcome> outcome = desk.matrix_reader.take();
    if (!outcome) return false;
    form.problem = outcome->problem;
    if (outcome->file) take_values(desk, form, [&] { return *outcome->file; });
    return std::exchange(form.applies_file, false) && form.problem.empty();
}

std::vector<std::string> names_here(const Desk& desk) {
    return names_to_override(desk.document.trace().get(), desk.document.experiment());
}

/// The name `steps` further in the list, wrapping around.
std::string stepped_name(const std::vector<std::string>& names, const std::string& name, int steps) {
    const auto at = std::ranges::find(names, name) - names.begin(), count = std::ssize(names);
    return names[static_cast<std::size_t>(((at + steps) % count + count) % count)];
}

/// The first of `wanted` that is in the list, else the list's first name.
std::string first_name(const std::vector<std::string>& names, std::initializer_list<std::string> wanted) {
    for (const std::string& name : wanted)
        if (std::ranges::find(names, name) != names.end()) return name;
    return names.front();
}

void name_row(Desk& desk, const Ui& ui, CustomForm& form) {
    row(ui, "Name", [&] {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const Area area{at, {at.x + ImGui::CalcItemWidth(), at.y + ImGui::GetFrameHeight()}};
        const KeyboardUse keys = keyboard_use(ui, ImGui::GetID("##name"), area);
        const std::vector<std::string> names = names_here(desk);
        if (const int steps = keys.steps + keys.pressed)
            start_with(desk, ui, form, stepped_name(names, form.name, steps));
        const bool is_open = ImGui::BeginCombo("##name", form.name.c_str(), ImGuiComboFlags_HeightLarge);
        help_at_rest(ui, "The matrix to set");
        if (!is_open) return;
        for (const std::string& name : names) {
            const std::string_view what = find_overridable(name)->what;
            const std::string mark = desk.document.experiment().is_custom(name) ? " · custom" : "";
            if (ImGui::Selectable((name + mark).c_str(), name == form.name)) start_with(desk, ui, form, name);
            ImGui::SameLine(ui.px(130));
            ImGui::TextDisabled("%.*s", static_cast<int>(what.size()), what.data());
        }
        ImGui::TextDisabled("other matrices can be set with other settings");
        ImGui::EndCombo();
    });
    const OverridableMatrix* known = find_overridable(form.name);
    std::string what(known->what);
    if (const Trace* trace = desk.document.trace().get()) {
        const CustomSize size = custom_size(*trace, form.name);
        what += " · here " + size_text(size.rows, size.columns);
    }
    ImGui::TextDisabled("%s", fitted(ImGui::GetFont(), what, dialog_width(ui)).c_str());
}

void source_rows(Desk& desk, const Ui& ui, CustomForm& form) {
    const float read = ui.px(70);
    row(ui, "File", [&] {
        ImGui::SetNextItemWidth(dialog_width(ui) - ui.px(110 + 8) - read);
        const bool entered =
            line_field(ui, "##file", "CSV or NPY", "The file to read the values from", form.file);
        ImGui::SameLine();
        if (push_button(ui, "Read", "Reads the values from the file", read) || entered)
            read_file_of(desk, form);
    });
    row(ui, "Values", [&] {
        if (push_button(ui, "Current values", "Starts from what is computed now"))
            start_with(desk, ui, form, form.name);
        ImGui::SameLine();
        if (push_button(ui, "Paste", "Takes the rows on the clipboard (Ctrl+V)")) paste(desk, form);
        ImGui::SameLine();
        if (push_button(ui, "Zeros", "Sets every value to 0"))
            take_values(desk, form, [&] { return Matrix::Zero(form.values.rows(), form.values.cols()); });
        ImGui::SameLine();
        ImGui::AlignTextToFramePadding();
        const std::string size = size_text(form.values.rows(), form.values.cols());
        ImGui::TextDisabled("%s", desk.matrix_reader.takes_long() ? "reading …" : size.c_str());
    });
}

void select(CustomForm& form, int row, int column) {
    form.selected = {std::clamp(row, 0, static_cast<int>(form.values.rows()) - 1),
                     std::clamp(column, 0, static_cast<int>(form.values.cols()) - 1)};
}

/// Arrows move the selection, Enter starts typing, Ctrl+V pastes, unless a cell is being typed into. The grid
/// has the keyboard whenever no other control has it.
void grid_keys(Desk& desk, const Ui& ui, CustomForm& form, unsigned field, const Area& area) {
    unsigned& focused = ui.controls.focus.id;
    if (focused == 0) focused = field;
    const KeyboardUse keys = grid_keyboard_use(ui, field, area);
    if (ImGui::GetIO().WantTextInput || ui.controls.field.typing == field) return;
    const Cell at = form.selected;
    if (keys.steps || keys.steps_down) select(form, at.row + keys.steps_down, at.column + keys.steps);
    if (keys.pressed) begin_typing(ui, field, exact_text(form.values(at.row, at.column)));
    if (compat::key_pressed(Key::v) && ImGui::GetIO().KeyCtrl) paste(desk, form);
}

/// Stores what was typed in the selected cell, and starts typing in the cell below.
void enter_cell(Desk& desk, const Ui& ui, CustomForm& form, unsigned field, const std::string& text) {
    desk.matrix_reader.cancel();
    const Cell at = form.selected;
    try {
        const float value = parse_cell(text);
        form.problem = why_not_custom(form.name, value);
        if (!form.problem.empty()) return;
        form.values(at.row, at.column) = value;
    } catch (const std::exception& error) {
        form.problem = problem_text(error);
        return;
    }
    if (!compat::key_pressed(Key::enter) || at.row + 1 >= form.values.rows()) return;
    select(form, at.row + 1, at.column);
    begin_typing(ui, field, exact_text(form.values(at.row + 1, at.column)));
}

struct GridPlace {
    ImVec2 origin;  ///< of the first cell
    float width, height;
    int first_row, last_row, first_column, last_column;  ///< that are visible

    Area cell(int row, int column) const {
        const ImVec2 at{origin.x + static_cast<float>(column) * width,
                        origin.y + static_cast<float>(row) * height};
        return {at, {at.x + width, at.y + height}};
    }
};

GridPlace place_grid(const Ui& ui, const CustomForm& form) {
    GridPlace place{};
    place.width = ui.px(k_cell_width);
    place.height = ui.px(k_cell_height);
    const ImVec2 at = ImGui::GetCursorScreenPos(), window = ImGui::GetWindowPos(),
                 size = ImGui::GetWindowSize();
    place.origin = {at.x + ui.px(k_number_width), at.y + place.height};
    const auto index = [](float position, float origin, float pitch, Eigen::Index count) {
        return cell_at((position - origin) / pitch, static_cast<int>(count));
    };
    place.first_row = index(window.y, place.origin.y, place.height, form.values.rows());
    place.last_row = index(window.y + size.y, place.origin.y, place.height, form.values.rows());
    place.first_column = index(window.x, place.origin.x, place.width, form.values.cols());
    place.last_column = index(window.x + size.x, place.origin.x, place.width, form.values.cols());
    return place;
}

void draw_grid(const Ui& ui, const CustomForm& form, const GridPlace& place) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float text_top = (place.height - compat::font_size(*ui.fonts.mono)) / 2;
    for (int j = place.first_column; j <= place.last_column; ++j)
        draw_text(list, ui.fonts.caption,
                  {place.cell(0, j).max.x - ui.px(8), place.origin.y - place.height + ui.px(5)},
                  ink(ui.theme.faint), std::to_string(j + 1), Align::right);
    for (int i = place.first_row; i <= place.last_row; ++i) {
        draw_text(list, ui.fonts.caption, {place.origin.x - ui.px(10), place.cell(i, 0).min.y + ui.px(5)},
                  ink(ui.theme.faint), std::to_string(i + 1), Align::right);
        for (int j = place.first_column; j <= place.last_column; ++j) {
            const Area cell = place.cell(i, j);
            const float value = form.values(i, j);
            list->AddRect(cell.min, {cell.max.x + 1, cell.max.y + 1}, ink(ui.theme.line));
            draw_text(list, ui.fonts.mono, {cell.max.x - ui.px(8), cell.min.y + text_top},
                      ink(std::isfinite(value) ? ui.theme.text : ui.theme.warning), cell_text(value),
                      Align::right);
        }
    }
    const Area chosen = place.cell(form.selected.row, form.selected.column);
    list->AddRect(chosen.min, {chosen.max.x + 1, chosen.max.y + 1}, ink(ui.theme.accent));
}

/// Scrolls the selected cell into view.
void keep_in_sight(const Area& cell) {
    const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
    if (cell.min.x < at.x || cell.max.x > at.x + size.x) ImGui::SetScrollFromPosX(cell.min.x - at.x);
    if (cell.min.y < at.y || cell.max.y > at.y + size.y) ImGui::SetScrollFromPosY(cell.min.y - at.y);
}

void grid(Desk& desk, const Ui& ui, CustomForm& form) {
    const Cell before = form.selected;
    // ImGui does not count the scrollbar at the foot when it decides whether the rows fit.
    const float high = list_height(ui, 260) + ImGui::GetStyle().ScrollbarSize;
    const ImVec2 at = ImGui::GetCursorScreenPos(), size{dialog_width(ui), high};
    const unsigned field = ImGui::GetID("cell");
    grid_keys(desk, ui, form, field, {at, {at.x + size.x, at.y + size.y}});
    ImGui::BeginChild("grid", size, true, ImGuiWindowFlags_HorizontalScrollbar);
    const GridPlace place = place_grid(ui, form);
    draw_grid(ui, form, place);
    if (ui.controls.field.typing == field) {
        ImGui::SetCursorScreenPos(place.cell(form.selected.row, form.selected.column).min);
        if (const auto typed = typing_field(ui, field, place.width))
            enter_cell(desk, ui, form, field, *typed);
    }
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (ImGui::IsWindowHovered() && ImGui::IsMouseClicked(0) && ui.controls.field.typing != field)
        for (int i = place.first_row; i <= place.last_row; ++i)
            for (int j = place.first_column; j <= place.last_column; ++j)
                if (place.cell(i, j).contains(mouse)) {
                    form.selected = {i, j};
                    begin_typing(ui, field, exact_text(form.values(i, j)));
                }
    ImGui::SetCursorScreenPos({place.origin.x - ui.px(k_number_width), place.origin.y - place.height});
    ImGui::Dummy({ui.px(k_number_width) + place.width * static_cast<float>(form.values.cols()),
                  place.height * static_cast<float>(form.values.rows() + 1)});
    if (form.selected != before) keep_in_sight(place.cell(form.selected.row, form.selected.column));
    ImGui::EndChild();
}

void apply(Desk& desk, CustomForm& form) {
    form.problem.clear();
    Experiment trial = desk.document.experiment();
    trial.weights.set_custom(form.name, form.values);
    try {
        check_edit(trial);
        check_custom_cells(trial);
    } catch (const std::exception& error) {
        form.problem = problem_text(error);
        return;
    }
    form.had_problem = !desk.document.problem().empty();
    form.applying = true;
    form.idle_frames = 0;
    set_custom(desk.document, form.name, form.values);
}

/// Closes the dialog once the new matrix is computed; undoes it if it does not fit.
void finish(Desk& desk, CustomForm& form) {
    if (!form.applying || desk.document.busy()) return;
    const bool settled = !desk.document.stale() || !desk.document.problem().empty();
    // A finished result is taken in the next frame; without words there is nothing to compute.
    if (!settled && form.idle_frames++ == 0) return;
    form.applying = false;
    const std::string problem = desk.document.problem();
    if (problem.empty() || form.had_problem) {
        desk.state.dialog = Dialog::none;
        return;
    }
    desk.document.undo();
    form.problem = problem;
}

}  // namespace

void custom_dialog(Desk& desk, const Ui& ui) {
    CustomForm& form = desk.state.custom_form;
    if (desk.state.dialog_opens) {
        const Trace* trace = desk.document.trace().get();
        const StageKey chosen = desk.document.presentation().stage;
        const std::string focused = custom_name_of(trace ? focused_stage(*trace, chosen).key() : chosen);
        // A dropped file may be named as the matrix that it holds.
        const std::string named = form.reads_file ? std::filesystem::path(form.file).stem().string() : "";
        start_with(desk, ui, form, first_name(names_here(desk), {named, focused, form.name}));
        form.applies_file =
            form.reads_file && form.name == focused && CustomName(focused) == CustomName("mask");
        form.applying = false;
    }
    if (take_file(desk, form)) apply(desk, form);
    name_row(desk, ui, form);
    source_rows(desk, ui, form);
    grid(desk, ui, form);
    problem_lines(ui, form.problem);
    if (push_button(ui, "Apply", "Sets the matrix to these values", ui.px(110))) apply(desk, form);
    ImGui::SameLine();
    if (push_button(ui, "Discard", "Discards the custom matrix: it is computed or drawn again", ui.px(110),
                    desk.document.experiment().is_custom(form.name))) {
        discard_custom(desk.document, form.name);
        desk.state.dialog = Dialog::none;
    }
    ImGui::SameLine();
    if (push_button(ui, "Cancel", "Closes this and changes nothing", ui.px(110)))
        desk.state.dialog = Dialog::none;
    finish(desk, form);
}

}  // namespace attnscope
