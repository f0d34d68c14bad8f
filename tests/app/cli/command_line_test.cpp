// The program as a child process: exit codes, one line per error, no files left behind.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/files/png.h"
#include "core/limits.h"
#include "core/session/examples.h"
#include "core/session/options.h"
#include "core/session/session.h"
#include "tests/sanitized.h"
#include "tests/sessions.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

struct Outcome {
    int code = -1;  ///< 128 + the signal that ended it
    std::string out, err;
    double seconds = 0;
};

/// How a child is started, beyond its arguments.
struct Start {
    std::map<std::string, std::string> environment;
    std::string input;   ///< standard input
    std::string output;  ///< a file for standard output; empty: caught
    rlim_t largest_file = RLIM_INFINITY;
    rlim_t largest_space = RLIM_INFINITY;  ///< of memory
};

std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

void write(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string repeated(const std::string& text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += text;
    return result;
}

class CommandLineTest : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "attnscope-command-line-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
        for (const char* each : {"out", "state", "empty"}) fs::create_directory(folder_ / each);
        write(folder_ / "leaks", "leak:libfontconfig.so\n");
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::string file(const std::string& name, const std::string& bytes) const {
        write(folder_ / name, bytes);
        return path(name);
    }

    Outcome run(Words arguments, const Start& start = {}) const {
        arguments.insert(arguments.begin(), ATTNSCOPE_EXECUTABLE);
        write(folder_ / ".in", start.input);
        const auto began = std::chrono::steady_clock::now();
        const pid_t child = ::fork();
        if (child == 0) execute(arguments, start);
        int status = 0;
        ::waitpid(child, &status, 0);
        Outcome outcome;
        outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        outcome.out = read(folder_ / ".out");
        outcome.err = read(folder_ / ".err");
        for (const char* each : {".in", ".out", ".err"}) fs::remove(folder_ / each);
        return outcome;
    }

    Words in(const std::string& name) const {
        Words names;
        for (const auto& entry : fs::recursive_directory_iterator(folder_ / name))
            names.push_back(fs::relative(entry.path(), folder_ / name));
        std::ranges::sort(names);
        return names;
    }

    /// That it fails with `code` and one line that holds each of `parts`, prints and writes nothing else.
    void expect_failure(int code, const Outcome& outcome, const Words& parts) const {
        EXPECT_EQ(outcome.code, code) << outcome.err;
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(outcome.err.substr(0, 11), "attnscope: ") << outcome.err;
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
        EXPECT_TRUE(outcome.err.ends_with("\n"));
        for (const char* noise : {"what()", "terminate", "exception", "std::", "Sanitizer"})
            EXPECT_EQ(outcome.err.find(noise), std::string::npos) << outcome.err;
        for (const std::string& part : parts)
            EXPECT_NE(outcome.err.find(part), std::string::npos) << part << " is not in: " << outcome.err;
        EXPECT_EQ(in("out"), Words{});
        EXPECT_EQ(in("state"), Words{});
        EXPECT_LT(outcome.seconds, 20);
    }
    /// The same for render into out/ and for trace.
    void expect_both_fail(int code, const Words& arguments, const Words& parts,
                          const Start& start = {}) const {
        for (const Words& command : {Words{"render", "--out", path("out")}, Words{"trace"}}) {
            Words all = command;
            all.insert(all.end(), arguments.begin(), arguments.end());
            SCOPED_TRACE(all[0]);
            expect_failure(code, run(all, start), parts);
        }
    }
    nlohmann::json trace(const Words& arguments, const Start& start = {}) const {
        Words all = {"trace"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        const Outcome outcome = run(all, start);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_EQ(outcome.err, "");
        return outcome.code == 0 ? nlohmann::json::parse(outcome.out) : nlohmann::json();
    }
    /// The bytes of all files of a render, by name.
    std::map<std::string, std::string> render(const Words& arguments, const Start& start = {}) const {
        fs::remove_all(folder_ / "out");
        fs::create_directory(folder_ / "out");
        Words all = {"render", "--out", path("out")};
        all.insert(all.end(), arguments.begin(), arguments.end());
        const Outcome outcome = run(all, start);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        std::map<std::string, std::string> files;
        for (const std::string& name : in("out")) files[name] = read(folder_ / "out" / name);
        return files;
    }

    fs::path folder_;

private:
    [[noreturn]] void execute(const Words& arguments, const Start& start) const {
        const auto redirect = [](const std::string& name, int flags, int to) {
            const int descriptor = ::open(name.c_str(), flags, 0600);
            if (descriptor < 0 || ::dup2(descriptor, to) < 0) ::_exit(99);
        };
        constexpr int k_write = O_WRONLY | O_CREAT | O_TRUNC;
        redirect(path(".in"), O_RDONLY, 0);
        redirect(start.output.empty() ? path(".out") : start.output, k_write, 1);
        redirect(path(".err"), k_write, 2);
        for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "LC_ALL", "LANG"}) ::unsetenv(name);
        ::setenv("XDG_STATE_HOME", path("state").c_str(), 1);
        // As in sanitizers.cpp, which is linked into the tests alone.
        const std::string leaks = "suppressions=" + path("leaks") + ":print_suppressions=0";
        ::setenv("LSAN_OPTIONS", leaks.c_str(), 1);
        for (const auto& [name, value] : start.environment) ::setenv(name.c_str(), value.c_str(), 1);
        const auto limit = [](int what, rlim_t most) {
            const rlimit both{most, most};
            if (most != RLIM_INFINITY && ::setrlimit(static_cast<__rlimit_resource>(what), &both) != 0)
                ::_exit(97);
        };
        limit(RLIMIT_FSIZE, start.largest_file);
        limit(RLIMIT_AS, start.largest_space);
        std::vector<char*> pointers;
        for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
        pointers.push_back(nullptr);
        ::execv(pointers[0], pointers.data());
        ::_exit(98);
    }
};

// ---- what works

