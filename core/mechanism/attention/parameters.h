// The names of attention's parameters, where several belong together.
#pragma once

#include "core/experiment/overridable.h"
#include "core/graph/stage_table.h"

namespace attnscope {

/// The parameters of a projection.
struct ProjectionNames {
    CustomName W, b;
};

/// Q, K or V: the stage, its name where it is custom, and its projection.
struct ProjectedInput {
    const StageInfo* stage;
    CustomName name;
    ProjectionNames projection;
};
inline constexpr ProjectedInput k_query_input{"query"_stage, "query", {"W_q", "b_q"}};
inline constexpr ProjectedInput k_key_input{"key"_stage, "key", {"W_k", "b_k"}};
inline constexpr ProjectedInput k_value_input{"value"_stage, "value", {"W_v", "b_v"}};
inline constexpr ProjectionNames k_output_projection{"W_o", "b_o"};

}  // namespace attnscope
