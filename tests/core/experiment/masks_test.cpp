#include "core/experiment/masks.h"

#include <gtest/gtest.h>

#include "core/op/mask.h"

namespace attnscope {
namespace {

Matrix mask(const char* rule, int queries, int keys) {
    return op::Mask{.queries = queries, .keys = keys, .rules = {parse_mask_rule(rule)}}.without_window();
}

TEST(MasksTest, DilatedOpensEveryStepCountedFromTheQuery) {
    EXPECT_EQ(mask("dilated:2", 3, 4), (Matrix{{1, 0, 1, 0}, {0, 1, 0, 1}, {1, 0, 1, 0}}));
    EXPECT_EQ(mask("dilated:3", 2, 4), (Matrix{{1, 0, 0, 1}, {0, 1, 0, 0}}));
    EXPECT_EQ(mask("dilated:1", 2, 2), (Matrix{{1, 1}, {1, 1}}));
}

TEST(MasksTest, PrefixIsCausalBeyondItsKeys) {
    EXPECT_EQ(mask("prefix:2", 3, 4), (Matrix{{1, 1, 0, 0}, {1, 1, 0, 0}, {1, 1, 1, 0}}));
    EXPECT_EQ(mask("prefix:0", 2, 2), mask("causal", 2, 2));
}

TEST(MasksTest, InvalidStepsAndLengthsAreRefused) {
    for (const char* rule :
         {"dilated", "dilated:0", "dilated:-1", "dilated:1,2", "prefix", "prefix:-1", "prefix:1,2"})
        EXPECT_THROW(parse_mask_rule(rule), std::exception) << rule;
}

TEST(MasksTest, EveryKindCanBeWrittenAndIsInTheListOfArguments) {
    for (const MaskKind& kind : mask_kinds()) {
        const MaskRule rule{kind.choice, kind.first(8)};
        EXPECT_EQ(parse_mask_rule(mask_rule_text(rule)), rule);
        EXPECT_NE(mask_arguments().find(name_of(kind.choice)), std::string_view::npos);
    }
}

}  // namespace
}  // namespace attnscope
