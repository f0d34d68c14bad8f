// epoxy loads EGL on the first call, so that a machine without it runs everything that opens no window.
#include <dlfcn.h>
#include <epoxy/egl.h>

#include <array>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/gpu/context.h"

namespace attnscope {

namespace {

bool lists(const char* extensions, std::string_view name) {
    std::string_view rest = extensions ? extensions : "";
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        if (rest.substr(0, end) == name) return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

template <class Function>
Function entry_point(const char* name) {
    return reinterpret_cast<Function>(eglGetProcAddress(name));
}

EGLDisplay platform_display(EGLenum platform, void* native) {
    // A function of EGL 1.5, which epoxy assumes to be present only once there is a display.
    const auto get = entry_point<PFNEGLGETPLATFORMDISPLAYPROC>("eglGetPlatformDisplay");
    return get ? get(platform, native, nullptr) : EGL_NO_DISPLAY;
}

bool starts(EGLDisplay display) {
    return display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr) &&
           eglBindAPI(EGL_OPENGL_API);
}

[[noreturn]] void refuse(const std::string& missing) {
    throw Error(ErrorKind::backend, "no OpenGL without a display: " + missing +
                                        "; install Mesa's drivers (libegl1 libgl1-mesa-dri) or the GPU's");
}

/// Checked first, because epoxy would end the process if the library is missing.
void require_egl() {
    if (!dlopen("libEGL.so.1", RTLD_LAZY | RTLD_LOCAL)) refuse("libEGL.so.1 was not found");
}

/// The display of a graphics card, if EGL can select one by device; else EGL_NO_DISPLAY. Without this, a
/// machine with two drivers may use the software renderer of one although the other has a card.
EGLDisplay card_display(const char* client) {
    const auto query = entry_point<PFNEGLQUERYDEVICESEXTPROC>("eglQueryDevicesEXT");
    const auto describe = entry_point<PFNEGLQUERYDEVICESTRINGEXTPROC>("eglQueryDeviceStringEXT");
    if (!query || !describe || !lists(client, "EGL_EXT_platform_device")) return EGL_NO_DISPLAY;
    std::array<EGLDeviceEXT, 16> devices{};
    EGLint count = 0;
    if (!query(static_cast<EGLint>(devices.size()), devices.data(), &count)) return EGL_NO_DISPLAY;
    for (const EGLDeviceEXT device : std::span(devices).first(static_cast<std::size_t>(count))) {
        if (lists(describe(device, EGL_EXTENSIONS), "EGL_MESA_device_software")) continue;
        const EGLDisplay display = platform_display(EGL_PLATFORM_DEVICE_EXT, device);
        if (starts(display)) return display;
    }
    return EGL_NO_DISPLAY;
}

/// A display that needs no screen; EGL_NO_DISPLAY if there is none.
EGLDisplay open_display() {
    require_egl();
    const char* client = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    if (const EGLDisplay display = card_display(client); display != EGL_NO_DISPLAY) return display;
    if (!lists(client, "EGL_MESA_platform_surfaceless")) return EGL_NO_DISPLAY;
    const EGLDisplay display = platform_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY);
    return starts(display) ? display : EGL_NO_DISPLAY;
}

EGLConfig choose_config(EGLDisplay display) {
    // A surfaceless display may support no kind of surface at all; 0 requires none.
    const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, 0, EGL_NONE};
    EGLConfig config = nullptr;
    EGLint count = 0;
    const bool found = eglChooseConfig(display, wanted, &config, 1, &count) && count > 0;
    return found ? config : EGL_NO_CONFIG_KHR;
}

EGLContext create_context(EGLDisplay display, EGLContext shared, bool debug) {
    const EGLConfig config = choose_config(display);
    struct Wish {
        EGLint major, minor, when_reset;
    };
    constexpr EGLint k_tell = EGL_LOSE_CONTEXT_ON_RESET, k_nothing = EGL_NO_RESET_NOTIFICATION;
    for (const Wish& wish :
         {Wish{4, 5, k_tell}, Wish{4, 5, k_nothing}, Wish{4, 3, k_nothing}, Wish{3, 3, k_nothing}}) {
        std::vector<EGLint> attributes{EGL_CONTEXT_MAJOR_VERSION,       wish.major,
                                       EGL_CONTEXT_MINOR_VERSION,       wish.minor,
                                       EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT};
        // Only attributes that are needed are passed: an older EGL does not know all of them.
        if (wish.when_reset == k_tell)
            attributes.insert(attributes.end(), {EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, k_tell});
        if (debug) attributes.insert(attributes.end(), {EGL_CONTEXT_OPENGL_DEBUG, EGL_TRUE});
        attributes.push_back(EGL_NONE);
        const EGLContext context = eglCreateContext(display, config, shared, attributes.data());
        if (context != EGL_NO_CONTEXT) return context;
    }
    return EGL_NO_CONTEXT;
}

// The display belongs to the process and others may have contexts on it, so it is never terminated here.
class EglContext : public GlContext {
public:
    EglContext(EGLDisplay display, EGLContext context, bool debug)
        : display_(display), context_(context), debug_(debug) {}
    ~EglContext() override {
        if (eglGetCurrentContext() == context_) EglContext::release();
        eglDestroyContext(display_, context_);
    }
    EglContext(const EglContext&) = delete;
    EglContext& operator=(const EglContext&) = delete;

    void make_current() override {
        eglBindAPI(EGL_OPENGL_API);
        if (!eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_))
            refuse("EGL cannot use a context without a surface");
    }
    void release() override { eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT); }
    std::unique_ptr<GlContext> share() override { return create(display_, context_, debug_); }

    static std::unique_ptr<GlContext> create(EGLDisplay display, EGLContext shared, bool debug) {
        const EGLContext context = create_context(display, shared, debug);
        if (context == EGL_NO_CONTEXT) refuse("EGL cannot create an OpenGL 3.3 core context");
        return std::make_unique<EglContext>(display, context, debug);
    }

private:
    EGLDisplay display_;
    EGLContext context_;
    bool debug_;
};

}  // namespace

std::unique_ptr<GlContext> make_egl_context(bool debug) {
    const EGLDisplay display = open_display();
    if (display == EGL_NO_DISPLAY) refuse("EGL has neither a surfaceless nor a device display");
    return EglContext::create(display, EGL_NO_CONTEXT, debug);
}

}  // namespace attnscope
