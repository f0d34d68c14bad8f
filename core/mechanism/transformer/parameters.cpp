#include "core/mechanism/transformer/parameters.h"

#include <algorithm>
#include <array>

namespace attnscope {
namespace {

using Sizes = TransformerSizes;
using How = TransformerParameter::Draw;
using enum TransformerParameter::Place;

int one(const Sizes&) { return 1; }
int words(const Sizes& s) { return s.words; }
int length(const Sizes& s) { return s.length; }
int width(const Sizes& s) { return s.width; }
int units(const Sizes& s) { return s.feed_forward; }

constexpr std::array k_parameters = {
    TransformerParameter{"E", "table", words, width, before_layers, How::table},
    TransformerParameter{"ln1_g", "ln1_g", one, width, layer, How::ones},
    TransformerParameter{"ln1_b", "ln1_b", one, width, layer, How::zeros},
    TransformerParameter{"W_q", "W_q", width, width, layer, How::linear},
    TransformerParameter{"W_k", "W_k", width, width, layer, How::linear},
    TransformerParameter{"W_v", "W_v", width, width, layer, How::linear},
    TransformerParameter{"W_o", "W_o", width, width, layer, How::linear},
    TransformerParameter{"ln2_g", "ln2_g", one, width, layer, How::ones},
    TransformerParameter{"ln2_b", "ln2_b", one, width, layer, How::zeros},
    TransformerParameter{"W_1", "W_1", units, width, layer, How::linear},
    TransformerParameter{"b_1", "b_1", one, units, layer, How::bias, width},
    TransformerParameter{"W_2", "W_2", width, units, layer, How::linear},
    TransformerParameter{"b_2", "b_2", one, width, layer, How::bias, units},
    TransformerParameter{"ln_f_g", "ln_f_g", one, width, after_layers, How::ones},
    TransformerParameter{"ln_f_b", "ln_f_b", one, width, after_layers, How::zeros},
    TransformerParameter{"W_out", "W_out", words, width, after_layers, How::linear},
    TransformerParameter{"P", "P", length, width, after_layers, How::positions},
};

}  // namespace

std::span<const TransformerParameter> transformer_parameters() { return k_parameters; }

const TransformerParameter* find_transformer_parameter(std::string_view name) {
    const auto found = std::ranges::find(k_parameters, name, &TransformerParameter::name);
    return found == k_parameters.end() ? nullptr : &*found;
}

/// Adds nothing for a parameter without numbers, or whose numbers are not drawn.
void TransformerDraws::add(std::vector<Draw>& draws, const TransformerParameter& parameter) const {
    const int rows = parameter.rows(sizes), columns = parameter.columns(sizes);
    if (rows == 0 || columns == 0) return;
    switch (parameter.draw) {
        case How::ones:
        case How::zeros: return;
        case How::table:
            if (stable) return;
            [[fallthrough]];
        case How::positions: draws.push_back(Draw::by(embedding, rows, columns)); return;
        case How::linear: draws.push_back(Draw::by(Initialization::linear, rows, columns)); return;
        case How::bias:
            if (const int fan = parameter.fan(sizes); fan > 0)
                draws.push_back(Draw::by_fan(fan, rows, columns));
            return;
    }
}

std::vector<Draw> TransformerDraws::up_to(const TransformerParameter& parameter, int in_layer) const {
    std::vector<Draw> draws;
    // Adds those of a place up to the parameter; whether it was among them.
    const auto reaches = [&](TransformerParameter::Place place, int of_layer) {
        for (const TransformerParameter& each : k_parameters) {
            if (each.place != place) continue;
            add(draws, each);
            if (&each == &parameter && of_layer == in_layer) return true;
        }
        return false;
    };
    if (reaches(before_layers, 0)) return draws;
    for (int l = 1; l <= layers; ++l)
        if (reaches(layer, l)) return draws;
    reaches(after_layers, 0);
    return draws;
}

}  // namespace attnscope
