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

TEST(MasksTest, CoverageOfARegionIsExactForEveryRule) {
    for (const char* text : {"causal", "valid:7", "valid:2,9,0,4,4,8,1,3,12,5,6,7", "window:2,3",
                             "window:0,0", "dilated:1", "dilated:3", "dilated:5", "prefix:4", "prefix:0"}) {
        const MaskRule rule = parse_mask_rule(text);
        for (int row = 0; row < 12; ++row)
            for (int column = 0; column < 12; ++column)
                for (int rows = 1; row + rows <= 12; ++rows)
                    for (int columns = 1; column + columns <= 12; ++columns) {
                        int open = 0;
                        for (int i = row; i < row + rows; ++i)
                            for (int j = column; j < column + columns; ++j)
                                open += mask_kind(rule.kind).open(rule, i, j);
                        const Coverage expected = open == 0                ? Coverage::none
                                                  : open == rows * columns ? Coverage::all
                                                                           : Coverage::some;
                        const Region region{row, column, rows, columns};
                        EXPECT_EQ(mask_kind(rule.kind).coverage(rule, region), expected)
                            << text << " " << row << " " << column << " " << rows << " " << columns;
                    }
    }
}

}  // namespace
}  // namespace attnscope
