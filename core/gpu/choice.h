// Which backend computes, and why.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/graph/backend.h"
#include "core/gpu/context.h"

namespace attnscope {

enum class BackendWish { automatic, cpu, gpu };

/// "auto", "cpu" or "gpu". Throws Error(bad_input) for another word.
BackendWish parse_backend(std::string_view word);

struct BackendChoice {
    std::shared_ptr<Backend> backend;  ///< nullptr: the processor
    std::string reason;                ///< "llvmpipe is a software renderer": for the status bar
};

/// For `gpu` a backend or Error(backend). For `automatic` the faster one at attention of 1024 tokens with 256
/// features and 4 heads, measured now; never a renderer that computes on the processor, and none where there
/// is no OpenGL 4.3. `make_context` is called at most once.
BackendChoice choose_backend(
    BackendWish wish,
    const std::function<std::unique_ptr<GlContext>()>& make_context = [] { return make_egl_context(); });

}  // namespace attnscope
