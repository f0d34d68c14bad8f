#include "core/gpu/gl_version.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <cstdlib>

#include "core/error.h"

namespace attnscope {

namespace {

/// "2.1" is 21; a large number where nothing is set.
int version_limit() {
    const char* text = std::getenv("ATTNSCOPE_GL_VERSION_LIMIT");
    if (!text) return 1000;
    char* end = nullptr;
    const long major = std::strtol(text, &end, 10);
    const long minor = *end == '.' ? std::strtol(end + 1, nullptr, 10) : 0;
    return static_cast<int>(10 * major + minor);
}

}  // namespace

GlVersion require_gl_33() {
    const int number = std::min(epoxy_gl_version(), version_limit());
    const auto* name = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
    const std::string renderer = name ? name : "unknown";
    if (number < 33) {
        throw Error(ErrorKind::backend,
                    "OpenGL 3.3 is needed and this driver (" + renderer + ") has " +
                        std::to_string(number / 10) + "." + std::to_string(number % 10) +
                        "; update the graphics driver, or use `attnscope render`, which needs no OpenGL");
    }
    return {.number = number, .renderer = renderer};
}

}  // namespace attnscope
