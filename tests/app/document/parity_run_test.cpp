// Running both backends on one experiment, in the background.
#include "app/document/parity_run.h"

#include <gtest/gtest.h>

#include <condition_variable>

#include "core/error.h"
#include "core/op/op.h"

namespace attnscope {
namespace {

/// A tensor that counts as a card's.
class FakeValues : public DeviceValues {
public:
    explicit FakeValues(Tensor values) : values_(std::move(values)) {}
    const Shape& shape() const override { return values_.shape(); }
    void read(int head, int first, int count, float* rows) const override {
        const ConstMatrixView from = values_.head(head);
        std::copy_n(from.row(first).data(), from.cols() * count, rows);
    }
    Eigen::VectorXf column(int, int) const override { return {}; }
    ValueRange range(int) const override { return {}; }
    std::vector<float> row_largest(int) const override { return {}; }
    std::vector<float> column_largest(int) const override { return {}; }
    std::shared_ptr<const DeviceValues> mean() const override { return nullptr; }

private:
    const Tensor values_;
};

/// A backend that computes the scaled scores, one cell of them wrong by 1, and leaves all else to the CPU.
class WrongCard : public Backend {
public:
    std::string card() const override { return "a card that errs"; }
    bool computes(const Op& op) const override { return std::holds_alternative<op::Scale>(op); }
    std::shared_ptr<const DeviceValues> compute(const Op& op, std::span<const Buffer* const> inputs,
                                                std::stop_token) override {
        const op::Scale& scale = std::get<op::Scale>(op);
        const Shape& shape = inputs[0]->shape();
        Tensor scaled(shape);
        for (int h = 0; h < shape.heads; ++h)
            scaled.head(h) =
                inputs[0]->host().head(h) * scale.factor() / static_cast<float>(scale.temperature);
        scaled.head(1)(2, 0) += 1;
        return std::make_shared<FakeValues>(std::move(scaled));
    }
    std::size_t memory() const override { return 0; }
};

/// A card whose first step takes until it is canceled.
class SlowCard : public WrongCard {
public:
    std::shared_ptr<const DeviceValues> compute(const Op&, std::span<const Buffer* const>,
                                                std::stop_token cancel) override {
        computing = true;
        computing.notify_all();
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any().wait(lock, cancel, [] { return false; });
        throw Canceled{};
    }
    std::atomic<bool> computing = false;
};

Experiment two_heads() {
    Experiment e;
    e.input.text = "the cat sat";
    e.attention.heads = 2;
    return e;
}

std::shared_ptr<const ParityReport> report_of(ParityRun& run, const Experiment& experiment) {
    run.start(experiment);
    run.wait();
    return run.report();
}

TEST(ParityRunTest, SaysForEachStageHowFarTheCardIsFromTheProcessor) {
    const auto card = std::make_shared<WrongCard>();
    ParityRun run([&] { return card; }, {}, {});
    EXPECT_EQ(run.report(), nullptr);
    const auto report = report_of(run, two_heads());
    ASSERT_NE(report, nullptr);
    EXPECT_FALSE(run.running());
    EXPECT_EQ(report->problem, "");
    EXPECT_EQ(report->experiment(), two_heads());
    EXPECT_EQ(report->card, "a card that errs");
    EXPECT_GT(report->cpu_milliseconds, 0);
    EXPECT_GT(report->gpu_milliseconds, 0);
    EXPECT_TRUE(report->labels.records.empty()) << "the matrices are not kept";
    std::size_t wrong = 0;
    for (const StageDifference& stage : report->stages) {
        const bool after = stage.key.stage->name == "scaled" || stage.key.stage->name == "masked" ||
                           stage.key.stage->name == "weights" || stage.key.stage->name == "context" ||
                           stage.key.stage->name == "concat";
        EXPECT_EQ(stage.absolute > 0, after) << stage.key.stage->name;
        if (stage.key.stage->name != "scaled") continue;
        ++wrong;
        EXPECT_NEAR(stage.absolute, 1, 1e-5);
        EXPECT_EQ(place_text(*report, stage, stage.absolute_at), "head 2 · sat → the");
        EXPECT_EQ(place_text(*report, stage, std::nullopt), "");
    }
    EXPECT_EQ(wrong, 1U);
}

TEST(ParityRunTest, OnlyTheFirstRunOnACardCompiles) {
    const auto card = std::make_shared<WrongCard>();
    ParityRun run([&] { return card; }, {}, {});
    EXPECT_TRUE(report_of(run, two_heads())->compiled);
    EXPECT_FALSE(report_of(run, two_heads())->compiled);
}

TEST(ParityRunTest, TheTextIsALineForEachStageInColumns) {
    const auto card = std::make_shared<WrongCard>();
    ParityRun run([&] { return card; }, {}, {});
    const auto report = report_of(run, two_heads());
    const std::string text = parity_text(*report);
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(text, '\n')), report->stages.size() + 1);
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(text, '\t')), 10 * (report->stages.size() + 1));
    EXPECT_NE(text.find("\nscaled\t2\t3\t3\t"), std::string::npos) << text;
    EXPECT_NE(text.find("\thead 2 · sat → the\t"), std::string::npos) << text;
    EXPECT_NE(text.find("\nkey\t1\t3\t16\t0\t\t0\t\t0\t"), std::string::npos) << text;
}

