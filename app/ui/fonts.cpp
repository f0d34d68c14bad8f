#include "app/ui/fonts.h"

#include <ft2build.h>
#include FT_FREETYPE_H

#include <chrono>
#include <cmath>
#include <exception>
#include <filesystem>
#include <fstream>
#include <utility>

#include "app/platform/imgui_compat.h"
#include "app/platform/wide_text.h"
#include "app/ui/shaped_text.h"
#include "core/picture/fonts.h"
#include "core/utf8.h"

namespace attnscope {

namespace {

// Pairs of first and last code point, ended by 0.
constexpr ImWchar k_signs[] = {
    // clang-format off
    0x0020, 0x017F, 0x02C6, 0x02DC, 0x0391, 0x03C9,  // Latin, Greek
    0x1D40, 0x1D40,                                  // ᵀ
    0x2010, 0x2027, 0x2030, 0x203A, 0x2070, 0x209C,  // punctuation, indices
    0x20AC, 0x20AC, 0x2102, 0x2102, 0x2113, 0x2113, 0x2115, 0x2115, 0x211D, 0x211D, 0x2122, 0x2122,
    0x2190, 0x2199, 0x21BA, 0x21BB, 0x21D2, 0x21D2,
    0x2200, 0x220F, 0x2211, 0x2213, 0x2218, 0x221E, 0x2227, 0x222B, 0x2248, 0x2248, 0x2260, 0x2265, 0x2295, 0x2299,
    0x22A4, 0x22A5, 0x22C5, 0x22C5, 0x22EE, 0x22F1, 0x2423, 0x2423,
    0x2581, 0x2581, 0x25A0, 0x25A1, 0x25AA, 0x25AB, 0x25B2, 0x25CF, 0x2680, 0x2685, 0x26A0, 0x26A0,
    0x2713, 0x2717, 0x27E8, 0x27E9, 0x27F2, 0x27F3, 0xFFFD, 0xFFFD, 0,
    // clang-format on
};

constexpr FontRole k_roles[] = {
    {&Fonts::body, "Inter-Regular.otf", Font::sans, 13, true},
    {&Fonts::caption, "Inter-Regular.otf", Font::sans, 11, true},
    {&Fonts::section, "Inter-SemiBold.otf", Font::sans_semibold, 11.5F, true},
    {&Fonts::strong, "Inter-SemiBold.otf", Font::sans_semibold, 13, true},
    {&Fonts::title, "Inter-SemiBold.otf", Font::sans_semibold, 20, true},
    {&Fonts::sentence, "Inter-Medium.otf", Font::sans, 17, true},
    {&Fonts::mono, "JetBrainsMono-Regular.ttf", Font::mono, 12.5F, false},
    {&Fonts::mono_small, "JetBrainsMono-Regular.ttf", Font::mono, 10.5F, false},
    {&Fonts::mono_medium, "JetBrainsMono-Regular.ttf", Font::mono, 16.5F, false},
    {&Fonts::mono_large, "JetBrainsMono-SemiBold.ttf", Font::mono_semibold, 22, false},
};
constexpr const char* k_fallback = "DejaVuSans.ttf";
constexpr const char* k_ideographs = "DroidSansFallbackFull.ttf";

/// What ImGui's font sizes measure, relative to the em.
float line_height(const std::vector<unsigned char>& font) {
    FT_Library library = nullptr;
    FT_Face face = nullptr;
    if (font.empty() || FT_Init_FreeType(&library) != 0) return 0;
    float height = 0;
    if (FT_New_Memory_Face(library, font.data(), static_cast<FT_Long>(font.size()), 0, &face) == 0) {
        height =
            static_cast<float>(face->ascender - face->descender) / static_cast<float>(face->units_per_EM);
        FT_Done_Face(face);
    }
    FT_Done_FreeType(library);
    return height;
}

bool is_builtin(char32_t code) {
    for (const ImWchar* range = k_signs; range[0]; range += 2) {
        if (code >= range[0] && code <= range[1]) return true;
    }
    return false;
}

std::vector<ImWchar> imgui_ranges(const CharacterRanges& more) {
    std::vector<ImWchar> ranges;
    for (const auto& [first, last] : more) {
        ranges.push_back(static_cast<ImWchar>(first));
        ranges.push_back(static_cast<ImWchar>(last));
    }
    ranges.push_back(0);
    return ranges;
}

struct StandIn {
    int index;  ///< in the atlas
    TextShades shades;
};

/// Adds the characters that a text field cannot hold as glyphs of its font.
std::vector<StandIn> add_stand_ins(ImFont& font, float scale, const std::vector<std::string>& originals,
                                   ShapedText& text) {
    constexpr float k_em = 17;
    std::vector<StandIn> added;
    for (std::size_t i = 0; i < originals.size(); ++i) {
        auto glyph = text.glyph(originals[i], Font::sans, k_em * scale);
        if (!glyph) continue;
        const TextShades& shades = glyph->shades;
        const int index = compat::add_glyph(font, WideText::code_of(i), shades.width, shades.height,
                                            {0, glyph->top}, static_cast<float>(shades.width));
        if (index >= 0) added.push_back({index, std::move(glyph->shades)});
    }
    return added;
}

ImFont* add_imguis_own(ImFontAtlas& atlas, float pixels) {
    ImFontConfig config;
    config.SizePixels = std::round(pixels);
    return atlas.AddFontDefault(&config);
}

}  // namespace

std::span<const FontRole> font_roles() { return k_roles; }

bool add_ranges_for(std::string_view text, CharacterRanges& ranges) {
    constexpr char32_t k_first_ideograph = 0x2E80;
    bool added = false;
    while (!text.empty()) {
        const DecodedCharacter next = decode_utf8(text);
        text.remove_prefix(next.bytes ? next.bytes : 1);
        if (!next.bytes || next.code < 0x20 || next.code > IM_UNICODE_CODEPOINT_MAX || is_builtin(next.code))
            continue;
        const bool alphabet = next.code < k_first_ideograph;
        const char32_t first = alphabet ? std::max<char32_t>(next.code & ~0xFFU, 0x20) : next.code;
        added |= ranges.emplace(first, alphabet ? next.code | 0xFFU : next.code).second;
    }
    return added;
}

const FontLibrary::File& FontLibrary::file(const std::string& path) {
    const auto known = files_.find(path);
    if (known != files_.end()) return known->second;
    std::ifstream stream(path, std::ios::binary);
    std::error_code unreadable;
    const auto size = std::filesystem::file_size(path, unreadable);
    File file;
    if (!unreadable) file.bytes.resize(size);
    stream.read(reinterpret_cast<char*>(file.bytes.data()), static_cast<std::streamsize>(file.bytes.size()));
    file.bytes.resize(static_cast<std::size_t>(stream.gcount()));
    file.line_height = line_height(file.bytes);
    return files_.emplace(path, std::move(file)).first->second;
}

/// nullptr if the file is not a font.
ImFont* FontLibrary::add(const std::string& path, float pixels_per_em, const ImWchar* ranges, ImFont* into) {
    const File& font = file(path);
    if (font.line_height <= 0) return nullptr;
    ImFontConfig config;
    config.MergeMode = into != nullptr;
    config.OversampleH = config.OversampleV = 1;
    config.PixelSnapH = true;
    return compat::add_font(atlas_, font.bytes, pixels_per_em * font.line_height, config, ranges);
}

void FontLibrary::prepare(float scale) {
    preparing_ = std::jthread([this, scale] {
        try {
            Contents contents{scale, {}, {}, font_folders()};
            fill(contents, nullptr);
            contents_ = std::move(contents);
        } catch (const std::exception&) {  // build() meets the same problem
        }
    });
}

ImFontAtlas& FontLibrary::atlas() {
    if (preparing_.joinable()) preparing_.join();
    return atlas_;
}

const BuiltFonts& FontLibrary::build(float scale, const CharacterRanges& more, const WideText& wide,
                                     ShapedText& text) {
    Contents contents{scale, more, wide.originals(), font_folders()};
    if (contents != contents_) {
        contents_ = {};  // filling may throw
        fill(contents, &text);
        contents_ = std::move(contents);
    }
    ImGui::GetIO().FontDefault = built_.fonts.body;
    return built_;
}

/// Draws `contents`, its stand-ins by `text`.
void FontLibrary::fill(const Contents& contents, ShapedText* text) {
    atlas_.Clear();
    compat::choose_font_builder(atlas_);
    atlas_.Flags |= ImFontAtlasFlags_NoPowerOfTwoHeight;
    built_ = {};
    std::string missing;
    const auto& [scale, more, originals, folders] = contents;
    const std::string fallback = find_font_file(folders, k_fallback).string();
    const std::string ideographs = find_font_file(folders, k_ideographs).string();
    const std::vector<ImWchar> others = imgui_ranges(more);
    for (const FontRole& wanted : k_roles) {
        const float em = wanted.em * scale;
        const std::string found = find_font_file(folders, wanted.file).string();
        ImFont* font = found.empty() ? nullptr : add(found, em, k_signs, nullptr);
        if (!font && missing.find(wanted.file) == std::string::npos)
            missing += (missing.empty() ? "" : ", ") + std::string(wanted.file);
        if (!font && !fallback.empty()) font = add(fallback, em, k_signs, nullptr);
        if (!font) font = add_imguis_own(atlas_, em);
        built_.fonts.*wanted.font = font;
        if (!fallback.empty()) add(fallback, em, k_signs, font);
        if (more.empty() || !wanted.all_scripts) continue;
        if (!found.empty()) add(found, em, others.data(), font);
        if (!fallback.empty()) add(fallback, em, others.data(), font);
        if (!ideographs.empty()) add(ideographs, em, others.data(), font);
    }
    std::vector<StandIn> stand_ins;
    if (text) stand_ins = add_stand_ins(*built_.fonts.sentence, scale, originals, *text);
    atlas_.Build();
    for (const StandIn& each : stand_ins) compat::set_glyph_pixels(each.index, each.shades.alpha);
    if (!missing.empty()) {
        built_.warning = "fonts not found: " + missing +
                         "; install fonts-inter, fonts-jetbrains-mono and fonts-dejavu-core";
    }
}

}  // namespace attnscope
