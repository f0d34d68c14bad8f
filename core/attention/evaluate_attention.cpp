// From queries, keys and values to the context.
#include <cmath>

#include "core/attention/evaluation.h"
#include "core/attention/masks.h"
#include "core/attention/normalizers.h"
#include "core/attention/positions.h"
#include "core/cpu/kernels.h"
#include "core/error.h"

namespace attnscope {
namespace {

/// What a tanh, or a cell of the window's gauss, takes in multiply-adds, roughly.
constexpr double k_tanh_work = 16;

Shape per_head(int heads, int rows, int columns, int depth = 1) {
    return {.heads = heads, .rows = rows, .columns = columns, .per_head = true, .depth = depth};
}

}  // namespace

ScoreInputs AttentionEvaluation::score_inputs(const std::map<std::string_view, StagePtr>& parameters,
                                              RowBlock block) const {
    ScoreInputs inputs{block.of(values(Q_, block.head)), values(K_, block.head), e_.sharpening};
    for (const auto& [name, stage] : parameters) inputs.parameters.emplace(name, values(stage));
    return inputs;
}

void AttentionEvaluation::score() {
    if (is_given("scores")) {
        if (e_.heads > 1)
            throw Error(ErrorKind::bad_input, "scores are given for one head and heads is " +
                                                  std::to_string(e_.heads) + ": use heads 1");
        if (e_.scale.kind == Scale::Kind::sqrt)
            throw Error(ErrorKind::bad_input,
                        "scale sqrt needs keys and the scores are given: use none or a number");
        scores_ = given("scores", true);
    } else {
        const ScoreFunction& function = score_function(e_.score);
        std::map<std::string_view, StagePtr> parameters;
        std::vector<StagePtr> inputs{Q_, K_};
        for (const ScoreParameter& parameter : function.parameters)
            if (const StagePtr stage = score_weight(parameter)) {
                require_shape(*stage, parameter.rows(score_sizes()), parameter.columns(score_sizes()));
                inputs.push_back(parameters[parameter.name] = stage);
            }
        const double work = K_->shape().columns;
        StagePtr before;
        if (!function.before.empty()) {
            const int depth = function.before == "score_hidden" ? e_.hidden : 1;
            before = build_.stage(
                function.before, inputs, settings(e_.score), per_head(e_.heads, N_, M_ * depth, depth),
                step::Before{function.choice}, [&](Tensor& cells) {
                    for_row_blocks(row_loop(cells.shape(), k_tanh_work), [&](RowBlock block) {
                        function.compute_before(score_inputs(parameters, block),
                                                block.of(cells.head(block.head)));
                    });
                });
            inputs.push_back(before);
        }
        const step::Score scored{function.choice, static_cast<float>(e_.sharpening)};
        const Shape shape = per_head(e_.heads, N_, M_);
        scores_ = build_.stage(
            "scores", inputs, settings(e_.score, e_.sharpening), shape, scored, [&](Tensor& scores) {
                for_row_blocks(row_loop(scores.shape(), work), [&](RowBlock block) {
                    const ConstMatrixView cells =
                        before ? block.of(values(before, block.head)) : ConstMatrixView(nullptr, 0, 0);
                    function.compute(score_inputs(parameters, block), cells,
                                     block.of(scores.head(block.head)));
                });
            });
    }
    const auto factor = static_cast<float>(e_.scale.factor(K_ ? K_->shape().columns : 1));
    const auto temperature = static_cast<float>(e_.temperature);
    const step::Scale scale{factor, temperature};
    scaled_ = build_.stage("scaled", {scores_}, settings(factor, temperature), scores_->shape(), scale,
                           [&](Tensor& scaled) {
                               for_row_blocks(row_loop(scaled.shape(), 1), [&](RowBlock block) {
                                   scale_rows(block.of(values(scores_, block.head)), factor, temperature,
                                              block.of(scaled.head(block.head)));
                               });
                           });
}

/// What is added to the scaled scores: ALiBi's distances, a given matrix, or both.
void AttentionEvaluation::add_biases() {
    StagePtr bias, given_bias;
    std::vector<StagePtr> inputs{scaled_};
    if (e_.position == Position::alibi) {
        const StagePtr slopes = build_.stage("slopes", {}, settings(e_.heads), [&] {
            Tensor slope({.heads = 1, .rows = e_.heads, .columns = 1});
            for (int h = 0; h < e_.heads; ++h)
                slope.head(0)(h, 0) = static_cast<float>(alibi_slope(h, e_.heads));
            return slope;
        });
        bias = build_.stage("bias", {slopes}, settings(N_, M_), per_head(e_.heads, N_, M_), step::Alibi{},
                            [&](Tensor& distances) {
                                for (int h = 0; h < e_.heads; ++h)
                                    alibi_bias(alibi_slope(h, e_.heads), distances.head(h));
                            });
        inputs.push_back(bias);
    }
    if (is_given("mask_additive")) {
        given_bias = given("mask_additive");
        require_shape(*given_bias, N_, M_);
        inputs.push_back(given_bias);
    }
    if (inputs.size() == 1) return;
    scaled_ = build_.stage("biased", inputs, {}, scaled_->shape(), step::Sum{}, [&](Tensor& biased) {
        for_row_blocks(row_loop(biased.shape(), 1), [&](RowBlock block) {
            MatrixView rows = block.of(biased.head(block.head));
            rows = block.of(values(scaled_, block.head));
            if (bias) rows += block.of(values(bias, block.head));
            if (given_bias) rows += block.of(values(given_bias));
        });
    });
}

/// Where each query's local window stands: N × 1 for local-m, h × N × 1 for local-p; nullptr without one.
StagePtr AttentionEvaluation::window_centers() {
    const Normalizer::Window window = normalizer_of(e_.normalizer).window;
    if (window == Normalizer::Window::none) return nullptr;
    if (window == Normalizer::Window::at_query)
        return build_.stage("center", {}, settings(N_), [&] {
            Tensor centers({.heads = 1, .rows = N_, .columns = 1});
            for (int i = 0; i < N_; ++i) centers.head(0)(i, 0) = static_cast<float>(i);
            return centers;
        });
    if (!Q_)
        throw Error(ErrorKind::bad_input,
                    "normalizer local-p predicts from queries and the scores are given: use another one");
    std::map<std::string_view, StagePtr> weights;
    for (const ScoreParameter& parameter : score_parameters())
        if (parameter.name == "W_p" || parameter.name == "v_p") {
            const StagePtr stage = weights[parameter.name] = score_weight(parameter);
            if (parameter.name == "W_p" && stage->shape().columns != Q_->shape().columns)
                require_shape(*stage, e_.hidden, Q_->shape().columns);
        }
    const StagePtr W = weights.at("W_p"), v = weights.at("v_p");
    require_shape(*v, 1, W->shape().rows);
    return build_.stage("center", {Q_, W, v}, settings(M_), per_head(e_.heads, N_, 1), step::Center{M_},
                        [&](Tensor& centers) {
                            for (int h = 0; h < e_.heads; ++h)
                                predicted_centers(values(Q_, h), values(W), values(v), M_, centers.head(h));
                        });
}

/// Which pairs the rules, a given mask, a closing bias and a local window all leave open. N × M, or one for
/// each head where each predicts its own window.
void AttentionEvaluation::mask() {
    centers_ = window_centers();
    std::string text = settings(N_, M_);
    for (const MaskRule& rule : e_.mask) text += settings(mask_rule_text(rule));
    std::vector<StagePtr> inputs;
    step::Open step{e_.mask, e_.local_window, nullptr, nullptr};
    const auto take_given = [&](const char* name, const Matrix*& matrix) {
        if (!is_given(name)) return;
        matrix = &e_.given.at(name).values();
        if (matrix->rows() != N_ || matrix->cols() != M_)
            refuse_shape(name, matrix->rows(), matrix->cols(),
                         std::to_string(N_) + " × " + std::to_string(M_));
        text += settings(name, e_.given.at(name).identity());
    };
    take_given("mask", step.open);
    take_given("mask_additive", step.bias);
    if (centers_) {
        text += settings("within", e_.local_window);
        inputs.push_back(centers_);
    }
    const int heads = centers_ ? centers_->shape().heads : 1;
    const Shape shape{.heads = heads, .rows = N_, .columns = M_, .per_head = heads > 1};
    mask_ = build_.stage("mask", inputs, text, shape, step, [&](Tensor& open) {
        const Tensor rules = mask_matrix(e_.mask, N_, M_);
        for (int h = 0; h < heads; ++h) {
            MatrixView head = open.head(h);
            head = rules.head(0);
            const auto close_where = [&](const auto& closed) {
                for (int i = 0; i < N_; ++i)
                    for (int j = 0; j < M_; ++j)
                        if (closed(i, j)) head(i, j) = 0;
            };
            if (step.open) close_where([&](int i, int j) { return (*step.open)(i, j) == 0; });
            if (step.bias) close_where([&](int i, int j) { return (*step.bias)(i, j) == -INFINITY; });
            if (!centers_) continue;
            close_where([&](int i, int j) {
                // A centre that is NaN is near nothing.
                return !(std::abs(j - static_cast<double>(values(centers_, h)(i, 0))) <= e_.local_window);
            });
        }
    });
}

void AttentionEvaluation::weigh() {
    masked_ =
        build_.stage("masked", {scaled_, mask_}, {}, scaled_->shape(), step::Close{}, [&](Tensor& masked) {
            const int last_mask = mask_->shape().heads - 1;
            for_row_blocks(row_loop(masked.shape(), 1), [&](RowBlock block) {
                mask_rows(block.of(values(scaled_, block.head)),
                          block.of(values(mask_, std::min(block.head, last_mask))),
                          block.of(masked.head(block.head)));
            });
        });
    const Normalizer& normalizer = normalizer_of(e_.normalizer);
    const bool over_queries = e_.over_queries();
    const auto normalized = [&](Tensor& weights) {
        if (over_queries) {
            for (int h = 0; h < e_.heads; ++h) softmax_over_queries(values(masked_, h), weights.head(h));
            return;
        }
        for_row_blocks(row_loop(weights.shape(), k_softmax_work), [&](RowBlock block) {
            normalizer.compute(block.of(values(masked_, block.head)), block.of(weights.head(block.head)));
        });
    };
    const std::string text = settings(e_.normalizer, over_queries);
    const Step normalize =
        e_.normalizer == Normalization::hard ? Step(step::Hard{}) : Step(step::Softmax{over_queries});
    if (normalizer.window != Normalizer::Window::predicted) {
        weights_ = build_.stage("weights", {masked_}, text, masked_->shape(), normalize, normalized);
        return;
    }
    const StagePtr align = build_.stage("align", {masked_}, text, masked_->shape(), normalize, normalized);
    const step::Gauss bell{e_.local_window};
    const Shape shape = per_head(e_.heads, N_, M_);
    const StagePtr gauss =
        build_.stage("gauss", {centers_}, settings(M_, e_.local_window), shape, bell, [&](Tensor& bells) {
            for_row_blocks(row_loop(bells.shape(), k_tanh_work), [&](RowBlock block) {
                const ConstMatrixView centers = block.of(values(centers_, block.head));
                MatrixView rows = block.of(bells.head(block.head));
                for (Eigen::Index i = 0; i < rows.rows(); ++i)
                    for (int j = 0; j < M_; ++j)
                        rows(i, j) = static_cast<float>(window_gauss(centers(i, 0), j, e_.local_window));
            });
        });
    weights_ =
        build_.stage("weights", {align, gauss}, {}, align->shape(), step::Bend{}, [&](Tensor& weights) {
            const auto softmax = align->buffer.host().values(), bells = gauss->buffer.host().values();
            for (std::size_t i = 0; i < weights.values().size(); ++i)
                weights.values()[i] = softmax[i] == 0 ? 0 : softmax[i] * bells[i];
        });
}

/// Dropout in training: each weight is kept with probability 1 − p and then divided by it
/// (Srivastava et al. 2014, inverted as torch.nn.functional.dropout does).
void AttentionEvaluation::drop() {
    if (!e_.training || (e_.dropout == 0 && !is_given("dropout_keep"))) return;
    const Shape shape = weights_->shape();
    StagePtr keep;
    if (is_given("dropout_keep")) {
        const Matrix& matrix = e_.given.at("dropout_keep").values();
        if (matrix.rows() != Eigen::Index{shape.heads} * N_ || matrix.cols() != M_)
            refuse_shape("dropout_keep", matrix.rows(), matrix.cols(),
                         std::to_string(shape.heads * N_) + " × " + std::to_string(M_));
        keep =
            build_.stage("dropout_keep", {}, settings("given", e_.given.at("dropout_keep").identity()), [&] {
                Tensor cells(shape);
                std::copy_n(matrix.data(), matrix.size(), cells.values().data());
                return cells;
            });
    } else {
        keep = build_.stage("dropout_keep", {},
                            settings(e_.dropout_seed.text(), e_.dropout, shape.heads, N_, M_), [&] {
                                Tensor cells(shape);
                                Generator(e_.dropout_seed).bernoulli(cells.values(), 1 - e_.dropout);
                                return cells;
                            });
    }
    const auto kept = static_cast<float>(1 - e_.dropout);
    weights_ = build_.stage(
        "weights_dropped", {weights_, keep}, settings(kept), shape, step::Drop{kept}, [&](Tensor& dropped) {
            for (std::size_t i = 0; i < dropped.values().size(); ++i)
                dropped.values()[i] =
                    weights_->buffer.host().values()[i] * keep->buffer.host().values()[i] / kept;
        });
}

void AttentionEvaluation::sum_values() {
    if (!V_) return;
    const Shape v = V_->shape();
    if (v.rows != M_)
        refuse_shape("value", v.rows, v.columns, std::to_string(M_) + " rows, one for each key,");
    const Shape shape = per_head(e_.heads, N_, v.columns);
    context_ =
        build_.stage("context", {weights_, masked_, V_}, {}, shape, step::Context{}, [&](Tensor& context) {
            std::vector<bool> finite;
            for (int h = 0; h < e_.heads; ++h)
                finite.push_back(all_finite({values(V_, h).data(), v.head_size()}));
            for_row_blocks(row_loop(context.shape(), M_), [&](RowBlock block) {
                const int h = block.head;
                const ConstMatrixView weights = block.of(values(weights_, h));
                MatrixView sums = block.of(context.head(h));
                if (finite[static_cast<std::size_t>(h)])
                    product(weights, values(V_, h), sums);
                else
                    sum_open(weights, block.of(values(masked_, h)), values(V_, h), sums);
            });
        });
    output_ = context_;
}

void AttentionEvaluation::join_heads() {
    if (!context_) return;
    if (e_.heads > 1) {
        const int width = context_->shape().columns;
        const Shape shape{.heads = 1, .rows = N_, .columns = width * e_.heads};
        output_ = build_.stage("concat", {context_}, {}, shape, step::Join{}, [&](Tensor& concat) {
            for (int h = 0; h < e_.heads; ++h)
                concat.head(0).middleCols(h * width, width) = values(context_, h);
        });
    }
    if (e_.output_projection || is_given("W_o")) {
        const StagePtr W = projection_weight("W_o", &ProjectionWeights::W_o);
        const int width = output_->shape().columns, drawn = W->shape().columns;
        if (width != drawn && !is_given("W_o"))
            throw Error(ErrorKind::bad_input, "value has " + std::to_string(width) +
                                                  " columns and projection " +
                                                  std::string(name_of(e_.projection)) + " draws a W_o for " +
                                                  std::to_string(drawn) + ": give W_o as out × " +
                                                  std::to_string(width) + ", or choose another projection");
        output_ = linear("output", output_, W, projection_bias("b_o", &ProjectionWeights::b_o));
    }
}

}  // namespace attnscope
