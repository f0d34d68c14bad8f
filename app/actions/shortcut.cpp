#include "app/actions/shortcut.h"

#include <fmt/format.h>

namespace attnscope {
namespace {

std::string key_text(Key key) {
    using enum Key;
    if (key >= a && key <= z)
        return std::string(1, static_cast<char>('A' + static_cast<int>(key) - static_cast<int>(a)));
    if (key >= digit_0 && key <= digit_9)
        return std::string(1, static_cast<char>('0' + static_cast<int>(key) - static_cast<int>(digit_0)));
    if (key >= f1 && key <= f12) return fmt::format("F{}", static_cast<int>(key) - static_cast<int>(f1) + 1);
    switch (key) {
        case left: return "←";
        case right: return "→";
        case up: return "↑";
        case down: return "↓";
        case equal: return "+";
        case minus: return "−";
        case escape: return "Esc";
        case comma: return ",";
        case period: return ".";
        case space: return "Space";
        case home: return "Home";
        case page_up: return "Page Up";
        case page_down: return "Page Down";
        default: return "?";
    }
}

}  // namespace

std::string shortcut_text(const Shortcut& shortcut) {
    if (shortcut.key == Key::none) return "";
    return std::string(shortcut.mods.ctrl ? "Ctrl+" : "") + (shortcut.mods.shift ? "Shift+" : "") +
           (shortcut.mods.alt ? "Alt+" : "") + key_text(shortcut.key);
}

}  // namespace attnscope
