#include "core/gpu/gl_version.h"

#include <fmt/format.h>

#include <epoxy/gl.h>

#include <array>

#include "core/error.h"

namespace attnscope {

namespace {

std::string number_text(int number) { return fmt::format("{}.{}", number / 10, number % 10); }

bool computes_on_the_processor(const std::string& renderer) {
    constexpr std::array k_names = {"llvmpipe", "softpipe", "swrast", "SwiftShader", "Software"};
    for (const char* name : k_names)
        if (renderer.find(name) != std::string::npos) return true;
    return false;
}

}  // namespace

std::string why_no_compute(const GlVersion& version) {
    if (version.number >= 43) return "";
    return "backend gpu needs OpenGL 4.3, but this driver (" + version.renderer + ") has " +
           number_text(version.number) + ": use backend cpu, or update the graphics driver";
}

GlVersion current_gl_version() {
    const auto* name = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
    const std::string renderer = name ? name : "unknown";
    GlVersion version{.number = epoxy_gl_version(),
                      .renderer = renderer,
                      .is_software = computes_on_the_processor(renderer)};
    require_gl_33(version);
    return version;
}

void require_gl_33(const GlVersion& version) {
    if (version.number >= 33) return;
    throw Error(ErrorKind::backend,
                "OpenGL 3.3 is required, but this driver (" + version.renderer + ") has " +
                    number_text(version.number) +
                    ": update the graphics driver, or use `attnscope render`, which needs no OpenGL");
}

}  // namespace attnscope
