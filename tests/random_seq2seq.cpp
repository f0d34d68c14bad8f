#include "tests/random_seq2seq.h"

#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/seq2seq/parameters.h"
#include "core/op/normalizers.h"
#include "core/random/initializers.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"

namespace attnscope::test {
namespace {

Experiment random_seq2seq_settings(Dice& dice) {
    Experiment e;
    e.mechanism = MechanismKind::seq2seq;
    e.input.text = random_text(dice);
    if (!dice.one_in(3)) e.input.text2 = random_text(dice);
    e.input.tokenizer = dice.choice_of(tokenizers());
    e.input.vocabulary = dice.choice_of(vocabulary_rules());
    e.input.table_size = dice.of({0, 10, 40});
    e.weights.seed = dice.of({Seed(0), Seed(-1), Seed(dice.below(100000)), Seed::from_unsigned(~0ull)});
    e.input.dim = dice.from_to(1, 9);
    e.weights.embedding = dice.choice_of(initializers());
    e.seq2seq.encoder = dice.of({Encoder::bidirectional, Encoder::forward});
    e.seq2seq.decoder_attention = dice.one_in(4) ? DecoderAttention::none : DecoderAttention::additive;
    e.seq2seq.alignment_state = dice.of({AlignmentState::previous, AlignmentState::current});
    e.seq2seq.decode = dice.of({Decode::teacher, Decode::greedy});
    e.seq2seq.max_steps = dice.from_to(1, 8);
    e.seq2seq.encoder_size = dice.from_to(1, 9);
    e.seq2seq.decoder_size = dice.from_to(1, 9);
    e.weighting.hidden = dice.from_to(1, 9);
    e.weighting.normalizer = dice.one_in(3) ? Normalization::softmax : dice.choice_of(normalizers());
    e.weighting.temperature = dice.of({1.0, 1.0, 0.7, 0.1});
    e.weighting.local_window = dice.from_to(1, 8) / 2.0;
    return e;
}

class Giver {
public:
    Giver(Dice& dice, Experiment& e) : dice_(dice), e_(e) {}

    /// Rows of the tables, and tables with more rows than the words need.
    void give_words() {
        const Trace trace = evaluate(e_);
        const int N = trace.find("fed_tokens"_stage)->shape().rows;
        int source_rows = trace.find("E_src"_stage)->shape().rows,
            target_rows = trace.find("E_tgt"_stage)->shape().rows;
        if (dice_.one_in(4)) set("E_src", dice_.matrix(source_rows += dice_.below(2), e_.input.dim));
        if (dice_.one_in(4)) set("E_tgt", dice_.matrix(target_rows += dice_.below(2), e_.input.dim));
        if (dice_.one_in(4)) set("src", tokens(dice_.from_to(1, 6), source_rows));
        const bool other_length = dice_.one_in(4);
        const int steps = other_length ? dice_.from_to(1, 6) : N;
        if (other_length) set("tgt_in", tokens(steps, target_rows));
        if (e_.seq2seq.decode == Decode::teacher && dice_.one_in(3))
            set("tgt_out", tokens(steps, target_rows));
    }
    /// Some of the weights that the computation has.
    void give_parameters() {
        const Trace trace = evaluate(e_);
        for (const Seq2seqParameter& parameter : seq2seq_parameters())
            if (const Stage* stage = trace.find_named(parameter.name);
                stage && !e_.is_custom(parameter.name) && dice_.one_in(5))
                set(std::string(parameter.name), dice_.matrix(stage->shape().rows, stage->shape().columns));
    }
    void give_mask() {
        const Trace trace = evaluate(e_);
        const int steps = e_.seq2seq.decode == Decode::greedy ? e_.seq2seq.max_steps
                                                              : trace.find("fed_tokens"_stage)->shape().rows;
        for (int rules = dice_.below(3); rules > 0; --rules)
            e_.weighting.mask.push_back(random_rule(dice_, steps));
        if (dice_.one_in(5)) set("mask", dice_.bits(steps, trace.find("source"_stage)->shape().rows));
    }

private:
    void set(const std::string& name, Matrix values) {
        e_.weights.custom.insert_or_assign(name, CustomMatrix(std::move(values)));
    }
    Matrix tokens(int count, int rows) {
        Matrix row(1, count);
        for (float& token : row.reshaped()) token = static_cast<float>(dice_.below(rows));
        return row;
    }

    Dice& dice_;
    Experiment& e_;
};

}  // namespace

Experiment random_seq2seq(Dice& dice) {
    Experiment e = random_seq2seq_settings(dice);
    Giver giver(dice, e);
    const bool gives = dice.one_in(2);
    if (gives) giver.give_words();
    giver.give_mask();
    if (gives) giver.give_parameters();
    evaluate(e);
    return e;
}

}  // namespace attnscope::test
