// The bounds are computed in double with products, quotients and roots only, so that no compiler can fuse
// away a rounding; Generator::uniform rounds them to float32.
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

constexpr std::array<Initializer, 4> k_initializers{{
    {Initialization::normal, "N(0, 1), as torch.nn.Embedding and torch.randn", "torch.randn({0}, {1})",
     fill_normal},
    {Initialization::uniform, "U(0, 1), as torch.rand", "torch.rand({0}, {1})", fill_uniform},
    {Initialization::linear, "U(−1/√in, 1/√in), as torch.nn.Linear",
     "torch.nn.Linear({1}, {0}, bias=False).weight", fill_linear},
    {Initialization::xavier, "U(−a, a) with a = √(6/(in + out)), as torch.nn.init.xavier_uniform_",
     "torch.nn.init.xavier_uniform_(torch.empty({0}, {1}))", fill_xavier},
}};
static_assert(is_table_of<Initialization>(k_initializers));

constexpr std::array<ProjectionRule, 6> k_projection_rules{{
    {Projection::none, "none: Q, K and V are the embeddings", true},
    {Projection::normal, "each N(0, 1), as torch.randn"},
    {Projection::uniform, "each U(0, 1), as torch.rand"},
    {Projection::linear, "each U(−1/√in, 1/√in), as torch.nn.Linear"},
    {Projection::xavier, "each U(−a, a) with a = √(6/(in + out)), as torch.nn.init.xavier_uniform_"},
    {Projection::mha,
     "as torch.nn.MultiheadAttention: the output projection first, then one xavier 3d × d matrix", true},
}};
static_assert(is_table_of<Projection>(k_projection_rules));

}  // namespace

std::span<const Initializer> initializers() { return k_initializers; }

const Initializer& initializer_of(Initialization choice) {
    return k_initializers[static_cast<std::size_t>(choice)];
}

std::span<const ProjectionRule> projection_rules() { return k_projection_rules; }

const ProjectionRule& projection_rule(Projection choice) {
    return k_projection_rules[static_cast<std::size_t>(choice)];
}

}  // namespace attnscope
