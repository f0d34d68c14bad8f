// The parameters of a transformer's stack: their shapes, and how they are drawn.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/experiment/experiment.h"
#include "core/experiment/overridable.h"
#include "core/graph/trace.h"
#include "core/random/draws.h"

namespace attnscope {

struct TransformerSizes {
    int words;         ///< V, rows of E
    int length;        ///< rows of P, the longest sentence
    int width;         ///< d
    int feed_forward;  ///< units of the feed-forward layer; 0: there is none
    bool operator==(const TransformerSizes&) const = default;
};

/// The sizes of an experiment whose E has this many rows.
TransformerSizes transformer_sizes(const Experiment& experiment, int words);

struct TransformerParameter {
    std::string_view name;  ///< as in overridable_matrices()
    const StageInfo* stage;
    int (*rows)(const TransformerSizes& sizes);
    int (*columns)(const TransformerSizes& sizes);
    enum class Draw {
        table,      ///< as the experiment draws embeddings; not here where the vocabulary is stable
        positions,  ///< as the experiment draws embeddings
        linear,     ///< as torch.nn.Linear's weight
        bias,       ///< as torch.nn.Linear's bias
        ones,       ///< not drawn
        zeros,      ///< not drawn
    } draw;
    int (*fan)(const TransformerSizes& sizes) = nullptr;     ///< a bias's number of inputs
    bool (*is_used)(const Experiment& experiment) = always;  ///< whether the settings have it
    enum class Place { before_layers, layer, after_layers } place = place_of(name, draw);
    std::string_view norm = {};  ///< the layer norm that a gain belongs to, "ln1"; empty for others

    static constexpr Place place_of(std::string_view name, Draw draw) {
        if (find_overridable(name)->in_layers) return Place::layer;
        return draw == Draw::table ? Place::before_layers : Place::after_layers;
    }
    static bool always(const Experiment&) { return true; }
};

/// Every parameter, in the order in which one generator, seeded once, draws them: E; of each layer W_q, W_k,
/// W_v, W_o, W_1, b_1, W_2, b_2; W_out, P. Weights are out × in, biases 1 × out. All are drawn, including
/// those that the settings leave unused (P without learned positions, W_out where it is tied to E) and those
/// that are custom, so that the others keep their numbers; without a feed-forward layer its weights have no
/// numbers.
std::span<const TransformerParameter> transformer_parameters();
/// nullptr if the stack has no parameter of this name.
const TransformerParameter* find_transformer_parameter(std::string_view name);
/// The name in overridable_matrices() of a parameter's stage: "2.W_q", and "E" of the table.
std::string custom_name(const StageKey& key);
/// The parameter of any mechanism that custom_name() names so, in whichever layer; nullptr if it is none.
const StageInfo* parameter_stage(std::string_view custom_name);

/// How the parameters of a stack are drawn.
struct TransformerDraws {
    TransformerSizes sizes;
    int layers;
    Initialization embedding;
    bool stable;  ///< E is drawn word by word, by generators of its own

    /// The draws up to a drawn parameter of a layer (from 1; 0 outside the layers), which is the last of
    /// them.
    std::vector<Draw> up_to(const TransformerParameter& parameter, int layer) const;

private:
    void add(std::vector<Draw>& draws, const TransformerParameter& parameter) const;
};

}  // namespace attnscope
