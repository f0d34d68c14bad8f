#include "app/actions/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include "app/actions/files.h"
#include "app/actions/find_text.h"
#include "app/document/desk.h"
#include "app/document/heads_order.h"
#include "app/document/remedy.h"
#include "app/document/steps.h"
#include "core/error.h"
#include "core/graph/formula.h"
#include "core/learn/training_run.h"
#include "core/learn/variations.h"
#include "core/mechanism/mechanisms.h"
#include "core/session/applies.h"
#include "core/session/comparisons.h"
#include "core/session/examples.h"
#include "core/session/options.h"
#include "core/session/questions.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

/// Other words for a setting, stage or view: `words` find every title that contains `title`.
struct Synonym {
    std::string_view title, words;
};
constexpr std::array k_synonyms = {
    Synonym{"color spacing", "logarithmic log scale decades"},
    Synonym{"range", "color bar limits vmin vmax percentile quantile clip"},
    Synonym{"mask: causal", "look-ahead lookahead autoregressive decoder future triangular"},
    Synonym{"valid", "padding pad length ignore"},
    Synonym{"mask", "masking masked_fill hide"},
    Synonym{"causal", "look-ahead lookahead autoregressive future"},
    Synonym{"padding", "valid length"},
    Synonym{"scale", "√d_k sqrt d_k scaling divide"},
    Synonym{"scaling", "√d_k sqrt d_k"},
    Synonym{"temperature", "sharpness softness t"},
    Synonym{"dim", "d_model embedding size width d dimension"},
    Synonym{"key size", "d_k"},
    Synonym{"value size", "d_v"},
    Synonym{"heads", "multi-head multihead n_heads h"},
    Synonym{"seed", "random generator reproducible"},
    Synonym{"score", "similarity compatibility energy luong bahdanau"},
    Synonym{"score: additive", "bahdanau mlp tanh"},
    Synonym{"score: general", "luong bilinear multiplicative"},
    Synonym{"score: location", "luong"},
    Synonym{"score: cosine", "normalized"},
    Synonym{"normalizer", "softmax hard local sparsemax hardmax argmax"},
    Synonym{"position", "positional encoding order"},
    Synonym{"position: rope", "rotary"},
    Synonym{"position: alibi", "relative linear bias"},
    Synonym{"alignment", "align source decoder bahdanau seq2seq"},
    Synonym{"bahdanau", "alignment align translation"},
    Synonym{"weights", "attention matrix probabilities alpha alignment softmax a"},
    Synonym{"scores", "logits energies similarity qk s"},
    Synonym{"query", "q"},
    Synonym{"key", "k"},
    Synonym{"value", "v"},
    Synonym{"context", "output weighted sum z"},
    Synonym{"embedding", "vectors x lookup table"},
    Synonym{"block", "residual layer norm transformer encoder"},
    Synonym{"feed forward", "ffn mlp"},
    Synonym{"mechanism: seq2seq", "encoder decoder rnn gru bahdanau"},
    Synonym{"mechanism: transformer", "stack layers gpt bert"},
    Synonym{"layers", "depth stack"},
    Synonym{"ablate", "switch off knock out zero head"},
    Synonym{"tokenizer", "tokens words characters split"},
    Synonym{"theme", "dark light appearance"},
    Synonym{"colormap", "colors palette viridis"},
    Synonym{"range", "color bar normalization"},
    Synonym{"export", "save picture png svg pdf figure print"},
    Synonym{"width", "millimeters print paper figure size"},
    Synonym{"compose: strip", "poster whole computation"},
    Synonym{"compose: film", "contact sheet frames"},
    Synonym{"compose: heads", "small multiples grid"},
    Synonym{"sort heads", "order head scores"},
    Synonym{"compare", "difference versus ab"},
    Synonym{"pytorch", "python code script recipe torch"},
    Synonym{"custom", "override paste own matrix"},
};

std::string synonyms_of(const std::string& title) {
    std::string words;
    for (const Synonym& each : k_synonyms)
        if (title.find(each.title) != title.npos) words += " " + std::string(each.words);
    return words;
}

