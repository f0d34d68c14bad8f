// Queries, keys and values, and their heads.
#include "core/attention/evaluation.h"
#include "core/attention/positions.h"
#include "core/cpu/kernels.h"
#include "core/error.h"

namespace attnscope {

/// x Wᵀ + b (torch.nn.Linear); x n × in, W out × in, b 1 × out or absent.
StagePtr AttentionEvaluation::linear(const std::string& name, const StagePtr& x, const StagePtr& W,
                                     const StagePtr& b) {
    const int in = x->shape().columns;
    const int out = W->shape().rows;
    if (W->shape().columns != in)
        refuse_shape(W->name(), out, W->shape().columns, "out × " + std::to_string(in));
    if (b) require_shape(*b, 1, out);
    std::vector<StagePtr> inputs{x, W};
    if (b) inputs.push_back(b);
    const Shape shape{.heads = 1, .rows = x->shape().rows, .columns = out};
    return build_.stage(name, std::move(inputs), {}, shape, step::Linear{}, [&](Tensor& y) {
        for_row_blocks(row_loop(y.shape(), in), [&](RowBlock block) {
            MatrixView rows = block.of(y.head(0));
            product_transposed(block.of(values(x)), values(W), rows);
            if (b) rows.rowwise() += values(b).row(0);
        });
    });
}

StagePtr AttentionEvaluation::projected(const std::string& name, const std::string& letter, const StagePtr& x,
                                        Matrix ProjectionWeights::*W, Matrix ProjectionWeights::*b) {
    if (is_given(name)) return given(name);
    if (e_.projection == Projection::none && !is_given("W_" + letter))
        return build_.stage(name, {x}, {}, x->shape(), step::Sum{},
                            [&](Tensor& same) { same.head(0) = values(x); });
    const StagePtr weight = projection_weight("W_" + letter, W);
    return linear(name, x, weight, projection_bias("b_" + letter, b));
}

void AttentionEvaluation::project() {
    if (is_given("scores")) {
        if (is_given("value")) V_ = given("value");
        return;
    }
    Q_ = projected("query", "q", X_, &ProjectionWeights::W_q, &ProjectionWeights::b_q);
    K_ = projected("key", "k", Y_, &ProjectionWeights::W_k, &ProjectionWeights::b_k);
    V_ = projected("value", "v", Y_v_, &ProjectionWeights::W_v, &ProjectionWeights::b_v);
    const Shape q = Q_->shape(), k = K_->shape();
    if (q.columns != k.columns && score_function(e_.score).equal_widths)
        refuse_shape("key", k.rows, k.columns, "rows × " + std::to_string(q.columns));
}

/// x N × d → h × N × d/h: head h takes columns h·d/h … (h+1)·d/h − 1 (Vaswani et al. 2017, §3.2.2). With
/// `rotate` each head's rows are then turned by their positions.
StagePtr AttentionEvaluation::split(const std::string& name, const StagePtr& x, bool rotate) {
    const int columns = x->shape().columns;
    if (columns % e_.heads != 0)
        throw Error(ErrorKind::bad_input, "heads " + std::to_string(e_.heads) + " does not divide the " +
                                              std::to_string(columns) + " columns of " +
                                              std::string(x->name()) + ": use a divisor");
    const int width = columns / e_.heads;
    if (rotate && width % 2 != 0)
        throw Error(ErrorKind::bad_input, "position rope turns pairs of features and a head of " +
                                              std::string(x->name()) + " has " + std::to_string(width) +
                                              ": use an even d_k");
    const Shape shape{.heads = e_.heads, .rows = x->shape().rows, .columns = width, .per_head = true};
    const auto layout = rotate ? std::optional(e_.rope_layout) : std::nullopt;
    return build_.stage(
        name, {x}, settings(e_.heads, layout ? name_of(*layout) : ""), shape, step::Split{layout},
        [&](Tensor& heads) {
            for (int h = 0; h < e_.heads; ++h) {
                MatrixView head = heads.head(h);
                head = values(x).middleCols(h * width, width);
                if (!rotate) continue;
                const Matrix straight = head;
                rotate_positions({straight.data(), straight.rows(), straight.cols()}, *layout, head);
            }
        });
}

void AttentionEvaluation::split_heads() {
    if (is_given("scores")) return;
    const bool rotate = e_.position == Position::rope;
    if (e_.heads == 1 && !rotate) return;
    Q_ = split("query_heads", Q_, rotate);
    K_ = split("key_heads", K_, rotate);
    V_ = split("value_heads", V_, false);
}

}  // namespace attnscope
