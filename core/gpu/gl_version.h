// The version of OpenGL.
#pragma once

#include <string>

namespace attnscope {

/// The version of an OpenGL context: 33 means 3.3.
struct GlVersion {
    int number = 0;
    std::string renderer;
    bool is_software = false;  ///< a software renderer on the CPU
};

/// The version of the current context. Throws as require_gl_33().
GlVersion current_gl_version();

/// Throws Error(backend) below 3.3, naming the version found and that the command line needs no OpenGL.
void require_gl_33(const GlVersion& version);

/// Why compute shaders cannot run: the version found is below OpenGL 4.3; empty if they can.
std::string why_no_compute(const GlVersion& version);

}  // namespace attnscope
