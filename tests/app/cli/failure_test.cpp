// The program as a child process: exit codes, one line per error, no files left behind.
#include "core/files/file.h"
#include "core/files/png.h"
#include "core/session/session.h"
#include "tests/command_line.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

using namespace command_line;

using FailureTest = CommandLineTest;

// ---- wrong usage: 2

TEST_F(FailureTest, WrongUsageIsExitCode2) {
    expect_both_fail(2, {"--no-such-flag"}, {"--no-such-flag", "--help"});
    expect_both_fail(2, {"a.json", "b.json"}, {"b.json", "--help"});
    expect_both_fail(2, {"--dim"}, {"--dim"});
    expect_both_fail(2, {"--dim", "8", "--dim", "4"}, {"--dim"});
    expect_both_fail(2, {"--backend", "gpuu"}, {"--backend: \"gpuu\" is not known: use auto, cpu, gpu"});
    expect_both_fail(2, {"--threads", "-1"}, {"--threads: -1 is out of range: use 0 to 1024"});
    expect_both_fail(2, {"--threads", "99999999999999999999"}, {"--threads", "out of range: use 0 to 1024"});
    expect_both_fail(2, {"--threads", "two"}, {"--threads: expected a whole number, not \"two\""});
    expect_failure(2, run({"measure", "--action", "foo"}),
                   {"--action: \"foo\" is not known: use idle, drag-seed, type, heads"});
    expect_both_fail(2, {"--haeds=2"}, {"\"--haeds=2\" is not a flag", "did you mean --heads?"});
    expect_failure(2, run({"examples", "more"}), {"\"more\" is an extra argument: leave it out"});
    expect_failure(2, run({"render"}), {"--out"});
    expect_failure(2, run({"examples", "--seed", "1"}), {"--seed"});
    expect_failure(2, run({"render", "--out", path("out"), "--format", "gif"}), {"--format", "gif", "png"});
    expect_failure(2, run({"render", "--out", path("out"), "--format", ""}), {"--format", "png"});
}

TEST_F(FailureTest, AFolderBehindALoopOfLinksIsRefused) {
    std::filesystem::create_symlink(path("one"), path("other"));
    std::filesystem::create_symlink(path("other"), path("one"));
    expect_failure(
        1, run({"render", "--out", path("one")}),
        {"cannot reach the folder " + path("one") + ": its links form a loop: choose another path"});
}

TEST_F(FailureTest, AFlagsBadValueIsExitCode2) {
    expect_both_fail(2, {"--dim", "abc"}, {"--dim", "whole number", "abc"});
    expect_both_fail(2, {"--dim", "-1"}, {"dim -1 is out of range: use 1 to 1024"});
    expect_both_fail(2, {"--dim", "99999999999999999999"}, {"--dim", "is out of range"});
    expect_both_fail(2, {"--heads", "3"}, {"heads 3 does not divide dim 16"});
    expect_both_fail(2, {"--table-size", "1000001"}, {"table-size 1000001 is out of range"});
    expect_both_fail(2, {"--temperature", "nan"}, {"--temperature: expected a finite number, not nan"});
    expect_both_fail(2, {"--temperature", "0"}, {"temperature must be above 0"});
    expect_both_fail(2, {"--scale", "big"}, {"--scale", "sqrt, none or a number", "big"});
    expect_both_fail(2, {"--mask", "casual"}, {"--mask", "casual", "causal"});
    expect_both_fail(2, {"--mask", "valid:-1"}, {"--mask", "valid:-1"});
    expect_both_fail(2, {"--head", "0"}, {"--head", "from 1"});
    expect_both_fail(2, {"--range", "3,1"}, {"--range", "MIN below MAX"});
    expect_both_fail(2, {"--theme", "a\nb"}, {"--theme", "dark, light, contrast, print"});
    expect_both_fail(2, {"--tokenizer", "a\nb"}, {"tokenizer", "words, whitespace, characters"});
    expect_both_fail(2, {"--cell-size", "0"}, {"--cell-size", "1 to 512"});
    expect_both_fail(2, {"--stage", "wieghts"}, {"--stage", "did you mean weights?"});
    expect_both_fail(2, {"--stage", "weights,wieghts"}, {"--stage", "did you mean weights?"});
    expect_both_fail(2, {"--stage", ""}, {"--stage"});
}

