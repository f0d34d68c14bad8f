// The parameters of attention: given, or drawn together with their sisters.
#include "core/attention/evaluation.h"
#include "core/attention/normalizers.h"

namespace attnscope {
namespace {

int hidden_rows(const ScoreSizes& sizes) { return sizes.hidden; }
int query_columns(const ScoreSizes& sizes) { return sizes.query; }
int one_row(const ScoreSizes&) { return 1; }

bool predicts_window(const Experiment& e) {
    return normalizer_of(e.normalizer).window == Normalizer::Window::predicted;
}

}  // namespace

/// The table as `generator` draws it, where it is drawn as a whole.
void AttentionEvaluation::draw_own_table(Generator& generator) const {
    if (!vocabulary_rule(e_.vocabulary).stable && table_rows_ > 0)
        draw_table(generator, table_rows_, e_.dim, initializer_of(e_.embedding));
}

Generator AttentionEvaluation::image_generator() const {
    Generator generator(e_.image_seed.kind == ProjectionSeed::Kind::own ? e_.image_seed.seed : e_.seed);
    if (e_.image_seed.kind == ProjectionSeed::Kind::proceed) draw_own_table(generator);
    return generator;
}

std::string AttentionEvaluation::image_settings() const {
    return settings(e_.dim, e_.patch_columns()) + seed_settings(e_.image_seed, table_settings());
}

/// nn.Linear's weight, d × 3·patch².
StagePtr AttentionEvaluation::patch_weight() {
    if (is_given("W_patch")) return given("W_patch");
    return build_.stage("W_patch", {}, image_settings(), [&] {
        Generator generator = image_generator();
        return as_tensor(draw_linear(generator, e_.dim, e_.patch_columns()));
    });
}

Generator AttentionEvaluation::projection_generator() const {
    if (e_.projection_seed.kind == ProjectionSeed::Kind::proceed && pictured_) {
        Generator generator = image_generator();
        draw_linear(generator, e_.dim, e_.patch_columns());
        return generator;
    }
    Generator generator(e_.projection_seed.kind == ProjectionSeed::Kind::own ? e_.projection_seed.seed
                                                                             : e_.seed);
    if (e_.projection_seed.kind == ProjectionSeed::Kind::proceed) draw_own_table(generator);
    return generator;
}

Generator AttentionEvaluation::score_generator() {
    if (e_.score_seed.kind != ProjectionSeed::Kind::proceed)
        return Generator(e_.score_seed.kind == ProjectionSeed::Kind::own ? e_.score_seed.seed : e_.seed);
    Generator generator = projection_generator();
    if (e_.projection != Projection::none) {
        projection_rule(e_.projection).draw(generator, projection_sizes());
    } else if (e_.output_projection) {
        draw_linear(generator, e_.dim, projection_sizes().value_out);
        if (e_.projection_bias) draw_linear_bias(generator, e_.dim, projection_sizes().value_out);
    }
    return generator;
}

Generator AttentionEvaluation::block_generator() {
    if (e_.block_seed.kind != ProjectionSeed::Kind::proceed)
        return Generator(e_.block_seed.kind == ProjectionSeed::Kind::own ? e_.block_seed.seed : e_.seed);
    Generator generator = score_generator();
    for (const ScoreParameter& parameter : score_parameters())
        if (parameter.drawn)
            draw_linear(generator, parameter.rows(score_sizes()), parameter.columns(score_sizes()));
    return generator;
}

std::string AttentionEvaluation::seed_settings(const ProjectionSeed& seed, const std::string& before) const {
    switch (seed.kind) {
        case ProjectionSeed::Kind::same: return settings("seed", e_.seed.text());
        case ProjectionSeed::Kind::own: return settings("seed", seed.seed.text());
        case ProjectionSeed::Kind::proceed: return settings("after", before);
    }
    return {};
}

ProjectionSizes AttentionEvaluation::projection_sizes() const {
    const auto columns = [&](const StagePtr& x) { return x ? x->shape().columns : e_.dim; };
    const bool projected = e_.projection != Projection::none;
    return {.query_in = columns(X_),
            .key_in = columns(Y_),
            .value_in = columns(Y_v_),
            .key_out = e_.key_columns(),
            .value_out = is_given("value") ? static_cast<int>(e_.given.at("value").values().cols())
                         : projected       ? e_.value_columns()
                                           : columns(Y_v_),
            .output_out = e_.dim,
            .with_output = e_.output_projection,
            .with_bias = e_.projection_bias};
}

std::string AttentionEvaluation::projection_settings() const {
    const ProjectionSizes s = projection_sizes();
    return settings(e_.projection, s.query_in, s.key_in, s.value_in, s.key_out, s.value_out, s.output_out,
                    s.with_bias) +
           seed_settings(e_.projection_seed, pictured_ ? image_settings() : table_settings());
}

const ProjectionWeights& AttentionEvaluation::drawn_projections() {
    if (drawn_projections_) return *drawn_projections_;
    Generator generator = projection_generator();
    ProjectionSizes sizes = projection_sizes();
    sizes.with_output = true;  // the last one drawn, or drawn in any case
    if (e_.projection != Projection::none) {
        drawn_projections_ = projection_rule(e_.projection).draw(generator, sizes);
    } else {
        drawn_projections_.emplace();
        drawn_projections_->W_o = draw_linear(generator, sizes.output_out, sizes.value_out);
        if (sizes.with_bias)
            drawn_projections_->b_o = draw_linear_bias(generator, sizes.output_out, sizes.value_out);
    }
    return *drawn_projections_;
}

StagePtr AttentionEvaluation::projection_weight(const std::string& name, Matrix ProjectionWeights::*member) {
    if (is_given(name)) return given(name);
    return build_.stage(name, {}, projection_settings(),
                        [&] { return as_tensor(drawn_projections().*member); });
}

StagePtr AttentionEvaluation::projection_bias(const std::string& name, Matrix ProjectionWeights::*member) {
    if (is_given(name)) return given(name);
    if (!e_.projection_bias) return nullptr;
    if (e_.projection == Projection::none && name != "b_o") return nullptr;
    return build_.stage(name, {}, projection_settings(),
                        [&] { return as_tensor(drawn_projections().*member); });
}

ScoreSizes AttentionEvaluation::score_sizes() const {
    return {.query = Q_->shape().columns, .key = K_->shape().columns, .keys = M_, .hidden = e_.hidden};
}

/// The score function's, then local-p's.
std::vector<ScoreParameter> AttentionEvaluation::score_parameters() const {
    if (!Q_ || !K_) return {};
    const auto of_function = score_function(e_.score).parameters;
    std::vector<ScoreParameter> parameters(of_function.begin(), of_function.end());
    if (predicts_window(e_)) {
        parameters.push_back({"W_p", hidden_rows, query_columns});
        parameters.push_back({"v_p", one_row, hidden_rows});
    }
    return parameters;
}

std::string AttentionEvaluation::score_settings() const {
    std::string text = seed_settings(e_.score_seed, projection_settings() + settings(e_.output_projection));
    for (const ScoreParameter& parameter : score_parameters())
        text += settings(parameter.name, parameter.rows(score_sizes()), parameter.columns(score_sizes()));
    return text;
}

const std::map<std::string, Matrix>& AttentionEvaluation::drawn_score_weights() {
    if (!drawn_score_weights_.empty()) return drawn_score_weights_;
    Generator generator = score_generator();
    for (const ScoreParameter& parameter : score_parameters())
        if (parameter.drawn)
            drawn_score_weights_.emplace(parameter.name, draw_linear(generator, parameter.rows(score_sizes()),
                                                                     parameter.columns(score_sizes())));
    return drawn_score_weights_;
}

StagePtr AttentionEvaluation::score_weight(const ScoreParameter& parameter) {
    const std::string name(parameter.name);
    if (is_given(name)) return given(name);
    if (!parameter.drawn) return nullptr;
    return build_.stage(name, {}, score_settings(),
                        [&] { return as_tensor(drawn_score_weights().at(name)); });
}

/// nn.Linear's W_1, b_1, W_2, b_2, one after the other.
const std::map<std::string, Matrix>& AttentionEvaluation::drawn_block_weights() {
    if (!drawn_block_weights_.empty()) return drawn_block_weights_;
    Generator generator = block_generator();
    const int d = x_->shape().columns, hidden = e_.feed_forward_columns();
    drawn_block_weights_.emplace("W_1", draw_linear(generator, hidden, d));
    drawn_block_weights_.emplace("b_1", draw_linear_bias(generator, hidden, d));
    drawn_block_weights_.emplace("W_2", draw_linear(generator, d, hidden));
    drawn_block_weights_.emplace("b_2", draw_linear_bias(generator, d, hidden));
    return drawn_block_weights_;
}

StagePtr AttentionEvaluation::block_weight(const std::string& name, int rows, int columns) {
    if (is_given(name)) return given(name);
    if (name.starts_with("ln"))
        return build_.stage(name, {}, settings(columns), [&] {
            return as_tensor(Matrix::Constant(1, columns, name.ends_with("g") ? 1.0f : 0.0f));
        });
    const std::string text = settings(rows, columns, x_->shape().columns, e_.feed_forward_columns()) +
                             seed_settings(e_.block_seed, score_settings());
    return build_.stage(name, {}, text, [&] { return as_tensor(drawn_block_weights().at(name)); });
}

}  // namespace attnscope
