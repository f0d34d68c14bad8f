#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "app/platform/context.h"
#include "app/platform/glfw_keys.h"
#include "app/platform/system_clipboard.h"
#include "core/error.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

namespace attnscope {

namespace {

std::string last_glfw_error() {
    const char* text = nullptr;
    glfwGetError(&text);
    return text ? text : "no reason given";
}

struct Room {
    int width;
    int height;
};

/// The first monitor's work area, so that no window starts larger than the screen.
Room screen_room() {
    int x = 0, y = 0, width = 0, height = 0;
    if (GLFWmonitor* monitor = glfwGetPrimaryMonitor())
        glfwGetMonitorWorkarea(monitor, &x, &y, &width, &height);
    constexpr int k_unknown = 1 << 20;
    return {width > 0 ? width : k_unknown, height > 0 ? height : k_unknown};
}

/// `api`: GLFW_EGL_CONTEXT_API or GLFW_NATIVE_CONTEXT_API.
void ask_for_context(int major, int minor, int api) {
    glfwDefaultWindowHints();
    glfwWindowHint(GLFW_CONTEXT_CREATION_API, api);
    glfwWindowHint(GLFW_CLIENT_API, GLFW_OPENGL_API);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, major);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, minor);
    glfwWindowHint(GLFW_CONTEXT_ROBUSTNESS, GLFW_LOSE_CONTEXT_ON_RESET);
    glfwWindowHint(GLFW_DEPTH_BITS, 0);
    glfwWindowHint(GLFW_STENCIL_BITS, 0);
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
}

GLFWwindow* create(const GlfwWindow::Options& options, int major, int minor, int api) {
    ask_for_context(major, minor, api);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    glfwWindowHint(GLFW_MAXIMIZED, options.maximized ? GLFW_TRUE : GLFW_FALSE);
    const Room room = screen_room();
    return glfwCreateWindow(std::max(std::min(options.width, room.width), GlfwWindow::k_min_width),
                            std::max(std::min(options.height, room.height), GlfwWindow::k_min_height),
                            options.title.c_str(), nullptr, nullptr);
}

/// Opened by EGL where there is one: by GLX, GLFW asks for each attribute of each of a thousand
/// configurations, which takes some 40 ms.
GLFWwindow* create(const GlfwWindow::Options& options, int major, int minor) {
    for (const int api : {GLFW_EGL_CONTEXT_API, GLFW_NATIVE_CONTEXT_API})
        if (GLFWwindow* window = create(options, major, minor, api)) return window;
    return nullptr;
}

}  // namespace

struct GlfwWindow::Cursors {
    std::array<GLFWcursor*, ImGuiMouseCursor_COUNT> of{};

    Cursors() {
        of[ImGuiMouseCursor_TextInput] = glfwCreateStandardCursor(GLFW_IBEAM_CURSOR);
        of[ImGuiMouseCursor_ResizeNS] = glfwCreateStandardCursor(GLFW_VRESIZE_CURSOR);
        of[ImGuiMouseCursor_ResizeEW] = glfwCreateStandardCursor(GLFW_HRESIZE_CURSOR);
        of[ImGuiMouseCursor_ResizeAll] = glfwCreateStandardCursor(GLFW_CROSSHAIR_CURSOR);
        of[ImGuiMouseCursor_Hand] = glfwCreateStandardCursor(GLFW_HAND_CURSOR);
    }
    ~Cursors() {
        for (GLFWcursor* cursor : of) {
            if (cursor) glfwDestroyCursor(cursor);
        }
    }
    Cursors(const Cursors&) = delete;
    Cursors& operator=(const Cursors&) = delete;
};

/// A context on a hidden window, as GLFW has no context without a window. Reused when its user is gone.
struct SpareWindow {
    GLFWwindow* window = nullptr;
    std::atomic<bool> in_use = true;
};

namespace {

class SpareContext : public GlContext {
public:
    explicit SpareContext(std::shared_ptr<SpareWindow> spare) : spare_(std::move(spare)) {}
    ~SpareContext() override {
        if (glfwGetCurrentContext() == spare_->window) SpareContext::release();
        spare_->in_use = false;
    }
    SpareContext(const SpareContext&) = delete;
    SpareContext& operator=(const SpareContext&) = delete;

