// Queries, keys and values, and their heads.
#include "core/recipe/recipe_attention.h"

#include <algorithm>

namespace attnscope {

namespace {

std::string drawn_bias(int out, int in) {
    const std::string bound = "1 / " + text(in) + "**0.5";
    return "torch.empty(" + text(out) + ").uniform_(-" + bound + ", " + bound + ")";
}

}  // namespace

GeneratorState AttentionRecipe::start_after_table(const ProjectionSeed& seed) const {
    GeneratorState state = start(seed);
    if (seed.kind == ProjectionSeed::Kind::proceed && !is_stable() && rows_of_table() > 0)
        state.draws.push_back(table_draw());
    return state;
}

GeneratorState AttentionRecipe::projection_start() const {
    if (e_.weights.projection_seed.kind != ProjectionSeed::Kind::proceed || !has("patches"))
        return start_after_table(e_.weights.projection_seed);
    GeneratorState state = start_after_table(e_.weights.image_seed);
    state.draws.push_back(patch_draw());
    return state;
}

std::vector<DrawLine> AttentionRecipe::projection_draws(bool with_output) const {
    if (e_.attention.projection == Projection::mha) {
        const int d = columns(X_), kdim = columns(Y_), vdim = columns(Y_v_);
        std::string sizes = text(d) + ", " + text(d % e_.attention.heads == 0 ? e_.attention.heads : 1);
        if (kdim != d || vdim != d) sizes += ", kdim=" + text(kdim) + ", vdim=" + text(vdim);
        return {{"mha", "torch.nn.MultiheadAttention(" + sizes + ")"}};
    }
    const bool projected = e_.attention.projection != Projection::none;
    const std::string initializer = std::string(projected ? name_of(e_.attention.projection) : "linear");
    std::vector<DrawLine> draws;
    const auto draw = [&](const std::string& letter, int out, int in) {
        const std::string W = "W_" + letter, b = "b_" + letter;
        if (e_.attention.projection_bias && initializer == "linear") {
            draws.push_back(
                {W + ", " + b, "torch.nn.Linear(" + text(in) + ", " + text(out) + ").parameters()"});
            return;
        }
        draws.push_back({W, drawn_matrix(initializer, out, in)});
        if (e_.attention.projection_bias) draws.push_back({b, drawn_bias(out, in)});
    };
    if (projected) {
        draw("q", e_.key_columns(), columns(X_));
        draw("k", e_.key_columns(), columns(Y_));
        draw("v", value_columns(), columns(Y_v_));
    }
    if (with_output) draw("o", e_.input.dim, value_columns());
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
        comment += ". The weights are " + seed_text(e_.weights.projection_seed);
        comment += e_.attention.projection == Projection::mha ? ", as by torch.nn.MultiheadAttention." : ".";
        section(comment);
        script_.reach(projection_start());
        for (const DrawLine& each : projection_draws(drawn_output)) script_.draw(each);
        if (e_.attention.projection == Projection::mha)
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
    const bool rotate = e_.attention.position == Position::rope, cut = e_.attention.heads > 1;
    if (rotate) {
        const bool half = e_.attention.rope_layout == RopeLayout::half;
        section("RoPE rotates each pair of features of a query or key by the angle of its position.");
        line("def rotate(x):");
        line("    n, d = x.shape[-2:]");
        line("    p = torch.arange(n, dtype=torch.float64)[:, None]");
        line("    k = torch.arange(0, d, 2, dtype=torch.float64)");
        line("    angle = p / 10000 ** (k / d)");
        line(half ? "    a, b = x.chunk(2, dim=-1)" : "    a, b = x[..., 0::2], x[..., 1::2]");
        line("    rotated = [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()]");
        line(half ? "    return torch.cat(rotated, dim=-1).float()\n"
                  : "    return torch.stack(rotated, dim=-1).flatten(-2).float()\n");
    }
    if (cut) {
        const std::string comment = text(e_.attention.heads) + " heads: each takes its block of the columns.";
        if (rotate)
            line("\n# " + comment);
        else
            section(comment);
    }
    const auto split = [&](std::string& variable, bool turned) {
        std::string code = variable;
        if (cut) code = "torch.stack(" + code + ".chunk(" + text(e_.attention.heads) + ", dim=-1))";
        if (turned) code = "rotate(" + code + ")";
        variable += "_heads";
        line(variable + " = " + code);
    };
    split(Q_, rotate);
    split(K_, rotate);
    split(V_, false);
}

}  // namespace attnscope
