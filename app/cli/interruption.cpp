#include "app/cli/interruption.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <mutex>

namespace attnscope {
namespace {

constexpr std::array<int, 3> k_signals = {SIGINT, SIGTERM, SIGHUP};

// A signal handler can only reach globals.
std::atomic<int> caught = 0;
static_assert(std::atomic<int>::is_always_lock_free);
std::array<struct sigaction, k_signals.size()> handlers_before;

void note(int signal) { caught = signal; }

}  // namespace

Interruption::Interruption() {
    caught = 0;
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = 0;  // with SA_RESTART a wait for a pipe's reader would continue
    for (std::size_t i = 0; i < k_signals.size(); ++i) {
        sigaction(k_signals[i], nullptr, &handlers_before[i]);
        if (handlers_before[i].sa_handler != SIG_IGN) sigaction(k_signals[i], &action, nullptr);
    }
}

Interruption::~Interruption() {
    for (std::size_t i = 0; i < k_signals.size(); ++i) sigaction(k_signals[i], &handlers_before[i], nullptr);
}

bool Interruption::asked() { return caught != 0; }

void Interruption::obey() {
    const int signal = caught;
    if (signal == 0) return;
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

StopOnSignal::StopOnSignal()
    : watch_([source = source_](const std::stop_token& end) mutable {
          std::mutex mutex;
          std::condition_variable_any ended;  // notified by the request to end
          std::unique_lock lock(mutex);
          while (!end.stop_requested() && !Interruption::asked())
              ended.wait_for(lock, end, std::chrono::milliseconds(20), [] { return false; });
          if (Interruption::asked()) source.request_stop();
      }) {}

}  // namespace attnscope
