// Score functions: how a query is compared with a key. One small type behind one table.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/experiment/choices.h"
#include "core/experiment/option_names.h"
#include "core/experiment/overridable.h"
#include "core/graph/graph.h"
#include "core/op/op.h"

namespace attnscope {

/// The sizes that determine a parameter's shape.
struct ScoreSizes {
    int query;   ///< columns of Q in one head
    int key;     ///< columns of K in one head
    int keys;    ///< M
    int hidden;  ///< units of the score's hidden layer
};

/// A parameter of a score function, shared by the heads and drawn like the weight of nn.Linear; rows ×
/// columns.
struct ScoreParameter {
    CustomName name;
    int (*rows)(const ScoreSizes& sizes);
    int (*columns)(const ScoreSizes& sizes);
    bool drawn = true;  ///< false: absent unless it is custom
};

/// The inputs of a score function.
struct ScoreOperands {
    Value Q, K;
    std::span<const Value> parameters;  ///< in the order of ScoreFunction::parameters; a value may be absent
    const Attention& settings;
};

struct ScoreFunction {
    Score choice;
    std::string_view title;  ///< of attention with it
    std::string_view summary;
    bool equal_widths;                 ///< Q and K must have the same width
    std::optional<OptionName> option;  ///< that only it and its like use: "bandwidth"
    std::span<const ScoreParameter> parameters;
    /// Adds `scores`, preceded by `score_hidden` or `cosine` where the function has such a stage.
    Value (*add)(GraphBuilder& graph, const ScoreOperands& operands);

    /// Whether it has a layer of Experiment::hidden units.
    bool has_hidden_layer() const { return option == OptionName("hidden"); }
};

/// `dot`      q · k (Luong et al. 2015, §3.1; Vaswani et al. 2017, §3.2.1, where the scale follows)
/// `general`  qᵀ W_score k (Luong et al. 2015, §3.1)
/// `additive` v_a · tanh(W_aq q + W_ak k + b_a), b_a only if it is custom (Bahdanau et al. 2015, §A.1.2;
///            the MLP attention of notebook 5)
/// `concat`   v_c · tanh(W_c [q; k]) (Luong et al. 2015, §3.1)
/// `rbf`      −|q − k|² ÷ 2σ² (Nadaraya 1964; Watson 1964)
/// `cosine`   sharpening · q · k / max(|q| |k|, 1e-8) (Graves et al. 2014, eq. 6)
/// `location` entry j of W_loc q; the keys are not used (Luong et al. 2015, eq. 8)
std::span<const ScoreFunction> score_functions();
const ScoreFunction& score_function(Score choice);

}  // namespace attnscope
