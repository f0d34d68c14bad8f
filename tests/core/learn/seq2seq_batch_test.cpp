#include "core/learn/seq2seq_batch.h"

#include <gtest/gtest.h>

#include "core/learn/tasks.h"

namespace attnscope {
namespace {

bool together_if(void (*change)(Experiment& e)) {
    Experiment e = task_experiment(TaskKind::translate);
    change(e);
    return computes_together(e);
}

TEST(Seq2seqBatchTest, SizesAndChoicesThatItComputesAreComputedTogether) {
    EXPECT_TRUE(together_if([](Experiment&) {}));
    EXPECT_TRUE(together_if([](Experiment& e) {
        e.seq2seq.encoder_size = 3;
        e.seq2seq.decoder_size = 5;
        e.weighting.hidden = 7;
    }));
    EXPECT_TRUE(together_if([](Experiment& e) {
        e.seq2seq.encoder = Encoder::forward;
        e.seq2seq.decoder_attention = DecoderAttention::none;
        e.seq2seq.alignment_state = AlignmentState::current;
    }));
}

TEST(Seq2seqBatchTest, SettingsThatTrainingDoesNotUseDoNotMatter) {
    EXPECT_TRUE(together_if([](Experiment& e) { e.weighting.local_window = 5; }));
    EXPECT_TRUE(together_if([](Experiment& e) {
        e.seq2seq.decode = Decode::greedy;
        e.seq2seq.max_steps = 3;
    }));
    EXPECT_TRUE(together_if([](Experiment& e) { e.attention.dropout = 0.5; }));
}

TEST(Seq2seqBatchTest, WhatItDoesNotComputeIsLeftToTheGraph) {
    EXPECT_FALSE(together_if([](Experiment& e) { e.mechanism = MechanismKind::transformer; }));
    EXPECT_FALSE(together_if([](Experiment& e) { e.weighting.normalizer = Normalization::local_m; }));
    EXPECT_FALSE(together_if([](Experiment& e) { e.weighting.temperature = 2; }));
    EXPECT_FALSE(together_if([](Experiment& e) { e.weighting.mask = {{MaskForm::causal}}; }));
    EXPECT_FALSE(together_if([](Experiment& e) { e.weights.set_custom("mask", Matrix::Ones(2, 2)); }));
}

}  // namespace
}  // namespace attnscope
