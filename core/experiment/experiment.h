// An Experiment: everything that determines the numbers, and nothing else.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/experiment/choices.h"
#include "core/experiment/mechanism_rules.h"
#include "core/experiment/overridable.h"
#include "core/image/image.h"
#include "core/random/initializers.h"
#include "core/random/seed.h"
#include "core/tensor/tensor.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"

namespace attnscope {

/// What the scores are multiplied by: 1/√d_k, nothing, or a number.
struct Scale {
    enum class Kind { sqrt, none, number };
    Kind kind = Kind::sqrt;
    double number = 1;  ///< used only by Kind::number

    /// The factor for keys of width d_k.
    double factor(int d_k) const;
    bool operator==(const Scale& other) const {
        return kind == other.kind && (kind != Kind::number || number == other.number);
    }
};

/// One rule of the mask; a pair is open where all rules allow it.
struct MaskRule {
    MaskForm kind = MaskForm::causal;
    std::vector<std::int64_t> arguments = {};  ///< as mask_kinds() says of this kind
    bool operator==(const MaskRule&) const = default;
};

/// The state of the generator before it draws a set of weights.
struct ProjectionSeed {
    enum class Kind {
        same,     ///< reseeded with the experiment's seed, as in notebook 1
        proceed,  ///< continues where the previous draw ended ("continue")
        own,      ///< `seed`
    };
    Kind kind = Kind::same;
    Seed seed;
    bool operator==(const ProjectionSeed& other) const {
        return kind == other.kind && (kind != Kind::own || seed == other.seed);
    }
};

/// A custom matrix, used instead of a computed or drawn one. Shared, because experiments are copied freely;
/// compared by value (NaN equal to NaN).
class CustomMatrix {
public:
    explicit CustomMatrix(Matrix values) : values_(std::make_shared<const Matrix>(std::move(values))) {}
    const Matrix& values() const { return *values_; }
    const std::shared_ptr<const Matrix>& shared() const { return values_; }
    /// Differs whenever the matrix may differ; equal only for the same matrix.
    const void* identity() const { return values_.get(); }
    bool operator==(const CustomMatrix& other) const;

private:
    std::shared_ptr<const Matrix> values_;
};

/// What attention is computed over.
struct Input {
    std::string text = "Can you help me to translate this sentence";
    std::string text2;  ///< the sentence of the keys and values; empty: the same one (self-attention)
    TokenizerKind tokenizer = TokenizerKind::words;
    VocabularyOrder vocabulary = VocabularyOrder::alphabetical;
    std::string words;    ///< the table's words in order, between spaces; empty: the sentences' own
    std::string words2;   ///< the words of seq2seq's target, after <bos> and <eos>; empty: the target's own
    int table_size = 10;  ///< minimum number of rows of the table; 0 … 1,000,000
    int dim = 16;         ///< d, the width of an embedding, 1 … 1024
    std::optional<CustomImage>
        image;           ///< its patches are the keys and values (Xu et al. 2015); no text2 then
    int grid = 7;        ///< patches per side, 1 … 32: M = grid²
    int patch_size = 8;  ///< pixels per side of a patch, 1 … 64

    /// Numbers per patch.
    int patch_columns() const { return 3 * patch_size * patch_size; }
    /// Whether a word's vector is its features.
    bool uses_lexicon() const { return vocabulary == VocabularyOrder::lexicon; }
    bool operator==(const Input&) const = default;
};

/// How scores become weights, in every mechanism.
struct Weighting {
    int hidden = 8;              ///< width of the hidden layer of the score and of local-p, 1 … 1024
    std::vector<MaskRule> mask;  ///< empty: all open
    Normalization normalizer = Normalization::softmax;
    double temperature = 1;   ///< T > 0
    double local_window = 2;  ///< D of local-m and local-p, 0 … 4096; above 0 for local-p

    /// Whether a query's whole weight is on one key.
    bool chooses_one_key() const { return normalizer == Normalization::hard; }
    bool operator==(const Weighting&) const = default;
};

/// A head and its layer, which is 1 in attention alone.
struct HeadPlace {
    int layer, head;  ///< from 1

