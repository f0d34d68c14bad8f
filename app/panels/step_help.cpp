#include "app/panels/step_help.h"

#include <algorithm>

namespace attnscope {
namespace {

/// The label of a step, or how it begins.
struct StepHelp {
    std::string_view label, help;
};
constexpr StepHelp k_helps[] = {
    {"q · k", "The dot product: feature by feature the query's number times the key's, all added up"},
    {"q · W", "The query, the matrix of the score and the key multiplied: Σ q_i W_ij k_j"},
    {"v_a · tanh",
     "The additive score: a small network's hidden units, each between −1 and 1, weighted by v_a"},
    {"v_c · tanh", "The score of query and key concatenated: hidden units between −1 and 1, weighted by v_c"},
    {"|q − k|²", "The squared distance of query and key"},
    {"÷ √", "Divided by √d_k, by which the spread of a sum of d_k products grows"},
    {"÷ T", "Divided by the temperature: above 1 it evens the weights out, below 1 it sharpens them"},
    {"÷ |q| |k|", "Divided by the lengths of both, which leaves the cosine of the angle between them"},
    {"÷ −2σ²", "The Gaussian's exponent: the bandwidth σ says how soon the score falls with the distance"},
    {"× ", "Multiplied by the factor that is named"},
    {"+ ", "The number that is named is added"},
    {"score", "The score of this query and this key, before it is scaled and masked"},
    {"scaled", "The score after scaling"},
    {"− row max",
     "Less the largest score of the row: this changes no weight, and keeps exp from overflowing"},
    {"− column max",
     "Less the largest score of the column: this changes no weight, and keeps exp from overflowing"},
    {"exp", "e to this power: always positive; a difference of scores becomes a ratio"},
    {"e", "The alignment score of a source word at this step of the decoder"},
    {"row max", "The largest score of the row"},
    {"1: the first",
     "Hard attention gives all of a row's weight to its largest score, the first of equal ones"},
    {"0: not the first",
     "Hard attention gives all of a row's weight to its largest score, the first of equal ones"},
    {"÷ row sum", "Divided by the sum of the row's exponentials, so that the weights of a row sum to 1"},
    {"÷ column sum",
     "Divided by the sum of the column's exponentials, so that the weights of a column sum to 1"},
    {"− τ", "Less the threshold of sparsemax, which makes the weights above 0 sum to 1"},
    {"becomes weight", "What the softmax makes of this score"},
    {"weight", "The weight, before what follows"},
    {"sum", "All terms added up"},
    {"value", "The number of the cell"},
};

}  // namespace

std::string_view help_of_step(std::string_view label) {
    const auto found =
        std::ranges::find_if(k_helps, [&](const StepHelp& each) { return label.starts_with(each.label); });
    return found == std::ranges::end(k_helps) ? std::string_view() : found->help;
}

}  // namespace attnscope
