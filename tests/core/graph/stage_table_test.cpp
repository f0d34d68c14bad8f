#include "core/graph/stage_table.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "core/error.h"
#include "core/graph/graph.h"
#include "core/mechanism/mechanisms.h"
#include "tests/random_attention.h"
#include "tests/random_seq2seq.h"
#include "tests/random_transformer.h"

namespace attnscope {
namespace {

/// The stages of any of many random experiments, with the mechanism that has them.
std::set<std::pair<std::string_view, MechanismKind>> stages_of_random_experiments() {
    std::set<std::pair<std::string_view, MechanismKind>> found;
    test::Dice dice(5);
    for (int i = 0; i < 400; ++i) {
        try {
            const Experiment experiment = i % 4 == 0   ? test::random_seq2seq(dice)
                                          : i % 4 == 1 ? test::random_transformer(dice)
                                                       : test::random_attention(dice);
            const Graph graph = build(experiment);
            for (const GraphValue& value : graph.values)
                found.emplace(value.key.stage->name, experiment.mechanism);
        } catch (const Error&) {
            continue;  // its settings exclude each other
        }
    }
    return found;
}

/// A stage of some mechanisms alone is one of each of them; any other is one of at least one.
TEST(StageTableTest, EveryStageAndParameterIsOneOfSomeExperimentOfItsMechanisms) {
    const auto found = stages_of_random_experiments();
    for (const StageInfo& info : stage_table()) {
        std::set<MechanismKind> allowed, having;
        for (const auto& [kind, name] : choices<MechanismKind>()) {
            if (info.mechanisms.contains(kind)) allowed.insert(kind);
            if (found.contains({info.name, kind})) having.insert(kind);
        }
        if (allowed.size() < choices<MechanismKind>().size())
            EXPECT_EQ(having, allowed) << info.name;
        else
            EXPECT_FALSE(having.empty()) << info.name;
    }
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
