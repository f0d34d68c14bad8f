#include "app/document/gallery.h"

#include <algorithm>
#include <cmath>

#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/picture/color_scale.h"
#include "core/picture/shown_matrix.h"
#include "core/session/examples.h"

namespace attnscope {
namespace {

/// The longer side of a picture has at least this many pixels: it is drawn smaller, and its cells stay sharp.
constexpr int k_least_pixels = 192;

CustomImage cell_picture(const Trace& trace, const Presentation& presentation, const Theme& theme) {
    const Stage& stage = focused_stage(trace, presentation.stage);
    const HeadChoice head = head_on_screen(stage, presentation.head);
    const MaskedMatrix shown = masked_matrix(trace, stage, head);
    const ColorScale scale = color_scale(trace, stage, head, presentation);
    const auto rows = static_cast<int>(shown.values.rows()), columns = static_cast<int>(shown.values.cols());
    const int longer = std::max({rows, columns, 1});
    const int block = (k_least_pixels + longer - 1) / longer;
    Image image{.width = columns * block, .height = rows * block, .rgb = {}};
    image.rgb.reserve(static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height) * 3);
    const auto color = [&](int i, int j) {
        if (!shown.is_open(i, j)) return theme.masked;
        const float value = shown.values(i, j);
        return std::isnan(value) ? theme.nan : scale.color(value);
    };
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) {
            const Rgb8 c = color(y / block, x / block);
            image.rgb.insert(image.rgb.end(), {c.red, c.green, c.blue});
        }
    return CustomImage(std::move(image));
}

}  // namespace

ExamplePictures example_pictures(GalleryRequest request, const ExamplePictures*,
                                 const std::stop_token& cancel) {
    ExamplePictures found;
    for (const ExampleCard& card : example_cards()) {
        const Session session = load_example(card.name);
        const Trace trace = evaluate(session.experiment, {}, {.threads = 1, .cancel = cancel});
        found.pictures.push_back(cell_picture(trace, session.presentation, theme_of(request.theme)));
    }
    return found;
}

}  // namespace attnscope