    auto operator<=>(const HeadPlace&) const =
        default;  // NOLINT(modernize-use-nullptr): the 0 is the compiler's
};

/// "2.1, 1.2": layer and head of each. Throws Error(bad_input) for another text.
std::vector<HeadPlace> parse_heads(std::string_view text);
std::string heads_text(const std::vector<HeadPlace>& heads);

/// All queries at once (core/mechanism/attention).
struct Attention {
    Position position = Position::none;
    RopeLayout rope_layout = RopeLayout::interleaved;
    int context_length = 64;  ///< rows of the learned positions, the longest sentence; 1 … 4096
    Projection projection = Projection::uniform;
    bool projection_bias = false;
    int key_size = 0;    ///< columns of Q and K, all heads together, 0 … 1024; 0: d
    int value_size = 0;  ///< columns of V, all heads together, 0 … 1024; 0: d
    int heads = 1;       ///< h, 1 … 64, divides d
    Score score = Score::dot;
    double sharpening = 1;                ///< factor of the cosine score
    double bandwidth = 1;                 ///< σ of the rbf score, above 0
    std::vector<HeadPlace> ablated = {};  ///< in order, each once
    Ablation ablation = Ablation::zero;
    Scale scale;
    SoftmaxAxis softmax_axis = SoftmaxAxis::keys;
    double dropout = 0;  ///< p, 0 ≤ p < 1
    Seed dropout_seed = 0;
    bool training = true;  ///< false: dropout is not applied
    bool output_projection = false;
    Block block = Block::none;
    Activation activation = Activation::relu;
    int feed_forward_size = 0;         ///< units of the hidden layer, 0 … 4096; 0: 4 d, in a stack none
    double layer_norm_epsilon = 1e-5;  ///< ε of the layer norms, above 0, at most 1

    bool operator==(const Attention&) const = default;
};

/// Bahdanau's encoder and decoder (core/mechanism/seq2seq): `text` is the source sentence and `text2` the
/// target sentence (empty: the source again), `dim` the width of both embeddings and `hidden` that of the
/// alignment. The weighting applies to the alignment, whose queries are the steps.
struct Seq2seq {
    Encoder encoder = Encoder::bidirectional;
    DecoderAttention decoder_attention = DecoderAttention::additive;
    AlignmentState alignment_state = AlignmentState::previous;
    Decode decode = Decode::teacher;
    int max_steps = 10;    ///< limit of greedy decoding, 1 … 4096
    int encoder_size = 8;  ///< states per direction, 1 … 1024
    int decoder_size = 8;  ///< 1 … 1024

    /// Whether each step weights the annotations.
    bool aligns() const {
        switch (decoder_attention) {
            case DecoderAttention::additive: return true;
            case DecoderAttention::none: break;
        }
        return false;
    }
    /// Whether the source is read in both directions.
    bool reads_backward() const { return attnscope::reads_backward(encoder); }
    bool operator==(const Seq2seq&) const = default;
};

/// A stack of layers over one sentence (core/mechanism/transformer), with the heads, position, scale,
/// activation and feed-forward size of the attention, and the weighting.
struct Transformer {
    int layers = 2;  ///< L, 1 … 24
    Norm norm = Norm::before;
    bool tied = false;  ///< the output matrix is the embedding table
    Objective objective = Objective::next;

    bool operator==(const Transformer&) const = default;
};

/// Where the parameters come from: drawn from seeds, or custom.
struct Weights {
    Seed seed = 123;
    Initialization embedding = Initialization::normal;
    ProjectionSeed image_seed;       ///< for W_patch; the previous draw is the embedding table
    ProjectionSeed projection_seed;  ///< the previous draw is W_patch with an image, else the table
    ProjectionSeed
        score_seed;  ///< for the weights of the score and of local-p; the previous draw is the projections
    ProjectionSeed block_seed;  ///< for the block's weights; the previous draw is the score's weights
    /// Custom matrices, by their names in overridable_matrices().
    std::map<std::string, CustomMatrix, std::less<>> custom;

    /// nullptr if it is not custom.
    const CustomMatrix* find_custom(CustomName name) const {
        const auto found = custom.find(name.text());
        return found == custom.end() ? nullptr : &found->second;
    }
    void set_custom(CustomName name, Matrix values) {
        custom.insert_or_assign(std::string(name.text()), CustomMatrix(std::move(values)));
    }
    void discard(CustomName name) { custom.erase(std::string(name.text())); }

