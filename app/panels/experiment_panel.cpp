#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/document/given.h"
#include "app/document/steps.h"
#include "app/panels/panels.h"
#include "app/panels/setting_rows.h"
#include "core/graph/stage_table.h"
#include "core/learn/tasks.h"
#include "core/learn/training_run.h"
#include "core/mechanism/attention/scores.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/op/normalizers.h"
#include "core/random/initializers.h"
#include "core/session/applies.h"
#include "core/session/options.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

std::string product(int rows, int columns) { return fmt::format("{} × {}", rows, columns); }

float logarithmic_fill(int value, int most) {
    return std::log2(static_cast<float>(std::max(value, 1))) / std::log2(static_cast<float>(most));
}

std::string derived_shape(Desk& desk, StageKey stage) {
    const Stage* found = desk.document.trace() ? desk.document.trace()->find(stage) : nullptr;
    return found ? product(found->shape().rows, found->shape().columns) : "";
}

void input_section(Desk& desk, const Ui& ui) {
    if (!section_header(ui, OptionSection::input, "")) return;
    std::vector<Choice> kinds;
    for (const Mechanism* each : mechanisms()) {
        const std::string name(name_of(each->choice));
        kinds.push_back({name, name, std::string(each->summary)});
    }
    choice_row(desk, ui, "mechanism", "Mechanism", kinds);
    choice_row(desk, ui, "tokenizer", "Tokens", choices_of(tokenizers()));
    choice_row(desk, ui, "vocabulary", "Vocabulary", choices_of(vocabulary_rules()));
}

void embedding_section(Desk& desk, const Ui& ui) {
    const Experiment& e = desk.document.experiment();
    if (!section_header(ui, OptionSection::embedding, derived_shape(desk, "table"_stage))) return;
    seed_row(desk, ui, "seed", "Seed", e.weights.seed);
    whole_row(desk, ui, "dim", "Dimension", std::to_string(e.input.dim),
              logarithmic_fill(e.input.dim, k_max_dim),
              [&](int steps) { return stepped_size(e, dim_of, steps); });
    choice_row(desk, ui, "embedding", "Init", choices_of(initializers()));
    whole_row(desk, ui, "table-size", "Table rows", std::to_string(e.input.table_size), -1,
              [&](int steps) { return std::clamp(e.input.table_size + steps, 0, k_max_table_size); });
}

void position_section(Desk& desk, const Ui& ui) {
    const Experiment& e = desk.document.experiment();
    const bool biases = e.attention.position == Position::alibi;
    if (!section_header(ui, OptionSection::position,
                        derived_shape(desk, biases ? "bias"_stage : "position"_stage)))
        return;
    choice_row(desk, ui, "position", "Encoding",
               choices_of<Position>({"No position: reordered tokens give the same rows",
                                     "Sines and cosines of the position are added to X",
                                     "Q and K are rotated by angles that grow with the position",
                                     "Scores decrease with distance, with a slope per head",
                                     "Rows of a drawn table are added to X"}));
    whole_row(desk, ui, "context-length", "Max length", std::to_string(e.attention.context_length),
              logarithmic_fill(e.attention.context_length, k_max_tokens),
              [&](int steps) { return std::clamp(e.attention.context_length + steps, 1, k_max_tokens); });
    choice_row(desk, ui, "rope-layout", "Pairs",
               choices_of<RopeLayout>(
                   {"Features 1 and 2, 3 and 4, …", "A feature of the first half and one of the second"}));
}

/// Columns of all heads together; by default those of the embedding.
void size_row(Desk& desk, const Ui& ui, std::string_view option, const char* label, SizeField size) {
    const Experiment& e = desk.document.experiment();
    Experiment copy = e;
    const int own = size(copy), columns = own > 0 ? own : e.input.dim;
    whole_row(desk, ui, option, label, own > 0 ? std::to_string(columns) : fmt::format("d = {}", columns),
              logarithmic_fill(columns, k_max_dim), [&, size](int steps) {
                  const int next = stepped_size(e, size, steps);
                  return next == e.input.dim ? 0 : next;
              });
}

