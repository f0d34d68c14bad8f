#include "core/recipe/recipe.h"

#include <algorithm>

#include "core/error.h"
#include "core/mechanism/attention/scores.h"
#include "core/recipe/recipe_script.h"

namespace attnscope {
namespace {

std::string title(const Experiment& e) {
    if (e.mechanism == MechanismKind::seq2seq)
        return std::string("Sequence to sequence ") + (e.seq2seq.decoder_attention == DecoderAttention::none
                                                           ? "without attention"
                                                           : "by additive attention");
    std::string name = e.attention.score == Score::dot
                           ? "Dot-product attention"
                           : std::string(name_of(e.attention.score)) + " attention";
    if (e.attention.score == Score::dot && e.attention.scale.kind == Scale::Kind::sqrt)
        name = "Scaled dot-product attention";
    if (e.is_given("scores")) name = "Attention from custom scores";
    if (e.attention.block != Block::none)
        name = "A " + std::string(name_of(e.attention.block)) + " transformer block: " + name;
    if (e.input.image && !e.is_given("embedding_kv")) name += " over a picture";
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    return name + (e.attention.heads > 1 ? " with " + std::to_string(e.attention.heads) + " heads" : "");
}

/// Whether the script may have to write nan: for a custom number, or for a weight that PyTorch would turn
/// into NaN.
bool has_nan(const Trace& trace) {
    const auto given = [](const auto& each) { return each.second.values().array().isNaN().any(); };
    const auto computed = [](const StageRecord& record) { return record.stage->buffer.range().nan > 0; };
    return std::ranges::any_of(trace.experiment.weights.given, given) ||
           std::ranges::any_of(trace.records, computed);
}

bool adds_head(const Stage& stage) { return stage.shape().per_head && stage.shape().heads == 1; }
bool adds_row(const Stage& stage) { return stage.info->rows == Axis::single; }

/// Writes `name = dict(stage=stage, …)`, each in the shape that the stage has in files. A name with a dot
/// needs quotes.
void write_dictionary(Script& script, const std::string& name, const std::vector<StagePtr>& stages) {
    const bool quotes = std::ranges::any_of(
        stages, [](const StagePtr& stage) { return stage->name().find('.') != std::string_view::npos; });
    std::vector<std::string> entries;
    for (const StagePtr& stage : stages) {
        const std::string key(stage->name()), added = adds_head(*stage) || adds_row(*stage) ? "[None]" : "";
        entries.push_back((quotes ? string_literal(key) + ": " : key + "=") + python_name(key) + added);
    }
    script.list(name + (quotes ? " = {" : " = dict("), entries, quotes ? "}" : ")");
}

constexpr const char* k_print = R"(
if "--json" in sys.argv:

    def plain(x):  # nested lists of nine digits; −∞ is null
        if isinstance(x, list):
            return [plain(each) for each in x]
        digits = f"{x:.9g}"
        return {"-inf": None, "inf": "inf", "nan": "nan"}.get(digits, float(digits))

    def tensors(named):
        data = {name: plain(x.tolist()) for name, x in named.items()}
        return {name: {"shape": list(x.shape), "data": data[name]} for name, x in named.items()}

    print(json.dumps({"stages": tensors(stages), "parameters": tensors(parameters)}))
else:
    torch.set_printoptions(linewidth=160, sci_mode=False)
    for name, x in {**parameters, **stages}.items():
        print(f"{name} {tuple(x.shape)}\n{x.data}\n")
)";

}  // namespace

std::string recipe(const Trace& trace) {
    const bool is_seq2seq = trace.experiment.mechanism == MechanismKind::seq2seq;
    Script script;
    script.comment(title(trace.experiment) + ", with the numbers of attnscope.");
    script.line("# Prints every stage; with --json all of them as one JSON object. PyTorch 1.13 or later.");
    script.line(trace.find("patches")
                    ? "\nimport base64\nimport json\nimport sys\nimport zlib\n\nimport torch"
                    : "\nimport json\nimport sys\n\nimport torch");
    script.line(has_nan(trace) ? "from torch import inf, nan" : "from torch import inf");
    script.line("\ntorch.set_grad_enabled(False)  # nothing is trained here");
    (is_seq2seq ? write_seq2seq : write_attention)(script, trace);
    const std::vector<StagePtr> stages = trace.stages(), weights = trace.parameters();
    const auto any = [](const std::vector<StagePtr>& list, bool (*adds)(const Stage&)) {
        return std::ranges::any_of(list, [&](const StagePtr& stage) { return adds(*stage); });
    };
    std::string comment = "All stages by name.";
    if (any(stages, adds_head)) comment += " [None] adds the head dimension.";
    if (is_seq2seq) comment += " [None] adds the row dimension.";
    if (!is_seq2seq && any(weights, adds_row)) comment += " A bias is a matrix of one row.";
    script.section(comment);
    write_dictionary(script, "stages", stages);
    write_dictionary(script, "parameters", weights);
    return script.text() + k_print;
}

}  // namespace attnscope
