// The transformer's stack: builds the graph of an experiment.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/graph/graph.h"
#include "core/mechanism/attention/parts.h"
#include "core/mechanism/transformer/parameters.h"
#include "core/op/op.h"

namespace attnscope {

/// "position alibi cannot be trained: use none, sinusoidal, rope or learned": its biases are those of one
/// sentence, not of a batch.
std::string why_not_trained(Position position);

/// A sentence of a batch: rows of E, and each position's target, −1 where there is none.
struct TokenSentence {
    std::vector<int> tokens, targets;
};

/// Used once, by build(). Layers of dot-product attention and, if it has units, a feed-forward layer, each
/// added to the residual stream (Vaswani et al. 2017, §3.1; pre-norm: Xiong et al. 2020). What belongs to a
/// layer has its number in its key; what all layers share (positions, mask) has 0.
///
///     norm none    x + attention(x),            x + feed-forward(x)
///     norm before  x + attention(norm(x)), x + feed-forward(norm(x)), and a norm after the last layer
///     norm after   norm(x + attention(x)), norm(x + feed-forward(x))
class TransformerBuilder {
public:
    explicit TransformerBuilder(const Experiment& experiment) : e_(experiment) {}
    /// Builds the graph of several sentences of one length, computed together in place of the experiment's:
    /// in stages of tokens they stand one below the other, and each has heads of its own. Positions that are
    /// biases on the scores are refused.
    TransformerBuilder(const Experiment& experiment, std::span<const TokenSentence> batch);

    /// Throws Error(bad_input) for an experiment without tokens or whose shapes do not fit, Error(too_large)
    /// beyond k_max_tokens.
    Graph build();

private:
    StageKey key(const StageInfo* stage) const { return {stage, layer_}; }
    TransformerSizes sizes() const;
    Value parameter(CustomName name);
    Value normed(const NormNames& norm, Value x);

    /// The number of tokens of one sentence.
    int length() const { return static_cast<int>(ids_.size()) / batch_; }
    void read_tokens();
    void read_custom_tokens();
    void size_table();
    void embed();
    void add_positions();
    void open_mask();
    void add_layer();
    /// Adds to the stream what a part of a layer makes of it, with the layer norm `norm` before or after.
    void add_part(Value (TransformerBuilder::*part)(Value x), const StageInfo* residual,
                  const NormNames& norm);
    Value split(const StageInfo* stage, Value x, bool rotate);
    /// Adds a layer's attention, from its input to its output.
    Value attend(Value x);
    /// Adds a layer's feed-forward layer, from its input to its output.
    Value feed_forward(Value x);
    void predict();
    void add_loss();
    std::vector<int> targets() const;

    const Experiment& e_;
    GraphBuilder builder_;
    std::vector<std::string> words_;  ///< folded, by row of E
    bool is_of_batch_ = false;        ///< tokens and targets are not those of the experiment
    int batch_ = 1;                   ///< sentences
    std::vector<int> ids_, target_ids_;
    int table_rows_ = 0;
    int layer_ = 0;  ///< the one under construction, from 1; 0 outside the layers
    Value table_, stream_, alibi_, mask_, log_probs_;
};

}  // namespace attnscope
