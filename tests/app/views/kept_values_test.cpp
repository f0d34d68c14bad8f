// Only what is looked at is kept: the window shows the same as if everything was.
#include "app/document/readiness.h"
#include "core/graph/stage_table.h"
#include "tests/interface.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

class KeptValuesTest : public InterfaceTest {
protected:
    void SetUp() override {}

    /// 300 tokens, whose mask closes pairs.
    void start_long(bool pins = false) {
        Session session;
        session.experiment.input.text.clear();
        for (int i = 0; i < 300; ++i) session.experiment.input.text += "w" + std::to_string(i) + " ";
        session.experiment.attention.heads = 4;
        session.experiment.weighting.mask = {{MaskForm::causal}};
        seed_ = 0;
        if (pins) session.pinned = Pinned{session.experiment, {}, 1};
        start(std::move(session), 1024, 700);
    }

    /// Shows a stage in a view, of another seed than before, so that this is what the worker is asked for.
    void show(ViewKind view, const StageInfo* stage, const HeadChoice& head, bool locks) {
        document().change([&](Session& s) {
            s.presentation.view = view;
            s.presentation.stage = {stage, 0};
            s.presentation.head = head;
            s.presentation.locked.reset();
            if (locks) s.presentation.locked = Cell{200, 100};
            s.presentation.locked_in.reset();
        });
        document().settle();
        document().change([&](Session& s) { s.experiment.weights.seed = ++seed_; });
        document().settle();
        settle();
    }

    /// Computes what was not kept, and what drawing it needs.
    void compute_all() {
        for (const StageRecord& record : document().trace()->records) {
            const Buffer& buffer = record.stage->buffer;
            for (int h = 0; h < buffer.shape().heads; ++h) {
                EXPECT_EQ(buffer.head(h).rows(), buffer.shape().rows);
                make_ready(buffer, h);
            }
            make_ready(buffer.mean(), 0);
        }
        settle();
    }

    /// The window without its status bar, which shows times.
    std::vector<std::uint32_t> seen() {
        const gl::Pixels pixels = picture();
        std::vector<std::uint32_t> all;
        for (int y = 0; y < pixels.height - 30; ++y)
            for (int x = 0; x < pixels.width; ++x) all.push_back(pixels.at(x, y));
        return all;
    }

    /// "1000": of four heads the first is omitted.
    std::string omitted(const StageInfo* stage) {
        const Buffer& buffer = document().trace()->find(stage)->buffer;
        std::string heads;
        for (int h = 0; h < buffer.shape().heads; ++h)
            heads += buffer.is_waiting() ? 'w' : buffer.is_omitted(h) ? '1' : '0';
        return heads;
    }

private:
    std::int64_t seed_ = 0;
};

constexpr HeadChoice k_second{HeadChoice::Kind::one, 1}, k_mean{HeadChoice::Kind::mean};

TEST_F(KeptValuesTest, EachViewOfEachStageAndHeadShowsTheSame) {
    std::vector<std::vector<std::uint32_t>> pictures[2];
    std::vector<std::string> names;
    for (const int keeps_all : {0, 1}) {
        start_long(true);
        if (!window) return;
        std::size_t row = 0;
        for (const StageInfo* stage : {"weights"_stage, "scores"_stage, "masked"_stage, "context"_stage})
            for (const HeadChoice& head : {k_second, k_mean})
                for (const ViewKind view : {ViewKind::heads, ViewKind::pipeline, ViewKind::lines,
                                            ViewKind::step, ViewKind::compare}) {
                    if (!test::is_visited(row++, 3)) continue;  // each view, stage and head
                    const bool locks = head == k_second && stage != "context"_stage;
                    show(view, stage, head, locks);
                    if (keeps_all) compute_all();
                    pictures[keeps_all].push_back(seen());
                    if (keeps_all)
                        names.push_back(std::string(stage->name) + " in " + std::string(name_of(view)) +
                                        (head == k_mean ? ", mean" : ", head 2"));
                }
    }
    for (std::size_t i = 0; i < names.size(); ++i) EXPECT_TRUE(pictures[0][i] == pictures[1][i]) << names[i];
}

TEST_F(KeptValuesTest, AViewKeepsWhatItDraws) {
    start_long();
    if (!window) return;
    for (const ViewKind view : {ViewKind::pipeline, ViewKind::step, ViewKind::compare}) {
        show(view, "weights"_stage, k_second, false);
        EXPECT_EQ(omitted("weights"_stage), "1011");
        EXPECT_EQ(omitted("scores"_stage), "1011");
    }
    for (const ViewKind view : {ViewKind::heads, ViewKind::lines}) {
        show(view, "weights"_stage, k_second, false);
        EXPECT_EQ(omitted("weights"_stage), "0000");
        EXPECT_EQ(omitted("scores"_stage), "1111");
        EXPECT_EQ(omitted("masked"_stage), "1111");
        EXPECT_EQ(omitted("context"_stage), "wwww") << "no panel asks for it, either";
        show(view, "context"_stage, k_second, false);
        EXPECT_EQ(omitted("context"_stage), "0000") << "of the focused stage the status bar tells";
    }
    start_long(true);
    show(ViewKind::heads, "weights"_stage, k_second, false);
    EXPECT_EQ(omitted("context"_stage), "0000") << "all is compared with what is pinned";
    start_long();
    show(ViewKind::heads, "scores"_stage, k_second, false);
    EXPECT_EQ(omitted("weights"_stage), "wwww");
    EXPECT_EQ(omitted("scores"_stage), "0000");
    show(ViewKind::pipeline, "weights"_stage, k_mean, false);
    EXPECT_EQ(omitted("scores"_stage), "0000") << "a mean is of all heads";
}

TEST_F(KeptValuesTest, TheWindowComputesNothingThatWaits) {
    for (const ViewKind from : {ViewKind::heads, ViewKind::lines})
        for (const ViewKind to : {ViewKind::pipeline, ViewKind::compare, ViewKind::training}) {
            start_long();
            if (!window) return;
            show(from, "weights"_stage, k_second, false);
            document().stop();
            document().change([&](Session& s) { s.presentation.view = to; });
            step(true);
            EXPECT_EQ(omitted("context"_stage), "wwww") << name_of(from) << " to " << name_of(to);
        }
}

}  // namespace
}  // namespace attnscope
