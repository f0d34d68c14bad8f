#include "app/platform/glfw_keys.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <optional>
#include <string_view>

namespace attnscope {

namespace {

Key offset(Key first, int by) { return static_cast<Key>(static_cast<int>(first) + by); }

Key from_ascii(char c) {
    constexpr std::string_view k_signs = ",.-=/\\;'[]`";
    if (c >= 'a' && c <= 'z') return offset(Key::a, c - 'a');
    if (c >= 'A' && c <= 'Z') return offset(Key::a, c - 'A');
    if (c >= '0' && c <= '9') return offset(Key::digit_0, c - '0');
    const std::size_t sign = k_signs.find(c);
    return sign == std::string_view::npos ? Key::other : offset(Key::comma, static_cast<int>(sign));
}

bool is_on_the_keypad(int key) { return key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_EQUAL; }

/// nullopt for keys that print a character: it depends on the layout.
std::optional<Key> special(int key) {
    if (key >= GLFW_KEY_F1 && key <= GLFW_KEY_F12) return offset(Key::f1, key - GLFW_KEY_F1);
    switch (key) {
        case GLFW_KEY_LEFT: return Key::left;
        case GLFW_KEY_RIGHT: return Key::right;
        case GLFW_KEY_UP: return Key::up;
        case GLFW_KEY_DOWN: return Key::down;
        case GLFW_KEY_HOME: return Key::home;
        case GLFW_KEY_END: return Key::end;
        case GLFW_KEY_PAGE_UP: return Key::page_up;
        case GLFW_KEY_PAGE_DOWN: return Key::page_down;
        case GLFW_KEY_INSERT: return Key::insert;
        case GLFW_KEY_DELETE: return Key::del;
        case GLFW_KEY_BACKSPACE: return Key::backspace;
        case GLFW_KEY_ENTER: return Key::enter;
        case GLFW_KEY_KP_ENTER: return Key::keypad_enter;
        case GLFW_KEY_ESCAPE: return Key::escape;
        case GLFW_KEY_TAB: return Key::tab;
        case GLFW_KEY_SPACE: return Key::space;
        case GLFW_KEY_LEFT_CONTROL:
        case GLFW_KEY_RIGHT_CONTROL: return Key::ctrl;
        case GLFW_KEY_LEFT_SHIFT:
        case GLFW_KEY_RIGHT_SHIFT: return Key::shift;
        case GLFW_KEY_LEFT_ALT:
        case GLFW_KEY_RIGHT_ALT: return Key::alt;
        case GLFW_KEY_LEFT_SUPER:
        case GLFW_KEY_RIGHT_SUPER: return Key::super;
        default: return std::nullopt;
    }
}

}  // namespace

Key key_from_glfw(int glfw_key, int scancode) {
    if (const auto key = special(glfw_key)) return *key;
    if (is_on_the_keypad(glfw_key)) return Key::other;
    const char* name = glfwGetKeyName(glfw_key, scancode);
    const bool ascii = name && name[0] != 0 && name[1] == 0;
    const Key by_layout = ascii ? from_ascii(name[0]) : Key::other;
    if (by_layout != Key::other) return by_layout;
    // On a layout without Latin letters (Cyrillic, Greek), shortcuts use the key positions of the US layout.
    return glfw_key > 0 && glfw_key < 128 ? from_ascii(static_cast<char>(glfw_key)) : Key::other;
}

Mods mods_from_glfw(int glfw_mods) {
    return {.ctrl = (glfw_mods & GLFW_MOD_CONTROL) != 0,
            .shift = (glfw_mods & GLFW_MOD_SHIFT) != 0,
            .alt = (glfw_mods & GLFW_MOD_ALT) != 0,
            .super = (glfw_mods & GLFW_MOD_SUPER) != 0};
}

}  // namespace attnscope
