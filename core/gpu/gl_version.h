// What OpenGL there is.
#pragma once

#include <string>

namespace attnscope {

/// The version of an OpenGL context: 33 is 3.3.
struct GlVersion {
    int number = 0;
    std::string renderer;
};

/// Of the current context. Throws Error(backend) below 3.3, saying what there is and that the command line
/// needs no OpenGL. The environment variable ATTNSCOPE_GL_VERSION_LIMIT (2.1) makes any context as old as
/// that.
GlVersion require_gl_33();

}  // namespace attnscope