TEST_F(CommandLineTest, TracePrintsTheNotebooksNumbers) {
    const nlohmann::json stages = trace({"--example", "scaled-dot-product"})["stages"];
    const auto expect_row = [](const nlohmann::json& row, std::vector<double> printed, double half_a_digit) {
        for (std::size_t j = 0; j < printed.size(); ++j)
            EXPECT_NEAR(row[j].get<double>(), printed[j], half_a_digit ? half_a_digit : 5.1e-5 * printed[j]);
    };
    // As the notebook prints them, to four decimals or five digits.
    expect_row(stages["scores"]["data"][0][1],
               {-25.1623, 9.3602, 14.3667, 32.1482, 53.8976, 46.6626, -1.2131, -32.9392}, 5.1e-5);
    expect_row(
        stages["weights"]["data"][0][1],
        {2.2317e-09, 1.2499e-05, 4.3696e-05, 3.7242e-03, 8.5596e-01, 1.4026e-01, 8.8897e-07, 3.1935e-10}, 0);
    expect_row(stages["context"]["data"][0][1], {-1.2226, -3.4387, -4.3928, -5.2125}, 5.1e-5);
}

TEST_F(CommandLineTest, TracePrintsGradientsWhereThereIsALoss) {
    const nlohmann::json with = trace({"--example", "bahdanau-alignment", "--gradients"});
    EXPECT_FALSE(with["gradients"].contains("fed_tokens"));
    for (const char* name : {"alignment", "alignment_scores", "W_a", "E_src", "decoder_state"}) {
        const nlohmann::json& stage = with[with["stages"].contains(name) ? "stages" : "parameters"][name];
        EXPECT_EQ(with["gradients"][name]["shape"], stage["shape"]) << name;
    }
    EXPECT_FALSE(trace({"--example", "bahdanau-alignment"}).contains("gradients"));
    const Outcome without = run({"trace", "--gradients"});
    EXPECT_EQ(without.code, 2);
    EXPECT_EQ(without.out, "");
    EXPECT_NE(without.err.find("this experiment has no loss"), std::string::npos) << without.err;
}

TEST_F(CommandLineTest, TheDefaultsAreTheExample) {
    EXPECT_EQ(trace({}), trace({"--example", "scaled-dot-product"}));
}

TEST_F(CommandLineTest, FlagsStandOverTheFileAndTheExample) {
    Session session;
    session.experiment.input.text = "one two three";
    session.experiment.input.dim = 8;
    const std::string name = file("a.json", to_json(session));
    nlohmann::json experiment = trace({name})["experiment"];
    EXPECT_EQ(experiment["text"], "one two three");
    EXPECT_EQ(experiment["dim"], 8);
    experiment = trace({"--dim", "4", name, "--heads=2"})["experiment"];
    EXPECT_EQ(experiment["text"], "one two three");
    EXPECT_EQ(experiment["dim"], 4);
    EXPECT_EQ(experiment["heads"], 2);
    EXPECT_EQ(trace({"--example", "multi-head", "--heads", "2"})["experiment"]["vocabulary"], "lexicon");
}

TEST_F(CommandLineTest, ADashIsStandardInput) {
    Session session;
    session.experiment.input.text = "from the pipe";
    EXPECT_EQ(trace({"-"}, {.environment = {}, .input = to_json(session), .output = {}})["rows"],
              nlohmann::json({"from", "the", "pipe"}));
    expect_both_fail(1, {"-"}, {"standard input", "no valid JSON at line 1, column 1"});
}

TEST_F(CommandLineTest, TextArrivesAsItWasTyped) {
    for (const char* text : {"{}", "[a]", "--seed", "-5", "a,b", "%", "'x'", "\"y\"", "none"}) {
        EXPECT_EQ(trace({"--text", text})["experiment"]["text"], text);
        EXPECT_EQ(trace({std::string("--text=") + text})["experiment"]["text"], text);
    }
}

TEST_F(CommandLineTest, ARenderedPictureOpensAsItsSession) {
    const auto files = render({"--example", "multi-head", "--stage", "weights,mask", "--head", "all",
                               "--cell-size", "8", "--format", "png"});
    Words names;
    for (const auto& [name, bytes] : files) names.push_back(name);
    EXPECT_EQ(names, (Words{"mask.png", "weights-head1.png", "weights-head2.png", "weights-head3.png",
                            "weights-head4.png"}));
    const Session session = load_session(path("out/weights-head3.png"));
    EXPECT_EQ(session.presentation.stage, "weights"_stage);
    EXPECT_EQ(session.presentation.head.head, 2);
    EXPECT_EQ(trace({path("out/weights-head3.png")}), trace({"--example", "multi-head"}));
}

