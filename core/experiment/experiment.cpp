#include "core/experiment/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <set>

#include "core/error.h"
#include "core/experiment/masks.h"
#include "core/image/patches.h"
#include "core/limits.h"
#include "core/random/initializers.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"

namespace attnscope {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::bad_input, message); }

void check_whole(const char* field, int value, int low, int high) {
    if (value < low || value > high)
        refuse(fmt::format("{} {} is out of range: use {} to {}", field, value, low, high));
}

[[noreturn]] void refuse_matrix(const std::string& name) {
    std::string known;
    for (const OverridableMatrix& entry : overridable_matrices())
        known += (known.empty() ? "" : ", ") + std::string(entry.name);
    refuse(fmt::format("given \"{}\" is not known: use {}", message_text(name, k_longest_quotation), known));
}

void check_seq2seq(const Experiment& e) {
    check_whole("max-steps", e.seq2seq.max_steps, 1, k_max_tokens);
    check_whole("encoder-size", e.seq2seq.encoder_size, 1, k_max_dim);
    check_whole("decoder-size", e.seq2seq.decoder_size, 1, k_max_dim);
}

void check_numbers(const Experiment& e) {
    // The scores are scaled in float32, so that is the type in which the value must be finite.
    if (e.attention.scale.kind == Scale::Kind::number &&
        !std::isfinite(static_cast<float>(e.attention.scale.number)))
        refuse("scale is not finite in float32: use sqrt, none or a number up to 3.4e38");
    const auto temperature = static_cast<float>(e.weighting.temperature);
    if (!(temperature > 0) || !std::isfinite(temperature))
        refuse("temperature must be above 0 and finite in float32: use 1 for the plain softmax");
    if (!std::isfinite(static_cast<float>(e.attention.sharpening)))
        refuse("sharpening is not finite in float32: use 1 for the plain cosine");
    const auto two_variances =
        2 * static_cast<float>(e.attention.bandwidth) * static_cast<float>(e.attention.bandwidth);
    if (!(e.attention.bandwidth > 0) || !std::isnormal(two_variances))
        refuse(fmt::format("bandwidth {} is out of range: use 1e-18 to 1e18", e.attention.bandwidth));
    if (!(e.attention.layer_norm_epsilon > 0 && e.attention.layer_norm_epsilon <= 1))
        refuse(fmt::format("layer-norm-epsilon {} is out of range: it must be above 0 and at most 1",
                           e.attention.layer_norm_epsilon));
    if (!(e.weighting.local_window >= 0 && e.weighting.local_window <= k_max_tokens))
        refuse(fmt::format("local-window {} is out of range: use 0 to {}", e.weighting.local_window,
                           k_max_tokens));
    const auto bell =
        static_cast<float>(e.weighting.local_window * e.weighting.local_window / 2);  // 2 (D ÷ 2)²
    if (e.weighting.normalizer == Normalization::local_p && !std::isnormal(bell))
        refuse("local-window " + fmt::format("{}", e.weighting.local_window) +
               " is too narrow for local-p: use 0.001 or more");
    if (!(e.attention.dropout >= 0 && e.attention.dropout < 1))
        refuse("dropout must be at least 0 and below 1: use 0 for none");
}

void check_text(const char* field, const std::string& text) {
    if (text.size() > k_max_text_bytes)
        throw Error(ErrorKind::too_large, fmt::format("{} has {} bytes and the limit is {}: shorten it",
                                                      field, text.size(), k_max_text_bytes));
    require_utf8(text);
}

void check_mask(const Experiment& e) {
    if (e.weighting.mask.size() > k_max_mask_rules)
        refuse(fmt::format("mask has {} rules, and up to {} are supported: use fewer",
                           e.weighting.mask.size(), k_max_mask_rules));
    for (const MaskRule& rule : e.weighting.mask) mask_kind(rule.kind).check(rule);
}

void check_image(const Experiment& e) {
    check_whole("grid", e.input.grid, 1, k_max_grid);
    check_whole("patch-size", e.input.patch_size, 1, k_max_patch_size);
    if (!e.input.image) return;
    const Image& image = e.input.image->image();
    if (image.width < 1 || image.height < 1 ||
        image.rgb.size() !=
            3 * static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height))
        refuse(fmt::format("image is {} × {} pixels of {} bytes: use three bytes a pixel", image.width,
                           image.height, image.rgb.size()));
    if (!e.input.text2.empty() && mechanism_rule(e.mechanism).reads_image)
        refuse("text2 and image both define the keys: leave text2 empty or use image none");
}

