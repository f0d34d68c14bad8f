#include "core/session/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cmath>
#include <utility>
#include <vector>

#include "core/experiment/masks.h"
#include "core/files/decode_image.h"
#include "core/graph/trace.h"
#include "core/image/patches.h"
#include "core/limits.h"
#include "core/mechanism/attention/scores.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/op/normalizers.h"
#include "core/picture/colormap.h"
#include "core/picture/theme.h"
#include "core/random/initializers.h"
#include "core/session/option_parts.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

using namespace option_parts;

bool as_boolean(const OptionValue& value) {
    if (!value.json.is_boolean()) refuse("expected true or false, not " + value.quoted());
    return value.json.get<bool>();
}

int as_int(const OptionValue& value) {
    // JSON's numbers beyond 64 bits arrive as floating point.
    const bool enormous = value.json.is_number() && std::abs(value.json.get<double>()) > INT_MAX;
    if (enormous) refuse(value.quoted() + " is out of range");
    if (!value.json.is_number_integer()) refuse("expected a whole number, not " + value.quoted());
    return value.json.get<int>();
}

double as_double(const OptionValue& value) {
    if (!value.json.is_number()) refuse("expected a number, not " + value.quoted());
    // JSON has no other numbers, so they could not be written back.
    if (!std::isfinite(value.json.get<double>())) refuse("expected a finite number, not " + value.quoted());
    return value.json.get<double>();
}

Seed as_seed(const OptionValue& value) {
    if (!value.json.is_number_integer())
        refuse("expected a whole number from -2^63 to 2^64-1, not " + value.quoted());
    return value.json.is_number_unsigned() ? Seed::from_unsigned(value.json.get<std::uint64_t>())
                                           : Seed(value.json.get<std::int64_t>());
}

template <typename E>
E as_choice(const OptionValue& value) {
    const auto choice = find_choice<E>(as_text(value));
    if (!choice) refuse(value.quoted() + " is not known: use " + known_names<E>());
    return *choice;
}

/// "a,b" as two numbers.
std::optional<std::pair<double, double>> parse_pair(std::string_view text) {
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    const auto first = parse_double(text.substr(0, comma)), second = parse_double(text.substr(comma + 1));
    if (!first || !second) return std::nullopt;
    return std::pair(*first, *second);
}

/// A whole number is written without a decimal point.
Json local_window_json(const Session& s) {
    const double D = s.experiment.weighting.local_window;
    return D == std::floor(D) && std::abs(D) <= k_max_tokens ? Json(static_cast<int>(D)) : Json(D);
}

Json scale_json(const Session& s) {
    switch (s.experiment.attention.scale.kind) {
        case Scale::Kind::sqrt: return "sqrt";
        case Scale::Kind::none: return "none";
        case Scale::Kind::number: return s.experiment.attention.scale.number;
    }
    return nullptr;
}

void set_scale(Session& s, const OptionValue& value) {
    if (value.json.is_number())
        s.experiment.attention.scale = {Scale::Kind::number, as_double(value)};
    else if (value.json == "sqrt")
        s.experiment.attention.scale = {};
    else if (value.json == "none")
        s.experiment.attention.scale = {Scale::Kind::none};
    else
        refuse("expected sqrt, none or a number, not " + value.quoted());
}

template <ProjectionSeed Weights::*member>
Json weight_seed_json(const Session& s) {
    const ProjectionSeed& seed = s.experiment.weights.*member;
    switch (seed.kind) {
        case ProjectionSeed::Kind::same: return "same";
        case ProjectionSeed::Kind::proceed: return "continue";
        case ProjectionSeed::Kind::own: return seed_json(seed.seed);
    }
    return nullptr;
}

template <ProjectionSeed Weights::*member>
void set_weight_seed(Session& s, const OptionValue& value) {
    ProjectionSeed& seed = s.experiment.weights.*member;
    if (value.json == "same")
        seed = {};
    else if (value.json == "continue")
        seed = {ProjectionSeed::Kind::proceed, {}};
    else if (value.json.is_string())
        refuse("expected same, continue or a whole number, not " + value.quoted());
    else
        seed = {ProjectionSeed::Kind::own, as_seed(value)};
}

Json mask_json(const Session& s) {
    Json rules = Json::array();
    for (const MaskRule& rule : s.experiment.weighting.mask) rules.push_back(mask_rule_text(rule));
    return rules;
}

void set_mask(Session& s, const OptionValue& value) {
    if (!value.json.is_array())
        refuse("expected a list of rules such as [\"causal\"], not " + value.quoted());
    if (value.json.size() > k_max_mask_rules)
        refuse(fmt::format("the list has {} rules, and up to {} are supported: use fewer", value.json.size(),
                           k_max_mask_rules));
    std::vector<MaskRule> rules;
    for (const Json& rule : value.json)
        if (rule != "none") rules.push_back(parse_mask_rule(as_text({rule})));
    s.experiment.weighting.mask = std::move(rules);
}

Json custom_json(const Session& s) {
    Json names = Json::array();
    for (const auto& [name, matrix] : s.experiment.weights.custom) names.push_back(name);
    return names;
}

Json image_json(const Session& s) {
    const auto& image = s.experiment.input.image;
    if (!image) return "none";
    if (*image == drawn_picture()) return "drawn";
    return image_to_data_url(image->image());
}

void set_image(Session& s, const OptionValue& value) {
    const std::string text = as_text(value);
    if (text == "none")
        s.experiment.input.image.reset();
    else if (text == "drawn")
        s.experiment.input.image = drawn_picture();
    else if (text.starts_with("data:"))
        s.experiment.input.image = image_from_data_url(text);
    else
        refuse("expected none, drawn or \"data:image/png;base64,…\", not " + value.quoted());
}

