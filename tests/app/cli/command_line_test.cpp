// The program as a child process: what works.
#include <cstdlib>

#include "core/session/options.h"
#include "core/session/session.h"
#include "tests/command_line.h"
#include "tests/sanitized.h"
#include "tests/sessions.h"

namespace attnscope {
namespace {

using namespace command_line;

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

/// 4,140 tokens: more than are kept at once.
TEST_F(CommandLineTest, ALongTextFileIsTracedAndRendered) {
    const std::string book = file("book.txt", "\xEF\xBB\xBF" + repeated("to be\ror not\r\nto be\n", 690));
    const std::string text = repeated("to be or not to be ", 690);
    const Words part = {"--dim", "8", "--stage", "weights", "--region", "4001:4003,11:14"};
    const auto with = [&](Words first, const Words& rest) {
        first.insert(first.end(), rest.begin(), rest.end());
        return first;
    };
    const nlohmann::json of_file = trace(with({"--text-file", book}, part));
    EXPECT_EQ(of_file["rows"].size(), 4140u);
    EXPECT_EQ(of_file["region"], "4001:4003,11:14");
    EXPECT_EQ(of_file["stages"]["weights"]["shape"], (nlohmann::json{1, 3, 4}));
    const nlohmann::json& weights = of_file["stages"]["weights"]["data"][0];
    ASSERT_EQ(weights.size(), 3u);
    EXPECT_EQ(weights, trace(with({"--text", text}, part))["stages"]["weights"]["data"][0]);
    // Query 4,001 is the fifth word of a sentence, as key 11 is, and each of 690 has the same weights.
    const nlohmann::json two =
        trace({"--text", repeated("to be or not to be ", 2), "--dim", "8", "--stage", "weights"});
    for (int j = 0; j < 4; ++j)
        EXPECT_NEAR(weights[0][j].get<double>() * 690 / 2,
                    two["stages"]["weights"]["data"][0][4][4 + j].get<double>(), 1e-5)
            << j;
    const Outcome whole = run({"trace", "--text-file", book, "--dim", "8", "--stage", "weights"});
    EXPECT_EQ(whole.code, 0);
    EXPECT_TRUE(nlohmann::json::parse(whole.out)["stages"]["weights"]["data"].is_null());
    EXPECT_NE(whole.err.find("--region"), std::string::npos) << whole.err;
    const Outcome picture = run({"render", "--text-file", book, "--dim", "8", "--stage", "weights",
                                 "--max-cells", "64", "--out", path("out")});
    EXPECT_EQ(picture.code, 0) << picture.err;
    EXPECT_EQ(in("out"), Words{"weights.png"});
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

TEST_F(CommandLineTest, APictureWithAWidthIsPrintedUnlessAThemeIsChosen) {
    const auto themed = [&](const Words& more) {
        Words words = {"--stage", "weights", "--format", "svg"};
        words.insert(words.end(), more.begin(), more.end());
        return render(words).at("weights.svg");
    };
    EXPECT_EQ(themed({"--width", "84mm"}), themed({"--width", "84mm", "--theme", "print"}));
    EXPECT_NE(themed({"--width", "84mm"}), themed({"--width", "84mm", "--theme", "dark"}));
    EXPECT_EQ(themed({"--width", "none"}), themed({"--theme", "dark"}));
}

TEST_F(CommandLineTest, AComparisonCallsAnEmptyValueNone) {
    if (std::system("command -v pdftotext >/dev/null") != 0) GTEST_SKIP() << "pdftotext is not installed";
    render({"--example", "multi-head", "--stage", "concat", "--compose", "compare", "--compare-with",
            "without this head", "--format", "pdf"});
    const std::string text = path("out/text");
    ASSERT_EQ(std::system(("pdftotext " + path("out/concat-compare.pdf") + " " + text).c_str()), 0);
    EXPECT_NE(read(text).find("ablate none"), std::string::npos);
    EXPECT_NE(read(text).find("ablate 1.1"), std::string::npos);
}

TEST_F(CommandLineTest, ComparedWithHalfTheStepsOfTrainingItIsThese) {
    const Words learned = {"--task", "reverse", "--dim", "16", "--heads", "2", "--mechanism", "transformer"};
    const auto with = [&](Words more) {
        more.insert(more.begin(), learned.begin(), learned.end());
        for (const char* word : {"--stage", "1.weights", "--head", "1", "--format", "json"})
            more.push_back(word);
        return render(more);
    };
    EXPECT_EQ(with({"--step", "8", "--compare-with", "half the steps"}), with({"--step", "4"}))
        << "B is step 4";
    EXPECT_NE(with({"--step", "8"}), with({"--step", "4"}));
    EXPECT_EQ(run({"render", "--out", path("out"), "--compare-with", "half the steps"}).err,
              "attnscope: --compare-with half the steps: set --step to 2 or more\n");
}

TEST_F(CommandLineTest, OnlyWhatTheGpuComputesIsComparedWithTheCpu) {
    EXPECT_EQ(run({"render", "--out", path("out"), "--stage", "weights", "--compose", "compare",
                   "--compare-with", "the CPU"})
                  .err,
              "attnscope: --compare-with the CPU: B is computed by the CPU as well: set --backend gpu\n");
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
    const std::string why = " is not used: it does not apply to seq2seq\n";
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
    std::size_t row = 0;
    for (const char* locale : {"tr_TR.UTF-8", "de_DE.UTF-8", "C", "C.UTF-8"})
        if (test::is_visited(row++, 4)) {
            EXPECT_TRUE(render(arguments, {.environment = {{"LC_ALL", locale}}, .input = {}, .output = {}}) ==
                        expected)
                << locale;
        }
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
    for (const char* part : {"rotated as a pair [interleaved] (for: mechanism is attention or transformer, "
                             "and position is rope)",
                             "1 to 4096 [10] (for: mechanism is seq2seq, and decode is greedy)",
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
    expect_failure(2, run(beyond), {"no layer 9", "layers 1 to 3"});
    Words both = named;
    both.insert(both.end(), {"--layer", "1"});
    expect_failure(2, run(both), {"3.weights"});
    expect_failure(2, run({"trace", "--stage", "7.weights"}), {"7.weights"});
}

}  // namespace
}  // namespace attnscope
