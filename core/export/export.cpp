#include "core/export/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "core/export/matrix_files.h"
#include "core/files/file.h"
#include "core/graph/gradient.h"
#include "core/graph/trace.h"
#include "core/limits.h"
#include "core/mechanism/mechanisms.h"
#include "core/picture/color_scale.h"
#include "core/picture/compose.h"
#include "core/picture/render_png.h"
#include "core/picture/render_vector.h"
#include "core/picture/shown_matrix.h"
#include "core/session/comparisons.h"

namespace attnscope {

namespace {

using Names = std::vector<std::string>;

/// The session embedded in a file of one stage and one head.
Session session_of(const Session& session, const ExportItem& item) {
    Session own = session;
    own.presentation.head = item.head;
    if (item.view) {
        own.presentation.view = item.view->view;
        return own;
    }
    own.presentation.focus(item.stage->key());
    return own;
}

/// The session as embedded in the picture of one item.
std::string carried(const Session& session) {
    std::string text = to_json(session);
    if (text.size() > k_max_picture_session_bytes)
        throw Error(ErrorKind::too_large,
                    fmt::format("the session has {} bytes and a picture holds at most {}: export PDF or "
                                "data, or use smaller custom matrices",
                                text.size(), k_max_picture_session_bytes));
    return text;
}

/// A with what A and B differ in, if that is one setting.
std::optional<PinnedSide> pinned_side(const Trace& trace, const Session& session,
                                      const std::optional<ComparedSide>& side) {
    if (!side) return std::nullopt;
    PinnedSide a{*side};
    const std::vector<SettingDifference> settings = setting_differences(session);
    if (settings.size() == 1) {
        const auto about = [&](const std::string& value) {
            return fmt::format("{} {}", settings[0].option, value.empty() ? "none" : value);
        };
        a.about_a = about(settings[0].a);
        a.about_b = about(settings[0].b);
    }
    const auto by = [](const Trace& of) {
        return of.backend == BackendKind::cpu ? "by the CPU" : "by the GPU";
    };
    if (settings.empty() && side->trace->backend != trace.backend) {
        a.about_a = by(*side->trace);
        a.about_b = by(trace);
    }
    return a;
}

/// Whether the picture of a view is one of each head.
bool shows_each_head(const ExportItem& item, Compose compose) {
    return item.view->of_all_heads && compose == Compose::heads && item.head.kind == HeadChoice::Kind::all;
}

/// Surveys what the colors and the pooled cells of a very long text are read from, so that this long part of
/// the work is reported and canceled.
void survey(const Trace& trace, const ExportItem& item, const Presentation& presentation,
            const Progress& progress) {
    if (!item.stage->buffer.on_demand() || !is_of_pairs(*item.stage->info)) return;
    std::vector<ShownMatrix> matrices = matrices_of_scale(trace, *item.stage, item.head, presentation);
    const ShownMatrix shown = shown_matrix(*item.stage, item.head);
    const auto is_shown = [&](const ShownMatrix& each) {
        return each.buffer == shown.buffer && each.head == shown.head;
    };
    // The one that is shown comes last. Of the others only the range is needed, which stays known.
    const bool shown_is_read = !presentation.region || std::ranges::any_of(matrices, is_shown);
    std::erase_if(matrices, [&](const ShownMatrix& each) {
        return is_shown(each) || !each.buffer->on_demand() || each.buffer->known_range(each.head);
    });
    if (shown_is_read) matrices.push_back(shown);
    for (std::size_t i = 0; i < matrices.size(); ++i) {
        const auto part = [&](std::size_t done) {
            return static_cast<double>(done) / static_cast<double>(matrices.size());
        };
        const OnDemandValues& values = *matrices[i].buffer->on_demand();
        const int head = matrices[i].head;
        if (!values.is_surveyed(head)) item.survey->reset();  // before there is another
        KeptSurvey kept = values.survey(head, step_of(progress, part(i), part(i + 1)), {});
        matrices[i].range();
        *item.survey = std::move(kept);
    }
}

/// The share of a picture's progress that a survey has, if there is one.
double end_of_survey(const ExportItem& item) { return item.stage->buffer.on_demand() ? 0.9 : 0; }

/// `as_pixels`: the page becomes a PNG, whose size is limited.
Page page_of_item(const Trace& trace, const Session& own, const ExportItem& item, const TextFace& face,
                  bool as_pixels) {
    if (item.view && shows_each_head(item, own.presentation.compose))
        return page_of(sheet_of_heads(*item.view, trace, *item.stage, own.presentation), face);
    if (item.view) {
        Figure figure = item.view->make(trace, *item.stage, item.head, own.presentation);
        return own.presentation.width ? page_of(sheet_of(std::move(figure), own.presentation), face)
                                      : page_of(std::move(figure), face);
    }
    const Compose composition = own.presentation.compose;
    if (own.presentation.region && composition != Compose::none && composition != Compose::heads)
        throw Error(ErrorKind::bad_input,
                    fmt::format("a picture with {} shows whole matrices: leave out the region, or choose "
                                "compose none or heads",
                                name_of(composition)));
    if (is_sheet(own.presentation))
        return page_of(
            compose(trace, *item.stage, item.head, own.presentation, pinned_side(trace, own, item.pinned)),
            face);
    Figure figure = make_figure(trace, *item.stage, item.head, own.presentation);
    if (as_pixels) require_drawable(item.stage->name(), figure.rows, figure.columns, figure.cell_size);
    return page_of(std::move(figure), face);
}

/// Writes a picture in one of its formats: `write` gets the page and the progress of drawing it.
template <typename Write>
void write_picture(const Trace& trace, const Session& session, const ExportItem& item, bool as_pixels,
                   const Progress& progress, const Write& write) {
    const Session own = session_of(session, item);
    survey(trace, item, own.presentation, step_of(progress, 0, end_of_survey(item)));
    const TextFace face;
    write(page_of_item(trace, own, item, face, as_pixels), own, step_of(progress, end_of_survey(item), 1));
}

void write_png_item(const Trace& trace, const Session& session, const ExportItem& item, const ByteSink& to,
                    const Progress& progress) {
    write_picture(trace, session, item, true, progress,
                  [&](const Page& page, const Session& own, const Progress& drawing) {
                      write_png(page, carried(own), to, drawing);
                  });
}

void write_svg_item(const Trace& trace, const Session& session, const ExportItem& item, const ByteSink& to,
                    const Progress& progress) {
    write_picture(trace, session, item, false, progress,
                  [&](const Page& page, const Session& own, const Progress& drawing) {
                      to(render_svg(page, carried(own), drawing));
                  });
}

void write_pdf_item(const Trace& trace, const Session& session, const ExportItem& item, const ByteSink& to,
                    const Progress& progress) {
    write_picture(
        trace, session, item, false, progress,
        [&](const Page& page, const Session&, const Progress& drawing) { write_pdf(page, to, drawing); });
}

void write_csv_item(const Trace& trace, const Session& session, const ExportItem& item, const ByteSink& to,
                    const Progress& progress) {
    write_csv(trace, *item.stage, item.head, to, progress, session.presentation.region);
}

void write_npy_item(const Trace&, const Session& session, const ExportItem& item, const ByteSink& to,
                    const Progress& progress) {
    write_npy(*item.stage, item.head, to, progress, session.presentation.region);
}

void write_json_item(const Trace& trace, const Session& session, const ExportItem& item, const ByteSink& to,
                     const Progress& progress) {
    write_json(trace, *item.stage, item.head, to, progress, session.presentation.region);
}

constexpr std::array k_formats = {
    ExportFormat{FileFormat::png, "pixel image; can be opened as a session", true, write_png_item},
    ExportFormat{FileFormat::svg, "vector image, for the web and for editing; can be opened as a session",
                 true, write_svg_item},
    ExportFormat{FileFormat::pdf, "vector image with text, for print", true, write_pdf_item},
    ExportFormat{FileFormat::csv, "table with labels", false, write_csv_item},
    ExportFormat{FileFormat::npy, "NumPy array", false, write_npy_item},
    ExportFormat{FileFormat::json, "labels and numbers", false, write_json_item},
};

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::bad_input, message); }

