#include "app/document/walk.h"

#include <gtest/gtest.h>

#include "tests/fake_backend.h"

namespace attnscope {
namespace {

/// One large row after the other, each with its largest value in another column; only rows can be read.
class Rows : public test::LostValues {
public:
    static constexpr int k_rows = 2048, k_columns = 2048;
    explicit Rows(int& rows_read)
        : LostValues({.heads = 1, .rows = k_rows, .columns = k_columns}), rows_read_(rows_read) {}
    void read(int, int first, int count, float* rows) const override {
        rows_read_ += count;
        std::fill_n(rows, std::ptrdiff_t{count} * k_columns, 0.0f);
        for (int i = 0; i < count; ++i) rows[std::ptrdiff_t{i} * k_columns + (first + i) % 100] = 1;
    }

private:
    int& rows_read_;
};

TEST(WalkTest, BeginsAtTheLargestOfItsRowAndReadsNoWholeMatrix) {
    int rows_read = 0;
    Document document{Session{}, {}, {}};
    const Stage stage{find_stage_info("weights"), Buffer(std::make_shared<Rows>(rows_read))};
    walk_cells(document, stage, 3, 0);
    EXPECT_EQ(document.presentation().locked, (Cell{3, 0}));
    EXPECT_LT(rows_read, Rows::k_rows / 2);
    document.change([](Session& s) {
        s.presentation.stage = "scores"_stage;
        s.presentation.locked = Cell{7, 1};
    });
    walk_cells(document, stage, 0, 1);
    EXPECT_EQ(document.presentation().locked, (Cell{7, 8}));
    EXPECT_EQ(document.presentation().stage, "weights"_stage);
    walk_cells(document, stage, Cell{5, 6}, -10, 10);
    EXPECT_EQ(document.presentation().locked, (Cell{0, 16}));
}

}  // namespace
}  // namespace attnscope
