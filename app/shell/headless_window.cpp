#include "app/shell/headless_window.h"

#include <algorithm>
#include <array>
#include <utility>

#include "app/platform/wide_text.h"
#include "core/utf8.h"

namespace attnscope {

namespace {

constexpr double k_frame_seconds = 1.0 / 60;
constexpr int k_settling_frames = 2;

Key key_of(char32_t code) {
    const auto offset = [&](Key first, char32_t start) {
        return static_cast<Key>(static_cast<int>(first) + static_cast<int>(code - start));
    };
    if (code >= 'a' && code <= 'z') return offset(Key::a, 'a');
    if (code >= 'A' && code <= 'Z') return offset(Key::a, 'A');
    if (code >= '0' && code <= '9') return offset(Key::digit_0, '0');
    return code == ' ' ? Key::space : Key::other;
}

}  // namespace

HeadlessWindow::HeadlessWindow(int width, int height, float scale, ThemeKind theme, ShaderSource shaders,
                               std::shared_ptr<FontLibrary> library)
    : context_(width, height),
      host_(memory_clipboard(), theme, std::move(shaders), std::move(library)),
      scale_(scale) {}

bool HeadlessWindow::step(const FrameCallbacks& callbacks) {
    context_.bind();
    return host_
        .step(callbacks, {.width = context_.width(), .height = context_.height(), .scale = scale_},
              k_frame_seconds, FrameHost::Drawing::always)
        .closes;
}

void HeadlessWindow::settle(const FrameCallbacks& callbacks) {
    while (!host_.input().empty()) step(callbacks);
    for (int i = 0; i < k_settling_frames; ++i) step(callbacks);
}

std::vector<InputEvent> typing(std::string_view utf8) {
    std::vector<InputEvent> events;
    while (!utf8.empty()) {
        const DecodedCharacter next = decode_utf8(utf8);
        const Key key = key_of(next.code);
        const Mods mods{.shift = next.code >= 'A' && next.code <= 'Z'};
        events.emplace_back(KeyDown{.key = key, .mods = mods});
        events.emplace_back(Char{next.code});
        events.emplace_back(KeyUp{.key = key, .mods = mods});
        utf8.remove_prefix(next.bytes ? next.bytes : 1);
    }
    return events;
}

std::vector<InputEvent> pressing(Key key, Mods mods) {
    struct Modifier {
        bool held;
        Key key;
    };
    const std::array<Modifier, 4> modifiers{
        {{mods.ctrl, Key::ctrl}, {mods.shift, Key::shift}, {mods.alt, Key::alt}, {mods.super, Key::super}}};
    std::vector<InputEvent> events;
    for (const Modifier& modifier : modifiers) {
        if (modifier.held) events.emplace_back(KeyDown{.key = modifier.key, .mods = mods});
    }
    events.emplace_back(KeyDown{.key = key, .mods = mods});
    events.emplace_back(KeyUp{.key = key, .mods = mods});
    for (const Modifier& modifier : modifiers) {
        if (modifier.held) events.emplace_back(KeyUp{.key = modifier.key});
    }
    return events;
}

}  // namespace attnscope
