#include "app/document/opener.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "core/error.h"

namespace attnscope {
namespace {

constexpr std::chrono::milliseconds k_long_reading{500};

template <typename File>
typename FileReader<File>::Outcome outcome_of(const std::function<File()>& read, const std::string& name) {
    try {
        return {read(), ""};
    } catch (const std::bad_alloc&) {
        return {std::nullopt, "there is not enough memory for " + name};
    } catch (const std::exception& error) {
        return {std::nullopt, problem_text(error)};
    }
}

}  // namespace

/// What the reading threads share with the reader.
template <typename File>
struct FileReader<File>::Shared {
    std::function<void()> wake;
    mutable std::mutex mutex;
    mutable std::condition_variable changed;
    int newest = 0;   ///< number of the newest request; a cancellation counts too
    int threads = 0;  ///< reading at the moment
    bool running = false;
    std::optional<Outcome> outcome;
};

template <typename File>
FileReader<File>::FileReader(std::function<void()> wake) : shared_(std::make_shared<Shared>()) {
    shared_->wake = std::move(wake);
}

template <typename File>
void FileReader<File>::start(std::string name, std::function<File()> read) {
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

template <typename File>
void FileReader<File>::cancel() {
    const std::lock_guard lock(shared_->mutex);
    ++shared_->newest;
    shared_->running = false;
    shared_->outcome.reset();
    shared_->changed.notify_all();
}

template <typename File>
bool FileReader<File>::running() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->running;
}

template <typename File>
bool FileReader<File>::takes_long() const {
    return running() && std::chrono::steady_clock::now() - started_ >= k_long_reading;
}

template <typename File>
bool FileReader<File>::ended() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->threads == 0;
}

template <typename File>
std::optional<typename FileReader<File>::Outcome> FileReader<File>::take() {
    const std::lock_guard lock(shared_->mutex);
    return std::exchange(shared_->outcome, std::nullopt);
}

template <typename File>
void FileReader<File>::wait() const {
    std::unique_lock lock(shared_->mutex);
    shared_->changed.wait(lock, [&] { return !shared_->running; });
}

template class FileReader<OpenedFile>;
template class FileReader<Matrix>;
template class FileReader<Session>;
template class FileReader<std::string>;

}  // namespace attnscope
