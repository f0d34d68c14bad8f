#include "app/document/steps.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "core/error.h"

namespace attnscope {
namespace {

/// What is wrong with the sizes whatever the sentence is; empty: nothing.
std::string why_not_left(const Experiment& e) {
    if (std::string why = why_sizes_do_not_fit(e); !why.empty()) return why;
    if (e.mechanism == MechanismKind::seq2seq) return "";
    const bool stack = e.mechanism == MechanismKind::transformer;
    const int d_k = (stack ? e.input.dim : e.key_columns()) / e.attention.heads;
    const bool given = !stack && (e.is_given("scores") || (e.is_given("query") && e.is_given("key")));
    const bool rotates = e.attention.position == Position::rope && !given;
    if (std::string why = rotates ? why_rope_does_not_fit(d_k) : ""; !why.empty()) return why;
    const bool output = e.attention.output_projection || e.is_given("W_o");
    if (!stack && e.attention.block != Block::none && e.value_columns() != e.input.dim && !output &&
        !e.is_given("value"))
        return fmt::format(
            "block {} needs an output as wide as the embedding ({} and {}): use value-size 0 or an output "
            "projection",
            name_of(e.attention.block), e.value_columns(), e.input.dim);
    return "";
}

}  // namespace

void check_edit(const Experiment& experiment) {
    check(experiment);
    if (const std::string why = why_not_left(experiment); !why.empty())
        throw Error(ErrorKind::bad_input, why);
}

int stepped_size(const Experiment& experiment, SizeField size, int steps) {
    Experiment trial = experiment;
    const int last = size == heads_of ? k_max_heads : k_max_dim, direction = steps > 0 ? 1 : -1;
    int now = size(trial) > 0 ? size(trial) : experiment.input.dim;
    for (int left = std::abs(steps); left > 0; --left) {
        int next = now;
        do {
            next += direction;
            if (next < 1 || next > last) return now;
            size(trial) = next;
        } while (!why_not_left(trial).empty());
        now = next;
    }
    return now;
}

}  // namespace attnscope
