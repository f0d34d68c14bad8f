// Includes go one way: app/views, app/panels → app/document → core, and core/gpu → core.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {
namespace {

namespace fs = std::filesystem;

/// No file whose path starts with `folder` includes a path that starts with one of `forbidden`.
struct Rule {
    std::string folder;                  ///< from the project's root; empty: every file
    std::vector<std::string> forbidden;  ///< as in the #include line, or after any slash in it
    std::string reason;
    std::vector<std::string> except = {};   ///< paths under `folder` that the rule leaves alone
    std::vector<std::string> allowed = {};  ///< what may be included all the same
};

const std::vector<std::string> k_opengl = {"epoxy/", "GL/", "GLES2/", "GLES3/", "GLFW/", "EGL/"};

const std::vector<Rule> k_rules = {
    {"", {"../"}, "includes are written from the project's root"},

    {"core/", {"app/"}, "core does not know the program around it"},
    {"core/", {"imgui"}, "core draws no interface"},
    {"core/", k_opengl, "core/gpu is the only folder of core that sees OpenGL", {"core/gpu/"}},
    {"core/", {"core/gpu/"}, "core/gpu depends on core, never core on it", {"core/gpu/"}},
    {"core/text/",
     {"core/attention/", "core/cpu/", "core/seq2seq/", "core/picture/", "core/io/"},
     "text lies under the computation, pictures and files",
     {},
     {"core/attention/tensor.h"}},
    {"core/random/",
     {"core/attention/", "core/cpu/", "core/seq2seq/", "core/text/", "core/picture/", "core/io/"},
     "random numbers lie under all else",
     {},
     {"core/attention/tensor.h"}},
    {"core/attention/", {"core/picture/", "core/io/"}, "the computation lies under pictures and files"},
    {"core/seq2seq/", {"core/picture/", "core/io/"}, "the computation lies under pictures and files"},
    {"core/attention/", {"core/seq2seq/"}, "core/evaluate chooses the mechanism"},
    {"core/cpu/", {"core/picture/", "core/io/"}, "the computation lies under pictures and files"},
    {"core/gpu/", {"core/picture/", "core/io/"}, "the computation lies under pictures and files"},

    {"app/document/", {"imgui"}, "the document draws nothing"},
    {"app/document/", k_opengl, "the document draws nothing"},
    {"app/document/",
     {"app/panels/", "app/views/", "app/actions/", "app/window/", "app/cli/"},
     "the document does not know who shows or changes it"},
    {"app/actions/",
     {"app/panels/", "app/views/", "app/cli/", "imgui", "epoxy/", "GL/", "GLFW/"},
     "an action changes the document, whoever shows it"},
    {"app/cli/",
     {"app/window/", "app/panels/", "app/views/", "GLFW/", "imgui"},
     "the command line opens no window",
     {"app/cli/measure."}},
    {"app/cli/measure.", {"GLFW/", "imgui"}, "measure opens the window through app/window"},
    {"app/panels/",
     {"app/views/", "app/cli/"},
     "panels stand on the document and the window's drawing helpers"},
    {"app/views/",
     {"app/panels/", "app/cli/"},
     "views stand on the document and the window's drawing helpers"},
    {"",
     {"core/attention/evaluate.h"},
     "only the worker and the command line start computations",
     {"core/attention/", "core/evaluate.", "core/gpu/choice.", "app/document/worker.",
      "app/document/parity_run.", "app/cli/", "tests/", "bench/"}},
};

bool starts_with_any(std::string_view path, const std::vector<std::string>& prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](const std::string& prefix) { return path.starts_with(prefix); });
}

bool is_forbidden(std::string_view included, const std::vector<std::string>& prefixes) {
    if (starts_with_any(included, prefixes)) return true;
    const size_t slash = included.find('/');
    return slash != std::string_view::npos && is_forbidden(included.substr(slash + 1), prefixes);
}

/// One line for each #include in `text` that breaks a rule; `path` is from the project's root.
std::vector<std::string> violations(const std::string& path, const std::string& text) {
    static const std::regex include(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
    std::vector<std::string> found;
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        std::smatch match;
        if (!std::regex_search(line, match, include)) continue;
        const std::string included = match[1];
        for (const Rule& rule : k_rules)
            if (path.starts_with(rule.folder) && !starts_with_any(path, rule.except) &&
                !starts_with_any(included, rule.allowed) && is_forbidden(included, rule.forbidden))
                found.push_back(path + ":" + std::to_string(number) + " includes " + included + ": " +
                                rule.reason);
    }
    return found;
}

