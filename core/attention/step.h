// The steps that another backend may compute in the processor's place.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "core/attention/experiment.h"

namespace attnscope {

/// Each is one formula of the evaluation, as a value: what it takes beside its input stages, whose order is
/// given here. h heads, N queries, M keys. A stage of one head is used for each head of a per-head one.
namespace step {

struct Linear {};  ///< x (n × in), W (out × in)[, b (1 × out)]: x Wᵀ + b; n × out
struct Sum {};     ///< of all inputs element by element; one with more rows lends its first ones
struct Split {     ///< x (n × h·w): h × n × w
    std::optional<RopeLayout> rope;  ///< each head's rows are turned
};
struct Join {};  ///< h × n × w: n × h·w
struct Before {  ///< Q, K and the function's parameters: the stage before its scores
    attnscope::Score score;
};
struct Score {  ///< Q, K, parameters, and the stage before if there is one: h × N × M
    attnscope::Score score;
    float sharpening;
};
struct Scale {  ///< x · factor ÷ divisor
    float factor, divisor;
};
struct Alibi {};  ///< slopes (h × 1): h × N × M
struct Center {   ///< Q, W_p, v_p: h × N × 1, where among the keys each query's window stands
    int keys;
};
struct Open {  ///< nothing, or centers: 1 where every rule allows and j is within `window` of the centre
    std::vector<MaskRule> rules;
    double window;
    const Matrix* open;  ///< N × M, that outlives the step: closed where it is 0; nullptr: none is given
    const Matrix* bias;  ///< likewise: closed where it is −∞
};
struct Close {};  ///< scores, mask: −∞ where the mask is 0
struct Softmax {  ///< masked; a line without an open cell is zeros
    bool over_queries;
};
struct Hard {};  ///< masked: 1 at the first of a row's largest
struct Gauss {   ///< centers (h × N × 1): h × N × M
    double window;
};
struct Bend {
};             ///< softmax, bell: their product; what has no weight gets none, not even of a bell that is NaN
struct Drop {  ///< weights, keep: weights · keep ÷ kept
    float kept;
};
struct Context {};    ///< weights, masked, V: Σ over the open keys
struct LayerNorm {};  ///< x, gain, shift
struct Activate {     ///< x: relu or gelu
    Activation activation;
};
struct LogSoftmax {};  ///< x

}  // namespace step

using Step =
    std::variant<step::Linear, step::Sum, step::Split, step::Join, step::Before, step::Score, step::Scale,
                 step::Alibi, step::Center, step::Open, step::Close, step::Softmax, step::Hard, step::Gauss,
                 step::Bend, step::Drop, step::Context, step::LayerNorm, step::Activate, step::LogSoftmax>;

}  // namespace attnscope
