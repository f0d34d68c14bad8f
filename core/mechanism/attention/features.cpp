// The names of features where the embedding is that of the lexicon. Axes, proofs and exports read them
// through Trace::row_label and column_label.
#include "core/graph/stage_table.h"
#include "core/mechanism/attention/build.h"
#include "core/text/lexicon.h"

namespace attnscope {
namespace {

using Names = std::vector<std::string>;

constexpr int k_most_named = 3;  ///< features in one name

/// The features that each row of a weight reads: "noun+subject"; empty if there are none or too many.
Names read_by_rows(const Matrix& W, const Names& features) {
    Names names(static_cast<std::size_t>(W.rows()));
    for (Eigen::Index i = 0; i < W.rows(); ++i) {
        if ((W.row(i).array() != 0).count() > k_most_named) continue;
        for (Eigen::Index j = 0; j < W.cols(); ++j)
            if (W(i, j) != 0)
                names[static_cast<std::size_t>(i)] +=
                    (names[static_cast<std::size_t>(i)].empty() ? "" : "+") +
                    features[static_cast<std::size_t>(j)];
    }
    return names;
}

}  // namespace

/// The columns of the embedding have the names of the lexicon's features, and so have the features of Q, K
/// and V: what a custom W_k or W_v reads for them.
void AttentionBuilder::name_features() {
    const bool custom = is_custom("embedding") || is_custom("embedding_kv") || is_custom("embedding_v");
    if (!e_.input.uses_lexicon() || !table_ || custom) return;
    const Names words = lexicon_columns(e_.input.dim);
    StageFeatures& features = builder_.graph.features;
    const bool patches_differ = pictured_ && !is_custom("W_patch");
    for (const StageInfo* stage : {"table"_stage, "embedding"_stage, "position"_stage, "positioned"_stage})
        features[stage].columns = words;
    if (!patches_differ) {
        for (const StageInfo* stage : {"embedding_kv"_stage, "positioned_kv"_stage})
            features[stage].columns = words;
        features["W_patch"_stage].rows = words;
    }
    for (const StageInfo* W : {"W_q"_stage, "W_k"_stage, "W_v"_stage}) features[W].columns = words;
    const auto read_by = [&](CustomName name) {
        const CustomMatrix* W = e_.weights.find_custom(name);
        const bool reads = W && !patches_differ && W->values().cols() == e_.input.dim;
        return reads ? read_by_rows(W->values(), words) : Names();
    };
    const auto name = [&](const Names& names, std::initializer_list<const StageInfo*> stages,
                          const StageInfo* W) {
        if (names.empty()) return;
        for (const StageInfo* stage : stages) features[stage].columns = names;
        features[W].rows = names;
    };
    const Names of_keys = read_by("W_k"), of_values = read_by("W_v");
    name(of_keys, {"query"_stage, "query_heads"_stage}, "W_q"_stage);
    name(of_keys, {"key"_stage, "key_heads"_stage}, "W_k"_stage);
    name(of_values, {"value"_stage, "value_heads"_stage, "context"_stage, "ablated"_stage, "concat"_stage},
         "W_v"_stage);
    if (!is_custom("W_o")) return;
    features["output"_stage].columns = features["W_o"_stage].rows = words;
    features["W_o"_stage].columns = of_values;
}

}  // namespace attnscope
