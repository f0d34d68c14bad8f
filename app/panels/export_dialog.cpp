// What to export, how it looks and where it goes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "app/document/picture_on_screen.h"
#include "app/panels/dialog_parts.h"
#include "core/error.h"
#include "core/export/export.h"
#include "core/export/film.h"
#include "core/export/run_curves.h"
#include "core/graph/row_steps.h"
#include "core/learn/variations.h"
#include "core/limits.h"
#include "core/mechanism/mechanisms.h"
#include "core/picture/colormap.h"
#include "core/picture/theme.h"
#include "core/session/options.h"
#include "core/session/sweep.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

constexpr int k_most_frames = 1000;
constexpr float k_browse = 84;  ///< units; the width of the button

void form_frames(ExportForm& form, const std::string& typed) {
    int frames = 0;
    const auto [end, problem] = std::from_chars(typed.data(), typed.data() + typed.size(), frames);
    const bool good = problem == std::errc{} && end == typed.data() + typed.size() && frames >= 1 &&
                      frames <= k_most_frames;
    form.problem = good ? "" : fmt::format("a film has 1 to {} frames", k_most_frames);
    if (good) form.frames = frames;
}

void form_option(ExportForm& form, OptionName name, const std::string& value) {
    Session session{{}, form.presentation, {}};
    try {
        set_from_text(session, option_named(name), value);
        form.presentation = session.presentation;
        form.problem.clear();
    } catch (const Error& error) {
        form.problem = named_as(name.text(), "", error);
    }
}

/// Draws the controls of some settings, of which the first gets the keyboard if one of these was searched
/// for.
template <typename Control>
void controls_of(Desk& desk, const Ui& ui, const std::vector<OptionName>& settings, const Control& control) {
    const std::size_t drawn = ui.controls.focus.drawn.size();
    control();
    if (desk.state.reveal.is_one_of(settings) && give_keyboard_since(ui, drawn)) desk.state.reveal = {};
}

void form_choice(Desk& desk, const Ui& ui, const char* label, OptionName name,
                 const std::vector<Choice>& choices) {
    ExportForm& form = desk.state.export_form;
    row(ui, label, [&] {
        const std::string current = text_of(Session{{}, form.presentation, {}}, option_named(name));
        controls_of(desk, ui, {name}, [&] {
            const auto picked = choice_field(ui, "##choice", choices, current);
            help_at_rest(ui, std::string(option_named(name).help));
            if (picked) form_option(form, name, *picked);
        });
    });
}

template <typename E>
std::vector<Choice> names_of() {
    std::vector<Choice> names;
    for (const auto& [value, name] : choices<E>())
        names.push_back({std::string(name), std::string(name), ""});
    return names;
}

/// Whether all choices fit side by side; otherwise they take several lines.
bool is_wide(const Ui& ui) { return dialog_width(ui) >= ui.px(400); }

/// The preview is a square as high as the dialog's settings; in a small window there is no room for it.
float preview_side(const Ui& ui) { return ui.px(360); }
bool shows_preview(const Ui& ui) {
    return ImGui::GetIO().DisplaySize.x >= dialog_width(ui) + preview_side(ui) + ui.px(90);
}

/// Whether there is a run of training whose course can be written.
bool has_curves(const Desk& desk) {
    return desk.document.is_of_run() && !desk.document.training().records.empty();
}

/// The run and the one beside it, as far as the first one went.
std::vector<Course> courses_of(const Desk& desk) {
    const TrainingProgress& run = desk.document.training();
    std::vector<Course> courses{{run.start, run.records}};
    if (const Variation* variation = desk.document.beside()) {
        const TrainingProgress& beside = desk.document.training_beside();
        Course course{beside.start, beside.records, std::string(variation->name)};
        course.records.resize(std::min(course.records.size(), run.records.size()));
        if (!course.records.empty()) courses.push_back(std::move(course));
    }
    return courses;
}

struct FormatRow {
    FileFormat choice;
    std::string_view summary;
};

