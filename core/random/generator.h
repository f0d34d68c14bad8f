// PyTorch's CPU generator (1.13, AVX2 code path), reproduced bit for bit.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>

#include "core/random/seed.h"

namespace attnscope {

/// MT19937 with PyTorch's conversions of its outputs to numbers. Each fill takes the tensor's elements in
/// memory order and leaves the generator in the state of PyTorch's, so that a sequence of calls gives the
/// same numbers.
class Generator {
public:
    explicit Generator(Seed seed);

    /// Reseeds the generator; a cached normal is dropped.
    void manual_seed(Seed seed);

    /// torch.rand: [0, 1), 24 bits per float32, 53 per float64.
    void rand(std::span<float> out);
    void rand(std::span<double> out);
    /// Tensor.uniform_(low, high).
    void uniform(std::span<float> out, double low, double high);
    void uniform(std::span<double> out, double low, double high);
    /// Tensor.normal_(mean, std): for fewer than 16 elements in double with a cached second value, for 16 or
    /// more in blocks of 16.
    void normal(std::span<float> out, double mean = 0, double std = 1);
    void normal(std::span<double> out, double mean = 0, double std = 1);
    /// torch.randint: low ≤ value < high. Throws Error(bad_input) unless low < high.
    void randint(std::span<std::int64_t> out, std::int64_t low, std::int64_t high);
    /// torch.randperm(out.size()).
    void randperm(std::span<std::int64_t> out);
    /// Tensor.bernoulli_(p), p a number in [0, 1]: 1 with probability p.
    void bernoulli(std::span<float> out, double p);
    void bernoulli(std::span<double> out, double p);
    /// torch.bernoulli(tensor of probabilities); probability and result have the tensor's type.
    void bernoulli_of(std::span<const float> p, std::span<float> out);
    void bernoulli_of(std::span<const double> p, std::span<double> out);

private:
    std::uint32_t next32() { return static_cast<std::uint32_t>(engine_()); }
    std::uint64_t next64();
    float uniform24();
    double uniform53();
    double small_normal();

    std::mt19937 engine_;
    std::optional<double> cached_normal_;
};

}  // namespace attnscope