    bool operator==(const Weights&) const = default;
};

/// The optimizer and its settings: torch.optim.SGD, Adam (Kingma and Ba 2015, algorithm 1) or AdamW
/// (Loshchilov and Hutter 2019, algorithm 2) of PyTorch 1.13.
struct Optimizer {
    OptimizerKind kind = OptimizerKind::adam;
    double learning_rate = 1e-3;  ///< above 0
    double momentum = 0;          ///< of sgd, 0 … 1
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    double weight_decay = 0;  ///< at least 0
    double clip = 0;  ///< largest norm of all gradients together, as torch.nn.utils.clip_grad_norm_; 0: none
    int warm_up = 0;  ///< steps over which the learning rate rises from 0; 0 … 100,000
    int decay = 0;    ///< steps after these over which it falls to 0; 0: it stays; 0 … 100,000

    bool operator==(const Optimizer&) const = default;
};

/// A run of training (core/learn/training_run.h) and where it stands. The parameters at a step are custom
/// matrices of the experiment, so that a trace does not depend on anything here.
struct Training {
    TaskKind task = TaskKind::none;
    std::string corpus =
        {};  ///< the text whose next word or character is learned; empty: a short one of our own
    Optimizer optimizer = {};
    int batch = 16;      ///< fresh sentences for each step, 1 … 1024
    Seed data_seed = 1;  ///< of the drawn sentences
    int step = 0;        ///< 0: the parameters as drawn; 0 … 100,000
    /// Heads of a stack that are ablated while it is trained; Attention::ablated are so in what is shown.
    std::vector<HeadPlace> ablated = {};

    bool operator==(const Training&) const = default;
};

/// The mechanism's own settings are kept while another one is chosen. The defaults are the example
/// `scaled-dot-product`: notebook 1's sentence and seed.
struct Experiment {
    Input input;
    MechanismKind mechanism = MechanismKind::attention;
    Attention attention;
    Seq2seq seq2seq;
    Transformer transformer;
    Weighting weighting;
    Weights weights;
    Training training;

    bool is_custom(CustomName name) const { return weights.find_custom(name) != nullptr; }
    bool are_custom(std::initializer_list<CustomName> names) const {
        return std::ranges::all_of(names, [&](const CustomName& name) { return is_custom(name); });
    }
    /// Columns of Q and K, and of V, when they are projected; in a stack they are as wide as the embedding.
    int key_columns() const { return projected_columns(attention.key_size); }
    int value_columns() const { return projected_columns(attention.value_size); }
    /// Columns of Q and K in one head, d_k.
    int key_width() const { return key_columns() / std::max(attention.heads, 1); }
    int feed_forward_columns() const {
        return attention.feed_forward_size > 0 ? attention.feed_forward_size : 4 * input.dim;
    }

    bool operator==(const Experiment&) const = default;

private:
    int projected_columns(int own) const {
        return own > 0 && !mechanism_rule(mechanism).has_layers ? own : input.dim;
    }
};

inline constexpr int k_max_dim = 1024;
inline constexpr int k_max_heads = 64;
inline constexpr int k_max_table_size = 1'000'000;
inline constexpr int k_max_batch = 1024;
inline constexpr int k_max_training_steps = 100'000;

/// Whether the words' vectors are the features of the lexicon: designed by hand, rather than drawn or
/// learned. Window, pictures and recipe say so.
bool is_designed(const Experiment& experiment);

/// What queries, keys and values are without projections: "Q = K = V = X".
std::string unprojected_text(const Experiment& experiment);

/// Why heads, projection and sizes, all at least 1, do not fit together, in check()'s words; empty if they
/// do.
std::string why_sizes_do_not_fit(const Experiment& experiment);

/// Why position rope cannot rotate heads with d_k features; empty if it can.
std::string why_rope_does_not_fit(int d_k);

/// The heads of a layer that are ablated, from 0; layer 1 is that of attention alone. None where the
/// mechanism has no heads to set.
std::vector<int> ablated_heads(const Experiment& experiment, int layer = 1);
bool is_ablated(const Experiment& experiment, const HeadPlace& place);

/// Forgets ablated heads that the mechanism does not have.
void drop_missing_heads(Experiment& experiment);

/// Throws Error(bad_input), one line with the field, its value and the accepted ones, unless evaluate()
/// accepts the experiment. An empty text is not an error here.
void check(const Experiment& experiment);

}  // namespace attnscope