/// The formats of what is exported.
std::vector<FormatRow> formats_of(ExportForm::What what) {
    std::vector<FormatRow> rows;
    if (what == ExportForm::What::curves) {
        for (const CurveFormat& format : curve_formats()) rows.push_back({format.choice, format.summary});
        return rows;
    }
    for (const ExportFormat& format : export_formats()) rows.push_back({format.choice, format.summary});
    if (what == ExportForm::What::film)
        rows.push_back({FileFormat::gif, "all frames in one file, for slides"});
    return rows;
}

/// The formats that are checked.
std::vector<FileFormat> formats_of(const ExportForm& form) {
    std::vector<FileFormat> formats;
    for (const FormatRow& row : formats_of(form.what))
        if (std::ranges::find(form.formats, row.choice) != form.formats.end()) formats.push_back(row.choice);
    return formats;
}

/// The view, the stage in focus, all of them, a film or the curves.
void what_row(Desk& desk, const Ui& ui) {
    ExportForm& form = desk.state.export_form;
    row(ui, "What", [&] {
        using What = ExportForm::What;
        const float left = ImGui::GetCursorPosX();
        const auto button = [&](const std::string& label, What what, const char* help) {
            if (radio_button(ui, label.c_str(), help, form.what == what)) form.what = what;
        };
        const auto beside = [&] {
            if (is_wide(ui)) return ImGui::SameLine();
            ImGui::SetCursorPosX(left);
        };
        if (has_picture(desk.document)) {
            button(std::string(name_of(desk.document.presentation().view)) + " view", What::view,
                   "The view as it is drawn");
            beside();
        }
        button(stage_heading(stage_on_screen(desk.document).key()), What::stage, "The matrix of this stage");
        beside();
        button("all", What::all, "Every stage of the computation, and the picture of the view");
        if (why_no_film(desk.document.session()).empty()) {
            beside();
            button("film", What::film,
                   "The view, or else the stage in focus, at steps of the training run up to the one shown, "
                   "or at values of the swept setting");
        }
        if (has_curves(desk)) {
            beside();
            button("curves", What::curves,
                   "Loss, accuracy and pattern score of every step, also of the run beside it");
        }
    });
}

void formats_row(const Ui& ui, ExportForm& form) {
    row(ui, "Formats", [&] {
        // The formats stand in lines, as many on each as fit.
        const float left = ImGui::GetCursorPosX(), begin = ImGui::GetCursorScreenPos().x;
        const ImGuiStyle& style = ImGui::GetStyle();
        const float end = begin + ImGui::CalcItemWidth();
        bool first = true;
        for (const FormatRow& format : formats_of(form.what)) {
            const std::string name(name_of(format.choice));
            const float width =
                ImGui::GetFrameHeight() + style.ItemInnerSpacing.x + ImGui::CalcTextSize(name.c_str()).x;
            if (!first && ImGui::GetItemRectMax().x + style.ItemSpacing.x + width <= end)
                ImGui::SameLine();
            else if (!first)
                ImGui::SetCursorPosX(left);
            first = false;
            const auto at = std::ranges::find(form.formats, format.choice);
            bool on = at != form.formats.end();
            if (check_box(ui, name.c_str(), std::string(format.summary), on)) {
                if (on)
                    form.formats.push_back(format.choice);
                else
                    form.formats.erase(at);
            }
        }
    });
}

/// "rows 120 to 160, columns 1 to 40"
std::string region_text(const Region& part) {
    return fmt::format("rows {} to {}, columns {} to {}", part.row + 1, part.end_row(), part.column + 1,
                       part.end_column());
}

