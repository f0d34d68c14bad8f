// How a weight matrix is drawn: one small type behind one table, for embeddings and projections.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "core/choice.h"
#include "core/random/generator.h"
#include "core/tensor/tensor.h"

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
    std::string_view summary;  ///< one line: the distribution, and the equivalent PyTorch call
    std::string_view torch;    ///< that call, with {0} rows and {1} columns
    void (*fill)(Generator& generator, MatrixView out);
};

/// In the order of the menus:
/// `normal`   torch.nn.Embedding, torch.randn: N(0, 1)
/// `uniform`  torch.rand: [0, 1)
/// `linear`   torch.nn.Linear(in, out, bias=False).weight: U(−1/√in, 1/√in)
/// `xavier`   torch.nn.init.xavier_uniform_: U(−√(6/(in + out)), √(6/(in + out)))
std::span<const Initializer> initializers();
const Initializer& initializer_of(Initialization choice);

/// The sizes of the projections of one attention layer.
struct ProjectionSizes {
    int query_in, key_in, value_in;  ///< columns of X, and of the inputs of keys and values
    int key_out;                     ///< columns of Q and K: h · d_k
    int value_out;                   ///< columns of V: h · d_v
    int output_out;                  ///< columns of the output
    bool with_output;                ///< W_o, which is (output_out × value_out)
    bool with_bias;
    /// d × d throughout.
    static ProjectionSizes square(int d, bool with_output) { return {d, d, d, d, d, d, with_output, false}; }
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

/// A Projection in words; core/random/draws.h defines its draws.
struct ProjectionRule {
    Projection choice;
    std::string_view summary;
    bool keeps_size = false;  ///< Q, K and V are as wide as the embedding
};

std::span<const ProjectionRule> projection_rules();
const ProjectionRule& projection_rule(Projection choice);

}  // namespace attnscope
