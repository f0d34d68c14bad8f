#include "core/attention/stages.h"

#include <array>
#include <cmath>

#include "core/attention/masks.h"

namespace attnscope {
namespace {

using enum Axis;
using enum Unit;

// name, symbol, caption, rows, columns, unit, per head, left operand, upper operand, upper transposed
constexpr std::array k_stages = {
    StageInfo{"tokens", "", "table row", query_token, single, token_id, false, "", "", false},
    StageInfo{"embedding", "X", "table[tokens]", query_token, feature, real, false, "", "", false},
    StageInfo{"embedding_kv", "Y", "keys' side", key_token, feature, real, false, "", "", false},
    StageInfo{"query", "Q", "X·W_qᵀ", query_token, feature, real, false, "embedding", "W_q", true},
    StageInfo{"key", "K", "X·W_kᵀ", key_token, feature, real, false, "embedding_kv", "W_k", true},
    StageInfo{"value", "V", "X·W_vᵀ", key_token, feature, real, false, "embedding_kv", "W_v", true},
    StageInfo{"query_heads", "Qₕ", "Q by head", query_token, head_feature, real, true, "", "", false},
    StageInfo{"key_heads", "Kₕ", "K by head", key_token, head_feature, real, true, "", "", false},
    StageInfo{"value_heads", "Vₕ", "V by head", key_token, head_feature, real, true, "", "", false},
    StageInfo{"scores", "S", "Q·Kᵀ", query_token, key_token, real, true, "query", "key", true},
    StageInfo{"scaled", "S′", "÷√d_k", query_token, key_token, real, true, "query", "key", true},
    StageInfo{"mask", "M", "open", query_token, key_token, boolean, false, "", "", false},
    StageInfo{"masked", "S″", "−∞", query_token, key_token, real, true, "query", "key", true},
    StageInfo{"weights", "A", "softmax", query_token, key_token, probability, true, "query", "key", true},
    StageInfo{"context", "C", "A·V", query_token, head_feature, real, true, "weights", "value", false},
    StageInfo{"concat", "[C]", "joined", query_token, feature, real, false, "", "", false},
    StageInfo{"output", "O", "C·W_oᵀ", query_token, feature, real, false, "concat", "W_o", true},
    // the parameters
    StageInfo{"table", "E", "vocabulary", table_row, feature, real, false, "", "", false},
    StageInfo{"W_q", "W_q", "d × d", feature, feature, real, false, "", "", false},
    StageInfo{"W_k", "W_k", "d × d", feature, feature, real, false, "", "", false},
    StageInfo{"W_v", "W_v", "d × d", feature, feature, real, false, "", "", false},
    StageInfo{"W_o", "W_o", "d × d", feature, feature, real, false, "", "", false},
};
constexpr std::string_view k_first_parameter = "table";

std::string scale_text(const Experiment& e) {
    const std::string temperature = e.temperature == 1 ? "" : " ÷ T";
    switch (e.scale.kind) {
        case Scale::Kind::sqrt: return " ÷ √d_k" + temperature;
        case Scale::Kind::none: return temperature;
        case Scale::Kind::number: return " × s" + temperature;
    }
    return {};
}

std::string projection_text(const Experiment& e, std::string_view side, const std::string& letter) {
    const bool projected = e.projection != "none" || e.given.contains("W_" + letter);
    std::string text(side);
    if (projected) text += " W_" + letter + "ᵀ";
    if (e.given.contains("b_" + letter)) text += " + b_" + letter;
    return text;
}

std::string softmax_argument(const Experiment& e) {
    return "Q Kᵀ" + scale_text(e) + (e.mask.empty() ? "" : ", masked");
}

}  // namespace

std::span<const StageInfo> stage_table() { return k_stages; }

const StageInfo* find_stage_info(std::string_view name) {
    for (const StageInfo& info : k_stages)
        if (info.name == name) return &info;
    return nullptr;
}

bool is_parameter(const StageInfo& info) { return &info >= find_stage_info(k_first_parameter); }

std::string formula(const Experiment& e, const StageInfo& info) {
    const std::string_view name = info.name;
    const std::string keys_side = e.given.contains("embedding_kv") ? "Y" : "X";
    if (e.given.contains(std::string(name))) return "given";
    if (name == "tokens") return "each token's row in the table";
    if (name == "embedding") return "X = table[tokens]";
    if (name == "query") return "Q = " + projection_text(e, "X", "q");
    if (name == "key") return "K = " + projection_text(e, keys_side, "k");
    if (name == "value") return "V = " + projection_text(e, keys_side, "v");
    if (name == "query_heads") return "Q cut into h blocks of d_k columns";
    if (name == "key_heads") return "K cut into h blocks of d_k columns";
    if (name == "value_heads") return "V cut into h blocks of d_v columns";
    if (name == "scores") return "Q Kᵀ";
    if (name == "scaled") return "Q Kᵀ" + scale_text(e);
    if (name == "mask") return mask_formula(e.mask);
    if (name == "masked") return "the scaled scores, −∞ where the mask is closed";
    if (name == "weights") return "softmax( " + softmax_argument(e) + " ) over keys, each row sums to 1";
    if (name == "context") return "A V, the values weighted by each row";
    if (name == "concat") return "the heads' contexts side by side";
    if (name == "output")
        return std::string(e.heads > 1 ? "concat" : "context") + " W_oᵀ" +
               (e.given.contains("b_o") ? " + b_o" : "");
    if (name == "table") return "one row per word of the vocabulary";
    return "drawn by " + e.projection;
}

std::string caption(const Experiment& e, const StageInfo& info) {
    const std::string_view name = info.name;
    if (name == "query" || name == "key" || name == "value") return std::string(info.symbol);
    if (name == "scaled") {
        if (e.scale.kind == Scale::Kind::none) return e.temperature == 1 ? "× 1" : "÷ T";
        return std::string(e.scale.kind == Scale::Kind::sqrt ? "÷ √d_k" : "× s") +
               (e.temperature == 1 ? "" : "÷T");
    }
    if (name == "embedding") return std::string(info.symbol);
    if (name == "mask") return mask_caption(e.mask);
    return std::string(info.caption);
}

const Stage* operand(const Trace& trace, std::string_view name) {
    if (name.empty()) return nullptr;
    if (const Stage* heads = trace.find(std::string(name) + "_heads")) return heads;
    if (const Stage* stage = trace.find(name)) return stage;
    if (name == "embedding_kv") return trace.find("embedding");
    if (name == "concat") return trace.find("context");
    return nullptr;
}

const Stage* Trace::find(std::string_view name) const {
    for (const StageRecord& record : records)
        if (record.stage->name() == name) return record.stage.get();
    return nullptr;
}

std::vector<StagePtr> Trace::stages() const {
    std::vector<StagePtr> found;
    for (const StageRecord& record : records)
        if (!is_parameter(*record.stage->info)) found.push_back(record.stage);
    return found;
}

std::vector<StagePtr> Trace::parameters() const {
    std::vector<StagePtr> found;
    for (const StageRecord& record : records)
        if (is_parameter(*record.stage->info)) found.push_back(record.stage);
    return found;
}

std::string Trace::label(Axis axis, int index) const {
    const std::vector<std::string>* labels = axis == query_token ? &rows
                                             : axis == key_token ? &columns
                                             : axis == table_row ? &table
                                                                 : nullptr;
    if (axis == single) return "";
    const auto i = static_cast<std::size_t>(index);
    return labels && i < labels->size() ? (*labels)[i] : std::to_string(index + 1);
}

bool Trace::fully_masked(int row) const {
    const Stage* masked = find("masked");
    if (!masked || row < 0 || row >= masked->shape().rows) return false;
    for (int h = 0; h < masked->shape().heads; ++h)
        if (!(masked->buffer.host().head(h).row(row).array() == -INFINITY).all()) return false;
    return true;
}

}  // namespace attnscope