/// All of the matrix or, where the window shows a part of it, that part.
void part_row(Desk& desk, const Ui& ui) {
    std::optional<Region>& region = desk.state.export_form.presentation.region;
    const bool is_pipeline = desk.document.presentation().view == ViewKind::pipeline;
    const std::optional<Region> seen = is_pipeline ? desk.state.in_sight : std::nullopt;
    const ExportForm::What what = desk.state.export_form.what;
    const bool has_pairs =
        what == ExportForm::What::all ||
        (what == ExportForm::What::stage && is_of_pairs(*stage_on_screen(desk.document).info));
    if (!has_pairs) return;
    row(ui, "Part", [&] {
        const float left = ImGui::GetCursorPosX();
        const bool has_part = seen || region;
        const char* const help = has_part ? "All rows and columns"
                                          : "All rows and columns; zoom into the matrix, and what is then in "
                                            "sight can be exported alone";
        controls_of(desk, ui, {"region"}, [&] {
            if (radio_button(ui, "whole matrix", help, !region)) region.reset();
        });
        if (!has_part) return;
        if (is_wide(ui))
            ImGui::SameLine();
        else
            ImGui::SetCursorPosX(left);
        const Region part = region ? *region : *seen;
        if (radio_button(ui, region_text(part).c_str(), "This part alone", region.has_value())) region = part;
    });
}

void what_to_export(Desk& desk, const Ui& ui) {
    ExportForm& form = desk.state.export_form;
    what_row(desk, ui);
    if (form.what == ExportForm::What::film)
        row(ui, "Frames", [&] {
            const DragResult result = drag_field(ui, "frames", std::to_string(form.frames), -1, ui.px(110));
            help_at_rest(ui, "Frames of the film, at most 1000");
            if (result.steps) form.frames = std::clamp(form.frames + result.steps, 1, k_most_frames);
            if (result.typed) form_frames(form, *result.typed);
        });
    const int heads = desk.document.trace()->experiment.attention.heads;
    if (heads > 1 && form.what != ExportForm::What::curves) {
        std::vector<Choice> choices = {{"all", "all heads", ""}, {"mean", "mean of the heads", ""}};
        for (int h = 1; h <= heads; ++h)
            choices.push_back({std::to_string(h), fmt::format("head {}", h), ""});
        form_choice(desk, ui, "Heads", "head", choices);
    }
    part_row(desk, ui);
    formats_row(ui, form);
}

/// A number with its unit, to be typed or dragged in steps.
void measure_field(Desk& desk, const Ui& ui, OptionName name, double value, const char* unit, double step) {
    ExportForm& form = desk.state.export_form;
    controls_of(desk, ui, {name}, [&] {
        const std::string id(name);
        const DragResult result =
            drag_field(ui, id.c_str(), fmt::format("{:g} {}", value, unit), -1, ui.px(76));
        if (result.steps) form_option(form, name, fmt::format("{:g}", value + result.steps * step));
        if (result.typed) form_option(form, name, *result.typed);
    });
}

void values_in_cells(Desk& desk, const Ui& ui) {
    ExportForm& form = desk.state.export_form;
    const auto values = [&] {
        check_box(ui, "values in the cells", "Numbers, where the cells have room for them",
                  form.presentation.values);
    };
    // Without values there is no field for their decimals.
    if (!form.presentation.values) return controls_of(desk, ui, {"decimals"}, values);
    values();
    ImGui::SameLine();
    const std::optional<int>& decimals = form.presentation.decimals;
    DragResult result;
    controls_of(desk, ui, {"decimals"}, [&] {
        result = drag_field(ui, "decimals", decimals ? fmt::format("{} decimals", *decimals) : "auto", -1,
                            ui.px(68));
    });
    tooltip(ui, "Decimals of the values; auto: three digits");
    constexpr int k_first = 2;
    if (result.steps)
        form_option(form, "decimals",
                    std::to_string(std::clamp(decimals.value_or(k_first) + result.steps, 0, 6)));
    if (result.typed) form_option(form, "decimals", result.typed->substr(0, result.typed->find(' ')));
}

/// On a size of paper the theme and, unless another one was chosen, the color map that suit it.
void take_colors_of_paper(Presentation& look) {
    for (const PaperPreset& preset : k_paper_presets) {
        if (look.paper() != preset.paper) continue;
        look.theme = preset.theme;
        if (look.colormap == Presentation{}.colormap || look.colormap == k_paper_colormap)
            look.colormap = preset.colormap;
    }
}

