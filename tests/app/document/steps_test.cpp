#include "app/document/steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/mechanism/evaluate.h"

namespace attnscope {
namespace {

TEST(StepsTest, HeadsStepThroughTheDivisors) {
    for (int dim = 1; dim <= k_max_dim; dim += dim < 100 ? 1 : 47) {
        std::vector<int> divisors;
        for (int h = 1; h <= std::min(dim, k_max_heads); ++h)
            if (dim % h == 0) divisors.push_back(h);
        const int last = static_cast<int>(divisors.size()) - 1;
        Experiment e;
        e.input.dim = dim;
        for (int at = 0; at <= last; ++at) {
            e.attention.heads = divisors[std::size_t(at)];
            for (const int steps : {-100, -2, -1, 0, 1, 2, 100})
                ASSERT_EQ(stepped_size(e, heads_of, steps),
                          divisors[std::size_t(std::clamp(at + steps, 0, last))])
                    << dim << " " << at << " " << steps;
        }
    }
}

TEST(StepsTest, HeadsDivideEverySize) {
    Experiment e;
    e.attention.key_size = 12;
    e.attention.value_size = 18;
    EXPECT_EQ(stepped_size(e, heads_of, 1), 2);
    EXPECT_EQ(stepped_size(e, heads_of, 100), 6);
    e.attention.value_size = 0;  // as the dimension, 16
    EXPECT_EQ(stepped_size(e, heads_of, 100), 4);
}

TEST(StepsTest, SizesAreMultiplesOfTheHeads) {
    Experiment e;
    e.attention.heads = 4;
    EXPECT_EQ(stepped_size(e, dim_of, 3), 28);
    EXPECT_EQ(stepped_size(e, dim_of, -100), 4);
    EXPECT_EQ(stepped_size(e, dim_of, 1000), 1024);
    EXPECT_EQ(stepped_size(e, key_size_of, 1), 20) << "0 is the dimension";
    e.attention.value_size = 8;
    EXPECT_EQ(stepped_size(e, value_size_of, -1), 4);
    e.attention.key_size = 8;
    EXPECT_EQ(stepped_size(e, dim_of, 3), 19) << "nothing is divided that is d wide";
}

TEST(StepsTest, HeadsThatRopeTurnsAreEven) {
    Experiment e;
    e.attention.position = Position::rope;
    e.input.dim = 12;
    EXPECT_EQ(stepped_size(e, heads_of, 100), 6);
    e.attention.heads = 3;
    EXPECT_EQ(stepped_size(e, heads_of, 1), 6) << "12 / 4 is odd";
    EXPECT_EQ(stepped_size(e, dim_of, 1), 18);
}

TEST(StepsTest, AnEditIsRefusedInTheWordsOfTheComputation) {
    Experiment e;
    e.attention.position = Position::rope;
    e.input.dim = 15;
    const auto refusal = [&](auto&& refuses) -> std::string {
        try {
            refuses(e);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal(check_edit), why_rope_does_not_fit(15));
    EXPECT_EQ(refusal([](const Experiment& odd) { evaluate(odd); }), why_rope_does_not_fit(15));
}

TEST(StepsTest, WhatElseIsWrongDoesNotHoldASize) {
    Experiment e;
    e.weighting.temperature = -1;
    e.input.text = "no UTF-8: \xFF";
    EXPECT_EQ(stepped_size(e, heads_of, 1), 2);
    EXPECT_EQ(stepped_size(e, dim_of, 1), 17);
}

TEST(StepsTest, AnEditThatNoSentenceFitsIsRefused) {
    Experiment e;
    e.input.dim = 6;
    e.attention.heads = 2;
    EXPECT_NO_THROW(check_edit(e));
    e.attention.position = Position::rope;
    EXPECT_THROW(check_edit(e), Error);
    e = {};
    e.attention.block = Block::pre_norm;
    e.attention.value_size = 8;
    EXPECT_THROW(check_edit(e), Error);
    e.attention.output_projection = true;
    EXPECT_NO_THROW(check_edit(e));
    e.attention.heads = 3;
    EXPECT_THROW(check_edit(e), Error);
    e = {};
    e.mechanism = MechanismKind::transformer;
    e.input.dim = 6;
    e.attention.heads = 2;
    e.attention.key_size = 8;
    EXPECT_EQ(e.key_width(), 3) << "a stack has no key size of its own";
    e.attention.position = Position::rope;
    EXPECT_THROW(check_edit(e), Error);
    e.mechanism = MechanismKind::seq2seq;
    EXPECT_NO_THROW(check_edit(e));
}

}  // namespace
}  // namespace attnscope
