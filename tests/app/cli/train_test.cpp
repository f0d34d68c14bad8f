// The program as a child process: training, and what was learned.
#include <set>

#include "core/session/examples.h"
#include "core/session/session.h"
#include "tests/command_line.h"

namespace attnscope {
namespace {

using namespace command_line;

using TrainTest = CommandLineTest;

TEST_F(TrainTest, TrainWritesASessionThatTraceOpens) {
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

TEST_F(TrainTest, TrainWritesTensorsThatEveryCommandOpens) {
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
    const Outcome again = run({"train", tensors, "--steps", "5"});
    EXPECT_EQ(again.out, trained.out) << "from the beginning";
    EXPECT_NE(again.err.find("training starts at step 0"), std::string::npos) << again.err;
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

TEST_F(TrainTest, AMatrixThatDoesNotFitIsNamedWithBothShapes) {
    Session session = load_example("learned-reverse");
    session.experiment.weights.custom.insert_or_assign("1.W_q", CustomMatrix(Matrix::Ones(3, 5)));
    expect_both_fail(1, {file("other.safetensors", to_safetensors(session))}, {"1.W_q", "3 × 5"});
}

TEST_F(TrainTest, EveryStepOfARunIsReachedAgain) {
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

TEST_F(TrainTest, AFilmHasAPictureOfEachOfItsSteps) {
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

TEST_F(TrainTest, AFilmOfAGradientHasARangeOfItsOwn) {
    const std::vector<std::string> film = {"render",  "--task",         "copy",      "--step", "3",
                                           "--stage", "1.grad.weights", "--film",    "2",      "--format",
                                           "csv",     "--out",          path("film")};
    ASSERT_EQ(run(film).code, 0);
    const std::string first = read(folder_ / "film/frame-0001-1.grad.weights.csv");
    EXPECT_GT(first.size(), 50u);
    EXPECT_NE(first, read(folder_ / "film/frame-0002-1.grad.weights.csv"));
}

TEST_F(TrainTest, AFolderAndFormatsAreCheckedBeforeAnyStepIsLearned) {
    // So many steps would take hours.
    expect_failure(
        2, run({"render", "--task", "copy", "--step", "100000", "--format", "gif", "--out", path("x")}),
        {"gif"});
    expect_failure(1, run({"render", "--task", "copy", "--step", "100000", "--out", path("none/x")}),
                   {"none"});
}

TEST_F(TrainTest, TheCourseOfARunIsWritten) {
    for (const char* name : {"run.csv", "run.svg", "run.png", "run.pdf"}) {
        EXPECT_EQ(run({"train", "--task", "copy", "--steps", "3", "--curves", path(name)}).code, 0);
        EXPECT_GT(read(folder_ / name).size(), 50u) << name;
    }
    EXPECT_EQ(std::ranges::count(read(folder_ / "run.csv"), '\n'), 4);
    expect_failure(2, run({"train", "--task", "copy", "--curves", path("run.txt")}), {"--curves", ".csv"});
}

TEST_F(TrainTest, TrainRefusesWhatCannotBeTrained) {
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

/// The training step that a session file is at.
int step_of(const std::string& file) { return load_session(file).experiment.training.step; }

/// A training that has kept a session, as it does every 1.5 seconds.
pid_t train_without_end(const std::string& out) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::execl(ATTNSCOPE_EXECUTABLE, "attnscope", "train", "--task", "copy", "--steps", "100000", "--out",
                out.c_str(), nullptr);
        ::_exit(98);
    }
    for (int i = 0; i < 6000 && !fs::exists(out); ++i) ::poll(nullptr, 0, 10);
    return child;
}

/// Sends the signal, which ends the child.
void end(pid_t child, int signal) {
    ASSERT_EQ(::kill(child, signal), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
}

TEST_F(TrainTest, WhatWasLearnedBeforeTheLossDivergedIsKept) {
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

TEST_F(TrainTest, AFilmOfAblatedHeadsEndsWithWhatTheSessionShows) {
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

TEST_F(TrainTest, AKilledTrainingLeavesWhatItKept) {
    const std::string out = path("kept.safetensors");
    const pid_t child = train_without_end(out);
    end(child, SIGKILL);
    EXPECT_GT(step_of(out), 0);
    EXPECT_EQ(run({"trace", out, "--stage", "weights"}).code, 0);
}

TEST_F(TrainTest, AnInterruptedTrainingKeepsWhatIsLearned) {
    const std::string out = path("kept.json");
    const pid_t child = train_without_end(out);
    const int kept = step_of(out);
    EXPECT_GT(kept, 0);
    end(child, SIGINT);
    EXPECT_GE(step_of(out), kept);
    EXPECT_EQ(run({"trace", out, "--stage", "weights"}).code, 0);
}

}  // namespace
}  // namespace attnscope
