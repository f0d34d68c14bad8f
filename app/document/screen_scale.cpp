#include "app/document/screen_scale.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace attnscope {
namespace {

double end_of(const Matrix& preview) {
    std::vector<float> values;
    for (const float value : std::span(preview.data(), static_cast<std::size_t>(preview.size())))
        if (std::isfinite(value)) values.push_back(std::abs(value));
    if (values.empty()) return 1;
    const auto nth = values.begin() + static_cast<std::ptrdiff_t>(values.size() * 99 / 100);
    std::ranges::nth_element(values, nth);
    return *nth > 0 ? *nth : 1;
}

}  // namespace

std::shared_ptr<const Matrix> known_preview(Document& document, const StagePtr& stage, int head) {
    return document.tiles().find(preview_of(stage, head, document.presentation()));
}

ColorScale screen_scale(Document& document, const Trace& trace, const StagePtr& stage,
                        const HeadChoice& head) {
    Presentation presentation = document.presentation();
    if (const auto known = known_color_scale(trace, *stage, head, presentation)) return *known;
    if (stage->buffer.is_waiting()) {
        presentation.range = {RangeChoice::Kind::fixed, 0, 1};  // nothing is drawn yet
    } else if (!stage->buffer.on_demand()) {
        presentation.range = {RangeChoice::Kind::all};
    } else {
        const auto preview = known_preview(document, stage, head.index());
        presentation.range = {RangeChoice::Kind::fixed, 0, preview ? end_of(*preview) : 1};
    }
    return color_scale(trace, *stage, head, presentation);
}

}  // namespace attnscope