/// The stages that a name means: one, or without a layer those of every layer.
std::vector<StagePtr> stages_named(const Trace& trace, const std::string& name, int layer) {
    std::vector<StagePtr> found;
    const auto consider = [&](const StagePtr& stage) {
        const bool in_layer = layer == 0 || stage->layer == 0 || stage->layer == layer;
        if (in_layer && (stage->name() == name || stage->info->name == name)) found.push_back(stage);
    };
    for (const StageRecord& record : trace.records) consider(record.stage);
    for (const StagePtr& gradient : trace.gradients) consider(gradient);
    if (!found.empty()) return found;
    if (const std::string why = why_no_gradients(trace); is_gradient_name(name) && !why.empty()) refuse(why);
    const StageInfo* info = find_stage_info(name);
    refuse("this experiment has no stage " + name +
           (!info ? ": see the names that trace prints"
            : info->mechanisms.contains(trace.experiment.mechanism)
                ? ": its settings leave it out"
                : ": choose mechanism " + info->mechanisms.names(" or ")));
}

const ViewFigure* figure_of_view(const ExportRequest& request) {
    return request.view ? find_view_figure(*request.view) : nullptr;
}

std::vector<StagePtr> stages_of(const Trace& trace, const ExportRequest& request) {
    if (request.stages.empty()) {
        const bool none = request.view_alone && figure_of_view(request);
        if (none) return {};
        std::vector<StagePtr> stages = trace.stages();
        for (const StagePtr& gradient : trace.gradients)
            if (request.gradients && !is_parameter(*gradient->info)) stages.push_back(gradient);
        std::erase_if(stages, [&](const StagePtr& stage) {
            return request.layer > 0 && stage->layer != request.layer;
        });
        if (stages.empty())
            refuse(fmt::format("there is no layer {}: this experiment has {}", request.layer,
                               layers_of(trace) == 0 ? "none (leave --layer out)"
                                                     : fmt::format("layers 1 to {}", layers_of(trace))));
        return stages;
    }
    std::vector<StagePtr> stages;
    for (const std::string& name : request.stages)
        for (const StagePtr& stage : stages_named(trace, name, request.layer))
            if (std::ranges::find(stages, stage) == stages.end()) stages.push_back(stage);
    return stages;
}