/// Whether pairs of a picture may share a cell.
bool shares_cells(const Desk& desk) { return desk.document.trace() && desk.document.trace()->is_on_demand(); }

/// The number of cells of a picture of a very long text.
void row_of_max_cells(Desk& desk, const Ui& ui) {
    ExportForm& form = desk.state.export_form;
    row(ui, "Cells a side", [&] {
        const int most = form.presentation.max_cells;
        DragResult result;
        controls_of(desk, ui, {"max-cells"}, [&] {
            result = drag_field(ui, "max-cells", fmt::format("up to {}", most), -1, ui.px(110));
        });
        tooltip(ui, "Where there are more queries or keys, neighboring pairs share a cell");
        constexpr int k_step = 64;
        const int stepped = std::clamp(most + k_step * result.steps, k_least_max_cells, k_most_max_cells);
        if (result.steps) form_option(form, "max-cells", std::to_string(stepped));
        if (result.typed) form_option(form, "max-cells", result.typed->substr(result.typed->rfind(' ') + 1));
    });
}

/// The size of pictures. On paper: a preset, or any width with its resolution and font size. In pixels: the
/// size of a cell.
void size_of_pictures(Desk& desk, const Ui& ui) {
    Presentation& look = desk.state.export_form.presentation;
    row(ui, "Size", [&] {
        std::vector<Choice> sizes = {{"pixels", "pixels, for a screen", ""}};
        std::string current = look.width ? "own" : "pixels";
        for (const PaperPreset& preset : k_paper_presets) {
            const Paper& paper = preset.paper;
            sizes.push_back({std::string(preset.name), fmt::format("{}, {:g} mm", preset.name, paper.width),
                             fmt::format("{:g} dpi, {:g} pt type, in the {} theme", paper.dpi,
                                         paper.font_size, name_of(preset.theme))});
            if (look.paper() == paper) current = preset.name;
        }
        if (current == "own") sizes.push_back({"own", fmt::format("{:g} mm", *look.width), ""});
        // A setting whose field is hidden leads to the choice that shows it.
        std::vector<OptionName> settings = look.width ? std::vector<OptionName>{"cell-size"}
                                                      : std::vector<OptionName>{"width", "dpi", "font-size"};
        if (look.width && !shares_cells(desk)) settings.push_back(OptionName("max-cells"));
        std::optional<std::string> picked;
        controls_of(desk, ui, settings, [&] { picked = choice_field(ui, "##size", sizes, current); });
        help_at_rest(ui, "In pixels, or as wide as a column of a paper or a slide");
        if (picked == "pixels" && look.width) {
            look.width.reset();
            look.theme = desk.document.presentation().theme;
            look.colormap = desk.document.presentation().colormap;
        }
        for (const PaperPreset& preset : k_paper_presets)
            if (picked == preset.name) {
                look.width = preset.paper.width;
                look.dpi = preset.paper.dpi;
                look.font_size = preset.paper.font_size;
                look.theme = preset.theme;
                take_colors_of_paper(look);
            }
    });
    if (!look.width) return;
    row(ui, "Width", [&] {
        measure_field(desk, ui, "width", *look.width, "mm", 1);
        tooltip(ui, "Cells are as large as the width allows; the font size stays the same");
        ImGui::SameLine();
        measure_field(desk, ui, "dpi", look.dpi, "dpi", 10);
        tooltip(ui, "Pixels per inch of a PNG");
        ImGui::SameLine();
        measure_field(desk, ui, "font-size", look.font_size, "pt", 0.5);
        tooltip(ui, "Font size of labels and numbers");
    });
}

