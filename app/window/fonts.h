// The fonts of the interface.
#pragma once

#include <imgui.h>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/picture/text.h"

namespace attnscope {

class ShapedText;
class WideText;

/// Sizes at scale 1 are those of the letters' em square, as in CSS; a line is about 1.2 times as high.
/// All draw Latin, Greek and the signs of the interface; the Inter ones whatever else was asked for.
struct Fonts {
    ImFont* body = nullptr;        ///< Inter 13
    ImFont* caption = nullptr;     ///< Inter 11
    ImFont* section = nullptr;     ///< Inter semibold 11.5, for titles in capitals
    ImFont* strong = nullptr;      ///< Inter semibold 13
    ImFont* title = nullptr;       ///< Inter semibold 20
    ImFont* sentence = nullptr;    ///< Inter medium 17
    ImFont* mono = nullptr;        ///< JetBrains Mono 12.5
    ImFont* mono_small = nullptr;  ///< JetBrains Mono 10.5
    ImFont* mono_large = nullptr;  ///< JetBrains Mono semibold 22
};

/// One font of the interface: which file, how large, and what pictures call it.
struct FontRole {
    ImFont* Fonts::*font;
    const char* file;
    Font face;
    float em;
    bool all_scripts;
};
std::span<const FontRole> font_roles();

/// Ranges of characters beyond those that every build has: first to last.
using CharacterRanges = std::map<char32_t, char32_t>;

/// Adds what drawing `text` needs: whole blocks of 256 of an alphabet, single ideographs. True if that is
/// new.
bool add_ranges_for(std::string_view text, CharacterRanges& ranges);

struct BuiltFonts {
    Fonts fonts;
    std::string warning;  ///< what is missing and what to install; empty when all is there
    double milliseconds = 0;
};

/// Reads each font file once and builds atlases from them.
/// Font files are taken from font_folders() of core/picture/fonts.h; with none, ImGui's own font serves and
/// the warning says so. Characters that these lack come from other scripts'
/// packaged fonts.
class FontLibrary {
public:
    /// Fills the atlas of the current context anew and builds it. The library must outlive the atlas.
    /// The sentence's font draws the stand-ins of `wide` as what they stand for, by `text`.
    BuiltFonts build(float scale, const CharacterRanges& more, const WideText& wide, ShapedText& text);

private:
    struct File {
        std::vector<unsigned char> bytes;
        float line_height = 0;  ///< ÷ em; 0 where the file is no font
    };
    const File& file(const std::string& path);
    ImFont* add(const std::string& path, float pixels_per_em, const ImWchar* ranges, ImFont* into);

    std::map<std::string, File> files_;
};

}  // namespace attnscope
