// Regions of stages on demand that a card computes, and what happens where it fails.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "core/error.h"
#include "tests/gpu_fixture.h"
#include "tests/on_demand.h"

namespace attnscope {
namespace {

using test::card, test::k_all, test::masked, test::sentence_of, test::tolerance;

/// Asks another one, counts what it computes, and fails when it is told to.
class CountedRegions : public RegionBackend {
public:
    explicit CountedRegions(std::shared_ptr<RegionBackend> card) : card_(std::move(card)) {}
    bool computes(const Op& op) const override { return !card_ || card_->computes(op); }
    std::shared_ptr<const DeviceValues> region(const Op& op, const op::RegionWork& in) override {
        ++asked;
        if (!card_ || fails) throw Error(ErrorKind::backend, "the card was pulled out");
        return card_->region(op, in);
    }
    Matrix blocks(const DeviceValues& cells, BlockFact fact, int rows, int columns) override {
        if (fails_at_blocks) throw Error(ErrorKind::too_large, "the card is full");
        return card_->blocks(cells, fact, rows, columns);
    }

    std::atomic<int> asked = 0;
    bool fails = false, fails_at_blocks = false;

private:
    const std::shared_ptr<RegionBackend> card_;
};

class RegionsAlone : public Backend {
public:
    explicit RegionsAlone(std::shared_ptr<CountedRegions> regions) : regions_(std::move(regions)) {}
    std::string card() const override { return "regions"; }
    bool computes(const Op&) const override { return false; }
    std::shared_ptr<const DeviceValues> compute(const Op&, std::span<const Buffer* const>,
                                                std::stop_token) override {
        return nullptr;
    }
    std::shared_ptr<RegionBackend> regions() const override { return regions_; }
    std::size_t memory() const override { return 0; }

private:
    const std::shared_ptr<CountedRegions> regions_;
};

TEST(OnDemandGpuTest, TheCardComputesLargeRegionsOfScoresToWeights) {
    std::string why;
    GpuBackend* const gpu = card(&why);
    if (!gpu) GTEST_SKIP() << why;
    const auto regions = std::make_shared<CountedRegions>(gpu->regions());
    RegionsAlone backend(regions);
    const Trace trace =
        evaluate(masked(300, {"causal"}), {},
                 {.backend = &backend,
                  .on_demand = {.most_cells = 0, .kept_cells = 400, .least_cells_on_card = 300 * 20}});
    const Region whole{0, 0, 300, 300}, small{0, 0, 19, 200};
    for (const std::string_view name : {"scores", "scaled", "masked", "weights"}) {
        const OnDemandValues& values = *trace.find_named(name)->buffer.on_demand();
        const auto asked = [&](const auto& work) {
            const int before = regions->asked;
            work();
            return regions->asked - before;
        };
        Matrix out(19, 200);
        EXPECT_EQ(asked([&] { values.read(0, small, {out.data(), 19, 200}); }), 0) << name;
        EXPECT_GT(asked([&] { values.tile(0, 0, Pool::dominant, whole, {}); }), 0) << name;
        EXPECT_GT(asked([&] { values.tile(0, 1, Pool::mean, {0, 0, 150, 150}, {}); }), 0) << name;
        EXPECT_GT(asked([&] { static_cast<void>(values.survey(0, {}, {})); }), 0) << name;
    }
}

TEST(OnDemandGpuTest, WhereTheCardFailsTheProcessorComputes) {
    const Experiment e = masked(60, {"causal"});
    const Trace whole = evaluate(e);
    std::string why;
    GpuBackend* const gpu = card(&why);
    for (const bool at_blocks : {false, true}) {
        if (at_blocks && !gpu) continue;  // no card whose regions could be pooled
        const auto regions = std::make_shared<CountedRegions>(gpu ? gpu->regions() : nullptr);
        regions->fails = !at_blocks;
        regions->fails_at_blocks = at_blocks;
        RegionsAlone backend(regions);
        const Trace trace = evaluate(e, {}, {.backend = &backend, .on_demand = k_all});
        for (const std::string_view name : {"scores", "weights"}) {
            const Stage& expected = *whole.find_named(name);
            const OnDemandValues& actual = *trace.find_named(name)->buffer.on_demand();
            const float near = tolerance(whole, BackendKind::gpu);
            EXPECT_NEAR(actual.range(0).max, expected.buffer.range(0).max, near) << name;
            const Matrix tile = actual.tile(0, 0, Pool::mean, {0, 0, 60, 60}, {});
            for (int i = 0; i < 60; ++i)
                for (int j = 0; j <= i; ++j)
                    EXPECT_NEAR(tile(i, j), expected.buffer.at(0, i, j), near) << name << i << " " << j;
        }
        EXPECT_GT(regions->asked, 0);
    }
}

TEST(OnDemandGpuTest, ACardThatFailsInARegionIsReportedAndNotAskedAgain) {
    std::string why;
    if (!test::shared_gpu(&why)) GTEST_SKIP() << why;
    bool fails = false;
    int asked = 0;
    GpuBackend failing(make_egl_context(true), {.allocate = [&](std::size_t numbers) {
                           ++asked;
                           if (fails) throw Error(ErrorKind::backend, "the driver fails");
                           return exact_room(numbers);
                       }});
    const Experiment e = sentence_of(45);
    const EvaluateOptions options{.backend = &failing, .on_demand = k_all};
    const Trace trace = evaluate(e, {}, options), truth = evaluate(e);
    const Matrix context = truth.find("context"_stage)->buffer.host().head(0);
    const auto cells = [](const Trace& of, int first) -> Matrix {
        const Buffer& scores = of.find("scores"_stage)->buffer;
        Matrix x(20, 31);
        if (!scores.on_demand()) return scores.head(0).block(first, 0, 20, 31);
        scores.on_demand()->read(0, {first, 0, 20, 31}, {x.data(), x.rows(), x.cols()});
        return x;
    };
    EXPECT_TRUE(cells(trace, 0).isApprox(cells(truth, 0), 1e-5f));
    EXPECT_EQ(failing.complaint(), "");
    fails = true;
    EXPECT_TRUE(cells(trace, 9).isApprox(cells(truth, 9), 1e-5f));
    // The first region's room was kept, so another size is asked for.
    Matrix wide(44, 45);
    trace.find("scores"_stage)->buffer.on_demand()->read(0, {0, 0, 44, 45}, {wide.data(), 44, 45});
    EXPECT_TRUE(wide.isApprox(truth.find("scores"_stage)->buffer.head(0).topRows(44), 1e-5f));
    EXPECT_EQ(failing.complaint(), "the driver fails (computing parts of stages on the CPU)");
    Matrix sums(45, context.cols());
    trace.find("context"_stage)
        ->buffer.on_demand()
        ->read(0, {0, 0, 45, static_cast<int>(context.cols())}, {sums.data(), 45, sums.cols()});
    EXPECT_TRUE(sums.isApprox(context, 1e-5f));
    const int before = asked;
    trace.find("scores"_stage)->buffer.on_demand()->read(0, {0, 0, 43, 45}, {wide.data(), 43, 45});
    EXPECT_EQ(asked, before);
    fails = false;
    const Trace again = evaluate(e, {}, options);
    EXPECT_EQ(failing.complaint(), "") << "another trace asks it again";
}

}  // namespace
}  // namespace attnscope