void projections_section(Desk& desk, const Ui& ui) {
    const Experiment& e = desk.document.experiment();
    const bool none = e.attention.projection == Projection::none;
    if (!section_header(
            ui, OptionSection::projections,
            none && applies(desk, "projection") ? unprojected_text(e) : derived_shape(desk, "W_q"_stage)))
        return;
    std::vector<Choice> rules = choices_of(projection_rules());
    rules.front().help = unprojected_text(e);
    ImGui::PushID("projections");  // the embedding section has a row of the same name
    choice_row(desk, ui, "projection", "Init", rules);
    ImGui::PopID();
    weight_seed_row(desk, ui, "projection-seed", e.weights.projection_seed, "the embedding table");
    switch_row(desk, ui, "projection-bias", "Biases", e.attention.projection_bias);
    size_row(desk, ui, "key-size", "Key size", key_size_of);
    size_row(desk, ui, "value-size", "Value size", value_size_of);
}

std::string head_widths(Desk& desk) {
    const Trace* trace = desk.document.trace().get();
    const int d_k = trace ? head_width(*trace, "key_heads"_stage, "key"_stage) : 0,
              d_v = trace ? head_width(*trace, "value_heads"_stage, "value"_stage) : 0;
    if (d_k == 0) return "";
    return fmt::format("d_k = {}{}", d_k, d_v == d_k ? "" : ", d_v = " + std::to_string(d_v));
}

void heads_section(Desk& desk, const Ui& ui) {
    const Experiment& e = desk.document.experiment();
    if (!section_header(ui, OptionSection::heads, head_widths(desk))) return;
    const int most = std::min(e.input.dim, k_max_heads);
    whole_row(desk, ui, "heads", "Heads", std::to_string(e.attention.heads),
              static_cast<float>(e.attention.heads) / static_cast<float>(most),
              [&](int steps) { return stepped_size(e, heads_of, steps); });
}

void scale_rows(Desk& desk, const Ui& ui, double factor, int d_k) {
    const Experiment& e = desk.document.experiment();
    std::vector<Choice> kinds = {{"none", "none", "Scores as they are"},
                                 {short_text(factor), "a number", "Multiply by any factor"}};
    if (!e.is_given("scores"))
        kinds.insert(kinds.begin(),
                     {"sqrt", "1/√d_k = " + short_text(1 / std::sqrt(double(d_k))), "Divide by √d_k"});
    option_row(desk, ui, "scale", "Scale", [&](float) {
        const std::string current = e.attention.scale.kind == Scale::Kind::number
                                        ? short_text(factor)
                                        : text_of(desk.document.session(), *find_option("scale"));
        if (const auto picked = choice_field(ui, "##kind", kinds, current))
            set_option(desk, "scale", *picked);
    });
    factor_row(desk, ui, "scale", "Factor", factor, -1);
}

void score_section(Desk& desk, const Ui& ui) {
    const Experiment& e = desk.document.experiment();
    const int d_k = key_width(e, desk.document.trace().get());
    const double factor = e.attention.scale.factor(d_k);
    if (!section_header(ui, OptionSection::score, applies(desk, "scale") ? "× " + short_text(factor) : ""))
        return;
    choice_row(desk, ui, "score", "Function", choices_of(score_functions()));
    whole_row(desk, ui, "hidden", "Hidden", std::to_string(e.weighting.hidden),
              logarithmic_fill(e.weighting.hidden, k_max_dim),
              [&](int steps) { return std::clamp(e.weighting.hidden + steps, 1, k_max_dim); });
    weight_seed_row(desk, ui, "score-seed", e.weights.score_seed, "the projections");
    factor_row(desk, ui, "sharpening", "Sharpening", e.attention.sharpening, -1);
    factor_row(desk, ui, "bandwidth", "Bandwidth", e.attention.bandwidth, -1);
    scale_rows(desk, ui, factor, d_k);
}

void dropout_rows(Desk& desk, const Ui& ui) {
    const Experiment& e = desk.document.experiment();
    share_row(desk, ui, "dropout", "Dropout", e.attention.dropout, 0.95);
    seed_row(desk, ui, "dropout-seed", "Dropout seed", e.attention.dropout_seed);
    switch_row(desk, ui, "training", "Training", e.attention.training);
}

