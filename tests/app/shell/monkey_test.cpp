// Random input and kills at random moments: nothing crashes and nothing is lost.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <random>
#include <tuple>

#include "app/document/saved_state.h"
#include "core/files/file.h"
#include "core/gpu/gl.h"
#include "core/session/comparisons.h"
#include "tests/drawn_sessions.h"
#include "tests/interface.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

class MonkeyTest : public InterfaceTest {
protected:
    static constexpr int k_frames = 1000;

    void SetUp() override {
        InterfaceTest::SetUp();
        if (!window) return;
        // Whatever it saves and exports stays here.
        setenv("HOME", folder.path().c_str(), 1);
        write_file(folder.file("a.json"), to_json(load_example("causal")));
        write_file(folder.file("b.txt"), "one two three");
        write_file(folder.file("c.json"), "{");
    }

    void TearDown() override {
        InterfaceTest::TearDown();
        setenv("HOME", home.c_str(), 1);
    }

    void press_anything(int most_seeds);

    int any(std::ptrdiff_t count) { return static_cast<int>(random() % static_cast<unsigned>(count)); }
    float within(int size) { return static_cast<float>(any(size + 60) - 30); }

    InputEvent somewhere() { return MouseMove{within(width_), within(height_)}; }
    InputEvent at_a_control() {
        const std::vector<DrawnControl>& drawn = workspace->controls().focus.drawn;
        if (drawn.empty()) return somewhere();
        const auto& [left, top, right, bottom] = drawn[static_cast<std::size_t>(any(std::ssize(drawn)))].area;
        return MouseMove{(left + right) / 2, (top + bottom) / 2};
    }

    std::vector<InputEvent> something() {
        static const std::vector<std::string> texts = {"the cat", "0.5", "1e9", "-3", "ü👍", "nan", "  "};
        static const std::vector<std::string> files = {"a.json", "b.txt", "c.json", "not there.png", ""};
        const Mods mods{.ctrl = any(3) == 0, .shift = any(4) == 0, .alt = any(20) == 0};
        const InputEvent move = any(2) == 0 ? somewhere() : at_a_control();
        switch (any(15)) {
            case 0: return typing(texts[static_cast<std::size_t>(any(static_cast<int>(texts.size())))]);
            case 1: return {MouseLeave{}, Focus{any(2) == 0}};
            case 2: return {move, Wheel{.x = 0, .y = static_cast<float>(any(9) - 4)}};
            case 3: return {Drop{{folder.file(files[static_cast<std::size_t>(any(5))])}}};
            case 4: return {MouseButton{.button = any(3), .down = any(2) == 0}};
            case 5:
            case 6:
            case 7: {
                const int button = any(8) == 0 ? any(3) : 0;
                return {move, MouseButton{.button = button, .down = true}, somewhere(),
                        MouseButton{.button = button, .down = false}};
            }
            case 8:
                return {move, MouseButton{.button = 0, .down = true},
                        MouseButton{.button = 0, .down = false}};
            case 9:
            case 10:
            case 11: return pressing(Key::escape);  // else it would sit in the first dialog
            default: return pressing(static_cast<Key>(1 + any(k_key_count - 1)), mods);
        }
    }

    /// Starts where no earlier seed did: the sessions and the sizes take turns.
    void start_from(int seed) {
        static constexpr std::tuple<int, int, float> k_sizes[] = {
            {1600, 1000, 1}, {1024, 700, 1}, {1600, 1000, 2}};
        static const std::vector<Session> sessions = [] {
            std::vector<Session> all = {test::four_heads()};
            for (const char* example : {"learned-induction", "bahdanau-alignment", "image-attention",
                                        "transformer-heads", "scalar-cross-attention", "masked-softmax"})
                all.push_back(load_example(example));
            all.push_back(*with_preset(load_example("causal"), *find_comparison_preset("no mask")));
            all.back().presentation.view = ViewKind::compare;
            return all;
        }();
        const auto turn = static_cast<std::size_t>(seed - 1);
        const auto& [width, height, scale] = k_sizes[turn % std::size(k_sizes)];
        width_ = width;
        height_ = height;
        start(sessions[turn % sessions.size()], width, height, scale);
    }

    /// Every setting has a value that a file may have: the session is the same after being saved and read.
    void expect_valid() {
        const Session& session = document().session();
        const Session read = session_from_json(to_json(session), "the session");
        EXPECT_EQ(to_json(read), to_json(session));
        EXPECT_TRUE(read.experiment == session.experiment);
        EXPECT_TRUE(read.presentation == session.presentation);
        EXPECT_TRUE(read.pinned == session.pinned);
        EXPECT_TRUE(read.note == session.note);
    }

