#include "core/graph/on_demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/graph/mask_cells.h"
#include "core/graph/softmax_cells.h"
#include "core/graph/stage_cells.h"
#include "core/graph/weighted_sum_cells.h"

namespace attnscope {

std::vector<bool> on_demand_values(const Graph& graph, const OnDemandSizes& sizes) {
    std::vector<bool> on_demand;
    for (const GraphValue& value : graph.values) {
        const GraphNode& node = graph.nodes[static_cast<std::size_t>(value.node)];
        const bool is_large = grows_with_pairs(*value.key.stage) &&
                              value.shape.head_size() > sizes.most_cells &&
                              !std::holds_alternative<op::Custom>(*node.op);
        const bool reads_one = std::ranges::any_of(
            node.inputs, [&](int input) { return on_demand[static_cast<std::size_t>(input)]; });
        on_demand.push_back(is_large || reads_one);
        // A mask with local windows is evaluated pair by pair.
        const bool has_windows = std::holds_alternative<op::Mask>(*node.op) && !node.inputs.empty();
        if (on_demand.back() && (has_windows || !has_cells(*node.op)))
            throw Error(
                ErrorKind::too_large,
                fmt::format(
                    "{} takes all pairs of {} × {} tokens at once, and up to {} pairs are supported: "
                    "shorten the text, or use a dot, general, cosine or rbf score and normalizer softmax "
                    "over the keys, without dropout, a block or mean ablation",
                    stage_name(value.key), graph.rows.size(),
                    graph.columns.empty() ? graph.rows.size() : graph.columns.size(), sizes.most_cells));
    }
    return on_demand;
}

std::shared_ptr<const OnDemandValues> compute_on_demand(std::shared_ptr<const Op> op,
                                                        std::vector<StagePtr> inputs, StagePtr mask,
                                                        const OnDemandSizes& sizes,
                                                        std::shared_ptr<RegionBackend> card) {
    std::vector<Shape> read;
    for (const StagePtr& input : inputs) read.push_back(input->shape());
    const Shape shape = shapes(*op, read).front();
    const bool is_mask = std::holds_alternative<op::Mask>(*op),
               is_softmax = std::holds_alternative<op::Softmax>(*op),
               is_sum = std::holds_alternative<op::WeightedSum>(*op);
    StageParts parts{std::move(op), std::move(inputs), shape, std::move(mask), sizes, std::move(card)};
    if (is_mask) return mask_cells(std::move(parts));
    if (is_softmax) return softmax_cells(std::move(parts));
    if (is_sum) return weighted_sum_cells(std::move(parts));
    return std::make_shared<const StageCells>(std::move(parts));
}

}  // namespace attnscope
