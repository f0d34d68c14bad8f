// The closed choices of an Experiment, and their names in sessions, flags and on screen.
#pragma once

#include <array>

#include "core/choice.h"

namespace attnscope {

/// Positional encoding: added to X, applied by rotating Q and K, or a bias on the scores.
enum class Position { none, sinusoidal, rope, alibi, learned };
constexpr auto choice_names(Position) {
    using enum Position;
    return std::to_array<ChoiceName<Position>>(
        {{none, "none"}, {sinusoidal, "sinusoidal"}, {rope, "rope"}, {alibi, "alibi"}, {learned, "learned"}});
}

/// What a position encoding does beyond what it adds to the embeddings.
struct PositionRule {
    Position choice;
    bool rotates;    ///< pairs of features of queries and keys, by an angle that grows with the position
    bool biases;     ///< the scores, by the distance between query and key
    bool has_table;  ///< of vectors that are drawn or learned, one for each position
};
inline constexpr std::array k_position_rules = {
    PositionRule{Position::none, false, false, false},
    PositionRule{Position::sinusoidal, false, false, false}, PositionRule{Position::rope, true, false, false},
    PositionRule{Position::alibi, false, true, false}, PositionRule{Position::learned, false, false, true}};
static_assert(is_table_of<Position>(k_position_rules));
constexpr const PositionRule& position_rule(Position choice) {
    return k_position_rules[static_cast<std::size_t>(choice)];
}

/// The features that RoPE rotates as a pair: (2k, 2k + 1), or (k, k + d/2).
enum class RopeLayout { interleaved, half };
constexpr auto choice_names(RopeLayout) {
    using enum RopeLayout;
    return std::to_array<ChoiceName<RopeLayout>>({{interleaved, "interleaved"}, {half, "half"}});
}

/// How a query is compared with a key, in score_functions().
enum class Score { dot, general, additive, concat, cosine, location, rbf };
constexpr auto choice_names(Score) {
    using enum Score;
    return std::to_array<ChoiceName<Score>>({{dot, "dot"},
                                             {general, "general"},
                                             {additive, "additive"},
                                             {concat, "concat"},
                                             {cosine, "cosine"},
                                             {location, "location"},
                                             {rbf, "rbf"}});
}

/// A rule in mask_kinds(): which query may attend to which key.
enum class MaskForm { causal, valid, window, dilated, prefix };
constexpr auto choice_names(MaskForm) {
    using enum MaskForm;
    return std::to_array<ChoiceName<MaskForm>>(
        {{causal, "causal"}, {valid, "valid"}, {window, "window"}, {dilated, "dilated"}, {prefix, "prefix"}});
}

/// How masked scores become weights, in normalizers().
enum class Normalization { softmax, hard, local_m, local_p, sparsemax };
constexpr auto choice_names(Normalization) {
    using enum Normalization;
    return std::to_array<ChoiceName<Normalization>>({{softmax, "softmax"},
                                                     {hard, "hard"},
                                                     {local_m, "local-m"},
                                                     {local_p, "local-p"},
                                                     {sparsemax, "sparsemax"}});
}

/// The direction in which the weights sum to 1: each row over the keys, or each column over the queries.
enum class SoftmaxAxis { keys, queries };
constexpr auto choice_names(SoftmaxAxis) {
    using enum SoftmaxAxis;
    return std::to_array<ChoiceName<SoftmaxAxis>>({{keys, "keys"}, {queries, "queries"}});
}
/// Whether each column sums to 1, not each row.
constexpr bool is_over_queries(SoftmaxAxis choice) {
    switch (choice) {
        case SoftmaxAxis::queries: return true;
        case SoftmaxAxis::keys: break;
    }
    return false;
}

/// The transformer block around attention: layer norms after the residuals, or before each layer.
enum class Block { none, post_norm, pre_norm };
constexpr auto choice_names(Block) {
    using enum Block;
    return std::to_array<ChoiceName<Block>>(
        {{none, "none"}, {post_norm, "post-norm"}, {pre_norm, "pre-norm"}});
}

/// The activation of the feed-forward layer.
enum class Activation { relu, gelu };
constexpr auto choice_names(Activation) {
    using enum Activation;
    return std::to_array<ChoiceName<Activation>>({{relu, "relu"}, {gelu, "gelu"}});
}

/// The layer norms of a stack: none, before each layer's attention and feed-forward layer, or after them.
enum class Norm { none, before, after };
constexpr auto choice_names(Norm) {
    using enum Norm;
    return std::to_array<ChoiceName<Norm>>({{none, "none"}, {before, "before"}, {after, "after"}});
}
/// Whether a layer norm follows the last layer.
constexpr bool ends_normed(Norm choice) {
    switch (choice) {
        case Norm::before: return true;
        case Norm::none:
        case Norm::after: break;
    }
    return false;
}

/// What the context of an ablated head is set to: 0, or its mean over the positions.
enum class Ablation { zero, mean };
constexpr auto choice_names(Ablation) {
    using enum Ablation;
    return std::to_array<ChoiceName<Ablation>>({{zero, "zero"}, {mean, "mean"}});
}

/// The target at each position of a stack: the next token, or the token there of another sentence.
enum class Objective { next, position };
constexpr auto choice_names(Objective) {
    using enum Objective;
    return std::to_array<ChoiceName<Objective>>({{next, "next"}, {position, "position"}});
}
/// Whether the output at each token is compared with a target of its own.
constexpr bool has_own_targets(Objective choice) {
    switch (choice) {
        case Objective::position: return true;
        case Objective::next: break;
    }
    return false;
}

/// All queries at once; Bahdanau's encoder and decoder, which aligns step by step; or a stack of layers.
enum class MechanismKind { attention, seq2seq, transformer };
constexpr auto choice_names(MechanismKind) {
    using enum MechanismKind;
    return std::to_array<ChoiceName<MechanismKind>>(
        {{attention, "attention"}, {seq2seq, "seq2seq"}, {transformer, "transformer"}});
}

/// The directions in which the source is read; with `forward` the annotations are the forward states alone.
enum class Encoder { bidirectional, forward };
constexpr auto choice_names(Encoder) {
    using enum Encoder;
    return std::to_array<ChoiceName<Encoder>>({{bidirectional, "bidirectional"}, {forward, "forward"}});
}
/// Whether the source is read in both directions.
constexpr bool reads_backward(Encoder choice) {
    switch (choice) {
        case Encoder::bidirectional: return true;
        case Encoder::forward: break;
    }
    return false;
}

/// The source of a step's context: the annotations weighted by the alignment, or the last encoder state
/// alone.
enum class DecoderAttention { additive, none };
constexpr auto choice_names(DecoderAttention) {
    using enum DecoderAttention;
    return std::to_array<ChoiceName<DecoderAttention>>({{additive, "additive"}, {none, "none"}});
}

/// The decoder state used as the query: s_(i−1) of the previous step (Bahdanau), or the step's own s_i
/// (Luong).
enum class AlignmentState { previous, current };
constexpr auto choice_names(AlignmentState) {
    using enum AlignmentState;
    return std::to_array<ChoiceName<AlignmentState>>({{previous, "previous"}, {current, "current"}});
}
/// Whether a step is scored with the state that it computes, not with the one before.
constexpr bool queries_current(AlignmentState choice) {
    switch (choice) {
        case AlignmentState::current: return true;
        case AlignmentState::previous: break;
    }
    return false;
}

/// What a model is trained on (core/learn/tasks.h).
enum class TaskKind {
    none,
    translate,
    dates,
    induction,
    copy,
    reverse,
    sort,
    recall,
    next_word,
    next_character
};
constexpr auto choice_names(TaskKind) {
    using enum TaskKind;
    return std::to_array<ChoiceName<TaskKind>>({{none, "none"},
                                                {translate, "translate"},
                                                {dates, "dates"},
                                                {induction, "induction"},
                                                {copy, "copy"},
                                                {reverse, "reverse"},
                                                {sort, "sort"},
                                                {recall, "recall"},
                                                {next_word, "next-word"},
                                                {next_character, "next-character"}});
}

/// How a step of training changes the parameters (core/learn/optimizer.h).
enum class OptimizerKind { sgd, adam, adamw };
constexpr auto choice_names(OptimizerKind) {
    using enum OptimizerKind;
    return std::to_array<ChoiceName<OptimizerKind>>({{sgd, "sgd"}, {adam, "adam"}, {adamw, "adamw"}});
}
/// Whether it repeats a part of the previous step, `momentum`.
constexpr bool has_momentum(OptimizerKind optimizer) {
    switch (optimizer) {
        case OptimizerKind::sgd: return true;
        case OptimizerKind::adam:
        case OptimizerKind::adamw: return false;
    }
    return false;
}

/// What each step is fed. teacher: `<bos>`, then the target's words; each step predicts the next word, the
/// last one `<eos>`. greedy: `<bos>`, then the previous step's most likely word, until that is `<eos>`.
enum class Decode { teacher, greedy };
constexpr auto choice_names(Decode) {
    using enum Decode;
    return std::to_array<ChoiceName<Decode>>({{teacher, "teacher"}, {greedy, "greedy"}});
}
/// Whether a step reads the word that the one before predicted, not the target's.
constexpr bool is_greedy(Decode choice) {
    switch (choice) {
        case Decode::greedy: return true;
        case Decode::teacher: break;
    }
    return false;
}

}  // namespace attnscope