    int width_ = 1600, height_ = 1000;
    const test::TemporaryFolder folder;
    const std::string home = std::getenv("HOME") ? std::getenv("HOME") : "/";
    std::mt19937 random;
};

/// ATTNSCOPE_SEEDS=N tries N seeds, of some 1,100 events each, instead of three; ATTNSCOPE_FIRST_SEED=K
/// begins with seed K.
void MonkeyTest::press_anything(int most_seeds) {
    const char* const asked = std::getenv("ATTNSCOPE_SEEDS");
    const char* const begun = std::getenv("ATTNSCOPE_FIRST_SEED");
    const int seeds = asked ? std::atoi(asked) : most_seeds, first = begun ? std::atoi(begun) : 1;
    std::size_t events = 0;
    int changes = 0;
    for (int seed = first; seed < first + seeds; ++seed) {
        if (!window) return;
        SCOPED_TRACE("seed " + std::to_string(seed));
        random.seed(static_cast<unsigned>(seed));
        start_from(seed);
        interaction().file_form.folder = interaction().export_form.folder = folder.path();
        const UndoPoint before = undo_point(document().session());
        for (int frame = 0; frame < k_frames; ++frame) {
            if (window->host().input().empty()) {
                const std::vector<InputEvent> next = something();
                events += next.size();
                push(next);
            }
            step(frame % 50 == 0);
            ASSERT_EQ(glGetError(), GLenum{GL_NO_ERROR}) << "frame " << frame;
            check(document().experiment());  // throws
            if (frame % 50 == 0) expect_valid();
        }
        settle();
        expect_valid();
        const UndoPoint after = undo_point(document().session());
        int undone = 0;
        for (; document().can_undo(); ++undone) document().undo();
        ASSERT_LT(undone, 999) << "the history has an end, and is not to reach it here";
        EXPECT_GT(undone, 0);
        changes += undone;
        std::string steps;  // in words, for a message
        for (std::size_t i = 0; i < document().history().points().size(); ++i)
            steps += document().step_text(i) + "\n";
        EXPECT_TRUE(undo_point(document().session()) == before) << steps;
        // Not further: the last events may have undone something themselves.
        for (; undone > 0; --undone) document().redo();
        EXPECT_EQ(undo_point(document().session()), after);
        settle();
        picture();
        expect_valid();
    }
    EXPECT_GT(changes, 5 * seeds) << "hardly anything was changed";
    RecordProperty("events", static_cast<int>(events));
    std::cout << seeds << " seeds, " << events << " events, " << changes << " changes\n";
}

TEST_F(MonkeyTest, NothingThatIsPressedCrashesAndUndoComesBackToTheStart) { press_anything(3); }

TEST_F(MonkeyTest, NothingThatIsPressedCrashesWhereEveryMatrixOfPairsIsComputedOnDemand) {
    how.on_demand = {.most_cells = 0, .kept_cells = 16};
    press_anything(1);
}

/// State n: its text and all of its numbers are n.
SavedState state_number(int n) {
    SavedState state;
    Experiment& e = state.session.experiment;
    e.input.text = std::to_string(n);
    e.weights.custom.emplace("scores", CustomMatrix(Matrix::Constant(50, 50, static_cast<float>(n))));
    return state;
}

TEST(KillTest, KilledAtAnyMomentLeavesAStateThatIsWhole) {
    const test::TemporaryFolder folder, trial;
    // Some writes fit before a kill, however slow the machine is.
    const auto start = std::chrono::steady_clock::now();
    StateWriter(trial.path()).write(state_number(0));
    const std::chrono::microseconds one =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
    const auto longest = static_cast<unsigned>(std::max<std::int64_t>(60'000, 8 * one.count()));
    std::mt19937 random(15);
    int written = 0;
    for (int kill_number = 0; kill_number < 40; ++kill_number) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            StateWriter writer(folder.path());
            for (int n = written + 1;; ++n) writer.write(state_number(n));
        }
        usleep(1000 + static_cast<unsigned>(random()) % longest);
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        std::string problem;
        const auto state = load_state(folder.path(), problem);
        ASSERT_EQ(problem, "");
        if (!state) continue;  // before the first one was written
        const int n = std::atoi(state->session.experiment.input.text.c_str());
        EXPECT_EQ(state->session, state_number(n).session) << "of two states";
        EXPECT_GE(n, written) << "an older state came back";
        written = n;
    }
    EXPECT_GT(written, 0);
    StateWriter(folder.path()).write(state_number(written));
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
        files += entry.is_regular_file();
    EXPECT_EQ(files, 3) << "session, window and one part";
}

}  // namespace
}  // namespace attnscope
