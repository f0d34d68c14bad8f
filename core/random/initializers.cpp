// The bounds are formed in double by products, quotients and roots alone, so that no compiler can fuse a
// rounding away; Generator::uniform rounds them to float32.
#include "core/random/initializers.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace attnscope {
namespace {

std::span<float> elements(MatrixView matrix) {
    return {matrix.data(), static_cast<std::size_t>(matrix.size())};
}

/// nn.Linear's kaiming_uniform_ with slope √5, in PyTorch's order of operations.
double linear_bound(double in) { return std::sqrt(3.0) * (std::sqrt(2.0 / 6.0) / std::sqrt(in)); }

/// Glorot and Bengio 2010, equation 16, in PyTorch's order of operations.
double xavier_bound(double in, double out) { return std::sqrt(3.0) * std::sqrt(2.0 / (in + out)); }

void fill_symmetric(Generator& generator, MatrixView out, double bound) {
    generator.uniform(elements(out), -bound, bound);
}

void fill_normal(Generator& generator, MatrixView out) { generator.normal(elements(out)); }

void fill_uniform(Generator& generator, MatrixView out) { generator.rand(elements(out)); }

void fill_linear(Generator& generator, MatrixView out) {
    fill_symmetric(generator, out, linear_bound(static_cast<double>(out.cols())));
}

void fill_xavier(Generator& generator, MatrixView out) {
    fill_symmetric(generator, out,
                   xavier_bound(static_cast<double>(out.cols()), static_cast<double>(out.rows())));
}

using Fill = void (*)(Generator&, MatrixView);

Matrix drawn(Generator& generator, int out, int in, Fill fill) {
    Matrix matrix(out, in);
    fill(generator, MatrixView(matrix.data(), out, in));
    return matrix;
}

template <Fill fill>
ProjectionWeights draw_one_by_one(Generator& generator, const ProjectionSizes& sizes) {
    ProjectionWeights weights;
    const auto draw = [&](Matrix& W, Matrix& b, int out, int in) {
        W = drawn(generator, out, in, fill);
        if (sizes.with_bias) b = draw_linear_bias(generator, out, in);
    };
    draw(weights.W_q, weights.b_q, sizes.key_out, sizes.query_in);
    draw(weights.W_k, weights.b_k, sizes.key_out, sizes.key_in);
    draw(weights.W_v, weights.b_v, sizes.value_out, sizes.value_in);
    if (sizes.with_output) draw(weights.W_o, weights.b_o, sizes.output_out, sizes.value_out);
    return weights;
}

ProjectionWeights draw_multihead(Generator& generator, const ProjectionSizes& sizes) {
    const int d = sizes.query_in;
    Matrix out_proj = draw_linear(generator, d, d);
    std::vector<float> discarded_bias(static_cast<std::size_t>(d));
    generator.rand(discarded_bias);

    ProjectionWeights weights;
    if (sizes.key_in == d && sizes.value_in == d) {
        const Matrix in_proj = drawn(generator, 3 * d, d, fill_xavier);
        weights.W_q = in_proj.topRows(d);
        weights.W_k = in_proj.middleRows(d, d);
        weights.W_v = in_proj.bottomRows(d);
    } else {
        weights.W_q = drawn(generator, d, d, fill_xavier);
        weights.W_k = drawn(generator, d, sizes.key_in, fill_xavier);
        weights.W_v = drawn(generator, d, sizes.value_in, fill_xavier);
    }
    if (sizes.with_output) weights.W_o = std::move(out_proj);
    if (sizes.with_bias) {
        weights.b_q = weights.b_k = weights.b_v = Matrix::Zero(1, d);
        if (sizes.with_output) weights.b_o = Matrix::Zero(1, d);
    }
    return weights;
}

ProjectionWeights draw_output_alone(Generator& generator, const ProjectionSizes& sizes) {
    ProjectionWeights weights;
    if (!sizes.with_output) return weights;
    weights.W_o = draw_linear(generator, sizes.output_out, sizes.value_out);
    if (sizes.with_bias) weights.b_o = draw_linear_bias(generator, sizes.output_out, sizes.value_out);
    return weights;
}

constexpr std::array<Initializer, 4> k_initializers{{
    {Initialization::normal, "N(0, 1), as torch.nn.Embedding and torch.randn", fill_normal},
    {Initialization::uniform, "U(0, 1), as torch.rand", fill_uniform},
    {Initialization::linear, "U(−1/√in, 1/√in), as torch.nn.Linear", fill_linear},
    {Initialization::xavier, "U(−a, a) with a = √(6/(in + out)), as torch.nn.init.xavier_uniform_",
     fill_xavier},
}};
static_assert(is_table_of<Initialization>(k_initializers));

constexpr std::array<ProjectionRule, 6> k_projection_rules{{
    {Projection::none, "none: Q, K and V are the embeddings", draw_output_alone},
    {Projection::normal, "each N(0, 1), as torch.randn", draw_one_by_one<fill_normal>},
    {Projection::uniform, "each U(0, 1), as torch.rand", draw_one_by_one<fill_uniform>},
    {Projection::linear, "each U(−1/√d, 1/√d), as torch.nn.Linear", draw_one_by_one<fill_linear>},
    {Projection::xavier, "each U(−√(3/d), √(3/d)), as torch.nn.init.xavier_uniform_",
     draw_one_by_one<fill_xavier>},
    {Projection::mha,
     "as torch.nn.MultiheadAttention draws them: the output first, then one xavier 3d × d matrix",
     draw_multihead},
}};
static_assert(is_table_of<Projection>(k_projection_rules));

}  // namespace

Matrix draw_linear(Generator& generator, int out, int in) { return drawn(generator, out, in, fill_linear); }

Matrix draw_linear_bias(Generator& generator, int out, int in) {
    // PyTorch's own bound for the bias, which is not rounded as the weight's is.
    const double bound = 1 / std::sqrt(static_cast<double>(in));
    Matrix bias(1, out);
    generator.uniform({bias.data(), static_cast<std::size_t>(out)}, -bound, bound);
    return bias;
}

std::span<const Initializer> initializers() { return k_initializers; }

const Initializer& initializer_of(Initialization choice) {
    return k_initializers[static_cast<std::size_t>(choice)];
}

std::span<const ProjectionRule> projection_rules() { return k_projection_rules; }

const ProjectionRule& projection_rule(Projection choice) {
    return k_projection_rules[static_cast<std::size_t>(choice)];
}

}  // namespace attnscope
