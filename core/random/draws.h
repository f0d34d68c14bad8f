// Matrices drawn one after the other by one generator.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/random/generator.h"
#include "core/random/initializers.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// One draw of a generator: a matrix of rows × columns, row by row.
struct Draw {
    enum class Rule {
        initializer,  ///< `initialization`
        fan,          ///< U(−1/√fan, 1/√fan): torch.nn.Linear's bias, torch.nn.GRUCell's parameters
    };
    Rule rule = Rule::initializer;
    Initialization initialization = Initialization::linear;
    int rows = 0;
    int columns = 0;
    int fan = 0;

    static Draw by(Initialization initialization, int rows, int columns) {
        return {.initialization = initialization, .rows = rows, .columns = columns};
    }
    static Draw by_fan(int fan, int rows, int columns) {
        return {.rule = Rule::fan, .rows = rows, .columns = columns, .fan = fan};
    }
    bool operator==(const Draw&) const = default;
};

/// The call that draws it with PyTorch: "torch.rand(16, 8)"; by a fan, a single row is a vector.
std::string torch_call(const Draw& draw);

/// The parameters of the projections of one attention layer.
enum class ProjectionParameter { W_q, b_q, W_k, b_k, W_v, b_v, W_o, b_o };

/// One draw of a projection, and the parameters whose rows it contains; none if the draw is discarded.
struct ProjectionDraw {
    struct Part {
        ProjectionParameter parameter;
        int first_row = 0;
        int rows = 0;  ///< 0: all
    };
    Draw draw;
    std::vector<Part> parts;
};

/// The projections of one attention layer, in the order in which one generator draws them: W_q, W_k, W_v and
/// then (if requested) W_o by one initialization, each followed by its bias, if requested, drawn as nn.Linear
/// does: U(−1/√in, 1/√in). Exceptions:
/// `mha`  torch.nn.MultiheadAttention(d, h, kdim, vdim): out_proj's weight as nn.Linear(d, d) and a bias that
///        is discarded come first, whether W_o is used or not; then in_proj_weight (3d × d) by
///        xavier_uniform_ on the whole matrix, whose rows are W_q, W_k, W_v (or, where keys or values are
///        not d wide, each of the three separately). Its biases are zeros and not drawn. All output
///        sizes are d.
/// `none` Only W_o and its bias, by `linear`, if requested.
std::vector<ProjectionDraw> projection_draws(Projection projection, const ProjectionSizes& sizes);

/// Draws sequences that share a beginning without repeating it each time.
class DrawSequence {
public:
    /// The last of `draws`, which a generator seeded with `seed` draws one after the other.
    const Matrix& last_of(Seed seed, std::span<const Draw> draws);

private:
    std::optional<Generator> generator_;  ///< its state is after `drawn_`
    Seed seed_;
    std::vector<Draw> drawn_;
    Matrix last_;
};

}  // namespace attnscope