    void make_current() override { glfwMakeContextCurrent(spare_->window); }
    void release() override { glfwMakeContextCurrent(nullptr); }
    std::unique_ptr<GlContext> share() override {
        throw Error(ErrorKind::backend, "only the window can create contexts that share with it");
    }

private:
    std::shared_ptr<SpareWindow> spare_;
};

}  // namespace

/// GLFW's callbacks; the window is found through its user pointer.
struct GlfwCallbacks {
    static GlfwWindow& of(GLFWwindow* window) {
        return *static_cast<GlfwWindow*>(glfwGetWindowUserPointer(window));
    }
    static void push(GLFWwindow* window, InputEvent event) { of(window).events_.push_back(std::move(event)); }

    static void key(GLFWwindow* window, int key, int scancode, int action, int mods) {
        const Key ours = key_from_glfw(key, scancode);
        if (action == GLFW_RELEASE) {
            push(window, KeyUp{.key = ours, .mods = mods_from_glfw(mods)});
        } else {
            push(window, KeyDown{.key = ours, .mods = mods_from_glfw(mods), .repeat = action == GLFW_REPEAT});
        }
    }
    static void character(GLFWwindow* window, unsigned code) { push(window, Char{code}); }
    static void cursor(GLFWwindow* window, double x, double y) {
        int width = 0;
        int height = 0;
        glfwGetWindowSize(window, &width, &height);
        const double across = width > 0 ? static_cast<double>(of(window).width()) / width : 1;
        const double down = height > 0 ? static_cast<double>(of(window).height()) / height : 1;
        push(window, MouseMove{.x = static_cast<float>(x * across), .y = static_cast<float>(y * down)});
    }
    static void enter(GLFWwindow* window, int entered) {
        if (!entered) return push(window, MouseLeave{});
        // GLFW does not report a move to the point where the pointer left.
        double x = 0, y = 0;
        glfwGetCursorPos(window, &x, &y);
        cursor(window, x, y);
    }
    static void button(GLFWwindow* window, int button, int action, int mods) {
        push(window,
             MouseButton{.button = button, .down = action == GLFW_PRESS, .mods = mods_from_glfw(mods)});
    }
    static void scroll(GLFWwindow* window, double x, double y) {
        push(window, Wheel{.x = static_cast<float>(x), .y = static_cast<float>(y)});
    }
    static void focus(GLFWwindow* window, int focused) { push(window, Focus{focused == GLFW_TRUE}); }
    static void drop(GLFWwindow* window, int count, const char** paths) {
        push(window, Drop{std::vector<std::string>(paths, paths + count)});
    }
    static void close(GLFWwindow* window) {
        // The program decides whether to close: something may be unsaved.
        glfwSetWindowShouldClose(window, GLFW_FALSE);
        push(window, CloseRequest{});
    }
    static void damage(GLFWwindow* window) { of(window).damaged_ = true; }
};

void GlfwWindow::install_callbacks(GLFWwindow* window) {
    glfwSetKeyCallback(window, GlfwCallbacks::key);
    glfwSetCharCallback(window, GlfwCallbacks::character);
    glfwSetCursorPosCallback(window, GlfwCallbacks::cursor);
    glfwSetCursorEnterCallback(window, GlfwCallbacks::enter);
    glfwSetMouseButtonCallback(window, GlfwCallbacks::button);
    glfwSetScrollCallback(window, GlfwCallbacks::scroll);
    glfwSetWindowFocusCallback(window, GlfwCallbacks::focus);
    glfwSetDropCallback(window, GlfwCallbacks::drop);
    glfwSetWindowCloseCallback(window, GlfwCallbacks::close);
    glfwSetWindowRefreshCallback(window, GlfwCallbacks::damage);
    glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { GlfwCallbacks::damage(w); });
    glfwSetWindowContentScaleCallback(window, [](GLFWwindow* w, float, float) { GlfwCallbacks::damage(w); });
}

GlfwWindow::GlfwWindow(const Options& options) {
    if (!glfwInit()) {
        throw Error(ErrorKind::backend,
                    "no window can be opened (" + last_glfw_error() +
                        "); start it from a desktop session, or use `attnscope render`, which "
                        "needs no display");
    }
    try {
        open(options);
    } catch (...) {
        glfwTerminate();
        throw;
    }
}

