// The evaluation of one experiment of attention, step by step in the order of the computation.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/attention/scores.h"
#include "core/attention/stage_builder.h"
#include "core/random/initializers.h"
#include "core/text/vocabulary.h"

namespace attnscope {

/// One use: run(). Each step leaves its stages for those after it.
class AttentionEvaluation {
public:
    AttentionEvaluation(const Experiment& experiment, const Trace& previous, const EvaluateOptions& options)
        : e_(experiment), build_(previous, trace_, options), options_(options) {}

    Trace run();

private:
    bool is_given(std::string_view name) const { return e_.is_given(name); }
    StagePtr given(const std::string& name, bool per_head = false) {
        return build_.given(e_, name, per_head);
    }

    // evaluate_inputs.cpp: from text to X and Y.
    void read_tokens();
    void count_tokens();
    void require_memory() const;
    void require_bytes(std::size_t needed, std::size_t limit, const std::string& memory) const;
    void embed();
    StagePtr annotations();
    void add_positions();
    StagePtr token_rows(const char* name, const std::vector<int>& ids);
    StagePtr rows_of_table(const char* name, const StagePtr& tokens);
    std::string table_settings() const;

    // evaluate_weights.cpp: the parameters, given or drawn.
    Generator image_generator() const;
    void draw_own_table(Generator& generator) const;
    std::string image_settings() const;
    Generator projection_generator() const;
    Generator score_generator();
    Generator block_generator();
    std::string seed_settings(const ProjectionSeed& seed, const std::string& before) const;
    ProjectionSizes projection_sizes() const;
    std::string projection_settings() const;
    std::string score_settings() const;
    const ProjectionWeights& drawn_projections();
    const std::map<std::string, Matrix>& drawn_score_weights();
    const std::map<std::string, Matrix>& drawn_block_weights();
    ScoreSizes score_sizes() const;
    std::vector<ScoreParameter> score_parameters() const;
    StagePtr patch_weight();
    StagePtr projection_weight(const std::string& name, Matrix ProjectionWeights::*member);
    StagePtr projection_bias(const std::string& name, Matrix ProjectionWeights::*member);
    StagePtr score_weight(const ScoreParameter& parameter);
    StagePtr block_weight(const std::string& name, int rows, int columns);

    // evaluate_projections.cpp: Q, K, V, and what is done to rows of features.
    void project();
    void split_heads();
    StagePtr projected(const std::string& name, const std::string& letter, const StagePtr& x,
                       Matrix ProjectionWeights::*W, Matrix ProjectionWeights::*b);
    StagePtr linear(const std::string& name, const StagePtr& x, const StagePtr& W, const StagePtr& b);
    StagePtr split(const std::string& name, const StagePtr& x, bool rotate);

    // evaluate_attention.cpp: from Q, K, V to the context.
    void score();
    void add_biases();
    void mask();
    void weigh();
    void drop();
    void sum_values();
    void join_heads();
    StagePtr window_centers();
    ScoreInputs score_inputs(const std::map<std::string_view, StagePtr>& parameters, RowBlock block) const;

    // evaluate_block.cpp: the transformer's block, logits and loss.
    StagePtr normed(const std::string& name, const StagePtr& x, const std::string& prefix);
    StagePtr sum(const std::string& name, const StagePtr& a, const StagePtr& b);
    void normalize_first();
    void surround();
    void add_logits();
    void add_loss();

    const Experiment& e_;
    Trace trace_;
    StageBuilder build_;
    const EvaluateOptions& options_;

    Vocabulary vocabulary_;
    std::vector<int> ids_, ids_kv_;
    int table_rows_ = 0;
    bool pictured_ = false;  ///< the keys' side is of an image
    int N_ = 0, M_ = 0;
    std::optional<ProjectionWeights> drawn_projections_;
    std::map<std::string, Matrix> drawn_score_weights_, drawn_block_weights_;
    StagePtr table_;
    StagePtr X_, Y_, Y_v_;  ///< what the projections read
    StagePtr x_;            ///< what the block adds to
    StagePtr Q_, K_, V_, scores_, scaled_, centers_, mask_, masked_, weights_, context_;
    StagePtr output_;  ///< the last stage so far of N × d
};

struct TraceBytes {
    std::size_t whole;      ///< trace_bytes
    std::size_t made_here;  ///< of it what no backend computes: table, weights, embeddings, what is given
};
/// Of attention.
TraceBytes attention_trace_bytes(const Experiment& experiment, int queries, int keys);

}  // namespace attnscope
