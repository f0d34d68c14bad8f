// An OpenGL context, wherever it comes from.
#pragma once

#include <memory>

namespace attnscope {

/// Current on one thread at a time. Destroyed where it is not current, or on the thread where it is.
class GlContext {
public:
    virtual ~GlContext() = default;
    /// On the calling thread. Throws Error(backend).
    virtual void make_current() = 0;
    virtual void release() = 0;
    /// Another one that has the same buffers, textures and programs, current nowhere; called where this one
    /// is current. Throws Error(backend).
    virtual std::unique_ptr<GlContext> share() = 0;
};

/// A core context (4.5, or 3.3 where there is less) without any display or surface, current nowhere. Throws
/// Error(backend) naming what is missing. A graphics card's if there is one; with `debug` its driver says
/// what it finds wrong, which takes time.
std::unique_ptr<GlContext> make_egl_context(bool debug = false);

}  // namespace attnscope