TEST_F(FailureTest, AFlagsValueThatDoesNotFitTheExperimentIsExitCode2) {
    expect_both_fail(2, {"--head", "9"}, {"--head", "9 does not exist; there is 1 head"});
    expect_both_fail(2, {"--heads", "4", "--head", "5"}, {"head 5", "4 heads"});
    expect_both_fail(2, {"--mask", "valid:1,2,3"}, {"valid has 3 lengths for 8 queries"});
    expect_both_fail(2, {"--stage", "output"}, {"no stage output"});
    expect_both_fail(2, {"--heads", "2", "--stage", "context", "--head", "mean"}, {"mean", "context"});
    expect_both_fail(2, {"--example", "casual"}, {"no example \"casual\"", "did you mean causal?"});
    expect_both_fail(2, {"--text", ""}, {"no tokens", "type at least one word"});
    expect_both_fail(2, {"--text", " \n\t "}, {"no tokens"});
    expect_both_fail(2, {"--locked", "1,99"}, {"--locked", "1,99 is outside weights, which is 8 × 8"});
    expect_both_fail(2, {"--locked", "9,1"}, {"--locked", "9,1 is outside weights"});
    EXPECT_EQ(trace({"--locked", "8,8"}), trace({}));
    EXPECT_EQ(trace({"--stage", "context", "--locked", "8,16"}), trace({"--stage", "context"}));
}

TEST_F(FailureTest, WhatAFileHoldsIsExitCode1AndAFlagOverIt2) {
    Session session;
    session.experiment.weighting.mask = {{MaskForm::valid, {1, 2, 3}}};
    expect_both_fail(1, {file("mask.json", to_json(session))}, {"valid has 3 lengths for 8 queries"});
    expect_both_fail(1, {path("mask.json"), "--seed", "5"}, {"valid has 3 lengths for 8 queries"});
    session.experiment.input.text = "one two three";
    const std::string good = file("good.json", to_json(session));
    EXPECT_EQ(trace({good})["rows"].size(), 3u);
    expect_both_fail(2, {good, "--text", "one two"}, {"valid has 3 lengths for 2 queries"});
    expect_both_fail(2, {"-", "--text", "one two"}, {"valid has 3 lengths for 2 queries"},
                     {.environment = {}, .input = to_json(session), .output = {}});
    session.experiment.attention.heads = 4;
    session.presentation.head.head = 8;
    expect_failure(1, run({"render", "--out", path("out"), file("head.json", to_json(session))}),
                   {"head 9", "4 heads"});
    EXPECT_EQ(trace({path("head.json")})["stages"]["weights"]["shape"], nlohmann::json({4, 3, 3}));
}

TEST_F(FailureTest, AMisspelledSubcommandIsToldTheRightOne) {
    expect_failure(2, run({"rendr", "--out", path("out")}), {"\"rendr\"", "did you mean render?"});
    expect_failure(2, run({"tarce"}), {"did you mean trace?"});
    expect_failure(1, run({"nothing-like-it"}), {"cannot read nothing-like-it"});
    const std::string here = fs::current_path();
    fs::current_path(folder_);
    write("rendr", "{}");
    expect_failure(1, run({"rendr"}), {"display"});
    fs::current_path(here);
}

TEST_F(FailureTest, TracePrintsTheHeadThatIsAskedFor) {
    const Words heads = {"--heads", "4"};
    const nlohmann::json all = trace(heads)["stages"];
    EXPECT_EQ(trace({"--heads", "4", "--head", "all"})["stages"], all);
    const nlohmann::json third = trace({"--heads", "4", "--head", "3"})["stages"];
    EXPECT_EQ(third["weights"]["data"], nlohmann::json::array({all["weights"]["data"][2]}));
    EXPECT_EQ(trace({"--heads", "4", "--head", "mean"})["stages"]["weights"]["shape"],
              nlohmann::json({1, 8, 8}));
}

TEST_F(FailureTest, TextThatIsNotUtf8IsRefused) {
    expect_both_fail(2, {"--text", "a\xff"}, {"--text", "UTF-8", "byte 1"});
    expect_both_fail(2, {"--title", "\xc3("}, {"--title", "UTF-8"});
    expect_both_fail(2, {"--scale", "\xff"}, {"--scale"});
}

