// The fonts of the interface.
#pragma once

#include <imgui.h>

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/picture/text.h"

namespace attnscope {

class ShapedText;
class WideText;

/// Sizes at scale 1 are those of the em square, as in CSS; a line is about 1.2 times as high. All fonts draw
/// Latin, Greek and the symbols of the interface; the Inter fonts also draw all other characters requested.
struct Fonts {
    ImFont* body = nullptr;         ///< Inter 13
    ImFont* caption = nullptr;      ///< Inter 11
    ImFont* section = nullptr;      ///< Inter semibold 11.5, for titles in capitals
    ImFont* strong = nullptr;       ///< Inter semibold 13
    ImFont* title = nullptr;        ///< Inter semibold 20
    ImFont* sentence = nullptr;     ///< Inter medium 17
    ImFont* mono = nullptr;         ///< JetBrains Mono 12.5
    ImFont* mono_small = nullptr;   ///< JetBrains Mono 10.5
    ImFont* mono_medium = nullptr;  ///< JetBrains Mono 16.5
    ImFont* mono_large = nullptr;   ///< JetBrains Mono semibold 22
};

/// One font of the interface: its file, its size, and its counterpart in pictures.
struct FontRole {
    ImFont* Fonts::*font;
    const char* file;
    Font face;
    float em;
    bool all_scripts;
};
std::span<const FontRole> font_roles();

/// Ranges of characters beyond those of every build: first to last.
using CharacterRanges = std::map<char32_t, char32_t>;

/// Adds what drawing `text` needs: whole blocks of 256 for alphabets, single ideographs. True if anything was
/// added.
bool add_ranges_for(std::string_view text, CharacterRanges& ranges);

struct BuiltFonts {
    Fonts fonts;
    std::string warning;  ///< which fonts are missing and what to install; empty if all are found
};

/// Reads each font file once and draws an atlas from them, for the contexts of ImGui that are created with
/// it, one after the other. Font files come from font_folders() of core/picture/fonts.h; without any, ImGui's
/// own font is used and the warning says so. Characters that these fonts lack come from packaged fonts for
/// other scripts.
class FontLibrary {
public:
    FontLibrary() = default;
    FontLibrary(const FontLibrary&) = delete;
    FontLibrary& operator=(const FontLibrary&) = delete;

    /// Starts to draw the atlas of this scale on another thread, while the window is opened. Call it before
    /// atlas().
    void prepare(float scale);
    /// The atlas of the contexts, which the library must outlive. Waits for prepare().
    ImFontAtlas& atlas();
    /// Fills the atlas, unless it holds just this, and gives the current context its fonts. The sentence font
    /// draws each stand-in of `wide` as the character that it replaces, using `text`.
    const BuiltFonts& build(float scale, const CharacterRanges& more, const WideText& wide, ShapedText& text);

private:
    struct File {
        std::vector<unsigned char> bytes;
        float line_height = 0;  ///< relative to the em; 0 if the file is not a font
    };
    const File& file(const std::string& path);
    ImFont* add(const std::string& path, float pixels_per_em, const ImWchar* ranges, ImFont* into);

    /// What the pictures of the letters depend on.
    struct Contents {
        float scale = 0;
        CharacterRanges more;
        std::vector<std::string> originals;  ///< of the stand-ins
        std::vector<std::filesystem::path> folders;
        bool operator==(const Contents&) const = default;
    };
    void fill(const Contents& contents, ShapedText* text);

    std::map<std::string, File> files_;
    ImFontAtlas atlas_;
    Contents contents_;
    BuiltFonts built_;
    std::jthread preparing_;  ///< the last member: it fills the others
};

}  // namespace attnscope
