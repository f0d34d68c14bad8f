// From queries and keys to the weights.
#include "core/recipe/recipe_attention.h"

#include <algorithm>
#include <cmath>

#include "core/mechanism/attention/scores.h"

namespace attnscope {

GeneratorState AttentionRecipe::score_start() const {
    if (e_.weights.score_seed.kind != ProjectionSeed::Kind::proceed) return start(e_.weights.score_seed);
    GeneratorState state = projection_start();
    for (const DrawLine& each : projection_draws(e_.attention.output_projection)) state.draws.push_back(each);
    return state;
}

std::vector<DrawLine> AttentionRecipe::score_draws() const {
    if (!has("query")) return {};
    const ScoreSizes sizes{
        .query = columns(Q_), .key = columns(K_), .keys = keys(), .hidden = e_.weighting.hidden};
    std::vector<DrawLine> draws;
    for (const ScoreParameter& parameter : score_function(e_.attention.score).parameters) {
        const int out = parameter.rows(sizes), in = parameter.columns(sizes);
        const std::string name(parameter.name), row = name.starts_with("v_") ? "[0]" : "";
        if (parameter.drawn) draws.push_back({name, linear_weight(out, in) + row});
    }
    if (e_.weighting.normalizer == Normalization::local_p) {
        draws.push_back({"W_p", linear_weight(e_.weighting.hidden, sizes.query)});
        draws.push_back({"v_p", linear_weight(1, e_.weighting.hidden) + "[0]"});
    }
    return draws;
}

void AttentionRecipe::score() {
    section(e_.is_given("scores") ? "The scores are custom."
                                  : "Scores: every query is compared with every key.");
    const std::vector<DrawLine> draws = score_draws();
    if (std::ranges::any_of(draws, [&](const DrawLine& each) { return is_drawn(each.target); })) {
        line("# The weights are " + seed_text(e_.weights.score_seed) + ", as by torch.nn.Linear.");
        script_.reach(score_start());
        for (const DrawLine& each : draws) script_.draw(each);
    }
    given_among({"W_score", "W_aq", "W_ak", "b_a", "v_a", "W_c", "v_c", "W_loc", "W_p", "v_p"});
    if (e_.is_given("scores"))
        given("scores");
    else
        general_scores();
}

void AttentionRecipe::general_scores() {
    const std::string K_T = transposed(K_);
    if (e_.attention.score == Score::dot) {
        line("scores = " + Q_ + " @ " + K_T);
    } else if (e_.attention.score == Score::general) {
        line("scores = " + Q_ + " @ W_score @ " + K_T);
    } else if (e_.attention.score == Score::location) {
        line("scores = " + Q_ + " @ W_loc.T  # computed from the queries alone");
    } else if (e_.attention.score == Score::cosine) {
        line("norms = " + Q_ + ".norm(dim=-1).unsqueeze(-1) * " + K_ + ".norm(dim=-1).unsqueeze(-2)");
        line("cosine = " + Q_ + " @ " + K_T + " / norms.clamp(min=1e-8)");
        line("scores = " + python_number(e_.attention.sharpening) + " * cosine");
    } else {
        const bool concat = e_.attention.score == Score::concat;
        const std::string d = text(columns(Q_));
        if (concat)
            line("W_cq, W_ck = W_c[:, :" + d + "], W_c[:, " + d + ":]  # W_c [q; k] is W_cq q + W_ck k");
        line("of_queries = " + Q_ + (concat ? " @ W_cq.T" : " @ W_aq.T") + (has("b_a") ? " + b_a" : ""));
        line("of_keys = " + K_ + (concat ? " @ W_ck.T" : " @ W_ak.T"));
        line("score_hidden = torch.tanh(of_queries.unsqueeze(-2) + of_keys.unsqueeze(-3))  # every pair");
        line(concat ? "scores = score_hidden @ v_c" : "scores = score_hidden @ v_a");
    }
}

void AttentionRecipe::scale() {
    std::string code = "scaled = scores";
    if (e_.attention.scale.kind == Scale::Kind::sqrt) code += " / " + text(columns(K_)) + "**0.5";
    if (e_.attention.scale.kind == Scale::Kind::number)
        code += " * " + python_number(e_.attention.scale.number);
    if (e_.weighting.temperature != 1)
        code += " / " + python_number(e_.weighting.temperature) + "  # the last is the temperature";
    line(code);
}

void AttentionRecipe::biases() {
    if (!has("biased")) return;
    if (has("bias")) {
        section("ALiBi: the farther away a key, the lower its score, with a slope for each head.");
        line("slopes = 2 ** (-8 * torch.arange(1, " + text(e_.attention.heads + 1) + ") / " +
             text(e_.attention.heads) + ")");
        line("distance = (torch.arange(" + text(queries()) + ")[:, None] - torch.arange(" + text(keys()) +
             ")).abs()");
        line(e_.attention.heads > 1 ? "bias = -slopes[:, None, None] * distance"
                                    : "bias = -slopes * distance");
    } else {
        section("A custom bias.");
    }
    given_among({"mask_additive"});
    line(std::string("biased = scaled") + (has("bias") ? " + bias" : "") +
         (has("mask_additive") ? " + mask_additive" : ""));
    scaled_ = "biased";
}

/// The center of each query's local window.
void AttentionRecipe::centers() {
    if (!has("center")) return;
    if (e_.weighting.normalizer == Normalization::local_m) {
        line("# Only keys near the query's own position.");
        line("center = torch.arange(" + text(queries()) + ").float()");
    } else {
        line("# Only keys near a position predicted from the query.");
        line("center = " + text(keys()) + " * torch.sigmoid(torch.tanh(" + Q_ + " @ W_p.T) @ v_p)");
    }
    line("mask = mask & ((j - center.unsqueeze(-1)).abs() <= " + python_number(e_.weighting.local_window) +
         ")");
}

void AttentionRecipe::mask() {
    const bool rules =
        !e_.weighting.mask.empty() || e_.is_given("mask") || has("mask_additive") || has("center");
    section(rules ? "Mask: which query i may look at which key j; closed cells become −∞."
                  : "Mask: every query may look at every key.");
    line("mask = torch.ones(" + text(queries()) + ", " + text(keys()) + ", dtype=torch.bool)");
    if (!e_.weighting.mask.empty() || has("center"))
        line("i, j = torch.arange(" + text(queries()) + ")[:, None], torch.arange(" + text(keys()) + ")");
    write_mask_rules(script_, e_);
    if (has("mask_additive")) line("mask &= mask_additive != -inf");
    centers();
    line("masked = " + scaled_ + ".masked_fill(~mask, -inf)");
}

/// Whether a closed cell's weight would be NaN in PyTorch: its whole row is closed, or contains NaN or +∞.
bool AttentionRecipe::normalizer_meets_closed() const {
    const bool over_queries = e_.over_queries();
    const Tensor& masked = trace_.find("masked")->buffer.host();
    for (int h = 0; h < e_.attention.heads; ++h) {
        const Matrix lines = over_queries ? Matrix(masked.head(h).transpose()) : Matrix(masked.head(h));
        for (Eigen::Index i = 0; i < lines.rows(); ++i)
            if (!std::isfinite(lines.row(i).maxCoeff<Eigen::PropagateNaN>()) &&
                (lines.row(i).array() == -INFINITY).any())
                return true;
    }
    return false;
}

void AttentionRecipe::normalized(const std::string& name) {
    const bool over_queries = e_.over_queries();
    if (e_.weighting.normalizer == Normalization::hard) {
        line(name + " = torch.nn.functional.one_hot(masked.argmax(dim=-1), " + text(keys()) + ").float()");
        if (trace_.find("masked")->buffer.range().nan > 0)
            line(name + " = " + name + ".masked_fill(masked.isnan().any(dim=-1, keepdim=True), nan)");
    } else {
        line(name + " = masked.softmax(dim=" + (over_queries ? "-2)" : "-1)"));
    }
    if (!normalizer_meets_closed()) return;
    line("# Closed cells have no weight, even where nothing is open; PyTorch would give " +
         std::string(e_.weighting.normalizer == Normalization::hard ? "weight 1 to the first key there."
                                                                    : "NaN there."));
    line(name + " = " + name + ".masked_fill(masked == -inf, 0)");
}

void AttentionRecipe::weights() {
    if (e_.weighting.normalizer == Normalization::hard)
        section("Weights: 1 at the row's maximum, the first if several tie.");
    else if (e_.over_queries())
        section("Weights: the softmax over the queries, each column sums to 1.");
    else
        section("Weights: the softmax over the keys, each row sums to 1.");
    if (!has("align")) return normalized("weights");
    normalized("align");
    const std::string D = python_number(e_.weighting.local_window);
    line("gauss = torch.exp(-((j - center.unsqueeze(-1)) ** 2) / (2 * (" + D + " / 2) ** 2))");
    line("weights = align * gauss  # a Gaussian over the window");
    if (trace_.find("center")->buffer.range().nan > 0)
        line("weights = weights.masked_fill(masked == -inf, 0)  # 0 times NaN would be NaN");
}

void AttentionRecipe::dropout() {
    if (!has("weights_dropped")) return;
    const std::string kept = "(1 - " + python_number(e_.attention.dropout) + ")";
    if (e_.is_given("dropout_keep")) {
        section("Dropout: the kept weights are divided by 1 − p; which are kept is custom.");
        given("dropout_keep");
        if (e_.attention.heads > 1) line("dropout_keep = dropout_keep.view(" + matrix_size() + ")");
    } else {
        // The block's weights may continue from what was drawn before.
        if (e_.weights.block_seed.kind == ProjectionSeed::Kind::proceed) block_weights();
        section(
            "Dropout keeps a weight with probability 1 − p and divides it by 1 − p; drawn as bernoulli_(1 - "
            "p) is where PyTorch is built without MKL.");
        script_.seed(e_.attention.dropout_seed);
        line("dropout_keep = (torch.rand(" + matrix_size() + ", dtype=torch.float64) < 1 - " +
             python_number(e_.attention.dropout) + ").float()");
        script_.forget_generator();
    }
    line("weights_dropped = weights * dropout_keep / " + kept);
    weights_ = "weights_dropped";
}

}  // namespace attnscope