TEST_F(FailureTest, AnEmptyNameIsNone) {
    expect_both_fail(2, {"--example", ""}, {"--example", "there is no example \"\""});
    expect_failure(2, run({"--example="}), {"--example"});
    expect_both_fail(1, {""}, {"cannot read \"\""});
    expect_both_fail(2, {"--question", ""}, {"--question", "a whole number"});
    expect_both_fail(2, {"--question", "x"}, {"--question", "expected a whole number, not \"x\""});
    expect_both_fail(2, {"--question", "13"}, {"--question", "13 is out of range: use 1 to 12"});
    expect_both_fail(2, {"--shaders", ""}, {"--shaders", "name a folder"});
    expect_failure(2, run({"render", "--compare-with", ""}), {"--compare-with", "name a file or a change"});
    for (const char* flag : {"--out", "--curves"})
        expect_failure(2, run({"train", "--task", "copy", flag, ""}), {flag, "name a file"});
}

TEST_F(FailureTest, AFlagWithoutItsValueOrTwiceIsSaidInOurWords) {
    expect_failure(2, run({"trace", "--text"}), {"--text lacks its value: put one after it"});
    expect_failure(2, run({"trace", "--seed", "1", "--seed", "2"}),
                   {"--seed is given more than once: use it once"});
}

TEST_F(FailureTest, WhatCannotBeTrainedIsOneLine) {
    expect_failure(2, run({"train", "--task", "translate", "--mechanism", "attention"}),
                   {"mechanism attention cannot be trained on translate"});
}

TEST_F(FailureTest, FileAndExampleExcludeEachOther) {
    const std::string name = file("a.json", "{}");
    expect_both_fail(2, {name, "--example", "causal"}, {"FILE, --example and --question exclude"});
    expect_failure(2, run({name, "--example", "causal"}), {"FILE, --example and --question exclude"});
}

TEST_F(FailureTest, OptionsOfTheWindowAreNotLostBeforeASubcommand) {
    expect_failure(2, run({"--seed", "5", "trace"}), {"--seed", "trace", "after"});
    expect_failure(2, run({"--threads", "1", "render", "--out", path("out")}),
                   {"--threads", "render", "after"});
}

// ---- what fails: 1

TEST_F(FailureTest, ASentenceTooLongFails) {
    expect_both_fail(1, {"--mechanism", "transformer", "--text", repeated("word ", 5000)},
                     {"5000 tokens", "limit is 4096", "shorten"});
    write_file(path("book.txt"), repeated("w ", 1'048'577));
    expect_both_fail(1, {"--text-file", path("book.txt")}, {"1048577 tokens", "limit is 1048576", "shorten"});
    write_file(path("latin1.txt"), "caf\xe9");
    expect_both_fail(1, {"--text-file", path("latin1.txt")}, {"latin1.txt", "not valid UTF-8"});
    expect_failure(2, run({"trace", "--text-file", path("book.txt"), "--text", "one"}),
                   {"--text-file", "--text"});
}

TEST_F(FailureTest, WhatDoesNotFitInMemoryFailsAtOnce) {
    // Sanitizers reserve terabytes of address space.
    if (test::k_sanitized) GTEST_SKIP() << "a limit on the address space is not for a sanitizer";
    // 64 heads of 4096 × 4096 scores, four stages of them: some 20 GiB.
    const Start small{.environment = {}, .input = {}, .output = {}, .largest_space = rlim_t{4} << 30};
    const Words large = {"--tokenizer", "whitespace", "--heads", "64",
                         "--dim",       "64",         "--text",  repeated("w ", 4096)};
    expect_both_fail(1, large, {"4096 × 4096 tokens with 64 heads", "MiB are free", "fewer heads"}, small);
}