/// How a composition is offered of a stage and of a film; not at all where it has no name.
struct OfferedComposition {
    Compose choice;
    const char *of_stage, *help, *of_film, *film_help;
};
constexpr std::array k_compositions = {
    OfferedComposition{Compose::none, "the matrix alone", "", "a file for each frame",
                       "Or one file with all frames, as gif"},
    OfferedComposition{Compose::operands, "with its operands",
                       "The matrices it is computed from, at its left and above it", nullptr, nullptr},
    OfferedComposition{Compose::heads, "every head",
                       "Every head, and every layer of a stack, on one color range", nullptr, nullptr},
    OfferedComposition{Compose::strip, "every stage", "The whole computation, as a poster", nullptr, nullptr},
    OfferedComposition{Compose::compare, "A, B and B − A",
                       "The pinned experiment (P), the current one, and their difference", nullptr, nullptr},
    OfferedComposition{Compose::steps, "step by step",
                       "How the locked row of weights is computed, key by key", nullptr, nullptr},
    OfferedComposition{Compose::film, nullptr, nullptr, "one picture",
                       "All frames on one color range; of a sweep also mean and spread"},
};
static_assert(is_table_of<Compose>(k_compositions));

void composition_row(Desk& desk, const Ui& ui, bool is_film) {
    std::vector<Choice> offered;
    for (const OfferedComposition& each : k_compositions)
        if (const char* shown = is_film ? each.of_film : each.of_stage)
            offered.push_back(
                {std::string(name_of(each.choice)), shown, is_film ? each.film_help : each.help});
    form_choice(desk, ui, "Picture", "compose", offered);
}

void how_pictures_look(Desk& desk, const Ui& ui) {
    ExportForm& form = desk.state.export_form;
    const bool is_film = form.what == ExportForm::What::film;
    if (is_film || form.what == ExportForm::What::stage || form.what == ExportForm::What::all)
        composition_row(desk, ui, is_film);
    if (!is_film || form.presentation.compose == Compose::film) size_of_pictures(desk, ui);
    row(ui, "Title", [&] {
        std::optional<std::string>& title = form.presentation.title;
        std::string text = title.value_or("");
        const std::string before = text;
        controls_of(desk, ui, {"title"}, [&] {
            line_field(ui, "##title", title ? "none" : "the stage's name and formula",
                       "The title of the picture; clear it for none, right-click for the stage's name", text);
        });
        if (ImGui::IsItemClicked(1)) return title.reset();
        text.resize(code_point_begin(text, k_max_caption_bytes));
        if (text != before) title = text;
    });
    row(ui, form.presentation.width ? "Values" : "Cell size", [&] {
        if (form.presentation.width) return values_in_cells(desk, ui);
        const std::optional<int>& size = form.presentation.cell_size;
        DragResult result;
        auto settings = std::vector<OptionName>{"cell-size"};
        if (!shares_cells(desk)) settings.push_back(OptionName("max-cells"));
        controls_of(desk, ui, settings, [&] {
            result = drag_field(ui, "size", size ? fmt::format("{} px", *size) : "auto", -1, ui.px(110));
        });
        tooltip(ui, "auto: smaller cells for larger matrices, so that labels stay legible in print");
        if (result.steps) {
            constexpr int k_first = 48;
            const int stepped = std::clamp(size.value_or(k_first) + result.steps, 1, 512);
            form_option(form, "cell-size", std::to_string(stepped));
        }
        if (result.typed) form_option(form, "cell-size", result.typed->substr(0, result.typed->find(' ')));
        if (is_wide(ui)) ImGui::SameLine();
        values_in_cells(desk, ui);
    });
    if (shares_cells(desk)) row_of_max_cells(desk, ui);
    form_choice(desk, ui, "Theme", "theme", names_of<ThemeKind>());
    form_choice(desk, ui, "Colors", "colormap", names_of<ColormapKind>());
}

