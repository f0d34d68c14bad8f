#include "core/graph/stage_table.h"

#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "core/graph/graph.h"
#include "core/mechanism/mechanisms.h"
#include "tests/random_attention.h"
#include "tests/random_seq2seq.h"
#include "tests/random_transformer.h"

namespace attnscope {
namespace {

/// The stages of any of many random experiments.
std::set<std::string_view> stages_of_random_experiments() {
    std::set<std::string_view> found;
    test::Dice dice(5);
    for (int i = 0; i < 400; ++i) {
        try {
            const Graph graph = build(i % 4 == 0   ? test::random_seq2seq(dice)
                                      : i % 4 == 1 ? test::random_transformer(dice)
                                                   : test::random_attention(dice));
            for (const GraphValue& value : graph.values) found.insert(value.key.stage->name);
        } catch (const Error&) {
            continue;  // its settings exclude each other
        }
    }
    return found;
}

TEST(StageTableTest, EveryStageAndParameterIsOneOfSomeExperiment) {
    const auto found = stages_of_random_experiments();
    for (const StageInfo& info : stage_table()) EXPECT_TRUE(found.contains(info.name)) << info.name;
}

TEST(StageTableTest, NamesAreUniqueAndMasksAreStages) {
    std::set<std::string_view> names;
    for (const StageInfo& info : stage_table()) EXPECT_TRUE(names.insert(info.name).second) << info.name;
    for (const StageInfo& info : stage_table()) {
        if (!info.mask.empty()) {
            EXPECT_TRUE(names.contains(info.mask)) << info.name;
        }
    }
}

}  // namespace
}  // namespace attnscope