TEST_F(FailureTest, AnInvalidSessionFailsWithItsName) {
    const auto broken = [&](const std::string& json, const Words& parts) {
        const std::string name = file("broken.json", json);
        Words all = {name + ": "};
        all.insert(all.end(), parts.begin(), parts.end());
        expect_both_fail(1, {name}, all);
    };
    broken("hello", {"not a session", "line 1, column 1"});
    broken("", {"not a session"});
    broken(R"({"experiment": {"sede": 1}})", {"\"experiment.sede\" is unknown", "did you mean \"seed\"?"});
    broken(R"({"experiment": {"dim": "16"}})", {"experiment.dim: expected a whole number, not \"16\""});
    broken(R"({"experiment": {"dim": -16}})", {"dim -16 is out of range: use 1 to 1024"});
    broken(R"({"experiment": {"dim": 1e300}})", {"experiment.dim", "is out of range"});
    broken(R"({"experiment": {"dim": 1e999}})", {"not a session"});
    broken(R"({"version": 7})", {"version: 7", "reads version 1"});
    broken(R"({"experiment": {"tokenizer": "a\nb"}})", {"tokenizer", "words"});
    broken(repeated("[", 100'000) + repeated("]", 100'000), {"expected an object"});
}

TEST_F(FailureTest, AFileThatCannotBeReadFailsWithItsName) {
    expect_both_fail(1, {path("absent.json")}, {path("absent.json"), "check the path"});
    expect_both_fail(1, {path("empty")}, {path("empty"), "folder"});
    expect_both_fail(1, {path("a\nb")}, {"cannot read"});
}

TEST_F(FailureTest, AFlagsFileThatCannotBeReadOrUsedFailsWithItsName) {
    expect_both_fail(1, {"--given", "scores=" + path("absent.csv")}, {path("absent.csv"), "check the path"});
    expect_both_fail(1, {"--given", "scores=" + file("words.csv", "1,2\n3,four\n")},
                     {"--given: " + path("words.csv") + ": line 2, cell 2 \"four\" is not a number"});
    expect_both_fail(1, {"--mask", "file:" + path("absent.csv")}, {path("absent.csv"), "check the path"});
    expect_both_fail(1, {"--image", path("absent.png")}, {path("absent.png"), "check the path"});
    expect_both_fail(1, {"--image", file("broken.png", "no picture")}, {path("broken.png"), "PNG or a JPEG"});
    expect_both_fail(2, {"--given", "scoers=" + path("words.csv")}, {"did you mean scores?"});
    expect_both_fail(2, {"--given", path("words.csv")}, {"NAME=PATH"});
}

TEST_F(FailureTest, AMaskOfOtherNumbersThan0And1IsRefusedByItsCell) {
    const std::string may = ": a mask holds 1 (open) and 0 (closed)";
    for (const std::string number : {"nan", "0.5", "-1", "inf"}) {
        const std::string mask = file("mask.csv", "1,0\n1," + number + "\n");
        const std::string said = ": row 2, column 2 is " + number + may;
        for (const char* flag : {"--mask=file:", "--given=mask="})
            expect_both_fail(1, {"--text", "one two", flag + mask}, {path("mask.csv") + said});
    }
    const std::string session =
        R"({"experiment": {"text": "one two", "given": {"mask": [[1, 0], ["nan", 1]]}}})";
    expect_both_fail(1, {file("mask.json", session)},
                     {path("mask.json"), "mask: row 2, column 1 is nan" + may});
}

TEST_F(FailureTest, APictureWithoutASessionFails) {
    render({"--stage", "mask", "--cell-size", "4"});
    const std::string bytes = read(folder_ / "out/mask.png");
    fs::remove(folder_ / "out/mask.png");
    // Cut at a chunk's border and at any byte; and a picture of another program.
    for (const std::size_t length : {std::size_t(8), std::size_t(33), bytes.size() / 2, bytes.size() - 1}) {
        const std::string name = file("cut.png", bytes.substr(0, length));
        expect_both_fail(1, {name}, {name});
    }
    const Pixels pixel{.width = 1, .height = 1, .channels = 3, .bytes = {1, 2, 3}};
    expect_both_fail(1, {file("plain.png", encode_png(pixel, {}))}, {path("plain.png"), "session"});
}

TEST_F(FailureTest, AnInvalidOutputFolderFails) {
    expect_failure(1, run({"render", "--out", path("absent/new")}),
                   {"folder " + path("absent") + " ", "does not exist", "--out"});
    EXPECT_FALSE(fs::exists(path("absent")));
    const std::string name = file("a-file", "kept");
    expect_failure(1, run({"render", "--out", name}), {name, "not a folder", "--out"});
    EXPECT_EQ(read(name), "kept");
    expect_failure(1, run({"render", "--out", ""}), {"--out"});
    expect_failure(2, run({"render", "--out", "-"}), {"--out", "a folder", "standard output"});
    expect_failure(1, run({"render", "--out", std::string(5000, 'x')}), {"--out"});
}