ExportRequest request_of(const Desk& desk) {
    const ExportForm& form = desk.state.export_form;
    using What = ExportForm::What;
    ExportRequest request = picture_on_screen(desk.document);
    request.head = form.presentation.head;
    request.formats = formats_of(form);
    request.gradients = desk.document.presentation().gradients;
    if (form.what == What::stage || form.what == What::all) {
        request.stages.clear();
        request.view.reset();
        request.view_alone = false;
    }
    if (form.what == What::stage) request.stages = {std::string(stage_on_screen(desk.document).name())};
    if (form.what == What::all) request.view = desk.document.presentation().view;
    const bool of_film = form.presentation.compose == Compose::film;
    request.compose = of_film == (form.what == What::film) ? form.presentation.compose : Compose::none;
    return request;
}

struct Plan {
    std::string summary;
    bool possible = false;
    std::size_t files = 0;
};

/// The picture as it will be, beside the settings if there is room, else below them.
void preview(Desk& desk, const Ui& ui) {
    const ExportForm& form = desk.state.export_form;
    using What = ExportForm::What;
    if (form.what == What::curves || formats_of(form).empty()) return;
    const bool is_film = form.what == What::film;
    const float side = preview_side(ui);
    Session session = desk.document.session();
    session.presentation = form.presentation;
    ExportRequest request = request_of(desk);
    const bool is_sheet = request.compose == Compose::film;
    PreviewRequest asked{desk.document.trace(), std::move(session), std::move(request),
                         static_cast<int>(side), is_film ? form.frames : 0};
    if (!desk.exporter.running()) desk.previewer.request(asked);  // frames are not computed twice at once
    desk.previewer.update();
    const std::shared_ptr<const Preview> known = desk.previewer.known();
    ImGui::SameLine(0, ui.px(20));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float caption = ui.px(24);
    ImGui::Dummy({side, side + caption});
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(at, {at.x + side, at.y + side}, ink(ui.theme.background));
    const auto say = [&](const std::string& text, Rgb8 color) {
        draw_text(list, ui.fonts.caption, {at.x, at.y + side + ui.px(6)}, ink(color), text, Align::left,
                  side);
    };
    const bool awaited = is_film && !(known && known->of == asked);
    if (awaited) say("Computing the frames …", ui.theme.secondary);
    if (known && known->image) {
        const Image& image = known->image->image();
        const auto width = static_cast<float>(image.width), height = static_cast<float>(image.height);
        const float scale = std::min({1.f, side / width, side / height});
        const ImVec2 corner{std::floor(at.x + (side - width * scale) / 2),
                            std::floor(at.y + (side - height * scale) / 2)};
        ui.images.draw(*list, *known->image, corner, {corner.x + width * scale, corner.y + height * scale});
    }
    if (!known || awaited) return;
    if (!known->problem.empty()) return say(known->problem, ui.theme.warning);
    const bool of_frame = is_film && !is_sheet && known->image;
    say((of_frame ? "the first frame: " : "") + known->facts, ui.theme.secondary);
}

/// At most so many files: a sheet and a GIF are one, other formats have one for each frame.
std::size_t files_of_film(const ExportForm& form, const std::vector<FileFormat>& formats) {
    if (form.presentation.compose == Compose::film) return formats.size();
    std::size_t files = 0;
    for (const FileFormat format : formats)
        files += format == FileFormat::gif ? 1 : static_cast<std::size_t>(form.frames);
    return files;
}

/// "writes weights.png and 3 more", or the reason why nothing can be written.
Plan plan_of(Desk& desk) {
    const ExportForm& form = desk.state.export_form;
    const std::vector<FileFormat> formats = formats_of(form);
    if (formats.empty()) return {"choose a format"};
    if (form.what == ExportForm::What::film || form.what == ExportForm::What::curves) {
        if (form.what == ExportForm::What::curves && !has_curves(desk)) return {"there is no training run"};
        if (form.what == ExportForm::What::curves)
            return {fmt::format("writes {}.{}", k_curves_file, name_of(formats.front())), true,
                    formats.size()};
        if (std::string why = why_no_film(desk.document.session(), {request_of(desk), form.frames});
            !why.empty())
            return {std::move(why)};
        const Sweep sweep = chosen_sweep(desk.document.session());
        return {sweep != Sweep::none
                    ? fmt::format("writes at most {} values of {}", form.frames, option_of(sweep))
                    : fmt::format("writes {} of the steps 0 to {}", form.frames,
                                  desk.document.experiment().training.step),
                true, files_of_film(form, formats)};
    }
    try {
        const auto items = plan_export(*desk.document.trace(), request_of(desk));
        return {"writes " + items.front().file_name +
                    (items.size() > 1 ? fmt::format(" and {} more", items.size() - 1) : ""),
                true, items.size()};
    } catch (const std::exception& error) {
        return {problem_text(error)};
    }
}