void require_mean(const Stage& stage, const ExportRequest& request) {
    if (request.head.kind != HeadChoice::Kind::mean || request.stages.empty()) return;
    if (const std::string why = why_not_shown(stage, request.head, stage.name()); !why.empty()) refuse(why);
}

/// What a composition adds to a file's name.
std::string composed_name(Compose compose) {
    return compose == Compose::none ? "" : "-" + std::string(name_of(compose));
}

std::string file_name(std::string name, const Stage& stage, const HeadChoice& head,
                      const ExportFormat& format) {
    if (head.kind == HeadChoice::Kind::mean)
        name += "-mean";
    else if (stage.shape().per_head && stage.shape().heads > 1)
        name += fmt::format("-head{}", head.head + 1);
    return name + "." + std::string(name_of(format.choice));
}

/// The heads that a view has a picture of: all in one, if it can and all are chosen or composed.
std::vector<HeadChoice> heads_in_picture(const ViewFigure& view, const Stage& stage,
                                         const ExportRequest& request) {
    const HeadChoice all{HeadChoice::Kind::all};
    const bool several = stage.shape().per_head && stage.shape().heads > 1;
    const bool wanted = request.head == all || request.compose == Compose::heads;
    return view.of_all_heads && several && wanted ? std::vector{all} : heads_of(stage, request.head);
}

