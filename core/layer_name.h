// The names of what belongs to a layer, "2.scores", and of gradients.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

inline constexpr int k_max_layers = 24;

/// "2.scores"; the name itself where there are no layers (0).
inline std::string name_in_layer(int layer, std::string_view name) {
    return layer > 0 ? std::to_string(layer) + "." + std::string(name) : std::string(name);
}

struct LayerName {
    int layer;  ///< 0 if the name has no layer
    std::string_view name;
};

/// The parts of a name: "2.scores" is {2, "scores"}. A layer is 1 … k_max_layers, without leading zeros; all
/// else is part of the name.
constexpr LayerName split_layer(std::string_view name) {
    int layer = 0;
    std::size_t digits = 0;
    while (digits < name.size() && digits < 2 && name[digits] >= '0' && name[digits] <= '9')
        layer = 10 * layer + (name[digits++] - '0');
    const bool has_layer =
        digits > 0 && name[0] != '0' && layer <= k_max_layers && digits < name.size() && name[digits] == '.';
    return has_layer ? LayerName{layer, name.substr(digits + 1)} : LayerName{0, name};
}

/// What the name of a gradient begins with, after its layer: "grad.scores", "2.grad.scores".
inline constexpr std::string_view k_gradient_prefix = "grad.";
constexpr bool is_gradient_name(std::string_view name) {
    return split_layer(name).name.starts_with(k_gradient_prefix);
}

}  // namespace attnscope
