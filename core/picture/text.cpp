#include "core/picture/text.h"

#include <cairo.h>
#include <fontconfig/fontconfig.h>
#include <pango/pangocairo.h>
#include <pango/pangofc-fontmap.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "core/picture/cairo_handle.h"
#include "core/text/tokenizer.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

struct Unref {
    void operator()(void* object) const { g_object_unref(object); }
    void operator()(FcConfig* config) const { FcConfigDestroy(config); }
    void operator()(FcCharSet* set) const { FcCharSetDestroy(set); }
    void operator()(PangoFontDescription* description) const { pango_font_description_free(description); }
};
template <typename T>
using Owned = std::unique_ptr<T, Unref>;

FcPattern* pattern_of(FcConfig* config, const std::filesystem::path& file) {
    const FcFontSet* fonts = FcConfigGetFonts(config, FcSetApplication);
    for (int i = 0; fonts && i < fonts->nfont; ++i) {
        FcChar8* name = nullptr;
        if (FcPatternGetString(fonts->fonts[i], FC_FILE, 0, &name) != FcResultMatch) continue;
        if (file == reinterpret_cast<const char*>(name)) return fonts->fonts[i];
    }
    throw Error(ErrorKind::backend,
                "cannot use the font " + file.string() +
                    ": it holds no font that can be read; install fonts-dejavu-core again");
}

std::string family_of(FcPattern* pattern) {
    FcChar8* family = nullptr;
    if (FcPatternGetString(pattern, FC_FAMILY, 0, &family) != FcResultMatch) return {};
    return reinterpret_cast<const char*>(family);
}

/// Exactly the face in `file`, then the fallback families for characters it lacks.
Owned<PangoFontDescription> description_of(FcConfig* config, const std::filesystem::path& file,
                                           const std::string& fallback_families) {
    FcPattern* pattern = pattern_of(config, file);
    Owned<PangoFontDescription> description(pango_fc_font_description_from_pattern(pattern, FALSE));
    const std::string families = family_of(pattern) + "," + fallback_families;
    pango_font_description_set_family(description.get(), families.c_str());
    return description;
}

Owned<FcConfig> config_with(const std::vector<std::filesystem::path>& files) {
    Owned<FcConfig> config(FcConfigCreate());
    for (const std::filesystem::path& file : files) {
        FcConfigAppFontAddFile(config.get(), reinterpret_cast<const FcChar8*>(file.c_str()));
    }
    return config;
}

Owned<FcCharSet> coverage_of(FcConfig* config) {
    Owned<FcCharSet> coverage(FcCharSetCreate());
    const FcFontSet* fonts = FcConfigGetFonts(config, FcSetApplication);
    for (int i = 0; fonts && i < fonts->nfont; ++i) {
        FcCharSet* charset = nullptr;
        if (FcPatternGetCharSet(fonts->fonts[i], FC_CHARSET, 0, &charset) == FcResultMatch) {
            FcCharSetMerge(coverage.get(), charset, nullptr);
        }
    }
    return coverage;
}

/// pango counts in 1/1024 pixels, as int: a text must stay far below 2 million pixels.
constexpr std::size_t k_max_bytes = 4096;

std::string shortened(std::string_view text) {
    return std::string(text.substr(0, code_point_begin(text, k_max_bytes))) + "…";
}

bool is_space(utf8proc_category_t category) {
    return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
           category == UTF8PROC_CATEGORY_ZP;
}

bool is_line_end_or_tab(char32_t c) { return c >= '\t' && c <= '\r'; }

bool is_variation_selector(char32_t c) {
    return (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0xE0100 && c <= 0xE01EF);
}

}  // namespace

struct TextFace::Implementation {
    Owned<FcConfig> config;
    Owned<FcCharSet> coverage;
    std::array<Owned<PangoFontDescription>, 4> fonts;
    Owned<PangoFontMap> font_map;
    Owned<PangoContext> context;

    ~Implementation() {
        // pango 1.50 keeps its reference to the configuration after the font map's end unless it is removed.
        if (font_map) pango_fc_font_map_set_config(PANGO_FC_FONT_MAP(font_map.get()), nullptr);
    }
    Owned<PangoLayout> layout(std::string_view text, const TextStyle& style) const;
};

