#include "app/document/previewer.h"

#include <algorithm>

#include "core/error.h"
#include "core/session/sweep.h"

namespace attnscope {

namespace {

/// The first format that is a picture; a gif's frames are those of the pngs.
std::optional<FileFormat> picture_format(const std::vector<FileFormat>& formats) {
    for (const FileFormat choice : formats) {
        const ExportFormat* format = find_export_format(choice);
        if (!format) return FileFormat::png;
        if (format->picture) return choice;
    }
    return std::nullopt;
}

bool same_frames(const PreviewRequest& a, const PreviewRequest& b) {
    ExportRequest files = a.files;
    files.formats = b.files.formats;  // which change no frame
    return a.film_frames == b.film_frames && files == b.files &&
           a.session.experiment == b.session.experiment && chosen_sweep(a.session) == chosen_sweep(b.session);
}

/// The frames of `before` are taken where they are the same, as frames of a training run take long.
std::optional<ExportPreview> film_preview(Preview& preview, const Preview* before,
                                          const std::stop_token& cancel, const Progress& progress) {
    const PreviewRequest& of = preview.of;
    const std::optional<FileFormat> format = picture_format(of.files.formats);
    if (!format) return std::nullopt;
    FilmRequest film{of.files, of.film_frames};
    if (const std::string why = why_no_film(of.session, film); !why.empty())
        throw Error(ErrorKind::bad_input, why);
    if (of.files.compose == Compose::film) {
        preview.film = before && before->film && same_frames(before->of, of)
                           ? before->film
                           : std::make_shared<const FilmFrames>(
                                 film_frames(of.session, film, {.cancel = cancel}, progress));
        return sheet_preview(film_sheet(preview.film->begin()->second, of.session), *format, of.side,
                             progress);
    }
    film.files.formats = {*format};
    return first_frame_preview(of.session, film, of.side, {.cancel = cancel}, progress);
}

std::optional<ExportPreview> file_preview(Preview& preview, const Progress& progress) {
    const PreviewRequest& of = preview.of;
    const std::vector<ExportItem> items = plan_export(*of.trace, of.files);
    const auto first =
        std::ranges::find_if(items, [](const ExportItem& item) { return item.format->picture; });
    if (first == items.end()) return std::nullopt;
    ExportPreview drawn = export_preview(*of.trace, of.session, *first, of.side, progress);
    preview.survey = *first->survey;
    return drawn;
}

}  // namespace

Preview previewed(PreviewRequest request, const Preview* before, const std::stop_token& cancel) {
    Preview preview{std::move(request), {}, {}, {}};
    const PreviewRequest& of = preview.of;
    const Progress progress = [&](double) { return !cancel.stop_requested(); };
    try {
        std::optional<ExportPreview> drawn = of.film_frames > 0
                                                 ? film_preview(preview, before, cancel, progress)
                                                 : file_preview(preview, progress);
        if (!drawn) return preview;
        preview.image = CustomImage({.width = drawn->pixels.width,
                                     .height = drawn->pixels.height,
                                     .rgb = std::move(drawn->pixels.bytes)});
        preview.facts = drawn->facts;
    } catch (const Canceled&) {
        throw;
    } catch (const std::exception& error) {
        preview.problem = problem_text(error);
    }
    return preview;
}

}  // namespace attnscope
