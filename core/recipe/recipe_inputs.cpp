// From text or a picture to the inputs of the projections.
#include "core/recipe/recipe_attention.h"

#include <algorithm>

namespace attnscope {

void AttentionRecipe::tokens() {
    if (!has("tokens") && !has("tokens_kv")) return;
    std::string comment = "The sentence";
    if (has("tokens") && has("tokens_kv")) comment += "s, one for the queries and one for the keys";
    section(comment + ", " + cut_text(e_) +
            ". Each token is the row of its word in the table, whose words are in " + order_text(e_) + ".");
    if (!is_stable()) write_words(script_, "words", trace_.table);
    for (const auto& [name, sentence] : {std::pair{"tokens", e_.input.text}, {"tokens_kv", e_.input.text2}}) {
        if (!has(name)) continue;
        write_sentence(script_, sentence);
        write_tokens(script_, name, *trace_.find(name));
    }
}

DrawLine AttentionRecipe::table_draw() const {
    return {"table", drawn_matrix(name_of(e_.weights.embedding), rows_of_table(), e_.input.dim)};
}

void AttentionRecipe::embedding() {
    if (has("table") && is_stable()) {
        section("The embedding table. " + stable_text(e_));
        write_stable_table(script_, "table", e_, trace_.table);
    } else if (has("table")) {
        section("The embedding table, a row of " + text(e_.input.dim) + " numbers for each word" +
                (static_cast<int>(trace_.table.size()) < rows_of_table() ? " (and some unused rows)." : "."));
        script_.reach({e_.weights.seed, {}});
        script_.draw(table_draw());
    }
    if (!has("embedding")) return;
    if (!has("table")) section("The embeddings are custom.");
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

DrawLine AttentionRecipe::patch_draw() const {
    return {"W_patch", linear_weight(e_.input.dim, e_.input.patch_columns())};
}

void AttentionRecipe::annotations() {
    if (!has("patches")) return;
    write_patches(script_, e_);
    const bool drawn = is_drawn("W_patch");
    section("The annotations: each patch, projected" +
            (drawn ? ". The weight is " + seed_text(e_.weights.image_seed) + ", as by torch.nn.Linear."
                   : std::string(".")));
    if (drawn) {
        script_.reach(start_after_table(e_.weights.image_seed));
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
    if (e_.attention.block != Block::pre_norm) return;
    const bool one_side = Y_ == X_, one_value_side = Y_v_ == Y_;
    section("Layer norm before attention: each row with mean 0 and variance 1, times gain plus shift.");
    layer_norm("norm_1", X_, "ln1");
    X_ = "norm_1";
    if (one_side) Y_ = X_;
    if (one_value_side) Y_v_ = Y_;
}

}  // namespace attnscope
