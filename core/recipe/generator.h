// PyTorch's generator in the script: what has been drawn, and which call draws the next parameter.
#pragma once

#include <string>
#include <vector>

#include "core/op/sources.h"

namespace attnscope {

/// A parameter that the script draws.
struct DrawnVariable {
    const op::Drawn* drawn;
    std::string name;
    bool vector;  ///< its single row has no row dimension
    bool written = false;
};

/// Follows the state of the generator. Draws that PyTorch's modules make together are written as the module.
class ScriptGenerator {
public:
    /// `heads` is num_heads of torch.nn.MultiheadAttention.
    ScriptGenerator(std::vector<DrawnVariable> variables, int heads)
        : variables_(std::move(variables)), heads_(heads) {}

    /// The lines that draw it: they seed the generator, unless it is on the way already, and draw all that
    /// comes before, under its name where the script will use it. Empty if it has been drawn so.
    std::string draw(const op::Drawn& drawn);
    /// The lines that make the torch.nn.GRUCell (states from inputs) that holds a parameter `name`.
    std::string hold(const std::string& name, int inputs, int states);

private:
    /// One or several draws by one call; where in its result each of them is.
    struct Module {
        std::string call;
        std::vector<Draw> draws;
        std::vector<std::string> places;
    };
    using Variables = std::vector<DrawnVariable*>;

    bool goes_on_to(const op::Drawn& drawn) const;
    Module next_module(std::span<const Draw> draws) const;
    std::span<const Draw> longest(const op::Drawn& drawn) const;
    Variables wanted(const op::Drawn& drawn);
    std::string write(const Module& module, const std::vector<Variables>& wanted);

    std::vector<DrawnVariable> variables_;
    std::vector<std::string> cells_;  ///< the GRUCells that exist
    int heads_;
    bool seeded_ = false;
    Seed seed_;
    std::vector<Draw> drawn_;  ///< since it was seeded
};

}  // namespace attnscope
