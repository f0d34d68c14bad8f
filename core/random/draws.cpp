#include "core/random/draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attnscope {
namespace {

void fill(Generator& generator, const Draw& draw, Matrix& matrix) {
    matrix.resize(draw.rows, draw.columns);
    const MatrixView view(matrix.data(), matrix.rows(), matrix.cols());
    if (draw.rule == Draw::Rule::initializer)
        return initializer_of(draw.initialization).fill(generator, view);
    const double bound = 1 / std::sqrt(static_cast<double>(draw.fan));
    generator.uniform({matrix.data(), static_cast<std::size_t>(matrix.size())}, -bound, bound);
}

std::vector<ProjectionDraw> multihead_draws(const ProjectionSizes& sizes) {
    using enum ProjectionParameter;
    const int d = sizes.query_in;
    const auto xavier = [](int out, int in) { return Draw::by(Initialization::xavier, out, in); };
    std::vector<ProjectionDraw> draws{{Draw::by(Initialization::linear, d, d), {{W_o}}},
                                      {Draw::by(Initialization::uniform, 1, d), {}}};
    if (sizes.key_in == d && sizes.value_in == d) {
        draws.push_back({xavier(3 * d, d), {{W_q, 0, d}, {W_k, d, d}, {W_v, 2 * d, d}}});
    } else {
        draws.push_back({xavier(d, d), {{W_q}}});
        draws.push_back({xavier(d, sizes.key_in), {{W_k}}});
        draws.push_back({xavier(d, sizes.value_in), {{W_v}}});
    }
    return draws;
}

/// The initialization of weights that a projection draws one by one.
Initialization initialization_of(Projection projection) {
    switch (projection) {
        case Projection::uniform: return Initialization::uniform;
        case Projection::normal: return Initialization::normal;
        case Projection::xavier: return Initialization::xavier;
        case Projection::none:
        case Projection::linear:
        case Projection::mha: break;
    }
    return Initialization::linear;
}

}  // namespace

std::string torch_call(const Draw& draw) {
    if (draw.rule == Draw::Rule::initializer)
        return fmt::format(fmt::runtime(initializer_of(draw.initialization).torch), draw.rows, draw.columns);
    const std::string rows = draw.rows > 1 ? fmt::format("{}, ", draw.rows) : "";
    return fmt::format("torch.empty({0}{1}).uniform_(-1 / {2}**0.5, 1 / {2}**0.5)", rows, draw.columns,
                       draw.fan);
}

std::vector<ProjectionDraw> projection_draws(Projection projection, const ProjectionSizes& sizes) {
    if (projection == Projection::mha) return multihead_draws(sizes);
    using enum ProjectionParameter;
    std::vector<ProjectionDraw> draws;
    const auto draw = [&](ProjectionParameter W, ProjectionParameter b, int out, int in) {
        draws.push_back({Draw::by(initialization_of(projection), out, in), {{W}}});
        if (sizes.with_bias) draws.push_back({Draw::by_fan(in, 1, out), {{b}}});
    };
    if (projection != Projection::none) {
        draw(W_q, b_q, sizes.key_out, sizes.query_in);
        draw(W_k, b_k, sizes.key_out, sizes.key_in);
        draw(W_v, b_v, sizes.value_out, sizes.value_in);
    }
    if (sizes.with_output) draw(W_o, b_o, sizes.output_out, sizes.value_out);
    return draws;
}

const Matrix& DrawSequence::last_of(Seed seed, std::span<const Draw> draws) {
    const bool goes_on = generator_ && seed_ == seed && drawn_.size() <= draws.size() &&
                         std::equal(drawn_.begin(), drawn_.end(), draws.begin());
    if (!goes_on) {
        generator_.emplace(seed);
        seed_ = seed;
        drawn_.clear();
    }
    for (const Draw& draw : draws.subspan(drawn_.size())) {
        fill(*generator_, draw, last_);
        drawn_.push_back(draw);
    }
    return last_;
}

}  // namespace attnscope
