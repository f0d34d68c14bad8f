// Attention: from the inputs of the projections to the output.
#include "core/error.h"

#include <fmt/format.h>
#include "core/graph/stage_table.h"
#include "core/mechanism/attention/build.h"
#include "core/mechanism/attention/parts.h"
#include "core/op/normalizers.h"

namespace attnscope {

Graph AttentionBuilder::build() {
    read_tokens();
    count_tokens();
    embed();
    add_positions();
    normalize_first();
    project();
    split_heads();
    score();
    add_biases();
    mask();
    weigh();
    drop();
    sum_values();
    ablate();
    join_heads();
    surround();
    add_logits();
    add_loss();
    name_features();
    return std::move(builder_.graph);
}

/// Records that a projection of x to y, and y itself, may be overridden.
void AttentionBuilder::may_override_projection(const ProjectedInput& input, Value x, Value y) {
    const Shape& to = builder_.shape(y);
    builder_.may_override(input.name, to.rows, to.columns);
    if (!x) return;
    builder_.may_override(input.projection.W, to.columns, builder_.shape(x).columns);
    builder_.may_override(input.projection.b, 1, to.columns);
}

Value AttentionBuilder::projected(const ProjectedInput& input, Value x) {
    const auto& [W, b] = input.projection;
    if (is_custom(input.name)) return custom(input.name);
    if (e_.attention.projection == Projection::none && !is_custom(W))
        return builder_.add(input.stage, op::Identity{}, {x});
    const Value weight = parameter(W);
    return builder_.linear(input.stage, x, weight, bias(b));
}

void AttentionBuilder::project() {
    if (is_custom("scores")) {
        builder_.may_override("value", M_, value_columns());
        if (is_custom("value")) V_ = custom("value");
        return;
    }
    Q_ = projected(k_query_input, X_);
    K_ = projected(k_key_input, Y_);
    V_ = projected(k_value_input, Y_v_);
    may_override_projection(k_query_input, X_, Q_);
    may_override_projection(k_key_input, Y_, K_);
    may_override_projection(k_value_input, Y_v_, V_);
    const Shape q = builder_.shape(Q_), k = builder_.shape(K_);
    if (q.columns != k.columns && score_function(e_.attention.score).equal_widths)
        refuse_shape("key", k.rows, k.columns, fmt::format("needs {} columns, as the query has", q.columns));
}

Value AttentionBuilder::split(StageKey key, Value x, bool rotate) {
    const int columns = builder_.shape(x).columns;
    const std::string name(builder_.name(x));
    if (columns % e_.attention.heads != 0)
        throw Error(ErrorKind::bad_input,
                    fmt::format("heads {} does not divide the {} columns of {}: use a divisor",
                                e_.attention.heads, columns, name));
    op::SplitHeads split{e_.attention.heads};
    if (rotate) {
        if (const std::string why = why_rope_does_not_fit(columns / e_.attention.heads); !why.empty())
            throw Error(ErrorKind::bad_input, why);
        split.rotary = e_.attention.rope_layout;
    }
    return builder_.add(key, split, {x});
}

void AttentionBuilder::split_heads() {
    if (is_custom("scores")) return;
    const bool rotate = position_rule(e_.attention.position).rotates;
    if (e_.attention.heads == 1 && !rotate) return;
    Q_ = split("query_heads"_stage, Q_, rotate);
    K_ = split("key_heads"_stage, K_, rotate);
    V_ = split("value_heads"_stage, V_, false);
}

Value AttentionBuilder::scored() {
    if (is_custom("scores")) {
        if (e_.attention.heads > 1)
            throw Error(ErrorKind::bad_input,
                        fmt::format("scores are custom for one head, but heads is {}: use heads 1",
                                    e_.attention.heads));
        if (e_.attention.scale.kind == Scale::Kind::sqrt)
            throw Error(ErrorKind::bad_input,
                        "scale sqrt needs keys, but the scores are custom: use none or a number");
        return custom("scores", true);
    }
    builder_.may_override("scores", N_, M_);
    const ScoreFunction& function = score_function(e_.attention.score);
    std::vector<Value> parameters;
    for (const ScoreParameter& each : function.parameters) {
        Value& value = parameters.emplace_back();
        builder_.may_override(each.name, each.rows(score_sizes()), each.columns(score_sizes()));
        if (!each.drawn && !is_custom(each.name)) continue;
        value = parameter(each.name);
        builder_.require_shape(value, each.rows(score_sizes()), each.columns(score_sizes()));
    }
    return function.add(builder_, {Q_, K_, parameters, e_.attention});
}

void AttentionBuilder::score() {
    scores_ = scored();
    const int d_k = K_ ? builder_.shape(K_).columns : 1;
    scaled_ =
        builder_.add("scaled"_stage, op::Scale{e_.attention.scale, d_k, e_.weighting.temperature}, {scores_});
}

/// The bias on the scaled scores: ALiBi's distances, a custom matrix, or both.
void AttentionBuilder::add_biases() {
    Value alibi, given;
    if (position_rule(e_.attention.position).biases) alibi = add_alibi(builder_, e_, N_, M_);
    builder_.may_override("mask_additive", N_, M_);
    if (is_custom("mask_additive")) {
        given = custom("mask_additive");
        builder_.require_shape(given, N_, M_);
    }
    if (alibi || given) scaled_ = builder_.add("biased"_stage, op::AddBias{}, {scaled_, alibi, given});
}

/// The center of each query's local window: N × 1 for local-m, h × N × 1 for local-p; absent otherwise.
Value AttentionBuilder::window_centers() {
    switch (normalizer_of(e_.weighting.normalizer).window) {
        case Normalizer::Window::none: return {};
        case Normalizer::Window::at_query: return builder_.add("center"_stage, op::QueryPlaces{N_});
        case Normalizer::Window::predicted: break;
    }
    if (!Q_)
        throw Error(ErrorKind::bad_input,
                    "normalizer local-p predicts from the queries, but the scores are custom: use another "
                    "normalizer");
    const int width = builder_.shape(Q_).columns;
    const Value W = parameter("W_p");
    if (builder_.shape(W).columns != width) builder_.require_shape(W, e_.weighting.hidden, width);
    const Value v = parameter("v_p");
    builder_.require_shape(v, 1, builder_.shape(W).rows);
    builder_.may_override("W_p", builder_.shape(W).rows, width);
    builder_.may_override("v_p", 1, builder_.shape(W).rows);
    return builder_.add("center"_stage, op::PredictedCenters{M_}, {Q_, W, v});
}

/// The pairs that the rules, a custom mask, a bias of −∞ and a local window all leave open.
void AttentionBuilder::mask() {
    centers_ = window_centers();
    const CustomMatrix* bias = e_.weights.find_custom("mask_additive");  // add_biases() has checked its size
    mask_ = add_mask(builder_, e_, N_, M_, centers_, bias ? bias->shared() : nullptr);
}

void AttentionBuilder::weigh() {
    masked_ = builder_.add("masked"_stage, op::MaskedFill{}, {scaled_, mask_});
    const Normalizer& rule = normalizer_of(e_.weighting.normalizer);
    const Op normalize = rule.op(rule.has_axis ? e_.attention.softmax_axis : SoftmaxAxis::keys);
    if (!predicts_window(rule.choice)) {
        weights_ = builder_.add("weights"_stage, normalize, {masked_});
        return;
    }
    const Value align = builder_.add("align"_stage, normalize, {masked_});
    const Value gauss =
        builder_.add("gauss"_stage, op::GaussianWindow{M_, e_.weighting.local_window}, {centers_});
    weights_ = builder_.add("weights"_stage, op::ApplyWindow{}, {align, gauss});
}

void AttentionBuilder::drop() {
    const Shape shape = builder_.shape(weights_);
    if (e_.attention.training) builder_.may_override("dropout_keep", shape.heads * N_, M_);
    const CustomMatrix* given = e_.weights.find_custom("dropout_keep");
    if (!e_.attention.training || (e_.attention.dropout == 0 && !given)) return;
    Op keep = op::DropoutMask{e_.attention.dropout_seed, e_.attention.dropout, shape};
    if (given) {
        const Matrix& matrix = given->values();
        if (matrix.rows() != Eigen::Index{shape.heads} * N_ || matrix.cols() != M_)
            refuse_shape("dropout_keep", matrix.rows(), matrix.cols(),
                         must_be(Eigen::Index{shape.heads} * N_, M_));
        keep = op::Custom{given->shared(), shape};
    }
    const Value kept = builder_.add("dropout_keep"_stage, std::move(keep));
    weights_ = builder_.add("weights_dropped"_stage,
                            op::Dropout{static_cast<float>(1 - e_.attention.dropout)}, {weights_, kept});
}

void AttentionBuilder::sum_values() {
    if (!V_) return;
    const Shape v = builder_.shape(V_);
    if (v.rows != M_) refuse_shape("value", v.rows, v.columns, fmt::format("needs {} rows, one per key", M_));
    output_ = context_ = builder_.add("context"_stage, op::WeightedSum{}, {weights_, masked_, V_});
}

void AttentionBuilder::ablate() {
    const std::vector<int> ablated = ablated_heads(e_);
    if (!context_ || ablated.empty()) return;
    const op::Ablate ablate{ablated, builder_.shape(context_).heads, e_.attention.ablation};
    output_ = builder_.add("ablated"_stage, ablate, {context_});
}

void AttentionBuilder::join_heads() {
    if (!context_) return;
    if (e_.attention.heads > 1) output_ = builder_.add("concat"_stage, op::JoinHeads{}, {output_});
    builder_.may_override("W_o", e_.input.dim, builder_.shape(output_).columns);
    if (!e_.attention.output_projection && !is_custom("W_o")) return;
    const Value W = parameter("W_o");
    const int width = builder_.shape(output_).columns, drawn = builder_.shape(W).columns;
    if (width != drawn && !is_custom("W_o"))
        throw Error(
            ErrorKind::bad_input,
            fmt::format("value has {} columns and projection {} draws a W_o for {}: set a W_o with {} "
                        "columns, or choose another projection",
                        width, name_of(e_.attention.projection), drawn, width));
    output_ = builder_.linear("output"_stage, output_, W, bias("b_o"));
    builder_.may_override("b_o", 1, builder_.shape(output_).columns);
}

}  // namespace attnscope