void running_export(Desk& desk, const Ui& ui) {
    const std::string files = fmt::format("{} of {} files", desk.exporter.done(), desk.exporter.count());
    ImGui::ProgressBar(static_cast<float>(desk.exporter.part()), {dialog_width(ui), 0}, files.c_str());
    if (push_button(ui, "Cancel", "Files already written are kept", ui.px(110))) desk.exporter.cancel();
    ImGui::SameLine();
    if (push_button(ui, "Hide", "The export continues; the status bar shows its progress", ui.px(110)))
        desk.state.dialog = Dialog::none;
}

void start_export(Desk& desk, Session session) {
    const ExportForm& form = desk.state.export_form;
    using What = ExportForm::What;
    desk.previewer.forget();
    if (form.what == What::film)
        return desk.exporter.start(
            [session = std::move(session), folder = form.folder,
             request = FilmRequest{request_of(desk), form.frames}](const ExportProgress& progress) {
                return export_film(session, request, folder, {}, progress);
            });
    if (form.what == What::curves)
        return desk.exporter.start([courses = courses_of(desk), formats = formats_of(form),
                                    folder = form.folder,
                                    theme = form.presentation.theme](const ExportProgress& progress) {
            return export_curves(courses, theme, formats, folder, progress);
        });
    desk.exporter.start(desk.document.trace(), std::move(session), request_of(desk), form.folder);
}

void export_form(Desk& desk, const Ui& ui) {
    ExportForm& form = desk.state.export_form;
    const std::string sought = desk.state.reveal.option;
    what_to_export(desk, ui);
    if (form.what == ExportForm::What::curves)
        form_choice(desk, ui, "Theme", "theme", names_of<ThemeKind>());
    else
        how_pictures_look(desk, ui);
    bool entered = false;
    row(ui, "Folder", [&] {
        // Selected after a failure too, as the folder is the most common cause.
        const bool is_elsewhere = !sought.empty() && desk.state.reveal.option.empty();
        if ((desk.state.dialog_opens && !is_elsewhere) || form.refocus) ImGui::SetKeyboardFocusHere();
        form.refocus = false;
        ImGui::SetNextItemWidth(ImGui::CalcItemWidth() - ui.px(k_browse + 8));
        entered = line_field(ui, "##folder", "", "The folder to write into; created if it does not exist",
                             form.folder);
        ImGui::SameLine(0, ui.px(8));
        if (push_button(ui, "Browse…", "Pick the folder from a list", ui.px(k_browse)))
            form.picker = FileForm{.folder = form.folder};
    });
    constexpr std::size_t k_few = 12;
    const Plan plan = plan_of(desk);
    form.confirms = form.confirms && plan.possible && plan.files > k_few;
    const std::string asked = fmt::format("Write {} files into this folder?", plan.files);
    ImGui::TextDisabled("%s", form.confirms ? asked.c_str() : plan.summary.c_str());
    problem_line(ui, form.problem);
    const std::string label = form.confirms ? fmt::format("Write {}", plan.files) : "Export";
    const bool pressed = push_button(ui, label.c_str(), "Writes the files", ui.px(110), plan.possible);
    ImGui::SameLine();
    if (push_button(ui, "Cancel", "Closes this without writing", ui.px(110))) {
        if (!std::exchange(form.confirms, false)) desk.state.dialog = Dialog::none;
    }
    if (!plan.possible || (!pressed && !entered)) return;
    if (plan.files > k_few && !std::exchange(form.confirms, true)) return;
    form.confirms = false;
    form.problem.clear();
    desk.saved.export_folder = form.folder;
    desk.document.change([&](Session& session) {
        // How pictures leave the program is kept with the session.
        Presentation& kept = session.presentation;
        kept.cell_size = form.presentation.cell_size;
        kept.max_cells = form.presentation.max_cells;
        kept.width = form.presentation.width;
        kept.dpi = form.presentation.dpi;
        kept.font_size = form.presentation.font_size;
    });
    Session session = desk.document.session();
    session.presentation = form.presentation;
    start_export(desk, std::move(session));
}

