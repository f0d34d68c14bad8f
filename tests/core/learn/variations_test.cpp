// Variations of what is trained.
#include "core/learn/variations.h"

#include <gtest/gtest.h>

#include <set>

#include "core/learn/training_run.h"

namespace attnscope {
namespace {

TEST(VariationsTest, EachOneChangesARunThatCanBeTrained) {
    std::set<std::string_view> useful;
    for (const Task& task : tasks()) {
        Experiment small = task_experiment(task.choice);
        small.training.batch = 2;
        small.attention.ablated = {{1, 1}};
        int count = 0;
        for (const Variation& variation : variations()) {
            const std::optional<Experiment> other = varied(small, variation);
            if (!other) continue;
            useful.insert(variation.name);
            ++count;
            EXPECT_FALSE(are_of_one_run(small, *other)) << variation.name;
            TrainingRun run(*other);
            run.advance();
            EXPECT_GT(run.records().front().loss, 0) << name_of(task.choice) << ": " << variation.name;
        }
        EXPECT_GE(count, 2) << name_of(task.choice);
    }
    EXPECT_EQ(useful.size(), variations().size());
}

TEST(VariationsTest, AnUnchangedValueIsNotAVariation) {
    Experiment e = task_experiment(TaskKind::copy);
    EXPECT_FALSE(varied(e, *find_variation("one head")));
    EXPECT_FALSE(varied(e, *find_variation("no attention")));
    e.attention.heads = 4;
    EXPECT_EQ(varied(e, *find_variation("one head"))->attention.heads, 1);
    EXPECT_EQ(find_variation("nothing"), nullptr);
}

}  // namespace
}  // namespace attnscope