void GlfwWindow::open(const Options& options) {
    title_ = options.title;
    window_ = create(options, 4, 5);
    if (!window_) window_ = create(options, 4, 3);
    if (!window_) window_ = create(options, 3, 3);
    if (!window_) {
        throw Error(ErrorKind::backend,
                    "no OpenGL 3.3 for the window (" + last_glfw_error() +
                        "); update the graphics driver, or use `attnscope render`, which needs no "
                        "OpenGL");
    }
    glfwMakeContextCurrent(window_);
    version_ = current_gl_version();
    glfwSwapInterval(1);
    glfwSetWindowSizeLimits(window_, k_min_width, k_min_height, GLFW_DONT_CARE, GLFW_DONT_CARE);
    glfwSetWindowUserPointer(window_, this);
    install_callbacks(window_);
    cursors_ = std::make_unique<Cursors>();
    if (options.x && options.y) glfwSetWindowPos(window_, *options.x, *options.y);
    glfwShowWindow(window_);
}

std::unique_ptr<GlContext> GlfwWindow::share() {
    auto spare = std::ranges::find_if(spares_, [](const auto& each) { return !each->in_use; });
    if (spare == spares_.end()) {
        ask_for_context(version_.number / 10, version_.number % 10,
                        glfwGetWindowAttrib(window_, GLFW_CONTEXT_CREATION_API));
        GLFWwindow* window = glfwCreateWindow(16, 16, title_.c_str(), nullptr, window_);
        if (!window)
            throw Error(ErrorKind::backend,
                        "the graphics driver cannot create a second context (" + last_glfw_error() + ")");
        spare = spares_.insert(spares_.end(), std::make_shared<SpareWindow>());
        (*spare)->window = window;
    }
    (*spare)->in_use = true;
    return std::make_unique<SpareContext>(*spare);
}

GlfwWindow::~GlfwWindow() {
    for (const auto& spare : spares_) glfwDestroyWindow(spare->window);
    cursors_.reset();
    glfwDestroyWindow(window_);
    glfwTerminate();
}

int GlfwWindow::width() const {
    int width = 0;
    glfwGetFramebufferSize(window_, &width, nullptr);
    return width;
}

int GlfwWindow::height() const {
    int height = 0;
    glfwGetFramebufferSize(window_, nullptr, &height);
    return height;
}

float GlfwWindow::content_scale() const {
    float scale = 1;
    glfwGetWindowContentScale(window_, &scale, nullptr);
    return scale > 0 ? scale : 1;
}

double GlfwWindow::refresh_seconds() const {
    GLFWmonitor* monitor = glfwGetPrimaryMonitor();
    const GLFWvidmode* mode = monitor ? glfwGetVideoMode(monitor) : nullptr;
    return 1.0 / (mode && mode->refreshRate > 0 ? std::clamp(mode->refreshRate, 30, 240) : 60);
}

GlfwWindow::Placement GlfwWindow::placement() const {
    Placement at;
    glfwGetWindowPos(window_, &at.x, &at.y);
    glfwGetWindowSize(window_, &at.width, &at.height);
    at.maximized = glfwGetWindowAttrib(window_, GLFW_MAXIMIZED) == GLFW_TRUE;
    return at;
}

void GlfwWindow::set_title(const std::string& title) {
    if (title == title_) return;
    title_ = title;
    glfwSetWindowTitle(window_, title.c_str());
}

void GlfwWindow::hide() { glfwHideWindow(window_); }

void GlfwWindow::set_cursor(ImGuiMouseCursor cursor) {
    const bool known = cursor >= 0 && cursor < ImGuiMouseCursor_COUNT;
    glfwSetCursor(window_, known ? cursors_->of.at(static_cast<std::size_t>(cursor)) : nullptr);
}

Clipboard GlfwWindow::clipboard() {
    return {.get =
                [this] {
                    const char* text = glfwGetClipboardString(window_);
                    return std::string(text ? text : "");
                },
            .set = [this](const std::string& text) { glfwSetClipboardString(window_, text.c_str()); },
            .set_png = copy_png};
}

void GlfwWindow::wait(double seconds) {
    if (seconds > 0) {
        glfwWaitEventsTimeout(seconds);
    } else {
        glfwPollEvents();
    }
}

std::vector<InputEvent> GlfwWindow::take_events() { return std::exchange(events_, {}); }
bool GlfwWindow::take_damage() { return std::exchange(damaged_, false); }
void GlfwWindow::present() { glfwSwapBuffers(window_); }
void GlfwWindow::wake() { glfwPostEmptyEvent(); }

}  // namespace attnscope