Json head_json(const Session& s) {
    const HeadChoice& head = s.presentation.head;
    return head.kind == HeadChoice::Kind::one ? Json(head.head + 1) : Json(head_text(head));
}

void set_head(Session& s, const OptionValue& value) {
    s.presentation.head = parse_head(value.json.is_string() ? as_text(value) : value.quoted());
}

void set_stage(Session& s, const OptionValue& value) {
    const std::string name = as_text(value);
    const auto key = find_stage_key(name);
    if (!key) {
        std::vector<std::string> known;
        for (const StageInfo& info : stage_table()) known.emplace_back(info.name);
        refuse(value.quoted() + " is not a stage" + instead_of(name, known));
    }
    s.presentation.set_stage(*key);
}

void set_layer(Session& s, const OptionValue& value) {
    const int layer = as_int(value);
    if (layer < 1 || layer > k_max_layers)
        refuse(fmt::format("{} is out of range: use 1 to {}", layer, k_max_layers));
    s.presentation.set_layer(layer);
}

Json cell_size_json(const Session& s) {
    const std::optional<int>& size = s.presentation.cell_size;
    return size ? Json(*size) : Json("auto");
}

int as_max_cells(const OptionValue& value) {
    const int cells = as_int(value);
    if (cells < k_least_max_cells || cells > k_most_max_cells)
        refuse(fmt::format("{} is out of range: use {} to {}", cells, k_least_max_cells, k_most_max_cells));
    return cells;
}

void set_cell_size(Session& s, const OptionValue& value) {
    if (value.json == "auto") {
        s.presentation.cell_size.reset();
        return;
    }
    if (value.json.is_string()) refuse("expected auto or a whole number, not " + value.quoted());
    const int size = as_int(value);
    if (size < 1 || size > 512) refuse(fmt::format("{} is out of range: use 1 to 512", size));
    s.presentation.cell_size = size;
}

Json region_json(const Session& s) {
    const std::optional<Region>& region = s.presentation.region;
    if (!region) return "all";
    return fmt::format("{}:{},{}:{}", region->row + 1, region->end_row(), region->column + 1,
                       region->end_column());
}

void set_region(Session& s, const OptionValue& value) {
    const std::string text = as_text(value);
    if (text == "all") {
        s.presentation.region.reset();
        return;
    }
    std::array<int, 4> ends{};  // first and last query, first and last key
    constexpr std::string_view k_after = ":,:";
    const char* at = text.data();
    const char* const end = at + text.size();
    bool good = true;
    for (std::size_t i = 0; i < ends.size() && good; ++i) {
        const auto [next, error] = std::from_chars(at, end, ends[i]);
        good = error == std::errc{} && ends[i] >= 1 && ends[i] <= k_max_long_tokens &&
               (i == 3 ? next == end : next != end && *next == k_after[i]);
        at = next + 1;
    }
    if (!good || ends[1] < ends[0] || ends[3] < ends[2])
        refuse("expected all or FIRST:LAST,FIRST:LAST, queries and keys counted from 1, not " +
               value.quoted());
    s.presentation.region = Region{ends[0] - 1, ends[2] - 1, ends[1] - ends[0] + 1, ends[3] - ends[2] + 1};
}

/// A number from least to most, which text may follow with its unit: 84, "84mm".
double as_measure(const OptionValue& value, std::string_view unit, double least, double most) {
    std::optional<double> number;
    if (value.json.is_number()) number = as_double(value);
    if (value.json.is_string()) {
        std::string text = as_text(value);
        if (text.ends_with(unit)) text.resize(text.size() - unit.size());
        number = parse_double(text.substr(0, text.find_last_not_of(' ') + 1));
    }
    if (!number || !std::isfinite(*number))
        refuse(fmt::format("expected a number of {}, not {}", unit, value.quoted()));
    if (*number < least || *number > most)
        refuse(fmt::format("{} {} is out of range: use {} to {}", shortest_text(*number), unit, least, most));
    return *number;
}

Json width_json(const Session& s) {
    return s.presentation.width ? Json(*s.presentation.width) : Json("none");
}

void set_width(Session& s, const OptionValue& value) {
    s.presentation.width.reset();
    if (value.json != "none") s.presentation.width = as_measure(value, "mm", 20, 2000);
}

Json decimals_json(const Session& s) {
    return s.presentation.decimals ? Json(*s.presentation.decimals) : Json("auto");
}

void set_decimals(Session& s, const OptionValue& value) {
    s.presentation.decimals.reset();
    if (value.json == "auto") return;
    if (value.json.is_string()) refuse("expected auto or a whole number, not " + value.quoted());
    const int decimals = as_int(value);
    if (decimals < 0 || decimals > 6) refuse(fmt::format("{} is out of range: use 0 to 6", decimals));
    s.presentation.decimals = decimals;
}

std::string as_caption(const OptionValue& value) {
    std::string text = as_text(value);
    if (text.size() > k_max_caption_bytes)
        refuse(fmt::format("it has more than {} bytes: shorten it", k_max_caption_bytes));
    return text;
}

void set_title(Session& s, const OptionValue& value) {
    s.presentation.title = value.json == "auto" ? std::nullopt : std::optional(as_caption(value));
}

void set_mass(Session& s, const OptionValue& value) {
    const double mass = as_double(value);
    if (mass < k_least_mass || mass > 1)
        refuse(fmt::format("{} is out of range: use {} to 1", value.quoted(), k_least_mass));
    s.presentation.mass = mass;
}