TEST(ParityRunTest, WithoutACardItSaysWhy) {
    ParityRun run([]() -> std::shared_ptr<Backend> { throw Error(ErrorKind::backend, "no card here"); }, {},
                  {});
    const auto report = report_of(run, two_heads());
    ASSERT_NE(report, nullptr);
    EXPECT_EQ(report->problem, "no card here");
    EXPECT_TRUE(report->stages.empty());
    EXPECT_EQ(report->experiment(), two_heads());
}

TEST(ParityRunTest, SequenceToSequenceIsTheProcessorsOnBothSides) {
    int asked = 0;
    ParityRun run(
        [&]() -> std::shared_ptr<Backend> {
            ++asked;
            return std::make_shared<WrongCard>();
        },
        {}, {});
    Experiment e;
    e.mechanism = MechanismKind::seq2seq;
    e.input.text2 = "le chat";
    const auto report = report_of(run, e);
    ASSERT_NE(report, nullptr);
    EXPECT_NE(report->problem.find("always runs on the CPU"), std::string::npos) << report->problem;
    EXPECT_EQ(asked, 0);
}

TEST(ParityRunTest, ACanceledRunEndsAndLeavesTheReportBefore) {
    const auto slow = std::make_shared<SlowCard>();
    std::shared_ptr<Backend> card = std::make_shared<WrongCard>();
    ParityRun run([&] { return card; }, {}, {});
    const auto before = report_of(run, two_heads());
    card = slow;
    run.start({});
    slow->computing.wait(false);
    EXPECT_TRUE(run.running());
    EXPECT_EQ(run.phase(), ParityRun::Phase::card);
    run.start(two_heads());  // nothing, while another one runs
    run.cancel();
    run.wait();
    EXPECT_FALSE(run.running());
    EXPECT_EQ(run.report(), before);
}

TEST(ParityRunTest, EndingCancelsAndEachPhaseWakes) {
    std::atomic<int> wakes = 0;
    {
        const auto slow = std::make_shared<SlowCard>();
        ParityRun run([&] { return slow; }, {}, [&] { ++wakes; });
        run.start({});
        slow->computing.wait(false);
        EXPECT_EQ(wakes, 1);
    }
    EXPECT_EQ(wakes, 2);
    ParityRun run([] { return std::make_shared<WrongCard>(); }, {}, [&] { ++wakes; });
    report_of(run, two_heads());
    EXPECT_EQ(wakes, 5);
}

}  // namespace
}  // namespace attnscope