TEST_F(FailureTest, AFolderIsCreatedWhereItsOwnExistsOnceAllElseIsRight) {
    for (const char* name : {"new", "newer/"}) {
        const Words into = {"render", "--stage", "weights", "--format", "csv", "--out", path(name)};
        Words wrong = into;
        wrong.insert(wrong.end(), {"--head", "7"});
        expect_failure(2, run(wrong), {"--head: 7"});
        EXPECT_FALSE(fs::exists(path(name)));
        const Outcome outcome = run(into);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_TRUE(fs::exists(fs::path(path(name)) / "weights.csv"));
    }
}

TEST_F(FailureTest, APictureThatUnpacksToAGigabyteIsRefusedInLittleMemory) {
    if (test::k_sanitized) GTEST_SKIP() << "a limit on the address space is not for a sanitizer";
    const PngText session{std::string(k_png_session_key), std::string(std::size_t{1} << 30, ' ')};
    const Pixels pixel{.width = 1, .height = 1, .channels = 3, .bytes = {1, 2, 3}};
    const std::string bomb = file("bomb.png", encode_png(pixel, {&session, 1}));
    ASSERT_LT(fs::file_size(bomb), 2'000'000u);
    const Start small{.environment = {}, .input = {}, .output = {}, .largest_space = rlim_t{600} << 20};
    expect_both_fail(1, {bomb}, {bomb + " holds a session of more than 67108864 bytes"}, small);
}

TEST_F(FailureTest, AFileThatDoesNotFitIntoTheMemoryIsNamed) {
    if (test::k_sanitized) GTEST_SKIP() << "a limit on the address space is not for a sanitizer";
    const std::string large = file("large.json", "{\"note\": \"" + std::string(k_file_start_bytes, ' '));
    fs::resize_file(large, std::uintmax_t{570} << 20);
    const Start small{.environment = {}, .input = {}, .output = {}, .largest_space = rlim_t{500} << 20};
    for (const Words& arguments : {Words{large}, Words{"--given=scores=" + large}})
        expect_both_fail(1, arguments, {large + " does not fit into memory"}, small);
}

TEST_F(FailureTest, WhatNoFormatStartsWithIsRefusedInLittleMemory) {
    if (test::k_sanitized) GTEST_SKIP() << "a limit on the address space is not for a sanitizer";
    const Start small{.environment = {}, .input = {}, .output = {}, .largest_space = rlim_t{500} << 20};
    expect_both_fail(1, {"/dev/zero"}, {"/dev/zero: not a session"}, small);
    expect_both_fail(1, {"--given=scores=/dev/zero"}, {"/dev/zero: neither rows of numbers"}, small);
    expect_both_fail(1, {"--image", "/dev/zero"}, {"/dev/zero is not a supported picture"}, small);
}

