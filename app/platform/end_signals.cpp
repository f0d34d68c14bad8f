#include "app/platform/end_signals.h"

#include <unistd.h>

#include <utility>

namespace attnscope {

EndSignals::EndSignals() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction action {};
        sigaction(signal, nullptr, &action);
        if (action.sa_handler != SIG_IGN) sigaddset(&signals_, signal);
    }
    sigaddset(&signals_, SIGUSR1);  // ends the waiting thread
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

EndSignals::~EndSignals() {
    if (thread_.joinable()) {
        ends_ = true;
        pthread_kill(thread_.native_handle(), SIGUSR1);
        thread_.join();
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void EndSignals::watch(std::function<void()> asked) {
    const std::lock_guard lock(mutex_);
    call_ = std::move(asked);
    if (!thread_.joinable()) thread_ = std::thread([this] { wait(); });
}

void EndSignals::wait() {
    int signal = 0;
    while (!ends_) {
        if (sigwait(&signals_, &signal) != 0 || ends_ || signal == SIGUSR1) continue;
        if (asked_.exchange(true)) _exit(128 + signal);
        const std::lock_guard lock(mutex_);
        call_();
    }
}

}  // namespace attnscope
