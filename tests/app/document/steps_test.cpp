#include "app/document/steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/error.h"

namespace attnscope {
namespace {

TEST(StepsTest, HeadsStepThroughTheDivisors) {
    for (int dim = 1; dim <= k_max_dim; dim += dim < 100 ? 1 : 47) {
        std::vector<int> divisors;
        for (int h = 1; h <= std::min(dim, k_max_heads); ++h)
            if (dim % h == 0) divisors.push_back(h);
        const int last = static_cast<int>(divisors.size()) - 1;
        Experiment e;
        e.dim = dim;
        for (int at = 0; at <= last; ++at) {
            e.heads = divisors[std::size_t(at)];
            for (const int steps : {-100, -2, -1, 0, 1, 2, 100})
                ASSERT_EQ(stepped_size(e, &Experiment::heads, steps),
                          divisors[std::size_t(std::clamp(at + steps, 0, last))])
                    << dim << " " << at << " " << steps;
        }
    }
}

TEST(StepsTest, HeadsDivideEverySize) {
    Experiment e;
    e.key_size = 12;
    e.value_size = 18;
    EXPECT_EQ(stepped_size(e, &Experiment::heads, 1), 2);
    EXPECT_EQ(stepped_size(e, &Experiment::heads, 100), 6);
    e.value_size = 0;  // as the dimension, 16
    EXPECT_EQ(stepped_size(e, &Experiment::heads, 100), 4);
}

TEST(StepsTest, SizesAreMultiplesOfTheHeads) {
    Experiment e;
    e.heads = 4;
    EXPECT_EQ(stepped_size(e, &Experiment::dim, 3), 28);
    EXPECT_EQ(stepped_size(e, &Experiment::dim, -100), 4);
    EXPECT_EQ(stepped_size(e, &Experiment::dim, 1000), 1024);
    EXPECT_EQ(stepped_size(e, &Experiment::key_size, 1), 20) << "0 is the dimension";
    e.value_size = 8;
    EXPECT_EQ(stepped_size(e, &Experiment::value_size, -1), 4);
    e.key_size = 8;
    EXPECT_EQ(stepped_size(e, &Experiment::dim, 3), 19) << "nothing is divided that is d wide";
}

TEST(StepsTest, HeadsThatRopeTurnsAreEven) {
    Experiment e;
    e.position = Position::rope;
    e.dim = 12;
    EXPECT_EQ(stepped_size(e, &Experiment::heads, 100), 6);
    e.heads = 3;
    EXPECT_EQ(stepped_size(e, &Experiment::heads, 1), 6) << "12 / 4 is odd";
    EXPECT_EQ(stepped_size(e, &Experiment::dim, 1), 18);
}

TEST(StepsTest, WhatElseIsWrongDoesNotHoldASize) {
    Experiment e;
    e.temperature = -1;
    e.text = "no UTF-8: \xFF";
    EXPECT_EQ(stepped_size(e, &Experiment::heads, 1), 2);
    EXPECT_EQ(stepped_size(e, &Experiment::dim, 1), 17);
}

TEST(StepsTest, AnEditThatNoSentenceFitsIsRefused) {
    Experiment e;
    e.dim = 6;
    e.heads = 2;
    EXPECT_NO_THROW(check_edit(e));
    e.position = Position::rope;
    EXPECT_THROW(check_edit(e), Error);
    e = {};
    e.block = Block::pre_norm;
    e.value_size = 8;
    EXPECT_THROW(check_edit(e), Error);
    e.output_projection = true;
    EXPECT_NO_THROW(check_edit(e));
    e.heads = 3;
    EXPECT_THROW(check_edit(e), Error);
}

}  // namespace
}  // namespace attnscope