/// The values among the alternatives of an argument: of "none|causal|valid:K", none and causal.
std::vector<std::string> values_of(const Option& option) {
    std::vector<std::string> values;
    std::string_view rest = option.argument;
    const bool has_choices = rest.find('|') != rest.npos;
    while (has_choices && !rest.empty()) {
        const std::size_t end = std::min(rest.find('|'), rest.size());
        const std::string_view value = rest.substr(0, end);
        const bool whole = std::ranges::all_of(
            value, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
        if (whole && !value.empty()) values.emplace_back(value);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return values;
}

/// A setting whose control stands in a view.
struct ViewSetting {
    OptionName option;
    ViewKind view;
};
constexpr ViewSetting k_view_settings[] = {{"mass", ViewKind::lines},
                                           {"head-names", ViewKind::heads},
                                           {"sweep", ViewKind::sweep},
                                           {"stage", ViewKind::pipeline},
                                           {"locked", ViewKind::pipeline}};

/// A setting that is typed above the views.
struct TypedSetting {
    OptionName option;
    ActionName action;
};
constexpr TypedSetting k_typed_settings[] = {{"text", "edit.sentence"}, {"text2", "edit.second_sentence"}};

/// Goes to the control of an option: in the panel, its view, a menu or the dialog of what is exported; or to
/// the sentence.
void go_to(ActionContext& context, const Option& option) {
    for (const TypedSetting& each : k_typed_settings)
        if (each.option == option.name) return run_action(action_named(each.action), context);
    context.interaction.reveal = {std::string(option.name)};
    if (is_of_exports(option)) return run_action(action_named("file.export"), context);
    for (const ViewSetting& each : k_view_settings)
        if (each.option == option.name)
            context.document.change([&](Session& s) { s.presentation.view = each.view; });
    if (option.in_experiment()) context.saved.panels.experiment_open = true;
}

void set(ActionContext& context, const Option& option, const std::string& value) {
    Session trial = context.document.session();
    try {
        if (option.type == OptionType::list)
            add_from_text(trial, option, value);
        else
            set_from_text(trial, option, value);
        check_edit(trial.experiment);
    } catch (const Error& error) {
        context.interaction.notice = {named_as(option.name, "", error), true,
                                      remedy_of(context.document.session(), option.name, value)};
        return;
    }
    context.document.change([&](Session& session) { session = std::move(trial); });
    go_to(context, option);
}

void add_actions(std::vector<SearchEntry>& entries, const ActionContext& context) {
    for (const Action& action : actions())
        if (action.menu && action.enabled(context))
            entries.push_back({std::string(action.title), shortcut_text(action.shortcut),
                               std::string(action.help),
                               [&action](ActionContext& c) { run_action(action, c); }});
}

/// Actions that cannot run now, and why.
void add_disabled_actions(std::vector<SearchEntry>& entries, const ActionContext& context) {
    for (const Action& action : actions()) {
        if (!action.menu || action.enabled(context)) continue;
        const std::string why = why_disabled(action, context);
        entries.push_back({std::string(action.title), "not available",
                           fmt::format("{}. {}", why, action.help), [why](ActionContext& c) {
                               c.interaction.notice = {why, true};
                           }});
    }
}

void add_recent_files(std::vector<SearchEntry>& entries, const ActionContext& context) {
    for (const std::string& file : context.saved.recent_files)
        entries.push_back({"Open " + std::filesystem::path(file).filename().string(), "recent file", file,
                           [file](ActionContext& c) { c.interaction.to_open = OpenRequest{file}; }});
}

void add_settings(std::vector<SearchEntry>& entries, const ActionContext& context) {
    for (const Option& option : options()) {
        const std::string name = name_in_words(option.name);
        const std::string unused = context.document.why_unused(option);
        const std::string help = unused.empty() ? std::string(option.help) : "Has no effect now: " + unused;
        const std::string kind = std::string(name_of(option.section));
        entries.push_back({name, kind, help, [&option](ActionContext& c) { go_to(c, option); }});
        if (option.type == OptionType::picture || option.name == "view") continue;
        for (const std::string& value : values_of(option))
            entries.push_back({name + ": " + value, kind, help,
                               [&option, value](ActionContext& c) { set(c, option, value); }});
        if (option.type == OptionType::boolean)
            for (const auto& [value, shown] : {std::pair{"true", ": on"}, {"false", ": off"}})
                entries.push_back({name + shown, kind, help,
                                   [&option, value = value](ActionContext& c) { set(c, option, value); }});
    }
}

void add_stages(std::vector<SearchEntry>& entries, const ActionContext& context) {
    const auto& trace = context.document.trace();
    if (!trace) return;
    const auto add = [&](const StagePtr& stage, const char* kind) {
        if (stage->layer > 1) return;  // the layer that is shown is chosen by itself
        StageKey key = stage->key();
        key.layer = 0;
        entries.push_back({stage_heading(key), kind, formula(*trace, *stage), [key](ActionContext& c) {
                               c.document.change([&](Session& s) {
                                   s.presentation.view = ViewKind::pipeline;
                                   s.presentation.focus(key);
                               });
                               c.interaction.zoom = {};
                           }});
    };
    for (const StagePtr& stage : trace->stages()) add(stage, "stage");
    for (const StagePtr& stage : trace->parameters()) add(stage, "parameters");
    for (const StagePtr& stage : trace->gradients) add(stage, "gradient");
    for (int layer = 1; layers_of(*trace) > 1 && layer <= layers_of(*trace); ++layer)
        entries.push_back({fmt::format("Layer {}", layer), "layer", "Shows this layer everywhere",
                           [layer](ActionContext& c) {
                               c.document.change([&](Session& s) { s.presentation.set_layer(layer); });
                           }});
    const int heads = trace->experiment.attention.heads;
    for (int head = 0; heads > 1 && head < heads; ++head)
        entries.push_back(
            {fmt::format("Head {}", head + 1), "head", "Shows this head everywhere",
             [head](ActionContext& c) {
                 c.document.change([&](Session& s) { s.presentation.head = {HeadChoice::Kind::one, head}; });
             }});
}

void add_sessions(std::vector<SearchEntry>& entries, const ActionContext& context) {
    for (const ExampleCard& card : example_cards())
        entries.push_back({fmt::format("Example: {} ({})", card.title, card.name), "example",
                           fmt::format("{}: {}", card.theme, card.promise),
                           [name = std::string(card.name)](ActionContext& c) { open_example(c, name); }});
    for (const ComparisonPreset& preset : comparison_presets()) {
        if (!context.document.trace()) break;
        entries.push_back({"Compare with " + std::string(preset.name), "compare", std::string(preset.help),
                           [&preset](ActionContext& c) {
                               const auto compared = with_preset_and_needs(c.document.session(), preset);
                               if (!compared) {
                                   c.interaction.notice = {
                                       preset.lacks.empty()
                                           ? fmt::format("“{}” has no effect on what is shown", preset.name)
                                           : fmt::format("“{}”: {}", preset.name, preset.lacks),
                                       true};
                                   return;
                               }
                               c.document.change([&](Session& s) {
                                   s = *compared;
                                   s.presentation.view = ViewKind::compare;
                               });
                           }});
    }
    for (const Question& question : questions())
        entries.push_back({std::string(question.text), "question", std::string(question.look),
                           [&question](ActionContext& c) { open_question(c, question); }});
}

/// What the heads are sorted by, and the runs that are trained beside another.
void add_orders(std::vector<SearchEntry>& entries, const ActionContext& context) {
    if (!context.document.trace()) return;
    for (const HeadsOrder& order : heads_orders())
        entries.push_back({"Sort heads by " + name_of_order(order), "heads", "Shows every head in this order",
                           [order](ActionContext& c) {
                               c.interaction.heads_order = order;
                               c.document.change([](Session& s) { s.presentation.view = ViewKind::heads; });
                           }});
    if (!can_be_trained(context.document.experiment())) return;
    const Experiment drawn = untrained(context.document.experiment());
    for (const Variation& variation : variations())
        if (varied(drawn, variation))
            entries.push_back({"Train beside: " + std::string(variation.name), "training",
                               std::string(variation.help), [&variation](ActionContext& c) {
                                   c.document.train_beside(&variation);
                                   c.document.change(
                                       [](Session& s) { s.presentation.view = ViewKind::training; });
                               }});
}

/// Whether the character that holds a byte of the text can be part of a word.
bool is_in_word(std::string_view text, std::size_t byte) {
    const char32_t code = decode_utf8(text.substr(code_point_begin(text, byte))).code;
    return is_letter(code) || is_digit(code);
}

/// Whether a word of the text begins with `word`.
bool begins_a_word(std::string_view text, std::string_view word) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1))
        if (at == 0 || !is_in_word(text, at - 1) || !is_in_word(word, 0)) return true;
    return false;
}

