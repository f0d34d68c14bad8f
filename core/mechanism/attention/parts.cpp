#include "core/mechanism/attention/parts.h"

#include <utility>

#include "core/experiment/masks.h"
#include "core/graph/stage_table.h"
#include "core/op/op.h"

namespace attnscope {

Value add_mask(GraphBuilder& builder, const Experiment& e, int queries, int keys, Value centers,
               std::shared_ptr<const Matrix> bias) {
    builder.may_override("mask", queries, keys);
    for (const MaskRule& rule : e.weighting.mask) mask_kind(rule.kind).check_fit(rule, queries);
    const CustomMatrix* given = e.weights.find_custom("mask");
    if (given && (given->values().rows() != queries || given->values().cols() != keys))
        refuse_shape("mask", given->values().rows(), given->values().cols(), must_be(queries, keys));
    const op::Mask mask{.queries = queries,
                        .keys = keys,
                        .rules = e.weighting.mask,
                        .window = centers ? e.weighting.local_window : 0,
                        .custom = given ? given->shared() : nullptr,
                        .bias = std::move(bias)};
    return builder.add("mask"_stage, mask, {centers});
}

Value add_alibi(GraphBuilder& builder, const Experiment& e, int queries, int keys) {
    const Value slopes = builder.add("slopes"_stage, op::AlibiSlopes{e.attention.heads});
    return builder.add("bias"_stage, op::AlibiBias{queries, keys}, {slopes});
}

Value add_feed_forward(GraphBuilder& builder, const Experiment& e, int layer, Value x,
                       const FeedForward& parameters) {
    const auto key = [&](const StageInfo* stage) { return StageKey{stage, layer}; };
    const Value hidden = builder.linear(key("feed_forward_hidden"_stage), x, parameters.W_1, parameters.b_1);
    const Value active =
        builder.add(key("feed_forward_active"_stage), op::Activate{e.attention.activation}, {hidden});
    return builder.linear(key("feed_forward"_stage), active, parameters.W_2, parameters.b_2);
}

}  // namespace attnscope
