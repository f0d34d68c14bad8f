// Score functions: how much a query has to do with a key. One small type behind one table.
#pragma once

#include <map>
#include <span>
#include <string_view>

#include "core/attention/choices.h"
#include "core/attention/tensor.h"

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

/// What a score function sees of one head: some of its queries, and all of its keys.
struct ScoreInputs {
    ConstMatrixView Q;  ///< n × d_q
    ConstMatrixView K;  ///< M × d_k
    double sharpening = 1;
    std::map<std::string_view, ConstMatrixView> parameters = {};

    ConstMatrixView operator[](std::string_view name) const { return parameters.at(name); }
};

struct ScoreFunction {
    Score choice;
    std::string_view formula;
    std::string_view summary;
    bool equal_widths;  ///< Q and K must be equally wide
    std::span<const ScoreParameter> parameters;
    /// The stage between Q, K and the scores: "score_hidden", n × (M · hidden), a key's hidden units side by
    /// side; "cosine", n × M; or none.
    std::string_view before;
    /// nullptr without that stage. Called for several runs of queries at once, so each row depends on its own
    /// query alone.
    void (*compute_before)(const ScoreInputs& inputs, MatrixView before);
    /// n × M scores; `before` is empty if there is no such stage.
    void (*compute)(const ScoreInputs& inputs, ConstMatrixView before, MatrixView scores);
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
