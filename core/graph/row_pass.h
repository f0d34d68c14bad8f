// Operations whose rows go from one to the next, such as scores, their softmax and the weighted sum, are
// computed together: a block of rows passes all of them while it is in the cache.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/run_options.h"

namespace attnscope {

/// The nodes of a graph in an order in which they can be computed, those of one entry together. An entry of
/// several nodes is a chain: operations that have rows, may_join(node), and read their chain's results row by
/// row. Heavy operations, whose blocks have fewer rows than others (RowLoop::k_heavy), join none.
std::vector<std::vector<int>> row_passes(const Graph& graph, const std::function<bool(int node)>& may_join);

/// An operation of a pass. An input is a stage, or the result of an earlier operation of the pass.
struct PassNode {
    struct Input {
        StagePtr stage = nullptr;
        int earlier = -1;  ///< index into the nodes of the pass, if there is no stage
    };
    StageKey key;
    std::shared_ptr<const Op> op;
    std::vector<Input> inputs;
    bool is_read_outside = false;  ///< of the pass, by a node that reads all heads
    bool waits = false;  ///< until something asks for its result; then what reads it in the pass waits, too
};

/// What a pass computed, in the order of its nodes.
struct PassResult {
    StagePtr stage;
    std::vector<StagePtr> inputs;
    double milliseconds;  ///< its share of the time that the pass took
};

/// Computes the results of a pass, bit for bit as forward() computes each alone. Where `options.watched`
/// says so, ranges are found on the way, and results of pairs that only the pass reads keep what is
/// watched alone; other values are computed again when they are asked for. Throws Canceled.
std::vector<PassResult> run_pass(const std::vector<PassNode>& nodes, const EvaluateOptions& options);

}  // namespace attnscope
