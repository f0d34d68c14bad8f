// The recipe of attention: a function for each step, in the order of AttentionEvaluation.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/attention/masks.h"
#include "core/attention/scores.h"
#include "core/io/recipe_script.h"
#include "core/random/initializers.h"
#include "core/text/vocabulary.h"

namespace attnscope {
namespace {

std::string drawn_bias(int out, int in) {
    const std::string bound = "1 / " + text(in) + "**0.5";
    return "torch.empty(" + text(out) + ").uniform_(-" + bound + ", " + bound + ")";
}

/// How the generator comes to where some draws start, for a comment.
std::string seed_text(const ProjectionSeed& seed) {
    switch (seed.kind) {
        case ProjectionSeed::Kind::same: return "drawn from the experiment's seed";
        case ProjectionSeed::Kind::proceed: return "drawn where the generator stopped before";
        case ProjectionSeed::Kind::own: return "drawn from a seed of their own";
    }
    return {};
}

class AttentionRecipe {
public:
    AttentionRecipe(Script& script, const Trace& trace)
        : script_(script), trace_(trace), e_(trace.experiment) {}

    void write() {
        tokens();
        embedding();
        annotations();
        positions();
        normalize_first();
        projections();
        heads();
        score();
        scale();
        biases();
        mask();
        weights();
        dropout();
        context();
        output();
        block();
        logits();
        loss();
    }

private:
    // What the trace has.
    bool has(std::string_view name) const { return trace_.find(name) != nullptr; }
    bool is_drawn(std::string_view name) const { return has(name) && !e_.is_given(name); }
    const Shape& shape(std::string_view name) const { return trace_.find(name)->shape(); }
    int columns(const std::string& name) const { return has(name) ? shape(name).columns : e_.dim; }
    int queries() const { return shape("weights").rows; }
    int keys() const { return shape("weights").columns; }
    bool is_stable() const { return find_vocabulary_rule(e_.vocabulary)->stable; }

    // What is written again and again.
    void section(const std::string& comment) { script_.section(comment); }
    void line(const std::string& code) { script_.line(code); }
    void given(const std::string& name) {
        script_.tensor(name, e_.given.at(name).values(), trace_.find(name)->info->rows == Axis::single);
    }
    /// The given ones among `names`.
    void given_among(std::initializer_list<const char*> names) {
        for (const char* name : names)
            if (has(name) && e_.is_given(name)) given(name);
    }
    /// Xᵀ of a matrix, or of each head's.
    std::string transposed(const std::string& x) const { return x + (e_.heads > 1 ? ".mT" : ".T"); }
    std::string affine(const std::string& x, const std::string& W, const std::string& b) const {
        return x + " @ " + W + ".T" + (has(b) ? " + " + b : "");
    }
    std::string matrix_size() const {
        return (e_.heads > 1 ? text(e_.heads) + ", " : "") + text(queries()) + ", " + text(keys());
    }

    // recipe steps
    void tokens();
    void embedding();
    void annotations();
    void positions();
    void normalize_first();
    void projections();
    void heads();
    void score();
    void scale();
    void biases();
    void mask();
    void weights();
    void dropout();
    void context();
    void output();
    void block();
    void logits();
    void loss();

    // the steps' parts
    std::string embedding_words() const;
    void projected(const std::string& name, const std::string& letter, const std::string& x);
    void take_from_multihead(bool same_width);
    void general_scores();
    void centers();
    void normalized(const std::string& name);
    void layer_norm(const std::string& name, const std::string& x, const std::string& prefix);
    void block_weights();
    bool normalizer_meets_closed() const;
    bool values_meet_closed() const;

    // where the generator is, as AttentionEvaluation's generators are
    GeneratorState start(const ProjectionSeed& seed) const {
        return {seed.kind == ProjectionSeed::Kind::own ? seed.seed : e_.seed, {}};
    }
    Draw table_draw() const;
    GeneratorState start_after_table(const ProjectionSeed& seed) const;
    Draw patch_draw() const;
    GeneratorState projection_start() const;
    std::vector<Draw> projection_draws(bool with_output) const;
    GeneratorState score_start() const;
    std::vector<Draw> score_draws() const;
    GeneratorState block_start() const;
    std::vector<Draw> block_draws() const;
    int rows_of_table() const { return has("table") ? shape("table").rows : has(X_) ? e_.table_size : 0; }
    int value_columns() const {
        return e_.is_given("value")      ? static_cast<int>(e_.given.at("value").values().cols())
               : e_.projection != "none" ? e_.value_columns()
                                         : columns(Y_v_);
    }