TEST_F(CommandLineTest, RenderListsWhatItWrote) {
    const Outcome outcome =
        run({"render", "--out", path("out"), "--stage", "mask,weights", "--format", "csv,npy"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, path("out/mask.csv") + "\n" + path("out/mask.npy") + "\n" +
                               path("out/weights.csv") + "\n" + path("out/weights.npy") + "\n");
    EXPECT_EQ(in("out"), (Words{"mask.csv", "mask.npy", "weights.csv", "weights.npy"}));
    EXPECT_EQ(in("state"), Words{});
}

TEST_F(CommandLineTest, AViewIsRenderedAloneWhereItIsAskedForAndFirstOfEverything) {
    const Words look = {"--example", "image-attention", "--cell-size", "8", "--format", "svg"};
    const auto with = [&](Words more) {
        more.insert(more.begin(), look.begin(), look.end());
        return render(more);
    };
    const auto alone = with({"--view", "image"}), everything = with({});
    ASSERT_EQ(alone.size(), 1u);
    EXPECT_TRUE(alone.contains("image-view.svg"));
    EXPECT_TRUE(everything.contains("image-view.svg"));
    EXPECT_TRUE(everything.contains("weights.svg"));
    EXPECT_EQ(with({"--stage", "weights"}).size(), 1u);
    EXPECT_EQ(with({"--stage", "weights", "--view", "image"}).size(), 2u);
    // Rendering the picture as a session gives the same picture.
    const std::string file = path("view.svg");
    std::ofstream(file, std::ios::binary) << alone.at("image-view.svg");
    EXPECT_EQ(render({file, "--view", "image", "--format", "svg"}), alone);
    fs::remove_all(folder_ / "out");
    fs::create_directory(folder_ / "out");
    expect_failure(2, run({"render", "--out", path("out"), "--view", "image"}), {"--image", "picture"});
}

TEST_F(CommandLineTest, RecipePrintsAScriptOrWritesIt) {
    const Outcome printed = run({"recipe", "--example", "causal", "--seed", "7"});
    EXPECT_EQ(printed.code, 0) << printed.err;
    EXPECT_NE(printed.out.find("torch.manual_seed(7)"), std::string::npos);
    EXPECT_NE(printed.out.find("mask &= j <= i"), std::string::npos);
    const Outcome written =
        run({"recipe", "--example", "causal", "--seed", "7", "--out", path("out/causal.py")});
    EXPECT_EQ(written.code, 0) << written.err;
    EXPECT_EQ(written.out, "");
    EXPECT_EQ(read(folder_ / "out/causal.py"), printed.out);
}

TEST_F(CommandLineTest, RecipePrintsAScriptOfAnEncoderAndADecoder) {
    const Outcome printed = run({"recipe", test::session_file("random-alignment"), "--seed", "7"});
    EXPECT_EQ(printed.code, 0) << printed.err;
    EXPECT_NE(printed.out.find("torch.manual_seed(7)"), std::string::npos);
    EXPECT_NE(printed.out.find("dec = torch.nn.GRUCell("), std::string::npos);
}

TEST_F(CommandLineTest, RecipeWithStepsIsTheTrainingOfATaskOrAFile) {
    const Outcome printed = run({"recipe", "--task", "reverse", "--seed", "7", "--steps", "2"});
    EXPECT_EQ(printed.code, 0) << printed.err;
    for (const char* line : {"torch.manual_seed(7)\n", "    [  # step 2\n", "    loss.backward()\n"})
        EXPECT_NE(printed.out.find(line), std::string::npos) << line;
    EXPECT_EQ(printed.out.find("# step 3"), std::string::npos);
    const Words train = {"train",   "--task", "reverse", "--seed",        "7",
                         "--steps", "3",      "--out",   path("run.json")};
    ASSERT_EQ(run(train).code, 0);
    const Outcome written = run({"recipe", path("run.json"), "--steps", "2", "--out", path("out/run.py")});
    EXPECT_EQ(written.code, 0) << written.err;
    EXPECT_EQ(read(folder_ / "out/run.py"), printed.out);
}

TEST_F(CommandLineTest, RecipeWithStepsRefusesWhatCannotBeTrainedOrWritten) {
    expect_failure(2, run({"recipe", "--steps", "2"}), {"--task"});
    expect_failure(2, run({"recipe", "--task", "reverse", "--steps", "0"}), {"--steps", "1 to"});
    expect_failure(2, run({"recipe", "--task", "reverse", "--steps", "2", "--text", "a"}),
                   {"--text", "task"});
    expect_failure(2, run({"recipe", "--task", "reverse", "--steps", "2", "--position", "alibi"}), {"alibi"});
    expect_failure(2, run({"recipe", "--task", "reverse", "--steps", "2", "--mask", "window:1,1"}),
                   {"mask window", "causal or none"});
    expect_failure(1, run({"recipe", "--task", "reverse", "--steps", "100000"}), {"1000000 tokens", "steps"});
}

TEST_F(CommandLineTest, RecipeRefusesWhatTraceRefuses) {
    expect_failure(2, run({"recipe", "--heads", "3"}), {"heads 3", "divisor"});
    expect_failure(1, run({"recipe", path("none.json")}), {"none.json"});
    expect_failure(1, run({"recipe", "--out", path("nowhere/a.py")}), {"nowhere"});
}

TEST_F(CommandLineTest, AFlagThatIsNotUsedIsSaidInALineAndChangesNothing) {
    const std::string why = " is not used: seq2seq uses its own alignment\n";
    const Words flags = {
        test::session_file("random-alignment"), "--heads", "4", "--dim", "8", "--block", "none"};
    for (const Words& command : {Words{"render", "--out", path("out")}, Words{"trace"}, Words{"recipe"}}) {
        Words all = command;
        all.insert(all.end(), flags.begin(), flags.end());
        const Outcome outcome = run(all);
        EXPECT_EQ(outcome.code, 0) << command[0];
        EXPECT_EQ(outcome.err, "attnscope: --heads" + why + "attnscope: --block" + why);
        EXPECT_NE(outcome.out, "");
    }
    const std::string session =
        file("a.json", R"({"version": 1, "experiment": {"mechanism": "seq2seq", "heads": 4}})");
    EXPECT_EQ(run({"trace", session}).err, "") << "what a file says is no flag";
    EXPECT_TRUE(
        run({"--example", "bahdanau-alignment", "--heads", "4"}).err.starts_with("attnscope: --heads" + why));
}

TEST_F(CommandLineTest, HeadsAreChosenByNumberAllOrMean) {
    const auto names = [&](const char* head) {
        std::string text;
        for (const auto& [name, bytes] :
             render({"--heads", "2", "--stage", "weights", "--head", head, "--format", "csv"}))
            text += name + " ";
        return text;
    };
    EXPECT_EQ(names("1"), "weights-head1.csv ");
    EXPECT_EQ(names("2"), "weights-head2.csv ");
    EXPECT_EQ(names("mean"), "weights-mean.csv ");
    EXPECT_EQ(names("all"), "weights-head1.csv weights-head2.csv ");
}

TEST_F(CommandLineTest, MasksAddUpAndNoneClearsThem) {
    const auto mask = [&](const Words& arguments) { return trace(arguments)["experiment"]["mask"]; };
    using List = nlohmann::json;
    EXPECT_EQ(mask({"--mask", "causal", "--mask", "valid:3"}), List({"causal", "valid:3"}));
    EXPECT_EQ(mask({"--mask", "valid:1,2,3,4,5,6,7,8"}), List({"valid:1,2,3,4,5,6,7,8"}));
    EXPECT_EQ(mask({"--example", "causal"}), List({"causal"}));
    EXPECT_EQ(mask({"--example", "causal", "--mask", "valid:2"}), List({"valid:2"}));
    EXPECT_EQ(mask({"--example", "causal", "--mask", "none"}), List::array());
    EXPECT_EQ(mask({"--mask", "causal", "--mask", "none", "--mask", "valid:2"}), List({"valid:2"}));
}

TEST_F(CommandLineTest, SeedsOfAll64BitsAreTakenExactly) {
    for (const char* seed : {"-9223372036854775808", "-1", "18446744073709551615"}) {
        const Outcome outcome = run({"trace", "--seed", seed, "--projection-seed", seed});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_NE(outcome.out.find("\"seed\":" + std::string(seed) + ","), std::string::npos);
        EXPECT_NE(outcome.out.find("\"projection_seed\":" + std::string(seed) + ","), std::string::npos);
    }
    EXPECT_EQ(trace({"--seed", "-1"})["stages"], trace({"--seed", "18446744073709551615"})["stages"]);
    for (const char* seed : {"18446744073709551616", "-9223372036854775809"})
        expect_both_fail(2, {"--seed", seed}, {"--seed", "-2^63 to 2^64-1"});
}

TEST_F(CommandLineTest, TheBytesDoNotDependOnLocaleOrThreads) {
    const Words arguments = {"--heads",     "4",  "--stage",  "scores,weights",          "--head", "all",
                             "--cell-size", "24", "--format", "png,svg,pdf,csv,npy,json"};
    const auto expected = render(arguments);
    EXPECT_EQ(expected.size(), 48u);
    for (const char* locale : {"C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8"})
        EXPECT_TRUE(render(arguments, {.environment = {{"LC_ALL", locale}}, .input = {}, .output = {}}) ==
                    expected)
            << locale;
    for (const char* threads : {"1", "2"}) {
        Words with = arguments;
        with.insert(with.end(), {"--threads", threads});
        EXPECT_TRUE(render(with) == expected) << threads << " threads";
    }
}

TEST_F(CommandLineTest, ExamplesAreListedALineEach) {
    const Outcome outcome = run({"examples"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out,
              "self-attention\nscaled-dot-product\nscalar-self-attention\nscalar-softmax-axis\nscalar-cross-"
              "attention\nsingle-query\ntransformer-heads\nsoft-and-hard\nimage-attention\nglobal-and-"
              "local\nbahdanau-"
              "alignment\nencoder-decoder\nmasked-"
              "softmax\ndot-product-pooling\nadditive-pooling\nmulti-head\ndesigned-heads\ncausal\nvalid-"
              "length\nlearned-"
              "induction\nlearned-reverse\n");
}

TEST_F(CommandLineTest, HelpNamesEveryOption) {
    for (const Words& arguments : {Words{"--help"}, Words{"render", "--help"}, Words{"trace", "--help"},
                                   Words{"recipe", "--help"}, Words{"measure", "--help"}}) {
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 0);
        EXPECT_EQ(outcome.err, "");
        for (const Option& option : options()) {
            const std::string flag = "--" + std::string(option.name);
            EXPECT_NE(outcome.out.find(flag), std::string::npos) << arguments[0] << " " << flag;
            if (option.type == OptionType::boolean) {
                EXPECT_NE(outcome.out.find("--no-" + std::string(option.name)), std::string::npos) << flag;
            }
        }
        for (const char* flag : {"--example", "--threads", "--backend", "FILE"})
            EXPECT_NE(outcome.out.find(flag), std::string::npos) << arguments[0] << " " << flag;
    }
    EXPECT_NE(run({"--help"}).out.find("Exit codes: 0 success; 1 failure"), std::string::npos);
}

TEST_F(CommandLineTest, HelpSaysWhatAnOptionAppliesTo) {
    std::istringstream words(run({"--help"}).out);
    std::string help;  // in one line
    for (std::string word; words >> word;) help += word + " ";
    for (const char* part :
         {"rotated as a pair [interleaved] (for: mechanism is not seq2seq and position is rope)",
          "1 to 4096 [10] (for: mechanism is seq2seq and decode is greedy)",
          "48, less for large matrices [auto] (for: exported pictures) "})
        EXPECT_NE(help.find(part), std::string::npos) << part;
}

TEST_F(CommandLineTest, HelpSaysSomethingReadableInEveryRow) {
    for (const char* command : {"render", "trace", "recipe", "measure"}) {
        std::istringstream lines(run({command, "--help"}).out);
        std::string flag;
        for (std::string line; std::getline(lines, line);) {
            for (const char* raw : {":INT", ":{", " in [", "TEXT:", "[]"})
                EXPECT_EQ(line.find(raw), std::string::npos) << line;
            const bool help_follows = line.starts_with("                ");
            EXPECT_TRUE(flag.empty() || help_follows) << command << " has no help for " << flag;
            // A flag and its placeholder: the help follows, or stands behind them.
            std::istringstream words(line);
            const auto count = std::distance(std::istream_iterator<std::string>(words), {});
            const bool alone = line.starts_with("  -") && count <= 2;
            flag = alone ? line : "";
        }
    }
}

TEST_F(CommandLineTest, TheVersionIsNamed) { EXPECT_EQ(run({"--version"}).out.substr(0, 10), "attnscope "); }

// ---- wrong usage: 2

TEST_F(CommandLineTest, WrongUsageIsExitCode2) {
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
    expect_failure(2, run({"examples", "more"}), {"\"more\" is one argument too many: leave it out"});
    expect_failure(2, run({"render"}), {"--out"});
    expect_failure(2, run({"examples", "--seed", "1"}), {"--seed"});
    expect_failure(2, run({"render", "--out", path("out"), "--format", "gif"}), {"--format", "gif", "png"});
    expect_failure(2, run({"render", "--out", path("out"), "--format", ""}), {"--format", "png"});
}

TEST_F(CommandLineTest, AFolderBehindALoopOfLinksIsRefused) {
    std::filesystem::create_symlink(path("one"), path("other"));
    std::filesystem::create_symlink(path("other"), path("one"));
    expect_failure(
        1, run({"render", "--out", path("one")}),
        {"cannot reach the folder " + path("one") + ": its links form a loop: choose another path"});
}

TEST_F(CommandLineTest, AFlagsBadValueIsExitCode2) {
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

TEST_F(CommandLineTest, AFlagsValueThatDoesNotFitTheExperimentIsExitCode2) {
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

TEST_F(CommandLineTest, WhatAFileHoldsIsExitCode1AndAFlagOverIt2) {
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

TEST_F(CommandLineTest, AMisspelledSubcommandIsToldTheRightOne) {
    expect_failure(2, run({"rendr", "--out", path("out")}), {"\"rendr\"", "did you mean render?"});
    expect_failure(2, run({"tarce"}), {"did you mean trace?"});
    expect_failure(1, run({"nothing-like-it"}), {"cannot read nothing-like-it"});
    const std::string here = fs::current_path();
    fs::current_path(folder_);
    write("rendr", "{}");
    expect_failure(1, run({"rendr"}), {"display"});
    fs::current_path(here);
}

TEST_F(CommandLineTest, TracePrintsTheHeadThatIsAskedFor) {
    const Words heads = {"--heads", "4"};
    const nlohmann::json all = trace(heads)["stages"];
    EXPECT_EQ(trace({"--heads", "4", "--head", "all"})["stages"], all);
    const nlohmann::json third = trace({"--heads", "4", "--head", "3"})["stages"];
    EXPECT_EQ(third["weights"]["data"], nlohmann::json::array({all["weights"]["data"][2]}));
    EXPECT_EQ(trace({"--heads", "4", "--head", "mean"})["stages"]["weights"]["shape"],
              nlohmann::json({1, 8, 8}));
}

TEST_F(CommandLineTest, TextThatIsNotUtf8IsRefused) {
    expect_both_fail(2, {"--text", "a\xff"}, {"--text", "UTF-8", "byte 1"});
    expect_both_fail(2, {"--title", "\xc3("}, {"--title", "UTF-8"});
    expect_both_fail(2, {"--scale", "\xff"}, {"--scale"});
}

TEST_F(CommandLineTest, AnEmptyNameIsNone) {
    expect_both_fail(2, {"--example", ""}, {"--example", "there is no example \"\""});
    expect_failure(2, run({"--example="}), {"--example"});
    expect_both_fail(1, {""}, {"cannot read \"\""});
}

TEST_F(CommandLineTest, FileAndExampleExcludeEachOther) {
    const std::string name = file("a.json", "{}");
    expect_both_fail(2, {name, "--example", "causal"}, {"FILE and --example exclude"});
    expect_failure(2, run({name, "--example", "causal"}), {"FILE and --example exclude"});
}

TEST_F(CommandLineTest, OptionsOfTheWindowAreNotLostBeforeASubcommand) {
    expect_failure(2, run({"--seed", "5", "trace"}), {"--seed", "trace", "after"});
    expect_failure(2, run({"--threads", "1", "render", "--out", path("out")}),
                   {"--threads", "render", "after"});
}

// ---- what fails: 1

TEST_F(CommandLineTest, ASentenceTooLongFails) {
    expect_both_fail(1, {"--text", repeated("word ", 5000)}, {"5000 tokens", "limit is 4096", "shorten"});
}

TEST_F(CommandLineTest, WhatDoesNotFitInMemoryFailsAtOnce) {
    // Sanitizers reserve terabytes of address space.
    if (test::k_sanitized) GTEST_SKIP() << "a limit on the address space is not for a sanitizer";
    // 64 heads of 4096 × 4096 scores, four stages of them: some 20 GiB.
    const Start small{.environment = {}, .input = {}, .output = {}, .largest_space = rlim_t{4} << 30};
    const Words large = {"--tokenizer", "whitespace", "--heads", "64",
                         "--dim",       "64",         "--text",  repeated("w ", 4096)};
    expect_both_fail(1, large, {"4096 × 4096 tokens with 64 heads", "MiB are free", "fewer heads"}, small);
    // One head fits, its text does not.
    const Start smaller{.environment = {}, .input = {}, .output = {}, .largest_space = rlim_t{2} << 30};
    expect_failure(1, run({"trace", "--tokenizer", "whitespace", "--text", repeated("w ", 4096)}, smaller),
                   {"numbers needs", "MiB are free", "--stage"});
}

TEST_F(CommandLineTest, ASessionThatIsNoneFailsWithItsName) {
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

TEST_F(CommandLineTest, AFileThatCannotBeReadFailsWithItsName) {
    expect_both_fail(1, {path("absent.json")}, {path("absent.json"), "check the path"});
    expect_both_fail(1, {path("empty")}, {path("empty"), "folder"});
    expect_both_fail(1, {path("a\nb")}, {"cannot read"});
}

TEST_F(CommandLineTest, AFlagsFileThatCannotBeReadOrUsedFailsWithItsName) {
    expect_both_fail(1, {"--given", "scores=" + path("absent.csv")}, {path("absent.csv"), "check the path"});
    expect_both_fail(1, {"--given", "scores=" + file("words.csv", "1,2\n3,four\n")},
                     {"--given: " + path("words.csv") + ": line 2, cell 2 \"four\" is not a number"});
    expect_both_fail(1, {"--mask", "file:" + path("absent.csv")}, {path("absent.csv"), "check the path"});
    expect_both_fail(1, {"--image", path("absent.png")}, {path("absent.png"), "check the path"});
    expect_both_fail(1, {"--image", file("broken.png", "no picture")}, {path("broken.png"), "PNG or a JPEG"});
    expect_both_fail(2, {"--given", "scoers=" + path("words.csv")}, {"did you mean scores?"});
    expect_both_fail(2, {"--given", path("words.csv")}, {"NAME=PATH"});
}

TEST_F(CommandLineTest, AMaskOfOtherNumbersThan0And1IsRefusedByItsCell) {
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

TEST_F(CommandLineTest, APictureWithoutASessionFails) {
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

TEST_F(CommandLineTest, TrainWritesASessionThatTraceOpens) {
    const Words train = {"train", "--task", "reverse", "--steps", "5", "--json", "--out", path("run.json")};
    const Outcome outcome = run(train);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const nlohmann::json training = nlohmann::json::parse(outcome.out);
    ASSERT_EQ(training["losses"].size(), 5u);
    EXPECT_LT(training["losses"][4].get<double>(), training["losses"][0].get<double>());
    EXPECT_EQ(training["heads"].size(), 1u);
    EXPECT_EQ(nlohmann::json::parse(run(train).out)["losses"], training["losses"]);
    const Outcome trace = run({"trace", path("run.json"), "--stage", "weights,logits", "--layer", "1"});
    ASSERT_EQ(trace.code, 0) << trace.err;
    const nlohmann::json stages = nlohmann::json::parse(trace.out)["stages"];
    EXPECT_TRUE(stages.contains("1.weights"));
    EXPECT_EQ(nlohmann::json::parse(trace.out)["experiment"]["step"], 5);
    // The words of the task can be typed, others cannot.
    EXPECT_EQ(run({"trace", path("run.json"), "--text", "c a b", "--text2", "b a c"}).code, 0);
    expect_failure(2, run({"trace", path("run.json"), "--text", "c a zebra"}), {"zebra", "words"});
}

TEST_F(CommandLineTest, TrainWritesTensorsThatEveryCommandOpens) {
    const auto train = [&](const std::string& out, const Start& start = {}) {
        return run({"train", "--task", "reverse", "--steps", "5", "--out", out}, start);
    };
    const std::string json = path("run.json"), tensors = path("run.safetensors");
    ASSERT_EQ(train(json).code, 0);
    const Outcome trained = train(tensors);
    ASSERT_EQ(trained.code, 0) << trained.err;
    EXPECT_TRUE(load_session(tensors) == load_session(json));
    EXPECT_EQ(trace({tensors, "--text", "c a b", "--text2", "b a c"}),
              trace({json, "--text", "c a b", "--text2", "b a c"}));
    EXPECT_EQ(run({"recipe", tensors}).out, run({"recipe", json}).out);
    const Words weights = {"--stage", "1.weights", "--format", "npy"};
    EXPECT_EQ(render({tensors, weights[0], weights[1], weights[2], weights[3]}),
              render({json, weights[0], weights[1], weights[2], weights[3]}));
    fs::remove_all(folder_ / "out");
    fs::create_directory(folder_ / "out");
    // Standard input has no name.
    const std::string bytes = read(tensors);
    EXPECT_EQ(trace({"-"}, {.environment = {}, .input = bytes, .output = {}}), trace({json}));
    const std::string cut = file("cut.safetensors", bytes.substr(0, bytes.size() / 2));
    expect_both_fail(1, {cut}, {cut, "the file is cut off", "copy it again"});
    // A disk that takes 2000 bytes a file.
    const Start small{.environment = {}, .input = {}, .output = {}, .largest_file = 2000};
    const Outcome full = train(path("out/run.safetensors"), small);
    EXPECT_EQ(full.code, 1);
    EXPECT_NE(full.err.find("cannot write " + path("out/run.safetensors")), std::string::npos) << full.err;
    EXPECT_NE(full.err.find("too large"), std::string::npos) << full.err;
    EXPECT_NE(full.out.find("reverse: 5 steps"), std::string::npos)
        << "what was learned is said all the same";
    EXPECT_EQ(in("out"), Words{});
}

TEST_F(CommandLineTest, AMatrixThatDoesNotFitIsNamedWithBothShapes) {
    Session session = load_example("learned-reverse");
    session.experiment.weights.given.insert_or_assign("1.W_q", GivenMatrix(Matrix::Ones(3, 5)));
    expect_both_fail(1, {file("other.safetensors", to_safetensors(session))}, {"1.W_q", "3 × 5"});
}

TEST_F(CommandLineTest, EveryStepOfARunIsReachedAgain) {
    const auto weights = [&](Words arguments) {
        arguments.insert(arguments.begin(), "trace");
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return nlohmann::json::parse(outcome.out)["parameters"]["table"]["data"];
    };
    ASSERT_EQ(run({"train", "--task", "copy", "--steps", "3", "--out", path("three.json")}).code, 0);
    ASSERT_EQ(run({"train", "--task", "copy", "--steps", "5", "--out", path("five.safetensors")}).code, 0);
    EXPECT_EQ(weights({path("five.safetensors"), "--step", "3"}), weights({path("three.json")}));
    EXPECT_EQ(weights({"--task", "copy", "--step", "3"}), weights({path("three.json")}));
    EXPECT_NE(weights({path("five.safetensors")}), weights({path("three.json")}));
    expect_failure(2, run({"trace", "--step", "3"}), {"task"});
}

TEST_F(CommandLineTest, AFilmHasAPictureOfEachOfItsSteps) {
    ASSERT_EQ(run({"train", "--task", "translate", "--steps", "4", "--out", path("run.json")}).code, 0);
    const Outcome film =
        run({"render", path("run.json"), "--film", "3", "--format", "csv,png,gif", "--out", path("film")});
    ASSERT_EQ(film.code, 0) << film.err;
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_ / "film"))
        names.insert(entry.path().filename().string());
    EXPECT_EQ(names, (std::set<std::string>{"frame-0001-alignment.csv", "frame-0001-alignment.png",
                                            "frame-0002-alignment.csv", "frame-0002-alignment.png",
                                            "frame-0003-alignment.csv", "frame-0003-alignment.png",
                                            "film-alignment.gif"}));
    EXPECT_EQ(read(folder_ / "film/film-alignment.gif").substr(0, 6), "GIF89a");
    // The last frame is what the session itself shows, the first is random.
    ASSERT_EQ(
        run({"render", path("run.json"), "--stage", "alignment", "--format", "csv", "--out", path("one")})
            .code,
        0);
    EXPECT_EQ(read(folder_ / "film/frame-0003-alignment.csv"), read(folder_ / "one/alignment.csv"));
    EXPECT_NE(read(folder_ / "film/frame-0001-alignment.csv"), read(folder_ / "one/alignment.csv"));
    expect_failure(2, run({"render", "--film", "3", "--out", path("out")}), {"--film", "--task"});
    expect_failure(2, run({"render", path("run.json"), "--film", "0", "--out", path("out")}), {"--film"});
    expect_failure(2, run({"render", path("run.json"), "--format", "gif", "--out", path("out")}), {"--film"});
}

TEST_F(CommandLineTest, AFilmOfAGradientHasARangeOfItsOwn) {
    const std::vector<std::string> film = {"render",  "--task",         "copy",      "--step", "3",
                                           "--stage", "1.grad.weights", "--film",    "2",      "--format",
                                           "csv",     "--out",          path("film")};
    ASSERT_EQ(run(film).code, 0);
    const std::string first = read(folder_ / "film/frame-0001-1.grad.weights.csv");
    EXPECT_GT(first.size(), 50u);
    EXPECT_NE(first, read(folder_ / "film/frame-0002-1.grad.weights.csv"));
}

TEST_F(CommandLineTest, AFolderAndFormatsAreCheckedBeforeAnyStepIsLearned) {
    // So many steps would take hours.
    expect_failure(
        2, run({"render", "--task", "copy", "--step", "100000", "--format", "gif", "--out", path("x")}),
        {"gif"});
    expect_failure(1, run({"render", "--task", "copy", "--step", "100000", "--out", path("none/x")}),
                   {"none"});
}

TEST_F(CommandLineTest, TheCourseOfARunIsWritten) {
    for (const char* name : {"run.csv", "run.svg", "run.png", "run.pdf"}) {
        EXPECT_EQ(run({"train", "--task", "copy", "--steps", "3", "--curves", path(name)}).code, 0);
        EXPECT_GT(read(folder_ / name).size(), 50u) << name;
    }
    EXPECT_EQ(std::ranges::count(read(folder_ / "run.csv"), '\n'), 4);
    expect_failure(2, run({"train", "--task", "copy", "--curves", path("run.txt")}), {"--curves", ".csv"});
}

TEST_F(CommandLineTest, TrainRefusesWhatCannotBeTrained) {
    expect_failure(2, run({"train"}), {"--task"});
    expect_failure(2, run({"train", "--task", "fly"}), {"fly", "induction"});
    expect_failure(2, run({"train", "--task", "copy", "--steps", "0"}), {"--steps", "1 to"});
    expect_failure(2, run({"train", "--task", "copy", "--out", path("run.txt")}),
                   {"--out", ".json or .safetensors"});
    expect_failure(2, run({"train", "--task", "copy", "--data-seed", "x"}), {"--data-seed"});
    expect_failure(2, run({"train", "--task", "copy", "--position", "alibi", "--batch", "1"}),
                   {"alibi", "learned"});
    for (const char* flag : {"--learning-rate", "--clip"})
        for (const char* value : {"nan", "inf", "-1", "x"})
            expect_failure(2, run({"train", "--task", "copy", flag, value}), {flag + 2, value});
    expect_failure(2, run({"train", "--task", "copy", "--table-size", "1000000"}), {"--table-size", "task"});
    expect_failure(2, run({"train", "--task", "copy", "--mechanism", "seq2seq"}), {"seq2seq", "transformer"});
    // Before the first of a million steps.
    expect_failure(1, run({"train", "--task", "copy", "--steps", "100000", "--out", path("none/x.json")}),
                   {"none/x.json"});
}

/// Of a session file.
int step_of(const std::string& file) { return load_session(file).experiment.training.step; }

TEST_F(CommandLineTest, WhatWasLearnedBeforeTheLossDivergedIsKept) {
    const Outcome outcome = run({"train", "--task", "induction", "--optimizer", "sgd", "--learning-rate",
                                 "100", "--steps", "50", "--out", path("last.json")});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.err.find("not finite"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("learning rate"), std::string::npos) << outcome.err;
    EXPECT_GT(step_of(path("last.json")), 0);
    const Outcome weights = run({"trace", path("last.json"), "--stage", "weights"});
    EXPECT_EQ(weights.code, 0);
    EXPECT_EQ(weights.out.find("nan"), std::string::npos) << "the last step that is good";
    // Where the first step leads nowhere, there is nothing to keep.
    expect_failure(1,
                   run({"train", "--task", "copy", "--optimizer", "sgd", "--learning-rate", "1e30", "--out",
                        path("none.json")}),
                   {"not finite"});
    EXPECT_FALSE(fs::exists(folder_ / "none.json"));
}

TEST_F(CommandLineTest, AFilmOfAblatedHeadsEndsWithWhatTheSessionShows) {
    ASSERT_EQ(run({"train", "--task", "induction", "--steps", "6", "--out", path("run.json")}).code, 0);
    const std::vector<std::string> of_head = {"--ablate", "1.1", "--stage",  "2.weights",
                                              "--head",   "1",   "--format", "csv"};
    const auto render = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"render", path("run.json")});
        arguments.insert(arguments.end(), of_head.begin(), of_head.end());
        EXPECT_EQ(run(arguments).code, 0);
    };
    render({"--out", path("one")});
    render({"--film", "2", "--out", path("film")});
    EXPECT_EQ(read(folder_ / "film/frame-0002-2.weights-head1.csv"),
              read(folder_ / "one/2.weights-head1.csv"));
    // Trained without it, it is another run.
    EXPECT_NE(run({"train", "--task", "induction", "--steps", "6", "--train-ablated", "1.1"}).out,
              run({"train", "--task", "induction", "--steps", "6"}).out);
    expect_failure(2, run({"train", "--task", "induction", "--ablate", "1.1"}), {"--train-ablated"});
}

TEST_F(CommandLineTest, AKilledTrainingLeavesWhatItKept) {
    const std::string out = path("kept.safetensors");
    const pid_t child = ::fork();
    if (child == 0) {
        ::execl(ATTNSCOPE_EXECUTABLE, "attnscope", "train", "--task", "copy", "--steps", "100000", "--out",
                out.c_str(), nullptr);
        ::_exit(98);
    }
    for (int i = 0; i < 6000 && !fs::exists(out); ++i) ::poll(nullptr, 0, 10);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_GT(step_of(out), 0);
    EXPECT_EQ(run({"trace", out, "--stage", "weights"}).code, 0);
}

TEST_F(CommandLineTest, AnInterruptedTrainingKeepsWhatIsLearned) {
    const std::string out = path("kept.json");
    const pid_t child = ::fork();
    if (child == 0) {
        ::execl(ATTNSCOPE_EXECUTABLE, "attnscope", "train", "--task", "copy", "--steps", "100000", "--out",
                out.c_str(), nullptr);
        ::_exit(98);
    }
    // Every 1.5 seconds the session is kept.
    for (int i = 0; i < 6000 && !fs::exists(out); ++i) ::poll(nullptr, 0, 10);
    const int kept = step_of(out);
    EXPECT_GT(kept, 0);
    ASSERT_EQ(::kill(child, SIGINT), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
    EXPECT_GE(step_of(out), kept);
    EXPECT_EQ(run({"trace", out, "--stage", "weights"}).code, 0);
}

TEST_F(CommandLineTest, ALayerIsChosenByItsNumber) {
    const Words stack = {"trace", "--mechanism", "transformer", "--layers", "3", "--stage", "weights"};
    const auto names = [&](Words flags) {
        flags.insert(flags.begin(), stack.begin(), stack.end());
        const Outcome outcome = run(flags);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        Words found;
        const nlohmann::json stages = nlohmann::json::parse(outcome.out)["stages"];
        for (const auto& [name, stage] : stages.items()) found.push_back(name);
        return found;
    };
    EXPECT_EQ(names({}), (Words{"1.weights", "2.weights", "3.weights"}));
    EXPECT_EQ(names({"--layer", "2"}), (Words{"2.weights"}));
    Words named = stack;
    named.back() = "3.weights";
    EXPECT_EQ(nlohmann::json::parse(run(named).out)["stages"].size(), 1u);
    const Words render = {"render",  "--mechanism", "transformer", "--layer", "2",        "--stage",
                          "weights", "--format",    "csv",         "--out",   path("new")};
    EXPECT_EQ(run(render).code, 0);
    EXPECT_EQ(in("new"), (Words{"2.weights.csv"}));
    expect_failure(2, run({"trace", "--layer", "25"}), {"--layer", "1 to 24"});
    Words beyond(stack.begin(), stack.end() - 2);
    beyond.insert(beyond.end(), {"--layer", "9"});
    expect_failure(2, run(beyond), {"no layer 9", "3 layers"});
    Words both = named;
    both.insert(both.end(), {"--layer", "1"});
    expect_failure(2, run(both), {"3.weights"});
    expect_failure(2, run({"trace", "--stage", "7.weights"}), {"7.weights"});
}

TEST_F(CommandLineTest, AnOutputFolderThatIsNoneFails) {
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

TEST_F(CommandLineTest, AFolderIsCreatedWhereItsOwnExistsOnceAllElseIsRight) {
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

TEST_F(CommandLineTest, APictureThatUnpacksToAGigabyteIsRefusedInLittleMemory) {
    if (test::k_sanitized) GTEST_SKIP() << "a limit on the address space is not for a sanitizer";
    const PngText session{std::string(k_png_session_key), std::string(std::size_t{1} << 30, ' ')};
    const Pixels pixel{.width = 1, .height = 1, .channels = 3, .bytes = {1, 2, 3}};
    const std::string bomb = file("bomb.png", encode_png(pixel, {&session, 1}));
    ASSERT_LT(fs::file_size(bomb), 2'000'000u);
    const Start small{.environment = {}, .input = {}, .output = {}, .largest_space = rlim_t{600} << 20};
    expect_both_fail(1, {bomb}, {bomb + " holds a session of more than 67108864 bytes"}, small);
}

TEST_F(CommandLineTest, AFileThatDoesNotFitIntoTheMemoryIsNamed) {
    if (test::k_sanitized) GTEST_SKIP() << "a limit on the address space is not for a sanitizer";
    const std::string large = file("large.json", "{\"note\": \"" + std::string(k_file_start_bytes, ' '));
    fs::resize_file(large, std::uintmax_t{570} << 20);
    const Start small{.environment = {}, .input = {}, .output = {}, .largest_space = rlim_t{500} << 20};
    for (const Words& arguments : {Words{large}, Words{"--given=scores=" + large}})
        expect_both_fail(1, arguments, {large + " does not fit into memory"}, small);
}

TEST_F(CommandLineTest, WhatNoFormatStartsWithIsRefusedInLittleMemory) {
    if (test::k_sanitized) GTEST_SKIP() << "a limit on the address space is not for a sanitizer";
    const Start small{.environment = {}, .input = {}, .output = {}, .largest_space = rlim_t{500} << 20};
    expect_both_fail(1, {"/dev/zero"}, {"/dev/zero: not a session"}, small);
    expect_both_fail(1, {"--given=scores=/dev/zero"}, {"/dev/zero: neither rows of numbers"}, small);
    expect_both_fail(1, {"--image", "/dev/zero"}, {"/dev/zero is not a supported picture"}, small);
}

TEST_F(CommandLineTest, AMessageHoldsNoControlCharactersAndIsShort) {
    const std::string hostile = "\u009b31m\u202e";
    expect_both_fail(1, {path(hostile)}, {"\\u009b31m\\u202e"});
    expect_both_fail(1, {file("hostile.json", "{\"experiment\": {\"tokenizer\": \"" + hostile + "\"}}")},
                     {"\\u009b31m\\u202e"});
    const Outcome outcome = run({"trace", "--mask", "windows:" + std::string(100'000, '1')});
    expect_failure(2, outcome, {"mask", "window:L,R"});
    EXPECT_LT(outcome.err.size(), 1100u);
    EXPECT_LT(run({"trace", "--" + std::string(100'000, 'x')}).err.size(), 1100u);
}

TEST_F(CommandLineTest, AnInterruptedWaitForAPipesReaderEndsTheProgram) {
    ASSERT_EQ(::mkfifo((folder_ / "out/weights.csv").c_str(), 0600), 0);
    for (const int signal : {SIGINT, SIGTERM}) {
        const pid_t child = ::fork();
        if (child == 0) {
            const std::string out = path("out");
            ::execl(ATTNSCOPE_EXECUTABLE, "attnscope", "render", "--out", out.c_str(), "--stage", "weights",
                    "--format", "csv", nullptr);
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
    EXPECT_EQ(in("out"), Words{"weights.csv"});
}

TEST_F(CommandLineTest, MoreThreadsThanCoresAreAskedForWithoutAWarning) {
    EXPECT_EQ(trace({"--threads", "1024"}), trace({}));
}

TEST_F(CommandLineTest, AFullDiskFails) {
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

TEST_F(CommandLineTest, AFailedWriteKeepsTheFileThatWasThere) {
    write(folder_ / "out/weights.png", "old");
    const Start small{.environment = {}, .input = {}, .output = {}, .largest_file = 2000};
    EXPECT_EQ(run({"render", "--out", path("out"), "--stage", "weights"}, small).code, 1);
    EXPECT_EQ(read(folder_ / "out/weights.png"), "old");
    EXPECT_EQ(in("out"), Words{"weights.png"});
}

TEST_F(CommandLineTest, APictureWithoutFontsFailsAndDataDoesNot) {
    const Start bare{.environment = {{"ATTNSCOPE_FONTS", path("empty")}}, .input = {}, .output = {}};
    expect_failure(1, run({"render", "--out", path("out"), "--stage", "weights"}, bare),
                   {"no fonts", path("empty"), "fonts-dejavu-core"});
    EXPECT_EQ(render({"--stage", "weights", "--format", "csv"}, bare).size(), 1u);
}

// ---- without a display, without OpenGL

TEST_F(CommandLineTest, TheWindowWithoutADisplayFailsAndSaysWhatStillWorks) {
    for (const Words& arguments : {Words{}, Words{"--seed", "5"}, Words{"--example", "causal"}})
        expect_failure(1, run(arguments), {"display", "attnscope render"});
}

TEST_F(CommandLineTest, NoOpenglLibraryIsLoadedAtTheStart) {
    // The loader lists what it would load.
    const Outcome libraries =
        run({"trace"}, {.environment = {{"LD_TRACE_LOADED_OBJECTS", "1"}}, .input = {}, .output = {}});
    EXPECT_NE(libraries.out.find("libepoxy"), std::string::npos) << libraries.out;
    for (const char* library : {"libEGL", "libGL.", "libGLX", "libOpenGL", "libGLdispatch"})
        EXPECT_EQ(libraries.out.find(library), std::string::npos) << libraries.out;
}

TEST_F(CommandLineTest, RenderAndTraceNeedNoOpengl) {
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
