#include "app/platform/context.h"

namespace attnscope {

HeadlessContext::HeadlessContext(int width, int height)
    : context_(make_egl_context(true)), width_(width), height_(height) {
    context_->make_current();
    version_ = current_gl_version();
    framebuffer_ = std::make_unique<gl::Framebuffer>(width, height);
}

HeadlessContext::~HeadlessContext() {
    framebuffer_.reset();
    context_->release();
}

}  // namespace attnscope
