// Score functions: how much a query has to do with a key. One small type behind one table.
#pragma once

#include <span>
#include <string_view>

#include "core/attention/tensor.h"

namespace attnscope {

/// What a score function sees of one head: some of its queries, and all of its keys.
struct ScoreInputs {
    ConstMatrixView Q;  ///< n × d_k
    ConstMatrixView K;  ///< M × d_k
};

struct ScoreFunction {
    std::string_view name;
    std::string_view formula;
    std::string_view summary;
    /// n × M scores. Called for several runs of queries at once, so each row depends on its own query alone.
    void (*compute)(const ScoreInputs& inputs, MatrixView scores);
};

/// `dot`  q · k (Luong et al. 2015, §3.1; Vaswani et al. 2017, §3.2.1, where the scale comes after)
std::span<const ScoreFunction> score_functions();
const ScoreFunction* find_score_function(std::string_view name);

}  // namespace attnscope
