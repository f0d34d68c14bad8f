// How a matrix of weights is drawn: one small type behind one table, for embeddings and projections.
#pragma once

#include <span>
#include <string_view>

#include "core/attention/tensor.h"
#include "core/random/generator.h"

namespace attnscope {

/// Draws one (out × in) matrix, row-major, from the generator.
struct Initializer {
    std::string_view name;     ///< as on the command line
    std::string_view summary;  ///< one line: the distribution, and the PyTorch call it equals
    void (*fill)(Generator& generator, MatrixView out);
};

/// In the order the menus list them:
/// `normal`   torch.nn.Embedding, torch.randn: N(0, 1)
/// `uniform`  torch.rand: [0, 1)
/// `linear`   torch.nn.Linear(in, out, bias=False).weight: U(−1/√in, 1/√in)
/// `xavier`   torch.nn.init.xavier_uniform_: U(−√(6/(in + out)), √(6/(in + out)))
std::span<const Initializer> initializers();
/// nullptr for an unknown name.
const Initializer* find_initializer(std::string_view name);

/// The projections of one attention, each (out × in) as in nn.Linear; W_o is 0 × 0 unless asked for.
struct ProjectionWeights {
    Matrix W_q, W_k, W_v, W_o;
};

/// Draws all the projections of one attention over d features.
struct ProjectionRule {
    std::string_view name;
    std::string_view summary;
    /// W_q, W_k, W_v are d × d. `with_output` adds W_o, d × d.
    ProjectionWeights (*draw)(Generator& generator, int d, bool with_output);
};

/// The initialisers, each drawing W_q, W_k, W_v and then (if asked for) W_o, one after the other; and
/// `mha`  torch.nn.MultiheadAttention(d, h): out_proj's weight as nn.Linear(d, d) and a bias that is
///        thrown away come first, whether W_o is used or not; then in_proj_weight (3d × d) by
///        xavier_uniform_ on the whole matrix, whose rows are W_q, W_k, W_v.
/// `none` is not in the table: without projections Q = K = V = X, and W_o, if asked for, is drawn by
/// `linear`.
std::span<const ProjectionRule> projection_rules();
const ProjectionRule* find_projection_rule(std::string_view name);

}  // namespace attnscope
