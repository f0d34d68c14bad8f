// A Trace: every named matrix between the words and the result.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/graph/backend_kind.h"
#include "core/layer_name.h"
#include "core/tensor/buffer.h"

namespace attnscope {

/// What the rows or the columns of a stage stand for.
enum class Axis {
    query_token,   ///< N, labeled with the query tokens
    key_token,     ///< M, labeled with the key tokens
    key_hidden,    ///< M × hidden, each key's hidden units side by side, labeled with the tokens
    feature,       ///< d, numbered from 1
    head_feature,  ///< d_k or d_v within one head, numbered from 1
    table_row,     ///< the vocabulary
    target_row,    ///< the words that can be predicted: the target's vocabulary
    head,          ///< h, numbered from 1
    place,         ///< positions in a sentence, numbered from 1
    pixel,         ///< a patch's numbers: row, column and channel of each
    single,        ///< one column, no label
};

/// What a value means; it determines the color map and the range.
enum class Unit {
    token_id,     ///< whole numbers
    real,         ///< any sign, drawn on a diverging map centered on 0
    probability,  ///< 0 … 1, drawn on a sequential map
    boolean,      ///< 1 = open
};

/// What a stage is to its mechanism; each mechanism has one stage of most roles.
enum class StageRole {
    other,
    scores,         ///< before the softmax
    masked_scores,  ///< scores with −∞ where a pair is closed
    mask,
    weights,  ///< rows that a softmax, or what replaces it, made; before dropout
    context,  ///< the weighted sums
};

/// What is known of a stage before any value is computed. stage_table() is the one table of them.
struct StageInfo {
    std::string_view name;     ///< as in code, in files and on the command line; on screen stage_heading()
    std::string_view symbol;   ///< "Q", "QKᵀ"
    std::string_view caption;  ///< a few words under the thumbnail
    Axis rows;
    Axis columns;
    Unit unit;
    bool per_head;
    std::string_view mask = "";  ///< the stage whose closed pairs are empty cells of this one
    StageRole role = StageRole::other;
    MechanismSet mechanisms = MechanismSet::all();  ///< that may have it
    const StageInfo* value = nullptr;               ///< of a gradient: the stage that it is the gradient of
};

/// Every stage in the order of the computation, then the parameters.
std::span<const StageInfo> stage_table();
/// The loss's gradient with respect to a stage, as a stage of its own: "grad.weights", of any sign, with the
/// stage's axes and closed pairs.
const StageInfo& gradient_info(const StageInfo& value);
/// Whether a stage may have a gradient: it holds no whole numbers, and is not a mask.
bool may_have_gradient(const StageInfo& info);
/// The stage of a name, which may have a layer, "2.scores", or be that of a gradient, "grad.scores" or
/// "2.grad.scores"; nullptr for a name that is not in the table.
const StageInfo* find_stage_info(std::string_view name);

constexpr bool is_of_features(Axis axis) { return axis == Axis::feature || axis == Axis::head_feature; }
/// The keys, or the hidden units of each.
constexpr bool is_of_keys(Axis axis) { return axis == Axis::key_token || axis == Axis::key_hidden; }
/// Whether a stage has a cell for each pair of a query and a key.
constexpr bool is_of_pairs(const StageInfo& info) {
    return info.rows == Axis::query_token && info.columns == Axis::key_token;
}
/// Whether a stage is a parameter: the embedding table or weights, drawn rather than computed from tokens.
bool is_parameter(const StageInfo& info);
/// A stage's name as a heading, in words: "feed forward hidden". Parameters keep their symbols: "W_q". That
/// of a gradient is "∂ℓ/∂feed forward hidden".
std::string stage_heading(const StageInfo& info);

/// Identifies a value of a computation: a stage, of which layer (from 1; 0 where there are no layers), the
/// value itself or the loss's gradient with respect to it.
struct StageKey {
    enum class Part { value, gradient };

    const StageInfo* stage;
    int layer = 0;
    Part part = Part::value;

    constexpr StageKey(const StageInfo* of, int in_layer = 0, Part which = Part::value)
        : stage(of), layer(in_layer), part(which) {}
    /// The stage itself, or its gradient.
    constexpr StageKey as(Part other) const { return {stage, layer, other}; }
    bool operator==(const StageKey&) const = default;
};

/// The stage of a key; for a gradient, gradient_info() of the stage.
const StageInfo& info_of(const StageKey& key);
/// The name of a stage in files and on the command line: "weights", in a layer "2.weights"; of a gradient
/// "grad.weights", "2.grad.weights".
std::string stage_name(const StageKey& key);
/// The key of such a name; nullopt for one that is not in the table.
std::optional<StageKey> find_stage_key(std::string_view name);
/// A stage's heading with its layer: "scores · layer 2".
std::string stage_heading(const StageKey& key);

/// One named matrix (or one per head). Immutable, shared between traces.
struct Stage {
    const StageInfo* info;
    Buffer buffer;
    int layer;
    StageKey::Part part;

