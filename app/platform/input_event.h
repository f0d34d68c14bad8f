// User input as values: a real window and a script produce the same events.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace attnscope {

/// Keys are identified by the printed character (the layout's letter, not the position); left and right
/// modifiers are the same key.
enum class Key : std::uint8_t {
    // clang-format off
    none,
    a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z,
    digit_0, digit_1, digit_2, digit_3, digit_4, digit_5, digit_6, digit_7, digit_8, digit_9,
    left, right, up, down, home, end, page_up, page_down,
    insert, del, backspace, enter, keypad_enter, escape, tab, space,
    f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12,
    comma, period, minus, equal, slash, backslash, semicolon, apostrophe, left_bracket, right_bracket, grave,
    ctrl, shift, alt, super,
    other,
    // clang-format on
};
inline constexpr int k_key_count = static_cast<int>(Key::other) + 1;

/// The key types a character, so it may be followed by a Char event.
bool is_printing(Key key);
bool is_modifier(Key key);

struct Mods {
    bool ctrl = false;
    bool shift = false;
    bool alt = false;
    bool super = false;
    bool operator==(const Mods&) const = default;
};

/// `repeat`: sent by the system while the key is held.
struct KeyDown {
    Key key = Key::none;
    Mods mods{};
    bool repeat = false;
};
struct KeyUp {
    Key key = Key::none;
    Mods mods{};
};
struct Char {
    char32_t code = 0;
};
/// A move of the pointer to a position in framebuffer pixels from the top left corner.
struct MouseMove {
    float x = 0;
    float y = 0;
};
/// The pointer left the window.
struct MouseLeave {};
/// A mouse button pressed or released; 0: left, 1: right, 2: middle.
struct MouseButton {
    int button = 0;
    bool down = false;
    Mods mods{};
};
/// A turn of the wheel in notches; positive y is away from the user.
struct Wheel {
    float x = 0;
    float y = 0;
};
struct Focus {
    bool focused = true;
};
struct Drop {
    std::vector<std::string> paths;
};
struct CloseRequest {};

using InputEvent =
    std::variant<KeyDown, KeyUp, Char, MouseMove, MouseLeave, MouseButton, Wheel, Focus, Drop, CloseRequest>;

/// A key going down, for the application's shortcuts.
struct KeyPress {
    Key key = Key::none;
    Mods mods{};
    bool repeat = false;
    bool operator==(const KeyPress&) const = default;
};

}  // namespace attnscope