namespace {

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// A formula's text without the "_" before its subscripts, and where these are, in bytes.
struct Formula {
    std::string text;
    struct Part {
        unsigned begin, end;
    };
    std::vector<Part> subscripts;

    explicit Formula(std::string_view source) {
        const auto letter = [&](std::size_t i) { return i < source.size() && is_letter_or_digit(source[i]); };
        for (std::size_t i = 0; i < source.size(); ++i) {
            const bool after_one = i > 0 && letter(i - 1) && !(i > 1 && letter(i - 2));
            if (source[i] != '_' || !after_one || !letter(i + 1)) {
                text += source[i];
                continue;
            }
            const auto begin = static_cast<unsigned>(text.size());
            while (letter(i + 1)) text += source[++i];
            subscripts.push_back({begin, static_cast<unsigned>(text.size())});
        }
    }

    void apply_to(PangoLayout* layout, double size) const {
        constexpr double k_scale = 0.75, k_drop = 0.18;  // of the size of the letter before
        PangoAttrList* list = pango_attr_list_new();
        for (const Part& part : subscripts) {
            const int drop = static_cast<int>(-k_drop * size * PANGO_SCALE);
            for (PangoAttribute* attribute : {pango_attr_scale_new(k_scale), pango_attr_rise_new(drop)}) {
                attribute->start_index = part.begin;
                attribute->end_index = part.end;
                pango_attr_list_insert(list, attribute);
            }
        }
        pango_layout_set_attributes(layout, list);
        pango_attr_list_unref(list);
    }
};

}  // namespace

Owned<PangoLayout> TextFace::Implementation::layout(std::string_view text, const TextStyle& style) const {
    const std::string cut = text.size() > k_max_bytes ? shortened(text) : std::string();
    if (!cut.empty()) text = cut;
    const std::optional<Formula> formula = style.formula ? std::optional<Formula>(text) : std::nullopt;
    if (formula) text = formula->text;
    Owned<PangoLayout> layout(pango_layout_new(context.get()));
    PangoFontDescription* font = fonts[static_cast<std::size_t>(style.font)].get();
    pango_font_description_set_absolute_size(font, style.size * PANGO_SCALE);
    pango_layout_set_font_description(layout.get(), font);
    pango_layout_set_text(layout.get(), text.data(), static_cast<int>(text.size()));
    if (formula) formula->apply_to(layout.get(), style.size);
    if (style.max_width > 0) {
        PangoRectangle natural;
        pango_layout_get_extents(layout.get(), nullptr, &natural);
        // A width aligns right-to-left text with its right end, so it is set only where it is needed.
        if (natural.width > style.max_width * PANGO_SCALE) {
            pango_layout_set_width(layout.get(), static_cast<int>(style.max_width * PANGO_SCALE));
            if (style.wrap) {
                pango_layout_set_wrap(layout.get(), PANGO_WRAP_WORD_CHAR);
            } else {
                pango_layout_set_ellipsize(layout.get(), PANGO_ELLIPSIZE_END);
            }
        }
    }
    return layout;
}

TextFace::TextFace(const FontFiles& files) : implementation_(std::make_unique<Implementation>()) {
    Implementation& own = *implementation_;
    own.config = config_with(files.all());
    std::string fallback = family_of(pattern_of(own.config.get(), files.fallback));
    if (!files.ideographs.empty())
        fallback += "," + family_of(pattern_of(own.config.get(), files.ideographs));
    own.fonts = {description_of(own.config.get(), files.sans, fallback),
                 description_of(own.config.get(), files.sans_semibold, fallback),
                 description_of(own.config.get(), files.mono, fallback),
                 description_of(own.config.get(), files.mono_semibold, fallback)};
    own.coverage = coverage_of(own.config.get());
    own.font_map.reset(pango_cairo_font_map_new_for_font_type(CAIRO_FONT_TYPE_FT));
    if (!own.font_map)
        throw Error(ErrorKind::backend, "this pango has no FreeType fonts: install libpangoft2");
    pango_fc_font_map_set_config(PANGO_FC_FONT_MAP(own.font_map.get()), own.config.get());
    own.context.reset(pango_font_map_create_context(own.font_map.get()));
    cairo_font_options_t* options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    pango_cairo_context_set_font_options(own.context.get(), options);
    cairo_font_options_destroy(options);
    pango_context_set_round_glyph_positions(own.context.get(), FALSE);
    // Otherwise the machine's locale would choose among the forms of a letter.
    pango_context_set_language(own.context.get(), pango_language_from_string("en"));
    pango_context_set_base_dir(own.context.get(), PANGO_DIRECTION_LTR);
}

