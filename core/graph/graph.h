// The computation before any number is known: which operation computes which stage from which others.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/graph/trace.h"

namespace attnscope {

/// An operation, and the results of others that it reads.
struct GraphNode {
    std::shared_ptr<const Op> op;
    std::vector<int> inputs;  ///< indices into Graph::values
};

/// One result of an operation.
struct GraphValue {
    StageKey key;
    Shape shape;     ///< of a greedy decoder the largest possible one
    int node = 0;    ///< index into Graph::nodes
    int result = 0;  ///< index among the operation's results
};

/// Nodes in the order of the computation: a node reads only values of earlier nodes. Values are in the order
/// of their nodes. The labels are what is known of them before the computation.
struct Graph {
    std::vector<GraphNode> nodes;
    std::vector<GraphValue> values;
    std::vector<std::string> rows, columns, table, target_table;  ///< as in Trace
    StageFeatures features;                                       ///< as in Trace
    std::vector<Overridable> overridable;  ///< the matrices that may be custom under these settings
    std::string loss_advice;               ///< what to set for a loss, if there is none

    const Op& op_of(const GraphValue& value) const { return *nodes[static_cast<std::size_t>(value.node)].op; }
    /// nullptr if there is no such stage.
    const GraphValue* find(StageKey key) const;
};

/// Which nodes these stages, in every layer, are computed from or results of; none if the graph has none of
/// them.
std::vector<bool> nodes_for(const Graph& graph, std::span<const StageInfo* const> stages);
/// The part of a graph that is nodes_for() these stages; all of it if it has none of them.
Graph part_for(const Graph& graph, std::span<const StageInfo* const> stages);

/// Bytes of a value, including what pictures derive from it: pooled levels, and the mean over the heads.
std::size_t bytes_of(const GraphValue& value);
/// Bytes of all values.
std::size_t bytes_of(const Graph& graph);

/// A value of a graph under construction; absent if there is no such stage.
struct Value {
    int index = -1;
    explicit operator bool() const { return index >= 0; }
    bool operator==(const Value&) const = default;
};

/// Builds a graph, one operation after the other.
class GraphBuilder {
public:
    /// Adds an operation whose result is this stage. Absent inputs are left out.
    Value add(StageKey key, Op op, const std::vector<Value>& inputs = {});
    /// Adds an operation with several results, one stage each.
    std::vector<Value> add(const std::vector<StageKey>& keys, Op op, const std::vector<Value>& inputs);

    const Shape& shape(Value value) const { return at(value).shape; }
    std::string name(Value value) const {
        return name_in_layer(at(value).key.layer, at(value).key.stage->name);
    }
    /// A custom matrix instead of a drawn or computed one; with heads those of its one head.
    Value custom(StageKey key, const CustomMatrix& matrix, bool has_heads = false);
    /// x Wᵀ + b; b may be absent. Throws Error(bad_input) if the shapes do not fit.
    Value linear(StageKey key, Value x, Value W, Value b);
    /// Records that a matrix of overridable_matrices() may be overridden, as one of this size.
    void may_override(CustomName name, int rows, int columns);

    /// Throws Error(bad_input), naming the stage and both shapes, unless the value has this shape.
    void require_shape(Value value, int rows, int columns) const;

    Graph graph;

private:
    const GraphValue& at(Value value) const { return graph.values[static_cast<std::size_t>(value.index)]; }
};

/// "must be 8 × 16", for refuse_shape().
std::string must_be(Eigen::Index rows, Eigen::Index columns);
/// Throws Error(bad_input): "`what` is rows × columns, but `needs`", as in "W_q is 2 × 3, but needs 16
/// columns".
[[noreturn]] void refuse_shape(std::string_view what, Eigen::Index rows, Eigen::Index columns,
                               const std::string& needs);

}  // namespace attnscope
