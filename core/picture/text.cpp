#include "core/picture/text.h"

#include <cairo.h>
#include <fontconfig/fontconfig.h>
#include <pango/pangocairo.h>
#include <pango/pangofc-fontmap.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "core/error.h"
#include "core/picture/text_drawing.h"
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

/// For emoji pango asks for the family "emoji". Their glyphs are pictures, which are scaled from their own
/// size to the one asked for.
constexpr const char* k_emoji_rules = R"(<fontconfig><match target="pattern">
    <test name="family"><string>emoji</string></test>
    <edit name="family" mode="prepend" binding="strong"><string>Noto Color Emoji</string></edit>
</match><match target="font">
    <test name="outline"><bool>false</bool></test>
    <edit name="pixelsizefixupfactor" mode="assign">
        <divide><name target="pattern">pixelsize</name><name target="font">pixelsize</name></divide>
    </edit>
    <edit name="matrix" mode="assign">
        <times>
            <name>matrix</name>
            <matrix>
                <name>pixelsizefixupfactor</name><double>0</double><double>0</double>
                <name>pixelsizefixupfactor</name>
            </matrix>
        </times>
    </edit>
</match></fontconfig>)";

Owned<FcConfig> config_with(const std::vector<std::filesystem::path>& files) {
    Owned<FcConfig> config(FcConfigCreate());
    FcConfigParseAndLoadFromMemory(config.get(), reinterpret_cast<const FcChar8*>(k_emoji_rules), FcTrue);
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
    FontFiles files;
    Owned<FcConfig> config;
    Owned<FcCharSet> coverage;
    std::array<Owned<PangoFontDescription>, 4> fonts;
    Owned<PangoFontMap> font_map;
    Owned<PangoContext> context;

    explicit Implementation(const FontFiles& files);

    /// What no TextFace uses at present, for the next one with the same files. A font map is never destroyed:
    /// pango's threads may still hold the last reference to one of its patterns, and would change its table
    /// while it is being destroyed (seen in 1.50.12).
    struct Store {
        std::mutex mutex;
        std::vector<std::unique_ptr<Implementation>> faces;
    };
    static Store& unused() {
        static auto* store = new Store;
        return *store;
    }
    static Implementation* take(const FontFiles& files);

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

TextFace::Implementation::Implementation(const FontFiles& font_files)
    : files(font_files), config(config_with(files.all())) {
    std::string fallback = family_of(pattern_of(config.get(), files.fallback));
    for (const std::filesystem::path& more : files.more)
        fallback += "," + family_of(pattern_of(config.get(), more));
    fonts = {description_of(config.get(), files.sans, fallback),
             description_of(config.get(), files.sans_semibold, fallback),
             description_of(config.get(), files.mono, fallback),
             description_of(config.get(), files.mono_semibold, fallback)};
    coverage = coverage_of(config.get());
    font_map.reset(pango_cairo_font_map_new_for_font_type(CAIRO_FONT_TYPE_FT));
    if (!font_map) throw Error(ErrorKind::backend, "this pango has no FreeType fonts: install libpangoft2");
    pango_fc_font_map_set_config(PANGO_FC_FONT_MAP(font_map.get()), config.get());
    context.reset(pango_font_map_create_context(font_map.get()));
    cairo_font_options_t* options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    pango_cairo_context_set_font_options(context.get(), options);
    cairo_font_options_destroy(options);
    pango_context_set_round_glyph_positions(context.get(), FALSE);
    // Otherwise the machine's locale would choose among the forms of a letter.
    pango_context_set_language(context.get(), pango_language_from_string("en"));
    pango_context_set_base_dir(context.get(), PANGO_DIRECTION_LTR);
}

TextFace::Implementation* TextFace::Implementation::take(const FontFiles& files) {
    {
        Store& store = unused();
        const std::lock_guard lock(store.mutex);
        const auto found =
            std::ranges::find_if(store.faces, [&](const auto& face) { return face->files == files; });
        if (found != store.faces.end()) {
            Implementation* face = found->release();
            store.faces.erase(found);
            return face;
        }
    }
    return new Implementation(files);
}

void TextFace::Return::operator()(Implementation* face) const {
    Implementation::Store& store = Implementation::unused();
    const std::lock_guard lock(store.mutex);
    store.faces.emplace_back(face);
}

TextFace::TextFace(const FontFiles& files) : implementation_(Implementation::take(files)) {}

TextFace::~TextFace() = default;
TextFace::TextFace(TextFace&&) noexcept = default;
TextFace& TextFace::operator=(TextFace&&) noexcept = default;

TextExtent TextFace::extent(std::string_view text, const TextStyle& style) const {
    return extent_of(implementation_->layout(text, style).get());
}

void TextFace::draw(cairo_t* cairo, std::string_view text, const TextStyle& style, double x, double baseline,
                    TextMode mode) const {
    draw_layout(cairo, implementation_->layout(text, style).get(), style.align, x, baseline, mode);
}

TextShades TextFace::shades(std::string_view text, const TextStyle& style) const {
    const Owned<PangoLayout> layout = implementation_->layout(text, style);
    return shades_of(layout.get(), 0, extent_of(layout.get()).width);
}

bool TextFace::has_glyph(char32_t code_point) const {
    return FcCharSetHasChar(implementation_->coverage.get(), code_point);
}

std::string TextFace::displayable(std::string_view text, Spaces spaces) const {
    return displayed(text, spaces, nullptr);
}

/// Appends to `places`, for each byte of `text`, where its character begins in the result.
std::string TextFace::displayed(std::string_view text, Spaces spaces,
                                std::vector<std::size_t>* places) const {
    std::string result;
    bool substituted = false;  // the last code point was written as its number
    while (!text.empty()) {
        const DecodedCharacter next = decode_utf8(text);
        const char32_t c = next.bytes ? next.code : 0xFFFD;
        const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
        const bool ignorable = category == UTF8PROC_CATEGORY_CF || is_variation_selector(c);
        std::size_t place = result.size();
        if (is_space(category) || (spaces == Spaces::kept && is_line_end_or_tab(c))) {
            result += spaces == Spaces::shown ? "␣" : " ";
            substituted = false;
        } else if (ignorable && (substituted || !has_glyph(c))) {
            // Nothing precedes that it could join or vary.
        } else if (category == UTF8PROC_CATEGORY_CC || !has_glyph(c)) {
            if (!result.empty()) result += ' ';
            place = result.size();
            result += code_point_name(c);
            substituted = true;
        } else {
            if (substituted) result += ' ';
            place = result.size();
            result += encode_utf8(c);
            substituted = false;
        }
        const std::size_t bytes = next.bytes ? next.bytes : 1;
        if (places) places->insert(places->end(), bytes, place);
        text.remove_prefix(bytes);
    }
    return result;
}

// A line with a caret
// -----------------------------------------------------------------------------------------------------------

struct TextLine::Implementation {
    Owned<PangoLayout> layout;
    std::string text;
    std::vector<std::size_t> places;  ///< of each byte of the text and of its end, in the layout's text
    std::vector<std::size_t> stops;   ///< bytes of the text that a caret may stand before, in order

    int place(std::size_t byte) const { return static_cast<int>(places[std::min(byte, text.size())]); }
    /// The last stop at or before a place in the layout's text.
    std::size_t stop_until(int place) const {
        const auto next =
            std::ranges::upper_bound(stops, place, {}, [&](std::size_t s) { return this->place(s); });
        return next == stops.begin() ? 0 : *std::prev(next);
    }
    /// Where `characters` characters after `index` begin in the layout's text.
    int advanced(int index, int characters) const {
        const char* shown = pango_layout_get_text(layout.get());
        return static_cast<int>(g_utf8_offset_to_pointer(shown + index, characters) - shown);
    }
};

namespace {

std::vector<std::size_t> cluster_ends(std::string_view text) {
    std::vector<std::size_t> ends{0};
    utf8proc_int32_t state = 0;
    for (std::size_t at = 0, previous = 0; at < text.size();) {
        const DecodedCharacter here = decode_utf8(text.substr(at));
        if (at > 0) {
            const DecodedCharacter last = decode_utf8(text.substr(previous));
            const bool valid = here.bytes && last.bytes;
            if (!valid || utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(last.code),
                                                           static_cast<utf8proc_int32_t>(here.code), &state))
                ends.push_back(at);
            if (!valid) state = 0;
        }
        previous = at;
        at += here.bytes ? here.bytes : 1;
    }
    if (!text.empty()) ends.push_back(text.size());
    return ends;
}

}  // namespace

