#include "app/panels/step_help.h"

#include <algorithm>

namespace attnscope {
namespace {

/// What a step does, by its label as far as that is fixed: numbers and names follow.
struct StepHelp {
    std::string_view label, help;
};
constexpr StepHelp k_helps[] = {
    // from a query and a key to a score
    {"q · k", "The dot product: feature by feature the query's number times the key's, all added up"},
    {"(q W) · k", "The query, the matrix of the score and the key multiplied: Σ q_i W_ij k_j"},
    {"v_a · tanh(…)",
     "The additive score: a small network's hidden units, each between −1 and 1, weighted by v_a"},
    {"v_a · tanh( W_a s + U_a h )",
     "The additive score: a small network's hidden units, each between −1 and 1, weighted by v_a"},
    {"v_c · tanh(…)",
     "The score of query and key concatenated: hidden units between −1 and 1, weighted by v_c"},
    {"|q − k|²", "The squared distance between query and key"},
    {"÷ |q| |k|", "Divided by the lengths of both, which leaves the cosine of the angle between them"},
    {"× β", "Multiplied by the sharpening of the cosine score"},
    {"÷ −2σ²", "The Gaussian's exponent: the bandwidth σ sets how fast the score falls with the distance"},
    {"÷ √", "Divided by √d_k, because the spread of a sum of d_k products grows with √d_k"},
    {"÷ T", "Divided by the temperature: above 1 it evens the weights out, below 1 it sharpens them"},
    {"×", "Multiplied by the factor of the scores"},
    {"+ bias", "The bias for the distance is added: the further apart, the lower the score (ALiBi)"},
    {"|i − j|", "The distance between query and key, in tokens"},
    {"× −m", "Multiplied by the head's slope, which differs from head to head (ALiBi)"},
    {"score", "The score of this query and this key, before scaling and masking"},
    {"scaled", "The score after scaling"},
    {"masked", "Closed by the mask: the score becomes −∞, and its weight 0"},
    {"e", "The alignment score of a source word at this step of the decoder"},
    // from a score to a weight
    {"− row max", "The row's largest score is subtracted: no weight changes, and exp cannot overflow"},
    {"− column max", "The column's largest score is subtracted: no weight changes, and exp cannot overflow"},
    {"exp", "e to this power: always positive; a difference of scores becomes a ratio"},
    {"÷ row sum", "Divided by the sum of the row's exponentials, so that the weights of a row sum to 1"},
    {"÷ column sum",
     "Divided by the sum of the column's exponentials, so that the weights of a column sum to 1"},
    {"row max", "The largest score of the row"},
    {"1: the first",
     "Hard attention gives the whole weight of a row to its largest score, the first of a tie"},
    {"0: not the first",
     "Hard attention gives the whole weight of a row to its largest score, the first of a tie"},
    {"− mean", "The mean of the gradients where sparsemax has a weight is subtracted"},
    {"− τ", "Sparsemax's threshold is subtracted, so that the weights above 0 sum to 1"},
    {"at least 0", "Below the threshold the weight is exactly 0"},
    {"becomes weight", "The weight that the softmax makes of this score"},
    {"weight", "The weight before the next steps"},
    {"× gauss", "Multiplied by the Gaussian around the window's center"},
    {"j − p", "The distance of the key from the window's center"},
    {"x = (j − p)² ÷ 2 (D ÷ 2)²", "The Gaussian's exponent: half the window's half-width is its deviation"},
    {"exp(−x)", "The Gaussian around the window's center: 1 there, less with the distance"},
    {"kept",
     "Kept by dropout, and divided by the share that is kept, so that the expected sum stays the same"},
    {"dropped", "Set to 0 by dropout"},
    // other stages
    {"− row mean", "The row's mean is subtracted"},
    {"÷ √(variance + ε)", "Divided by the row's standard deviation; ε keeps it above 0"},
    {"× gain", "Multiplied by the layer norm's gain, a parameter; a shift, where it is named, is added"},
    {"a cos", "The feature turned by its position's angle: the part of its own"},
    {"a sin", "The feature turned by its position's angle: the part of its own"},
    {"− b sin", "The part of the feature with which it forms a pair"},
    {"+ b cos", "The part of the feature with which it forms a pair"},
    {"x", "The number that goes in"},
    {"exp( x )", "e to this power: always positive"},
    {"tanh", "Squeezed between −1 and 1"},
    {"sigmoid", "Squeezed between 0 and 1"},
    {"relu", "A negative number becomes 0"},
    {"gelu", "Multiplied by the share of a normal distribution that lies below it"},
    {"+ b", "The bias is added"},
    {"logit", "The score of this word"},
    {"− log Σ exp", "The logarithm of the sum of all words' exponentials is subtracted"},
    {"their sum", "The lines above, added up"},
    {"their mean", "The mean of the lines above"},
    {"sum", "All terms added up"},
    {"value", "The number of the cell"},
};

/// Whether a label is this one: what follows is not a part of its last word, unless a number or an index.
bool names(std::string_view label, std::string_view fixed) {
    if (!label.starts_with(fixed)) return false;
    const std::string_view rest = label.substr(fixed.size());
    constexpr std::string_view k_ends = " ,_0123456789";
    return rest.empty() || k_ends.find(rest.front()) != std::string_view::npos;
}

}  // namespace

std::string_view help_of_step(std::string_view label) {
    // Of several the longest: "× gain 1.2" is not just any factor.
    std::string_view longest, help;
    for (const StepHelp& each : k_helps)
        if (each.label.size() > longest.size() && names(label, each.label)) {
            longest = each.label;
            help = each.help;
        }
    // The factor of the scores is a number.
    const bool is_of_scores = longest != "×" || label.find_first_of("0123456789") == longest.size() + 1;
    return is_of_scores ? help : std::string_view();
}

}  // namespace attnscope