void softmax_section(Desk& desk, const Ui& ui) {
    const Experiment& e = desk.document.experiment();
    const bool queries = e.over_queries();
    if (!section_header(ui, OptionSection::softmax, queries ? "over queries" : "over keys")) return;
    const auto fill = static_cast<float>(0.5 + std::log10(e.weighting.temperature) / 4);
    factor_row(desk, ui, "temperature", "Temperature", e.weighting.temperature, std::clamp(fill, 0.0f, 1.0f));
    choice_row(desk, ui, "normalizer", "Normalization", choices_of(normalizers()));
    choice_row(desk, ui, "softmax-axis", "Over",
               choices_of<SoftmaxAxis>({"Each row sums to 1", "Each column sums to 1"}));
    const double least =
        predicts_window(e.weighting.normalizer) ? std::min(e.weighting.local_window, 1.0) : 0;
    number_row(desk, ui, "local-window", "Half-width", e.weighting.local_window, least, k_max_tokens);
    dropout_rows(desk, ui);
}

void output_section(Desk& desk, const Ui& ui) {
    const Experiment& e = desk.document.experiment();
    if (!section_header(ui, OptionSection::output,
                        e.attention.output_projection ? derived_shape(desk, "W_o"_stage) : ""))
        return;
    switch_row(desk, ui, "output-projection", "Projection", e.attention.output_projection);
}

void activation_row(Desk& desk, const Ui& ui) {
    choice_row(desk, ui, "activation", "Activation",
               choices_of<Activation>({"max(0, x)", "x · Φ(x), Φ the normal distribution function"}));
}

void block_section(Desk& desk, const Ui& ui) {
    const Experiment& e = desk.document.experiment();
    const bool on = e.attention.block != Block::none;
    if (!section_header(ui, OptionSection::block, on ? derived_shape(desk, "W_1"_stage) : "")) return;
    choice_row(desk, ui, "block", "Norms",
               choices_of<Block>({"Attention alone", "Each layer norm after adding (Vaswani et al. 2017)",
                                  "Each layer norm before attention and before the feed-forward layer"}));
    activation_row(desk, ui);
    const int units = e.feed_forward_columns();
    whole_row(desk, ui, "feed-forward-size", "Feed-forward",
              e.attention.feed_forward_size > 0 ? std::to_string(units) : fmt::format("4 d = {}", units),
              logarithmic_fill(units, 4 * k_max_dim),
              [&](int steps) { return std::clamp(units + steps, 1, 4 * k_max_dim); });
    weight_seed_row(desk, ui, "block-seed", e.weights.block_seed, "the score weights");
}

void translation_section(Desk& desk, const Ui& ui) {
    const Experiment& e = desk.document.experiment();
    if (!section_header(ui, OptionSection::seq2seq, "")) return;
    choice_row(desk, ui, "encoder", "Encoder",
               choices_of<Encoder>(
                   {"Reads the source in both directions", "Reads the source from first to last word"}));
    choice_row(desk, ui, "decoder-attention", "Attention",
               choices_of<DecoderAttention>({"Each step aligns with the source (Bahdanau)",
                                             "Each step sees only the encoder's last state"}));
    std::vector<Choice> states =
        choices_of<AlignmentState>({"The state before the step (Bahdanau)", "The step's own state (Luong)"});
    for (Choice& state : states) state.shown += " state";
    choice_row(desk, ui, "alignment-state", "Query state", states);
    choice_row(
        desk, ui, "decode", "Decoding",
        choices_of<Decode>({"The target words are fed in", "Each predicted word is fed to the next step"}));
    const auto size_row = [&](const char* option, const char* label, int value, int most) {
        whole_row(desk, ui, option, label, std::to_string(value), logarithmic_fill(value, most),
                  [value, most](int steps) { return std::clamp(value + steps, 1, most); });
    };
    size_row("max-steps", "Max steps", e.seq2seq.max_steps, 100);
    size_row("encoder-size", "Encoder size", e.seq2seq.encoder_size, k_max_dim);
    size_row("decoder-size", "Decoder size", e.seq2seq.decoder_size, k_max_dim);
}

