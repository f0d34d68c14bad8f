// Score functions: how much a query has to do with a key. One small type behind one table.
#pragma once

#include <span>
#include <string_view>

#include "core/attention/choices.h"
#include "core/graph/graph.h"

namespace attnscope {

/// The sizes that a parameter's shape depends on.
struct ScoreSizes {
    int query;   ///< columns of a head's Q
    int key;     ///< columns of a head's K
    int keys;    ///< M
    int hidden;  ///< of the score's hidden layer
};

/// A parameter of a score function, shared by the heads, drawn as nn.Linear's weight, (rows × columns).
struct ScoreParameter {
    std::string_view name;
    int (*rows)(const ScoreSizes& sizes);
    int (*columns)(const ScoreSizes& sizes);
    bool drawn = true;  ///< false: absent unless given
};

/// What a score function is built over.
struct ScoreOperands {
    Value Q, K;
    std::span<const Value> parameters;  ///< as ScoreFunction::parameters; none: absent
    double sharpening = 1;
};

struct ScoreFunction {
    Score choice;
    std::string_view formula;
    std::string_view summary;
    bool equal_widths;      ///< Q and K must be equally wide
    bool has_hidden_layer;  ///< of Experiment::hidden units
    std::span<const ScoreParameter> parameters;
    /// Adds `scores`, and before them `score_hidden` or `cosine` where the function goes over one of them.
    Value (*add)(GraphBuilder& graph, const ScoreOperands& operands);
};

/// `dot`      q · k (Luong et al. 2015, §3.1; Vaswani et al. 2017, §3.2.1, where the scale comes after)
/// `general`  qᵀ W_score k (Luong et al. 2015, §3.1)
/// `additive` v_a · tanh(W_aq q + W_ak k + b_a), b_a only if given (Bahdanau et al. 2015, §A.1.2; the MLP
///            attention of notebook 5)
/// `concat`   v_c · tanh(W_c [q; k]) (Luong et al. 2015, §3.1)
/// `cosine`   sharpening · q · k / max(|q| |k|, 1e-8) (Graves et al. 2014, eq. 6)
/// `location` entry j of W_loc q; the keys are not used (Luong et al. 2015, eq. 8)
std::span<const ScoreFunction> score_functions();
const ScoreFunction& score_function(Score choice);

}  // namespace attnscope
