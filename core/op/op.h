// An operation: one formula as a value. A header holds it, with at most its nearest relatives, its inputs,
// its shape rule and its source; it has four parts: how it is computed (rows, or forward), its gradient
// (backward, with the proof of a cell, explain_gradient, or why there is none), why a cell has its value
// (explain) and its lines of PyTorch (torch).
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "core/op/ablate.h"
#include "core/op/activate.h"
#include "core/op/add.h"
#include "core/op/cosine.h"
#include "core/op/decoder.h"
#include "core/op/dot_product.h"
#include "core/op/dropout.h"
#include "core/op/exponential.h"
#include "core/op/general_score.h"
#include "core/op/hardmax.h"
#include "core/op/heads.h"
#include "core/op/hidden_score.h"
#include "core/op/layer_norm.h"
#include "core/op/linear.h"
#include "core/op/local_window.h"
#include "core/op/location_score.h"
#include "core/op/lookup.h"
#include "core/op/loss.h"
#include "core/op/mask.h"
#include "core/op/positions.h"
#include "core/op/rbf_score.h"
#include "core/op/recurrent.h"
#include "core/op/region.h"
#include "core/op/row_work.h"
#include "core/op/scale.h"
#include "core/op/softmax.h"
#include "core/op/sources.h"
#include "core/op/sparsemax.h"
#include "core/op/torch.h"
#include "core/op/weighted_sum.h"

namespace attnscope {

namespace op {
using Any = std::variant<
    // constants of the experiment
    TokenRows, Custom, Drawn, StableTable, LexiconTable, Constant, Patches, DropoutMask,
    // inputs and positions
    Lookup, Identity, Add, AddBias, SinusoidalPositions, AlibiSlopes, AlibiBias, Linear, SplitHeads,
    JoinHeads,
    // scores
    DotProduct, GeneralScore, AdditiveHidden, ConcatHidden, HiddenScore, Cosine, Sharpen, LocationScore,
    RbfScore, Scale,
    // masks and weights
    QueryPlaces, PredictedCenters, Mask, MaskedFill, Softmax, Hardmax, Sparsemax, GaussianWindow, ApplyWindow,
    Dropout, WeightedSum, Ablate,
    // transformer block, logits and loss
    LayerNorm, Activate, LogSoftmax, Exponential, CrossEntropy, WeightedTotal, ArgMax,
    // sequence to sequence
    GruEncoder, JoinColumns, InitialState, LinearInDouble, Decode, DecodeGreedily, OutputLogits>;
}  // namespace op

/// A closed set: a visitor that forgets an operation does not compile. Two operations that are equal give
/// equal results for equal inputs.
struct Op : op::Any {
    using variant::variant;
};

/// The shapes of the results: one, except for an encoder and a decoder.
std::vector<Shape> shapes(const Op& op, op::Shapes inputs);
/// The results, computed on the CPU. Throws Canceled.
std::vector<Tensor> forward(const Op& op, const op::Work& work);

/// Whether rows of the one result can be computed apart from others, by rows().
bool has_rows(const Op& op);
/// Whether rows() reads, for some rows of the result, only the same rows of this input.
bool reads_rows(const Op& op, std::size_t input);
/// Multiply-adds of a row of the result, which has_rows().
double work_per_row(const Op& op, op::Shapes inputs);
/// Computes the block's rows of the result, which has_rows(), into `out`.
void rows(const Op& op, const op::RowWork& in, MatrixView out);

/// Whether it normalizes along the queries: the weights of each key sum to 1.
bool over_queries(const Op& op);

/// Whether a part of the result can be computed alone (`cells`), so that a result too large for any memory
/// can be computed where it is read.
bool has_cells(const Op& op);
/// Computes a region of the result, which has_cells(), into `out`.
void cells(const Op& op, const op::RegionWork& in, MatrixView out);

/// Why no result of this operation has a gradient with respect to its inputs: "whole numbers"; empty if one
/// has.
std::string_view why_no_gradient(const Op& op);
/// Adds to the gradients of the inputs; the operation must have one.
void backward(const Op& op, const op::Backward& at);

/// The formula of a result, over the symbols of its inputs: "softmax( Q Kᵀ ÷ √d_k ) over keys, …".
std::string formula(const Op& op, const op::Symbols& symbols);
/// A few words on a result under these settings: "÷ √d_k"; empty if the stage's own caption tells it.
std::string caption(const Op& op, const op::Symbols& symbols);
/// What a result does on the way from scores to weights, in a sentence: "Add the bias of each pair of query
/// and key to its score."; empty if the operation has none, as where its formula says it.
std::string sentence(const Op& op, std::size_t result);
/// The operands of a result; none if its cells are not a product of a row and a column.
op::Operands operands(const Op& op, std::size_t result);

/// Explains a cell: the terms and steps of its proof, without the summary of its row.
Proof explain(const Op& op, const op::Cell& cell);
/// The standard deviation of a single term of the sums that its cells are, over all cells of a head and all
/// terms: of one product q_f k_f of Q Kᵀ. nullopt for any but a dot product of queries and keys. Reads its
/// inputs whole.
std::optional<double> deviation_of_terms(const Op& op, std::span<const Buffer* const> inputs, int head);
/// Explains what the operation passes back to a cell of an input; `value` is that share of the cell's
/// gradient, the last of the steps or, without steps, the sum of the terms. The operation must have a
/// gradient.
Proof explain_gradient(const Op& op, const op::GradientCell& cell);
/// Whether gradient flows back to this input of an operation with a gradient; it does not to a mask.
bool passes_back_to(const Op& op, std::size_t input);
/// Whether results of the operation pass gradients back to other results of it, as the steps of a decoder do.
bool has_own_gradients(const Op& op);
/// Explains what the operation passes back to a cell of its own result `cell.input`.
Proof explain_own_gradient(const Op& op, const op::GradientCell& cell);
/// Writes the lines of Python that compute the results with PyTorch.
void torch(const Op& op, op::TorchLines& lines);

}  // namespace attnscope