void transformer_section(Desk& desk, const Ui& ui) {
    const Experiment& e = desk.document.experiment();
    if (!section_header(
            ui, OptionSection::transformer,
            fmt::format("{} layer{}", e.transformer.layers, e.transformer.layers == 1 ? "" : "s")))
        return;
    whole_row(desk, ui, "layers", "Layers", std::to_string(e.transformer.layers),
              static_cast<float>(e.transformer.layers) / k_max_layers,
              [&](int steps) { return std::clamp(e.transformer.layers + steps, 1, k_max_layers); });
    choice_row(
        desk, ui, "norm", "Norms",
        choices_of<Norm>({"No layer norms", "Before attention, before the feed-forward layer and at the end",
                          "After each addition (Vaswani et al. 2017)"}));
    const int units = e.attention.feed_forward_size;
    whole_row(desk, ui, "feed-forward-size", "Feed-forward",
              units > 0 ? std::to_string(units) : "none, attention only",
              logarithmic_fill(std::max(units, 1), 4 * k_max_dim),
              [&](int steps) { return std::clamp(units + steps, 0, 4 * k_max_dim); });
    activation_row(desk, ui);
    option_row(desk, ui, "ablate", "Ablated heads", [&](float width) {
        const DragResult result = drag_field(ui, "text", heads_text(e.transformer.ablated), -1, width);
        if (result.typed) set_option(desk, "ablate", *result.typed);
    });
    choice_row(
        desk, ui, "ablation", "Ablated to",
        choices_of<Ablation>({"Their contexts are 0", "Their contexts are the mean over the positions"}));
    switch_row(desk, ui, "tied", "Tied output", e.transformer.tied);
    choice_row(desk, ui, "objective", "Predicts",
               choices_of<Objective>({"The next token", "A target of each position: the second sentence"}));
}

/// Choosing a task also sets up the model and the optimizer that learn it.
void task_row(Desk& desk, const Ui& ui) {
    std::vector<Choice> rows = {{"none", "none", "Nothing is learned: the weights are drawn"}};
    for (const Task& task : tasks())
        rows.push_back({std::string(name_of(task.choice)), std::string(name_of(task.choice)),
                        std::string(task.summary)});
    option_row(desk, ui, "task", "Task", [&](float) {
        const auto picked =
            choice_field(ui, "##task", rows, std::string(name_of(desk.document.experiment().training.task)));
        if (!picked) return;
        if (*picked == "none") return set_option(desk, "task", *picked);
        desk.document.change([&](Session& session) {
            session.experiment = task_experiment(*find_choice<TaskKind>(*picked));
            session.presentation.view = ViewKind::training;
            session.presentation.set_stage("weights"_stage);
            session.presentation.locked.reset();
        });
    });
}

/// Goes to the step that is typed, or that the field is dragged to.
void step_row(Desk& desk, const Ui& ui) {
    const int step = desk.document.experiment().training.step;
    option_row(desk, ui, "step", "Step", [&](float width) {
        const DragResult result = drag_field(ui, "number", std::to_string(step), -1, width);
        if (result.steps)
            desk.document.go_to_step(
                std::clamp(desk.document.wanted_step() + result.steps, 0, k_max_training_steps), true);
        if (!result.typed) return;
        Session typed = desk.document.session();
        try {
            set_from_text(typed, *find_option("step"), *result.typed);
            check(typed.experiment);
            desk.document.go_to_step(typed.experiment.training.step);
        } catch (const Error& error) {
            desk.state.notice = {named_as("step", "Step", error), true};
        }
    });
}

/// Another text to learn from: another run, of its words.
void learn_from(Desk& desk, const std::string& text) {
    try {
        Experiment other = learning_from(desk.document.experiment(), text);
        desk.document.change([&](Session& session) { session.experiment = std::move(other); });
    } catch (const Error& error) {
        desk.state.notice = {named_as("corpus", "Text", error), true};
    }
}

