#include "core/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/op/op.h"

namespace attnscope {
namespace {

/// Whether a matrix of rows × columns numbers would have this shape if "1,5" were read as one number with a
/// decimal comma.
bool may_be_decimal_commas(const Matrix& matrix, Eigen::Index rows, Eigen::Index columns) {
    if (matrix.rows() != rows || matrix.cols() != 2 * columns) return false;
    for (Eigen::Index i = 0; i < matrix.rows(); ++i)
        for (Eigen::Index j = 0; j < matrix.cols(); ++j)
            if (matrix(i, j) != std::floor(matrix(i, j)) || (j % 2 == 1 && matrix(i, j) < 0)) return false;
    return true;
}

}  // namespace

const GraphValue* Graph::find(StageKey key) const {
    const auto found = std::ranges::find(values, key, &GraphValue::key);
    return found == values.end() ? nullptr : &*found;
}

std::vector<bool> nodes_for(const Graph& graph, std::span<const StageInfo* const> stages) {
    std::vector<bool> needed(graph.nodes.size(), false);
    for (const GraphValue& value : graph.values)
        if (std::ranges::find(stages, value.key.stage) != stages.end())
            needed[static_cast<std::size_t>(value.node)] = true;
    for (std::size_t node = needed.size(); node-- > 0;)
        if (needed[node])
            for (const int input : graph.nodes[node].inputs)
                needed[static_cast<std::size_t>(graph.values[static_cast<std::size_t>(input)].node)] = true;
    return needed;
}

Graph part_for(const Graph& graph, std::span<const StageInfo* const> stages) {
    const std::vector<bool> needed = nodes_for(graph, stages);
    if (std::ranges::find(needed, true) == needed.end()) return graph;
    Graph part = graph;
    part.nodes.clear();
    part.values.clear();
    std::vector<int> new_value(graph.values.size(), -1);
    int last_node = -1;
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
        GraphValue value = graph.values[i];
        if (!needed[static_cast<std::size_t>(value.node)]) continue;
        if (value.node != last_node) {
            last_node = value.node;
            GraphNode node = graph.nodes[static_cast<std::size_t>(value.node)];
            for (int& input : node.inputs) input = new_value[static_cast<std::size_t>(input)];
            part.nodes.push_back(std::move(node));
        }
        value.node = static_cast<int>(part.nodes.size()) - 1;
        new_value[i] = static_cast<int>(part.values.size());
        part.values.push_back(value);
    }
    return part;
}

std::size_t bytes_of(const GraphValue& value) {
    const std::size_t mean = value.shape.heads > 1 ? value.shape.head_size() : 0;
    return (value.shape.size() + value.shape.size() / 3 + mean) * sizeof(float);
}

std::size_t bytes_of(const Graph& graph) {
    std::size_t bytes = 0;
    for (const GraphValue& value : graph.values) bytes += bytes_of(value);
    return bytes;
}

Value GraphBuilder::add(StageKey key, Op op, const std::vector<Value>& inputs) {
    return add(std::vector{key}, std::move(op), inputs).front();
}

std::vector<Value> GraphBuilder::add(const std::vector<StageKey>& keys, Op op,
                                     const std::vector<Value>& inputs) {
    GraphNode node{std::make_shared<const Op>(std::move(op)), {}};
    std::vector<Shape> read;
    for (const Value input : inputs) {
        if (!input) continue;
        node.inputs.push_back(input.index);
        read.push_back(shape(input));
    }
    const std::vector<Shape> made = shapes(*node.op, read);
    std::vector<Value> values;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        values.push_back({static_cast<int>(graph.values.size())});
        graph.values.push_back({keys[i], made[i], static_cast<int>(graph.nodes.size()), static_cast<int>(i)});
    }
    graph.nodes.push_back(std::move(node));
    return values;
}

void GraphBuilder::require_shape(Value value, int rows, int columns) const {
    const Shape& is = shape(value);
    if (is.rows == rows && is.columns == columns) return;
    std::string needs = must_be(rows, columns);
    const auto* custom = std::get_if<op::Custom>(&graph.op_of(at(value)));
    if (custom && may_be_decimal_commas(*custom->values, rows, columns))
        needs += " (commas were read as separators: write decimals with a point)";
    refuse_shape(name(value), is.rows, is.columns, needs);
}

void GraphBuilder::may_override(CustomName name, int rows, int columns) {
    if (std::ranges::find(graph.overridable, name.text(), &Overridable::name) == graph.overridable.end())
        graph.overridable.push_back({std::string(name.text()), rows, columns});
}

Value GraphBuilder::custom(StageKey key, const CustomMatrix& matrix, bool has_heads) {
    Shape shape =
        op::matrix(static_cast<int>(matrix.values().rows()), static_cast<int>(matrix.values().cols()));
    shape.per_head = has_heads;
    return add(key, op::Custom{matrix.shared(), shape});
}

Value GraphBuilder::linear(StageKey key, Value x, Value W, Value b) {
    const Shape &in = shape(x), &weight = shape(W);
    if (weight.columns != in.columns)
        refuse_shape(name(W), weight.rows, weight.columns, fmt::format("needs {} columns", in.columns));
    if (b) require_shape(b, 1, weight.rows);
    return add(key, op::Linear{}, {x, W, b});
}

std::string must_be(Eigen::Index rows, Eigen::Index columns) {
    return fmt::format("must be {} × {}", rows, columns);
}

void refuse_shape(std::string_view what, Eigen::Index rows, Eigen::Index columns, const std::string& needs) {
    throw Error(ErrorKind::bad_input, fmt::format("{} is {} × {}, but {}", what, rows, columns, needs));
}

}  // namespace attnscope
