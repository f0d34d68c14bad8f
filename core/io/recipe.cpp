#include "core/io/recipe.h"

#include <algorithm>

#include "core/attention/scores.h"
#include "core/error.h"
#include "core/io/recipe_script.h"

namespace attnscope {
namespace {

std::string title(const Experiment& e) {
    std::string name = e.score == "dot" ? "Dot-product attention" : e.score + " attention";
    if (e.score == "dot" && e.scale.kind == Scale::Kind::sqrt) name = "Scaled dot-product attention";
    if (e.is_given("scores")) name = "Attention from given scores";
    if (e.block != "none") name = "A " + e.block + " transformer block: " + name;
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    return name + (e.heads > 1 ? " with " + std::to_string(e.heads) + " heads" : "");
}

/// Whether the script may have to write nan: for a given number, or for a weight that PyTorch makes another.
bool has_nan(const Trace& trace) {
    const auto given = [](const auto& each) { return each.second.values().array().isNaN().any(); };
    const auto computed = [](const StageRecord& record) { return record.stage->buffer.range().nan > 0; };
    return std::ranges::any_of(trace.experiment.given, given) || std::ranges::any_of(trace.records, computed);
}

/// `name=name`, in the shape that the stage has in files.
std::string entry(const Stage& stage) {
    const std::string name(stage.name());
    const Shape& shape = stage.shape();
    std::string text = name + "=" + name;
    if ((shape.per_head && shape.heads == 1) || stage.info->rows == Axis::single) text += "[None]";
    return text;
}

std::vector<std::string> entries(const std::vector<StagePtr>& stages) {
    std::vector<std::string> list;
    for (const StagePtr& stage : stages) list.push_back(entry(*stage));
    return list;
}

constexpr const char* k_print = R"(
if "--json" in sys.argv:

    def plain(x):  # nested lists of nine digits; −∞ is null
        if isinstance(x, list):
            return [plain(each) for each in x]
        digits = f"{x:.9g}"
        return {"-inf": None, "inf": "inf", "nan": "nan"}.get(digits, float(digits))

    def tensors(named):
        return {name: {"shape": list(x.shape), "data": plain(x.tolist())} for name, x in named.items()}

    print(json.dumps({"stages": tensors(stages), "parameters": tensors(parameters)}))
else:
    torch.set_printoptions(linewidth=160, sci_mode=False)
    for name, x in {**parameters, **stages}.items():
        print(f"{name} {tuple(x.shape)}\n{x.data}\n")
)";

}  // namespace

std::string recipe(const Trace& trace) {
    if (trace.experiment.mechanism != "attention")
        throw Error(ErrorKind::bad_input, "there is no recipe for the mechanism " +
                                              trace.experiment.mechanism + ": choose mechanism attention");
    if (trace.experiment.image)
        throw Error(ErrorKind::bad_input,
                    "there is no recipe for attention over an image: choose image none");
    Script script;
    script.line("# " + title(trace.experiment) + ", with the numbers of attnscope.");
    script.line("# Prints every stage; with --json all of them as one JSON object. PyTorch 1.13 or later.");
    script.line("\nimport json\nimport sys\n\nimport torch");
    script.line(has_nan(trace) ? "from torch import inf, nan" : "from torch import inf");
    script.line("\ntorch.set_grad_enabled(False)  # nothing is trained here");
    write_attention(script, trace);
    const std::vector<std::string> stages = entries(trace.stages()), weights = entries(trace.parameters());
    const auto adds = [](const std::string& each) { return each.ends_with("[None]"); };
    std::string comment = "Every stage by its name.";
    if (std::ranges::any_of(stages, adds)) comment += " [None] adds the dimension of the one head.";
    if (std::ranges::any_of(weights, adds)) comment += " A bias is a matrix of one row.";
    script.section(comment);
    script.list("stages = dict(", stages, ")");
    script.list("parameters = dict(", weights, ")");
    return script.text() + k_print;
}

}  // namespace attnscope