void training_section(Desk& desk, const Ui& ui) {
    const Training& training = desk.document.experiment().training;
    const bool on = training.task != TaskKind::none;
    if (!section_header(ui, OptionSection::training, on ? fmt::format("step {}", training.step) : "")) return;
    task_row(desk, ui);
    if (!on) return;
    option_row(desk, ui, "corpus", "Text", [&](float width) {
        const DragResult result = drag_field(ui, "text", training.corpus, -1, width);
        if (result.typed) learn_from(desk, *result.typed);
    });
    choice_row(desk, ui, "optimizer", "Optimizer",
               choices_of<OptimizerKind>({"Plain steps down the gradient, with momentum",
                                          "Steps scaled by means of past gradients (Kingma and Ba 2015)",
                                          "Adam with weight decay apart from the gradient"}));
    const Optimizer& optimizer = training.optimizer;
    factor_row(desk, ui, "learning-rate", "Learning rate", optimizer.learning_rate, -1);
    share_row(desk, ui, "momentum", "Momentum", optimizer.momentum, 0.99);
    share_row(desk, ui, "weight-decay", "Weight decay", optimizer.weight_decay, 1);
    number_row(desk, ui, "clip", "Clip norm", optimizer.clip, 0, 100);
    const auto steps_row = [&](const char* option, const char* label, int value) {
        whole_row(desk, ui, option, label, std::to_string(value), -1,
                  [value](int steps) { return std::clamp(value + 10 * steps, 0, k_max_training_steps); });
    };
    steps_row("warm-up", "Warm-up", optimizer.warm_up);
    steps_row("decay", "Decay", optimizer.decay);
    whole_row(desk, ui, "batch", "Batch", std::to_string(training.batch),
              logarithmic_fill(training.batch, k_max_batch),
              [&](int steps) { return std::clamp(training.batch + steps, 1, k_max_batch); });
    seed_row(desk, ui, "data-seed", "Data seed", training.data_seed);
    option_row(desk, ui, "train-ablated", "Without heads", [&](float width) {
        const DragResult result = drag_field(ui, "text", heads_text(training.ablated), -1, width);
        if (result.typed) set_option(desk, "train-ablated", *result.typed);
    });
    step_row(desk, ui);
}

struct Section {
    OptionSection section;
    void (*draw)(Desk&, const Ui&);
};
constexpr std::array k_sections = {
    Section{OptionSection::input, input_section},
    Section{OptionSection::training, training_section},
    Section{OptionSection::embedding, embedding_section},
    Section{OptionSection::image, image_section},
    Section{OptionSection::position, position_section},
    Section{OptionSection::projections, projections_section},
    Section{OptionSection::heads, heads_section},
    Section{OptionSection::score, score_section},
    Section{OptionSection::mask, mask_section},
    Section{OptionSection::softmax, softmax_section},
    Section{OptionSection::output, output_section},
    Section{OptionSection::block, block_section},
    Section{OptionSection::transformer, transformer_section},
    Section{OptionSection::seq2seq, translation_section},
    Section{OptionSection::custom, given_section},
};
static_assert(k_sections.size() == choices<OptionSection>().size() - 1, "all but the presentation");

}  // namespace

void experiment_panel(Desk& desk, const Ui& ui, const Area& area) {
    ImGui::SetCursorScreenPos(area.min);
    ImGui::GetWindowDrawList()->AddRectFilled(area.min, area.max, ink(ui.theme.panel));
    ImGui::BeginChild("experiment", {area.width(), area.height()}, false);
    ImGui::SetCursorPos({0, ui.px(4)});
    const Option* revealed = find_option(desk.state.reveal);
    if (revealed) ui.controls.folded_sections.erase(std::string(name_of(revealed->section)));
    const std::span<const OptionSection> shown = mechanism_of(desk.document.experiment()).sections;
    for (const Section& each : k_sections)
        if (std::ranges::find(shown, each.section) != shown.end()) {
            desk.state.section = name_of(each.section);
            each.draw(desk, ui);
            ImGui::PushID(desk.state.section.c_str());
            left_out_line(desk, ui);
            ImGui::PopID();
        }
    desk.state.section.clear();
    ImGui::Dummy({1, ui.px(12)});
    ImGui::EndChild();
    // What has no row now: it is set elsewhere, or has no effect.
    if (!revealed || desk.state.reveal.empty()) return;
    desk.state.reveal.clear();
    const std::string unused = capitalized(why_unused(*revealed, desk.document.experiment()));
    desk.state.notice = {unused.empty() ? std::string(revealed->help) : unused, false};
}

}  // namespace attnscope
