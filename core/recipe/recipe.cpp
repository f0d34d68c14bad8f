#include "core/recipe/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/error.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/mechanisms.h"
#include "core/op/op.h"
#include "core/recipe/generator.h"

namespace attnscope {
namespace {

using op::TorchLines, op::TorchVariable;

constexpr std::size_t k_longest_sentence = 90;  ///< in bytes; a longer one is not shown

/// The variable of a stage: its name; for a GRU's parameter that of torch.nn.GRUCell (`dec.W_ih` is
/// `dec.weight_ih`).
std::string python_name(std::string_view stage) {
    if (const LayerName parts = split_layer(stage); parts.layer > 0)
        return fmt::format("{}_{}", parts.name, parts.layer);
    const std::size_t dot = stage.find('.');
    if (dot == std::string_view::npos) return std::string(stage);
    const char* kind = stage[dot + 1] == 'W' ? "weight" : "bias";
    return fmt::format("{}.{}{}", stage.substr(0, dot), kind, stage.substr(stage.find('_', dot)));
}

bool adds_head(const Stage& stage) { return stage.shape().per_head && stage.shape().heads == 1; }
bool adds_row(const Stage& stage) { return stage.info->rows == Axis::single; }

TorchVariable variable_of(const Stage& stage) {
    return {.name = python_name(stage.name()),
            .shape = stage.shape(),
            .vector = adds_row(stage),
            .whole = stage.info->unit == Unit::token_id};
}

/// A heading in the script that belongs to a stage rather than to its operation. A step of the script needs
/// no row here: its operation writes its own lines (op::TorchLines).
struct Heading {
    const StageInfo* stage;
    std::string_view words;
};
constexpr std::string_view k_projections = "Queries, keys and values.";
constexpr std::array k_headings = {
    Heading{"embedding"_stage, "The embeddings are custom."},
    Heading{"embedding_kv"_stage, "The embeddings of keys and values."},
    Heading{"embedding_v"_stage, "The embeddings of the values."},
    Heading{"query"_stage, k_projections},
    Heading{"key"_stage, k_projections},
    Heading{"value"_stage, k_projections},
    Heading{"scores"_stage, "The scores are custom."},
    Heading{"fed_tokens"_stage, "The words that the decoder is fed, each to predict the next."},
    Heading{"target_tokens"_stage, op::CrossEntropy::k_heading},
    Heading{"residual_1"_stage, "The block: the output of attention is added to its input."},
    Heading{"feed_forward_hidden"_stage, "The feed-forward layer."},
    Heading{"logits"_stage, "The probability of each word."},
    Heading{"keys_projected"_stage,
            "The alignment compares each state with every annotation h; U_a h is the same at every step."},
};

/// The sentence whose tokens a stage holds, as rows of a table; nullptr for other stages.
const SentenceRole* sentence_of(const Experiment& experiment, const StageInfo* stage) {
    const Mechanism& mechanism = mechanism_of(experiment);
    for (const SentenceRole* each : {&mechanism.first, &mechanism.second})
        if (each->tokens == stage && each->table) return each;
    return nullptr;
}

class Recipe {
public:
    explicit Recipe(const Trace& trace) : trace_(trace), generator_(drawn_variables(trace), heads(trace)) {
        for (const StageRecord& record : trace.records) note_values(record);
        for (const StageRecord& record : trace.records) write(record);
    }

    std::string text() const;

private:
    static std::vector<DrawnVariable> drawn_variables(const Trace& trace);
    static int heads(const Trace& trace);
    void note_values(const StageRecord& record);
    void write(const StageRecord& record);
    void write_heading(const std::string& words);
    void watch(const StageRecord& result);
    void write_words(const SentenceRole& sentence);
    TorchLines lines_of(const StageRecord& record, const std::vector<const StageRecord*>& results);

