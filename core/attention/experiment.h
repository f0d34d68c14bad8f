// An Experiment: all that decides the numbers, and nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/choices.h"
#include "core/attention/image.h"
#include "core/attention/tensor.h"
#include "core/random/initializers.h"
#include "core/random/seed.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"

namespace attnscope {

/// What the scores are multiplied by: 1/√d_k, nothing, or a number.
struct Scale {
    enum class Kind { sqrt, none, number };
    Kind kind = Kind::sqrt;
    double number = 1;  ///< used by Kind::number alone

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

/// Where the generator of some weights starts.
struct ProjectionSeed {
    enum class Kind {
        same,     ///< seeded again with the experiment's seed, as notebook 1 does
        proceed,  ///< goes on where the draw before ended ("continue")
        own,      ///< `seed`
    };
    Kind kind = Kind::same;
    Seed seed;
    bool operator==(const ProjectionSeed& other) const {
        return kind == other.kind && (kind != Kind::own || seed == other.seed);
    }
};

/// A matrix given outright instead of computed. Shared, because experiments are copied freely; compared by
/// value (NaN equal to NaN).
class GivenMatrix {
public:
    explicit GivenMatrix(Matrix values) : values_(std::make_shared<const Matrix>(std::move(values))) {}
    const Matrix& values() const { return *values_; }
    const std::shared_ptr<const Matrix>& shared() const { return values_; }
    /// Differs whenever the matrix may differ; equal only for the same matrix.
    const void* identity() const { return values_.get(); }
    bool operator==(const GivenMatrix& other) const;

private:
    std::shared_ptr<const Matrix> values_;
};

/// The defaults are the example `scaled-dot-product`: notebook 1's sentence and seed.
struct Experiment {
    std::string text = "Can you help me to translate this sentence";
    std::string text2;  ///< the keys' and values' sentence; empty: the same one (self-attention)
    TokenizerKind tokenizer = TokenizerKind::words;
    VocabularyOrder vocabulary = VocabularyOrder::alphabetical;
    int table_size = 10;  ///< rows of the table if the words need fewer; 0 … 1,000,000
    Seed seed = 123;
    int dim = 16;  ///< d, 1 … 1024
    Initialization embedding = Initialization::normal;
    std::optional<GivenImage> image;  ///< its patches are the keys and values (Xu et al. 2015); no text2 then
    int grid = 7;                     ///< patches a side, 1 … 32: M = grid²
    int patch_size = 8;               ///< pixels a side of a patch, 1 … 64
    ProjectionSeed image_seed;        ///< of W_patch; the draw before: the embedding table
    Position position = Position::none;
    RopeLayout rope_layout = RopeLayout::interleaved;
    Projection projection = Projection::uniform;
    ProjectionSeed projection_seed;  ///< the draw before: W_patch with an image, else the table
    bool projection_bias = false;
    int key_size = 0;    ///< columns of Q and K, all heads together, 0 … 1024; 0: d
    int value_size = 0;  ///< columns of V, all heads together, 0 … 1024; 0: d
    int heads = 1;       ///< h, 1 … 64, divides d
    Score score = Score::dot;
    ProjectionSeed score_seed;  ///< of the score function's (and local-p's) weights; before: the projections
    int hidden = 8;             ///< width of the score's (and local-p's) hidden layer, 1 … 1024
    double sharpening = 1;      ///< what the cosine is multiplied by
    Scale scale;
    std::vector<MaskRule> mask;  ///< none: all open
    Normalization normalizer = Normalization::softmax;
    SoftmaxAxis softmax_axis = SoftmaxAxis::keys;
    double temperature = 1;   ///< T > 0
    double local_window = 2;  ///< D of local-m and local-p, 0 … 4096; of local-p above 0
    double dropout = 0;       ///< p, 0 ≤ p < 1
    Seed dropout_seed = 0;
    bool training = true;  ///< false: dropout leaves the weights alone
    bool output_projection = false;
    Block block = Block::none;
    Activation activation = Activation::relu;
    int feed_forward_size = 0;  ///< of its hidden layer, 0 … 4096; 0: 4 d
    ProjectionSeed block_seed;  ///< of its weights; the draw before: the score's
    /// In seq2seq, `text` is the source sentence and `text2` the target one (empty: the source's again),
    /// `dim` the width of both embeddings, `hidden` of the alignment. Mask, normalizer and temperature are
    /// the alignment's, with a step as the query.
    MechanismKind mechanism = MechanismKind::attention;
    Encoder encoder = Encoder::bidirectional;
    DecoderAttention decoder_attention = DecoderAttention::additive;
    AlignmentState alignment_state = AlignmentState::previous;
    Decode decode = Decode::teacher;
    int max_steps = 10;    ///< of greedy decoding, 1 … 4096
    int encoder_size = 8;  ///< states of each direction, 1 … 1024
    int decoder_size = 8;  ///< 1 … 1024
    /// What is given outright, by its name in given_names().
    std::map<std::string, GivenMatrix> given;

    bool is_given(std::string_view name) const { return given.contains(std::string(name)); }
    /// The weights of each key sum to 1 over the queries.
    bool over_queries() const {
        return normalizer == Normalization::softmax && softmax_axis == SoftmaxAxis::queries;
    }
    /// Columns of Q and K, and of V, where they are projected.
    int key_columns() const { return key_size > 0 ? key_size : dim; }
    int value_columns() const { return value_size > 0 ? value_size : dim; }
    /// Numbers in a patch.
    int patch_columns() const { return 3 * patch_size * patch_size; }
    int feed_forward_columns() const { return feed_forward_size > 0 ? feed_forward_size : 4 * dim; }

    bool operator==(const Experiment&) const = default;
};

inline constexpr int k_max_tokens = 4096;
inline constexpr int k_max_dim = 1024;
inline constexpr int k_max_heads = 64;
inline constexpr int k_max_table_size = 1'000'000;

/// What an experiment may be given, and what it stands for.
struct GivenName {
    std::string_view name;
    std::string_view what;  ///< with its shape
};
/// - Stages, which are then not computed: `embedding`, `embedding_kv`, `embedding_v` (X, Y, and the values'
///   own Y), `query`, `key`, `value`, `scores`.
/// - `mask` (N × M, 1 = may look, 0 not) and `mask_additive` (N × M, added to the scaled scores, −∞ closes):
///   they join the mask's rules. `dropout_keep` (h·N × M, the heads one below the other).
/// - Parameters, which are then not drawn: weights (out × in), biases (1 × out). A bias that is given is
///   added whether or not biases are drawn.
/// - `targets` (1 × N, whole numbers): the rows of `logits` that the loss takes. `loss_weights` (the output's
///   shape): the loss is Σ loss_weights ∘ output.
/// - Of seq2seq: `src`, `tgt_in`, `tgt_out` (1 × S, 1 × N, 1 × N), rows of E_src and E_tgt instead of words
/// of
///   the sentences, and every parameter of core/seq2seq/parameters.h. Row 0 of E_tgt is `<bos>`, row 1
///   `<eos>`.
std::span<const GivenName> given_names();

/// Why heads, projection and sizes, all at least 1, do not go together, as check() says it; empty if they do.
std::string why_sizes_do_not_fit(const Experiment& experiment);

/// Throws Error(bad_input), one line with the field, its value and what it may be, unless evaluate can take
/// the experiment. An empty text is no error here.
void check(const Experiment& experiment);

}  // namespace attnscope