std::string locked_text(const Session& s) {
    const auto& cell = s.presentation.locked;
    if (!cell) return "none";
    const auto& stage = s.presentation.locked_in;
    return fmt::format("{},{}{}", cell->row + 1, cell->column + 1, stage ? "," + stage_name(*stage) : "");
}

void set_locked(Session& s, const OptionValue& value) {
    const std::string text = as_text(value);
    if (text == "none") return s.presentation.unlock();
    const std::size_t after = text.find(',', text.find(',') + 1);
    const auto pair = parse_pair(text.substr(0, after));
    const auto stage = after == text.npos ? std::nullopt : find_stage_key(text.substr(after + 1));
    const auto index = [](double x) { return x >= 1 && x <= 1e9 && x == std::floor(x); };
    const bool known = after == text.npos || stage;
    if (!pair || !index(pair->first) || !index(pair->second) || !known)
        refuse("expected none or ROW,COLUMN counted from 1, or ROW,COLUMN,STAGE, not " + value.quoted());
    s.presentation.locked_in = stage;
    s.presentation.locked = Cell{static_cast<int>(pair->first) - 1, static_cast<int>(pair->second) - 1};
}

// The values of closed choices, for the panel
// -----------------------------------------------------------------------------------------------------

/// The entries of a table.
template <typename Table>
std::vector<OptionChoice> choices_of(const Table& table) {
    std::vector<OptionChoice> all;
    for (const auto& entry : table) all.push_back({name_of(entry.choice), std::string(entry.summary)});
    return all;
}

/// All values of an enum, each with its help.
template <typename E, std::size_t N>
std::vector<OptionChoice> choices_of(const char* const (&help)[N]) {
    static_assert(N == choices<E>().size());
    std::vector<OptionChoice> all;
    for (const auto& [value, name] : choices<E>()) all.push_back({name, help[all.size()]});
    return all;
}

std::vector<OptionChoice> mechanism_choices() {
    std::vector<OptionChoice> all;
    for (const Mechanism* each : mechanisms())
        all.push_back({name_of(each->choice), std::string(each->summary)});
    return all;
}

std::vector<OptionChoice> projection_choices(const Experiment& e) {
    std::vector<OptionChoice> all = choices_of(projection_rules());
    all.front().help = unprojected_text(e);
    return all;
}

// The table
// -----------------------------------------------------------------------------------------------------

using enum OptionType;
#define FIELD(part, member, convert)                        \
    [](const Session& s) -> Json { return s.part.member; }, \
        [](Session& s, const OptionValue& v) { s.part.member = convert(v); }
#define CHOICE(part, member)                                                      \
    [](const Session& s) -> Json { return std::string(name_of(s.part.member)); }, \
        [](Session& s, const OptionValue& v) { s.part.member = as_choice<decltype(s.part.member)>(v); }

#define VALUES(...) []([[maybe_unused]] const Experiment& e) { return __VA_ARGS__; }

using Section = OptionSection;
using control::Fill;