/// The view's picture, and the stage whose numbers it shows if it is exported alone.
std::vector<ExportItem> view_items(const Trace& trace, const ExportRequest& request,
                                   const std::vector<const ExportFormat*>& formats) {
    const ViewFigure* view = figure_of_view(request);
    if (!view) return {};
    const Stage* shown = trace.is_on_demand() ? nullptr : view->stage(trace, request.chosen);
    const bool everything = request.stages.empty() && !request.view_alone;
    if (!shown && everything) return {};
    if (trace.is_on_demand())
        refuse(fmt::format("the view {} is for up to {} tokens, and this text is longer", name_of(view->view),
                           k_max_tokens));
    if (!shown) refuse("the view " + std::string(name_of(view->view)) + " needs " + std::string(view->needs));
    const StagePtr stage = stages_named(trace, std::string(shown->name()), 0).front();
    std::vector<ExportItem> items;
    const std::vector<HeadChoice> single = heads_of(*stage, request.head),
                                  drawn = heads_in_picture(*view, *stage, request);
    for (const ExportFormat* format : formats) {
        if (!format->picture && !request.view_alone) continue;
        const std::string name(format->picture ? view->file : stage->name());
        for (const HeadChoice& head : format->picture ? drawn : single)
            items.push_back(
                {stage, head, format,
                 head.kind == HeadChoice::Kind::all
                     ? name + composed_name(request.compose) + "." + std::string(name_of(format->choice))
                     : file_name(name, *stage, head, *format),
                 format->picture ? view : nullptr});
    }
    return items;
}

/// Each once, in the order of first mention.
std::vector<const ExportFormat*> formats_of(const ExportRequest& request) {
    std::vector<const ExportFormat*> formats;
    for (const FileFormat choice : request.formats) {
        const ExportFormat* format = find_export_format(choice);
        if (!format) refuse(fmt::format("{} is for films: use {}", name_of(choice), export_format_names()));
        if (std::ranges::find(formats, format) == formats.end()) formats.push_back(format);
    }
    return formats;
}

}  // namespace

std::span<const ExportFormat> export_formats() { return k_formats; }

std::string export_format_names() {
    std::string names;
    for (const ExportFormat& format : k_formats)
        names += (names.empty() ? "" : ", ") + std::string(name_of(format.choice));
    return names;
}

const ExportFormat* find_export_format(FileFormat choice) {
    const auto found = std::ranges::find(k_formats, choice, &ExportFormat::choice);
    return found == k_formats.end() ? nullptr : &*found;
}

std::vector<HeadChoice> heads_of(const Stage& stage, const HeadChoice& choice) {
    using Kind = HeadChoice::Kind;
    const int heads = stage.shape().heads;
    if (!stage.shape().per_head || heads == 1) return {HeadChoice{}};
    if (choice.kind == Kind::one && choice.head >= heads)
        refuse(fmt::format("head {} was requested, but there are {} heads", choice.head + 1, heads));
    if (choice.kind == Kind::one || (choice.kind == Kind::mean && why_not_shown(stage, choice).empty()))
        return {choice};
    std::vector<HeadChoice> all;
    for (int h = 0; h < heads; ++h) all.push_back({Kind::one, h});
    return all;
}

namespace {

/// Adds the pictures of a stage, or of the whole trace, that one composition makes; the formats of data are
/// left to the stages.
void add_composed(std::vector<ExportItem>& items, const Trace& trace, const StagePtr& stage,
                  const ExportRequest& request, const std::vector<const ExportFormat*>& formats) {
    const bool of_heads = request.compose == Compose::heads, of_all = request.compose == Compose::strip;
    std::optional<PinnedSide> pinned;
    if (request.pinned) pinned = PinnedSide{*request.pinned};
    const std::vector<HeadChoice> heads = of_heads || of_all
                                              ? std::vector{head_on_screen(*stage, request.head)}
                                              : heads_of(*stage, request.head);
    for (const HeadChoice& head : heads) {
        const std::string why =
            why_not_composed(request.compose, trace, *stage, head_on_screen(*stage, head), pinned);
        if (!why.empty() && request.stages.empty()) continue;
        if (!why.empty()) refuse(why);
        for (const ExportFormat* format : formats) {
            if (!format->picture) continue;
            const std::string own =
                of_all ? "strip" : std::string(stage->name()) + composed_name(request.compose);
            items.push_back({stage, head, format,
                             of_heads || of_all ? own + "." + std::string(name_of(format->choice))
                                                : file_name(own, *stage, head, *format),
                             nullptr, request.pinned});
        }
    }
}

/// No stage has such a picture: says why, of the main stage.
[[noreturn]] void refuse_composition(const Trace& trace, const ExportRequest& request) {
    const Stage& stage = main_stage(trace);
    std::optional<PinnedSide> pinned;
    if (request.pinned) pinned = PinnedSide{*request.pinned};
    const std::string why =
        why_not_composed(request.compose, trace, stage, head_on_screen(stage, request.head), pinned);
    if (why.empty()) refuse("the view has no picture of its own: name stages instead (--stage)");
    refuse(fmt::format("no stage has a picture with {}: {}", name_of(request.compose), why));
}

/// The stages of which a composition makes pictures.
std::vector<StagePtr> composed_stages(const Trace& trace, const ExportRequest& request) {
    const bool of_one = request.compose == Compose::strip || request.compose == Compose::compare;
    if (of_one && (request.stages.empty() || request.compose == Compose::strip))
        return stages_named(trace, std::string(main_stage(trace).name()), 0);
    std::vector<StagePtr> stages = stages_of(trace, request);
    // A picture of the heads has those of every layer.
    if (request.compose == Compose::heads && request.layer == 0)
        std::erase_if(stages, [](const StagePtr& stage) { return stage->layer > 1; });
    return stages;
}

}  // namespace

