#include "core/recipe/training_recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/mechanism/mechanisms.h"
#include "core/mechanism/seq2seq/parameters.h"
#include "core/mechanism/transformer/build.h"
#include "core/mechanism/transformer/parameters.h"
#include "core/op/op.h"
#include "core/text/vocabulary.h"

namespace attnscope {
namespace {

using op::TorchLines, op::TorchVariable;
using Place = TransformerParameter::Place;

constexpr std::size_t k_most_tokens = 1'000'000;

bool is_stack(const Experiment& e) {
    switch (e.mechanism) {
        case MechanismKind::transformer: return true;
        case MechanismKind::seq2seq:
        case MechanismKind::attention: break;  // which is not trained
    }
    return false;
}

/// Whether a model aligns the words of a source.
bool aligns(const Experiment& e) { return !is_stack(e) && e.seq2seq.aligns(); }
/// Whether anything that the model attends to may be closed: later tokens, or padding.
bool has_mask(const Experiment& e) { return is_stack(e) ? !e.weighting.mask.empty() : aligns(e); }

void require_written(const Experiment& e) {
    const auto refuse = [](const std::string& what, const char* instead) {
        throw Error(ErrorKind::bad_input,
                    fmt::format("a training script cannot have {}: use {}", what, instead));
    };
    if (vocabulary_rule(e.input.vocabulary).stable)
        refuse(fmt::format("vocabulary {}", name_of(e.input.vocabulary)), "another order");
    if (!is_stack(e) && !aligns(e)) return;
    if (e.weighting.normalizer != Normalization::softmax)
        refuse(fmt::format("normalizer {}", name_of(e.weighting.normalizer)), "softmax");
    const char* masks = is_stack(e) ? "causal or none" : "none";
    if (e.is_custom("mask")) refuse("a custom mask", masks);
    for (const MaskRule& rule : e.weighting.mask)
        if (!is_stack(e) || rule.kind != MaskForm::causal)
            refuse(fmt::format("mask {}", name_of(rule.kind)), masks);
}

// ---- What a module is made of

/// A member of a module, made by a call that draws its parameters.
struct Member {
    std::string name;
    std::string call;
    bool is_used = true;
};
using Members = std::vector<Member>;

/// The lines of the module's __init__. What is drawn without being used is there for the sake of what is
/// drawn after it.
std::string init_lines(Members members) {
    while (!members.empty() && !members.back().is_used) members.pop_back();
    std::string code = "    def __init__(self):\n        super().__init__()\n";
    for (const Member& each : members)
        code += each.is_used ? fmt::format("        self.{} = {}\n", each.name, each.call)
                             : fmt::format("        {}  # drawn, but not used\n", each.call);
    return code;
}

std::string table_call(const Experiment& e, int rows, int columns) {
    return fmt::format("torch.nn.Parameter({})", torch_call(Draw::by(e.weights.embedding, rows, columns)));
}

std::string linear_call(int in, int out, bool has_bias) {
    return fmt::format("torch.nn.Linear({}, {}{})", in, out, has_bias ? "" : ", bias=False");
}

/// The members at a place of the stack, in the order in which they are drawn.
Members stack_members(const TrainingRun& run, Place place) {
    const Experiment& e = run.start();
    const int words = static_cast<int>(run.parameters().at("E").rows());
    const TransformerSizes sizes = transformer_sizes(e, words);
    Members members;
    for (const TransformerParameter& each : transformer_parameters()) {
        const int out = each.rows(sizes), in = each.columns(sizes);
        if (each.place != place || out == 0 || in == 0) continue;
        const std::string name(each.name);
        const bool is_used = run.parameters().contains(name_in_layer(place == Place::layer ? 1 : 0, name));
        switch (each.draw) {
            using enum TransformerParameter::Draw;
            case table:
            case positions: members.push_back({name, table_call(e, out, in), is_used}); break;
            case linear: members.push_back({name, linear_call(in, out, false), is_used}); break;
            case bias:  // of the linear layer before it
                if (is_used) members.back().call = linear_call(each.fan(sizes), in, true);
                break;
            case ones:  // with the zeros after it
                if (is_used)
                    members.push_back(
                        {std::string(each.norm),
                         fmt::format("torch.nn.LayerNorm({}, eps={})", in, e.attention.layer_norm_epsilon)});
                break;
            case zeros: break;
        }
    }
    return members;
}

/// The members of encoder and decoder. torch.nn.GRU draws both directions, the forward one first.
Members translator_members(const TrainingRun& run) {
    const Experiment& e = run.start();
    const auto rows_of = [&](const char* table) {
        return static_cast<int>(run.parameters().at(table).rows());
    };
    const Seq2seqSizes sizes = seq2seq_sizes(e, rows_of("E_src"), rows_of("E_tgt"));
    const bool both_ways = e.seq2seq.reads_backward();
    Members members;
    for (const Seq2seqParameter& each : seq2seq_parameters()) {
        const int out = each.rows(sizes), in = each.columns(sizes);
        const std::string name(each.name);
        const bool is_used = run.parameters().contains(name);
        switch (each.draw) {
            using enum Seq2seqParameter::Draw;
            case table: members.push_back({name, table_call(e, out, in), is_used}); break;
            case linear: members.push_back({name, linear_call(in, out, false), is_used}); break;
            case bias: members.back().call = linear_call(each.fan(sizes), in, true); break;
            case recurrent: {
                if (!name.ends_with(".W_ih")) break;  // drawn with it
                const std::string gru = fmt::format("({}, {}", in, each.fan(sizes));
                if (each.part == Seq2seqParameter::Part::encoder)
                    members.push_back({"encoder", fmt::format("torch.nn.GRU{}, batch_first=True{})", gru,
                                                              both_ways ? ", bidirectional=True" : "")});
                else if (each.part == Seq2seqParameter::Part::decoder || !both_ways)
                    members.push_back({"dec", fmt::format("torch.nn.GRUCell{})", gru), is_used});
                break;
            }
        }
    }
    return members;
}

/// Scores, and what the operations of attention make of them.
struct AttendedVariables {
    TorchVariable scores, weights, values, context;
};

/// From scores to the context; `mask` is where they are open, empty: everywhere.
void write_attention(TorchLines& py, const op::Scale& scale, const std::string& mask,
                     const AttendedVariables& of) {
    if (scale.changes()) py.apply(scale, {of.scores}, of.scores);
    if (!mask.empty()) py.apply(op::MaskedFill{}, {of.scores, {.name = mask}}, of.scores);
    py.apply(op::Softmax{}, {of.scores}, of.weights);
    py.apply(op::WeightedSum{}, {of.weights, of.scores, of.values}, of.context);
}

// ---- A stack of layers

/// The line of a layer's forward that adds attention or feed-forward layer to the stream.
std::string residual_line(Norm norm, const char* part, const char* norm_name) {
    switch (norm) {
        case Norm::none: return fmt::format("        x = x + self.{}(x)\n", part);
        case Norm::before: return fmt::format("        x = x + self.{}(self.{}(x))\n", part, norm_name);
        case Norm::after: break;
    }
    return fmt::format("        x = self.{}(x + self.{}(x))\n", norm_name, part);
}

/// "[[0], [0, 1]]": the ablated heads of each layer, from 0.
std::string ablated_python(const Experiment& e) {
    std::vector<std::vector<int>> layers(static_cast<std::size_t>(e.transformer.layers));
    for (const HeadPlace& place : e.attention.ablated)
        layers[static_cast<std::size_t>(place.layer - 1)].push_back(place.head - 1);
    return fmt::format("{}", layers);
}

/// What a position adds to the script; empty where it adds nothing.
struct PositionLines {
    std::string before_layers = {};  ///< a function or a table
    std::string in_attention = {};   ///< on q and k
    std::string in_model = {};       ///< on x, of sentences × tokens × d
};

/// `length`: of the longest sentence.
PositionLines position_lines(const Experiment& e, int length) {
    TorchLines py;
    switch (e.attention.position) {
        case Position::none: break;
        case Position::sinusoidal:
            py.comment("Positions: sines and cosines.");
            py.apply(op::SinusoidalPositions{length, e.input.dim}, {}, {.name = "positions"});
            return {.before_layers = py.code, .in_model = "x = x + positions[: x.shape[1]]\n"};
        case Position::rope:
            py.apply(op::SplitHeads{.heads = 1, .rotary = e.attention.rope_layout}, {{.name = "x"}},
                     {.name = "x"});
            return {.before_layers = py.functions.front().second,
                    .in_attention = "q, k = rotate(q), rotate(k)\n"};
        case Position::alibi: throw Error(ErrorKind::bad_input, why_not_trained(Position::alibi));
        case Position::learned: return {.in_model = "x = x + self.P[: x.shape[1]]\n"};
    }
    return {};
}

/// The body of a layer's attend(x). A mask is that of the longest sentence.
std::string attend_lines(const Experiment& e, const PositionLines& position) {
    const int heads = e.attention.heads, d_k = e.key_width();
    const auto of_heads = [](const char* name) {
        return TorchVariable{.name = name, .shape = {.heads = 2}};  // more than one matrix
    };
    const TorchVariable q = of_heads("q"), k = of_heads("k"), v = of_heads("v"), scores = of_heads("scores");
    TorchLines py;
    py.line("q, k, v = (  # of each head: sentences × heads × tokens × {}", d_k);
    py.line("    W(x).unflatten(-1, ({}, {})).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v)", heads,
            d_k);
    py.line(")");
    py.code += position.in_attention;
    py.apply(op::DotProduct{}, {q, k}, scores);
    write_attention(py, {e.attention.scale, d_k, e.weighting.temperature},
                    has_mask(e) ? "mask[: x.shape[1], : x.shape[1]]" : "",
                    {scores, of_heads("weights"), v, of_heads("context")});
    if (!e.attention.ablated.empty()) {
        py.line("if self.ablated:");
        py.line("    context = context.clone()");
        py.line("    context[:, self.ablated] = {}",
                op::rule_of(e.attention.ablation).torch("context[:, self.ablated]"));
    }
    py.line("return self.W_o(context.transpose(1, 2).flatten(2))");
    return py.code;
}

std::string layer_module(const TrainingRun& run, const PositionLines& position) {
    const Experiment& e = run.start();
    TorchLines py;
    py.line("class Layer(torch.nn.Module):");
    py.code += init_lines(stack_members(run, Place::layer));
    py.line("\n    def attend(self, x):");
    py.code += op::python_indented(op::python_indented(attend_lines(e, position)));
    py.line("");
    const bool has_feed_forward = e.attention.feed_forward_size > 0;
    if (has_feed_forward) {
        py.line("    def feed_forward(self, x):");
        py.line("        return self.W_2(torch.nn.functional.{}(self.W_1(x)))",
                name_of(e.attention.activation));
        py.line("");
    }
    py.line("    def forward(self, x):");
    py.code += residual_line(e.transformer.norm, "attend", "ln1");
    if (has_feed_forward) py.code += residual_line(e.transformer.norm, "feed_forward", "ln2");
    py.line("        return x");
    return py.code;
}

/// `length`: of the longest sentence.
std::string stack_model(const TrainingRun& run, int length) {
    const Experiment& e = run.start();
    Members members = stack_members(run, Place::before_layers);
    members.push_back(
        {"layers", fmt::format("torch.nn.ModuleList(Layer() for _ in range({}))", e.transformer.layers)});
    for (Member& each : stack_members(run, Place::after_layers)) members.push_back(std::move(each));
    const PositionLines position = position_lines(e, length);
    TorchLines py;
    if (!position.before_layers.empty()) py.code += position.before_layers + "\n\n";
    if (has_mask(e)) {
        py.comment("The mask: which token i may attend to which token j.");
        py.apply(op::Mask{.queries = length, .keys = length, .rules = e.weighting.mask}, {},
                 {.name = "mask"});
        py.line("\n");
    }
    py.code += layer_module(run, position);
    py.line("\n\nclass Model(torch.nn.Module):");
    py.code += init_lines(members);
    py.line("\n    def forward(self, tokens):");
    py.line("        x = self.E[tokens]");
    py.code += op::python_indented(op::python_indented(position.in_model));
    py.line("        for layer in self.layers:");
    py.line("            x = layer(x)");
    if (ends_normed(e.transformer.norm)) py.line("        x = self.ln_f(x)");
    py.line("        return {}", e.transformer.tied ? "x @ self.E.T" : "self.W_out(x)");
    return py.code;
}

// ---- Encoder and decoder

std::string translator_model(const TrainingRun& run) {
    const Experiment& e = run.start();
    TorchLines look;
    if (aligns(e)) {
        look.line("e = self.v_a(torch.tanh(self.W_a(s)[:, None] + keys)).mT  # sentences × 1 × words");
        write_attention(look, {{.kind = Scale::Kind::none}, 1, e.weighting.temperature}, "is_word",
                        {{"e"}, {"alpha"}, {"h"}, {"c"}});
        look.line("c = c.squeeze(1)");
    }
    std::string body;
    switch (e.seq2seq.alignment_state) {
        case AlignmentState::previous:
            body = look.code + "s = self.dec(torch.cat([y, c], dim=-1), s)\n";
            break;
        case AlignmentState::current: body = "s = self.dec(y, s)\n" + look.code; break;
    }
    body += "outputs.append(torch.cat([s, y, c], dim=-1))\n";
    TorchLines py;
    py.line("class Model(torch.nn.Module):");
    py.code += init_lines(translator_members(run));
    py.code += R"(
    def forward(self, sources, fed):
        lengths = torch.tensor([len(source) for source in sources])
        X = pad_sequence([self.E_src[source] for source in sources], batch_first=True)
        packed = pack_padded_sequence(X, lengths, batch_first=True, enforce_sorted=False)
        h, last = self.encoder(packed)  # the annotations, and each direction's last state
)";
    if (aligns(e)) {
        py.line("        h, _ = pad_packed_sequence(h, batch_first=True)");
        py.line("        is_word = (torch.arange(h.shape[1]) < lengths[:, None])[:, None]  # else padding");
        py.line("        keys = self.U_a(h)");
    } else {
        py.line("        c = torch.cat([*last], dim=-1)  # all that the decoder knows of the source");
    }
    py.line("        s = self.W_init(last[-1]).tanh()");
    py.line("        outputs = []");
    py.line("        for y in self.E_tgt[fed].unbind(1):  # step by step");
    py.code += op::python_indented(op::python_indented(op::python_indented(body)));
    py.line("        return self.W_out(torch.stack(outputs, dim=1))");
    return py.code;
}

// ---- The sentences

struct Batches {
    std::string code;  ///< `batches = […]`: of each step, of each sentence, what is read and the targets
    std::size_t longest = 0;
};

Batches write_batches(const Experiment& e, const TaskSentences& sentences, int steps) {
    Generator generator(e.training.data_seed);
    Batches batches{.code = "batches = [\n"};
    std::size_t tokens = 0;
    for (int step = 1; step <= steps; ++step) {
        batches.code += fmt::format("    [  # step {}\n", step);
        for (const TaskSentence& each : draw_sentences(sentences.draw, generator, e.training.batch)) {
            const std::vector<int>& read = is_stack(e) ? each.tokens : each.source;
            batches.code +=
                fmt::format("        ([{}], [{}]),\n", fmt::join(read, ", "), fmt::join(each.targets, ", "));
            batches.longest = std::max(batches.longest, read.size());
            tokens += read.size() + each.targets.size();
        }
        batches.code += "    ],\n";
        if (tokens > k_most_tokens)
            throw Error(ErrorKind::too_large,
                        fmt::format("a script holds at most {} tokens and targets: use at most {} steps",
                                    k_most_tokens, step - 1));
    }
    batches.code += "]\n";
    return batches;
}

void write_words(TorchLines& py, const char* name, const std::vector<std::string>& words) {
    std::vector<std::string> items;
    for (const std::string& word : words) items.push_back(op::python_string(word));
    py.list(fmt::format("{} = [", name), items, "]");
}

void write_tables(TorchLines& py, const TaskSentences& sentences) {
    if (sentences.source_words.empty()) {
        py.comment("The words, by row of E.");
        return write_words(py, "words", sentences.words);
    }
    std::vector<std::string> target_words{"<bos>", "<eos>"};
    target_words.insert(target_words.end(), sentences.words.begin(), sentences.words.end());
    py.comment("The words, by row of E_src and of E_tgt.");
    write_words(py, "source_words", sentences.source_words);
    write_words(py, "target_words", target_words);
}

// ---- The training

void write_optimizer(TorchLines& py, const Optimizer& optimizer) {
    const auto write = [&](const char* type, const std::string& settings) {
        py.line("optimizer = torch.optim.{}(", type);
        py.line("    model.parameters(), lr={}, weight_decay={}, {}", optimizer.learning_rate,
                optimizer.weight_decay, settings);
        py.line(")");
    };
    const std::string means =
        fmt::format("betas=({}, {}), eps={}", optimizer.beta1, optimizer.beta2, optimizer.epsilon);
    switch (optimizer.kind) {
        case OptimizerKind::sgd: return write("SGD", fmt::format("momentum={}", optimizer.momentum));
        case OptimizerKind::adam: return write("Adam", means);
        case OptimizerKind::adamw: return write("AdamW", means);
    }
}

bool has_schedule(const Optimizer& optimizer) { return optimizer.warm_up > 0 || optimizer.decay > 0; }

/// learning_rate_at() in Python.
void write_schedule(TorchLines& py, const Optimizer& optimizer) {
    if (!has_schedule(optimizer)) return;
    py.line("\n\ndef learning_rate(step):  # from 1");
    if (optimizer.warm_up > 0) {
        py.line("    if step <= {}:  # the warm-up", optimizer.warm_up);
        py.line("        return {} * step / {}", optimizer.learning_rate, optimizer.warm_up);
    }
    if (optimizer.decay == 0) return py.line("    return {}\n", optimizer.learning_rate);
    py.line("    done = min(1, (step - {}) / {})  # of half a cosine", optimizer.warm_up, optimizer.decay);
    py.line("    return {} * (1 + math.cos(math.pi * done)) / 2\n", optimizer.learning_rate);
}

/// What a step gives the model, and its targets.
constexpr const char* k_stack_batch = R"(
    tokens = torch.tensor([read for read, _ in batch])
    targets = torch.tensor([target for _, target in batch])
    logits = model(tokens)
)";
/// The decoder is fed <bos> and its targets but the last, <eos>.
constexpr const char* k_translator_batch = R"(
    sources = [torch.tensor(read) for read, _ in batch]
    targets = [torch.tensor(target) for _, target in batch]
    fed = [torch.cat([torch.tensor([0]), target[:-1]]) for target in targets]  # <bos> first
    targets = pad_sequence(targets, batch_first=True, padding_value=-1)
    logits = model(sources, pad_sequence(fed, batch_first=True))
)";

