#include "app/window/fonts.h"

#include <ft2build.h>
#include FT_FREETYPE_H

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/window/imgui_compat.h"
#include "app/window/wide_text.h"
#include "core/picture/fonts.h"

namespace attnscope {

namespace {

// Pairs of first and last code point, ended by 0.
constexpr ImWchar k_signs[] = {
    // clang-format off
    0x0020, 0x017F, 0x02C6, 0x02DC, 0x0391, 0x03C9,  // Latin, Greek
    0x1D40, 0x1D40,                                  // ᵀ
    0x2010, 0x2027, 0x2030, 0x203A, 0x2070, 0x209C,  // punctuation, indices
    0x20AC, 0x20AC, 0x2102, 0x2102, 0x2115, 0x2115, 0x211D, 0x211D, 0x2122, 0x2122,
    0x2190, 0x2199, 0x21BA, 0x21BB, 0x21D2, 0x21D2,
    0x2200, 0x220F, 0x2211, 0x2213, 0x2218, 0x221E, 0x2227, 0x222B, 0x2248, 0x2248, 0x2260, 0x2265, 0x2295, 0x2299,
    0x22A4, 0x22A5, 0x22C5, 0x22C5, 0x22EE, 0x22F1, 0x2423, 0x2423,
    0x2581, 0x2581, 0x25A0, 0x25A1, 0x25AA, 0x25AB, 0x25B2, 0x25CF, 0x2680, 0x2685, 0x26A0, 0x26A0,
    0x2713, 0x2717, 0x27E8, 0x27E9, 0x27F2, 0x27F3, 0xFFFD, 0xFFFD, 0,
    // clang-format on
};

/// One font of the interface: which file, how large.
struct Wanted {
    ImFont* Fonts::*font;
    const char* file;
    float em;
    bool all_scripts;
};
constexpr Wanted k_wanted[] = {
    {&Fonts::body, "Inter-Regular.otf", 13, true},
    {&Fonts::caption, "Inter-Regular.otf", 11, true},
    {&Fonts::section, "Inter-SemiBold.otf", 11.5F, true},
    {&Fonts::strong, "Inter-SemiBold.otf", 13, true},
    {&Fonts::title, "Inter-SemiBold.otf", 20, true},
    {&Fonts::sentence, "Inter-Medium.otf", 17, true},
    {&Fonts::mono, "JetBrainsMono-Regular.ttf", 12.5F, false},
    {&Fonts::mono_small, "JetBrainsMono-Regular.ttf", 10.5F, false},
    {&Fonts::mono_large, "JetBrainsMono-SemiBold.ttf", 22, false},
};
constexpr const char* k_fallback = "DejaVuSans.ttf";
constexpr const char* k_other_scripts[] = {
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc",
    "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
};

/// What ImGui's sizes measure, for an em of 1.
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

ImFont* add_imguis_own(float pixels) {
    ImFontConfig config;
    config.SizePixels = std::round(pixels);
    return ImGui::GetIO().Fonts->AddFontDefault(&config);
}

}  // namespace

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
    File file{.bytes = {std::istreambuf_iterator<char>(stream), {}}};
    file.line_height = line_height(file.bytes);
    return files_.emplace(path, std::move(file)).first->second;
}

/// nullptr if the file is no font.
ImFont* FontLibrary::add(const std::string& path, float pixels_per_em, const ImWchar* ranges, ImFont* into) {
    const File& font = file(path);
    if (font.line_height <= 0) return nullptr;
    ImFontConfig config;
    config.MergeMode = into != nullptr;
    config.OversampleH = config.OversampleV = 1;
    config.PixelSnapH = true;
    config.FontDataOwnedByAtlas = false;
    // ImGui takes a pointer to non-const and only reads.
    auto* bytes = const_cast<unsigned char*>(font.bytes.data());
    return ImGui::GetIO().Fonts->AddFontFromMemoryTTF(bytes, static_cast<int>(font.bytes.size()),
                                                      pixels_per_em * font.line_height, &config, ranges);
}

BuiltFonts FontLibrary::build(float scale, const CharacterRanges& more) {
    const auto start = std::chrono::steady_clock::now();
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    atlas.Clear();
    compat::choose_font_builder(atlas);
    atlas.Flags |= ImFontAtlasFlags_NoPowerOfTwoHeight;
    BuiltFonts built;
    std::string missing;
    const std::vector<std::filesystem::path> folders = font_folders();
    const std::string fallback = find_font_file(folders, k_fallback).string();
    const std::vector<ImWchar> others = imgui_ranges(more);
    for (const Wanted& wanted : k_wanted) {
        const float em = wanted.em * scale;
        const std::string found = find_font_file(folders, wanted.file).string();
        ImFont* font = found.empty() ? nullptr : add(found, em, k_signs, nullptr);
        if (!font && missing.find(wanted.file) == std::string::npos)
            missing += (missing.empty() ? "" : ", ") + std::string(wanted.file);
        if (!font && !fallback.empty()) font = add(fallback, em, k_signs, nullptr);
        if (!font) font = add_imguis_own(em);
        built.fonts.*wanted.font = font;
        if (!fallback.empty()) add(fallback, em, k_signs, font);
        if (more.empty() || !wanted.all_scripts) continue;
        if (!found.empty()) add(found, em, others.data(), font);
        if (!fallback.empty()) add(fallback, em, others.data(), font);
        for (const char* path : k_other_scripts) add(path, em, others.data(), font);
    }
    ImGui::GetIO().FontDefault = built.fonts.body;
    atlas.Build();
    if (!missing.empty()) {
        built.warning = "fonts not found: " + missing +
                        "; install fonts-inter, fonts-jetbrains-mono and fonts-dejavu-core";
    }
    const auto took = std::chrono::steady_clock::now() - start;
    built.milliseconds = std::chrono::duration<double, std::milli>(took).count();
    return built;
}

}  // namespace attnscope
