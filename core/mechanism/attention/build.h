// Attention: builds the graph of an experiment.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/graph/graph.h"
#include "core/mechanism/attention/parameters.h"
#include "core/mechanism/attention/parts.h"
#include "core/mechanism/attention/scores.h"
#include "core/op/op.h"
#include "core/text/vocabulary.h"

namespace attnscope {

/// Whether keys and values are computed from the image's patches.
bool uses_image(const Experiment& e);

/// Used once, by build(). Each step leaves its values for those after it.
class AttentionBuilder {
public:
    explicit AttentionBuilder(const Experiment& experiment) : e_(experiment) {}

    /// Throws Error(bad_input) for an experiment without tokens or whose shapes do not fit, Error(too_large)
    /// beyond MechanismRule::most_tokens.
    Graph build();

private:
    bool is_custom(CustomName name) const { return e_.is_custom(name); }
    /// A custom stage or parameter.
    Value custom(CustomName name, bool has_heads = false);

    // inputs.cpp: from text or a picture to the inputs of the projections.
    void read_tokens();
    void count_tokens();
    void embed();
    Value annotations();
    Value learned_positions(int rows, int columns);
    Shape shape_of_positions() const;
    void add_positions();
    void add_to_inputs(Value PE);
    void name_features();
    Op table_op() const;

    // parameters.cpp: custom, or drawn in the order in which one generator draws them.
    struct Sequence {
        Seed seed;
        std::vector<Draw> draws;
    };
    Seed seed_of(const ProjectionSeed& seed) const;
    void add_table_draw(Sequence& sequence) const;
    Sequence image_sequence() const;
    Sequence projection_start() const;
    std::vector<ProjectionDraw> projection_list(bool with_output) const;
    Sequence score_start() const;
    Sequence scores() const;
    Sequence block() const;
    Draw patch_draw() const;
    int columns_of(Value x) const { return x ? builder_.shape(x).columns : e_.input.dim; }
    int value_columns() const;
    std::vector<ScoreParameter> score_parameters() const;
    ScoreSizes score_sizes() const;
    Op drawn_projection(ProjectionParameter parameter) const;
    Op drawn(CustomName name) const;
    Value parameter(CustomName name);
    Value bias(CustomName name);
    Value norm_parameter(CustomName name, int columns, float value);

    // attention.cpp: from the inputs of the projections to the output.
    void project();
    void may_override_projection(const ProjectedInput& input, Value x, Value y);
    Value projected(const ProjectedInput& input, Value x);
    void split_heads();
    Value split(StageKey key, Value x, bool rotate);
    void score();
    Value scored();
    void add_biases();
    Value window_centers();
    void mask();
    void weigh();
    void drop();
    void sum_values();
    void ablate();
    void join_heads();

    // block.cpp: the transformer block, logits and loss.
    Value normed(const NormNames& norm, Value x);
    void require_inputs_to_add() const;
    void normalize_first();
    Value first_residual();
    Value feed_forward(Value x);
    void surround();
    void add_logits();
    void add_loss();

    const Experiment& e_;
    GraphBuilder builder_;
    Vocabulary vocabulary_;
    std::vector<int> ids_, ids_kv_;
    int table_rows_ = 0;
    bool pictured_ = false;  ///< the keys and values come from an image
    int N_ = 0, M_ = 0;
    Value table_;
    Value X_, Y_, Y_v_;  ///< the inputs of the projections
    Value x_;            ///< what the block's residual adds to
    Value Q_, K_, V_, scores_, scaled_, centers_, mask_, masked_, weights_, context_;
    Value output_;  ///< the latest value of N × d
};

}  // namespace attnscope