const std::array k_options = {
    Option{"text", Section::input, "", "TEXT", "The sentence", text, FIELD(experiment, input.text, as_text)},
    Option{"text2", Section::input, "", "TEXT",
           "The sentence that provides keys and values, the target sentence of seq2seq, or a transformer's "
           "targets; empty: the same as text",
           text, FIELD(experiment, input.text2, as_text)},
    Option{"mechanism", Section::input, "", k_arguments<decltype(Experiment::mechanism)>,
           "attention: all queries at once; seq2seq: an encoder and a decoder that aligns step by step, with "
           "text as its source and text2 as its target; transformer: a stack of layers that predicts tokens",
           text, CHOICE(experiment, mechanism), "Mechanism", control::Choices{VALUES(mechanism_choices())}},
    Option{"tokenizer", Section::input, "", k_arguments<decltype(Input::tokenizer)>,
           "How the sentence is cut into tokens", text, CHOICE(experiment, input.tokenizer), "Tokens",
           control::Choices{VALUES(choices_of(tokenizers()))}},
    Option{"vocabulary", Section::input, "", k_arguments<decltype(Input::vocabulary)>,
           "The order of the words in the table; stable: a word keeps its vector whatever else is typed; "
           "lexicon: "
           "its vector is its features, such as noun, plural, animal",
           text, CHOICE(experiment, input.vocabulary), "Vocabulary",
           control::Choices{VALUES(choices_of(vocabulary_rules()))}},
    Option{"words", Section::input, "", "TEXT",
           "The vocabulary in order, separated by spaces (characters tokenizer: its characters); sentences "
           "may use only these; empty: taken from the sentences",
           text, FIELD(experiment, input.words, as_text)},
    Option{"words2", Section::input, "", "TEXT",
           "The vocabulary of the target of seq2seq, chosen like words; it starts with <bos> and <eos>", text,
           FIELD(experiment, input.words2, as_text)},
    Option{"seed", Section::embedding, "", "N",
           "Seed of the random numbers, as in torch.manual_seed: -2^63 to 2^64-1", whole,
           [](const Session& s) { return seed_json(s.experiment.weights.seed); },
           [](Session& s, const OptionValue& v) { s.experiment.weights.seed = as_seed(v); }, "Seed",
           control::SeedField{}},
    Option{"dim", Section::embedding, "d", "N",
           "Dimensions per token, 1 to 1024; a multiple of heads, unless key-size and value-size are set",
           whole, FIELD(experiment, input.dim, as_int), "Dimension", control::Own{}},
    Option{"embedding", Section::embedding, "", k_arguments<decltype(Weights::embedding)>,
           "How the embedding table is drawn", text, CHOICE(experiment, weights.embedding), "Init",
           control::Choices{VALUES(choices_of(initializers()))}},
    Option{"table-size", Section::embedding, "", "N",
           "Minimum number of rows of the embedding table, 0 to 1000000", whole,
           FIELD(experiment, input.table_size, as_int), "Table rows", control::Whole{0, k_max_table_size}},
    Option{"image", Section::image, "", "PATH|drawn|none",
           "A picture whose patches provide keys and values: a PNG or JPEG, read immediately and "
           "stored in the session; its central square is kept, at most 448 pixels per side; drawn: the "
           "built-in picture",
           picture, image_json, set_image, "Picture", control::Own{}},
    Option{"grid", Section::image, "", "N", "Patches per side, 1 to 32", whole,
           FIELD(experiment, input.grid, as_int), "Grid", control::Whole{1, k_max_grid, Fill::linear}},
    Option{"patch-size", Section::image, "", "N",
           "Pixels per side of a patch, 1 to 64: the picture is resampled to (grid × patch-size)² pixels",
           whole, FIELD(experiment, input.patch_size, as_int), "Patch size",
           control::Whole{1, k_max_patch_size, Fill::linear}},
    Option{"image-seed", Section::image, "", "same|continue|N",
           "Seed of the patches' projection. same: reuse the seed; continue: continue after the embedding "
           "table; N: a separate seed",
           word_or_number, weight_seed_json<&Weights::image_seed>, set_weight_seed<&Weights::image_seed>,
           "Seed", control::WeightSeed{"the embedding table"}},
    Option{"position", Section::position, "", k_arguments<decltype(Attention::position)>,
           "Positional encoding: added to X (sinusoidal, learned), applied by rotating Q and K (rope), or a "
           "bias on the scores (alibi)",
           text, CHOICE(experiment, attention.position), "Encoding",
           control::Choices{
               VALUES(choices_of<Position>({"No position: reordered tokens give the same rows",
                                            "Sines and cosines of the position are added to X",
                                            "Q and K are rotated by angles that grow with the position",
                                            "Scores decrease with distance, with a slope per head",
                                            "Rows of a drawn table are added to X"}))}},
    Option{"context-length", Section::position, "", "N",
           "Rows of the learned positions, the longest sentence; 1 to 4096", whole,
           FIELD(experiment, attention.context_length, as_int), "Max length",
           control::Whole{1, k_max_tokens, Fill::logarithmic}},
    Option{"rope-layout", Section::position, "", k_arguments<decltype(Attention::rope_layout)>,
           "Which features are rotated as a pair", text, CHOICE(experiment, attention.rope_layout), "Pairs",
           control::Choices{VALUES(choices_of<RopeLayout>(
               {"Features 1 and 2, 3 and 4, …", "A feature of the first half and one of the second"}))}},
    Option{"projection", Section::projections, "W", k_arguments<decltype(Attention::projection)>,
           "How W_q, W_k, W_v (and W_o) are drawn; none: Q, K and V are the embeddings", text,
           CHOICE(experiment, attention.projection), "Init", control::Choices{VALUES(projection_choices(e))}},
    Option{"projection-seed", Section::projections, "", "same|continue|N",
           "Seed of the projections. same: reuse the seed; continue: continue after the embedding table "
           "(with an image, after its "
           "projection); N: a separate seed",
           word_or_number, weight_seed_json<&Weights::projection_seed>,
           set_weight_seed<&Weights::projection_seed>, "Seed", control::WeightSeed{"the embedding table"}},
    Option{"projection-bias", Section::projections, "b", "",
           "Add biases, drawn as by torch.nn.Linear (mha: zeros)", boolean,
           FIELD(experiment, attention.projection_bias, as_boolean), "Biases", control::Toggle{}},
    Option{"key-size", Section::projections, "h·d_k", "N",
           "Columns of Q and K, all heads together, 1 to 1024, a multiple of heads; 0: dim", whole,
           FIELD(experiment, attention.key_size, as_int), "Key size", control::Own{}},
    Option{"value-size", Section::projections, "h·d_v", "N",
           "Columns of V, all heads together, 1 to 1024, a multiple of heads; 0: dim", whole,
           FIELD(experiment, attention.value_size, as_int), "Value size", control::Own{}},
    Option{"heads", Section::heads, "h", "N",
           "Heads of attention, 1 to 64; they divide dim, or key-size and value-size", whole,
           FIELD(experiment, attention.heads, as_int), "Heads", control::Own{}},
    Option{"score", Section::score, "", k_arguments<decltype(Attention::score)>,
           "How a query is compared with a key", text, CHOICE(experiment, attention.score), "Function",
           control::Choices{VALUES(choices_of(score_functions()))}},
    Option{"hidden", Section::score, "", "N",
           "Units of the hidden layer of the score, of local-p and of seq2seq's alignment, 1 to 1024", whole,
           FIELD(experiment, weighting.hidden, as_int), "Hidden",
           control::Whole{1, k_max_dim, Fill::logarithmic}},
    Option{"score-seed", Section::score, "", "same|continue|N",
           "Seed of the score's weights. same: reuse the seed; continue: continue after the projections; N: "
           "a separate seed",
           word_or_number, weight_seed_json<&Weights::score_seed>, set_weight_seed<&Weights::score_seed>,
           "Seed", control::WeightSeed{"the projections"}},
    Option{"sharpening", Section::score, "β", "NUMBER", "Factor of the cosine", number,
           FIELD(experiment, attention.sharpening, as_double), "Sharpening", control::Factor{}},
    Option{"bandwidth", Section::score, "σ", "NUMBER",
           "Width of the Gaussian kernel of the rbf score, above 0", number,
           FIELD(experiment, attention.bandwidth, as_double), "Bandwidth", control::Factor{}},
    Option{"scale", Section::score, "s", "sqrt|none|NUMBER", "Factor of the scores; sqrt: 1/√d_k",
           word_or_number, scale_json, set_scale, "Scale", control::Own{}},
    Option{
        "mask", Section::mask, "", mask_arguments(),
        "Which query may attend to which key; repeatable: a pair is open if all rules allow it; valid marks "
        "padding; a file (CSV, NPY) of 0 (closed) and 1 (open) is read immediately and stored in the session",
        list, mask_json, set_mask, "Mask", control::Own{}},
    Option{"temperature", Section::softmax, "T", "T", "Divides the scaled scores; above 0", number,
           FIELD(experiment, weighting.temperature, as_double), "Temperature", control::Factor{.decades = 4}},
    Option{"normalizer", Section::softmax, "", k_arguments<decltype(Weighting::normalizer)>,
           "How masked scores become weights", text, CHOICE(experiment, weighting.normalizer),
           "Normalization", control::Choices{VALUES(choices_of(normalizers()))}},
    Option{
        "softmax-axis", Section::softmax, "", k_arguments<decltype(Attention::softmax_axis)>,
        "The direction in which the weights sum to 1: each row over the keys, or each column over the "
        "queries",
        text, CHOICE(experiment, attention.softmax_axis), "Over",
        control::Choices{VALUES(choices_of<SoftmaxAxis>({"Each row sums to 1", "Each column sums to 1"}))}},
    Option{"local-window", Section::softmax, "D", "NUMBER",
           "How far local attention looks to either side, 0 to 4096; local-p: above 0", number,
           local_window_json,
           [](Session& s, const OptionValue& v) { s.experiment.weighting.local_window = as_double(v); },
           "Half-width", control::Own{}},
    Option{"dropout", Section::softmax, "p", "P",
           "Probability that dropout sets a weight to 0; at least 0 and below 1", number,
           FIELD(experiment, attention.dropout, as_double), "Dropout", control::Share{0.95}},
    Option{"dropout-seed", Section::softmax, "", "N", "Seed of dropout", whole,
           [](const Session& s) { return seed_json(s.experiment.attention.dropout_seed); },
           [](Session& s, const OptionValue& v) { s.experiment.attention.dropout_seed = as_seed(v); },
           "Dropout seed", control::SeedField{}},
    Option{"training", Section::softmax, "", "",
           "Training mode, in which dropout is applied; off: evaluation mode, in which it is not", boolean,
           FIELD(experiment, attention.training, as_boolean), "Training", control::Toggle{}},
    Option{"output-projection", Section::output, "W_o", "", "Project the context with W_oᵀ", boolean,
           FIELD(experiment, attention.output_projection, as_boolean), "Projection", control::Toggle{}},
    Option{"ablate", Section::output, "", "LAYER.HEAD[,…]",
           "Heads whose contexts are replaced, such as 2.1,2.2", text,
           [](const Session& s) -> Json { return heads_text(s.experiment.attention.ablated); },
           [](Session& s, const OptionValue& v) { s.experiment.attention.ablated = parse_heads(as_text(v)); },
           "Ablated heads", control::Text{}},
    Option{"ablation", Section::output, "", k_arguments<decltype(Attention::ablation)>,
           "The context of an ablated head: 0, or its mean over all positions, later ones included", text,
           CHOICE(experiment, attention.ablation), "Replaced by",
           control::Choices{VALUES(choices_of<Ablation>(
               {"Their contexts are 0", "Their contexts are the mean over the positions"}))}},

    Option{"block", Section::block, "", k_arguments<decltype(Attention::block)>,
           "Transformer block around attention: residuals, layer norms and a feed-forward layer", text,
           CHOICE(experiment, attention.block), "Norms",
           control::Choices{VALUES(
               choices_of<Block>({"Attention only", "Each layer norm after adding (Vaswani et al. 2017)",
                                  "Each layer norm before attention and before the feed-forward layer"}))}},
    Option{
        "activation", Section::block, "", k_arguments<decltype(Attention::activation)>,
        "Activation of the feed-forward layer", text, CHOICE(experiment, attention.activation), "Activation",
        control::Choices{
            VALUES(choices_of<Activation>({"max(0, x)", "x · Φ(x), Φ the normal distribution function"}))}},
    Option{"feed-forward-size", Section::block, "", "N",
           "Units of the feed-forward layer, 1 to 4096; 0: 4 dim in a block, no such layer in a transformer",
           whole, FIELD(experiment, attention.feed_forward_size, as_int), "Feed-forward", control::Own{}},
    Option{"layer-norm-epsilon", Section::block, "ε", "NUMBER",
           "Added to the variance in each layer norm; above 0, at most 1", number,
           FIELD(experiment, attention.layer_norm_epsilon, as_double), "Norm ε", control::Factor{}},
    Option{"block-seed", Section::block, "", "same|continue|N",
           "Seed of the block's weights. same: reuse the seed; continue: continue after the score's weights; "
           "N: a separate seed",
           word_or_number, weight_seed_json<&Weights::block_seed>, set_weight_seed<&Weights::block_seed>,
           "Seed", control::WeightSeed{"the score weights"}},
    Option{"layers", Section::transformer, "L", "N", "Layers of the stack, 1 to 24", whole,
           FIELD(experiment, transformer.layers, as_int), "Layers",
           control::Whole{1, k_max_layers, Fill::linear}},
    Option{"norm", Section::transformer, "", k_arguments<decltype(Transformer::norm)>,
           "Layer norms: none, before each layer's attention and feed-forward layer, or after them", text,
           CHOICE(experiment, transformer.norm), "Norms",
           control::Choices{VALUES(choices_of<Norm>(
               {"No layer norms", "Before attention, before the feed-forward layer and at the end",
                "After each addition (Vaswani et al. 2017)"}))}},
    Option{"tied", Section::transformer, "", "", "The output matrix is the embedding table", boolean,
           FIELD(experiment, transformer.tied, as_boolean), "Tied output", control::Toggle{}},
    Option{"objective", Section::transformer, "", k_arguments<decltype(Transformer::objective)>,
           "The target at each position: the next token, or the token of text2 there", text,
           CHOICE(experiment, transformer.objective), "Predicts",
           control::Choices{VALUES(
               choices_of<Objective>({"The next token", "A target of each position: the second sentence"}))}},
    Option{"encoder", Section::seq2seq, "", k_arguments<decltype(Seq2seq::encoder)>,
           "How the source is read: in both directions, or forward only", text,
           CHOICE(experiment, seq2seq.encoder), "Encoder",
           control::Choices{VALUES(choices_of<Encoder>(
               {"Reads the source in both directions", "Reads the source from first to last word"}))}},
    Option{"decoder-attention", Section::seq2seq, "", k_arguments<decltype(Seq2seq::decoder_attention)>,
           "Source of each step's context: the annotations weighted by the alignment, or only the last state "
           "of the encoder",
           text, CHOICE(experiment, seq2seq.decoder_attention), "Attention",
           control::Choices{
               VALUES(choices_of<DecoderAttention>({"Each step aligns with the source (Bahdanau)",
                                                    "Each step sees only the encoder's last state"}))}},
    Option{
        "alignment-state", Section::seq2seq, "", k_arguments<decltype(Seq2seq::alignment_state)>,
        "The decoder state used as the query: the previous step's (Bahdanau) or the current step's (Luong)",
        text, CHOICE(experiment, seq2seq.alignment_state), "Query state",
        control::Choices{VALUES(choices_of<AlignmentState>(
                             {"The state before the step (Bahdanau)", "The step's own state (Luong)"})),
                         " state"}},
    Option{"decode", Section::seq2seq, "", k_arguments<decltype(Seq2seq::decode)>,
           "What each step is fed: the target's words, or the most likely word of the previous step", text,
           CHOICE(experiment, seq2seq.decode), "Decoding",
           control::Choices{VALUES(choices_of<Decode>(
               {"The target words are fed in", "Each predicted word is fed to the next step"}))}},
    Option{"max-steps", Section::seq2seq, "", "N",
           "Maximum number of steps of greedy decoding, which ends earlier at <eos>; 1 to 4096", whole,
           FIELD(experiment, seq2seq.max_steps, as_int), "Max steps",
           control::Whole{1, 100, Fill::logarithmic}},
    Option{"encoder-size", Section::seq2seq, "E", "N", "Hidden units of the encoder per direction, 1 to 1024",
           whole, FIELD(experiment, seq2seq.encoder_size, as_int), "Encoder size",
           control::Whole{1, k_max_dim, Fill::logarithmic}},
    Option{"decoder-size", Section::seq2seq, "D", "N", "Hidden units of the decoder, 1 to 1024", whole,
           FIELD(experiment, seq2seq.decoder_size, as_int), "Decoder size",
           control::Whole{1, k_max_dim, Fill::logarithmic}},
    Option{
        "given", Section::custom, "", "NAME=PATH",
        "Custom matrix from a file (CSV or NPY, read immediately and stored in the session): a stage "
        "such as scores, query, embedding, mask or mask_additive, or a weight such as W_q; repeatable",
        matrices, custom_json,
        [](Session&, const OptionValue&) { refuse("custom matrices go into the session's field \"given\""); },
        "Matrix", control::Own{}},

    Option{"task", Section::training, "", k_arguments<decltype(Training::task)>,
           "What the model is trained on; as a flag, without a file or example, it also sets a model and an "
           "optimizer that learn it within seconds",
           text, CHOICE(experiment, training.task), "Task", control::Own{}},
    Option{"corpus", Section::training, "", "TEXT",
           "The text whose next word or character is learned; empty: a short one that comes with the program",
           text, FIELD(experiment, training.corpus, as_text), "Text", control::Own{}},
    Option{"optimizer", Section::training, "", k_arguments<decltype(Optimizer::kind)>,
           "How a step of training changes the parameters", text, CHOICE(experiment, training.optimizer.kind),
           "Optimizer",
           control::Choices{VALUES(choices_of<OptimizerKind>(
               {"Gradient descent, with momentum",
                "Steps scaled by running averages of the gradients (Kingma and Ba 2015)",
                "Adam with weight decay decoupled from the gradient"}))}},
    Option{"learning-rate", Section::training, "η", "NUMBER", "Step size", number,
           FIELD(experiment, training.optimizer.learning_rate, as_double), "Learning rate",
           control::Factor{}},
    Option{"momentum", Section::training, "", "NUMBER",
           "Share of the previous step that sgd repeats; at least 0 and below 1", number,
           FIELD(experiment, training.optimizer.momentum, as_double), "Momentum", control::Share{0.99}},
    Option{"weight-decay", Section::training, "", "NUMBER",
           "Pulls the parameters toward 0: added to the gradient; with adamw, applied separately", number,
           FIELD(experiment, training.optimizer.weight_decay, as_double), "Weight decay", control::Share{1}},
    Option{"clip", Section::training, "", "NUMBER", "Largest norm of all gradients together; 0: no limit",
           number, FIELD(experiment, training.optimizer.clip, as_double), "Clip norm",
           control::Number{0, 100}},
    Option{"warm-up", Section::training, "", "N", "Steps of linear learning-rate warm-up, 0 to 100000", whole,
           FIELD(experiment, training.optimizer.warm_up, as_int), "Warm-up",
           control::Whole{.least = 0, .most = k_max_training_steps, .step = 10}},
    Option{
        "decay", Section::training, "", "N",
        "Steps after the warm-up over which the learning rate falls to 0 along half a cosine, 0 to 100000; "
        "0: it stays constant",
        whole, FIELD(experiment, training.optimizer.decay, as_int), "Decay",
        control::Whole{.least = 0, .most = k_max_training_steps, .step = 10}},
    Option{"batch", Section::training, "B", "N", "Fresh sentences for each step, 1 to 1024", whole,
           FIELD(experiment, training.batch, as_int), "Batch",
           control::Whole{1, k_max_batch, Fill::logarithmic}},
    Option{"data-seed", Section::training, "", "N", "Seed of the task's data: -2^63 to 2^64-1", whole,
           [](const Session& s) { return seed_json(s.experiment.training.data_seed); },
           [](Session& s, const OptionValue& v) { s.experiment.training.data_seed = as_seed(v); },
           "Data seed", control::SeedField{}},
    Option{"train-ablated", Section::training, "", "LAYER.HEAD[,…]",
           "Heads that are ablated while they are trained", text,
           [](const Session& s) -> Json { return heads_text(s.experiment.training.ablated); },
           [](Session& s, const OptionValue& v) { s.experiment.training.ablated = parse_heads(as_text(v)); },
           "Without heads", control::Text{}},
    Option{"step", Section::training, "", "N",
           "The step of the run whose parameters are shown, 0 to 100000; as a flag, replays the run up to it",
           whole, FIELD(experiment, training.step, as_int), "Step", control::Own{}},

    Option{
        "view", Section::presentation, "", k_arguments<decltype(Presentation::view)>,
        "The open view; render writes its picture (lines, alignment, image), and without --stage only that",
        text, CHOICE(presentation, view)},
    Option{"stage", Section::presentation, "", "S[,S…]",
           "The stage in focus; for render and trace the stages to write (default: all)", text,
           [](const Session& s) -> Json { return std::string(info_of(s.presentation.stage).name); },
           set_stage},
    Option{
        "layer", Section::presentation, "", "N",
        "The layer of a transformer to show, 1 to 24; for render and trace the layer to write (default: all)",
        whole, [](const Session& s) -> Json { return s.presentation.layer(); }, set_layer},
    Option{"gradients", Section::presentation, "", "",
           "Also show the gradient of the loss with respect to every stage; stages grad.S", boolean,
           FIELD(presentation, gradients, as_boolean)},
    Option{"head", Section::presentation, "", "N|all|mean",
           "A head, counted from 1, all heads, or their mean; only N × M stages have a mean, others are "
           "written head by head",
           word_or_number, head_json, set_head},
    Option{"head-names", Section::presentation, "", "NAME;NAME;…",
           "Names of the heads, written beside their numbers, layer after layer; empty: none", text,
           FIELD(presentation, head_names, as_caption)},
    Option{"range", Section::presentation, "", "auto|matrix|head|all|percentile|MIN,MAX",
           "The range of the color bar; auto: 0 to 1 for weights of up to 32 keys, percentile for more than "
           "4096 "
           "tokens, else that of all heads; "
           "percentile: from the 1st to the 99th, values beyond get the color of the nearer end",
           text, [](const Session& s) -> Json { return range_text(s.presentation.range); },
           [](Session& s, const OptionValue& v) { s.presentation.range = parse_range(as_text(v)); }},
    Option{"color-spacing", Section::presentation, "", k_arguments<decltype(Presentation::spacing)>,
           "How colors are spaced over the range; log: logarithmic, four decades for weights, three on each "
           "side of 0 for signed values",
           text, CHOICE(presentation, spacing)},
    Option{
        "pooling", Section::presentation, "", k_arguments<decltype(Presentation::pooling)>,
        "The value of a cell that stands for many pairs: the strongest, so that a single peak is seen from "
        "afar, or their mean; masked pairs do not count",
        text, CHOICE(presentation, pooling)},
    Option{"colormap", Section::presentation, "", k_arguments<decltype(Presentation::colormap)>,
           "Colors of weights; signed values are always blue to red", text, CHOICE(presentation, colormap)},
    Option{"theme", Section::presentation, "", k_arguments<decltype(Presentation::theme)>,
           "Colors of the picture around the data", text, CHOICE(presentation, theme)},
    Option{"cell-size", Section::presentation, "", "auto|PX",
           "Pixels per side of an exported cell, 1 to 512; auto: 48, less for large matrices", word_or_number,
           cell_size_json, set_cell_size},
    Option{"max-cells", Section::presentation, "", "N",
           "Queries or keys of a picture above which neighboring pairs share a cell, 64 to 4096; a width "
           "limits them, too",
           whole, FIELD(presentation, max_cells, as_max_cells)},
    Option{"values", Section::presentation, "", "", "Write the numbers into the cells where they fit",
           boolean, FIELD(presentation, values, as_boolean)},
    Option{"mass", Section::presentation, "", "P",
           "Share of each query's weight that the lines view draws, the largest weights first: "
           "0.5 to 1",
           number, [](const Session& s) -> Json { return s.presentation.mass; }, set_mass},
    Option{"decimals", Section::presentation, "", "auto|N",
           "Decimals in the cells, 0 to 6; auto: three digits", word_or_number, decimals_json, set_decimals},
    Option{"title", Section::presentation, "", "auto|TEXT",
           "Title of an exported picture; auto: the stage's name and formula; empty: none", text,
           [](const Session& s) -> Json { return s.presentation.title.value_or("auto"); }, set_title},
    Option{
        "compose", Section::presentation, "", k_arguments<decltype(Presentation::compose)>,
        "What a picture shows beside the matrix of a stage. operands: what it is computed from; heads: every "
        "head, and every layer of a transformer, on one range; strip: every stage of the computation; "
        "compare: A, which is pinned, B, and B − A; steps: how one row of weights is computed; film: every "
        "frame of --film, on one range",
        text, CHOICE(presentation, compose)},
    Option{"sweep", Section::presentation, "", k_arguments<decltype(Presentation::sweep)>,
           "The setting that the sweep view and --film vary, instead of the training step", text,
           CHOICE(presentation, sweep)},
    Option{
        "width", Section::presentation, "", "none|MM",
        "Width of a picture on paper in millimeters, 20 to 2000 (84mm: one column of a journal); its cells "
        "are as large as the width allows, and the flag alone also sets the theme print and the color map "
        "blues; "
        "none: in pixels, by "
        "the cell size",
        word_or_number, width_json, set_width},
    Option{"dpi", Section::presentation, "", "N", "Pixels per inch of a PNG with a width, 36 to 2400",
           word_or_number, [](const Session& s) -> Json { return s.presentation.dpi; },
           [](Session& s, const OptionValue& v) { s.presentation.dpi = as_measure(v, "dpi", 36, 2400); }},
    Option{"font-size", Section::presentation, "", "PT",
           "Font size of a picture with a width, in points, 4 to 36 (8pt)", word_or_number,
           [](const Session& s) -> Json { return s.presentation.font_size; },
           [](Session& s, const OptionValue& v) { s.presentation.font_size = as_measure(v, "pt", 4, 36); }},
    Option{
        "region", Section::presentation, "", "all|FIRST:LAST,FIRST:LAST",
        "The queries and keys, counted from 1, that an exported stage of queries × keys shows; a picture of "
        "more than --max-cells of either pools them: see --pooling",
        text, region_json, set_region},
    Option{"locked", Section::presentation, "", "none|ROW,COLUMN[,STAGE]",
           "The cell locked in the inspector, counted from 1, and its stage if it is not the one in focus",
           text, [](const Session& s) -> Json { return locked_text(s); }, set_locked},
};
#undef FIELD
#undef CHOICE
#undef VALUES

}  // namespace