    Stage(StageKey key, Buffer values)
        : info(&info_of(key)),
          buffer(std::move(values)),
          layer(key.layer),
          part(key.part),
          name_(stage_name(key)) {}

    StageKey key() const { return {info->value ? info->value : info, layer, part}; }
    /// The stage_name() of its key.
    std::string_view name() const { return name_; }
    const Shape& shape() const { return buffer.shape(); }

private:
    std::string name_;
};
using StagePtr = std::shared_ptr<const Stage>;

/// Whether a key that a person chose matches this stage: a layer of 0, on either side, matches any layer.
bool may_mean(const StageKey& chosen, const Stage& stage);

struct Op;

/// A stage, and the operation and inputs it was computed from: where both are equal again, it is reused.
struct StageRecord {
    StagePtr stage;
    std::shared_ptr<const Op> op;
    std::vector<StagePtr> inputs = {};  ///< compared by identity
    double milliseconds = 0;            ///< compute time; 0 if it was reused
    bool computed = false;              ///< computed by the run that made this trace
};

/// The names of a stage's features, with heads those of all heads; empty where they are numbered.
struct FeatureNames {
    std::vector<std::string> rows, columns;
};
using StageFeatures = std::map<const StageInfo*, FeatureNames>;

/// A matrix of overridable_matrices() that may be overridden, and the size that it must have.
struct Overridable {
    std::string name;
    int rows;  ///< with heads, those of all heads
    int columns;
};

/// The result of evaluate(): a plain value, cheap to copy, its stages immutable.
struct Trace {
    Experiment experiment;
    std::vector<std::string>
        rows;  ///< N query tokens as typed (NFC); empty if they do not come from the text
    std::vector<std::string> columns;  ///< M key tokens as typed; empty if they do not come from the text
    std::vector<std::string> table;    ///< the vocabulary, by table row
    std::vector<std::string> target_table;  ///< the words that can be predicted, by row of their table
    StageFeatures features;                 ///< what the features of these stages are called
    std::vector<Overridable> overridable;
    std::string loss_advice;           ///< what to set for a loss, if there is none
    std::vector<StageRecord> records;  ///< stages, then parameters, each in order of computation
    std::vector<StagePtr> gradients;   ///< in their order; only where Presentation::wants_gradients()
    double milliseconds = 0;           ///< the time of the whole evaluate()
    BackendKind backend = BackendKind::cpu;

    /// Whether some of its stages are computed on demand: the text is very long.
    bool is_on_demand() const;
    /// nullptr if the experiment has no such stage, or it is a gradient.
    const StageRecord* record(StageKey key) const;
    /// All results of the operation that computed a record, in order: the record itself, if it has one
    /// result.
    std::vector<const StageRecord*> results_of(const StageRecord& record) const;
    /// nullptr if the experiment has no such stage, or no such gradient.
    StagePtr stage(StageKey key) const;
    const Stage* find(StageKey key) const { return stage(key).get(); }
    /// The first stage of this role, in this layer if it has one.
    const Stage* find(StageRole role, int layer = 0) const;
    /// The first stage that a key matches (may_mean()); without a layer, that of the first layer that has it.
    const Stage* find_chosen(const StageKey& key) const;
    /// The first stage that a name in a file or on the command line may mean.
    const Stage* find_named(std::string_view name) const;
    /// The stages in order, without parameters and gradients.
    std::vector<StagePtr> stages() const;
    std::vector<StagePtr> parameters() const;
    /// The label of a row or column, counted from 0: a token or a word of the table; a number counted from 1
    /// for a feature and where there is no word; "row,column" for a patch of an image; empty for a single
    /// column.
    std::string label(Axis axis, int index) const;
    /// The label of a stage's row, or of a column in one head (from 0): the name of a feature that has one,
    /// else as label() says.
    std::string row_label(const Stage& stage, int row) const;
    std::string column_label(const Stage& stage, int column, int head = 0) const;
    /// Whether all keys of a query are masked, its masked scores −∞, in one head (from 0) or, without one, in
    /// every head: its weights and its context are zeros.
    bool fully_masked(int row, std::optional<int> head = {}, int layer = 0) const;
    /// Whether pictures and views flag a row of this stage as fully masked: false unless the stage holds
    /// weights, or is computed for each pair after the mask, or is the context.
    bool fully_masked(const Stage& stage, int row, std::optional<int> head) const;
    /// Whether, with the softmax over the queries, a key is masked for every query, in one head or in every
    /// head: its weights are zeros, which sum to 0 rather than 1.
    bool fully_masked_column(int column, std::optional<int> head = {}, int layer = 0) const;
    /// Whether the weights of each key sum to 1 over the queries.
    bool over_queries() const;
    /// Whether pictures and views flag a column of this stage as fully masked: false unless its columns are
    /// keys after the mask.
    bool fully_masked_column(const Stage& stage, int column, std::optional<int> head) const;
};

/// The mask whose closed pairs are empty cells of this stage; nullptr for other stages.
const StageInfo* mask_of(const StageInfo& info);

}  // namespace attnscope
