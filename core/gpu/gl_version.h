// What OpenGL there is.
#pragma once

#include <string>

namespace attnscope {

/// The version of an OpenGL context: 33 is 3.3.
struct GlVersion {
    int number = 0;
    std::string renderer;
    bool is_software = false;  ///< it computes on the processor
};

/// Of the current context. Throws as require_gl_33().
GlVersion current_gl_version();

/// Throws Error(backend) below 3.3, saying what there is and that the command line needs no OpenGL.
void require_gl_33(const GlVersion& version);

/// Why compute shaders cannot run there: below OpenGL 4.3, saying what there is; empty if they can.
std::string why_no_compute(const GlVersion& version);

}  // namespace attnscope
