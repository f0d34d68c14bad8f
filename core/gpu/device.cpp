#include "core/gpu/device.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <exception>
#include <future>
#include <vector>

#include "core/error.h"
#include "core/gpu/gl.h"
#include "core/gpu/gl_version.h"

namespace attnscope {
namespace {

std::size_t limit(GLenum name) {
    GLint64 value = 0;
    glGetInteger64v(name, &value);
    return static_cast<std::size_t>(std::max<GLint64>(value, 0));
}

GpuInfo read_info() {
    const GlVersion version = current_gl_version();
    if (const std::string reason = why_no_compute(version); !reason.empty())
        throw Error(ErrorKind::backend, reason);
    return {.version = version.number,
            .renderer = version.renderer,
            .is_software = version.is_software,
            .block_bytes = limit(GL_MAX_SHADER_STORAGE_BLOCK_SIZE),
            .block_alignment = limit(GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT),
            .shared_bytes = limit(GL_MAX_COMPUTE_SHARED_MEMORY_SIZE),
            .group_size = static_cast<int>(limit(GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS))};
}

}  // namespace

struct GpuDevice::State {
    gl::DebugLog log;
    std::size_t errors_seen = 0;
};

GpuDevice::GpuDevice(std::unique_ptr<GlContext> context) : context_(std::move(context)) {
    const auto ready = std::make_shared<std::promise<void>>();
    std::future<void> outcome = ready->get_future();
    thread_ = std::thread([this, ready] {
        try {
            context_->make_current();
            info_ = read_info();
            state_ = std::make_unique<State>();
        } catch (...) {
            context_->release();
            ready->set_exception(std::current_exception());
            return;
        }
        ready->set_value();
        loop();
    });
    try {
        outcome.get();
    } catch (...) {
        thread_.join();
        throw;
    }
}

GpuDevice::~GpuDevice() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void GpuDevice::loop() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return ending_ || !soon_.empty() || !later_.empty(); });
        if (!do_next(soon_, lock) && !do_next(later_, lock)) break;
    }
    state_.reset();
    context_->release();
}

/// Does the next piece of work; false if there is none.
bool GpuDevice::do_next(std::deque<std::function<void()>>& queue, std::unique_lock<std::mutex>& lock) {
    if (queue.empty()) return false;
    {
        const std::function<void()> work = std::move(queue.front());
        queue.pop_front();
        lock.unlock();
        work();
    }
    lock.lock();
    return true;
}

void GpuDevice::ask(std::deque<std::function<void()>>& queue, const std::function<void()>& work) {
    assert(std::this_thread::get_id() != thread_.get_id());
    const auto done = std::make_shared<std::promise<void>>();
    std::future<void> outcome = done->get_future();
    std::exception_ptr thrown;  // not left to the promise, so that the thread sanitizer sees who frees it
    {
        const std::lock_guard lock(mutex_);
        queue.emplace_back([&work, &thrown, done] {
            try {
                work();
            } catch (...) {
                thrown = std::current_exception();
            }
            done->set_value();
        });
    }
    changed_.notify_all();
    outcome.get();
    if (thrown) std::rethrow_exception(thrown);
}

void GpuDevice::run(const std::function<void()>& work) { ask(later_, work); }
void GpuDevice::run_soon(const std::function<void()>& work) { ask(soon_, work); }

void GpuDevice::post(std::function<void()> work) {
    {
        const std::lock_guard lock(mutex_);
        soon_.push_back(std::move(work));
    }
    changed_.notify_all();
}

void GpuDevice::pause() {
    std::unique_lock lock(mutex_);
    while (do_next(soon_, lock)) {
    }
}

std::size_t GpuDevice::free_memory() const {
    if (info_.is_software) return 0;
    std::array<GLint, 4> free{};  // KiB
    if (epoxy_has_gl_extension("GL_NVX_gpu_memory_info"))
        glGetIntegerv(GL_GPU_MEMORY_INFO_CURRENT_AVAILABLE_VIDMEM_NVX, free.data());
    else if (epoxy_has_gl_extension("GL_ATI_meminfo"))
        glGetIntegerv(GL_TEXTURE_FREE_MEMORY_ATI, free.data());
    return static_cast<std::size_t>(std::max(free[0], 0)) << 10;
}

void GpuDevice::forgive() {
    gl::take_error();
    state_->errors_seen = state_->log.errors().size();
}

void GpuDevice::check() {
    is_lost_ = is_lost_ || gl::was_reset();
    if (is_lost_) throw Error(ErrorKind::backend, "the GPU was reset and its work is lost");
    const std::string code = gl::take_error();
    const std::vector<std::string>& errors = state_->log.errors();
    if (errors.size() == state_->errors_seen) {
        if (code.empty()) return;
        throw Error(ErrorKind::backend, "the graphics driver reports the error " + code);
    }
    state_->errors_seen = errors.size();
    throw Error(ErrorKind::backend, "the graphics driver reports: " + errors.back());
}

}  // namespace attnscope