void check_training(const Training& training) {
    check_text("corpus", training.corpus);
    const Optimizer& optimizer = training.optimizer;
    const auto require = [](bool holds, const char* field, double value, const char* range) {
        if (!holds) refuse(fmt::format("{} {} is out of range: use {}", field, value, range));
    };
    // Steps are taken in float32.
    const auto is_finite = [](double value) { return std::isfinite(static_cast<float>(value)); };
    require(optimizer.learning_rate > 0 && is_finite(optimizer.learning_rate), "learning-rate",
            optimizer.learning_rate, "a number above 0, up to 3.4e38");
    require(optimizer.momentum >= 0 && optimizer.momentum < 1, "momentum", optimizer.momentum,
            "at least 0 and below 1");
    require(optimizer.weight_decay >= 0 && is_finite(optimizer.weight_decay), "weight-decay",
            optimizer.weight_decay, "0 or more");
    require(optimizer.clip >= 0, "clip", optimizer.clip, "0 (no limit) or more");
    check_whole("warm-up", optimizer.warm_up, 0, k_max_training_steps);
    check_whole("decay", optimizer.decay, 0, k_max_training_steps);
    check_whole("batch", training.batch, 1, k_max_batch);
    check_whole("step", training.step, 0, k_max_training_steps);
}

}  // namespace

double Scale::factor(int d_k) const {
    switch (kind) {
        case Kind::sqrt: return 1.0 / std::sqrt(static_cast<double>(d_k));
        case Kind::none: return 1.0;
        case Kind::number: return number;
    }
    return 1.0;
}

bool CustomMatrix::operator==(const CustomMatrix& other) const {
    if (values_ == other.values_) return true;
    const Matrix& a = *values_;
    const Matrix& b = *other.values_;
    if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
    const auto same = [](float x, float y) {
        return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) ||
               (std::isnan(x) && std::isnan(y));
    };
    // Runs that are equal to the bit are compared as bytes, which is several times faster.
    constexpr Eigen::Index k_run = 4096;
    for (Eigen::Index begin = 0; begin < a.size(); begin += k_run) {
        const Eigen::Index count = std::min(k_run, a.size() - begin);
        const float *x = a.data() + begin, *y = b.data() + begin;
        if (std::memcmp(x, y, static_cast<std::size_t>(count) * sizeof(float)) != 0 &&
            !std::equal(x, x + count, y, same))
            return false;
    }
    return true;
}

std::string why_sizes_do_not_fit(const Experiment& e) {
    const MechanismRule& rule = mechanism_rule(e.mechanism);
    if (!rule.has_heads) return "";
    const auto undivided = [&](const char* field, int size) {
        return fmt::format("heads {} does not divide {} {}: use a divisor", e.attention.heads, field, size);
    };
    if (rule.has_layers) return e.input.dim % e.attention.heads == 0 ? "" : undivided("dim", e.input.dim);
    if (e.key_columns() % e.attention.heads != 0 && !e.is_custom("query"))
        return undivided(e.attention.key_size > 0 ? "key-size" : "dim", e.key_columns());
    if (e.value_columns() % e.attention.heads != 0 && !e.is_custom("value"))
        return undivided(e.attention.value_size > 0 ? "value-size" : "dim", e.value_columns());
    const bool own_sizes = e.key_columns() != e.input.dim || e.value_columns() != e.input.dim;
    if (own_sizes && projection_rule(e.attention.projection).keeps_size)
        return fmt::format(
            "projection {} keeps the size {} of the embedding: set key-size and value-size to 0 or choose "
            "another projection",
            name_of(e.attention.projection), e.input.dim);
    return "";
}

std::string why_rope_does_not_fit(int d_k) {
    if (d_k % 2 == 0) return "";
    return fmt::format("position rope rotates pairs of features, but d_k is {}: use an even number per head",
                       d_k);
}

bool is_designed(const Experiment& e) {
    return e.input.uses_lexicon() && !e.is_custom("embedding") && !e.is_custom("E") && !e.is_custom("E_src");
}

std::string unprojected_text(const Experiment& e) {
    const bool two_sides = !e.input.text2.empty() || e.input.image || e.is_custom("embedding_kv");
    if (e.is_custom("embedding_v")) return std::string("Q = X, K = ") + (two_sides ? "Y" : "X") + ", V = Y_v";
    return two_sides ? "Q = X, K = V = Y" : "Q = K = V = X";
}

