#include "core/picture/render_vector.h"

#include <fmt/format.h>

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/files/svg.h"
#include "core/picture/cairo_handle.h"
#include "core/picture/figure_cells.h"

namespace attnscope {
namespace {

/// 200 inches, the limit of Acrobat.
constexpr double k_longest_page = 14400;

/// Passes on the bytes that a surface writes; the progress callback can stop it.
struct Sink {
    const ByteSink& to;
    Progress progress = {};
    bool canceled = false;
    std::exception_ptr thrown = {};  ///< by `to`: an exception must not pass through cairo

    static cairo_status_t write(void* closure, const unsigned char* data, unsigned size) {
        auto& sink = *static_cast<Sink*>(closure);
        // cairo keeps calling after an error; nothing is passed on then.
        if (!sink.canceled) sink.canceled = sink.progress && !sink.progress(0);
        if (sink.canceled || sink.thrown) return CAIRO_STATUS_WRITE_ERROR;
        try {
            sink.to({reinterpret_cast<const char*>(data), size});
        } catch (...) {
            sink.thrown = std::current_exception();
            return CAIRO_STATUS_WRITE_ERROR;
        }
        return CAIRO_STATUS_SUCCESS;
    }
};

void require_status(cairo_status_t status, const Sink& sink) {
    if (sink.canceled) throw Canceled{};
    const auto no_memory = [] {
        return Error(ErrorKind::too_large,
                     "the picture does not fit in memory: use a smaller cell size or leave out the values");
    };
    try {
        if (sink.thrown) std::rethrow_exception(sink.thrown);
    } catch (const std::bad_alloc&) {
        throw no_memory();
    }
    if (status == CAIRO_STATUS_SUCCESS) return;
    if (status == CAIRO_STATUS_NO_MEMORY) throw no_memory();
    throw Error(ErrorKind::backend,
                std::string("cairo cannot write the picture: ") + cairo_status_to_string(status));
}

/// Fraction of the time spent on drawing; converting the drawing to bytes takes the rest.
constexpr double k_drawn = 0.3;

/// Draws with `scale` units of the surface per unit of the page.
void draw(const Page& page, CairoSurface surface, double scale, Sink& sink, const Progress& progress) {
    sink.progress = step_of(progress, k_drawn, 1);
    require_status(cairo_surface_status(surface.get()), sink);
    {
        const CairoContext cairo(cairo_create(surface.get()));
        cairo_scale(cairo.get(), scale, scale);
        page.draw(cairo.get(), {.medium = Medium::document, .progress = step_of(progress, 0, k_drawn)});
        require_status(cairo_status(cairo.get()), sink);
    }
    cairo_surface_finish(surface.get());
    require_status(cairo_surface_status(surface.get()), sink);
    report(progress, 1);
}

// SVG, normalized
// ---------------------------------------------------------------------------------------------------

/// Renumbers "surface17", "glyph0-3" and the like, each kind from 0 in order of first mention.
class Identifiers {
public:
    const std::string& of(std::string_view name) {
        const auto known = names_.find(name);
        if (known != names_.end()) return known->second;
        const std::string kind(name.substr(0, name.find_first_of("-0123456789")));
        return names_.emplace(name, fmt::format("{}{}", kind, counts_[kind]++)).first->second;
    }

private:
    std::map<std::string, std::string, std::less<>> names_;
    std::map<std::string, int> counts_;
};

/// Removes "12.5%", including separators, from the front.
std::optional<int> next_channel(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
    double percent = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), percent);
    if (problem != std::errc() || end == text.data() + text.size() || *end != '%') return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
    return static_cast<int>(std::lround(percent * 2.55));
}

/// `text` is the content of the parentheses of rgb(…).
std::optional<std::string> hex_color(std::string_view text) {
    std::array<int, 3> channels{};
    for (int& channel : channels) {
        const std::optional<int> next = next_channel(text);
        if (!next) return std::nullopt;
        channel = std::clamp(*next, 0, 255);
    }
    return fmt::format("#{:02x}{:02x}{:02x}", channels[0], channels[1], channels[2]);
}

constexpr std::string_view k_image = "<image id=\"";
/// For viewers of SVG 1.1 and SVG 2.
constexpr std::string_view k_crisp_image =
    "<image image-rendering=\"optimizeSpeed\" style=\"image-rendering:pixelated\" id=\"";

}  // namespace

std::string normalized_svg(std::string_view svg) {
    Identifiers identifiers;
    std::string result;
    result.reserve(svg.size());
    std::size_t from = 0;
    const auto take = [&](std::size_t to) {
        result += svg.substr(from, to - from);
        from = to;
    };
    // Everything of interest follows a quotation mark, a number sign or a parenthesis.
    for (std::size_t at = svg.find_first_of("\"#("); at != svg.npos; at = svg.find_first_of("\"#(", at + 1)) {
        const std::string_view before = svg.substr(0, at + 1);
        if (before.ends_with(" id=\"") || before.ends_with("\"#") || before.ends_with("url(#")) {
            const std::size_t end = svg.find_first_of("\")", at + 1);
            if (end == svg.npos) break;
            if (before.ends_with(k_image)) {
                take(before.size() - k_image.size());
                result += k_crisp_image;
                from = at + 1;
            }
            take(at + 1);
            result += identifiers.of(svg.substr(from, end - from));
            from = end;
        } else if (before.ends_with("rgb(")) {
            const std::size_t end = svg.find(')', at);
            if (end == svg.npos) break;
            const std::optional<std::string> color = hex_color(svg.substr(at + 1, end - at - 1));
            if (!color) continue;
            take(at - 3);
            result += *color;
            from = end + 1;
        }
    }
    take(svg.size());
    return result;
}

std::string render_svg(const Page& page, std::string_view session_json, const Progress& progress) {
    if (page.has_pixels) require_picture_size(page.size);
    // Millimeters where the paper has them, else pixels.
    const double scale = page.paper ? page.points * 25.4 / 72 : 1;
    const std::string bytes = collected([&](const ByteSink& to) {
        Sink sink{to};
        CairoSurface surface(cairo_svg_surface_create_for_stream(
            Sink::write, &sink, page.paper ? page.paper->width : page.size.width, page.size.height * scale));
        cairo_svg_surface_set_document_unit(surface.get(),
                                            page.paper ? CAIRO_SVG_UNIT_MM : CAIRO_SVG_UNIT_PX);
        draw(page, std::move(surface), scale, sink, progress);
    });
    return with_svg_texts(normalized_svg(bytes), page.title, session_json);
}

std::string render_svg(const Figure& figure, const TextFace& face, std::string_view session_json,
                       const Progress& progress) {
    return render_svg(page_of(figure, face), session_json, progress);
}

void write_pdf(const Page& page, const ByteSink& to, const Progress& progress) {
    if (page.has_pixels) require_picture_size(page.size);
    const double side = std::max({page.size.width, page.size.height, 1});
    const double scale = std::min(page.points, k_longest_page / side);
    const double width = page.paper ? page.paper->width * 72 / 25.4 : page.size.width * scale;
    Sink sink{to};
    CairoSurface surface(
        cairo_pdf_surface_create_for_stream(Sink::write, &sink, width, page.size.height * scale));
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, page.title.c_str());
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATOR, "attnscope");
    // Empty leaves the date out; otherwise cairo writes the current time.
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, "");
    draw(page, std::move(surface), scale, sink, progress);
}

std::string render_pdf(const Figure& figure, const TextFace& face, const Progress& progress) {
    return collected([&](const ByteSink& to) { write_pdf(page_of(figure, face), to, progress); });
}

}  // namespace attnscope
