#include "app/document/keeper.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace attnscope {

Keeper::Keeper(std::string folder, SavedState kept)
    : folder_(std::move(folder)), kept_(std::move(kept)), seen_(kept_) {}

/// After a failure nobody knows what the folder holds.
bool Keeper::unsaved() const { return !folder_.empty() && (!problem_.empty() || !(seen_ == kept_)); }

double Keeper::look(const SavedState& state, double now) {
    if (!(state == seen_)) {
        if (!unsaved()) since_ = now;
        seen_ = state;
        changed_ = now;
    }
    if (!unsaved()) return 0;
    double due = std::min(changed_ + k_quiet_seconds, since_ + k_longest_seconds);
    if (!problem_.empty()) due = failed_ + k_again_after_seconds;
    if (now < due) return due - now;
    try {
        keep();
        return 0;
    } catch (const std::exception&) {
        failed_ = now;
        return k_again_after_seconds;
    }
}

void Keeper::keep() {
    if (!unsaved()) return;
    try {
        save_state(folder_, seen_);
    } catch (const std::exception& error) {
        problem_ = std::string("the session cannot be kept for the next start: ") + error.what();
        throw Error(ErrorKind::io, problem_);
    }
    kept_ = seen_;
    problem_.clear();
}

}  // namespace attnscope
