// Shared by tests of the interface: a window without a display, or a reason to skip.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "app/shell/headless_window.h"
#include "core/error.h"

namespace attnscope {

/// Gives each test a window and checks at its end that OpenGL had nothing to complain about.
class HeadlessTest : public ::testing::Test {
protected:
    static constexpr int k_width = 640;
    static constexpr int k_height = 400;

    void SetUp() override { open(k_width, k_height); }
    void TearDown() override {
        if (!window) return;
        for (const std::string& error : window->gl_errors()) ADD_FAILURE() << "OpenGL: " << error;
    }

    void open(int width, int height, float scale = 1) {
        window.reset();
        if (!why_no_context().empty()) GTEST_SKIP() << why_no_context();
        // A third of opening a window goes into drawing its letters.
        static const auto k_library = std::make_shared<FontLibrary>();
        window = std::make_unique<HeadlessWindow>(width, height, scale, ThemeKind::dark, shaders, k_library);
    }
    void push(const std::vector<InputEvent>& events) {
        for (const InputEvent& event : events) window->push(event);
    }

    static const std::string& why_no_context() {
        static const std::string k_why = [] {
            try {
                const HeadlessContext probe(1, 1);
                return std::string();
            } catch (const Error& error) {
                return std::string(error.what());
            }
        }();
        return k_why;
    }

    ShaderSource shaders;  ///< of the windows that are opened from now on
    std::unique_ptr<HeadlessWindow> window;
};

}  // namespace attnscope