EvaluateOptions reading_only(EvaluateOptions options, const Session& session, const ExportRequest& request) {
    const Mechanism& mechanism = mechanism_of(session.experiment);
    const bool reads_others = request.view || request.layer > 0 || request.compose != Compose::none ||
                              mechanism.row_labels || session.presentation.wants_gradients() ||
                              std::ranges::any_of(request.stages, is_gradient_name);
    std::vector<const StageInfo*> named, read;
    for (const std::string& name : request.stages) named.push_back(find_stage_info(name));
    if (reads_others || named.empty() || std::ranges::find(named, nullptr) != named.end()) return options;
    const auto add_roles = [&](std::initializer_list<StageRole> roles) {
        for (const StageInfo& info : stage_table())
            if (std::ranges::find(roles, info.role) != roles.end()) read.push_back(&info);
    };
    const bool on_one_range = session.presentation.range.kind == RangeChoice::Kind::head;
    for (const StageInfo* const info : named) {
        read.push_back(info);
        const bool is_of_scores = info->role == StageRole::scores || info->role == StageRole::masked_scores;
        if (on_one_range && is_of_scores) add_roles({StageRole::scores, StageRole::masked_scores});
        if (!mask_of(*info) && info->role != StageRole::context) continue;
        add_roles({StageRole::mask, StageRole::masked_scores});  // which rows are closed as a whole
        if (is_over_queries(session.experiment.attention.softmax_axis)) add_roles({StageRole::weights});
        read.push_back(mechanism.center);
    }
    if (session.presentation.locked) read.push_back(session.presentation.locked_stage().stage);
    options.stages = std::move(read);
    if (named.size() == 1 && !on_one_range) {
        options.watched.ranges = true;
        options.watched.stage = named.front();
    }
    return options;
}

namespace {

std::vector<ExportItem> of_one_plan(std::vector<ExportItem> items) {
    for (ExportItem& item : items) item.survey = items.front().survey;
    return items;
}

}  // namespace

std::vector<ExportItem> plan_export(const Trace& trace, const ExportRequest& request) {
    const std::vector<const ExportFormat*> formats = formats_of(request);
    std::vector<ExportItem> items = view_items(trace, request, formats);
    const bool composed = request.compose != Compose::none;
    if (composed && !request.view_alone)
        for (const StagePtr& stage : composed_stages(trace, request))
            add_composed(items, trace, stage, request, formats);
    const bool has_data = std::ranges::any_of(formats, [](const auto* format) { return !format->picture; });
    if (composed && !has_data) {
        if (items.empty()) refuse_composition(trace, request);
        return of_one_plan(std::move(items));
    }
    for (const StagePtr& stage : stages_of(trace, request)) {
        require_mean(*stage, request);
        for (const HeadChoice& head : heads_of(*stage, request.head))
            for (const ExportFormat* format : formats) {
                if (format->picture && composed) continue;
                if (request.stages.empty() && format->picture && stage->info->unit == Unit::token_id)
                    continue;
                items.push_back(
                    {stage, head, format, file_name(std::string(stage->name()), *stage, head, *format)});
            }
    }
    return of_one_plan(std::move(items));
}

