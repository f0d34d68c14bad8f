// Chooses the backend, and says why.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/gpu/context.h"
#include "core/gpu/shaders.h"
#include "core/graph/backend.h"
#include "core/graph/backend_kind.h"

namespace attnscope {

/// Parses "auto", "cpu" or "gpu". Throws Error(bad_input) for another word.
BackendWish parse_backend(std::string_view word);

struct BackendChoice {
    std::shared_ptr<Backend> backend;  ///< nullptr: the CPU
    std::string reason;                ///< for the status bar: "llvmpipe is a software renderer"
};

/// For `gpu` the graphics card, or Error(backend). For `automatic` the backend that is faster at attention of
/// 1024 tokens with 256 features and 4 heads, measured now; never a software renderer, and the CPU without
/// OpenGL 4.3. Calls `make_context` at most once.
BackendChoice choose_backend(
    BackendWish wish, const ShaderSource& shaders = {},
    const std::function<std::unique_ptr<GlContext>()>& make_context = [] { return make_egl_context(); });

}  // namespace attnscope
