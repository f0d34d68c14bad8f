#include "app/ui/shaped_text.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/platform/imgui_compat.h"
#include "app/platform/wide_text.h"
#include "core/error.h"
#include "core/text/tokenizer.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

constexpr int k_kept_frames = 60;

/// First and last code point of the characters that join, combine, are reordered, are invisible or have
/// colors of their own (emoji that are shown as such without a selector, UTS #51); sorted.
constexpr std::pair<char32_t, char32_t> k_not_simple[] = {
    {0x0000, 0x001F},    {0x007F, 0x009F}, {0x00AD, 0x00AD},  // controls, the soft hyphen
    {0x0300, 0x036F},    {0x0483, 0x0489},                    // marks that combine
    {0x0590, 0x109F},  // Hebrew, Arabic … scripts of India … Myanmar
    {0x1100, 0x11FF},    {0x135D, 0x135F}, {0x1700, 0x1CFF},  // Hangul by letters, Khmer, Mongolian …
    {0x1DC0, 0x1DFF},    {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F}, {0x20D0, 0x20FF},
    {0x231A, 0x231B},    {0x23E9, 0x23EC}, {0x23F0, 0x23F0}, {0x23F3, 0x23F3}, {0x25FD, 0x25FE},
    {0x2614, 0x2615},    {0x2648, 0x2653}, {0x267F, 0x267F}, {0x2693, 0x2693}, {0x26A1, 0x26A1},
    {0x26AA, 0x26AB},    {0x26BD, 0x26BE}, {0x26C4, 0x26C5}, {0x26CE, 0x26CE}, {0x26D4, 0x26D4},
    {0x26EA, 0x26EA},    {0x26F2, 0x26F3}, {0x26F5, 0x26F5}, {0x26FA, 0x26FA}, {0x26FD, 0x26FD},
    {0x2705, 0x2705},    {0x270A, 0x270B}, {0x2728, 0x2728}, {0x274C, 0x274C}, {0x274E, 0x274E},
    {0x2753, 0x2755},    {0x2757, 0x2757}, {0x2795, 0x2797}, {0x27B0, 0x27B0}, {0x27BF, 0x27BF},
    {0x2B1B, 0x2B1C},    {0x2B50, 0x2B50}, {0x2B55, 0x2B55}, {0x2DE0, 0x2DFF}, {0x302A, 0x302F},
    {0x3099, 0x309A},    {0xA66F, 0xA69F}, {0xA800, 0xABFF}, {0xD7B0, 0xDFFF}, {0xFB1D, 0xFDFF},
    {0xFE00, 0xFE0F},    {0xFE20, 0xFE2F}, {0xFE70, 0xFEFF}, {0xFFF0, 0xFFFB}, {0x1F000, 0x1FAFF},
    {0xE0000, 0x10FFFF},
};

static_assert(std::ranges::is_sorted(k_not_simple));

bool is_ascii_line(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return (c >= ' ' && c < 0x7F) || c == '\n'; });
}

}  // namespace

bool is_simple(char32_t code) {
    const auto* range =
        std::ranges::lower_bound(k_not_simple, code, {}, &std::pair<char32_t, char32_t>::second);
    return range == std::end(k_not_simple) || code < range->first;
}

void ShapedText::set_fonts(const Fonts& fonts, float scale) {
    styles_.clear();
    entries_.clear();
    for (const FontRole& role : font_roles())
        styles_[fonts.*role.font] = {.font = role.face, .size = role.em * scale};
}

void ShapedText::begin_frame() {
    for (auto at = entries_.begin(); at != entries_.end();)
        at = ++at->second.unused > k_kept_frames ? entries_.erase(at) : std::next(at);
}

const TextFace* ShapedText::face() {
    if (!face_ && !no_fonts_) try {
            face_.emplace();
        } catch (const Error&) {
            no_fonts_ = true;  // the window warns about it
        }
    return face_ ? &*face_ : nullptr;
}

bool ShapedText::is_plain(ImFont& font, std::string_view text) {
    if (is_ascii_line(text)) return true;
    while (!text.empty()) {
        const DecodedCharacter next = decode_utf8(text);
        const bool drawn = next.bytes && (next.code == '\n' || is_simple(next.code));
        if (!drawn || (next.code != '\n' && !compat::has_glyph(font, next.code))) return !face();
        text.remove_prefix(next.bytes);
    }
    return true;
}

std::string ShapedText::displayable(std::string_view text, Spaces spaces) {
    const bool as_it_is = is_ascii_line(text) && text.find_first_of(" \n") == text.npos;
    return as_it_is || !face() ? std::string(text) : face()->displayable(text, spaces);
}

bool ShapedText::may_hold(char32_t code) {
    if (code < 0x7F) return code != 0;
    return !face() || (is_simple(code) && face()->has_glyph(code));
}

