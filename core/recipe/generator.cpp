#include "core/recipe/generator.h"

#include <fmt/format.h>

#include <algorithm>

namespace attnscope {
namespace {

bool starts_with(std::span<const Draw> all, std::span<const Draw> start) {
    return start.size() <= all.size() && std::ranges::equal(start, all.first(start.size()));
}

std::string cell_of(const std::string& name) { return name.substr(0, name.find('.')); }

bool is_drawn_by(const Draw& draw, Initialization initialization, int rows, int columns) {
    return draw == Draw::by(initialization, rows, columns);
}

/// Whether a torch.nn.MultiheadAttention draws these: out_proj and a bias that it discards, then one matrix
/// for queries, keys and values (3 draws in all), or one each (5). 0 if not.
std::size_t multihead_draws(std::span<const Draw> draws) {
    using enum Initialization;
    const int d = draws[0].columns;
    if (draws.size() < 3 || !is_drawn_by(draws[0], linear, d, d) || !is_drawn_by(draws[1], uniform, 1, d))
        return 0;
    if (is_drawn_by(draws[2], xavier, 3 * d, d)) return 3;
    const auto is_weight = [&](const Draw& draw) { return is_drawn_by(draw, xavier, d, draw.columns); };
    return draws.size() >= 5 && std::ranges::all_of(draws.subspan(2, 3), is_weight) ? 5 : 0;
}

}  // namespace

/// A module of PyTorch that makes several draws at once is a case of this function.
ScriptGenerator::Module ScriptGenerator::next_module(std::span<const Draw> draws) const {
    const Draw& first = draws[0];
    const int out = first.rows, in = first.columns;
    if (first.rule == Draw::Rule::fan && out > 1) {
        const int states = first.fan;
        const auto part = [&](int rows, int columns) { return Draw::by_fan(states, rows, columns); };
        return {fmt::format("torch.nn.GRUCell({}, {})", in, states),
                {first, part(3 * states, states), part(1, 3 * states), part(1, 3 * states)},
                {".weight_ih", ".weight_hh", ".bias_ih", ".bias_hh"}};
    }
    if (const std::size_t count = multihead_draws(draws)) {
        const int heads = in % heads_ == 0 ? heads_ : 1;
        const std::string sizes =
            count == 3 ? "" : fmt::format(", kdim={}, vdim={}", draws[3].columns, draws[4].columns);
        Module module{fmt::format("torch.nn.MultiheadAttention({}, {}{})", in, heads, sizes),
                      {draws.begin(), draws.begin() + static_cast<std::ptrdiff_t>(count)},
                      {".out_proj.weight", "", ".in_proj_weight"}};
        if (count == 5)
            module.places = {".out_proj.weight", "", ".q_proj_weight", ".k_proj_weight", ".v_proj_weight"};
        return module;
    }
    if (is_drawn_by(first, Initialization::linear, out, in) && draws.size() > 1 &&
        draws[1] == Draw::by_fan(in, 1, out))
        return {fmt::format("torch.nn.Linear({}, {})", in, out), {first, draws[1]}, {".weight", ".bias"}};
    return {torch_call(first), {first}, {""}};
}

/// The longest known sequence of draws that begins with these.
std::span<const Draw> ScriptGenerator::longest(const op::Drawn& drawn) const {
    std::span<const Draw> found = drawn.draws;
    for (const DrawnVariable& each : variables_)
        if (each.drawn->seed == drawn.seed && each.drawn->draws.size() > found.size() &&
            starts_with(each.drawn->draws, drawn.draws))
            found = each.drawn->draws;
    return found;
}

/// What the script uses of the last of these draws and does not have yet: one variable, or parts of one draw.
ScriptGenerator::Variables ScriptGenerator::wanted(const op::Drawn& drawn) {
    Variables found;
    for (DrawnVariable& each : variables_)
        if (!each.written && each.drawn->seed == drawn.seed && each.drawn->draws == drawn.draws)
            found.push_back(&each);
    if (!found.empty() && found.front()->drawn->rows == 0) found.resize(1);
    return found;
}

std::string ScriptGenerator::write(const Module& module, const std::vector<Variables>& wanted) {
    std::vector<DrawnVariable*> used;
    for (const Variables& variables : wanted) used.insert(used.end(), variables.begin(), variables.end());
    for (DrawnVariable* variable : used) variable->written = true;
    if (used.empty()) return module.call + "  # drawn earlier, unused here\n";
    if (module.call.starts_with("torch.nn.GRUCell")) {
        cells_.push_back(cell_of(used.front()->name));
        return fmt::format("{} = {}\n", cells_.back(), module.call);
    }
    if (module.places.size() == 2 && used.size() == 2)
        return fmt::format("{}, {} = {}.parameters()\n", used[0]->name, used[1]->name, module.call);
    std::string code, made = module.call;
    const bool has_parts = used.front()->drawn->rows > 0;
    if (module.places.size() > 2 || has_parts) {
        made = module.places.size() > 2 ? "mha" : "in_proj";
        code = fmt::format("{} = {}\n", made, module.call);
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const std::string whole = made + module.places[i];
        if (wanted[i].size() == 3) {
            code += fmt::format("{}, {}, {} = {}.chunk(3)\n", wanted[i][0]->name, wanted[i][1]->name,
                                wanted[i][2]->name, whole);
            continue;
        }
        for (const DrawnVariable* each : wanted[i]) {
            const op::Drawn& drawn = *each->drawn;
            const bool is_row = each->vector && drawn.draws.back().rule == Draw::Rule::initializer;
            const std::string rows =
                drawn.rows > 0 ? fmt::format("[{}:{}]", drawn.first_row, drawn.first_row + drawn.rows) : "";
            code += fmt::format("{} = {}{}{}\n", each->name, whole, rows, is_row ? "[0]" : "");
        }
    }
    return code;
}

std::string ScriptGenerator::draw(const op::Drawn& drawn) {
    const auto self = std::ranges::find(variables_, &drawn, &DrawnVariable::drawn);
    if (self->written) return {};
    std::string code;
    if (!goes_on_to(drawn)) {
        code = fmt::format("torch.manual_seed({})\n", drawn.seed.text());
        seeded_ = true;
        seed_ = drawn.seed;
        drawn_.clear();
    }
    const std::span<const Draw> all = longest(drawn);
    while (drawn_.size() < drawn.draws.size()) {
        const Module module = next_module(all.subspan(drawn_.size()));
        std::vector<Variables> variables;
        for (const Draw& each : module.draws) {
            drawn_.push_back(each);
            variables.push_back(wanted({seed_, drawn_}));
            if (drawn.rows == 0 && drawn_.size() == drawn.draws.size()) variables.back() = {&*self};
        }
        code += write(module, variables);
    }
    // What would be out of reach after the next one is drawn now.
    const auto next = std::ranges::find(variables_, false, &DrawnVariable::written);
    if (next == variables_.end() || goes_on_to(*next->drawn)) return code;
    for (const DrawnVariable& each : variables_)
        if (!each.written && goes_on_to(*each.drawn)) code += draw(*each.drawn);
    return code;
}

/// Whether the generator is on the way to these draws.
bool ScriptGenerator::goes_on_to(const op::Drawn& drawn) const {
    return seeded_ && seed_ == drawn.seed && drawn_.size() < drawn.draws.size() &&
           starts_with(drawn.draws, drawn_);
}

std::string ScriptGenerator::hold(const std::string& name, int inputs, int states) {
    const std::string cell = cell_of(name);
    if (std::ranges::find(cells_, cell) != cells_.end()) return {};
    for (const DrawnVariable& each : variables_)
        if (each.name.starts_with(cell + ".")) return draw(*each.drawn);
    cells_.push_back(cell);
    return fmt::format("{} = torch.nn.utils.skip_init(torch.nn.GRUCell, {}, {})\n", cell, inputs, states);
}

}  // namespace attnscope
