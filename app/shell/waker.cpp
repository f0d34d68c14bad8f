#include "app/shell/waker.h"

#include <utility>

#include "app/platform/context.h"

namespace attnscope {

void Waker::call() {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(called_, true) || !open_) return;
    GlfwWindow::wake();
}

void Waker::begin() {
    const std::scoped_lock lock(mutex_);
    open_ = true;
}

void Waker::end() {
    const std::scoped_lock lock(mutex_);
    open_ = false;
}

bool Waker::take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(called_, false);
}

bool Waker::waits() {
    const std::scoped_lock lock(mutex_);
    return called_;
}

std::function<void()> calling(std::shared_ptr<Waker> waker) {
    return [waker = std::move(waker)] { waker->call(); };
}

}  // namespace attnscope
