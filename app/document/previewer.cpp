#include "app/document/previewer.h"

#include <algorithm>

#include "core/error.h"

namespace attnscope {

Preview previewed(PreviewRequest request, const Preview*, const std::stop_token& cancel) {
    Preview preview{std::move(request), {}, {}, {}};
    const PreviewRequest& of = preview.of;
    try {
        const std::vector<ExportItem> items = plan_export(*of.trace, of.files);
        const auto first =
            std::ranges::find_if(items, [](const ExportItem& item) { return item.format->picture; });
        if (first == items.end()) return preview;
        ExportPreview drawn = export_preview(*of.trace, of.session, *first, of.side,
                                             [&](double) { return !cancel.stop_requested(); });
        preview.image = CustomImage({.width = drawn.pixels.width,
                                     .height = drawn.pixels.height,
                                     .rgb = std::move(drawn.pixels.bytes)});
        preview.facts = drawn.facts;
    } catch (const Canceled&) {
        throw;
    } catch (const std::exception& error) {
        preview.problem = problem_text(error);
    }
    return preview;
}

}  // namespace attnscope