void pick_folder(const Ui& ui, ExportForm& form) {
    bool closed = false;
    const std::optional<std::string> picked = folder_picker(ui, *form.picker, closed);
    if (picked) form.folder = *picked;
    if (picked || closed) form.picker.reset();
    form.refocus = !form.picker;
}

}  // namespace

/// What is exported becomes what has the setting that was searched for.
void make_room_for_sought(Desk& desk) {
    using What = ExportForm::What;
    ExportForm& form = desk.state.export_form;
    if (desk.state.reveal.option.empty()) return;
    const bool of_stage = desk.state.reveal.is_one_of({"compose", "region"});
    if (of_stage || form.what == What::film || form.what == What::curves) form.what = What::stage;
    const bool is_film = desk.state.reveal.option == "compose" &&
                         form.presentation.compose == Compose::film &&
                         why_no_film(desk.document.session()).empty();
    if (is_film)
        form.what = What::film;
    else if (form.presentation.compose == Compose::film)
        form.presentation.compose = Compose::none;
}

void export_dialog(Desk& desk, const Ui& ui) {
    ExportForm& form = desk.state.export_form;
    if (desk.state.dialog_opens) {
        form.presentation = desk.document.presentation();
        form.presentation.compose = composition_shown(desk.document);
        const bool is_of_run = form.what == ExportForm::What::film || form.what == ExportForm::What::curves;
        if (is_of_run ? !why_no_film(desk.document.session()).empty() : form.what != ExportForm::What::all)
            form.what = has_picture(desk.document) ? ExportForm::What::view : ExportForm::What::stage;
        if (desk.document.presentation().view == ViewKind::sweep &&
            why_no_film(desk.document.session()).empty()) {
            form.what = ExportForm::What::film;
            form.frames = swept_count(chosen_sweep(desk.document.session()));
        }
        take_colors_of_paper(form.presentation);
        make_room_for_sought(desk);
        form.problem.clear();
        form.refocus = form.confirms = false;
        form.picker.reset();
        form.folder = desk.saved.export_folder.empty() ? home_folder() : desk.saved.export_folder;
    }
    if (desk.exporter.takes_long()) return running_export(desk, ui);
    if (form.picker) return pick_folder(ui, form);
    // Anything faster would only flicker.
    ui.controls.disabled = desk.exporter.running();
    ImGui::BeginDisabled(ui.controls.disabled);
    ImGui::BeginGroup();
    export_form(desk, ui);
    ImGui::EndGroup();
    if (shows_preview(ui)) preview(desk, ui);
    ImGui::EndDisabled();
    ui.controls.disabled = false;
}

void take_export(Desk& desk) {
    const auto outcome = desk.exporter.take();
    if (!outcome) return;
    if (!outcome->problem.empty()) {
        desk.state.export_form.problem = outcome->problem;
        desk.state.export_form.refocus = true;
        desk.state.notice = {outcome->problem, true};
        return;
    }
    if (desk.state.dialog == Dialog::exporting) desk.state.dialog = Dialog::none;
    const auto& files = outcome->files;
    desk.state.notice = {
        "wrote " + files.front() + (files.size() > 1 ? fmt::format(" and {} more", files.size() - 1) : ""),
        false};
}

}  // namespace attnscope
