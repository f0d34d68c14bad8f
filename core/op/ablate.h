// Ablated heads: what is lost without them?
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/experiment/choices.h"
#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/region.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// contexts C (h × N × d_v): the same, but in the ablated heads 0, or the mean over the N positions of this
/// sentence (zero and mean ablation; Michel et al. 2019). With a batch of sentences, as in SplitHeads,
/// `heads` counts within each.
struct Ablate {
    std::vector<int> ablated;  ///< from 0, in order; not empty
    int heads;                 ///< of a sentence
    Ablation to;

    bool is_ablated(int head) const;
    Shape shape(Shapes in) const { return in[0]; }
    std::string formula(const Symbols& in) const;
    Operands operands() const { return {.same_as = 0}; }
    void forward(const Work& in, Tensor& out) const;
    /// The mean takes every row.
    bool has_cells() const { return to == Ablation::zero; }
    void cells(const RegionWork& in, MatrixView out) const;
    /// dC = dY, in an ablated head 0 or the mean of dY over the positions.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Ablate&) const = default;

private:
    std::string name_of_heads() const;
};

/// What the context of an ablated head becomes.
struct AblationRule {
    Ablation choice;
    std::string_view words;                             ///< "the positions' mean"
    std::string (*torch)(const std::string& contexts);  ///< in Python, for the contexts of that name
    const char* shader;                                 ///< its define in shaders/cells.comp
    bool reads_all;                                     ///< whether a cell reads all positions there
};
const AblationRule& rule_of(Ablation ablation);

}  // namespace attnscope::op
