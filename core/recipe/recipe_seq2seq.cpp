// Writes the script of sequence to sequence: one function per step, in the order of the computation.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/op/normalizers.h"
#include "core/recipe/recipe_script.h"
#include "core/text/vocabulary.h"

namespace attnscope {
namespace {

using Window = Normalizer::Window;

/// A result of a decoder step: a variable of the loop, and the stage whose row it is.
struct StepValue {
    const char* variable;
    const char* stage;
};
constexpr std::array k_step_values = {
    StepValue{"e", "alignment_scores"},
    StepValue{"scaled", "alignment_scaled"},
    StepValue{"p", "alignment_center"},
    StepValue{"may_look", "alignment_mask"},
    StepValue{"masked", "alignment_masked"},
    StepValue{"softmax", "alignment_softmax"},
    StepValue{"gauss", "alignment_gauss"},
    StepValue{"alpha", "alignment"},
    StepValue{"c", "decoder_context"},
    StepValue{"r", "gate_r"},
    StepValue{"z", "gate_z"},
    StepValue{"n", "gate_n"},
    StepValue{"s", "decoder_state"},
};

class Seq2seqRecipe {
public:
    Seq2seqRecipe(Script& script, const Trace& trace)
        : script_(script),
          trace_(trace),
          e_(trace.experiment),
          window_(normalizer_of(e_.weighting.normalizer).window) {}

    void write() {
        tokens();
        tables();
        encoder();
        start_decoder();
        decoder_weights();
        mask();
        decode();
        predict();
        loss();
    }

private:
    // Queries on the trace.
    bool has(std::string_view name) const { return trace_.find(name) != nullptr; }
    bool is_drawn(std::string_view name) const { return has(name) && !e_.is_given(name); }
    const Shape& shape(std::string_view name) const { return trace_.find(name)->shape(); }
    const ValueRange& range(std::string_view name) const { return trace_.find(name)->buffer.range(); }
    int words() const { return shape("source").rows; }
    /// The largest possible number of steps.
    int steps() const { return is_greedy() ? e_.seq2seq.max_steps : shape("fed_tokens").rows; }
    int annotation() const { return shape("annotations").columns; }
    bool is_greedy() const { return e_.seq2seq.decode == Decode::greedy; }
    bool is_stable() const { return vocabulary_rule(e_.input.vocabulary).stable; }
    bool reads_backward() const { return e_.seq2seq.encoder == Encoder::bidirectional; }
    bool aligns() const { return has("alignment"); }
    bool asks_first() const { return e_.seq2seq.alignment_state == AlignmentState::previous; }
    bool has_rules() const { return aligns() && (!e_.weighting.mask.empty() || e_.is_given("mask")); }
    /// The argument of the normalizer: the stage, and the variable of a step.
    StepValue masked() const {
        for (const StepValue& value :
             {StepValue{"masked", "alignment_masked"}, {"scaled", "alignment_scaled"}})
            if (has(value.stage)) return value;
        return {"e", "alignment_scores"};
    }

    // Repeated pieces of code.
    void section(const std::string& comment) { script_.section(comment); }
    void line(const std::string& code) { script_.line(code); }
    void step(const std::string& code) { script_.line("    " + code); }

    // recipe steps
    void tokens();
    void tables();
    void encoder();
    void start_decoder();
    void decoder_weights();
    void mask();
    void decode();
    void predict();
    void loss();

    // Parts of the steps.
    void words_of(const std::string& side, const std::string& table, const std::vector<std::string>& words);
    void table(const std::string& name, const std::vector<std::string>& words);
    void read(const std::string& side, const std::string& words);
    void look();
    std::string open_words() const;
    void normalize();
    void context();
    void fixed_context();
    void unit();
    void next_word();
    std::string likeliest(const std::string& logits) const;
    bool normalizer_meets_closed() const;
    bool context_meets_closed() const;

    // The parameters, as one generator draws them.
    std::vector<DrawLine> draws() const;
    void parameters(const std::string& target);
    void given(const std::string& name);

