#include <algorithm>
#include <cmath>

#include "app/document/steps.h"
#include "app/panels/panels.h"
#include "app/panels/setting_rows.h"
#include "core/attention/normalizers.h"
#include "core/attention/scores.h"
#include "core/picture/number_text.h"
#include "core/random/initializers.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"

namespace attnscope {
namespace {

// Why rows do not apply; empty: they do.

std::string no_scores(const Experiment& e) {
    if (e.mechanism == "seq2seq") return "Sequence to sequence has an alignment of its own";
    return e.is_given("scores") ? "The scores are given" : "";
}

std::string no_projections(const Experiment& e) {
    const bool all = e.is_given("query") && e.is_given("key") && e.is_given("value");
    return all ? "Q, K and V are given" : no_scores(e);
}

std::string no_table(const Experiment& e) {
    if (e.mechanism == "seq2seq") return "";
    const bool keys = e.text2.empty() || e.is_given("embedding_kv");
    return e.is_given("embedding") && keys ? "The embedding is given" : no_projections(e);
}

bool predicts_window(const Experiment& e) {
    return find_normalizer(e.normalizer)->window == Normalizer::Window::predicted;
}

std::string no_hidden_layer(const Experiment& e) {
    if (e.mechanism == "seq2seq") return "";
    const bool hidden = find_score_function(e.score)->before == "score_hidden" && no_scores(e).empty();
    return hidden || predicts_window(e) ? ""
                                        : "Only additive and concat scores and local-p have a hidden layer";
}

std::string no_score_weights(const Experiment& e) {
    const auto parameters = find_score_function(e.score)->parameters;
    const bool drawn = std::ranges::any_of(parameters, &ScoreParameter::drawn) && no_scores(e).empty();
    return drawn || predicts_window(e) ? "" : "A " + e.score + " score has no weights to draw";
}

std::string product(int rows, int columns) { return std::to_string(rows) + " × " + std::to_string(columns); }

float logarithmic_fill(int value, int most) {
    return std::log2(static_cast<float>(std::max(value, 1))) / std::log2(static_cast<float>(most));
}

std::string derived_shape(Ui& ui, std::string_view stage) {
    const Stage* found = ui.document.trace() ? ui.document.trace()->find(stage) : nullptr;
    return found ? product(found->shape().rows, found->shape().columns) : "";
}

void input_section(Ui& ui) {
    if (!section_header(ui, "Input", "")) return;
    choice_row(ui, "mechanism", "Mechanism",
               {{"attention", "attention", "Every query at once, from Luong's scores to the transformer"},
                {"seq2seq", "seq2seq", "An encoder and a decoder that aligns word by word (Bahdanau)"}});
    choice_row(ui, "tokenizer", "Tokens", choices_of(tokenizers()));
    choice_row(ui, "vocabulary", "Vocabulary", choices_of(vocabulary_rules()),
               no_table(ui.document.experiment()));
}

void embedding_section(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    if (!section_header(ui, "Embedding", derived_shape(ui, "table"))) return;
    seed_row(ui, "seed", "Seed", e.seed);
    whole_row(ui, "dim", "Dimension", std::to_string(e.dim), logarithmic_fill(e.dim, k_max_dim),
              [&](int steps) { return stepped_size(e, &Experiment::dim, steps); });
    choice_row(ui, "embedding", "Draw", choices_of(initializers()), no_table(e));
    whole_row(
        ui, "table-size", "Table rows", std::to_string(e.table_size), -1,
        [&](int steps) { return std::clamp(e.table_size + steps, 0, k_max_table_size); },
        e.vocabulary == "stable" ? "A stable vocabulary has a row for each word and no others" : no_table(e));
}

void position_section(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    const bool biases = e.position == "alibi";
    if (!section_header(ui, "Position", derived_shape(ui, biases ? "bias" : "position"))) return;
    choice_row(ui, "position", "Told by",
               {{"none", "none", "Tokens in another order give the same rows"},
                {"sinusoidal", "sinusoidal", "Sines and cosines of the place are added to X"},
                {"rope", "rope", "Q and K are turned by angles that grow with the place"},
                {"alibi", "alibi", "Scores are lowered by the distance, in each head by its own slope"}});
    choice_row(ui, "rope-layout", "Pairs",
               {{"interleaved", "interleaved", "Features 1 and 2, 3 and 4, …"},
                {"half", "half", "A feature of the first half with one of the second"}},
               e.position == "rope" ? "" : "Only rope turns pairs of features");
}

/// Columns of all heads together, which are those of the embedding at first.
void size_row(Ui& ui, std::string_view option, const char* label, int Experiment::*size,
              const std::string& disabled) {
    const Experiment& e = ui.document.experiment();
    const int columns = e.*size > 0 ? e.*size : e.dim;
    whole_row(
        ui, option, label, e.*size > 0 ? std::to_string(columns) : "d = " + std::to_string(columns),
        logarithmic_fill(columns, k_max_dim),
        [&, size](int steps) {
            const int next = stepped_size(e, size, steps);
            return next == e.dim ? 0 : next;
        },
        disabled);
}

void projections_section(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    const bool none = e.projection == "none", square = none || e.projection == "mha";
    if (!section_header(ui, "Projections", none ? "Q = K = V = X" : derived_shape(ui, "W_q"))) return;
    std::vector<Choice> rules = {{"none", "none", "Q = K = V = X"}};
    for (Choice& rule : choices_of(projection_rules())) rules.push_back(std::move(rule));
    const std::string nothing =
        none && !e.output_projection ? "There are no weights to draw" : no_projections(e);
    ImGui::PushID("projections");  // the embedding has a row of this name
    choice_row(ui, "projection", "Draw", rules, no_projections(e));
    ImGui::PopID();
    weight_seed_row(ui, "projection-seed", e.projection_seed, "the embedding table", nothing);
    switch_row(ui, "projection-bias", "Biases", e.projection_bias, nothing);
    const std::string fixed =
        square ? "Projection " + e.projection + " keeps the size of the embedding" : no_projections(e);
    size_row(ui, "key-size", "Key size", &Experiment::key_size, fixed);
    size_row(ui, "value-size", "Value size", &Experiment::value_size, fixed);
}

std::string head_widths(const Experiment& e) {
    const int d_k = e.key_columns() / std::max(e.heads, 1), d_v = e.value_columns() / std::max(e.heads, 1);
    return "d_k = " + std::to_string(d_k) + (d_v == d_k ? "" : ", d_v = " + std::to_string(d_v));
}

void heads_section(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    if (!section_header(ui, "Heads", head_widths(e))) return;
    const int most = std::min(e.dim, k_max_heads);
    whole_row(
        ui, "heads", "Heads", std::to_string(e.heads), static_cast<float>(e.heads) / static_cast<float>(most),
        [&](int steps) { return stepped_size(e, &Experiment::heads, steps); },
        e.dim == 1                             ? "One dimension cannot be divided among heads"
        : e.is_given("scores") && e.heads == 1 ? "The scores are given, for one head"
                                               : "");
}

void scale_rows(Ui& ui, double factor, int d_k) {
    const Experiment& e = ui.document.experiment();
    std::vector<Choice> kinds = {{"none", "none", "Scores as they are"},
                                 {short_text(factor), "a number", "Any factor"}};
    if (!e.is_given("scores"))
        kinds.insert(kinds.begin(),
                     {"sqrt", "1/√d_k = " + short_text(1 / std::sqrt(double(d_k))), "Divide by √d_k"});
    option_row(ui, "scale", "Scale", "", [&](float) {
        const std::string current = e.scale.kind == Scale::Kind::number
                                        ? short_text(factor)
                                        : text_of(ui.document.session(), *find_option("scale"));
        if (const auto picked = choice_field(ui, "##kind", kinds, current)) set_option(ui, "scale", *picked);
    });
    factor_row(ui, "scale", "Factor", factor, -1);
}

void score_section(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    const int d_k = e.key_columns() / std::max(e.heads, 1);
    const double factor = e.scale.factor(d_k);
    if (!section_header(ui, "Score", "× " + short_text(factor))) return;
    choice_row(ui, "score", "Function", choices_of(score_functions()), no_scores(e));
    whole_row(
        ui, "hidden", "Hidden", std::to_string(e.hidden), logarithmic_fill(e.hidden, k_max_dim),
        [&](int steps) { return std::clamp(e.hidden + steps, 1, k_max_dim); }, no_hidden_layer(e));
    weight_seed_row(ui, "score-seed", e.score_seed, "the projections", no_score_weights(e));
    factor_row(ui, "sharpening", "Sharpening", e.sharpening, -1,
               e.score == "cosine" ? no_scores(e) : "Only a cosine is sharpened");
    scale_rows(ui, factor, d_k);
}

void dropout_rows(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    const std::string none = e.dropout > 0 ? "" : "Nothing is dropped: dropout is 0";
    share_row(ui, "dropout", "Dropout", e.dropout, 0.95);
    seed_row(ui, "dropout-seed", "Dropout seed", e.dropout_seed,
             none.empty() && e.is_given("dropout_keep") ? "What is kept is given" : none);
    switch_row(ui, "training", "Training", e.training, e.is_given("dropout_keep") ? "" : none);
}

void softmax_section(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    const bool plain = e.normalizer == "softmax";
    const bool queries = plain && e.softmax_axis == "queries";
    if (!section_header(ui, "Softmax", queries ? "over queries" : "over keys")) return;
    choice_row(ui, "normalizer", "Weights by", choices_of(normalizers()));
    choice_row(ui, "softmax-axis", "Over",
               {{"keys", "keys", "Each row sums to 1"}, {"queries", "queries", "Each column sums to 1"}},
               plain ? "" : "Only the softmax can go over the queries");
    const auto fill = static_cast<float>(0.5 + std::log10(e.temperature) / 4);
    factor_row(ui, "temperature", "Temperature", e.temperature, std::clamp(fill, 0.0f, 1.0f));
    const bool local = find_normalizer(e.normalizer)->window != Normalizer::Window::none;
    whole_row(
        ui, "local-window", "Reach", std::to_string(e.local_window), -1,
        [&](int steps) {
            return std::clamp(e.local_window + steps, predicts_window(e) ? 1 : 0, k_max_tokens);
        },
        local ? "" : "Only local attention has a window");
    dropout_rows(ui);
}

void output_section(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    if (!section_header(ui, "Output", e.output_projection ? derived_shape(ui, "W_o") : "")) return;
    const bool no_values = e.is_given("scores") && !e.is_given("value");
    switch_row(ui, "output-projection", "Projection", e.output_projection,
               no_values ? "The scores are given, and no values" : "");
}

void block_section(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    const bool on = e.block != "none";
    const std::string none = on ? "" : "There is no block";
    if (!section_header(ui, "Block", on ? derived_shape(ui, "W_1") : "")) return;
    choice_row(
        ui, "block", "Norms",
        {{"none", "none", "Attention alone"},
         {"post-norm", "post-norm", "Each layer norm after adding (Vaswani et al. 2017)"},
         {"pre-norm", "pre-norm", "Each layer norm before attention and before the feed-forward layer"}},
        on ? "" : no_projections(e));
    choice_row(ui, "activation", "Activation",
               {{"relu", "relu", "max(0, x)"}, {"gelu", "gelu", "x times the normal distribution up to x"}},
               none);
    const int units = e.feed_forward_columns();
    whole_row(
        ui, "feed-forward-size", "Feed-forward",
        e.feed_forward_size > 0 ? std::to_string(units) : "4 d = " + std::to_string(units),
        logarithmic_fill(units, 4 * k_max_dim),
        [&](int steps) { return std::clamp(units + steps, 1, 4 * k_max_dim); }, none);
    weight_seed_row(ui, "block-seed", e.block_seed, "the score's weights", none);
}

void translation_section(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    const std::string none = e.mechanism == "seq2seq" ? "" : "The mechanism is attention";
    const std::string no_alignment = !none.empty()                       ? none
                                     : e.decoder_attention == "additive" ? ""
                                                                         : "The decoder has no attention";
    if (!section_header(ui, "Sequence to sequence", "")) return;
    choice_row(ui, "encoder", "Encoder",
               {{"bidirectional", "bidirectional", "Reads the source in both directions"},
                {"forward", "forward", "Reads it from first to last word"}},
               none);
    choice_row(ui, "decoder-attention", "Attention",
               {{"additive", "additive", "Each step aligns with the source (Bahdanau)"},
                {"none", "none", "Each step sees the encoder's last state alone"}},
               none);
    choice_row(ui, "alignment-state", "Asks with",
               {{"previous", "previous state", "The state before the step (Bahdanau)"},
                {"current", "current state", "The step's own state (Luong)"}},
               no_alignment);
    choice_row(ui, "decode", "Decoding",
               {{"teacher", "teacher", "The target's words are fed"},
                {"greedy", "greedy", "Each picked word is fed to the next step"}},
               none);
    const auto size_row = [&](const char* option, const char* label, int value, int most,
                              const std::string& disabled) {
        whole_row(
            ui, option, label, std::to_string(value), logarithmic_fill(value, most),
            [value, most](int steps) { return std::clamp(value + steps, 1, most); }, disabled);
    };
    size_row("max-steps", "Most steps", e.max_steps, 100,
             !none.empty()          ? none
             : e.decode == "greedy" ? ""
                                    : "The target says how many steps there are");
    size_row("encoder-size", "Encoder size", e.encoder_size, k_max_dim, none);
    size_row("decoder-size", "Decoder size", e.decoder_size, k_max_dim, none);
}

}  // namespace

void experiment_panel(Ui& ui, const Area& area) {
    ImGui::SetCursorScreenPos(area.min);
    ImGui::GetWindowDrawList()->AddRectFilled(area.min, area.max, ink(ui.theme.panel));
    ImGui::BeginChild("experiment", {area.width(), area.height()}, false);
    ImGui::SetCursorPos({0, ui.px(4)});
    for (void (*section)(Ui&) :
         {input_section, embedding_section, image_section, position_section, projections_section,
          heads_section, score_section, mask_section, softmax_section, output_section, block_section,
          translation_section, given_section})
        section(ui);
    ImGui::Dummy({1, ui.px(12)});
    ImGui::EndChild();
}

}  // namespace attnscope
