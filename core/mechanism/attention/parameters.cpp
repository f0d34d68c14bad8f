// The parameters of attention: custom, or drawn together with the others of their group.
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "core/graph/stage_table.h"
#include "core/mechanism/attention/build.h"
#include "core/op/normalizers.h"

namespace attnscope {
namespace {

int hidden_rows(const ScoreSizes& sizes) { return sizes.hidden; }
int query_columns(const ScoreSizes& sizes) { return sizes.query; }
int one_row(const ScoreSizes&) { return 1; }

/// What projection_draws() calls a parameter; nullopt for one that is not a projection's.
std::optional<ProjectionParameter> find_projection(CustomName name) {
    using enum ProjectionParameter;
    struct Row {
        CustomName name;
        ProjectionParameter parameter;
    };
    constexpr Row k_names[] = {{"W_q", W_q}, {"b_q", b_q}, {"W_k", W_k}, {"b_k", b_k},
                               {"W_v", W_v}, {"b_v", b_v}, {"W_o", W_o}, {"b_o", b_o}};
    const auto found = std::ranges::find(k_names, name, &Row::name);
    return found == std::end(k_names) ? std::nullopt : std::optional(found->parameter);
}

/// The stage of a matrix that can be overridden and is called as its stage is.
const StageInfo* stage_of(CustomName name) { return find_in_table(name.text()); }

}  // namespace

Value AttentionBuilder::custom(CustomName name, bool has_heads) {
    return builder_.custom(stage_of(name), *e_.weights.find_custom(name), has_heads);
}

Seed AttentionBuilder::seed_of(const ProjectionSeed& seed) const {
    return seed.kind == ProjectionSeed::Kind::own ? seed.seed : e_.weights.seed;
}

/// The embedding table, where it is drawn as a whole.
void AttentionBuilder::add_table_draw(Sequence& sequence) const {
    if (!vocabulary_rule(e_.input.vocabulary).stable && table_rows_ > 0)
        sequence.draws.push_back(Draw::by(e_.weights.embedding, table_rows_, e_.input.dim));
}

/// nn.Linear's weight, d × 3·patch².
Draw AttentionBuilder::patch_draw() const {
    return Draw::by(Initialization::linear, e_.input.dim, e_.input.patch_columns());
}

AttentionBuilder::Sequence AttentionBuilder::image_sequence() const {
    Sequence sequence{seed_of(e_.weights.image_seed), {}};
    if (e_.weights.image_seed.kind == ProjectionSeed::Kind::proceed) add_table_draw(sequence);
    sequence.draws.push_back(patch_draw());
    return sequence;
}

AttentionBuilder::Sequence AttentionBuilder::projection_start() const {
    const bool proceeds = e_.weights.projection_seed.kind == ProjectionSeed::Kind::proceed;
    if (proceeds && pictured_) return image_sequence();
    Sequence sequence{seed_of(e_.weights.projection_seed), {}};
    if (proceeds) add_table_draw(sequence);
    return sequence;
}

int AttentionBuilder::value_columns() const {
    if (const CustomMatrix* V = e_.weights.find_custom("value")) return static_cast<int>(V->values().cols());
    return e_.attention.projection != Projection::none ? e_.value_columns() : columns_of(Y_v_);
}

std::vector<ProjectionDraw> AttentionBuilder::projection_list(bool with_output) const {
    return projection_draws(e_.attention.projection, {.query_in = columns_of(X_),
                                                      .key_in = columns_of(Y_),
                                                      .value_in = columns_of(Y_v_),
                                                      .key_out = e_.key_columns(),
                                                      .value_out = value_columns(),
                                                      .output_out = e_.input.dim,
                                                      .with_output = with_output,
                                                      .with_bias = e_.attention.projection_bias});
}

AttentionBuilder::Sequence AttentionBuilder::score_start() const {
    if (e_.weights.score_seed.kind != ProjectionSeed::Kind::proceed)
        return {seed_of(e_.weights.score_seed), {}};
    Sequence sequence = projection_start();
    for (const ProjectionDraw& each : projection_list(e_.attention.output_projection))
        sequence.draws.push_back(each.draw);
    return sequence;
}

ScoreSizes AttentionBuilder::score_sizes() const {
    return {.query = builder_.shape(Q_).columns,
            .key = builder_.shape(K_).columns,
            .keys = M_,
            .hidden = e_.weighting.hidden};
}

/// The parameters of the score function, then those of local-p.
std::vector<ScoreParameter> AttentionBuilder::score_parameters() const {
    if (!Q_ || !K_) return {};
    const auto of_function = score_function(e_.attention.score).parameters;
    std::vector<ScoreParameter> parameters(of_function.begin(), of_function.end());
    if (predicts_window(e_.weighting.normalizer)) {
        parameters.push_back({"W_p", hidden_rows, query_columns});
        parameters.push_back({"v_p", one_row, hidden_rows});
    }
    return parameters;
}

AttentionBuilder::Sequence AttentionBuilder::scores() const {
    Sequence sequence = score_start();
    for (const ScoreParameter& parameter : score_parameters())
        if (parameter.drawn)
            sequence.draws.push_back(Draw::by(Initialization::linear, parameter.rows(score_sizes()),
                                              parameter.columns(score_sizes())));
    return sequence;
}

/// W_1, b_1, W_2, b_2 as two nn.Linear layers draw them, one after the other.
AttentionBuilder::Sequence AttentionBuilder::block() const {
    Sequence sequence = e_.weights.block_seed.kind == ProjectionSeed::Kind::proceed
                            ? scores()
                            : Sequence{seed_of(e_.weights.block_seed), {}};
    const int d = builder_.shape(x_).columns, hidden = e_.feed_forward_columns();
    sequence.draws.insert(sequence.draws.end(),
                          {Draw::by(Initialization::linear, hidden, d), Draw::by_fan(d, 1, hidden),
                           Draw::by(Initialization::linear, d, hidden), Draw::by_fan(hidden, 1, d)});
    return sequence;
}

/// W_q, b_q … b_o, which are drawn in one sequence.
Op AttentionBuilder::drawn_projection(ProjectionParameter parameter) const {
    Sequence sequence = projection_start();
    for (const ProjectionDraw& each : projection_list(true)) {
        sequence.draws.push_back(each.draw);
        for (const ProjectionDraw::Part& part : each.parts)
            if (part.parameter == parameter)
                return op::Drawn{sequence.seed, std::move(sequence.draws), part.first_row, part.rows};
    }
    return op::Constant{1, columns_of(X_), 0};  // as torch.nn.MultiheadAttention initializes its biases
}

/// The drawn parameter of this name: the last one of the sequence up to it.
Op AttentionBuilder::drawn(CustomName name) const {
    if (const auto projection = find_projection(name)) return drawn_projection(*projection);
    const auto cut = [](Sequence sequence, std::ptrdiff_t behind) -> Op {
        sequence.draws.resize(sequence.draws.size() - static_cast<std::size_t>(behind));
        return op::Drawn{sequence.seed, std::move(sequence.draws)};
    };
    if (name == CustomName("W_patch")) return cut(image_sequence(), 0);
    constexpr std::array<CustomName, 4> k_block_names{"W_1", "b_1", "W_2", "b_2"};
    if (const auto at = std::ranges::find(k_block_names, name); at != k_block_names.end())
        return cut(block(), k_block_names.end() - at - 1);
    const std::vector<ScoreParameter> parameters = score_parameters();
    const auto at = std::ranges::find(parameters, name, &ScoreParameter::name);
    return cut(scores(), std::count_if(at + 1, parameters.end(), [](const auto& p) { return p.drawn; }));
}

Value AttentionBuilder::parameter(CustomName name) {
    return is_custom(name) ? custom(name) : builder_.add(stage_of(name), drawn(name));
}

/// A projection's bias; absent unless it is custom or biases are drawn.
Value AttentionBuilder::bias(CustomName name) {
    if (is_custom(name)) return custom(name);
    if (!e_.attention.projection_bias ||
        (e_.attention.projection == Projection::none && name != k_output_projection.b))
        return {};
    return builder_.add(stage_of(name), drawn(name));
}

Value AttentionBuilder::norm_parameter(CustomName name, int columns, float value) {
    const Value found =
        is_custom(name) ? custom(name) : builder_.add(stage_of(name), op::Constant{1, columns, value});
    builder_.require_shape(found, 1, columns);
    builder_.may_override(name, 1, columns);
    return found;
}

}  // namespace attnscope