std::optional<TextLine> TextFace::line(std::string_view text, const TextStyle& style) const {
    auto own = std::make_unique<TextLine::Implementation>();
    own->text = text;
    const std::string shown = displayed(text, Spaces::kept, &own->places);
    if (shown.size() > k_max_bytes) return std::nullopt;
    own->places.push_back(shown.size());
    own->stops = cluster_ends(text);
    own->layout = implementation_->layout(shown, style);
    return TextLine(std::move(own));
}

TextLine::TextLine(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
TextLine::~TextLine() = default;
TextLine::TextLine(TextLine&&) noexcept = default;
TextLine& TextLine::operator=(TextLine&&) noexcept = default;

TextExtent TextLine::extent() const { return extent_of(implementation_->layout.get()); }

TextLine::Caret TextLine::caret(std::size_t byte) const {
    PangoRectangle strong, weak;
    pango_layout_get_cursor_pos(implementation_->layout.get(), implementation_->place(byte), &strong, &weak);
    const double unit = PANGO_SCALE;
    // Between letters of one direction pango's weak place may lie within a cluster.
    const bool turns = byte > 0 && runs_leftward(byte) != runs_leftward(before(byte));
    return {strong.x / unit, (turns ? weak.x : strong.x) / unit};
}

std::size_t TextLine::byte_at(double x) const {
    const Implementation& own = *implementation_;
    int index = 0, trailing = 0;
    PangoLayoutLine* line = pango_layout_get_line_readonly(own.layout.get(), 0);
    pango_layout_line_x_to_index(line, static_cast<int>(x * PANGO_SCALE), &index, &trailing);
    // pango's clusters may be shorter than those of the text.
    const std::size_t first = own.stop_until(own.advanced(index, trailing));
    const std::size_t second = after(first);
    return std::abs(caret(first).strong - x) <= std::abs(caret(second).strong - x) ? first : second;
}

std::size_t TextLine::beside(std::size_t byte, int direction) const {
    const Implementation& own = *implementation_;
    // A name such as U+1FA00 has places inside it where no caret of the text stands.
    for (int place = own.place(byte);;) {
        int index = 0, trailing = 0;
        pango_layout_move_cursor_visually(own.layout.get(), TRUE, place, 0, direction, &index, &trailing);
        if (index < 0 || index == G_MAXINT) return byte;
        const int next = own.advanced(index, trailing);
        if (next == place) return byte;
        place = next;
        const std::size_t stop = own.stop_until(place);
        if (own.place(stop) == place) return stop;
    }
}

std::size_t TextLine::before(std::size_t byte) const {
    const auto at = std::ranges::lower_bound(implementation_->stops, byte);
    return at == implementation_->stops.begin() ? 0 : *std::prev(at);
}

std::size_t TextLine::after(std::size_t byte) const {
    const auto at = std::ranges::upper_bound(implementation_->stops, byte);
    return at == implementation_->stops.end() ? implementation_->text.size() : *at;
}

std::size_t TextLine::backspace_begin(std::size_t byte) const {
    const Implementation& own = *implementation_;
    if (byte == 0) return 0;
    const char* shown = pango_layout_get_text(own.layout.get());
    int count = 0;
    const PangoLogAttr* attributes = pango_layout_get_log_attrs_readonly(own.layout.get(), &count);
    const auto character = g_utf8_pointer_to_offset(shown, shown + own.place(byte));
    const bool single = character < count && attributes[character].backspace_deletes_character;
    return single ? code_point_begin(own.text, byte - 1) : before(byte);
}

bool TextLine::runs_leftward(std::size_t byte) const {
    const Implementation& own = *implementation_;
    const int place = own.place(byte < own.text.size() ? byte : before(byte));
    return pango_layout_get_direction(own.layout.get(), place) == PANGO_DIRECTION_RTL;
}

std::vector<std::pair<double, double>> TextLine::ranges(std::size_t begin, std::size_t end) const {
    const Implementation& own = *implementation_;
    const int first = own.place(begin), last = own.place(end);
    PangoLayoutLine* line = pango_layout_get_line_readonly(own.layout.get(), 0);
    std::vector<std::pair<double, double>> ranges;
    int left = 0;
    for (const GSList* each = line->runs; each; each = each->next) {
        const auto* run = static_cast<const PangoGlyphItem*>(each->data);
        const int from = run->item->offset, to = from + run->item->length;
        const int right = left + pango_glyph_string_get_width(run->glyphs);
        const bool leftward = run->item->analysis.level % 2 == 1;
        // A run's own edges: at a place where directions meet, the caret of either is elsewhere.
        const auto x = [&](int place) {
            if (place <= from || place >= to) return (place <= from) == leftward ? right : left;
            int inside = 0;
            pango_layout_line_index_to_x(line, place, 0, &inside);
            return inside;
        };
        if (std::max(first, from) < std::min(last, to)) {
            const auto [a, b] = std::minmax({x(first), x(last)});
            const double unit = PANGO_SCALE;
            if (!ranges.empty() && ranges.back().second == a / unit) {
                ranges.back().second = b / unit;
            } else {
                ranges.emplace_back(a / unit, b / unit);
            }
        }
        left = right;
    }
    return ranges;
}

TextShades TextLine::shades(int left, int width) const {
    return shades_of(implementation_->layout.get(), left, width);
}

}  // namespace attnscope