TextStyle ShapedText::style(const ImFont& font, float wrap) const {
    const auto known = styles_.find(&font);
    TextStyle style =
        known == styles_.end() ? TextStyle{.size = compat::font_size(font) / 1.2} : known->second;
    style.max_width = wrap;
    style.wrap = wrap > 0;
    return style;
}

ShapedText::Entry& ShapedText::entry(const ImFont& font, const std::string& text, float wrap) {
    const auto [at, is_new] = entries_.try_emplace({text, &font, wrap});
    Entry& entry = at->second;
    entry.unused = 0;
    if (is_new) {
        entry.shown = displayable(text, Spaces::kept);
        entry.extent = face()->extent(entry.shown, style(font, wrap));
    }
    return entry;
}

ImVec2 ShapedText::size(const ImFont& font, const std::string& text, float wrap) {
    const TextExtent& extent = entry(font, text, wrap).extent;
    return {static_cast<float>(std::ceil(extent.width)), static_cast<float>(std::ceil(extent.height))};
}

ShapedText::Bitmap ShapedText::bitmap(const TextShades& shades, const TextStyle& style) {
    std::vector<std::uint8_t> rgba;
    rgba.reserve(shades.alpha.size() * 4);
    for (const std::uint8_t alpha : shades.alpha) rgba.insert(rgba.end(), {255, 255, 255, alpha});
    Bitmap bitmap{.texture = {gl::Texture2D::Format::rgba8, shades.width, shades.height},
                  .top = static_cast<float>(ascent(style) - shades.baseline)};
    bitmap.texture.upload(rgba);
    if (!shades.rgba.empty()) {
        bitmap.colors.emplace(gl::Texture2D::Format::rgba8, shades.width, shades.height);
        bitmap.colors->upload(shades.rgba);
    }
    return bitmap;
}

void ShapedText::draw(ImDrawList& list, const Bitmap& bitmap, ImVec2 top_left, ImU32 color) {
    const ImVec2 at{std::round(top_left.x) - TextShades::k_margin, std::round(top_left.y) + bitmap.top};
    const auto image = [&](const gl::Texture2D& texture, ImU32 tint) {
        list.AddImage(
            compat::texture_id(texture.id()), at,
            {at.x + static_cast<float>(texture.width()), at.y + static_cast<float>(texture.height())}, {0, 0},
            {1, 1}, tint);
    };
    image(bitmap.texture, color);
    if (bitmap.colors) image(*bitmap.colors, color | ~IM_COL32_A_MASK);
}

void ShapedText::draw(ImDrawList& list, const ImFont& font, ImVec2 top_left, ImU32 color,
                      const std::string& text, float wrap) {
    Entry& own = entry(font, text, wrap);
    if (!own.bitmap) own.bitmap = bitmap(face()->shades(own.shown, style(font, wrap)), style(font, wrap));
    draw(list, *own.bitmap, top_left, color);
}

const TextLine* ShapedText::line(const ImFont& font, const std::string& text) {
    if (!face()) return nullptr;
    Entry& own = entry(font, text, 0);
    if (!own.line) own.line = face()->line(text, style(font, 0));
    return own.line ? &*own.line : nullptr;
}

void ShapedText::draw_part(ImDrawList& list, const ImFont& font, ImVec2 top_left, ImU32 color,
                           const std::string& text, int left, int width) {
    const TextLine* shown = line(font, text);
    if (!shown) return;
    std::optional<Part>& part = entry(font, text, 0).part;
    if (!part || part->left != left || part->width != width)
        part = Part{left, width, bitmap(shown->shades(left, width), style(font, 0))};
    draw(list, part->bitmap, top_left, color);
}

double ShapedText::ascent(const TextStyle& style) { return std::round(face()->extent("x", style).ascent); }

std::optional<ShapedText::Glyph> ShapedText::glyph(std::string_view character, Font font, double pixels) {
    if (!face()) return std::nullopt;
    if (!face_of_glyphs_) face_of_glyphs_.emplace(find_fonts().in_one_color());
    const DecodedCharacter decoded = decode_utf8(character);
    const bool by_name = decoded.bytes && !is_simple(decoded.code);
    const std::string shown =
        by_name ? code_point_name(decoded.code) : face_of_glyphs_->displayable(character, Spaces::kept);
    const TextStyle style{.font = font, .size = pixels};
    Glyph glyph{face_of_glyphs_->shades(shown, style), 0};
    glyph.top = static_cast<float>(ascent(style) - glyph.shades.baseline);
    return glyph;
}

ShapedText& shaped() { return *compat::text_bridge().shaped; }

std::string legible(std::string_view text) { return shaped().displayable(text, Spaces::shown); }

}  // namespace attnscope
