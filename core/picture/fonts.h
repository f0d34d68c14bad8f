// The font files that pictures (and the window) write with, found at run time.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace attnscope {

/// One file per role. Where the face made for a role is missing, another that exists takes its place.
struct FontFiles {
    std::filesystem::path sans;  ///< Inter
    std::filesystem::path sans_semibold;
    std::filesystem::path mono;  ///< JetBrains Mono
    std::filesystem::path mono_semibold;
    std::filesystem::path fallback;  ///< DejaVu Sans: what the others lack (√ ᵀ ℝ ▁ …)
    std::filesystem::path fallback_bold;
    std::filesystem::path ideographs;  ///< Droid Sans Fallback: Chinese, Japanese; may be missing

    /// Each file once.
    std::vector<std::filesystem::path> all() const;
    bool operator==(const FontFiles&) const = default;
};

/// Where fonts are looked for, first to last: `<folder of the executable>/../share/attnscope/fonts`, then
/// Debian's folders of Inter, JetBrains Mono, DejaVu and Droid. If the environment's ATTNSCOPE_FONTS is set,
/// that folder alone.
std::vector<std::filesystem::path> font_folders();

/// The file of that name in the first of the folders that has it; empty if none has.
std::filesystem::path find_font_file(std::span<const std::filesystem::path> folders, std::string_view name);

/// Throws Error(backend) naming the folders and the packages to install if they hold none of the known fonts.
FontFiles find_fonts(std::span<const std::filesystem::path> folders);
FontFiles find_fonts();

}  // namespace attnscope
