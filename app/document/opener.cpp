#include "app/document/opener.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace attnscope {
namespace {

constexpr std::chrono::milliseconds k_long{500};

Opener::Outcome outcome_of(const std::function<OpenedFile()>& read, const std::string& name) {
    try {
        return {read(), ""};
    } catch (const std::bad_alloc&) {
        return {std::nullopt, "there is not enough memory to open " + name};
    } catch (const std::exception& error) {
        return {std::nullopt, error.what()};
    }
}

}  // namespace

/// What the reading threads share with the opener.
struct Opener::Shared {
    std::function<void()> wake;
    mutable std::mutex mutex;
    mutable std::condition_variable changed;
    int newest = 0;   ///< number of the newest request; a cancellation counts too
    int threads = 0;  ///< reading at the moment
    bool running = false;
    std::optional<Outcome> outcome;
};

Opener::Opener(std::function<void()> wake) : shared_(std::make_shared<Shared>()) {
    shared_->wake = std::move(wake);
}

void Opener::start(std::string name, std::function<OpenedFile()> read) {
    cancel();
    name_ = std::move(name);
    started_ = std::chrono::steady_clock::now();
    const std::lock_guard lock(shared_->mutex);
    shared_->running = true;
    ++shared_->threads;
    std::thread([shared = shared_, number = shared_->newest, file = name_, reads = std::move(read)] {
        Outcome outcome = outcome_of(reads, file);
        {
            const std::lock_guard ending(shared->mutex);
            --shared->threads;
            if (shared->newest != number) return;
            shared->running = false;
            shared->outcome = std::move(outcome);
            shared->changed.notify_all();
        }
        if (shared->wake) shared->wake();
    }).detach();
}

void Opener::cancel() {
    const std::lock_guard lock(shared_->mutex);
    ++shared_->newest;
    shared_->running = false;
    shared_->outcome.reset();
    shared_->changed.notify_all();
}

bool Opener::running() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->running;
}

bool Opener::takes_long() const { return running() && std::chrono::steady_clock::now() - started_ >= k_long; }

bool Opener::ended() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->threads == 0;
}

std::optional<Opener::Outcome> Opener::take() {
    const std::lock_guard lock(shared_->mutex);
    return std::exchange(shared_->outcome, std::nullopt);
}

void Opener::wait() const {
    std::unique_lock lock(shared_->mutex);
    shared_->changed.wait(lock, [&] { return !shared_->running; });
}

}  // namespace attnscope