std::vector<HeadPlace> parse_heads(std::string_view text) {
    std::set<HeadPlace> heads;
    const auto refuse_text = [&] {
        refuse(fmt::format("expected LAYER.HEAD, several separated by commas, not \"{}\"",
                           message_text(text, k_longest_quotation)));
    };
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t comma = rest.find(',');
        std::string each(rest.substr(0, comma));
        std::erase(each, ' ');
        HeadPlace place{};
        const char* const end = each.data() + each.size();
        const auto layer = std::from_chars(each.data(), end, place.layer);
        if (layer.ec != std::errc{} || layer.ptr == end || *layer.ptr != '.') refuse_text();
        const auto head = std::from_chars(layer.ptr + 1, end, place.head);
        if (head.ec != std::errc{} || head.ptr != end || place.layer < 1 || place.head < 1) refuse_text();
        heads.insert(place);
        if (std::ssize(heads) > std::ptrdiff_t{k_max_layers} * k_max_heads)
            refuse(fmt::format("at most {} heads can be named: remove those that do not exist",
                               k_max_layers * k_max_heads));
        if (comma == rest.npos) break;
        rest.remove_prefix(comma + 1);
    }
    return {heads.begin(), heads.end()};
}

std::string heads_text(const std::vector<HeadPlace>& heads) {
    std::string text;
    for (const HeadPlace& place : heads)
        text += fmt::format("{}{}.{}", text.empty() ? "" : ", ", place.layer, place.head);
    return text;
}

namespace {

int layers_of(const Experiment& e) {
    return mechanism_rule(e.mechanism).has_layers ? e.transformer.layers : 1;
}

bool has_head(const Experiment& e, const HeadPlace& place) {
    return place.layer <= layers_of(e) && place.head <= e.attention.heads;
}

void check_heads(const Experiment& e, const char* option, const std::vector<HeadPlace>& heads) {
    for (const HeadPlace& place : heads) {
        if (has_head(e, place)) continue;
        const std::string layers = mechanism_rule(e.mechanism).has_layers
                                       ? fmt::format("the layers are 1 to {}", e.transformer.layers)
                                       : "attention has one layer";
        const std::string own =
            e.attention.heads == 1 ? "one head" : fmt::format("heads 1 to {}", e.attention.heads);
        refuse(fmt::format("{} {}.{} does not exist: {}, with {}", option, place.layer, place.head, layers,
                           own));
    }
}

}  // namespace

std::vector<int> ablated_heads(const Experiment& e, int layer) {
    std::vector<int> heads;
    if (!mechanism_rule(e.mechanism).has_heads) return heads;
    for (const HeadPlace& place : e.attention.ablated)
        if (place.layer == layer) heads.push_back(place.head - 1);
    return heads;
}

bool is_ablated(const Experiment& e, const HeadPlace& place) {
    return std::ranges::binary_search(ablated_heads(e, place.layer), place.head - 1);
}

void drop_missing_heads(Experiment& e) {
    const auto drop = [&](std::vector<HeadPlace>& heads) {
        std::erase_if(heads, [&](const HeadPlace& place) { return !has_head(e, place); });
    };
    if (mechanism_rule(e.mechanism).has_heads) drop(e.attention.ablated);
    if (mechanism_rule(e.mechanism).has_layers) drop(e.training.ablated);
}

void check(const Experiment& e) {
    check_text("text", e.input.text);
    check_text("text2", e.input.text2);
    check_text("words", e.input.words);
    check_text("words2", e.input.words2);
    check_whole("table-size", e.input.table_size, 0, k_max_table_size);
    check_whole("dim", e.input.dim, 1, k_max_dim);
    check_whole("heads", e.attention.heads, 1, k_max_heads);
    check_whole("key-size", e.attention.key_size, 0, k_max_dim);
    check_whole("value-size", e.attention.value_size, 0, k_max_dim);
    check_whole("hidden", e.weighting.hidden, 1, k_max_dim);
    check_whole("context-length", e.attention.context_length, 1, k_max_tokens);
    check_whole("layers", e.transformer.layers, 1, k_max_layers);
    check_whole("feed-forward-size", e.attention.feed_forward_size, 0, 4 * k_max_dim);
    check_seq2seq(e);
    if (mechanism_rule(e.mechanism).has_heads) check_heads(e, "ablate", e.attention.ablated);
    if (mechanism_rule(e.mechanism).has_layers) check_heads(e, "train-ablated", e.training.ablated);
    if (const std::string why = why_sizes_do_not_fit(e); !why.empty()) refuse(why);
    check_image(e);
    check_mask(e);
    check_numbers(e);
    check_training(e.training);
    if (e.training.step > 0 && e.weights.custom.empty())
        refuse(fmt::format("step {} has no learned matrices: set step to 0", e.training.step));
    for (const auto& [name, matrix] : e.weights.custom)
        if (!find_overridable(name)) refuse_matrix(name);
}

}  // namespace attnscope
