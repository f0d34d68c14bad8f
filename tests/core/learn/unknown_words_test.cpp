// Words that a task does not know.
#include "core/learn/unknown_words.h"

#include <gtest/gtest.h>

#include "core/learn/tasks.h"

namespace attnscope {
namespace {

using Parts = std::vector<TextPart>;

TEST(UnknownWordsTest, StandWhereTheyAreWritten) {
    Experiment e = task_experiment(TaskKind::translate);
    e.input.text = "The black cart sees  a zebra";
    e.input.text2 = "le chat the";
    EXPECT_EQ(unknown_words(e, false), (Parts{{10, 14}, {23, 28}}));
    EXPECT_EQ(unknown_words(e, true), (Parts{{8, 11}})) << "English is no French";
    e.input.text = "";
    EXPECT_TRUE(unknown_words(e, false).empty());
    e.training.task = TaskKind::none;
    EXPECT_TRUE(unknown_words(e, true).empty()) << "without a task any word may stand";
}

TEST(UnknownWordsTest, NoSentenceOfATaskHasOne) {
    for (const Task& task : tasks()) {
        const Experiment e = task_experiment(task.choice);
        EXPECT_TRUE(unknown_words(e, false).empty()) << name_of(task.choice);
        EXPECT_TRUE(unknown_words(e, true).empty()) << name_of(task.choice);
    }
}

}  // namespace
}  // namespace attnscope
