// Who may include whom: folders in layers, libraries where they belong, no circle of files.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {
namespace {

namespace fs = std::filesystem;

/// A folder and the folders whose headers its files may include, besides its own and `core` itself. A row
/// names only folders of earlier rows, so that no folders can include each other in a circle.
struct Room {
    std::string folder;
    std::vector<std::string> stands_on;
};

const std::vector<Room> k_rooms = {
    {"core", {}},
    {"core/tensor", {}},
    {"core/random", {"core/tensor"}},
    {"core/text", {"core/tensor", "core/random"}},
    {"core/image", {"core/tensor"}},
    {"core/cpu", {"core/tensor"}},
    {"core/files", {"core/tensor", "core/image", "core/cpu"}},
    {"core/experiment", {"core/tensor", "core/random", "core/text", "core/image"}},
    {"core/op", {"core/tensor", "core/random", "core/text", "core/image", "core/cpu", "core/experiment"}},
    {"core/graph", {"core/tensor", "core/image", "core/cpu", "core/experiment", "core/op"}},
    {"core/mechanism/attention", {"core/text", "core/image", "core/experiment", "core/op", "core/graph"}},
    {"core/mechanism/seq2seq", {"core/random", "core/text", "core/experiment", "core/op", "core/graph"}},
    {"core/mechanism/transformer",
     {"core/random", "core/text", "core/experiment", "core/op", "core/graph", "core/mechanism/attention"}},
    {"core/mechanism",
     {"core/cpu", "core/experiment", "core/graph", "core/mechanism/attention", "core/mechanism/seq2seq",
      "core/mechanism/transformer"}},
    {"core/learn",
     {"core/tensor", "core/text", "core/random", "core/cpu", "core/experiment", "core/op", "core/graph",
      "core/mechanism", "core/mechanism/transformer"}},
    {"core/gpu", {"core/tensor", "core/op", "core/graph", "core/mechanism"}},
    {"core/picture",
     {"core/tensor", "core/files", "core/cpu", "core/text", "core/image", "core/graph", "core/mechanism"}},
    {"core/session",
     {"core/random", "core/text", "core/image", "core/files", "core/experiment", "core/op", "core/graph",
      "core/learn", "core/mechanism", "core/mechanism/attention", "core/picture"}},
    {"core/recipe",
     {"core/text", "core/op", "core/graph", "core/mechanism", "core/mechanism/seq2seq",
      "core/mechanism/transformer", "core/learn"}},
    {"core/export",
     {"core/files", "core/graph", "core/learn", "core/mechanism", "core/picture", "core/session"}},

    {"app/document",
     {"core/cpu", "core/text", "core/image", "core/files", "core/experiment", "core/op", "core/graph",
      "core/mechanism", "core/learn", "core/gpu", "core/picture", "core/session", "core/export"}},
    {"app/platform", {"core/gpu"}},
    {"app/actions",
     {"core/files", "core/graph", "core/learn", "core/mechanism", "core/picture", "core/session",
      "core/recipe", "core/export", "app/document", "app/platform"}},
    {"app/heatmap", {"core/tensor", "core/image", "core/gpu", "core/picture", "app/platform"}},
    {"app/ui", {"core/text", "core/gpu", "core/picture", "app/platform", "app/heatmap"}},
    {"app/views",
     {"core/experiment", "core/graph", "core/learn", "core/mechanism", "core/mechanism/seq2seq",
      "core/picture", "core/session", "core/export", "app/document", "app/platform", "app/actions",
      "app/ui"}},
    {"app/panels",
     {"core/text", "core/files", "core/experiment", "core/op", "core/graph", "core/learn", "core/mechanism",
      "core/picture", "core/session", "core/export", "app/document", "app/platform", "app/actions",
      "app/ui"}},
    {"app/shell",
     {"core/graph", "core/gpu", "core/session", "app/document", "app/platform", "app/heatmap", "app/actions",
      "app/ui", "app/views", "app/panels"}},
    {"app/cli",
     {"core/cpu", "core/files", "core/graph", "core/learn", "core/mechanism", "core/gpu", "core/session",
      "core/recipe", "core/export", "app/shell"}},
    {"app", {"app/shell", "app/cli"}},
};

/// A header that only some files may include.
struct Reserved {
    std::string header;              ///< how its name starts
    std::vector<std::string> users;  ///< how the paths of those files start
    std::string reason;
};

const std::vector<Reserved> k_reserved = {
    {"epoxy/", {"core/gpu/", "app/ui/imgui_layer."}, "OpenGL is called in core/gpu, and from there"},
    {"GL/", {}, "OpenGL is loaded by epoxy"},
    {"EGL/", {}, "EGL is loaded by epoxy"},
    {"GLFW/", {"app/platform/glfw_"}, "the window on the screen is app/platform's"},
    {"imgui", {"app/platform/", "app/heatmap/", "app/ui/", "tests/"}, "app/ui says what is drawn with"},
    {"app/shell/",
     {"app/shell/", "app/main.", "app/cli/measure.", "tests/"},
     "the command line opens no window"},
    {"core/mechanism/evaluate.h",
     {"core/mechanism/evaluate.", "core/gpu/choice.", "app/document/worker.", "app/document/trainer.",
      "app/document/parity_run.", "app/document/gallery.", "app/document/sweeper.", "core/learn/",
      "core/export/film.", "app/cli/", "tests/", "bench/"},
     "only the worker, training, films, sweeps, the gallery and the command line start computations"},
};

const Room* room_of(const std::string& folder) {
    const auto found = std::ranges::find(k_rooms, folder, &Room::folder);
    return found == k_rooms.end() ? nullptr : &*found;
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

struct Include {
    int line;
    std::string header;
};

std::vector<Include> includes_of(const std::string& text) {
    static const std::regex include(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
    std::vector<Include> found;
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        std::smatch match;
        if (std::regex_search(line, match, include)) found.push_back({number, match[1]});
    }
    return found;
}

/// Why a file may not include a header, or empty.
std::string why_not(const std::string& path, const std::string& header) {
    if (header.find("../") != std::string::npos) return "includes are written from the project's root";
    for (const Reserved& reserved : k_reserved) {
        // backends/imgui_impl_glfw.h is imgui's as well
        const std::string name = header.starts_with("backends/") ? header.substr(9) : header;
        if (name.starts_with(reserved.header) &&
            std::ranges::none_of(reserved.users, [&](const auto& user) { return path.starts_with(user); }))
            return reserved.reason;
    }
    const bool ours = path.starts_with("core/") || path.starts_with("app/");
    const bool of_ours = header.starts_with("core/") || header.starts_with("app/");
    if (!ours) return "";
    if (header.starts_with("tests/") || header.starts_with("bench/")) return "the program knows no test";
    const std::string from = folder_of(path), to = folder_of(header);
    if (!of_ours || from == to || to == "core") return "";
    const Room* room = room_of(from);
    if (!room) return from + " is not in the table of folders";
    return std::ranges::find(room->stands_on, to) == room->stands_on.end() ? from + " does not stand on " + to
                                                                           : "";
}

/// One line for each #include in `text` that breaks a rule; `path` is from the project's root.
std::vector<std::string> violations(const std::string& path, const std::string& text) {
    std::vector<std::string> found;
    for (const Include& include : includes_of(text))
        if (const std::string why = why_not(path, include.header); !why.empty())
            found.push_back(path + ":" + std::to_string(include.line) + " includes " + include.header + ": " +
                            why);
    return found;
}

std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

/// The text of every source file, by its path from the project's root.
const std::map<std::string, std::string>& sources() {
    static const std::map<std::string, std::string> files = [] {
        std::map<std::string, std::string> found;
        for (const char* folder : {"core", "app", "tests", "bench"})
            for (const fs::directory_entry& entry :
                 fs::recursive_directory_iterator(fs::path(ATTNSCOPE_SOURCE_DIR) / folder))
                if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp")
                    found[entry.path().lexically_relative(ATTNSCOPE_SOURCE_DIR).generic_string()] =
                        read(entry.path());
        return found;
    }();
    return files;
}

/// The headers of a circle that is reached from `path`, the first one again at its end; empty if there is
/// none.
std::vector<std::string> circle_from(const std::string& path,
                                     const std::map<std::string, std::vector<Include>>& includes,
                                     std::vector<std::string>& way, std::set<std::string>& done) {
    const auto seen = std::ranges::find(way, path);
    if (seen != way.end()) {
        std::vector<std::string> circle(seen, way.end());
        circle.push_back(path);
        return circle;
    }
    const auto file = includes.find(path);
    if (done.contains(path) || file == includes.end()) return {};
    way.push_back(path);
    for (const Include& include : file->second)
        if (auto circle = circle_from(include.header, includes, way, done); !circle.empty()) return circle;
    way.pop_back();
    done.insert(path);
    return {};
}

std::vector<std::string> any_circle(const std::map<std::string, std::string>& files) {
    std::map<std::string, std::vector<Include>> includes;
    for (const auto& [path, text] : files) includes[path] = includes_of(text);
    std::set<std::string> done;
    for (const auto& [path, list] : includes) {
        std::vector<std::string> way;
        if (auto circle = circle_from(path, includes, way, done); !circle.empty()) return circle;
    }
    return {};
}

TEST(IncludeRulesTest, NoSourceFileBreaksARule) {
    for (const auto& [path, text] : sources()) {
        if (path == "tests/include_rules_test.cpp") continue;  // quotes violations
        for (const std::string& violation : violations(path, text)) ADD_FAILURE() << violation;
    }
}

TEST(IncludeRulesTest, NoFilesIncludeEachOtherInACircle) {
    EXPECT_EQ(any_circle(sources()), std::vector<std::string>{});
    EXPECT_EQ(
        any_circle({{"a.h", "#include \"b.h\"\n"}, {"b.h", "#include \"c.h\""}, {"c.h", "#include \"b.h\""}}),
        (std::vector<std::string>{"b.h", "c.h", "b.h"}));
}

TEST(IncludeRulesTest, FoldersStandOnEarlierOnes) {
    std::set<std::string> earlier;
    for (const Room& room : k_rooms) {
        for (const std::string& other : room.stands_on)
            EXPECT_TRUE(earlier.contains(other)) << room.folder << " stands on " << other;
        EXPECT_TRUE(earlier.insert(room.folder).second) << room.folder << " is named twice";
        EXPECT_TRUE(room.folder == "app" || !room.folder.starts_with("core") ||
                    std::ranges::none_of(room.stands_on,
                                         [](const std::string& other) { return other.starts_with("app"); }))
            << room.folder;
    }
}

/// The folders that each row of the page's table names: "`core/tensor`, `cpu`" are core/tensor and core/cpu.
std::vector<std::vector<std::string>> rows_of_page(const std::string& page) {
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(page.substr(page.find("| folder |")));
    for (std::string line; std::getline(lines, line) && line.starts_with("|");) {
        std::vector<std::string> folders;
        const std::string first = line.substr(0, line.find('|', 1));
        static const std::regex name("`([^`]+)`");
        for (std::sregex_iterator at(first.begin(), first.end(), name), end; at != end; ++at) {
            const std::string folder = (*at)[1];
            const bool whole = folder.find('/') != folder.npos;
            folders.push_back(whole ? folder
                                    : folders.front().substr(0, folders.front().find('/') + 1) + folder);
        }
        if (!folders.empty()) rows.push_back(folders);
    }
    return rows;
}

TEST(IncludeRulesTest, TheArchitecturePageHasTheFoldersInThatOrder) {
    std::ifstream file(fs::path(ATTNSCOPE_SOURCE_DIR) / "docs/architecture.md");
    std::ostringstream page;
    page << file.rdbuf();
    const std::vector<std::vector<std::string>> rows = rows_of_page(page.str());
    ASSERT_GT(rows.size(), 10U);
    // A folder of a mechanism stands in the row of all.
    const auto row_of = [&](const std::string& folder) {
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (const std::string& each : rows[i])
                if (folder == each || folder.starts_with(each + "/")) return static_cast<int>(i);
        return -1;
    };
    for (const Room& room : k_rooms) {
        if (room.folder == "core" || room.folder == "app") continue;
        EXPECT_GE(row_of(room.folder), 0) << room.folder << " is not on the page";
        for (const std::string& other : room.stands_on)
            EXPECT_LE(row_of(other), row_of(room.folder)) << room.folder << " includes " << other;
    }
}

TEST(IncludeRulesTest, TheTableHasEveryFolderAndWhatEachOneNeedsAlone) {
    std::map<std::string, std::set<std::string>> used;
    for (const auto& [path, text] : sources()) {
        if (!path.starts_with("core/") && !path.starts_with("app/")) continue;
        std::set<std::string>& of_folder = used[folder_of(path)];
        for (const Include& include : includes_of(text))
            if (include.header.starts_with("core/") || include.header.starts_with("app/"))
                of_folder.insert(folder_of(include.header));
    }
    for (const auto& [folder, others] : used) EXPECT_TRUE(room_of(folder)) << folder;
    for (const Room& room : k_rooms)
        for (const std::string& other : room.stands_on)
            EXPECT_TRUE(used[room.folder].contains(other)) << room.folder << " no longer includes " << other;
}

TEST(IncludeRulesTest, AViolationIsNamedWithItsFileLineAndReason) {
    EXPECT_EQ(violations("core/text/tokenizer.cpp", "#pragma once\n\n  #  include <app/main.h> // no\n"),
              std::vector<std::string>{
                  "core/text/tokenizer.cpp:3 includes app/main.h: core/text does not stand on app"});
}

TEST(IncludeRulesTest, PlantedViolationsAreFound) {
    const std::vector<std::pair<std::string, std::string>> planted = {
        {"core/tensor/planted.h", "core/text/tokenizer.h"},
        {"core/op/planted.cpp", "core/graph/graph.h"},
        {"core/picture/planted.cpp", "core/session/session.h"},
        {"core/picture/planted.cpp", "epoxy/gl.h"},
        {"core/session/planted.cpp", "imgui.h"},
        {"core/unknown/planted.cpp", "core/op/op.h"},
        {"app/document/planted.cpp", "imgui.h"},
        {"app/document/planted.cpp", "backends/imgui_impl_glfw.h"},
        {"app/document/planted.cpp", "../views/step.h"},
        {"app/document/history.cpp", "core/mechanism/evaluate.h"},
        {"app/actions/planted.cpp", "app/panels/panels.h"},
        {"app/panels/planted.cpp", "app/views/views.h"},
        {"app/panels/planted.cpp", "GLFW/glfw3.h"},
        {"app/cli/render.cpp", "app/shell/window.h"},
        {"app/ui/planted.cpp", "tests/headless.h"},
        {"app/ui/planted.cpp", "app/document/desk.h"},
    };
    for (const auto& [path, header] : planted)
        EXPECT_EQ(violations(path, "#include \"" + header + "\"\n").size(), 1U) << path << " " << header;
}

TEST(IncludeRulesTest, AnAllowedIncludeIsNotAViolation) {
    for (const auto& [path, header] : std::vector<std::pair<std::string, std::string>>{
             {"core/gpu/context.cpp", "epoxy/gl.h"},
             {"core/text/tokenizer.cpp", "core/error.h"},
             {"app/cli/measure.cpp", "app/shell/window.h"},
             {"app/platform/glfw_keys.cpp", "GLFW/glfw3.h"},
             {"app/document/worker.cpp", "core/mechanism/evaluate.h"},
             {"tests/core/mechanism/evaluate_test.cpp", "core/mechanism/evaluate.h"}})
        EXPECT_EQ(violations(path, "#include \"" + header + "\"\n"), std::vector<std::string>{}) << path;
    EXPECT_TRUE(
        violations("core/text/planted.cpp", "// #include <imgui.h>\nconst char* s = \"app/\";").empty());
}

}  // namespace
}  // namespace attnscope