    Script& script_;
    const Trace& trace_;
    const Experiment& e_;
    std::string X_ = "embedding", Y_ = "embedding", Y_v_ = "embedding";  ///< what the projections read
    std::string x_ = "embedding";                                        ///< what the block adds to
    std::string Q_ = "query", K_ = "key", V_ = "value", scaled_ = "scaled", weights_ = "weights";
    std::string output_;  ///< the last stage so far of N × d
    bool block_is_drawn_ = false;
};

// ---- From text to X and Y

void AttentionRecipe::tokens() {
    if (!has("tokens") && !has("tokens_kv")) return;
    std::string comment = "The sentence";
    if (has("tokens") && has("tokens_kv")) comment += "s, one for the queries and one for the keys";
    section(comment + ", " + cut_text(e_) + ". A token is its word's row in the table, whose words are in " +
            order_text(e_) + ".");
    if (!is_stable()) write_words(script_, "words", trace_.table);
    for (const auto& [name, sentence] : {std::pair{"tokens", e_.text}, {"tokens_kv", e_.text2}}) {
        if (!has(name)) continue;
        write_sentence(script_, sentence);
        write_tokens(script_, name, *trace_.find(name));
    }
}

Draw AttentionRecipe::table_draw() const {
    return {"table", drawn_matrix(e_.embedding, rows_of_table(), e_.dim)};
}

void AttentionRecipe::embedding() {
    if (has("table") && is_stable()) {
        section("The embedding table. " + stable_text(e_));
        write_stable_table(script_, "table", e_, trace_.table);
    } else if (has("table")) {
        section("The embedding table, a row of " + text(e_.dim) + " numbers for each word" +
                (static_cast<int>(trace_.table.size()) < rows_of_table() ? " (and some to spare)." : "."));
        script_.reach({e_.seed, {}});
        script_.draw(table_draw());
    }
    if (!has("embedding")) return;
    if (!has("table")) section("The embeddings are given.");
    for (const auto& [name, ids] :
         {std::pair{"embedding", "tokens"}, {"embedding_kv", "tokens_kv"}, {"embedding_v", ""}}) {
        if (!has(name)) continue;
        if (e_.is_given(name))
            given(name);
        else if (has(ids))
            line(std::string(name) + " = table[" + ids + "]");
    }
    if (has("embedding_kv")) Y_ = Y_v_ = "embedding_kv";
    if (has("embedding_v")) Y_v_ = "embedding_v";
}

// ---- A picture's patches

Draw AttentionRecipe::patch_draw() const { return {"W_patch", linear_weight(e_.dim, e_.patch_columns())}; }

void AttentionRecipe::annotations() {
    if (!has("patches")) return;
    write_patches(script_, e_);
    const bool drawn = is_drawn("W_patch");
    section("The annotations: each patch, projected" +
            (drawn ? ". The weight is " + seed_text(e_.image_seed) + ", as torch.nn.Linear draws its own."
                   : std::string(".")));
    if (drawn) {
        script_.reach(start_after_table(e_.image_seed));
        script_.draw(patch_draw());
    }
    given_among({"W_patch"});
    line("embedding_kv = patches @ W_patch.T");
}

void AttentionRecipe::positions() {
    if (!has("position")) return;
    const Shape& PE = shape("position");
    const std::string d = text(PE.columns);
    section(
        "Positions: sin and cos of p / 10000^(k/d), k = 0, 2, 4 …, side by side, added to the embeddings.");
    line("p = torch.arange(" + text(PE.rows) + ", dtype=torch.float64)[:, None]");
    line("k = torch.arange(0, " + d + ", 2, dtype=torch.float64)");
    line("angle = p / 10000 ** (k / " + d + ")");
    const std::string cut = PE.columns % 2 ? "[:, :" + d + "]" : "";
    line("position = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)" + cut + ".float()");
    const auto positioned = [&](const std::string& name, const std::string& x) {
        const int rows = shape(x).rows;
        line(name + " = " + x + " + position" + (rows < PE.rows ? "[:" + text(rows) + "]" : ""));
        return name;
    };
    const bool one_side = Y_ == X_, one_value_side = Y_v_ == Y_;
    X_ = x_ = positioned("positioned", X_);
    Y_ = one_side ? X_ : positioned("positioned_kv", Y_);
    if (one_value_side) Y_v_ = Y_;
}

void AttentionRecipe::normalize_first() {
    if (e_.block != "pre-norm") return;
    const bool one_side = Y_ == X_, one_value_side = Y_v_ == Y_;
    section("Layer norm before attention: each row with mean 0 and variance 1, times gain plus shift.");
    layer_norm("norm_1", X_, "ln1");
    X_ = "norm_1";
    if (one_side) Y_ = X_;
    if (one_value_side) Y_v_ = Y_;
}

// ---- Queries, keys and values

GeneratorState AttentionRecipe::start_after_table(const ProjectionSeed& seed) const {
    GeneratorState state = start(seed);
    if (seed.kind == ProjectionSeed::Kind::proceed && !is_stable() && rows_of_table() > 0)
        state.draws.push_back(table_draw());
    return state;
}

GeneratorState AttentionRecipe::projection_start() const {
    if (e_.projection_seed.kind != ProjectionSeed::Kind::proceed || !has("patches"))
        return start_after_table(e_.projection_seed);
    GeneratorState state = start_after_table(e_.image_seed);
    state.draws.push_back(patch_draw());
    return state;
}

std::vector<Draw> AttentionRecipe::projection_draws(bool with_output) const {
    if (e_.projection == "mha") {
        const int d = columns(X_), kdim = columns(Y_), vdim = columns(Y_v_);
        std::string sizes = text(d) + ", " + text(d % e_.heads == 0 ? e_.heads : 1);
        if (kdim != d || vdim != d) sizes += ", kdim=" + text(kdim) + ", vdim=" + text(vdim);
        return {{"mha", "torch.nn.MultiheadAttention(" + sizes + ")"}};
    }
    const bool projected = e_.projection != "none";
    const std::string initializer = projected ? e_.projection : "linear";
    std::vector<Draw> draws;
    const auto draw = [&](const std::string& letter, int out, int in) {
        const std::string W = "W_" + letter, b = "b_" + letter;
        if (e_.projection_bias && initializer == "linear") {
            draws.push_back(
                {W + ", " + b, "torch.nn.Linear(" + text(in) + ", " + text(out) + ").parameters()"});
            return;
        }
        draws.push_back({W, drawn_matrix(initializer, out, in)});
        if (e_.projection_bias) draws.push_back({b, drawn_bias(out, in)});
    };
    if (projected) {
        draw("q", e_.key_columns(), columns(X_));
        draw("k", e_.key_columns(), columns(Y_));
        draw("v", e_.value_columns(), columns(Y_v_));
    }
    if (with_output) draw("o", e_.dim, value_columns());
    return draws;
}

void AttentionRecipe::take_from_multihead(bool same_width) {
    if (is_drawn("W_q") || is_drawn("W_k") || is_drawn("W_v"))
        line(same_width ? "W_q, W_k, W_v = mha.in_proj_weight.chunk(3)"
                        : "W_q, W_k, W_v = mha.q_proj_weight, mha.k_proj_weight, mha.v_proj_weight");
    if (is_drawn("b_q") || is_drawn("b_k") || is_drawn("b_v"))
        line("b_q, b_k, b_v = mha.in_proj_bias.chunk(3)");
    if (is_drawn("W_o")) line("W_o = mha.out_proj.weight");
    if (is_drawn("b_o")) line("b_o = mha.out_proj.bias");
}

void AttentionRecipe::projected(const std::string& name, const std::string& letter, const std::string& x) {
    if (!has(name)) return;
    if (e_.is_given(name))
        given(name);
    else
        line(name + " = " + (has("W_" + letter) ? affine(x, "W_" + letter, "b_" + letter) : x));
}

void AttentionRecipe::projections() {
    const auto any_drawn = [&](std::initializer_list<const char*> names) {
        return std::ranges::any_of(names, [&](const char* name) { return is_drawn(name); });
    };
    const bool drawn_output = any_drawn({"W_o", "b_o"});
    const bool drawn_input = any_drawn({"W_q", "W_k", "W_v", "b_q", "b_k", "b_v"});
    std::string comment = has("query") ? "Queries, keys and values" : has("value") ? "Values" : "Weights";
    if (drawn_output || drawn_input) {
        comment += ". The weights are " + seed_text(e_.projection_seed);
        comment += e_.projection == "mha" ? ", as torch.nn.MultiheadAttention draws its own." : ".";
        section(comment);
        script_.reach(projection_start());
        for (const Draw& each : projection_draws(drawn_output)) script_.draw(each);
        if (e_.projection == "mha")
            take_from_multihead(columns(Y_) == columns(X_) && columns(Y_v_) == columns(X_));
    } else if (has("query") || has("value")) {
        section(comment + ".");
    }
    given_among({"W_q", "b_q", "W_k", "b_k", "W_v", "b_v"});
    projected("query", "q", X_);
    projected("key", "k", Y_);
    projected("value", "v", Y_v_);
}

void AttentionRecipe::heads() {
    if (!has("query_heads")) return;
    const bool rotate = e_.position == "rope", cut = e_.heads > 1;
    if (rotate) {
        const bool half = e_.rope_layout == "half";
        section("RoPE turns each pair of features of a query or key by its position's angle.");
        line("def rotate(x):");
        line("    n, d = x.shape[-2:]");
        line("    p = torch.arange(n, dtype=torch.float64)[:, None]");
        line("    k = torch.arange(0, d, 2, dtype=torch.float64)");
        line("    angle = p / 10000 ** (k / d)");
        line(half ? "    a, b = x.chunk(2, dim=-1)" : "    a, b = x[..., 0::2], x[..., 1::2]");
        line("    turned = [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()]");
        line(half ? "    return torch.cat(turned, dim=-1).float()\n"
                  : "    return torch.stack(turned, dim=-1).flatten(-2).float()\n");
    }
    if (cut) {
        const std::string comment = text(e_.heads) + " heads: each takes its block of the columns.";
        if (rotate)
            line("\n# " + comment);
        else
            section(comment);
    }
    const auto split = [&](std::string& variable, bool turned) {
        std::string code = variable;
        if (cut) code = "torch.stack(" + code + ".chunk(" + text(e_.heads) + ", dim=-1))";
        if (turned) code = "rotate(" + code + ")";
        variable += "_heads";
        line(variable + " = " + code);
    };
    split(Q_, rotate);
    split(K_, rotate);
    if (cut) split(V_, false);
}

// ---- Scores

GeneratorState AttentionRecipe::score_start() const {
    if (e_.score_seed.kind != ProjectionSeed::Kind::proceed) return start(e_.score_seed);
    GeneratorState state = projection_start();
    for (const Draw& each : projection_draws(e_.output_projection)) state.draws.push_back(each);
    return state;
}

std::vector<Draw> AttentionRecipe::score_draws() const {
    if (!has("query")) return {};
    const ScoreSizes sizes{.query = columns(Q_), .key = columns(K_), .keys = keys(), .hidden = e_.hidden};
    std::vector<Draw> draws;
    for (const ScoreParameter& parameter : find_score_function(e_.score)->parameters) {
        const int out = parameter.rows(sizes), in = parameter.columns(sizes);
        const std::string name(parameter.name), row = name.starts_with("v_") ? "[0]" : "";
        if (parameter.drawn) draws.push_back({name, linear_weight(out, in) + row});
    }
    if (e_.normalizer == "local-p") {
        draws.push_back({"W_p", linear_weight(e_.hidden, sizes.query)});
        draws.push_back({"v_p", linear_weight(1, e_.hidden) + "[0]"});
    }
    return draws;
}

void AttentionRecipe::score() {
    section(e_.is_given("scores") ? "The scores are given."
                                  : "Scores: how much each query has to do with each key.");
    const std::vector<Draw> draws = score_draws();
    if (std::ranges::any_of(draws, [&](const Draw& each) { return is_drawn(each.target); })) {
        line("# The weights are " + seed_text(e_.score_seed) + ", as torch.nn.Linear draws its own.");
        script_.reach(score_start());
        for (const Draw& each : draws) script_.draw(each);
    }
    given_among({"W_score", "W_aq", "W_ak", "b_a", "v_a", "W_c", "v_c", "W_loc", "W_p", "v_p"});
    if (e_.is_given("scores"))
        given("scores");
    else
        general_scores();
}

void AttentionRecipe::general_scores() {
    const std::string K_T = transposed(K_);
    if (e_.score == "dot") {
        line("scores = " + Q_ + " @ " + K_T);
    } else if (e_.score == "general") {
        line("scores = " + Q_ + " @ W_score @ " + K_T);
    } else if (e_.score == "location") {
        line("scores = " + Q_ + " @ W_loc.T  # the query alone says where to look");
    } else if (e_.score == "cosine") {
        line("norms = " + Q_ + ".norm(dim=-1).unsqueeze(-1) * " + K_ + ".norm(dim=-1).unsqueeze(-2)");
        line("cosine = " + Q_ + " @ " + K_T + " / norms.clamp(min=1e-8)");
        line("scores = " + python_number(e_.sharpening) + " * cosine");
    } else {
        const bool concat = e_.score == "concat";
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
    if (e_.scale.kind == Scale::Kind::sqrt) code += " / " + text(columns(K_)) + "**0.5";
    if (e_.scale.kind == Scale::Kind::number) code += " * " + python_number(e_.scale.number);
    if (e_.temperature != 1)
        code += " / " + python_number(e_.temperature) + "  # the last is the temperature";
    line(code);
}

void AttentionRecipe::biases() {
    if (!has("biased")) return;
    if (has("bias")) {
        section("ALiBi: the farther a key is, the lower its score, at each head's own slope.");
        line("slopes = 2 ** (-8 * torch.arange(1, " + text(e_.heads + 1) + ") / " + text(e_.heads) + ")");
        line("distance = (torch.arange(" + text(queries()) + ")[:, None] - torch.arange(" + text(keys()) +
             ")).abs()");
        line(e_.heads > 1 ? "bias = -slopes[:, None, None] * distance" : "bias = -slopes * distance");
    } else {
        section("A bias is given.");
    }
    given_among({"mask_additive"});
    line(std::string("biased = scaled") + (has("bias") ? " + bias" : "") +
         (has("mask_additive") ? " + mask_additive" : ""));
    scaled_ = "biased";
}

// ---- Mask and weights

/// Where each query's local window stands.
void AttentionRecipe::centers() {
    if (!has("center")) return;
    if (e_.normalizer == "local-m") {
        line("# Only keys near the query's own place.");
        line("center = torch.arange(" + text(queries()) + ").float()");
    } else {
        line("# Only keys near a place that the query predicts.");
        line("center = " + text(keys()) + " * torch.sigmoid(torch.tanh(" + Q_ + " @ W_p.T) @ v_p)");
    }
    line("mask = mask & ((j - center.unsqueeze(-1)).abs() <= " + python_number(e_.local_window) + ")");
}

void AttentionRecipe::mask() {
    const bool rules = !e_.mask.empty() || e_.is_given("mask") || has("mask_additive") || has("center");
    section(rules ? "Mask: which query i may look at which key j; what is closed becomes −∞."
                  : "Mask: every query may look at every key.");
    line("mask = torch.ones(" + text(queries()) + ", " + text(keys()) + ", dtype=torch.bool)");
    if (!e_.mask.empty() || has("center"))
        line("i, j = torch.arange(" + text(queries()) + ")[:, None], torch.arange(" + text(keys()) + ")");
    write_mask_rules(script_, e_);
    if (has("mask_additive")) line("mask &= mask_additive != -inf");
    centers();
    line("masked = " + scaled_ + ".masked_fill(~mask, -inf)");
}

/// Whether a closed cell's weight would be NaN in PyTorch: all of its row is closed, or has NaN or +∞.
bool AttentionRecipe::normalizer_meets_closed() const {
    const bool over_queries = e_.over_queries();
    const Tensor& masked = trace_.find("masked")->buffer.host();
    for (int h = 0; h < e_.heads; ++h) {
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
    if (e_.normalizer == "hard") {
        line(name + " = torch.nn.functional.one_hot(masked.argmax(dim=-1), " + text(keys()) + ").float()");
        if (trace_.find("masked")->buffer.range().nan > 0)
            line(name + " = " + name + ".masked_fill(masked.isnan().any(dim=-1, keepdim=True), nan)");
    } else {
        line(name + " = masked.softmax(dim=" + (over_queries ? "-2)" : "-1)"));
    }
    if (!normalizer_meets_closed()) return;
    line("# What is closed has no weight, not even where nothing is open; PyTorch alone gives " +
         std::string(e_.normalizer == "hard" ? "the first key 1 there." : "NaN there."));
    line(name + " = " + name + ".masked_fill(masked == -inf, 0)");
}

void AttentionRecipe::weights() {
    if (e_.normalizer == "hard")
        section("Weights: 1 at the largest score of a row, the first of equals.");
    else if (e_.over_queries())
        section("Weights: the softmax over the queries, each column sums to 1.");
    else
        section("Weights: the softmax over the keys, each row sums to 1.");
    if (!has("align")) return normalized("weights");
    normalized("align");
    const std::string D = python_number(e_.local_window);
    line("gauss = torch.exp(-((j - center.unsqueeze(-1)) ** 2) / (2 * (" + D + " / 2) ** 2))");
    line("weights = align * gauss  # a bell over the window");
}

void AttentionRecipe::dropout() {
    if (!has("weights_dropped")) return;
    const std::string kept = "(1 - " + python_number(e_.dropout) + ")";
    if (e_.is_given("dropout_keep")) {
        section("Dropout: the weights that are kept are divided by their share; which is given.");
        given("dropout_keep");
        if (e_.heads > 1) line("dropout_keep = dropout_keep.view(" + matrix_size() + ")");
    } else {
        // The block's weights may go on from what was drawn before.
        if (e_.block_seed.kind == ProjectionSeed::Kind::proceed) block_weights();
        section(
            "Dropout keeps a weight with probability 1 − p and divides it by that; drawn as bernoulli_(1 - "
            "p) is "
            "where PyTorch is built without MKL.");
        script_.seed(e_.dropout_seed);
        line("dropout_keep = (torch.rand(" + matrix_size() + ", dtype=torch.float64) < 1 - " +
             python_number(e_.dropout) + ").float()");
        script_.forget_generator();
    }
    line("weights_dropped = weights * dropout_keep / " + kept);
    weights_ = "weights_dropped";
}

// ---- Context and output

/// Whether a closed cell meets a value that is not finite: 0 · NaN is NaN.
bool AttentionRecipe::values_meet_closed() const {
    const ValueRange& values = trace_.find(V_)->buffer.range();
    return values.nan + values.plus_infinity + values.minus_infinity > 0 &&
           trace_.find("masked")->buffer.range().minus_infinity > 0;
}

void AttentionRecipe::context() {
    if (!has("context")) return;
    section("Context: the values, weighted.");
    if (values_meet_closed()) {
        line("# Over the open keys alone: 0 times a NaN would be NaN.");
        line("terms = " + weights_ + ".unsqueeze(-1) * " + V_ + ".unsqueeze(-3)");
        line("context = terms.masked_fill((masked == -inf).unsqueeze(-1), 0).sum(dim=-2)");
    } else {
        line("context = " + weights_ + " @ " + V_);
    }
    output_ = "context";
    if (!has("concat")) return;
    line("concat = torch.cat(context.unbind(), dim=-1)  # the heads side by side");
    output_ = "concat";
}

void AttentionRecipe::output() {
    if (!has("output")) return;
    given_among({"W_o", "b_o"});
    line("output = " + affine(output_, "W_o", "b_o"));
    output_ = "output";
}

void AttentionRecipe::layer_norm(const std::string& name, const std::string& x, const std::string& prefix) {
    const std::string gain = prefix + "_g", shift = prefix + "_b", d = text(columns(x));
    if (e_.is_given(gain))
        given(gain);
    else
        line(gain + " = torch.ones(" + d + ")");
    if (e_.is_given(shift))
        given(shift);
    else
        line(shift + " = torch.zeros(" + d + ")");
    line(name + " = torch.nn.functional.layer_norm(" + x + ", (" + d + ",), " + gain + ", " + shift + ")");
}

GeneratorState AttentionRecipe::block_start() const {
    if (e_.block_seed.kind != ProjectionSeed::Kind::proceed) return start(e_.block_seed);
    GeneratorState state = score_start();
    for (const Draw& each : score_draws()) state.draws.push_back(each);
    return state;
}

std::vector<Draw> AttentionRecipe::block_draws() const {
    const std::string d = text(columns(x_)), hidden = text(e_.feed_forward_columns());
    return {{"W_1, b_1", "torch.nn.Linear(" + d + ", " + hidden + ").parameters()"},
            {"W_2, b_2", "torch.nn.Linear(" + hidden + ", " + d + ").parameters()"}};
}

void AttentionRecipe::block_weights() {
    if (!has("W_1") || block_is_drawn_) return;
    block_is_drawn_ = true;
    const bool drawn = is_drawn("W_1") || is_drawn("b_1") || is_drawn("W_2") || is_drawn("b_2");
    section("The feed-forward layer's weights" +
            (drawn ? ", " + seed_text(e_.block_seed) + "." : std::string(".")));
    if (drawn) {
        script_.reach(block_start());
        for (const Draw& each : block_draws()) script_.draw(each);
    }
    given_among({"W_1", "b_1", "W_2", "b_2"});
}

/// Vaswani et al. 2017, §3.1, or with the norms first.
void AttentionRecipe::block() {
    if (e_.block == "none") return;
    const bool first = e_.block == "pre-norm";
    section(first ? "The block: what attention found is added to what it read from before the norm."
                  : "The block: what attention found is added to what it read, and normed.");
    line("residual_1 = " + x_ + " + " + output_);
    if (first)
        layer_norm("norm_2", "residual_1", "ln2");
    else
        layer_norm("norm_1", "residual_1", "ln1");
    block_weights();
    line("feed_forward_hidden = " + affine(first ? "norm_2" : "norm_1", "W_1", "b_1"));
    line("feed_forward_active = torch.nn.functional." + e_.activation + "(feed_forward_hidden)");
    line("feed_forward = " + affine("feed_forward_active", "W_2", "b_2"));
    line(std::string("residual_2 = ") + (first ? "residual_1" : "norm_1") + " + feed_forward");
    output_ = "residual_2";
    if (first) return;
    layer_norm("norm_2", "residual_2", "ln2");
    output_ = "norm_2";
}

void AttentionRecipe::logits() {
    if (!has("logits")) return;
    section("How likely each word is.");
    given_among({"W_out", "b_out"});
    line("logits = " + affine(output_, "W_out", "b_out"));
    line("log_probs = logits.log_softmax(dim=-1)");
    output_ = "log_probs";
}

void AttentionRecipe::loss() {
    if (!has("loss")) return;
    if (has("targets")) {
        section("The loss: the mean of −log p at the targets.");
        std::vector<std::string> targets;
        for (const float target : e_.given.at("targets").values().reshaped())
            targets.push_back(text(static_cast<int>(target)));
        script_.list("targets = torch.tensor([", targets, "])");
        line("loss = torch.nn.functional.nll_loss(log_probs, targets)");
    } else {
        section("The loss: the output, weighted.");
        given("loss_weights");
        line("loss = (loss_weights * " + output_ + ").sum()");
    }
}

}  // namespace

void write_attention(Script& script, const Trace& trace) { AttentionRecipe(script, trace).write(); }

}  // namespace attnscope