void write_item(const Trace& trace, const Session& session, const ExportItem& item, const ByteSink& to,
                const Progress& progress) {
    item.format->write(trace, session, item, to, progress);
}

std::string export_bytes(const Trace& trace, const Session& session, const ExportItem& item,
                         const Progress& progress) {
    return collected([&](const ByteSink& to) { write_item(trace, session, item, to, progress); });
}

Pixels export_pixels(const Trace& trace, const Session& session, const ExportItem& item) {
    const TextFace face;
    return render_pixels(page_of_item(trace, session_of(session, item), item, face, true));
}

namespace {

ExportPreview page_preview(Page page, FileFormat format, int side, const Progress& progress) {
    std::string facts = fmt::format("{} × {} pixels", std::lround(page.size.width * page.pixels),
                                    std::lround(page.size.height * page.pixels));
    if (page.paper) {
        const double millimeters = page.points * 25.4 / 72;
        const std::string size =
            fmt::format("{:.3g} × {:.3g} mm", page.paper->width, page.size.height * millimeters);
        facts = format == FileFormat::png ? size + " · " + facts : size;
    }
    const double largest = std::max(page.size.width, page.size.height) * page.pixels;
    if (largest > side) page.pixels *= side / largest;
    return {render_pixels(page, progress), std::move(facts)};
}

}  // namespace

ExportPreview export_preview(const Trace& trace, const Session& session, const ExportItem& item, int side,
                             const Progress& progress) {
    const Session own = session_of(session, item);
    survey(trace, item, own.presentation, step_of(progress, 0, end_of_survey(item)));
    const TextFace face;
    const FileFormat format = item.format->choice;
    return page_preview(page_of_item(trace, own, item, face, format == FileFormat::png), format, side,
                        step_of(progress, end_of_survey(item), 1));
}

ExportPreview sheet_preview(Sheet sheet, FileFormat format, int side, const Progress& progress) {
    const TextFace face;
    return page_preview(page_of(std::move(sheet), face), format, side, progress);
}

std::string no_film_sheet(FileFormat format) {
    return fmt::format("a one-picture film must be png, svg or pdf, not {}", name_of(format));
}

void write_sheet(Sheet sheet, FileFormat format, const Session& session, const ByteSink& to) {
    const TextFace face;
    const Page page = page_of(std::move(sheet), face);
    switch (format) {
        case FileFormat::png: return write_png(page, carried(session), to);
        case FileFormat::svg: return to(render_svg(page, carried(session)));
        case FileFormat::pdf: return write_pdf(page, to);
        case FileFormat::csv:
        case FileFormat::npy:
        case FileFormat::json:
        case FileFormat::gif: break;
    }
    refuse(no_film_sheet(format));
}

std::vector<std::string> export_files(const Trace& trace, const Session& session,
                                      const ExportRequest& request, const std::string& folder,
                                      const ExportProgress& progress) {
    const std::vector<ExportItem> items = plan_export(trace, request);
    clear_abandoned_files(folder);
    std::vector<std::string> paths;
    double last = 0;  // the part of the file that was told last
    const auto part_done = [&](double part) {
        last = part;
        return !progress || progress({.done = paths.size(), .of = items.size(), .part = part});
    };
    try {
        for (const ExportItem& item : items) {
            report(part_done, 0);
            const std::string path = (std::filesystem::path(folder) / item.file_name).string();
            const auto write = [&](const ByteSink& to) {
                write_item(trace, session, item, to, part_done);
                // The last chance to cancel: from here on the file is kept. The reader of a pipe keeps what
                // it has got.
                report(part_done, 1);
            };
            write_file(path, write, [&] { return part_done(last); });
            paths.push_back(path);
        }
    } catch (const Canceled&) {
        // The files written so far are complete.
    }
    return paths;
}

}  // namespace attnscope
