// How a matrix of weights is drawn: one small type behind one table, for embeddings and projections.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "core/attention/tensor.h"
#include "core/choice.h"
#include "core/random/generator.h"

namespace attnscope {

enum class Initialization { normal, uniform, linear, xavier };
constexpr auto choice_names(Initialization) {
    using enum Initialization;
    return std::to_array<ChoiceName<Initialization>>(
        {{normal, "normal"}, {uniform, "uniform"}, {linear, "linear"}, {xavier, "xavier"}});
}

/// Draws one (out × in) matrix, row-major, from the generator.
struct Initializer {
    Initialization choice;
    std::string_view summary;  ///< one line: the distribution, and the PyTorch call it equals
    void (*fill)(Generator& generator, MatrixView out);
};

/// In the order the menus list them:
/// `normal`   torch.nn.Embedding, torch.randn: N(0, 1)
/// `uniform`  torch.rand: [0, 1)
/// `linear`   torch.nn.Linear(in, out, bias=False).weight: U(−1/√in, 1/√in)
/// `xavier`   torch.nn.init.xavier_uniform_: U(−√(6/(in + out)), √(6/(in + out)))
std::span<const Initializer> initializers();
const Initializer& initializer_of(Initialization choice);

/// What the projections of one attention go from and to.
struct ProjectionSizes {
    int query_in, key_in, value_in;  ///< columns of X, and of the keys' and the values' side
    int key_out;                     ///< columns of Q and K: h · d_k
    int value_out;                   ///< columns of V: h · d_v
    int output_out;                  ///< columns of the output
    bool with_output;                ///< W_o, which is (output_out × value_out)
    bool with_bias;
    /// d × d throughout.
    static ProjectionSizes square(int d, bool with_output) { return {d, d, d, d, d, d, with_output, false}; }
};

/// The projections of one attention, each (out × in) as in nn.Linear, its bias (1 × out). What is not asked
/// for is 0 × 0.
struct ProjectionWeights {
    Matrix W_q, W_k, W_v, W_o;
    Matrix b_q, b_k, b_v, b_o;
};

/// How W_q, W_k, W_v and W_o are drawn.
enum class Projection { none, normal, uniform, linear, xavier, mha };
constexpr auto choice_names(Projection) {
    using enum Projection;
    return std::to_array<ChoiceName<Projection>>({{none, "none"},
                                                  {normal, "normal"},
                                                  {uniform, "uniform"},
                                                  {linear, "linear"},
                                                  {xavier, "xavier"},
                                                  {mha, "mha"}});
}

/// Draws all the projections of one attention.
struct ProjectionRule {
    Projection choice;
    std::string_view summary;
    ProjectionWeights (*draw)(Generator& generator, const ProjectionSizes& sizes);
};

/// `none`: Q = K = V = X; W_o and its bias, if asked for, are drawn by `linear`;
/// the initialisers, each drawing W_q, W_k, W_v and then (if asked for) W_o, one after the other, each
/// followed by its bias, if asked for, as nn.Linear draws it: U(−1/√in, 1/√in); and
/// `mha`  torch.nn.MultiheadAttention(d, h, kdim, vdim): out_proj's weight as nn.Linear(d, d) and a bias that
///        is thrown away come first, whether W_o is used or not; then in_proj_weight (3d × d) by
///        xavier_uniform_ on the whole matrix, whose rows are W_q, W_k, W_v (or, where the keys' or values'
///        side is not d wide, each of the three by itself). Its biases are zeros. All sizes out are d.
std::span<const ProjectionRule> projection_rules();
const ProjectionRule& projection_rule(Projection choice);

/// nn.Linear's weight, (out × in), and its bias, (1 × out).
Matrix draw_linear(Generator& generator, int out, int in);
Matrix draw_linear_bias(Generator& generator, int out, int in);

}  // namespace attnscope
