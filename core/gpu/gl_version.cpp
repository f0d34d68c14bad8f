#include "core/gpu/gl_version.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <array>
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

std::string number_text(int number) {
    return std::to_string(number / 10) + "." + std::to_string(number % 10);
}

bool computes_on_the_processor(const std::string& renderer) {
    constexpr std::array k_names = {"llvmpipe", "softpipe", "swrast", "SwiftShader", "Software"};
    for (const char* name : k_names)
        if (renderer.find(name) != std::string::npos) return true;
    return false;
}

}  // namespace

std::string why_no_compute(const GlVersion& version) {
    if (version.number >= 43) return "";
    return "backend gpu needs OpenGL 4.3 and this driver (" + version.renderer + ") has " +
           number_text(version.number) + ": use backend cpu, or update the graphics driver";
}

GlVersion require_gl_33() {
    const int number = std::min(epoxy_gl_version(), version_limit());
    const auto* name = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
    const std::string renderer = name ? name : "unknown";
    if (number < 33) {
        throw Error(ErrorKind::backend,
                    "OpenGL 3.3 is needed and this driver (" + renderer + ") has " + number_text(number) +
                        "; update the graphics driver, or use `attnscope render`, which needs no OpenGL");
    }
    return {.number = number, .renderer = renderer, .is_software = computes_on_the_processor(renderer)};
}

}  // namespace attnscope
