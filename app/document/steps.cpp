#include "app/document/steps.h"

#include <cstdlib>
#include <string>

#include "core/error.h"

namespace attnscope {
namespace {

bool can_be_left(const Experiment& experiment) {
    try {
        check_edit(experiment);
        return true;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

void check_edit(const Experiment& e) {
    check(e);
    const int d_k = e.key_columns() / e.heads;
    const bool given = e.is_given("scores") || (e.is_given("query") && e.is_given("key"));
    if (e.position == Position::rope && d_k % 2 != 0 && !given)
        throw Error(ErrorKind::bad_input, "position rope turns pairs of features and d_k is " +
                                              std::to_string(d_k) + ": use an even number per head");
    const bool output = e.output_projection || e.is_given("W_o");
    if (e.block != Block::none && e.value_columns() != e.dim && !output && !e.is_given("value"))
        throw Error(ErrorKind::bad_input, "block " + std::string(name_of(e.block)) +
                                              " adds the output to the embedding and they are " +
                                              std::to_string(e.value_columns()) + " and " +
                                              std::to_string(e.dim) +
                                              " wide: use value-size 0 or an output projection");
}

int stepped_size(const Experiment& experiment, int Experiment::*size, int steps) {
    Experiment trial = experiment;
    trial.text.clear();  // has no say in sizes
    trial.text2.clear();
    const int last = size == &Experiment::heads ? k_max_heads : k_max_dim, direction = steps > 0 ? 1 : -1;
    int now = experiment.*size > 0 ? experiment.*size : experiment.dim;
    for (int left = std::abs(steps); left > 0; --left) {
        int next = now;
        do {
            next += direction;
            if (next < 1 || next > last) return now;
            trial.*size = next;
        } while (!can_be_left(trial));
        now = next;
    }
    return now;
}

}  // namespace attnscope