TextFace::~TextFace() = default;
TextFace::TextFace(TextFace&&) noexcept = default;
TextFace& TextFace::operator=(TextFace&&) noexcept = default;

TextExtent TextFace::extent(std::string_view text, const TextStyle& style) const {
    const Owned<PangoLayout> layout = implementation_->layout(text, style);
    PangoRectangle logical;
    pango_layout_get_extents(layout.get(), nullptr, &logical);
    const double unit = PANGO_SCALE;
    return {logical.width / unit, logical.height / unit, pango_layout_get_baseline(layout.get()) / unit};
}

void TextFace::draw(cairo_t* cairo, std::string_view text, const TextStyle& style, double x, double baseline,
                    TextMode mode) const {
    const Owned<PangoLayout> layout = implementation_->layout(text, style);
    PangoRectangle logical;
    pango_layout_get_extents(layout.get(), nullptr, &logical);
    const double unit = PANGO_SCALE;
    cairo_new_path(cairo);
    cairo_move_to(cairo, x - (logical.x + style.align * logical.width) / unit,
                  baseline - pango_layout_get_baseline(layout.get()) / unit);
    if (mode == TextMode::outlines) {
        pango_cairo_layout_path(cairo, layout.get());
        cairo_fill(cairo);
    } else {
        pango_cairo_show_layout(cairo, layout.get());
        cairo_new_path(cairo);
    }
}

TextShades TextFace::shades(std::string_view text, const TextStyle& style) const {
    constexpr int k_longest = 8192;
    const TextExtent box = extent(text, style);
    const auto side = [](double length) {
        return static_cast<int>(std::min(std::ceil(length) + 2 * TextShades::k_margin, double(k_longest)));
    };
    TextShades shades{.width = side(box.width),
                      .height = side(box.height),
                      .baseline = static_cast<int>(std::ceil(box.ascent)) + TextShades::k_margin};
    const CairoSurface surface(cairo_image_surface_create(CAIRO_FORMAT_A8, shades.width, shades.height));
    const CairoContext cairo(cairo_create(surface.get()));
    TextStyle left = style;
    left.align = 0;
    draw(cairo.get(), text, left, TextShades::k_margin, shades.baseline, TextMode::glyphs);
    cairo_surface_flush(surface.get());
    const unsigned char* data = cairo_image_surface_get_data(surface.get());
    const std::ptrdiff_t stride = cairo_image_surface_get_stride(surface.get());
    for (std::ptrdiff_t y = 0; y < shades.height; ++y)
        shades.alpha.insert(shades.alpha.end(), data + y * stride, data + y * stride + shades.width);
    return shades;
}

bool TextFace::has_glyph(char32_t code_point) const {
    return FcCharSetHasChar(implementation_->coverage.get(), code_point);
}

std::string TextFace::displayable(std::string_view text, Spaces spaces) const {
    std::string result;
    bool substituted = false;  // the last code point was written as its number
    while (!text.empty()) {
        const DecodedCharacter next = decode_utf8(text);
        const char32_t c = next.bytes ? next.code : 0xFFFD;
        const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
        const bool ignorable = category == UTF8PROC_CATEGORY_CF || is_variation_selector(c);
        if (is_space(category) || (spaces == Spaces::kept && is_line_end_or_tab(c))) {
            result += spaces == Spaces::shown ? "␣" : " ";
            substituted = false;
        } else if (ignorable && (substituted || !has_glyph(c))) {
            // Nothing precedes that it could join or vary.
        } else if (category == UTF8PROC_CATEGORY_CC || !has_glyph(c)) {
            if (!result.empty()) result += ' ';
            result += code_point_name(c);
            substituted = true;
        } else {
            if (substituted) result += ' ';
            result += encode_utf8(c);
            substituted = false;
        }
        text.remove_prefix(next.bytes ? next.bytes : 1);
    }
    return result;
}

}  // namespace attnscope
