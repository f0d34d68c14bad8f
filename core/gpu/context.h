// An OpenGL context, whatever created it.
#pragma once

#include <memory>

namespace attnscope {

/// Current on one thread at a time. Destroyed while it is not current, or on the thread on which it is.
class GlContext {
public:
    virtual ~GlContext() = default;
    /// Makes the context current on the calling thread. Throws Error(backend).
    virtual void make_current() = 0;
    virtual void release() = 0;
    /// Creates another context that shares buffers, textures and programs and is current nowhere; called
    /// while this one is current. Throws Error(backend).
    virtual std::unique_ptr<GlContext> share() = 0;
};

/// A core context (4.5, or 3.3 if that is all there is) without display or surface, current nowhere; on a
/// graphics card if there is one. With `debug` its driver reports errors, which costs time. Throws
/// Error(backend) naming what is missing.
std::unique_ptr<GlContext> make_egl_context(bool debug = false);

}  // namespace attnscope