std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

std::vector<fs::path> sources() {
    std::vector<fs::path> files;
    for (const char* folder : {"core", "app", "tests", "bench"})
        for (const fs::directory_entry& entry :
             fs::recursive_directory_iterator(fs::path(ATTNSCOPE_SOURCE_DIR) / folder))
            if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp")
                files.push_back(entry.path());
    return files;
}

TEST(include_rules_test, no_source_file_breaks_a_rule) {
    for (const fs::path& file : sources()) {
        const std::string path = file.lexically_relative(ATTNSCOPE_SOURCE_DIR).generic_string();
        if (path == "tests/include_rules_test.cpp") continue;  // quotes violations
        for (const std::string& violation : violations(path, read(file))) ADD_FAILURE() << violation;
    }
}

TEST(include_rules_test, the_sources_are_found) {
    const std::vector<fs::path> files = sources();
    for (const char* file : {"core/io/embedded.h", "app/main.cpp", "tests/include_rules_test.cpp"})
        EXPECT_NE(std::find(files.begin(), files.end(), fs::path(ATTNSCOPE_SOURCE_DIR) / file), files.end())
            << file;
}

TEST(include_rules_test, each_rule_finds_a_planted_violation) {
    for (const Rule& rule : k_rules)
        for (const std::string& forbidden : rule.forbidden) {
            const std::string line = "#include \"" + forbidden + "planted.h\"\n";
            const std::vector<std::string> found = violations(rule.folder + "planted.cpp", line);
            EXPECT_TRUE(
                std::any_of(found.begin(), found.end(),
                            [&](const std::string& violation) { return violation.ends_with(rule.reason); }))
                << rule.folder << " " << line;
        }
}

TEST(include_rules_test, a_violation_is_named_with_its_file_line_and_reason) {
    EXPECT_EQ(violations("core/text/tokenizer.cpp", "#pragma once\n\n  #  include <app/main.h> // no\n"),
              std::vector<std::string>{
                  "core/text/tokenizer.cpp:3 includes app/main.h: core does not know the program around it"});
}

TEST(include_rules_test, the_places_that_a_rule_leaves_alone_may_include) {
    EXPECT_TRUE(violations("core/gpu/context.cpp", "#include <epoxy/gl.h>\n#include <EGL/egl.h>").empty());
    EXPECT_TRUE(violations("app/cli/measure.cpp", "#include \"app/window/window.h\"").empty());
    EXPECT_TRUE(violations("core/io/session.cpp", "#include \"core/picture/heatmap.h\"").empty());
    EXPECT_TRUE(
        violations("app/views/step.cpp", "#include \"app/document/document.h\"\n#include <imgui.h>").empty());
    EXPECT_TRUE(violations("app/window/window.cpp", "#include <GLFW/glfw3.h>").empty());
    for (const char* path : {"core/attention/evaluate.cpp", "app/document/worker.cpp", "app/cli/render.cpp",
                             "tests/evaluate_test.cpp", "bench/evaluate_bench.cpp"})
        EXPECT_TRUE(violations(path, "#include \"core/attention/evaluate.h\"").empty()) << path;
}

TEST(include_rules_test, a_header_in_a_subfolder_does_not_slip_through) {
    EXPECT_FALSE(violations("core/text/planted.cpp", "#include <backends/imgui_impl_glfw.h>").empty());
    EXPECT_FALSE(violations("app/document/planted.cpp", "#include \"../views/step.h\"").empty());
    EXPECT_FALSE(violations("app/main.cpp", "#include \"core/attention/evaluate.h\"").empty());
    EXPECT_FALSE(violations("app/document/history.cpp", "#include \"core/attention/evaluate.h\"").empty());
}

TEST(include_rules_test, what_is_no_include_line_is_no_violation) {
    EXPECT_TRUE(
        violations("core/text/planted.cpp", "// #include <imgui.h>\nconst char* s = \"app/\";").empty());
}

}  // namespace
}  // namespace attnscope