    const Trace& trace_;
    ScriptGenerator generator_;
    bool finite_ = true, nothing_dead_ = true;
    std::string body_, heading_;
    int layer_ = 0;  ///< under whose heading the script is
    std::set<const Stage*> written_;
    std::set<std::string> modules_{"json", "sys"}, defined_;
};

std::vector<DrawnVariable> Recipe::drawn_variables(const Trace& trace) {
    std::vector<DrawnVariable> variables;
    for (const StageRecord& record : trace.records)
        if (const auto* drawn = std::get_if<op::Drawn>(record.op.get()))
            variables.push_back({drawn, python_name(record.stage->name()), adds_row(*record.stage)});
    return variables;
}

int Recipe::heads(const Trace& trace) {
    int heads = 1;
    for (const StageRecord& record : trace.records) heads = std::max(heads, record.stage->shape().heads);
    return heads;
}

/// Whether there is a number that is not finite, or a softmax over closed cells alone.
void Recipe::note_values(const StageRecord& record) {
    const Buffer& values = record.stage->buffer;
    const ValueRange& range = values.range();
    const bool may_be_closed = record.stage->info->columns == Axis::key_token;
    if (range.nan + range.plus_infinity > 0 || (range.minus_infinity > 0 && !may_be_closed)) finite_ = false;
    if (record.stage->info->role != StageRole::masked_scores) return;
    const bool over_queries = trace_.over_queries();
    for (int h = 0; h < values.shape().heads; ++h) {
        const std::vector<float>& largest = over_queries ? values.column_largest(h) : values.row_largest(h);
        if (std::ranges::find(largest, -INFINITY) != largest.end()) nothing_dead_ = false;
    }
}

TorchLines Recipe::lines_of(const StageRecord& record, const std::vector<const StageRecord*>& results) {
    TorchLines lines{
        .finite = finite_, .nothing_dead = nothing_dead_, .gradients = !trace_.gradients.empty()};
    lines.draw = [this](const op::Drawn& drawn) { return generator_.draw(drawn); };
    for (const StagePtr& input : record.inputs) lines.inputs.push_back(variable_of(*input));
    for (const StageRecord* result : results) lines.results.push_back(variable_of(*result->stage));
    torch(*record.op, lines);
    return lines;
}

/// A blank line and a comment, unless the script is under this heading already.
void Recipe::write_heading(const std::string& words) {
    if (words.empty() || words == heading_) return;
    heading_ = words;
    body_ += "\n" + op::python_comment(words);
}

/// Keeps the gradient of a stage that has one. The steps of a recurrence and the parameters of a module keep
/// their own.
void Recipe::watch(const StageRecord& result) {
    const Stage& stage = *result.stage;
    const std::string name = python_name(stage.name());
    const bool keeps = has_own_gradients(*result.op) || name.find('.') != std::string::npos;
    if (!keeps && trace_.find({stage.info, stage.layer, StageKey::Part::gradient}))
        body_ += fmt::format("{0} = watched({0})\n", name);
}

/// Where the words of a sentence are looked up: the words by row of their table, and the sentence.
void Recipe::write_words(const SentenceRole& sentence) {
    const Experiment& e = trace_.experiment;
    const bool of_target = sentence.has_own_table;
    const std::vector<std::string>& words = of_target ? trace_.target_table : trace_.table;
    if (words.empty()) return write_heading("The words are custom: rows of the table.");
    const bool is_set = !(of_target ? e.input.words2 : e.input.words).empty();
    write_heading(
        fmt::format("The {}sentence, cut {} and case-folded. Each token is the row of its word in the table, "
                    "whose words are in {}{}.",
                    of_target ? "target " : "", tokenizer_of(e.input.tokenizer).cut,
                    is_set ? "an order of their own" : vocabulary_rule(e.input.vocabulary).sorted,
                    of_target ? " after <bos> and <eos>" : ""));
    // The table of a stable vocabulary lists its words itself.
    const bool is_listed = std::holds_alternative<op::StableTable>(*trace_.record(sentence.table)->op);
    if (!is_listed && defined_.insert(sentence.table_words).second) {
        TorchLines lines;
        std::vector<std::string> items;
        for (const std::string& word : words) items.push_back(op::python_string(word));
        lines.list(fmt::format("{} = [", sentence.table_words), items, "]");
        body_ += lines.code;
    }
    const bool is_second = &sentence == &mechanism_of(e).second;
    const std::string& text = is_second && !e.input.text2.empty() ? e.input.text2 : e.input.text;
    if (text.size() <= k_longest_sentence) body_ += "# " + op::python_string(text) + "\n";
}

/// The results of one operation, and before them the parameters that it reads first.
void Recipe::write(const StageRecord& record) {
    if (!written_.insert(record.stage.get()).second) return;
    const std::vector<const StageRecord*> results = trace_.results_of(record);
    for (const StageRecord* result : results) written_.insert(result->stage.get());
    const TorchLines lines = lines_of(record, results);
    const StageInfo* stage = record.stage->info;
    if (!is_parameter(*stage)) {
        if (const int layer = record.stage->layer; layer != layer_) {
            layer_ = layer;
            if (layer > 0) body_ += "\n" + op::python_comment(fmt::format("Layer {}.", layer));
        }
        if (const SentenceRole* sentence = sentence_of(trace_.experiment, stage)) write_words(*sentence);
        const auto heading = std::ranges::find(k_headings, stage, &Heading::stage);
        const bool has_none = !lines.section.empty() || heading == k_headings.end();
        write_heading(has_none ? lines.section : std::string(heading->words));
    }
    for (const auto& [name, code] : lines.functions)
        if (defined_.insert(name).second) body_ += code + "\n";
    for (const StagePtr& input : record.inputs)
        if (is_parameter(*input->info)) write(*trace_.record(input->key()));
    // A parameter of a GRU, `dec.weight_ih`, is one of a torch.nn.GRUCell.
    if (const TorchVariable& first = lines.results.front(); first.name.find('.') != std::string::npos)
        body_ += generator_.hold(first.name, first.shape.columns, first.shape.rows / 3);
    body_ += lines.code;
    for (const StageRecord* result : results) watch(*result);
    modules_.insert(lines.modules.begin(), lines.modules.end());
}

/// Writes `name = dict(stage=stage, …)`, each in the shape that the stage has in files; of gradients
/// `stage=gradient(stage)`. A name with a dot needs quotes.
std::string dictionary(const std::string& name, const std::vector<StagePtr>& stages) {
    const auto key_of = [](const StagePtr& stage) {
        return stage_name(stage->key().as(StageKey::Part::value));
    };
    const bool quotes = std::ranges::any_of(
        stages, [&](const StagePtr& stage) { return key_of(stage).find('.') != std::string::npos; });
    std::vector<std::string> entries;
    for (const StagePtr& stage : stages) {
        const std::string key = key_of(stage), added = adds_head(*stage) || adds_row(*stage) ? "[None]" : "";
        const bool is_gradient = stage->part == StageKey::Part::gradient;
        const std::string own =
            is_gradient ? fmt::format("gradient({})", python_name(key)) : python_name(key);
        entries.push_back((quotes ? op::python_string(key) + ": " : key + "=") + own + added);
    }
    TorchLines lines;
    lines.list(name + (quotes ? " = {" : " = dict("), entries, quotes ? "}" : ")");
    return lines.code;
}

constexpr const char* k_watch = R"(

def watched(x):  # a separate tensor that keeps its gradient
    x = x.clone() if x.requires_grad else x.detach().requires_grad_()
    x.retain_grad()
    return x


def gradient(x):  # of the steps of a recurrence one by one; zeros where the loss does not depend on it
    if hasattr(x, "steps"):
        return torch.stack([gradient(step) for step in x.steps])
    return torch.zeros_like(x) if x.grad is None else x.grad
)";
constexpr const char* k_backward = R"(# The gradients of the loss with respect to every stage and parameter.
loss.sum().backward()

)";

