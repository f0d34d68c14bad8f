// The fonts of pictures and of the window, found at run time.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace attnscope {

/// One file per role. If the preferred face of a role is missing, another one replaces it.
struct FontFiles {
    std::filesystem::path sans;  ///< Inter
    std::filesystem::path sans_semibold;
    std::filesystem::path mono;  ///< JetBrains Mono
    std::filesystem::path mono_semibold;
    std::filesystem::path fallback;  ///< DejaVu Sans: for characters the others lack (√ ᵀ ℝ ▁ …)
    std::filesystem::path fallback_bold;
    /// For what all of these lack, as far as they are installed: Droid Sans Fallback (Chinese, Japanese),
    /// Lohit Devanagari, Waree (Thai), Symbola (emoji in one color).
    std::vector<std::filesystem::path> more = {};
    std::filesystem::path emoji = {};  ///< Noto Color Emoji; empty if it is not installed

    /// Every file, each once.
    std::vector<std::filesystem::path> all() const;
    /// The fonts without the color emoji.
    FontFiles in_one_color() const;
    bool operator==(const FontFiles&) const = default;
};

/// The folders that are searched for fonts, in order: `<folder of the executable>/../share/attnscope/fonts`,
/// then Debian's folders of each font. If the environment variable ATTNSCOPE_FONTS is set, only that folder.
std::vector<std::filesystem::path> font_folders();

/// The file of that name in the first folder that has it; empty if none does.
std::filesystem::path find_font_file(std::span<const std::filesystem::path> folders, std::string_view name);

/// Throws Error(backend) naming the folders and the packages to install if they contain none of the known
/// fonts.
FontFiles find_fonts(std::span<const std::filesystem::path> folders);
FontFiles find_fonts();

}  // namespace attnscope