    Script& script_;
    const Trace& trace_;
    const Experiment& e_;
    const Window window_;
};

// ---- The parameters

bool is_unit(const std::string& target) { return target == "dec" || target.starts_with("enc_"); }

/// The parameters that `target = …` sets: one or two by name, or the four of a GRU.
std::vector<std::string> parameters_of(const std::string& target) {
    if (is_unit(target)) return {target + ".W_ih", target + ".W_hh", target + ".b_ih", target + ".b_hh"};
    const std::size_t comma = target.find(", ");
    if (comma == std::string::npos) return {target};
    return {target.substr(0, comma), target.substr(comma + 2)};
}

/// As listed by seq2seq_parameters(): all are drawn, including those that are custom or not used.
std::vector<DrawLine> Seq2seqRecipe::draws() const {
    const int d = e_.input.dim, E = e_.seq2seq.encoder_size, C = annotation(), D = e_.seq2seq.decoder_size,
              A = e_.weighting.hidden;
    const int V = shape("E_tgt").rows;
    const auto cell = [](int in, int states) {
        return "torch.nn.GRUCell(" + text(in) + ", " + text(states) + ")";
    };
    const auto linear = [](int in, int out) {
        return "torch.nn.Linear(" + text(in) + ", " + text(out) + ").parameters()";
    };
    std::vector<DrawLine> list;
    if (!is_stable())
        list = {{"E_src", drawn_matrix(name_of(e_.weights.embedding), shape("E_src").rows, d)},
                {"E_tgt", drawn_matrix(name_of(e_.weights.embedding), V, d)}};
    const std::vector<DrawLine> weights = {{"enc_fwd", cell(d, E)},
                                           {"enc_bwd", cell(d, E)},
                                           {"W_init, b_init", linear(E, D)},
                                           {"W_a", linear_weight(A, D)},
                                           {"U_a", linear_weight(A, C)},
                                           {"v_a", linear_weight(1, A) + "[0]"},
                                           {"dec", cell(asks_first() ? d + C : d, D)},
                                           {"W_out, b_out", linear(D + d + C, V)},
                                           {"W_p", linear_weight(A, D)},
                                           {"v_p", linear_weight(1, A) + "[0]"}};
    list.insert(list.end(), weights.begin(), weights.end());
    return list;
}

void Seq2seqRecipe::given(const std::string& name) {
    const bool of_unit = name.find('.') != std::string::npos;
    script_.tensor(python_name(name) + (of_unit ? ".data" : ""), e_.weights.given.at(name).values(),
                   trace_.find(name)->info->rows == Axis::single);
}

/// Draws what is not custom of `target`, one of draws(), and writes the rest; nothing if the trace has none.
void Seq2seqRecipe::parameters(const std::string& target) {
    const std::vector<std::string> names = parameters_of(target);
    if (!has(names.front())) return;
    GeneratorState state{e_.weights.seed, draws()};
    const auto found = std::ranges::find(state.draws, target, &DrawLine::target);
    const DrawLine draw = *found;
    if (std::ranges::any_of(names, [&](const std::string& name) { return is_drawn(name); })) {
        state.draws.erase(found, state.draws.end());
        script_.reach(state);
        script_.draw(draw);
    } else if (is_unit(target)) {
        line(draw.target + " = " + draw.call);
        script_.forget_generator();
    }
    for (const std::string& name : names)
        if (e_.is_given(name)) given(name);
}

// ---- From the sentences to the tables' rows

/// The words by row, unless the seeds of the table list them or they do not come from the text.
void Seq2seqRecipe::words_of(const std::string& side, const std::string& table,
                             const std::vector<std::string>& words) {
    if (!words.empty() && !(is_stable() && is_drawn(table))) write_words(script_, side + "_words", words);
}

void Seq2seqRecipe::tokens() {
    const bool source = !e_.is_given("src"), fed_is_given = !is_greedy() && e_.is_given("tgt_in");
    const bool target = !trace_.target_table.empty() || !(is_greedy() || fed_is_given);
    std::string comment = source && target ? "The source and target sentences, each with a table of its own"
                          : source         ? "The source sentence"
                                           : "The target sentence";
    if (source || target) {
        comment += ", " + cut_text(e_) +
                   ". Each token is the row of its word in the table, whose words are in " + order_text(e_);
        if (target)
            comment += source ? ", in the target table after <bos> and <eos>" : " after <bos> and <eos>";
        section(comment + ".");
    } else {
        section("The words are custom: rows of the tables.");
    }
    words_of("source", "E_src", trace_.table);
    if (source) write_sentence(script_, e_.input.text);
    write_tokens(script_, "source", *trace_.find("source"));
    words_of("target", "E_tgt", trace_.target_table);
    if (target) write_sentence(script_, e_.input.text2.empty() ? e_.input.text : e_.input.text2);
    if (!is_greedy()) write_tokens(script_, "fed_tokens", *trace_.find("fed_tokens"));
    if (has("target_tokens")) write_tokens(script_, "target_tokens", *trace_.find("target_tokens"));
}

void Seq2seqRecipe::table(const std::string& name, const std::vector<std::string>& words) {
    if (e_.is_given(name)) return given(name);
    if (!is_stable()) return parameters(name);
    if (!words.empty()) return write_stable_table(script_, name, e_, words);
    script_.reach({e_.weights.seed, {}});
    script_.draw({name, drawn_matrix(name_of(e_.weights.embedding), shape(name).rows, e_.input.dim)});
}

void Seq2seqRecipe::tables() {
    const auto spare = shape("E_src").rows - static_cast<int>(trace_.table.size());
    std::string comment = "The embedding tables, a row of " + text(e_.input.dim) + " numbers for each word";
    if (is_drawn("E_src") && !trace_.table.empty() && spare > 0) comment += " (and some unused rows)";
    comment += ".";
    const bool drawn = is_drawn("E_src") || is_drawn("E_tgt");
    if (is_stable() && drawn)
        comment += " " + stable_text(e_);
    else if (drawn)
        comment += " All numbers are drawn by one generator, in this order.";
    section(comment);
    table("E_src", trace_.table);
    table("E_tgt", trace_.target_table);
    line("source_embedding = E_src[source]");
    if (!is_greedy()) line("target_embedding = E_tgt[fed_tokens]");
}

// ---- The encoder

/// The stages of one direction.
void Seq2seqRecipe::read(const std::string& side, const std::string& words) {
    const std::string names =
        "encoder_r_" + side + ", encoder_z_" + side + ", encoder_n_" + side + ", h_" + side;
    line(names + " = " + words);
}

void Seq2seqRecipe::encoder() {
    section(
        "A gated recurrent unit: how much of the old state h enters the candidate (reset), how much of h "
        "is kept (update), the candidate, and the new state.");
    line("def gru(cell, x, h):  # a torch.nn.GRUCell does not return its gates");
    line("    r_x, z_x, n_x = (cell.weight_ih @ x + cell.bias_ih).chunk(3)");
    line("    r_h, z_h, n_h = (cell.weight_hh @ h + cell.bias_hh).chunk(3)");
    line("    r, z = torch.sigmoid(r_x + r_h), torch.sigmoid(z_x + z_h)");
    line("    return r, z, torch.tanh(n_x + r * n_h), cell(x, h)\n");
    section(std::string("The encoder reads the words from the first to the last") +
            (reads_backward() ? ", a second one from the last to the first." : "."));
    line("def read(cell, words):");
    line("    h, steps = torch.zeros(" + text(e_.seq2seq.encoder_size) + "), []");
    line("    for x in words:");
    line("        steps.append(gru(cell, x, h))");
    line("        h = steps[-1][-1]");
    line("    return [torch.stack(each) for each in zip(*steps)]\n\n");
    parameters("enc_fwd");
    parameters("enc_bwd");
    read("fwd", "read(enc_fwd, source_embedding)");
    if (!reads_backward()) return line("annotations = h_fwd");
    line("backward = read(enc_bwd, source_embedding.flip(0))");
    read("bwd", "[x.flip(0) for x in backward]");
    line("annotations = torch.cat([h_fwd, h_bwd], dim=-1)");
}

// ---- The decoder

void Seq2seqRecipe::start_decoder() {
    section("The decoder's first state comes from the last one of the encoder" +
            std::string(reads_backward() ? " that reads backward." : "."));
    parameters("W_init, b_init");
    line(std::string("initial_state = torch.tanh(W_init @ ") + (reads_backward() ? "h_bwd[0]" : "h_fwd[-1]") +
         " + b_init)");
    if (!aligns()) return;
    section("The alignment compares each state with every annotation h; U_a h is the same at every step.");
    for (const char* name : {"W_a", "U_a", "v_a"}) parameters(name);
    line("keys_projected = annotations @ U_a.T");
}

void Seq2seqRecipe::decoder_weights() {
    section("The decoder's GRU, and the projection of its state to words.");
    for (const char* target : {"dec", "W_out, b_out", "W_p", "v_p"}) parameters(target);
}

void Seq2seqRecipe::mask() {
    const bool is_local = aligns() && window_ != Window::none;
    if (!has_rules() && !is_local) return;
    section(has_rules() ? "Mask: which step i may look at which source word j."
                        : "The positions of the source words.");
    if (!e_.weighting.mask.empty())
        line("i, j = torch.arange(" + text(steps()) + ")[:, None], torch.arange(" + text(words()) + ")");
    else if (is_local)
        line("j = torch.arange(" + text(words()) + ")");
    if (!has_rules()) return;
    line("mask = torch.ones(" + text(steps()) + ", " + text(words()) + ", dtype=torch.bool)");
    write_mask_rules(script_, e_);
}

/// Which words are open to step i, of those that the rules and the window leave.
std::string Seq2seqRecipe::open_words() const {
    const std::string near = "(j - p).abs() <= " + python_number(e_.weighting.local_window);
    if (window_ == Window::none) return "mask[i]";
    return has_rules() ? "mask[i] & (" + near + ")" : near;
}

/// Whether a closed word's weight would be NaN in PyTorch: its whole row is closed, or contains NaN or +∞.
bool Seq2seqRecipe::normalizer_meets_closed() const {
    const auto scores = trace_.find(masked().stage)->buffer.host().head(0);
    for (Eigen::Index i = 0; i < scores.rows(); ++i)
        if (!std::isfinite(scores.row(i).maxCoeff<Eigen::PropagateNaN>()) &&
            (scores.row(i).array() == -INFINITY).any())
            return true;
    return false;
}

/// Whether a closed word may have an annotation of NaN: 0 · NaN is NaN.
bool Seq2seqRecipe::context_meets_closed() const {
    return range("annotations").nan > 0 && range(masked().stage).minus_infinity > 0;
}

void Seq2seqRecipe::normalize() {
    const std::string name = has("alignment_softmax") ? "softmax" : "alpha", scores = masked().variable;
    const std::string S = text(words()), D = python_number(e_.weighting.local_window);
    if (e_.weighting.normalizer == Normalization::hard) {
        step(name + " = torch.nn.functional.one_hot(" + scores + ".argmax(), " + S + ").float()");
        if (range(masked().stage).nan > 0)
            step(name + " = " + name + ".masked_fill(" + scores + ".isnan().any(), nan)");
    } else {
        step(name + " = " + scores + ".softmax(dim=-1)");
    }
    if (normalizer_meets_closed())
        step(name + " = " + name + ".masked_fill(" + scores + " == -inf, 0)  # no weight where closed");
    if (!has("alignment_softmax")) return;
    step("gauss = torch.exp(-((j - p) ** 2) / (2 * (" + D + " / 2) ** 2))");
    step("alpha = softmax * gauss  # a Gaussian over the window");
    if (range("alignment_center").nan > 0)
        step("alpha = alpha.masked_fill(" + scores + " == -inf, 0)  # 0 times NaN would be NaN");
}

void Seq2seqRecipe::context() {
    if (context_meets_closed())
        step(std::string("c = (alpha[:, None] * annotations).masked_fill((") + masked().variable +
             " == -inf)[:, None], 0).sum(dim=0)");
    else
        step("c = alpha @ annotations");
}

/// From the state to the weights of the source words, and the context.
void Seq2seqRecipe::look() {
    if (!aligns()) return;
    step("e = torch.tanh(W_a @ s + keys_projected) @ v_a");
    if (has("alignment_scaled"))
        step("scaled = e / " + python_number(e_.weighting.temperature) + "  # the temperature");
    if (window_ == Window::at_query) step("p = torch.tensor(float(i))  # near the step's own position");
    if (window_ == Window::predicted)
        step("p = " + text(words()) +
             " * torch.sigmoid(torch.tanh(W_p @ s) @ v_p)  # near a predicted position");
    if (has("alignment_mask")) {
        step("may_look = " + open_words());
        step(std::string("masked = ") + (has("alignment_scaled") ? "scaled" : "e") +
             ".masked_fill(~may_look, -inf)");
    }
    normalize();
    context();
}

void Seq2seqRecipe::unit() {
    step(std::string("r, z, n, s = gru(dec, ") + (asks_first() ? "torch.cat([y, c])" : "y") + ", s)");
}

void Seq2seqRecipe::fixed_context() {
    if (!aligns())
        line(std::string("c = ") + (reads_backward() ? "torch.cat([h_fwd[-1], h_bwd[0]])" : "h_fwd[-1]") +
             "  # the same at every step");
}

/// The first maximum. NaN is picked only if it comes first.
std::string Seq2seqRecipe::likeliest(const std::string& logits) const {
    if (range("logits").nan == 0) return logits + ".argmax(dim=-1)";
    return "torch.tensor(largest(" + logits + ".tolist()))";
}

void Seq2seqRecipe::next_word() {
    step("word = " + likeliest("(W_out @ torch.cat([s, y, c]) + b_out)"));
    step("if word == 1:  # <eos>");
    step("    break");
}

void Seq2seqRecipe::decode() {
    if (range("logits").nan > 0) {
        section("The index of the maximum, the first if several tie; NaN only if it comes first.");
        line("def largest(row):");
        line("    return max(range(len(row)), key=row.__getitem__)\n");
    }
    std::string comment = "The decoder. ";
    if (is_greedy())
        comment += "It is fed <bos>, then the previous step's most likely word. ";
    else
        comment += "It is fed the target's words, each to predict the next. ";
    comment += !aligns()      ? "All it knows of the source is the encoder's last state."
               : asks_first() ? "The previous state is the query; c is the weighted sum of the annotations."
                              : "The new state is the query; c is the weighted sum of the annotations.";
    section(comment);
    fixed_context();
    line("s, steps = initial_state, []");
    if (is_greedy()) {
        line("fed, word = [], torch.tensor(0)  # <bos>");
        line("for i in range(" + text(e_.seq2seq.max_steps) + "):");
        step("fed.append(word)");
        step("y = E_tgt[word]");
    } else {
        line("for i, y in enumerate(target_embedding):");
    }
    if (asks_first()) look();
    unit();
    if (!asks_first()) look();
    std::vector<std::string> stages;
    std::string values;
    for (const StepValue& value : k_step_values) {
        if (!has(value.stage)) continue;
        stages.push_back(value.stage);
        values += (values.empty() ? "" : ", ") + std::string(value.variable);
    }
    step("steps.append([" + values + "])");
    if (is_greedy()) {
        next_word();
        line("fed_tokens = torch.stack(fed)");
        line("target_embedding = E_tgt[fed_tokens]");
    }
    line("\n# Each stage has one row per step.");
    script_.list("(", stages, ") = (torch.stack(each) for each in zip(*steps))");
}

// ---- The words

void Seq2seqRecipe::predict() {
    section("The probability of each word.");
    line("logits = torch.cat([decoder_state, target_embedding, decoder_context], dim=-1) @ W_out.T + b_out");
    line("log_probs = logits.log_softmax(dim=-1)");
    line(range("logits").nan > 0 ? "picked_tokens = torch.tensor([largest(row) for row in logits.tolist()])"
                                 : "picked_tokens = logits.argmax(dim=-1)");
}

void Seq2seqRecipe::loss() {
    if (!has("loss")) return;
    section("The loss: the mean of −log p at the target words.");
    line("loss = torch.nn.functional.nll_loss(log_probs, target_tokens)");
}

}  // namespace

void write_seq2seq(Script& script, const Trace& trace) { Seq2seqRecipe(script, trace).write(); }

}  // namespace attnscope
