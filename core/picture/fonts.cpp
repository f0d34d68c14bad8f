#include "core/picture/fonts.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>

#include "core/error.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

/// In the order in which they are asked for a character.
constexpr std::string_view k_more_fonts[] = {"DroidSansFallbackFull.ttf", "Lohit-Devanagari.ttf", "Waree.ttf",
                                             "Symbola_hint.ttf"};

/// The first of the names that a folder contains.
fs::path first_existing(std::span<const fs::path> folders, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names)
        if (fs::path file = find_font_file(folders, name); !file.empty()) return file;
    return {};
}

[[noreturn]] void throw_no_fonts(std::span<const fs::path> folders) {
    std::string list;
    for (const fs::path& folder : folders) list += (list.empty() ? "" : ", ") + folder.string();
    throw Error(ErrorKind::backend,
                "no fonts found in " + list +
                    ": install fonts-dejavu-core (or fonts-inter and fonts-jetbrains-mono), or set "
                    "ATTNSCOPE_FONTS to a folder that holds DejaVuSans.ttf");
}

}  // namespace

std::vector<fs::path> FontFiles::all() const {
    std::vector<fs::path> files;
    for (const fs::path& file : {sans, sans_semibold, mono, mono_semibold, fallback, fallback_bold}) {
        if (!file.empty() && std::find(files.begin(), files.end(), file) == files.end())
            files.push_back(file);
    }
    files.insert(files.end(), more.begin(), more.end());
    if (!emoji.empty()) files.push_back(emoji);
    return files;
}

FontFiles FontFiles::in_one_color() const {
    FontFiles files = *this;
    files.emoji.clear();
    return files;
}

std::vector<fs::path> font_folders() {
    const char* chosen = std::getenv("ATTNSCOPE_FONTS");
    if (chosen && *chosen) return {fs::path(chosen)};
    std::vector<fs::path> folders;
    std::error_code error;
    const fs::path executable = fs::read_symlink("/proc/self/exe", error);
    if (!error) {
        folders.push_back((executable.parent_path().parent_path() / "share/attnscope/fonts"));
    }
    folders.insert(folders.end(),
                   {"/usr/share/fonts/opentype/inter", "/usr/share/fonts/truetype/jetbrains-mono",
                    "/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/truetype/droid",
                    "/usr/share/fonts/truetype/lohit-devanagari", "/usr/share/fonts/truetype/tlwg",
                    "/usr/share/fonts/truetype/ancient-scripts", "/usr/share/fonts/truetype/noto"});
    return folders;
}

fs::path find_font_file(std::span<const fs::path> folders, std::string_view name) {
    for (const fs::path& folder : folders) {
        std::error_code ignored;
        fs::path file = folder / name;
        if (fs::is_regular_file(file, ignored)) return file;
    }
    return {};
}

FontFiles find_fonts(std::span<const fs::path> folders) {
    const auto find = [&](std::initializer_list<std::string_view> names) {
        return first_existing(folders, names);
    };
    FontFiles files{
        .sans = find({"Inter-Regular.otf", "Inter-Regular.ttf", "DejaVuSans.ttf", "JetBrainsMono-Regular.ttf",
                      "DejaVuSansMono.ttf"}),
        .sans_semibold = find({"Inter-SemiBold.otf", "Inter-SemiBold.ttf", "DejaVuSans-Bold.ttf"}),
        .mono = find({"JetBrainsMono-Regular.ttf", "DejaVuSansMono.ttf"}),
        .mono_semibold = find({"JetBrainsMono-SemiBold.ttf", "DejaVuSansMono-Bold.ttf"}),
        .fallback = find({"DejaVuSans.ttf"}),
        .fallback_bold = find({"DejaVuSans-Bold.ttf"}),
    };
    if (files.sans.empty()) throw_no_fonts(folders);
    if (files.sans_semibold.empty()) files.sans_semibold = files.sans;
    if (files.mono.empty()) files.mono = files.sans;
    if (files.mono_semibold.empty()) files.mono_semibold = files.mono;
    if (files.fallback.empty()) files.fallback = files.sans;
    if (files.fallback_bold.empty()) files.fallback_bold = files.fallback;
    for (const std::string_view name : k_more_fonts)
        if (fs::path file = find_font_file(folders, name); !file.empty()) files.more.push_back(file);
    files.emoji = find({"NotoColorEmoji.ttf"});
    return files;
}

FontFiles find_fonts() { return find_fonts(font_folders()); }

}  // namespace attnscope
