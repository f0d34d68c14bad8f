#include "app/document/keeper.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "core/error.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

Clock::time_point time_point(double seconds) {
    return Clock::time_point(
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
}

// An exit handler can only reach globals.
Keeper* kept_at_exit = nullptr;

}  // namespace

void KeepingTimes::changed(double now) {
    if (!first_) first_ = now;
    last_ = now;
}

void KeepingTimes::taken() {
    first_.reset();
    last_.reset();
    failed_.reset();
}

void KeepingTimes::failed(double now) { failed_ = now; }

std::optional<double> KeepingTimes::due() const {
    if (failed_) return *failed_ + k_again_after_seconds;
    if (!first_) return std::nullopt;
    return std::min(*last_ + k_quiet_seconds, *first_ + k_longest_seconds);
}

Keeper::Keeper(std::string folder, SavedState kept)
    : writer_(folder), keeps_(!folder.empty()), newest_(std::move(kept)) {
    if (keeps_) thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
}

Keeper::~Keeper() {
    const std::lock_guard lock(mutex_);
    thread_.request_stop();
}

void Keeper::watch(std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
}

void Keeper::look(const SavedState& state) {
    if (!keeps_ || state == newest_) return;
    const std::lock_guard lock(mutex_);
    newest_ = state;
    times_.changed(now());
    changed_.notify_all();
}

void Keeper::keep() {
    if (!keeps_) return;
    std::unique_lock lock(mutex_);
    at_once_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !at_once_; });
    if (!problem_.empty()) throw Error(ErrorKind::io, problem_);
}

std::string Keeper::problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
}

void Keeper::run(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    const auto ready = [&] {
        const std::optional<double> due = times_.due();
        return at_once_ || (due && *due <= now());
    };
    while (!stop.stop_requested()) {
        const std::optional<double> due = times_.due();
        // Without a deadline, only a change or keep() ends the wait.
        if (due)
            changed_.wait_until(lock, stop, time_point(*due), ready);
        else
            changed_.wait(lock, stop, [&] { return at_once_ || times_.due(); });
        if (!stop.stop_requested() && ready()) write(lock);
    }
}

void Keeper::write(std::unique_lock<std::mutex>& lock) {
    const bool at_once = at_once_;
    if (times_.due()) {
        const SavedState state = newest_;
        times_.taken();
        lock.unlock();
        std::string problem;
        try {
            writer_.write(state);
        } catch (const std::exception& error) {
            problem = std::string("the session cannot be saved for the next start: ") + problem_text(error);
        }
        lock.lock();
        if (!problem.empty()) times_.failed(now());
        const bool news = problem_ != problem;
        problem_ = std::move(problem);
        if (news && wake_) wake_();
    }
    if (!at_once) return;
    at_once_ = false;
    changed_.notify_all();
}

void keep_and_leave(Keeper& keeper, int code) {
    try {
        keeper.keep();
    } catch (const std::exception& error) {
        std::cerr << "attnscope: " << problem_text(error) << '\n';
        code = 1;
    }
    std::_Exit(code);
}

SaveAtExit::SaveAtExit(Keeper& keeper) {
    kept_at_exit = &keeper;
    std::atexit([] {
        if (kept_at_exit) keep_and_leave(*kept_at_exit, 1);
    });
}

SaveAtExit::~SaveAtExit() { kept_at_exit = nullptr; }

}  // namespace attnscope