std::string Recipe::text() const {
    std::string script =
        op::python_comment(mechanism_of(trace_.experiment).title(trace_.experiment) +
                           (is_designed(trace_.experiment) ? ", designed rather than learned" : "") +
                           ", with the numbers of attnscope.") +
        "# Prints every stage; with --json all of them as one JSON object. PyTorch 1.13 or later.\n\n";
    for (const std::string& module : modules_) script += "import " + module + "\n";
    script += fmt::format("\nimport torch\nfrom torch import inf{}\n", finite_ ? "" : ", nan");
    const bool gradients = !trace_.gradients.empty();
    script += gradients ? k_watch : "\ntorch.set_grad_enabled(False)  # nothing is trained here\n";
    script += body_ + "\n";
    if (gradients) script += k_backward;
    script += op::python_comment(
        "All stages by name. [None] adds the missing dimension of size 1 to a vector or a single head.");
    script += dictionary("stages", trace_.stages()) + dictionary("parameters", trace_.parameters());
    return gradients ? script + dictionary("gradients", trace_.gradients) : script;
}

constexpr const char* k_print_begin = R"(
if "--json" in sys.argv:

    def plain(x):  # nested lists of nine digits; −∞ is null
        if isinstance(x, list):
            return [plain(each) for each in x]
        digits = f"{x:.9g}"
        return {"-inf": None, "inf": "inf", "nan": "nan"}.get(digits, float(digits))

    def tensors(named):
        data = {name: plain(x.tolist()) for name, x in named.items()}
        return {name: {"shape": list(x.shape), "data": data[name]} for name, x in named.items()}

    print(json.dumps({"stages": tensors(stages), "parameters": tensors(parameters))";
constexpr const char* k_print_end = R"(}))
else:
    torch.set_printoptions(linewidth=160, sci_mode=False)
    for name, x in {**parameters, **stages}.items():
        print(f"{name} {tuple(x.shape)}\n{x.data}\n")
)";

/// The lines that print every stage and, if there are any, every gradient.
std::string print_all(bool gradients) {
    constexpr const char* k_json = R"(,
                      "gradients": tensors(gradients))";
    constexpr const char* k_text = R"(    for name, x in gradients.items():
        print(f"gradient of {name} {tuple(x.shape)}\n{x.data}\n")
)";
    return std::string(k_print_begin) + (gradients ? k_json : "") + k_print_end + (gradients ? k_text : "");
}

}  // namespace

std::string recipe(const Trace& trace) {
    if (trace.is_on_demand())
        throw Error(
            ErrorKind::too_large,
            fmt::format("a script would compute {0} × {0} pairs at once: shorten the text to {1} tokens",
                        trace.rows.size(), k_max_tokens));
    return Recipe(trace).text() + print_all(!trace.gradients.empty());
}

}  // namespace attnscope
