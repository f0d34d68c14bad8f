#include "app/document/steps.h"

#include <cstdlib>
#include <string>

#include "core/error.h"
#include "core/mechanism/mechanisms.h"

namespace attnscope {
namespace {

/// What is wrong with the sizes whatever the sentence is; empty: nothing.
std::string why_not_left(const Experiment& e) {
    const std::string why = why_sizes_do_not_fit(e);
    return why.empty() ? why_no_sentence_fits(e) : why;
}

}  // namespace

void check_edit(const Experiment& experiment) {
    check(experiment);
    if (const std::string why = why_not_left(experiment); !why.empty())
        throw Error(ErrorKind::bad_input, why);
}

int stepped_size(const Experiment& experiment, SizeField size, int steps) {
    Experiment trial = experiment;
    const int last = size == static_cast<SizeField>(heads_of) ? k_max_heads : k_max_dim,
              direction = steps > 0 ? 1 : -1;
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
