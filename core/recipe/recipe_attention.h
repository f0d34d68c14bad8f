// Writes the script of attention: one function per step, in the order of the computation.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "core/recipe/recipe_script.h"
#include "core/text/vocabulary.h"

namespace attnscope {

/// Used once, by write(). Each step leaves the names of its variables for those after it.
class AttentionRecipe {
public:
    AttentionRecipe(Script& script, const Trace& trace)
        : script_(script), trace_(trace), e_(trace.experiment) {}

    void write();

private:
    // Queries on the trace.
    bool has(std::string_view name) const { return trace_.find(name) != nullptr; }
    bool is_drawn(std::string_view name) const { return has(name) && !e_.is_given(name); }
    const Shape& shape(std::string_view name) const { return trace_.find(name)->shape(); }
    int columns(const std::string& name) const { return has(name) ? shape(name).columns : e_.input.dim; }
    int queries() const { return shape("weights").rows; }
    int keys() const { return shape("weights").columns; }
    bool is_stable() const { return vocabulary_rule(e_.input.vocabulary).stable; }

    // Repeated pieces of code.
    void section(const std::string& comment) { script_.section(comment); }
    void line(const std::string& code) { script_.line(code); }
    void given(const std::string& name) {
        script_.tensor(name, e_.weights.given.at(name).values(),
                       trace_.find(name)->info->rows == Axis::single);
    }
    /// Writes the custom matrices among `names`.
    void given_among(std::initializer_list<const char*> names) {
        for (const char* name : names)
            if (has(name) && e_.is_given(name)) given(name);
    }
    /// Xᵀ of a matrix, or of each head's matrix.
    std::string transposed(const std::string& x) const { return x + (e_.attention.heads > 1 ? ".mT" : ".T"); }
    std::string affine(const std::string& x, const std::string& W, const std::string& b) const {
        return x + " @ " + W + ".T" + (has(b) ? " + " + b : "");
    }
    std::string matrix_size() const {
        return (e_.attention.heads > 1 ? text(e_.attention.heads) + ", " : "") + text(queries()) + ", " +
               text(keys());
    }

    // recipe steps
    void tokens();
    void embedding();
    void annotations();
    void positions();
    void normalize_first();
    void projections();
    void heads();
    void score();
    void scale();
    void biases();
    void mask();
    void weights();
    void dropout();
    void context();
    void output();
    void block();
    void logits();
    void loss();

    // Parts of the steps.
    std::string embedding_words() const;
    void projected(const std::string& name, const std::string& letter, const std::string& x);
    void take_from_multihead(bool same_width);
    void general_scores();
    void centers();
    void normalized(const std::string& name);
    void layer_norm(const std::string& name, const std::string& x, const std::string& prefix);
    void block_weights();
    bool normalizer_meets_closed() const;
    bool values_meet_closed() const;

    // The states of the generator, as in the computation.
    GeneratorState start(const ProjectionSeed& seed) const {
        return {seed.kind == ProjectionSeed::Kind::own ? seed.seed : e_.weights.seed, {}};
    }
    DrawLine table_draw() const;
    GeneratorState start_after_table(const ProjectionSeed& seed) const;
    DrawLine patch_draw() const;
    GeneratorState projection_start() const;
    std::vector<DrawLine> projection_draws(bool with_output) const;
    GeneratorState score_start() const;
    std::vector<DrawLine> score_draws() const;
    GeneratorState block_start() const;
    std::vector<DrawLine> block_draws() const;
    int rows_of_table() const {
        return has("table") ? shape("table").rows : has(X_) ? e_.input.table_size : 0;
    }
    int value_columns() const {
        return e_.is_given("value") ? static_cast<int>(e_.weights.given.at("value").values().cols())
               : e_.attention.projection != Projection::none ? e_.value_columns()
                                                             : columns(Y_v_);
    }

    Script& script_;
    const Trace& trace_;
    const Experiment& e_;
    std::string X_ = "embedding", Y_ = "embedding", Y_v_ = "embedding";  ///< the inputs of the projections
    std::string x_ = "embedding";  ///< what the block's residual adds to
    std::string Q_ = "query", K_ = "key", V_ = "value", scaled_ = "scaled", weights_ = "weights";
    std::string output_;  ///< the latest stage of N × d
    bool block_is_drawn_ = false;
};

}  // namespace attnscope
