// The decoder in Python: a function for one step, which teacher forcing and greedy decoding call.
#include "core/op/decoder.h"
#include "core/op/normalizers.h"
#include "core/op/op.h"

namespace attnscope::op {
namespace {

/// The variable of a part within the step.
TorchVariable local(DecoderPart part) {
    constexpr std::array k_names = {"e",     "scaled", "p", "may_attend", "masked", "softmax", "gauss",
                                    "alpha", "c",      "r", "z",          "n",      "s"};
    static_assert(k_names.size() == static_cast<std::size_t>(DecoderPart::state) + 1);
    return {.name = k_names[static_cast<std::size_t>(part)], .vector = true};
}

/// The condition for a source word to be open, among those that the rules and the window leave.
std::string open_words(const DecoderRule& rule, int words) {
    const std::string near = within_in_python(words, "p", rule.window);
    if (!rule.has_window()) return "mask[i]";
    return rule.has_mask() ? fmt::format("mask[i] & ({})", near) : near;
}

/// Writes the alignment: from the state s to the weights of the source words and the context c.
void write_alignment(TorchLines& py, const TorchLines& decoder, const DecoderRule& rule) {
    using enum DecoderPart;
    const TorchVariable& annotations = decoder.inputs[1];
    const int words = annotations.shape.rows;
    py.line("e = torch.tanh({} @ s + {}) @ {}", decoder.in(7), decoder.in(6), decoder.in(8));
    TorchVariable logits = local(scores);
    logits.shape = matrix(1, words);
    const auto at = [&](DecoderPart part) {
        TorchVariable variable = local(part);
        variable.shape = logits.shape;
        return variable;
    };
    if (rule.temperature != 1) logits = py.apply(rule.scale(), {logits}, at(scaled));
    if (predicts_window(rule.normalizer))
        py.apply(PredictedCenters{words}, {at(state), decoder.inputs[9], decoder.inputs[10]}, at(center));
    else if (rule.has_window())
        py.line("p = torch.tensor(float(i))  # near the step's own position");
    if (rule.has_window() || rule.has_mask()) {
        py.line("may_attend = {}", open_words(rule, words));
        logits = py.apply(MaskedFill{}, {logits, at(mask)}, at(masked));
    }
    const Op normalize = normalizer_of(rule.normalizer).op(SoftmaxAxis::keys);
    const DecoderPart normalized = predicts_window(rule.normalizer) ? softmax : weights;
    TorchLines lines = py.part({logits}, at(normalized));
    torch(normalize, lines);
    py.append(lines);
    if (predicts_window(rule.normalizer)) {
        py.apply(GaussianWindow{words, rule.window}, {at(center)}, at(gauss));
        py.apply(ApplyWindow{}, {at(softmax), at(gauss)}, at(weights));
    }
    py.apply(WeightedSum{}, {at(weights), logits, annotations}, at(context));
}

/// Defines step(i, y, s), which returns the parts of a step, for the fed word's embedding y and the state s.
void define_step(TorchLines& py, const DecoderRule& rule) {
    TorchLines rules = py.part(), look = py.part(), body = py.part();
    const std::string& annotations = py.in(1);
    const int words = py.shape(1).rows, states = py.shape(1).columns / 2;
    if (rule.has_mask()) {
        rules.apply(rule.alignment_mask(words), {}, {.name = "mask"});
        rules.code += "\n\n";
    }
    if (rule.aligns)
        write_alignment(look, py, rule);
    else if (!reads_backward(rule.encoder))
        look.line("c = {}[-1]  # the encoder's last state", annotations);
    else
        look.line("c = torch.cat([{0}[-1, :{1}], {0}[0, {1}:]])  # the encoder's last states", annotations,
                  states);
    const bool looks_first = !queries_current(rule.query_state);
    if (looks_first) body.code += look.code;
    body.line("r, z, n, s = gru({}, {}, s)", py.module(2), looks_first ? "torch.cat([y, c])" : "y");
    if (!looks_first) body.code += look.code;
    std::vector<std::string> parts;
    for (const DecoderPart part : rule.parts()) parts.push_back(local(part).name);
    body.line("return {}", fmt::join(parts, ", "));
    py.functions.emplace_back("gru", py.gradients ? k_gru_gates_python : k_gru_python);
    if (py.gradients) py.functions.push_back(k_stacked_python);
    py.functions.insert(py.functions.end(), look.functions.begin(), look.functions.end());
    py.functions.emplace_back(
        "step", rules.code + "def step(i, y, s):  # of the decoder\n" + python_indented(body.code));
}

}  // namespace

void Decode::torch(TorchLines& py) const {
    define_step(py, rule);
    py.section =
        !rule.aligns ? "The decoder. All it knows of the source is the encoder's last state."
        : !queries_current(rule.query_state)
            ? "The decoder. The previous state is the query; c is the weighted sum of the annotations."
            : "The decoder. The new state is the query; c is the weighted sum of the annotations.";
    py.line("s, steps = {}, []", py.in(0));
    py.line("for i, y in enumerate({}):", py.inputs.back().name);
    py.line("    steps.append(step(i, y, s))");
    py.line("    s = steps[-1][-1]");
    std::vector<std::string> stages;
    for (const TorchVariable& result : py.results) stages.push_back(result.name);
    py.list("(", stages,
            fmt::format(") = ({} for each in zip(*steps))",
                        py.gradients ? "stacked(list(each))" : "torch.stack(each)"));
}

void DecodeGreedily::torch(TorchLines& py) const {
    define_step(py, rule);
    const std::size_t table = py.inputs.size() - 3;
    TorchLines pick = py.part();
    const auto vector = [](const char* name) { return TorchVariable{.name = name, .vector = true}; };
    const TorchVariable logits = pick.apply(
        OutputLogits{}, {vector("s"), vector("y"), vector("c"), py.inputs[table + 1], py.inputs[table + 2]},
        vector("logits"));
    pick.apply(ArgMax{}, {logits}, vector("word"));
    py.functions.insert(py.functions.end(), pick.functions.begin(), pick.functions.end());
    py.section = "Each step of the decoder is fed the most likely word of the step before.";
    py.line("s, fed, word = {}, [], torch.tensor({})", py.in(0), first);
    py.line("for i in range({}):", max_steps);
    py.line("    fed.append(word)");
    py.line("    y = {}[word]", py.in(table));
    py.line("    *_, c, r, z, n, s = step(i, y, s)");
    py.code += python_indented(pick.code);
    if (last >= 0) py.line("    if word == {}:\n        break", last);
    py.line("{} = torch.stack(fed)", py.out());
}

void OutputLogits::torch(TorchLines& py) const {
    py.line("{} = torch.cat([{}, {}, {}], dim=-1) @ {}.T + {}", py.out(), py.in(0), py.in(1), py.in(2),
            py.in(3), py.in(4));
}

}  // namespace attnscope::op