void write_training(TorchLines& py, const Experiment& e) {
    const Optimizer& optimizer = e.training.optimizer;
    py.line("torch.manual_seed({})", e.weights.seed.text());
    py.line("model = Model()");
    if (!e.attention.ablated.empty())
        py.line("for layer, heads in zip(model.layers, {}):\n    layer.ablated = heads", ablated_python(e));
    write_optimizer(py, optimizer);
    write_schedule(py, optimizer);
    py.line("\nlosses = []");
    py.line("for step, batch in enumerate(batches, start=1):");
    py.code += (is_stack(e) ? k_stack_batch : k_translator_batch) + 1;  // without the first end of line
    py.line("    loss = torch.nn.functional.cross_entropy(  # the mean over all positions with a target");
    py.line("        logits.flatten(0, 1), targets.flatten(), ignore_index=-1");
    py.line("    )");
    py.line("    optimizer.zero_grad()");
    py.line("    loss.backward()");
    if (optimizer.clip > 0)
        py.line("    torch.nn.utils.clip_grad_norm_(model.parameters(), {})", optimizer.clip);
    if (has_schedule(optimizer)) py.line("    optimizer.param_groups[0][\"lr\"] = learning_rate(step)");
    py.code += R"(    optimizer.step()
    losses.append(loss.item())
    if "--json" not in sys.argv:
        print(f"step {step}: loss {loss.item():.6f}")
if "--json" in sys.argv:
    print(json.dumps({"losses": losses}))
)";
}

}  // namespace

