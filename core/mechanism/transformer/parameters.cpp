#include "core/mechanism/transformer/parameters.h"

#include <algorithm>
#include <array>

#include "core/graph/stage_table.h"

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

bool has_feed_forward(const Experiment& e) { return e.attention.feed_forward_size > 0; }
bool has_output(const Experiment& e) { return !e.transformer.tied; }
bool has_positions(const Experiment& e) { return position_rule(e.attention.position).has_table; }

/// The gain of a layer norm, which is followed by its shift.
constexpr TransformerParameter gain(std::string_view norm, const StageInfo* stage,
                                    bool (*is_used)(const Experiment&) = TransformerParameter::always) {
    return {.name = stage->name,
            .stage = stage,
            .rows = one,
            .columns = width,
            .draw = How::ones,
            .is_used = is_used,
            .norm = norm};
}

constexpr std::array k_parameters = {
    TransformerParameter{"E", "table"_stage, words, width, How::table},
    gain("ln1", "ln1_g"_stage),
    TransformerParameter{"ln1_b", "ln1_b"_stage, one, width, How::zeros},
    TransformerParameter{"W_q", "W_q"_stage, width, width, How::linear},
    TransformerParameter{"W_k", "W_k"_stage, width, width, How::linear},
    TransformerParameter{"W_v", "W_v"_stage, width, width, How::linear},
    TransformerParameter{"W_o", "W_o"_stage, width, width, How::linear},
    gain("ln2", "ln2_g"_stage, has_feed_forward),
    TransformerParameter{"ln2_b", "ln2_b"_stage, one, width, How::zeros, nullptr, has_feed_forward},
    TransformerParameter{"W_1", "W_1"_stage, units, width, How::linear, nullptr, has_feed_forward},
    TransformerParameter{"b_1", "b_1"_stage, one, units, How::bias, width, has_feed_forward},
    TransformerParameter{"W_2", "W_2"_stage, width, units, How::linear, nullptr, has_feed_forward},
    TransformerParameter{"b_2", "b_2"_stage, one, width, How::bias, units, has_feed_forward},
    gain("ln_f", "ln_f_g"_stage),
    TransformerParameter{"ln_f_b", "ln_f_b"_stage, one, width, How::zeros},
    TransformerParameter{"W_out", "W_out"_stage, words, width, How::linear, nullptr, has_output},
    TransformerParameter{"P", "P"_stage, length, width, How::positions, nullptr, has_positions},
};

}  // namespace

TransformerSizes transformer_sizes(const Experiment& experiment, int words) {
    return {.words = words,
            .length = experiment.attention.context_length,
            .width = experiment.input.dim,
            .feed_forward = experiment.attention.feed_forward_size};
}

std::span<const TransformerParameter> transformer_parameters() { return k_parameters; }

std::string custom_name(const StageKey& key) {
    const auto found = std::ranges::find(k_parameters, key.stage, &TransformerParameter::stage);
    return name_in_layer(key.layer, found == k_parameters.end() ? key.stage->name : found->name);
}

const StageInfo* parameter_stage(std::string_view custom_name) {
    const std::string_view name = split_layer(custom_name).name;
    const TransformerParameter* of_stack = find_transformer_parameter(name);
    const StageInfo* stage = of_stack ? of_stack->stage : find_in_table(name);
    return stage && is_parameter(*stage) ? stage : nullptr;
}

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
