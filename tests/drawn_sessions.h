// Sessions whose weights are drawn, so that any of their settings may be changed.
#pragma once

#include "core/session/session.h"

namespace attnscope::test {

/// Four heads of four dimensions, with weights as torch.nn.MultiheadAttention draws them.
inline Session four_heads() {
    return session_from_json(R"({"version": 1,
        "experiment": {"heads": 4, "projection": "mha", "output_projection": true},
        "presentation": {"head": 1}})",
                             "four heads");
}

/// Nine words that look at the 49 patches of the built-in picture.
inline Session words_and_patches() {
    return session_from_json(R"({"version": 1,
        "experiment": {"text": "Person near a house and tree under the sun", "vocabulary": "appearance", "dim": 64,
                       "image": "drawn", "projection": "xavier", "temperature": 0.1},
        "presentation": {"view": "image", "stage": "weights"}})",
                             "words and patches");
}

}  // namespace attnscope::test