std::string training_recipe(const TrainingRun& run, int steps) {
    const Experiment& e = run.start();
    require_written(e);
    const Task& task = task_of(e.training.task);
    const TaskSentences sentences = task.open(e.training);
    const Batches batches = write_batches(e, sentences, steps);
    TorchLines py;
    py.comment(fmt::format(
        "{} learns to {}: the first {} steps, with the parameters and sentences that attnscope draws.",
        mechanism_of(e).title(e), task.summary, steps));
    py.line("# Prints the loss of each step; with --json all as one JSON object. PyTorch 1.13 or later.\n");
    py.line("import json");
    if (e.training.optimizer.decay > 0) py.line("import math");
    py.line("import sys\n\nimport torch");
    if (has_mask(e)) py.line("from torch import inf");
    if (!is_stack(e))
        py.line("from torch.nn.utils.rnn import pack_padded_sequence{}, pad_sequence",
                aligns(e) ? ", pad_packed_sequence" : "");
    py.line("");
    write_tables(py, sentences);
    py.line("\n");
    py.code += is_stack(e) ? stack_model(run, static_cast<int>(batches.longest)) : translator_model(run);
    py.line("\n");
    py.comment(is_stack(e)
                   ? "The sentences of each step: rows of E, and the row to predict at each (-1: none)."
                   : "The sentences of each step: rows of E_src, and the rows of E_tgt to predict.");
    py.code += batches.code + "\n";
    write_training(py, e);
    return py.code;
}

}  // namespace attnscope
