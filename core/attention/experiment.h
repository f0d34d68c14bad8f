// An Experiment: all that decides the numbers, and nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/attention/tensor.h"
#include "core/random/seed.h"

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

/// One rule of the mask, by its name in mask_kinds(); a pair is open where all rules allow it.
struct MaskRule {
    std::string kind;
    std::vector<std::int64_t> arguments;  ///< `valid`: one length for all queries, or one for each
    bool operator==(const MaskRule&) const = default;
};

/// Where the projections' generator starts.
struct ProjectionSeed {
    enum class Kind {
        same,     ///< seeded again with the experiment's seed, as notebook 1 does
        proceed,  ///< goes on where the embedding's draw ended ("continue")
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
    /// Differs whenever the matrix may differ; equal only for the same matrix.
    const void* identity() const { return values_.get(); }
    bool operator==(const GivenMatrix& other) const;

private:
    std::shared_ptr<const Matrix> values_;
};

/// The defaults are the example `scaled-dot-product`: notebook 1's sentence and seed.
/// Fields that name a table's entry (tokenizer, vocabulary, …) hold its name; check() refuses a name that no
/// table has.
struct Experiment {
    std::string text = "Can you help me to translate this sentence";
    std::string tokenizer = "words";
    std::string vocabulary = "alphabetical";
    int table_size = 10;  ///< rows of the table if the words need fewer; 0 … 1,000,000
    Seed seed = 123;
    int dim = 16;  ///< d, 1 … 1024
    std::string embedding = "normal";
    std::string projection = "uniform";  ///< "none", or one of projection_rules()
    ProjectionSeed projection_seed;
    int heads = 1;  ///< h, 1 … 64, divides d
    std::string score = "dot";
    Scale scale;
    std::vector<MaskRule> mask;  ///< none: all open
    std::string normalizer = "softmax";
    double temperature = 1;  ///< T > 0
    bool output_projection = false;
    /// By name: `embedding`, `embedding_kv`, `query`, `key`, `value`, `scores` replace a stage; `W_q`, `W_k`,
    /// `W_v`, `W_o` (out × in) a parameter; `b_q`, `b_k`, `b_v`, `b_o` (1 × out) add a bias.
    std::map<std::string, GivenMatrix> given;

    bool operator==(const Experiment&) const = default;
};

inline constexpr int k_max_tokens = 4096;
inline constexpr int k_max_dim = 1024;
inline constexpr int k_max_heads = 64;
inline constexpr int k_max_table_size = 1'000'000;

/// Throws Error(bad_input), one line with the field, its value and what it may be, unless evaluate can take
/// the experiment. An empty text is no error here.
void check(const Experiment& experiment);

}  // namespace attnscope