/// 0: not found; more is better.
int rank(const SearchEntry& entry, const std::vector<std::string>& words, const std::string& whole) {
    const std::string title = lower(entry.title), others = synonyms_of(title), help = lower(entry.help);
    int least = title == whole ? 5 : 4;
    for (const std::string& word : words) {
        const int found = begins_a_word(title, word)                                     ? 5
                          : begins_a_word(others, word)                                  ? 3
                          : title.find(word) != title.npos                               ? 2
                          : begins_a_word(help, word) || begins_a_word(entry.kind, word) ? 1
                                                                                         : 0;
        least = std::min(least, found);
    }
    return least;
}

}  // namespace

std::vector<SearchEntry> search_entries(const ActionContext& context) {
    std::vector<SearchEntry> entries;
    add_actions(entries, context);
    add_settings(entries, context);
    add_stages(entries, context);
    add_orders(entries, context);
    add_sessions(entries, context);
    add_recent_files(entries, context);
    add_disabled_actions(entries, context);
    return entries;
}

std::vector<SearchEntry> search(const ActionContext& context, std::string_view text) {
    const std::string whole = lower(text);
    std::vector<std::string> words;
    for (std::size_t at = 0; at < whole.size();) {
        const std::size_t end = std::min(whole.find(' ', at), whole.size());
        if (end > at) words.push_back(whole.substr(at, end - at));
        at = end + 1;
    }
    std::vector<SearchEntry> found;
    if (words.empty()) {
        add_actions(found, context);
        return found;
    }
    std::vector<std::pair<int, SearchEntry>> ranked;
    for (SearchEntry& entry : search_entries(context))
        if (const int how = rank(entry, words, whole); how > 0) ranked.emplace_back(how, std::move(entry));
    std::ranges::stable_sort(ranked, std::greater<>(), [](const auto& each) { return each.first; });
    for (auto& [how, entry] : ranked) found.push_back(std::move(entry));
    constexpr std::size_t k_most_tokens = 20;
    std::ranges::move(find_text(context, text, k_most_tokens), std::back_inserter(found));
    return found;
}

}  // namespace attnscope