std::string Option::json_name() const {
    std::string field(name);
    std::ranges::replace(field, '-', '_');
    return field;
}

std::span<const Option> options() { return k_options; }

const Option& option_named(OptionName name) { return *find_option(name.text()); }

std::string name_in_words(std::string_view option) {
    if (option == "dim") return "Dimension";
    std::string words(option);
    std::ranges::replace(words, '-', ' ');
    return capitalized(std::move(words));
}

const Option* find_option(std::string_view name) {
    for (const Option& option : k_options)
        if (option.name == name) return &option;
    return nullptr;
}

/// The ranges that have a word; a fixed one has its two ends.
struct RangeWord {
    RangeChoice::Kind kind;
    std::string_view word;
};
constexpr RangeWord k_range_words[] = {{RangeChoice::Kind::automatic, "auto"},
                                       {RangeChoice::Kind::percentile, "percentile"},
                                       {RangeChoice::Kind::matrix, "matrix"},
                                       {RangeChoice::Kind::head, "head"},
                                       {RangeChoice::Kind::all, "all"}};

RangeChoice parse_range(std::string_view value) {
    for (const auto& [kind, word] : k_range_words)
        if (value == word) return {kind};
    const auto pair = parse_pair(value);
    if (!pair || !std::isfinite(pair->first) || !std::isfinite(pair->second) || pair->first >= pair->second)
        refuse("expected auto, matrix, head, all, percentile or MIN,MAX with MIN below MAX, not " +
               quoted_value(std::string(value)));
    return {RangeChoice::Kind::fixed, pair->first, pair->second};
}

std::string range_text(const RangeChoice& range) {
    for (const auto& [kind, word] : k_range_words)
        if (range.kind == kind) return std::string(word);
    return shortest_text(range.min) + "," + shortest_text(range.max);
}

HeadChoice parse_head(std::string_view value) {
    if (value == "all") return {HeadChoice::Kind::all};
    if (value == "mean") return {HeadChoice::Kind::mean};
    int head = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), head);
    if (error != std::errc{} || end != value.data() + value.size() || head < 1 || head > k_max_heads)
        refuse(fmt::format("expected a head from 1 to {}, all or mean, not {}", k_max_heads,
                           quoted_value(std::string(value))));
    return {HeadChoice::Kind::one, head - 1};
}

std::string head_text(const HeadChoice& head) {
    switch (head.kind) {
        case HeadChoice::Kind::one: return std::to_string(head.head + 1);
        case HeadChoice::Kind::all: return "all";
        case HeadChoice::Kind::mean: return "mean";
    }
    return {};
}

}  // namespace attnscope