TEST_F(FailureTest, AMessageHoldsNoControlCharactersAndIsShort) {
    const std::string hostile = "\u009b31m\u202e";
    expect_both_fail(1, {path(hostile)}, {"\\u009b31m\\u202e"});
    expect_both_fail(1, {file("hostile.json", "{\"experiment\": {\"tokenizer\": \"" + hostile + "\"}}")},
                     {"\\u009b31m\\u202e"});
    const Outcome outcome = run({"trace", "--mask", "windows:" + std::string(100'000, '1')});
    expect_failure(2, outcome, {"mask", "window:L,R"});
    EXPECT_LT(outcome.err.size(), 1100u);
    EXPECT_LT(run({"trace", "--" + std::string(100'000, 'x')}).err.size(), 1100u);
}

TEST_F(FailureTest, AnInterruptedWaitForAPipesReaderEndsTheProgram) {
    ASSERT_EQ(::mkfifo((folder_ / "out/weights.csv").c_str(), 0600), 0);
    ASSERT_EQ(::mkfifo((folder_ / "out/frame-0001-weights.csv").c_str(), 0600), 0);
    constexpr std::pair<int, const char*> k_ends[] = {{SIGINT, nullptr}, {SIGTERM, nullptr}, {SIGINT, "2"}};
    for (const auto& [signal, frames] : k_ends) {
        const pid_t child = ::fork();
        if (child == 0) {
            const std::string out = path("out");
            ::execl(ATTNSCOPE_EXECUTABLE, "attnscope", "render", "--out", out.c_str(), "--stage", "weights",
                    "--format", "csv", frames ? "--sweep" : nullptr, "seed", "--film", frames, nullptr);
            ::_exit(98);
        }
        // Again and again: nobody can see from outside when it begins to wait.
        int status = 0;
        for (int i = 0; i < 400 && ::waitpid(child, &status, WNOHANG) == 0; ++i) {
            ::poll(nullptr, 0, 50);
            if (i >= 20) ::kill(child, signal);
            if (i == 399) {
                ADD_FAILURE() << "it waits for ever";
                ::kill(child, SIGKILL);
                ::waitpid(child, &status, 0);
            }
        }
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    }
    EXPECT_EQ(in("out"), (Words{"frame-0001-weights.csv", "weights.csv"}));
}

TEST_F(FailureTest, MoreThreadsThanCoresAreAskedForWithoutAWarning) {
    EXPECT_EQ(trace({"--threads", "1024"}), trace({}));
}

TEST_F(FailureTest, AFullDiskFails) {
    if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
    const Start full{.environment = {}, .input = {}, .output = "/dev/full"};
    for (const Words& command : {Words{"trace"}, Words{"recipe"}, Words{"examples"}, Words{"--help"},
                                 Words{"--version"}, Words{"render", "--help"}})
        expect_failure(1, run(command, full), {"standard output", "disk is full"});
    // A disk that takes 2000 bytes a file: the picture does not fit, and no piece of it is left.
    const Start small{.environment = {}, .input = {}, .output = {}, .largest_file = 2000};
    expect_failure(1, run({"render", "--out", path("out"), "--stage", "weights"}, small),
                   {"cannot write " + path("out/weights.png"), "too large"});
}

TEST_F(FailureTest, AFailedWriteKeepsTheFileThatWasThere) {
    write(folder_ / "out/weights.png", "old");
    const Start small{.environment = {}, .input = {}, .output = {}, .largest_file = 2000};
    EXPECT_EQ(run({"render", "--out", path("out"), "--stage", "weights"}, small).code, 1);
    EXPECT_EQ(read(folder_ / "out/weights.png"), "old");
    EXPECT_EQ(in("out"), Words{"weights.png"});
}

TEST_F(FailureTest, APictureWithoutFontsFailsAndDataDoesNot) {
    const Start bare{.environment = {{"ATTNSCOPE_FONTS", path("empty")}}, .input = {}, .output = {}};
    expect_failure(1, run({"render", "--out", path("out"), "--stage", "weights"}, bare),
                   {"no fonts", path("empty"), "fonts-dejavu-core"});
    EXPECT_EQ(render({"--stage", "weights", "--format", "csv"}, bare).size(), 1u);
}

// ---- without a display, without OpenGL

TEST_F(FailureTest, TheWindowWithoutADisplayFailsAndSaysWhatStillWorks) {
    for (const Words& arguments : {Words{}, Words{"--seed", "5"}, Words{"--example", "causal"}})
        expect_failure(1, run(arguments), {"display", "attnscope render"});
}

TEST_F(FailureTest, NoOpenglLibraryIsLoadedAtTheStart) {
    // The loader lists what it would load.
    const Outcome libraries =
        run({"trace"}, {.environment = {{"LD_TRACE_LOADED_OBJECTS", "1"}}, .input = {}, .output = {}});
    EXPECT_NE(libraries.out.find("libepoxy"), std::string::npos) << libraries.out;
    for (const char* library : {"libEGL", "libGL.", "libGLX", "libOpenGL", "libGLdispatch"})
        EXPECT_EQ(libraries.out.find(library), std::string::npos) << libraries.out;
}

TEST_F(FailureTest, RenderAndTraceNeedNoOpengl) {
    const Start none{.environment = {{"LIBGL_ALWAYS_SOFTWARE", "1"},
                                     {"LIBGL_DRIVERS_PATH", path("empty")},
                                     {"__EGL_VENDOR_LIBRARY_DIRS", path("empty")}},
                     .input = {},
                     .output = {}};
    EXPECT_EQ(render({"--stage", "weights"}, none).size(), 1u);
    EXPECT_EQ(trace({}, none), trace({}));
}

}  // namespace
}  // namespace attnscope
